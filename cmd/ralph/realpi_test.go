//go:build realagents && unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// piExtension is the folder of pi's extension.
func piExtension(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "plugin", "pi"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// piModules is the folder with pi's packages, the compiler of TypeScript and node.
func piModules(t *testing.T) string {
	return filepath.Join(filepath.Dir(modelserver.AgentBin(t)), "node_modules")
}

func TestRealPiExtensionTypes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pi")
	if err := os.CopyFS(dir, os.DirFS(piExtension(t))); err != nil {
		t.Fatal(err)
	}
	modules := piModules(t)
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(modules, ".bin", "tsc"), "--noEmit", "-p", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(modules, "node", "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

type piShown struct {
	Loop string
	Seq  uint64
	Part int
	Unit struct {
		Kind, Text, Name, Output, How string
		OK                            bool
	}
}

// piFolds feeds lines to the extension's fold.
func piFolds(t *testing.T, lines string) (shown []piShown) {
	t.Helper()
	cmd := exec.Command(filepath.Join(piModules(t), "node", "bin", "node"), filepath.Join("testdata", "pi", "fold.mjs"), piExtension(t))
	cmd.Stdin = strings.NewReader(lines)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for line := range bytes.Lines(out) {
		var s piShown
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if len(line) > 128<<10 {
			t.Errorf("a unit of %d bytes: %.300s", len(line), line)
		}
		shown = append(shown, s)
	}
	return shown
}

func TestRealPiExtensionKnowsEvents(t *testing.T) {
	catalogue, err := os.ReadFile(filepath.Join("..", "..", "journal", "event", "testdata", "catalogue.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	seq := 0
	for line := range bytes.Lines(catalogue) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		seq++
		e["seq"] = seq
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", text)
	}
	shown := piFolds(t, lines.String())
	if len(shown) < 30 {
		t.Errorf("only %d units of %d events", len(shown), seq)
	}
	for _, s := range shown {
		if strings.Contains(s.Unit.Text, "newer ralph") {
			t.Errorf("%s", s.Unit.Text)
		}
	}
}

func TestRealPiExtensionHostileJournal(t *testing.T) {
	evil := `\u001b]0;title\u0007\u001b[2J\u009b31mred\u202egnp.exe\u0000`
	line := func(seq int, v, kind, data string) string {
		return fmt.Sprintf(`{"v":%s,"seq":%d,"at":"2026-11-21T01:52:28.123456Z","iter":1,"type":"%s","data":%s}`+"\n", v, seq, kind, data)
	}
	var b strings.Builder
	b.WriteString("not json\n[]\n\n")
	b.WriteString(line(1, "1", "agent.said", `{"block":"1.1","text":"A`+evil+`B","final":true}`))
	b.WriteString(line(2, "1", "tool.called", `{"id":"t`+evil+`","name":"`+evil+`","input":{"`+evil+`":"`+evil+`","__proto__":{"a":1}}}`))
	b.WriteString(line(3, "1", "tool.progressed", `{"id":"t`+evil+`","text":"`+evil+`"}`))
	b.WriteString(line(4, "1", "tool.returned", `{"id":"t`+evil+`","ok":"yes","output":["no text"]}`))
	b.WriteString(line(5, "1", "comet.seen", `{"text":"x"}`))
	b.WriteString(line(6, "1", "comet.seen", `{"text":"x"}`))
	b.WriteString(line(7, "2", "agent.said", `{"block":"1.1","text":"SECRET-OF-V2","final":true}`))
	b.WriteString(line(8, "1", "question.asked", `{"number":"3","text":4,"choices":"many"}`))
	b.WriteString(line(9, "1", "question.asked", `{"number":3,"text":"`+evil+`","choices":["`+evil+`",7]}`))
	b.WriteString(line(9, "1", "agent.said", `{"block":"1.1","text":"SECOND-NINTH","final":true}`))
	b.WriteString(line(10, "1", "agent.said", `{"block":"2.1","text":"`+strings.Repeat("x", 1<<20)+`","final":true}`))
	for seq := 11; seq < 3000; seq++ {
		b.WriteString(line(seq, "1", "agent.said", `{"block":"3.1","text":"flood","final":true}`))
	}
	b.WriteString(line(3000, "1", "iteration.ended", `{"n":1,"outcome":"done","usage":{"in":1,"out":1,"usd":null},"took":1000}`))
	b.WriteString(line(3001, "1", "iteration.started", `{"n":2}`))
	deep := `["` + strings.Repeat("x", 8<<10) + strings.Repeat(`","`+strings.Repeat("y", 8<<10), 99) + `"]`
	b.WriteString(line(3002, "1", "tool.called", `{"id":"deep","name":"deep","input":{"a":`+deep+`,"b":[`+strings.Repeat("[1],", 99)+`[2]]}}`))
	b.WriteString(line(3003, "1", "tool.returned", `{"id":"deep","ok":true,"output":"DEEP-OUTPUT"}`))
	b.WriteString(line(3004, "1", "iteration.ended", `{"n":2,"outcome":"done","usage":{"in":null,"out":null,"cacheRead":null,"cacheWrite":null,"usd":null},"took":1000}`))
	shown := piFolds(t, b.String())
	var all strings.Builder
	for _, s := range shown {
		for _, text := range []string{s.Unit.Text, s.Unit.Name, s.Unit.Output} {
			if i := strings.IndexFunc(text, func(r rune) bool {
				return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e
			}); i >= 0 {
				t.Errorf("%s at %d: %q", s.Unit.Kind, s.Seq, text)
			}
			if len(text) > 64<<10 {
				t.Errorf("%s at %d has %d bytes", s.Unit.Kind, s.Seq, len(text))
			}
			fmt.Fprintln(&all, text)
		}
	}
	for text, want := range map[string]int{
		"AredgnpB": 0, "comet.seen": 1, "version 2": 1, "SECRET-OF-V2": 0, "SECOND-NINTH": 0, "Question 3:": 1, "more messages and tools": 1, "cost unknown": 2, "tokens unknown": 1, "DEEP-OUTPUT": 1,
	} {
		if got := strings.Count(all.String(), text); got != want {
			t.Errorf("%q is shown %d times, not %d", text, got, want)
		}
	}
	if n := strings.Count(all.String(), "flood\n"); n < 1000 || n > 1500 {
		t.Errorf("%d messages of a flood are shown", n)
	}
}

// piPerson is a person with pi in a terminal, and the loop that pi watches.
type piPerson struct {
	*place
	server *modelserver.Server
	env    []string
	args   []string
}

const piLoop = `# Waits for a steer in each iteration.
iteration *
  say SAID-{iteration} of the agent
  tool bash {"command":"make test"} 10ms -> error: TOOL-{iteration} failed
  silence
  steered -> say HEARD {steer}
  steered -> finish
`

func newPiPerson(t *testing.T) *piPerson {
	t.Helper()
	p := &piPerson{place: newPlace(t)}
	p.server = modelserver.Start(t, func(modelserver.Request) modelserver.Step { return modelserver.Step{Text: "PI-ANSWERS"} })
	env, _ := modelserver.PiHome(t, p.server)
	bin := t.TempDir()
	self, err := os.Executable()
	p.must(err)
	p.must(os.Link(self, filepath.Join(bin, "ralph")))
	p.must(os.WriteFile(filepath.Join(p.dir, "wait.rehearsal"), []byte(piLoop), 0o600))
	for i, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			env[i] = "PATH=" + bin + string(os.PathListSeparator) + path
		}
	}
	p.env = append(env, "RALPH_HOME="+p.home)
	p.args = []string{"--model", modelserver.PiModel(modelserver.Chat), "--extension", piExtension(t)}
	return p
}

func (p *piPerson) pi(args ...string) *terminal {
	cmd := exec.Command(filepath.Join(modelserver.AgentBin(p.T), "pi"), append(slices.Clone(p.args), args...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return p.terminal(cmd)
}

// sends pastes a line, which no completion changes.
func (t *terminal) sends(line string) {
	t.Helper()
	t.types("\x1b[200~" + line + "\x1b[201~")
	t.shows(line)
	t.types(enter)
}

func (p *piPerson) cli(args ...string) {
	p.Helper()
	if _, stderr, code := p.ralph(args...); code != 0 {
		p.Fatalf("ralph %v: exit %d\n%s", args, code, stderr)
	}
}

func (p *piPerson) events() (all []event.Event) {
	p.Helper()
	for e, err := range journal.Read(filepath.Join(p.dir, ".ralph", "demo"), journal.ReadOptions{}) {
		p.must(err)
		all = append(all, e.Clone())
	}
	return all
}

// piSaid is what the test compares of an event.
type piSaid struct {
	Kind, Text, Output string
	OK                 bool
}

func (p *piPerson) said(e event.Event) (s piSaid) {
	p.Helper()
	if slices.Contains([]event.Type{event.TypeAgentSaid, event.TypeToolReturned, event.TypeCommandReceived}, e.Type) {
		p.must(json.Unmarshal(e.Data(), &s))
	}
	return s
}

// received counts the commands of a kind with this text.
func (p *piPerson) received(kind, text string) (n int) {
	for _, e := range p.events() {
		if c := p.said(e); e.Type == event.TypeCommandReceived && c.Kind == kind && c.Text == text {
			n++
		}
	}
	return n
}

// drives goes through a loop with two pi, the first of which is killed while it is attached.
func (p *piPerson) drives(kept bool) (first, second *terminal) {
	first = p.pi()
	first.shows("/ commands")
	if kept {
		first.sends("before the loop")
		first.shows("PI-ANSWERS")
	}
	first.sends("/ralph start demo -p work --agent 'ralph rehearse wait.rehearsal'")
	first.sees("TOOL-1")
	first.shows("enter steers")
	first.sends("look-at-foo")
	first.sees("HEARD look-at-foo")
	first.sees("TOOL-2")
	first.types("later-bar")
	first.shows("later-bar")
	first.types("\x1b\r")
	first.sees("follow-up from")
	if s, f := p.received("steer", "look-at-foo"), p.received("follow-up", "later-bar"); s != 1 || f != 1 {
		p.Errorf("%d steers and %d follow-ups", s, f)
	}
	p.must(first.cmd.Process.Kill())
	<-first.done
	p.cli("steer", "--loop", "demo", "while-away")

	args := []string{}
	if kept {
		args = append(args, "--continue")
	}
	second = p.pi(args...)
	second.sees("Attached to demo again")
	second.sees("HEARD while-away")
	second.sees("TOOL-3")
	second.sends("/ralph detach")
	second.sees("Detached from demo")
	second.sends("a plain question")
	second.sees("PI-ANSWERS")
	p.cli("steer", "--loop", "demo", "unseen")
	second.sends("/ralph attach demo")
	second.sees("HEARD unseen")
	second.sees("TOOL-4")
	second.sends("/ralph stop --now")
	second.sees("Detached: the loop demo has ended")
	return first, second
}

// The session of pi that the model has answered in is a file: its entries are what was shown.
func TestRealPiExtension(t *testing.T) {
	p := newPiPerson(t)
	p.drives(true)
	files, err := filepath.Glob(filepath.Join(valueOf(p.env, "PI_CODING_AGENT_DIR"), "sessions", "*", "*.jsonl"))
	p.must(err)
	if len(files) != 1 {
		t.Fatalf("sessions: %q", files)
	}
	var last piShown
	shown := map[uint64]piShown{}
	file, err := os.Open(files[0])
	p.must(err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry struct {
			CustomType string
			Data       piShown
		}
		p.must(json.Unmarshal(lines.Bytes(), &entry))
		if entry.CustomType != "ralph" {
			continue
		}
		if s := entry.Data; s.Seq < last.Seq || s.Seq == last.Seq && s.Part <= last.Part {
			t.Errorf("%d.%d comes after %d.%d", s.Seq, s.Part, last.Seq, last.Part)
		}
		last = entry.Data
		shown[last.Seq] = last
	}
	p.must(lines.Err())
	p.compares(shown)
	for _, r := range p.server.Requests() {
		if r.Holds("SAID-") || r.Holds("look-at-foo") {
			t.Errorf("pi's model saw something of the loop: %s", r.Body)
		}
	}
	if requests := p.server.Requests(); !requests[len(requests)-1].Holds("a plain question") {
		t.Error("the plain question did not reach pi's model")
	}
}

// compares checks that each message and tool of the journal was shown at its event.
func (p *piPerson) compares(shown map[uint64]piShown) {
	p.Helper()
	messages, tools := 0, 0
	for _, e := range p.events() {
		s, d := shown[uint64(e.Seq)].Unit, p.said(e)
		switch e.Type {
		case event.TypeAgentSaid:
			if s.Kind != "said" || s.Text != d.Text {
				p.Errorf("event %d, %q, is shown as %+v", e.Seq, d.Text, s)
			}
			messages++
		case event.TypeToolReturned:
			if s.Kind != "tool" || s.Output != d.Output || s.OK != d.OK {
				p.Errorf("event %d, %q, is shown as %+v", e.Seq, d.Output, s)
			}
			tools++
		case event.TypeIterationStarted:
			if s.Kind != "begin" {
				p.Errorf("the beginning of iteration %d is not shown", e.Iter)
			}
		}
	}
	if messages < 7 || tools < 4 {
		p.Errorf("the journal has %d messages and %d tools", messages, tools)
	}
}

// pi has no file of a session before its model has answered. The next pi shows what the first has
// not.
func TestRealPiExtensionUnkeptSession(t *testing.T) {
	p := newPiPerson(t)
	first, second := p.drives(false)
	for _, text := range []string{"SAID-1", "TOOL-1", "HEARD look-at-foo", "SAID-2", "TOOL-2", "HEARD while-away", "SAID-3", "TOOL-3", "HEARD unseen", "SAID-4", "TOOL-4"} {
		if a, b := strings.Contains(first.text(), text), strings.Contains(second.text(), text); a == b {
			t.Errorf("%s: the first pi has shown it: %t, the second: %t", text, a, b)
		}
	}
}

// A person decides whether the agent of pi starts a loop; in print mode there is no person.
func TestRealPiExtensionStartTool(t *testing.T) {
	p := newPiPerson(t)
	p.startsLoops()
	loops := func() []os.DirEntry {
		found, err := filepath.Glob(filepath.Join(p.dir, ".ralph", "demo", "journal"))
		p.must(err)
		return make([]os.DirEntry, len(found))
	}
	print := exec.Command(filepath.Join(modelserver.AgentBin(t), "pi"), append(slices.Clone(p.args), "-p", "loop please")...)
	print.Dir, print.Env = p.dir, p.env
	if out, err := print.CombinedOutput(); err != nil || len(loops()) != 0 {
		t.Errorf("%v\n%s", err, out)
	}
	if r := p.server.Requests(); !r[len(r)-1].Holds("There is no person here to allow it") {
		t.Errorf("the model got %s", r[len(r)-1].Body)
	}
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("loop please")
	screen.shows("Let pi's agent start a loop?")
	screen.shows("TASK-TEXT")
	screen.types("\x1b")
	screen.sees("did not allow it")
	screen.sees("PI-IS-DONE")
	if len(loops()) != 0 {
		t.Error("a loop was started although the person refused")
	}
	screen.sends("loop please again")
	screen.shows("Let pi's agent start a loop?")
	screen.types(enter)
	screen.sees("runs, detached")
	if len(loops()) != 1 {
		t.Error("no loop was started")
	}
}
