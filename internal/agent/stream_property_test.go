package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/redact"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
	"pgregory.net/rapid"
)

// secretsOfStreams are joined here so that no file of the repository holds a complete one.
func secretsOfStreams() []string {
	line := strings.Repeat("A1b2C3d4", 8) + "\n"
	return []string{
		hidden, "zXq9-kk41", "gh" + "p_" + strings.Repeat("A1b2", 9), "https://ada:S3cret-77x@h.example/",
		"-----BEGIN RSA PRIVATE" + " KEY-----\n" + strings.Repeat(line, 25) + "-----END RSA PRIVATE" + " KEY-----\n",
		`-p` + "zXq9-kk41", `\n` + "gh" + "p_" + strings.Repeat("A1b2", 9), "Authorization: Bearer " + strings.Repeat("aB3-", 9),
	}
}

// journaled returns what a journal would hold of each text of a conversation: every event masked by
// itself, as the journal does.
func journaled(t interface{ Fatal(...any) }, masker *redact.Redactor, facts []event.Payload) map[string]string {
	all := map[string]string{}
	h := streamRedactor{secrets: masker}
	on := func(p event.Payload) {
		line, _ := masker.Mask(event.AppendData(nil, p))
		var data struct{ Block, ID, Parent, Stream, Text, Line string }
		if err := json.Unmarshal(line, &data); err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint(p.EventType(), data.Block, data.ID, data.Parent, data.Stream)
		all[key] += data.Text + data.Line
		if data.Line != "" {
			all[key] += "\n"
		}
	}
	for _, fact := range facts {
		h.pass(fact, on)
	}
	h.flush(on)
	return all
}

// Several texts at a time (the assistant's, two subagents', what two tools print, standard error),
// each in pieces of any length and all of them mixed, with other facts between them: each is masked
// as it is when it comes in one piece.
func TestPiecesMaskedAsOneText(t *testing.T) {
	masker := redact.New([]string{"DEMO_TOKEN=" + hidden, "MYSQL_PASSWORD=zXq9-kk41"})
	around := rapid.SampledFrom([]string{"", " ", "\n", "word ", "x", `{"a":"`, `\n`, "é", "-"})
	rapid.Check(t, func(t *rapid.T) {
		sources := []func(text string, end bool) event.Payload{
			func(text string, end bool) event.Payload {
				return event.AgentSaid{Block: "1.0", Text: event.Plain(text), Final: end}
			},
			func(text string, end bool) event.Payload {
				return event.AgentThought{Block: "1.0", Parent: "t1", Text: event.Plain(text), Final: end}
			},
			func(text string, end bool) event.Payload {
				return event.AgentSaid{Block: "1.0", Parent: "t2", Text: event.Plain(text), Final: end}
			},
			func(text string, _ bool) event.Payload {
				return event.ToolProgressed{ID: "t3", Text: event.Plain(text)}
			},
			func(text string, _ bool) event.Payload {
				return event.ToolProgressed{ID: "t4", Text: event.Plain(text)}
			},
			func(text string, _ bool) event.Payload {
				return event.AgentUnparsed{Stream: "stderr", Line: event.Plain(text)}
			},
		}
		var whole []event.Payload
		rest := make([]string, len(sources))
		for i := range sources {
			for range rapid.IntRange(1, 3).Draw(t, "secrets") {
				rest[i] += around.Draw(t, "before") + rapid.SampledFrom(secretsOfStreams()).Draw(t, "secret") + around.Draw(t, "after")
			}
			if i < 5 {
				whole = append(whole, sources[i](rest[i], true))
			} else {
				rest[i] = strings.TrimSuffix(rest[i], "\n") + "\n"
				masked, _ := masker.Text([]byte(rest[i]))
				whole = append(whole, event.AgentUnparsed{Stream: "stderr", Line: event.Plain(strings.TrimSuffix(string(masked), "\n"))})
			}
		}
		var pieces []event.Payload
		for open := len(sources); open > 0; {
			i := rapid.IntRange(0, len(sources)-1).Draw(t, "source")
			if rest[i] == "" {
				continue
			}
			n := min(len(rest[i]), rapid.IntRange(1, 60).Draw(t, "length"))
			for n < len(rest[i]) && rest[i][n] >= 0x80 && rest[i][n] < 0xC0 { // complete characters, as in JSON
				n++
			}
			if i == 5 {
				n = strings.IndexByte(rest[i], '\n') + 1
			}
			piece := rest[i][:n]
			if rest[i] = rest[i][n:]; rest[i] == "" {
				open--
			}
			if i == 5 {
				piece = strings.TrimSuffix(piece, "\n")
			}
			pieces = append(pieces, sources[i](piece, rest[i] == ""))
			switch rapid.IntRange(0, 9).Draw(t, "besides") {
			case 0:
				pieces = append(pieces, event.AgentUsed{In: 1})
			case 1:
				pieces = append(pieces, event.AgentNoticed{What: "ping"})
			case 2:
				pieces = append(pieces, event.ToolProgressed{ID: "t9"})
			}
		}
		want, got := journaled(t, masker, whole), journaled(t, masker, pieces)
		for key, text := range want {
			if lines(got[key]) != lines(text) {
				t.Fatalf("%s\nin pieces %q\nwhole     %q", key, got[key], text)
			}
		}
	})
}

// lines leaves out empty ones, which no event reports.
func lines(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "\n")
}

func TestTailOfStderrIsMasked(t *testing.T) {
	masker := redact.New(nil)
	var end tail
	lines := strings.Split(secretsOfStreams()[4]+"and then it failed", "\n")
	for range 100 { // most of it is cut off, in the middle of a key
		for _, line := range lines {
			end.write(masker, []byte(line+"\n"))
		}
		end.write(masker, []byte(strings.Repeat("no key ", 200)+"\n"))
	}
	if text := end.end(); strings.Contains(text, "A1b2C3d4") || !strings.Contains(text, "and then it failed") || len(text) > tailBytes {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
}

// A line whose fact is a piece of a longer text is not kept beside it.
func TestPieceLinesNotKept(t *testing.T) {
	for _, row := range []struct {
		fact event.Payload
		want bool
	}{
		{event.AgentSaid{Text: event.Plain("a")}, true},
		{event.AgentThought{Text: event.Plain("a")}, true},
		{event.AgentSaid{Text: event.Plain("a"), Final: true}, false},
		{event.ToolProgressed{Text: event.Plain("a")}, true},
		{event.ToolProgressed{}, false},
		{event.ToolReturned{Output: event.Plain("a")}, false},
	} {
		s := Session{cfg: Config{KeepRaw: true}}
		if kept := s.keeps([]byte(`{}`), Stdout, &Decoded{Facts: []event.Payload{row.fact}}); kept == row.want {
			t.Errorf("%T %+v: kept is %v", row.fact, row.fact, kept)
		}
	}
}
