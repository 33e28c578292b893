//go:build realagents && unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal/event"
)

// A loop for which no settings choose an agent works with pi, with the model of the session.
func TestRealPiExtensionAgent(t *testing.T) {
	p := newPiPerson(t)
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("/ralph start demo -p work -m 1 -d")
	screen.sees("/ralph attach demo shows it")
	p.until("the end of the loop", func() bool { return p.dead("demo") })
	for _, e := range p.events() {
		if e.Type != event.TypeLoopStarted {
			continue
		}
		var started event.LoopStarted
		p.must(json.Unmarshal(e.Data(), &started))
		provider, model, _ := strings.Cut(modelserver.PiModel(modelserver.Chat), "/")
		for _, want := range []event.Setting{{Key: "agent", Value: "pi"}, {Key: "agents.pi.provider", Value: provider}, {Key: "agents.pi.model", Value: model}} {
			want.From = "command line"
			if !slices.Contains(started.Settings.Values, want) {
				t.Errorf("%+v is not among %+v", want, started.Settings.Values)
			}
		}
		return
	}
	t.Error("there is no beginning")
}

// Each command of the extension, and what pi says about a mistake.
func TestRealPiExtensionCommands(t *testing.T) {
	p := newPiPerson(t)
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("/ralph")
	screen.sees("answer a question of the agent")
	screen.sends("/ralph fly")
	screen.sees("There is no /ralph fly")
	screen.sends("/ralph start 'demo")
	screen.sees("a ' is left open")
	screen.sends("/ralph detach")
	screen.sees("No loop is attached")
	screen.sends("/ralph start demo -p work -m 20 --agent 'ralph rehearse wait.rehearsal' -d")
	screen.sees("/ralph attach demo shows it")
	screen.shows("ralph: demo │ iteration 1/20") // a line of its own, though it is not attached
	screen.sends("/ralph list")
	screen.sees("rehearsal")
	screen.sends("/ralph status demo")
	screen.sees("ralph status demo")
	screen.sends("/ralph steer demo by-name")
	screen.sees("delivered to demo")
	screen.sends("/ralph follow-up demo later-by-name")
	p.until("the commands", func() bool {
		return p.received("steer", "by-name") == 1 && p.received("follow-up", "later-by-name") == 1
	})
	screen.sends("/ralph attach demo")
	screen.sees("TOOL-2")
	screen.sends("/ralph attach demo")
	screen.sees("demo is attached already")
	screen.sends("/ralph steer attached-now")
	screen.sees("HEARD attached-now")
	screen.sends("/ralph detach")
	screen.sees("Detached from demo")
	before := strings.Count(screen.text(), "TOOL-3")
	screen.sends("/ralph attach demo --last")
	screen.waits("TOOL-3 again", func() string {
		if strings.Count(screen.text(), "TOOL-3") > before {
			return "TOOL-3 again"
		}
		return screen.text()
	})
	screen.sends("/ralph attach demo other")
	screen.sees("one loop at a time")
	screen.sends("/ralph clean")
	screen.sees("ralph clean")
	screen.sends("/ralph kill")
	screen.sees("Detached: ")
	screen.sends("/ralph clean demo")
	screen.shows("Remove these loops?")
	screen.types("\x1b")
	screen.lacks("Remove these loops?")
	if _, err := os.Stat(p.loop("demo")); err != nil {
		t.Errorf("the loop is removed although the person refused: %v", err)
	}
	screen.sends("/ralph clean demo")
	screen.shows("Remove these loops?")
	screen.types(enter)
	p.until("the loop to be removed", func() bool {
		_, err := os.Stat(p.loop("demo"))
		return os.IsNotExist(err)
	})
}

// lacks waits until a text has left the screen.
func (t *terminal) lacks(text string) {
	t.Helper()
	t.waits("left", func() string {
		e := terminaltest.NewEmulator(terminaltest.Options{Columns: terminalColumns, Rows: terminalRows})
		_, err := e.Write([]byte(t.text()))
		t.must(err)
		if !strings.Contains(e.Text(), text) {
			return "left"
		}
		return e.Text()
	})
}

// The line above the editor shows an open question until anybody answers it, once.
func TestRealPiExtensionAnswers(t *testing.T) {
	p := newPiPerson(t)
	p.must(os.WriteFile(filepath.Join(p.dir, "wait.rehearsal"), []byte(`# Asks in each iteration.
iteration *
  run ralph ask 'Postgres or SQLite?' --choice postgres --choice sqlite --blocks
  silence
  steered -> say HEARD {steer}
  steered -> finish
`), 0o600))
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("/ralph start demo -p work --agent 'ralph rehearse wait.rehearsal'")
	screen.sees("Question 1: Postgres or SQLite? (postgres | sqlite)")
	screen.shows("? 1 Postgres or SQLite? (postgres | sqlite)")
	screen.sends("/ralph answer 1")
	screen.sees("it takes the number of the question and the answer")
	screen.sends("/ralph answer 9 never")
	screen.sees("/ralph answer: ")
	screen.sends("/ralph answer 1 'neither'")
	screen.sees("Question 1 is answered: 'neither'")
	screen.lacks("? 1 Postgres")
	screen.sees("HEARD Answer to question 1")
	screen.shows("? 2 Postgres or SQLite?")
	p.cli("answer", "demo", "2", "from elsewhere")
	screen.sees("Question 2 is answered: from elsewhere")
	screen.lacks("? 2 Postgres")
	screen.shows("? 3 Postgres or SQLite?")
	screen.sends("/ralph detach")
	screen.sends("/ralph answer demo 3 by its name")
	p.until("the answer", func() bool {
		stdout, _, _ := p.ralph("logs", "demo", "--json", "--type", "question.answered")
		return strings.Contains(stdout, "by its name")
	})
	screen.sends("/ralph attach demo")
	screen.shows("? 4 Postgres or SQLite?")
	if answers := strings.Count(p.fine("logs", "demo", "--json", "--type", "question.answered"), "\n"); answers != 3 {
		t.Errorf("%d answers", answers)
	}
}

// Two loops work side by side, each in a work tree of its own.
func TestRealPiExtensionWorkTree(t *testing.T) {
	p := newPiPerson(t)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = p.dir, p.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	screen := p.pi()
	screen.shows("/ commands")
	screen.sends("/ralph start demo -p work --agent 'ralph rehearse wait.rehearsal'")
	screen.shows("enter steers")
	screen.sends("/ralph start two -p work -d --worktree=a..b --agent 'ralph rehearse wait.rehearsal'")
	screen.sees("is no name of a branch")
	screen.sends("/ralph start two --worktree side -p work -d --agent 'ralph rehearse wait.rehearsal'")
	screen.sees("/ralph attach two shows it")
	screen.shows("ralph: demo │")
	screen.shows("ralph: two │")
	if _, err := os.Stat(filepath.Join(p.dir, ".ralph", "two", "worktree", ".git")); err != nil {
		t.Error(err)
	}
	screen.sends("/ralph steer two for-the-side")
	p.until("the steer", func() bool {
		stdout, _, _ := p.ralph("logs", "two", "--json", "--type", "command.received")
		return strings.Contains(stdout, "for-the-side")
	})
}

// startsLoops answers a request for a loop with a call of the tool ralph_start.
func (p *piPerson) startsLoops() {
	p.server = modelserver.Start(p.T, func(r modelserver.Request) modelserver.Step {
		if len(r.Messages) > 0 && strings.Contains(r.Messages[len(r.Messages)-1].Text, "loop please") {
			return modelserver.Step{Text: "Starting.", Tools: []modelserver.ToolCall{{Name: "ralph_start", Args: map[string]any{"name": "demo", "task": "TASK-TEXT", "maxIterations": 7, "reflectEvery": 3, "maxCost": 5.5}}}}
		}
		if len(r.Messages) > 0 && strings.Contains(r.Messages[len(r.Messages)-1].Text, "status please") {
			return modelserver.Step{Tools: []modelserver.ToolCall{{Name: "ralph_status", Args: map[string]any{"name": "demo"}}, {Name: "ralph_status", Args: map[string]any{}}}}
		}
		return modelserver.Step{Text: "PI-IS-DONE"}
	})
	env, _ := modelserver.PiHome(p.T, p.server)
	for i, entry := range p.env {
		if strings.HasPrefix(entry, "PI_CODING_AGENT_DIR=") {
			p.env[i] = "PI_CODING_AGENT_DIR=" + valueOf(env, "PI_CODING_AGENT_DIR")
		}
	}
	p.must(os.MkdirAll(filepath.Join(p.dir, ".ralph"), 0o700))
	p.must(os.WriteFile(filepath.Join(p.dir, ".ralph", "settings.json"), []byte(`{"agent":"ralph rehearse wait.rehearsal"}`), 0o600))
	p.env = append(p.env, "RALPH_TRUST=1")
}

// begun reports whether the loop demo has begun.
func (p *piPerson) begun() bool {
	_, err := os.Stat(filepath.Join(p.loop("demo"), "journal"))
	return err == nil
}

// A file in pi's folder or a flag says who decides about a loop of pi's agent.
func TestRealPiExtensionPolicy(t *testing.T) {
	for _, test := range []struct {
		name, file string
		args       []string
		starts     bool
		says       string
	}{
		{"always by the file", `{"start":"always"}`, nil, true, "runs, detached"},
		{"always by the flag", ``, []string{"--ralph-start", "always"}, true, "runs, detached"},
		{"the flag is for one session", `{"start":"always"}`, []string{"--ralph-start", "never"}, false, "does not allow an agent"},
		{"never by the file", `{"start":"never"}`, nil, false, "does not allow an agent"},
		{"ask", `{"start":"ask"}`, nil, false, "no person here to allow it"},
		{"no such value", `{"start":"yes"}`, nil, false, "is neither ask, always nor never"},
		{"no JSON", `{`, nil, false, "cannot be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPiPerson(t)
			p.startsLoops()
			if test.file != "" {
				p.must(os.WriteFile(filepath.Join(valueOf(p.env, "PI_CODING_AGENT_DIR"), "ralph.json"), []byte(test.file), 0o600))
			}
			p.prints(append(slices.Clone(test.args), "-p", "loop please")...)
			if r := p.server.Requests(); !r[len(r)-1].Holds(test.says) {
				t.Errorf("the model got %s", r[len(r)-1].Body)
			}
			if p.begun() != test.starts {
				t.Errorf("a loop was started: %t", p.begun())
			}
		})
	}
}

// prints runs pi without a person, to its end.
func (p *piPerson) prints(args ...string) string {
	p.Helper()
	cmd := exec.Command(filepath.Join(modelserver.AgentBin(p.T), "pi"), append(slices.Clone(p.args), args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, p.env, time.Second
	late := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Errorf("pi %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// In print mode no command waits for a person, or for a loop that runs.
func TestRealPiExtensionPrintMode(t *testing.T) {
	p := newPiPerson(t)
	p.cli("start", "demo", "-p", "work", "-d", "--agent", "ralph rehearse wait.rehearsal")
	for _, command := range []string{"list", "status demo", "attach demo", "clean", "steer demo from-print", "nothing"} {
		p.prints("-p", "/ralph "+command)
	}
	if p.received("steer", "from-print") != 1 {
		t.Error("the steer was not received")
	}
}

// A program that drives pi gets the question as a request, with a limit of time.
func TestRealPiExtensionRPC(t *testing.T) {
	p := newPiPerson(t)
	p.startsLoops()
	cmd := exec.Command(filepath.Join(modelserver.AgentBin(t), "pi"), append(slices.Clone(p.args), "--mode", "rpc")...)
	cmd.Dir, cmd.Env = p.dir, p.env
	in, err := cmd.StdinPipe()
	p.must(err)
	out, err := cmd.StdoutPipe()
	p.must(err)
	p.must(cmd.Start())
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { late.Stop(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(out)
	until := func(text string) (line string) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("%s did not come: %v", text, err)
			}
			if strings.Contains(line, text) {
				return line
			}
		}
	}
	for _, allow := range []bool{false, true} {
		_, err = io.WriteString(in, `{"type":"prompt","message":"loop please"}`+"\n")
		p.must(err)
		var request struct {
			ID, Message string
			Timeout     int
		}
		p.must(json.Unmarshal([]byte(until(`"method":"confirm"`)), &request))
		if request.Timeout == 0 || !strings.Contains(request.Message, "TASK-TEXT") {
			t.Errorf("the request is %+v", request)
		}
		_, err = fmt.Fprintf(in, `{"type":"extension_ui_response","id":%q,"confirmed":%t}`+"\n", request.ID, allow)
		p.must(err)
		until(`"type":"agent_end"`)
		if p.begun() != allow {
			t.Errorf("answered %t, a loop was started: %t", allow, p.begun())
		}
	}
}
