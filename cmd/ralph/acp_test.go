//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/registry"
)

// editor is a client of a 'ralph acp' of its own.
type editor struct {
	*place
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

// acpMessage is what the server sends.
type acpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result struct {
		Session string `json:"sessionId"`
		Stop    string `json:"stopReason"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
	Params json.RawMessage `json:"params"`
}

// edit starts an editor's connection.
func (p *place) edit(args ...string) *editor {
	p.Helper()
	e := &editor{place: p, cmd: p.command(append([]string{"acp"}, args...)...)}
	e.cmd.Dir = p.home // an editor's folder is not that of the project
	var err error
	e.in, err = e.cmd.StdinPipe()
	p.must(err)
	out, err := e.cmd.StdoutPipe()
	p.must(err)
	e.out = bufio.NewReader(out)
	p.must(e.cmd.Start())
	p.Cleanup(func() { _ = e.cmd.Process.Kill(); _ = e.cmd.Wait() })
	e.request("initialize", `{"protocolVersion":1}`)
	return e
}

func (e *editor) send(method, params string) int {
	e.Helper()
	e.n++
	id, err := json.Marshal(e.n)
	e.must(err)
	_, err = io.WriteString(e.in, `{"jsonrpc":"2.0","id":`+string(id)+`,"method":"`+method+`","params":`+params+"}\n")
	e.must(err)
	return e.n
}

func (e *editor) cancel(session string) {
	e.Helper()
	_, err := io.WriteString(e.in, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"`+session+`"}}`+"\n")
	e.must(err)
}

// until reads to the first message that is wanted.
func (e *editor) until(what string, wanted func(acpMessage) bool) acpMessage {
	e.Helper()
	late := time.AfterFunc(patience, func() { _ = e.cmd.Process.Kill() })
	defer late.Stop()
	var last []byte
	for {
		line, err := e.out.ReadBytes('\n')
		if err != nil {
			e.Fatalf("%s did not come: %v; the last message: %s", what, err, last)
		}
		last = line
		var m acpMessage
		e.must(json.Unmarshal(line, &m))
		if wanted(m) {
			return m
		}
	}
}

func (e *editor) answer(id int) acpMessage {
	e.Helper()
	return e.until("the answer", func(m acpMessage) bool { return m.Method == "" && string(m.ID) == strconv.Itoa(id) })
}

func (e *editor) request(method, params string) acpMessage {
	e.Helper()
	return e.answer(e.send(method, params))
}

// words reads to an update with this word: a sentence may come in pieces.
func (e *editor) words(words string) {
	e.Helper()
	e.until(words, func(m acpMessage) bool { return strings.Contains(string(m.Params), words) })
}

// begin opens a thread and prompts it.
func (e *editor) begin(text string) (session string, prompt int) {
	e.Helper()
	session = e.request("session/new", `{"cwd":"`+e.dir+`","mcpServers":[]}`).Result.Session
	return session, e.send("session/prompt", `{"sessionId":"`+session+`","prompt":[{"type":"text","text":"`+text+`"}]}`)
}

// plays writes a scenario of the rehearsal agent into the project, and returns the flags that
// start it. Its path is relative: the project is where it counts.
func (p *place) plays(text string) []string {
	p.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, "play.rehearsal"), []byte(text), 0o600))
	return []string{"--agent", "ralph rehearse play.rehearsal", "--loop", "mill"}
}

// Two editors watch a loop. The server of the one that began it is killed in the middle of its
// prompt, the other steers, and a third reads everything again while the loop goes on.
func TestEditorsComeAndGo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	flags := p.plays("iteration\n  steered -> finish\n  say Begun.\n  silence\niteration *\n  say Done.\n  write out.txt x\n  promise\n")
	first := p.edit(flags...)
	session, _ := first.begin("build the mill")
	first.words("Begun.")
	second := p.edit()
	if m := second.request("session/load", `{"sessionId":"`+session+`","cwd":"/","mcpServers":[]}`); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	p.must(first.cmd.Process.Kill())
	_ = first.cmd.Wait()
	id := second.send("session/prompt", `{"sessionId":"`+session+`","prompt":[{"type":"text","text":"use oak"}]}`)
	second.words("Done.")
	if m := second.answer(id); m.Result.Stop != "end_turn" {
		t.Errorf("the prompt ended with %+v", m)
	}
	third := p.edit()
	again := third.send("session/load", `{"sessionId":"mill","cwd":"/","mcpServers":[]}`)
	third.words("build the mill")
	third.words("use oak") // what the second one's person said
	if m := third.answer(again); m.Error != nil {
		t.Errorf("the loop cannot be read again: %s", m.Error.Message)
	}
	p.fine("journal", "verify", "mill")
}

// A client may end its agent with all that descends from it. A runner does not.
func TestEditorIsNoParent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e := p.edit(p.plays("iteration *\n  say Begun.\n  silence\n")...)
	session, prompt := e.begin("build the mill")
	e.words("Begun.")
	live, err := registry.Probe(filepath.Join(p.dir, ".ralph", "mill"))
	p.must(err)
	parents := map[string]string{}
	listed, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	p.must(err)
	for line := range strings.Lines(string(listed)) {
		if f := strings.Fields(line); len(f) == 2 {
			parents[f[0]] = f[1]
		}
	}
	at := strconv.Itoa(live.PID)
	if parents[at] == "" {
		t.Fatalf("process %s is not in the list", at)
	}
	for ; at != "" && at != "0"; at = parents[at] {
		if at == strconv.Itoa(e.cmd.Process.Pid) {
			t.Fatal("the runner descends from the server")
		}
	}
	e.cancel(session)
	e.answer(prompt)
}

func TestEditorCancelsLoop(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	e := p.edit(p.plays("iteration *\n  say Begun.\n  silence\n")...)
	session, prompt := e.begin("build the mill")
	e.words("Begun.")
	e.cancel(session)
	if m := e.answer(prompt); m.Result.Stop != "cancelled" {
		t.Errorf("the prompt ended with %+v", m)
	}
	// Another prompt resumes the loop, with the words in its prompt.
	id := e.send("session/prompt", `{"sessionId":"`+session+`","prompt":[{"type":"text","text":"once more"}]}`)
	e.words("Begun.")
	e.cancel(session)
	if m := e.answer(id); m.Result.Stop != "cancelled" {
		t.Errorf("the second prompt ended with %+v", m)
	}
	if said := p.fine("logs", "mill", "--json", "--type", "iteration.started"); !strings.Contains(said, "once more") {
		t.Errorf("the prompts are %s", said)
	}
}

func TestEditorNeedsTrust(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.untrusted = true
	p.must(os.MkdirAll(filepath.Join(p.dir, ".ralph"), 0o700))
	p.must(os.WriteFile(filepath.Join(p.dir, ".ralph", "settings.json"), []byte(`{"guardrails":[{"command":"touch ran"}],"agent":"ralph rehearse demo"}`), 0o600))
	e := p.edit()
	_, prompt := e.begin("build the mill")
	m := e.answer(prompt)
	if m.Error == nil || !strings.Contains(m.Error.Message, "ralph trust") {
		t.Errorf("the prompt ended with %+v", m)
	}
	if loops := p.fine("list", "--json"); strings.Contains(loops, `"name"`) {
		t.Errorf("a loop was started: %s", loops)
	}
}
