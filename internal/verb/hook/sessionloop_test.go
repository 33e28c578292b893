package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// begin starts a session loop in the world's project.
func (w *world) begin(change func(*SessionLoop)) *SessionFolder {
	w.t.Helper()
	l := &SessionLoop{Task: "Port the parser.", Promise: "DONE", MaxIterations: 5, MinToolCalls: 1, OnNoWork: RejectNoWork, Cwd: w.project, Started: w.now, Sessions: []string{w.session}}
	if change != nil {
		change(l)
	}
	folder, err := MakeSessionFolder(w.home, w.project)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { folder.Close() })
	if err := folder.Start(l); err != nil {
		w.t.Fatal(err)
	}
	return folder
}

// only returns the one session loop of the project.
func only(t *testing.T, f *SessionFolder) *SessionLoop {
	t.Helper()
	all := f.List()
	if len(all) != 1 {
		t.Fatalf("%d session loops", len(all))
	}
	return all[0]
}

// says appends to the transcript that the assistant said a text after some tool calls, one second
// after what was before, in the format of the agent.
func (w *world) says(text string, tools int) (stdin map[string]any) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	at := w.now.UTC().Format("2006-01-02T15:04:05.000Z")
	var lines []string
	line := func(v any) {
		encoded, err := json.Marshal(v)
		if err != nil {
			w.t.Fatal(err)
		}
		lines = append(lines, string(encoded))
	}
	type m = map[string]any
	for range tools {
		if w.codex {
			line(m{"timestamp": at, "type": "response_item", "payload": m{"type": "function_call", "name": "exec_command", "arguments": "{}"}})
		} else {
			line(m{"type": "assistant", "timestamp": at, "message": m{"role": "assistant", "content": []any{m{"type": "tool_use", "name": "Bash", "input": m{"command": "true"}}}}})
		}
	}
	if w.codex {
		line(m{"timestamp": at, "type": "response_item", "payload": m{"type": "message", "role": "assistant", "content": []any{m{"type": "output_text", "text": text}}}})
	} else {
		line(m{"type": "assistant", "timestamp": at, "message": m{"role": "assistant", "content": []any{m{"type": "text", "text": text}}}})
	}
	path := w.append("transcript.jsonl", strings.Join(lines, "\n")+"\n")
	w.now = w.now.Add(time.Second)
	return map[string]any{"transcript_path": path, "last_assistant_message": text}
}

func (w *world) append(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return path
}

const marker = "<promise>DONE</promise>"

// Acceptance test 1: the promise after work ends the loop.
func TestSessionStopsOnPromise(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		f := w.begin(nil)
		got := w.stop(w.says("It works. "+marker, 2))
		checkBlocked(t, got, "")
		l := only(t, f)
		if l.Result != PromiseAccepted || l.ToolCalls != 2 || l.Ended == nil || !strings.Contains(got.SystemMessage, string(PromiseAccepted)) {
			t.Errorf("%+v, the person reads %q", l, got.SystemMessage)
		}
		checkBlocked(t, w.stop(w.says("bye", 0)), "") // it is over
	})
}

// Acceptance test 2: without the promise the agent is sent back to its task.
func TestSessionBlocksWithoutPromise(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		f := w.begin(func(l *SessionLoop) { l.Prefix = "THINK HARD" })
		got := w.stop(w.says("I'm done", 3))
		for _, want := range []string{"You did not write " + marker, "Port the parser.", "iteration 1 of 5", "THINK HARD\n"} {
			checkBlocked(t, got, want)
		}
		if !strings.HasPrefix(got.Reason, "THINK HARD") {
			t.Errorf("the prefix is not first: %s", got.Reason)
		}
		l := only(t, f)
		if l.Iteration != 1 || !l.Active() || l.ToolCalls != 3 {
			t.Errorf("%+v", l)
		}
		if d := l.Decisions; len(d) != 1 || !d[0].Blocked || d[0].Promise != "missing" || d[0].Iteration != 1 || d[0].Why == "" {
			t.Errorf("the log: %+v", d)
		}
	})
}

// Acceptance test 3: without a promise the loop ends at its limit.
func TestSessionEndsAtLimit(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		f := w.begin(func(l *SessionLoop) { l.MaxIterations = 3 })
		for range 3 {
			checkBlocked(t, w.stop(w.says("not yet", 1)), marker)
		}
		got := w.stop(w.says("not yet", 1))
		checkBlocked(t, got, "")
		if l := only(t, f); l.Result != LimitReached || l.Iteration != 3 || !strings.Contains(got.SystemMessage, string(LimitReached)) {
			t.Errorf("%+v, the person reads %q", l, got.SystemMessage)
		}
	})
}

// Acceptance test 4: a promise without work is rejected, also later, until it is written again.
func TestSessionRejectsBypass(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		f := w.begin(nil)
		checkBlocked(t, w.stop(w.says(marker, 0)), "0 tool calls")
		if d := only(t, f).Decisions; d[0].Promise != "rejected" {
			t.Errorf("the log: %+v", d)
		}
		checkBlocked(t, w.stop(w.says("I worked now", 1)), "You did not write")
		checkBlocked(t, w.stop(w.says(marker, 0)), "")
		if l := only(t, f); l.Result != PromiseAccepted || l.ToolCalls != 1 || len(l.Decisions) != 3 {
			t.Errorf("%+v", l)
		}
	})
}

// Acceptance test 5: the promise counts wherever it is seen: in the last message only, in an
// earlier message, in the middle of a text.
func TestSessionDetectsPromise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		later  string // a message after it
		unread bool   // the transcript does not have the last message yet
		want   bool
	}{
		"alone":               {text: marker, want: true},
		"in a text":           {text: "All done.\n" + marker + "\nBye.", want: true},
		"in a code fence":     {text: "```\n" + marker + "\n```", want: true},
		"in an earlier one":   {text: marker, later: "Anything else?", want: true},
		"in the last only":    {text: marker, unread: true, want: true},
		"with a blank":        {text: "<promise> DONE </promise>"},
		"in other case":       {text: "<promise>done</promise>"},
		"another word":        {text: "<promise>COMPLETE</promise>"},
		"without its end":     {text: "<promise>DONE"},
		"the word by itself":  {text: "DONE"},
		"with further words":  {text: "<promise>DONE, mostly</promise>"},
		"against its words":   {text: marker + "\nNot met: 3 tests fail."},
		"escaped in a string": {text: `&lt;promise&gt;DONE&lt;/promise&gt;`},
	} {
		t.Run(name, func(t *testing.T) {
			bothAgents(t, func(t *testing.T, w *world) {
				f := w.begin(nil)
				stdin := w.says("working", 1)
				if c.unread {
					stdin["last_assistant_message"] = c.text
				} else {
					stdin = w.says(c.text, 0)
				}
				if c.later != "" {
					stdin = w.says(c.later, 0)
				}
				blocked := w.stop(stdin).Decision == "block"
				if blocked == c.want || (only(t, f).Result == PromiseAccepted) != c.want {
					t.Errorf("blocked: %v, %+v", blocked, only(t, f))
				}
			})
		})
	}
}

func TestSessionAcceptsNoWork(t *testing.T) {
	w := newWorld(t)
	f := w.begin(func(l *SessionLoop) { l.OnNoWork = AcceptNoWork })
	checkBlocked(t, w.stop(w.says(marker, 0)), "")
	if l := only(t, f); l.Result != PromiseAccepted {
		t.Errorf("%+v", l)
	}
}

// What was said and done before the loop began, by subagents, and in the arguments of a tool, does
// not count.
func TestSessionCountsItsOwn(t *testing.T) {
	w := newWorld(t)
	w.says("an earlier loop: "+marker, 4)
	f := w.begin(nil)
	at := w.now.Add(time.Second).UTC().Format(time.RFC3339Nano)
	stdin := w.says("no promise", 0)
	w.append("transcript.jsonl", fmt.Sprintf(`{"type":"assistant","isSidechain":true,"timestamp":%q,"message":{"content":[{"type":"text","text":%q},{"type":"tool_use"}]}}`, at, marker)+"\n"+
		fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":%q}}`, at, marker)+"\n"+
		fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"content":[{"type":"tool_use","input":{"command":"echo %s"}},{"type":"thinking","thinking":%q}]}}`, at, marker, marker)+"\n")
	checkBlocked(t, w.stop(stdin), "You did not write")
	if l := only(t, f); l.ToolCalls != 1 {
		t.Errorf("%d tool calls", l.ToolCalls)
	}
}

// An agent may write its transcript later than it calls the hook: calls that come after the
// decision on their turn, or while the hook of the last one waits, count all the same.
func TestSessionCountsLateCalls(t *testing.T) { synctest.Test(t, countLateCalls) }

func countLateCalls(t *testing.T) {
	w := newWorld(t)
	f := w.begin(func(l *SessionLoop) { l.MinToolCalls = 3 })
	call := fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"content":[{"type":"tool_use"}]}}`, w.now.Add(time.Second).UTC().Format(time.RFC3339Nano)) + "\n"
	checkBlocked(t, w.stop(w.says("no promise", 0)), "You did not write")
	w.append("transcript.jsonl", call+call)
	checkBlocked(t, w.stop(w.says(marker, 0)), "you made only 2 tool calls")
	w.now = w.now.Add(time.Second)
	stdin := w.says("not "+marker, 0)
	stdin["last_assistant_message"] = marker + " again"
	stop := make(chan output)
	go func() { stop <- w.stop(stdin) }()
	time.Sleep(lateLimit / 2) // in the bubble's time: the hook has looked, and waits
	w.append("transcript.jsonl", call)
	checkBlocked(t, <-stop, "")
	if l := only(t, f); l.Result != PromiseAccepted || l.ToolCalls != 3 {
		t.Errorf("%+v", l)
	}
}

// However much was written since the loop began, the promise in it counts.
func TestSessionReadsFarBack(t *testing.T) {
	bothAgents(t, func(t *testing.T, w *world) {
		f := w.begin(nil)
		w.says("It works. "+marker, 2)
		line := fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":%q}}`, w.now.UTC().Format(time.RFC3339Nano), strings.Repeat("x", 10_000)) + "\n"
		w.append("transcript.jsonl", strings.Repeat(line, 600)) // more than the second tail
		checkBlocked(t, w.stop(w.says("anything else?", 0)), "")
		if l := only(t, f); l.Result != PromiseAccepted || l.ToolCalls != 2 {
			t.Errorf("%+v", l)
		}
	})
}

func TestSessionStopsAtOnce(t *testing.T) {
	w := newWorld(t)
	f := w.begin(func(l *SessionLoop) { l.Sessions, l.MaxIterations = nil, 100 })
	var held atomic.Int32
	var calls sync.WaitGroup
	for i := range 8 {
		stdin := strings.Replace(w.input("Stop", nil), "S-1", fmt.Sprintf("S-%d", i), 1)
		calls.Go(func() {
			if got, err := w.answer(Stop, stdin); err != nil || got.Decision == "block" {
				held.Add(1)
			}
		})
	}
	calls.Wait()
	if l := only(t, f); held.Load() != 1 || l.Iteration != 1 || len(l.Sessions) != 1 {
		t.Errorf("%d sessions are held: %+v", held.Load(), l)
	}
}

// Without a transcript the change of a file is the work.
func TestSessionWithoutTranscript(t *testing.T) {
	t.Parallel()
	shared := newWorld(t)
	shared.write("a.txt", "a")
	shared.commit()
	began := time.Duration(0) // the loops are listed by it
	for name, path := range map[string]string{"none": "", "missing": "/nowhere/at/all.jsonl", "a folder": "/"} {
		t.Run(name, func(t *testing.T) {
			w := shared.in(t)
			began += time.Second
			w.now = w.now.Add(began)
			f := w.begin(func(l *SessionLoop) { l.Files = FilesOf(t.Context(), w.project) })
			stdin := map[string]any{"transcript_path": path, "last_assistant_message": marker}
			checkBlocked(t, w.stop(stdin), "nothing shows that work was done")
			w.write("a.txt", name)
			checkBlocked(t, w.stop(stdin), "")
			all := f.List()
			if l := all[len(all)-1]; !l.Holds(w.session) || l.Result != PromiseAccepted {
				t.Errorf("%+v", l)
			}
		})
	}
}

func TestSessionIsClaimedOnce(t *testing.T) {
	w := newWorld(t)
	f := w.begin(func(l *SessionLoop) { l.Sessions = nil })
	w.session = "of a loop"
	w.env[LoopDirVariable] = w.loop
	checkBlocked(t, w.stop(nil), "")
	delete(w.env, LoopDirVariable)
	w.session = "first"
	checkBlocked(t, w.stop(map[string]any{"agent_id": "sub"}), "")
	checkBlocked(t, w.stop(map[string]any{"cwd": filepath.Join(w.project, "deep", "er")}), marker)
	w.session = "second"
	checkBlocked(t, w.stop(nil), "")
	if l := only(t, f); !l.Holds("first") || l.Holds("second") || l.Iteration != 1 {
		t.Errorf("%+v", l)
	}
}

func TestSessionCancel(t *testing.T) {
	w := newWorld(t)
	f := w.begin(nil)
	checkBlocked(t, w.stop(nil), marker)
	if ok, err := f.Cancel(only(t, f).ID, w.now, "by a person"); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	checkBlocked(t, w.stop(nil), "")
	l := only(t, f)
	if last := l.Decisions[len(l.Decisions)-1]; l.Result != Cancelled || last.Why != "by a person" {
		t.Errorf("%+v", l)
	}
	if ok, err := f.Cancel(l.ID, w.now, "again"); ok || err != nil {
		t.Errorf("cancelled again: %v, %v", ok, err)
	}
}

func TestSessionHasOneLoop(t *testing.T) {
	w := newWorld(t)
	f := w.begin(nil)
	another := *only(t, f)
	another.Decisions = nil
	err := f.Start(&another)
	if _, ok := errors.AsType[*BusySessionError](err); !ok {
		t.Errorf("a second loop: %v", err)
	}
	another.Sessions = []string{"S-2"}
	if err := f.Start(&another); err != nil {
		t.Error(err)
	}
}

// A state file that came with a repository holds no session.
func TestForeignSessionFileIsIgnored(t *testing.T) {
	w := newWorld(t)
	f := w.begin(func(l *SessionLoop) { l.Sessions = nil })
	id := only(t, f).ID
	other := newWorld(t)
	text, err := os.ReadFile(filepath.Join(w.project, ".ralph", sessionFolder, id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	other.write(filepath.Join(".ralph", sessionFolder, id+".json"), string(text))
	checkBlocked(t, other.stop(nil), "")
	other.home = w.home // the note is of another folder
	checkBlocked(t, other.stop(nil), "")
}

func TestSessionFilesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var f *SessionFolder
	for range keptSessions + 3 {
		w.now = w.now.Add(time.Second)
		f = w.begin(nil)
		all := f.List()
		if ended, err := f.Cancel(all[len(all)-1].ID, w.now, "x"); !ended || err != nil {
			t.Fatalf("%v, %v", ended, err)
		}
	}
	if n := len(f.List()); n != keptSessions {
		t.Errorf("%d are kept", n)
	}
}

func TestSessionLoopCheck(t *testing.T) {
	valid := SessionLoop{Task: "t", Promise: "DONE", MaxIterations: 1, OnNoWork: RejectNoWork}
	if err := valid.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*SessionLoop){
		"no task":        func(l *SessionLoop) { l.Task = " " },
		"a long task":    func(l *SessionLoop) { l.Task = strings.Repeat("x", mostTask+1) },
		"no promise":     func(l *SessionLoop) { l.Promise = "" },
		"with its tag":   func(l *SessionLoop) { l.Promise = marker },
		"with a blank":   func(l *SessionLoop) { l.Promise = "DONE " },
		"no iteration":   func(l *SessionLoop) { l.MaxIterations = 0 },
		"less than 0":    func(l *SessionLoop) { l.MinToolCalls = -1 },
		"no such policy": func(l *SessionLoop) { l.OnNoWork = "perhaps" },
	} {
		l := valid
		change(&l)
		if l.Check() == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestContractNamesTheRules(t *testing.T) {
	l := SessionLoop{Task: "THE TASK", Promise: "DONE", MaxIterations: 3, MinToolCalls: 2, OnNoWork: RejectNoWork, Prefix: "FIRST"}
	for _, want := range []string{"THE TASK", marker, "exactly", "do not write it", "2 tool calls", "3 times", "FIRST"} {
		if !strings.Contains(l.Contract(), want) {
			t.Errorf("no %q in %s", want, l.Contract())
		}
	}
}
