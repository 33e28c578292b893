//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The agent asks with 'ralph ask'. Two editors get the question as buttons; one answers, and the
// agent has the answer in its turn.
func TestEditorAnswersQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	flags := p.plays("iteration\n  steered -> say HEARD {steer}\n  steered -> finish\n  run ralph ask --choice oak --choice pine 'Which wood?'\n  silence\niteration *\n  silence\n")
	first := p.edit(flags...)
	session, _ := first.begin("build the mill")
	asked := func(m acpMessage) bool { return m.Method == "session/request_permission" }
	if m := first.until("the question", asked); !strings.Contains(string(m.Params), "Question 1: Which wood?") {
		t.Errorf("asked %s", m.Params)
	}
	second := p.edit()
	second.send("session/load", `{"sessionId":"`+session+`","cwd":"/","mcpServers":[]}`)
	m := second.until("the question", asked)
	var options struct {
		Options []struct{ OptionID, Name string }
	}
	p.must(json.Unmarshal(m.Params, &options))
	if o := options.Options; len(o) != 3 || o[2].Name != "pine" {
		t.Fatalf("the options are %+v", o)
	}
	_, err := fmt.Fprintf(second.in, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`+"\n", m.ID, options.Options[2].OptionID)
	p.must(err)
	taken, heard := false, false
	first.until("the answer, and that the question is taken back", func(m acpMessage) bool {
		taken = taken || m.Method == "$/cancel_request"
		heard = heard || strings.Contains(string(m.Params), "HEARD Answer to question 1 (Which wood?): pine")
		return taken && heard
	})
	second.words("HEARD Answer to question 1 (Which wood?): pine")
	if said := p.fine("logs", "mill", "--json", "--type", "question.answered"); strings.Count(said, "\n") != 1 || !strings.Contains(said, "pine") {
		t.Errorf("answered: %s", said)
	}
}

// A server is killed in the middle of a replay. Two others that load the same loop send everything,
// each message once.
func TestEditorDiesInReplay(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var scenario strings.Builder
	scenario.WriteString("iteration\n")
	for n := range 3000 {
		fmt.Fprintf(&scenario, "  say N-%d.\n", n)
	}
	scenario.WriteString("  finish\n")
	p.must(os.WriteFile(filepath.Join(p.dir, "talk.rehearsal"), []byte(scenario.String()), 0o600))
	if _, stderr, code := p.ralph("start", "mill", "-m", "1", "--detach", "-p", "work", "--agent", "ralph rehearse talk.rehearsal"); code != 0 {
		t.Fatal(stderr)
	}
	p.ralph("attach", "mill", "--plain")
	load := `{"sessionId":"mill","cwd":"/","mcpServers":[]}`
	dies := p.edit()
	dies.send("session/load", load)
	dies.words("N-100.")
	p.must(dies.cmd.Process.Kill())
	_ = dies.cmd.Wait()
	first, second := p.edit(), p.edit()
	for _, e := range []*editor{first, second} {
		id := e.send("session/load", load)
		var said strings.Builder
		m := e.until("the end of the replay", func(m acpMessage) bool {
			var params struct {
				Update struct {
					SessionUpdate string
					Content       struct{ Text string }
				}
			}
			if len(m.Params) > 0 && json.Unmarshal(m.Params, &params) == nil && params.Update.SessionUpdate == "agent_message_chunk" {
				said.WriteString(params.Update.Content.Text)
			}
			return m.Method == "" && string(m.ID) == strconv.Itoa(id)
		})
		if m.Error != nil {
			t.Fatal(m.Error.Message)
		}
		for n := range 3000 {
			if got := strings.Count(said.String(), fmt.Sprintf("N-%d.", n)); got != 1 {
				t.Fatalf("N-%d. came %d times", n, got)
			}
		}
	}
	p.fine("journal", "verify", "mill")
}
