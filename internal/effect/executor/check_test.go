//go:build unix

package executor_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	begin  = event.Decided{Do: event.DoBegin, Iteration: 1}
	check  = event.Decided{Do: event.DoCheck, Iteration: 1}
	look   = event.Decided{Do: event.DoCheck, Iteration: 1, Only: "look"}
	cancel = event.Decided{Do: event.DoCancel, Iteration: 1}
)

// bare returns an executor that starts no agent.
func bare(t *testing.T, guards ...string) *stage {
	t.Helper()
	s := set(t, nil)
	for _, command := range guards {
		s.cfg.Guardrails = append(s.cfg.Guardrails, guardrail.Guardrail{
			Command: command, FailAction: "APPEND", Timeout: 20 * time.Second,
		})
	}
	return s
}

// write puts a file into the project, or into the loop's folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func there(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// answer returns what is delivered up to the answer of a check or of a begin.
func (s *stage) answer(d event.Decided) []reported {
	s.t.Helper()
	cause := s.do(d)
	var all []reported
	for {
		e := s.next()
		all = append(all, e)
		if e.cause != cause && e.by == "loop" {
			s.t.Fatalf("%s was caused by %d, not by %d", e.typ, e.cause, cause)
		}
		switch e.typ {
		case event.TypeIterationChecked, event.TypeIterationStarted, event.TypeEffectFailed, event.TypeSCMEnded:
			return all
		}
	}
}

func types(all []reported) string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = string(e.typ)
	}
	return strings.Join(names, " ")
}

func TestGuardrailsAreReportedInOrder(t *testing.T) {
	s := bare(t, "echo fine", "echo broken; exit 3").up()
	all := s.answer(check)
	if got, want := types(all), "folder.inspected guardrail.started guardrail.ended guardrail.started guardrail.ended iteration.checked"; got != want {
		t.Fatalf("reported\n%s\nwant\n%s", got, want)
	}
	passed, failed := all[2].data, all[4].data
	if !strings.Contains(passed, `"name":"echo fine","ok":true,"code":0`) || strings.Contains(passed, "message") {
		t.Error(passed)
	}
	if !strings.Contains(failed, `"ok":false,"code":3`) || !strings.Contains(failed, `"action":"APPEND"`) || !strings.Contains(failed, "failed with exit code 3.") {
		t.Error(failed)
	}
	if !all[5].is(event.IterationChecked{Guardrails: 2, Failed: 1}) {
		t.Error(all[5].data)
	}
}

func TestInspectionRunsGuardrailsForDone(t *testing.T) {
	s := bare(t, "true").up()
	if got := types(s.answer(look)); got != "folder.inspected iteration.checked" {
		t.Errorf("without the file: %s", got)
	}
	write(t, s.cfg.Dir, "DONE", "all of it\n")
	all := s.answer(look)
	if got := types(all); got != "folder.inspected guardrail.started guardrail.ended iteration.checked" {
		t.Errorf("with it: %s", got)
	}
	if !all[0].is(event.FolderInspected{Done: true, Text: "all of it"}) {
		t.Error(all[0].data)
	}
}

func TestCancelledCheckHasNoVerdict(t *testing.T) {
	s := bare(t, "true", "echo > started; exec sleep 1000", "true").up()
	cause := s.do(check)
	for n := 0; n < 2; {
		if e := s.next(); e.typ == event.TypeGuardrailStarted {
			n++
		}
	}
	s.do(cancel)
	all := []reported{s.next()}
	if e := all[0]; e.cause != cause || !e.is(event.IterationChecked{Guardrails: 1}) {
		t.Errorf("answered by %+v", e)
	}
	if rest := s.rest(); len(rest) > 0 {
		t.Errorf("and by %+v", rest)
	}
}

func TestInboxIsReadBeforeFolder(t *testing.T) {
	s := bare(t)
	heard := false
	s.cfg.Commands = func(context.Context) {
		heard = true
		write(t, s.cfg.Dir, "DONE", "")
	}
	s.up()
	if all := s.answer(check); !heard || !all[0].is(event.FolderInspected{Done: true}) {
		t.Errorf("heard is %v, then %+v", heard, all)
	}
}

func TestFolderInsteadOfTaskFile(t *testing.T) {
	for _, d := range []event.Decided{begin, check} {
		s := bare(t).up()
		if err := os.Mkdir(filepath.Join(s.cfg.Dir, "DONE"), 0o700); err != nil {
			t.Fatal(err)
		}
		all := s.answer(d)
		last := all[len(all)-1]
		if last.typ != event.TypeEffectFailed || !has(last, `"class":"config"`) || !has(last, "DONE is a folder") {
			t.Errorf("%s: %+v", d.Do, last)
		}
	}
}

// found is the name of the copy of what was in the place of a file that was put back.
func found(content, name string) string {
	return keep.FoundDir + "/" + sumOf(content)[:8] + "-" + name
}

func TestEditedGuardrailIsReported(t *testing.T) {
	for name, protect := range map[string]bool{"reported": false, "put back": true} {
		t.Run(name, func(t *testing.T) {
			s := bare(t, "sh check.sh work.txt")
			s.cfg.Guardrails[0].Protect = protect
			write(t, s.cfg.Project, "check.sh", "exit 1\n")
			write(t, s.cfg.Project, "work.txt", "before\n")
			s.up()
			s.answer(begin)
			write(t, s.cfg.Project, "check.sh", "exit 0\n")
			write(t, s.cfg.Project, "work.txt", "after\n") // an argument may be the very work
			all := s.answer(check)
			edited := slices.DeleteFunc(all, func(e reported) bool { return e.typ != event.TypeGuardrailEdited })
			kept := map[bool]string{true: found("exit 0\n", "check.sh")}[protect]
			if len(edited) != 1 || !edited[0].is(event.GuardrailEdited{
				Path: "check.sh", How: "changed", Restored: protect, Kept: kept, Role: "program", Is: sumOf("exit 0\n"), Guardrails: []string{"sh check.sh work.txt"},
			}) {
				t.Errorf("reported: %+v", edited)
			}
			if text, err := os.ReadFile(filepath.Join(s.cfg.Dir, kept)); protect && (err != nil || string(text) != "exit 0\n") {
				t.Errorf("%s holds %q, %v", kept, text, err)
			}
			want := map[bool]string{false: "exit 0\n", true: "exit 1\n"}[protect]
			if text, err := os.ReadFile(filepath.Join(s.cfg.Project, "check.sh")); err != nil || string(text) != want {
				t.Errorf("check.sh holds %q, %v", text, err)
			}
		})
	}
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Without any guardrail the settings are still watched, because a resumed loop obeys them.
func TestSettingsAreWatched(t *testing.T) {
	for name, guards := range map[string][]string{"without guardrails": nil, "beside a guardrail": {"true"}} {
		t.Run(name, func(t *testing.T) {
			s := bare(t, guards...)
			s.state.FileChanges.Files = nil
			s.up()
			all := s.answer(begin)
			if want := (event.GuardrailSnapshotted{Files: noSettings}); !all[0].is(want) {
				t.Fatalf("sealed: %+v", all[0])
			}
			if err := os.Mkdir(filepath.Join(s.cfg.Project, ".ralph"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, s.cfg.Project, ".ralph/settings.local.json", `{"guardrails":[]}`)
			all = s.answer(look)
			if want := (event.GuardrailEdited{Path: ".ralph/settings.local.json", How: "appeared", Role: "settings", Is: sumOf(`{"guardrails":[]}`)}); !all[0].is(want) {
				t.Errorf("reported: %+v", all[0])
			}
		})
	}
}

// A guardrail whose files change while it runs proves nothing.
func TestProtectedGuardrailIsComparedAgain(t *testing.T) {
	const changing = "echo 'exit 0' > check.sh\n"
	for name, row := range map[string]struct {
		protect  bool
		body     string
		reported bool
	}{
		"it changes itself":             {true, changing, true},
		"it stays as it is":             {true, "exit 0\n", false},
		"one that is not protected may": {false, changing, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := bare(t, "sh check.sh")
			s.cfg.Guardrails[0].Protect = row.protect
			write(t, s.cfg.Project, "check.sh", row.body)
			s.up()
			s.answer(begin)
			all := s.answer(check)
			at := slices.IndexFunc(all, func(e reported) bool { return e.typ == event.TypeGuardrailEdited })
			if at < 0 {
				if row.reported {
					t.Errorf("not reported: %s", types(all))
				}
				return
			}
			if ended := slices.IndexFunc(all, func(e reported) bool { return e.typ == event.TypeGuardrailEnded }); !row.reported || at < ended || !has(all[at], `"restored":true`) || !has(all[at], `"during":true`) {
				t.Errorf("%+v", all)
			}
			if text, err := os.ReadFile(filepath.Join(s.cfg.Project, "check.sh")); err != nil || string(text) != row.body {
				t.Errorf("check.sh holds %q, %v", text, err)
			}
		})
	}
}

// What a guardrail runs may be the agent's own code, and write settings when the agent is gone.
func TestSettingsWrittenByGuardrail(t *testing.T) {
	for name, row := range map[string]struct {
		before   string // what the agent has written; empty for nothing
		during   string
		reported int
	}{
		"by the guardrail alone":         {"", "x", 1},
		"by the agent alone":             {"x", "x", 1},
		"by the agent and the guardrail": {"x", "y", 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := bare(t, "printf "+row.during+" > .ralph/settings.local.json")
			if err := os.Mkdir(filepath.Join(s.cfg.Project, ".ralph"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.up()
			s.answer(begin)
			if row.before != "" {
				write(t, s.cfg.Project, ".ralph/settings.local.json", row.before)
			}
			all := slices.DeleteFunc(s.answer(check), func(e reported) bool { return e.typ != event.TypeGuardrailEdited })
			if len(all) != row.reported || !has(all[len(all)-1], sumOf(row.during)) {
				t.Errorf("%+v", all)
			}
		})
	}
}

func TestSnapshotOutlivesExecutor(t *testing.T) {
	s := bare(t, "sh check.sh")
	s.cfg.Guardrails[0].Protect = true
	write(t, s.cfg.Project, "check.sh", "exit 1\n")
	s.up()
	all := s.answer(begin)
	var sealed event.GuardrailSnapshotted
	if err := json.Unmarshal([]byte(all[0].data), &sealed); err != nil || all[0].typ != event.TypeGuardrailSnapshotted {
		t.Fatalf("%+v, %v", all, err)
	}
	s.state.FileChanges.Files = sealed.Files
	if all := s.answer(begin); types(all) != "iteration.started" {
		t.Errorf("what the snapshot has is reported again: %s", types(all))
	}
	s.close()
	write(t, s.cfg.Project, "check.sh", "exit 0\n")

	next := bare(t)
	next.cfg = s.cfg
	next.cfg.Deliver = func(drafts []event.Draft, release func()) {
		for _, d := range drafts {
			next.events <- reported{d.Type, d.By, d.Cause, d.Iter, string(d.Data)}
		}
		release()
	}
	next.state.FileChanges = policy.FileChanges{Files: sealed.Files, AgentRan: true}
	next.up()
	if all := next.answer(begin); types(all) != "iteration.started" {
		t.Errorf("a snapshot that is still valid is taken again: %s", types(all))
	}
	// The executor read the content when it began.
	if err := os.RemoveAll(filepath.Join(next.cfg.Dir, guardrail.KeptDir)); err != nil {
		t.Fatal(err)
	}
	all = next.answer(check)
	if !all[0].is(event.GuardrailEdited{
		Path: "check.sh", How: "changed", Restored: true, Kept: found("exit 0\n", "check.sh"), Role: "program", Is: sumOf("exit 0\n"), Guardrails: []string{"sh check.sh"},
	}) || !has(all[len(all)-1], `"failed":1`) {
		t.Errorf("the check: %+v", all)
	}
}

func TestUnrestoredGuardrailDoesNotRun(t *testing.T) {
	s := bare(t, "sh check.sh")
	write(t, s.cfg.Project, "check.sh", "exit 0\n")
	s.state.FileChanges = policy.FileChanges{AgentRan: true, Files: []event.SnapshotFile{
		{Path: "check.sh", Role: "program", Kind: "file", SHA256: strings.Repeat("ab", 32), Bytes: 7, Mode: 0o755, Protected: true},
	}}
	s.up()
	all := s.answer(check)
	if types(all) != "guardrail.edited effect.failed" || !has(all[0], `"how":"changed","why":"restore check.sh: its copy`) || !has(all[1], `"class":"config"`) {
		t.Errorf("the check: %+v", all)
	}
}

func TestBeginInspectsFolder(t *testing.T) {
	s := bare(t)
	s.cfg.Memory = func(int) bool { return true }
	s.state.Rules.Completion.DoneFile = true
	s.up()
	write(t, s.cfg.Dir, "WAIT_WITHOUT_RESTART", "")

	s.answer(begin)
	if there(s.cfg.Dir, "WAIT_WITHOUT_RESTART") {
		t.Error("the file of an answered wait still exists")
	}
	if text, err := os.ReadFile(filepath.Join(s.cfg.Dir, "task.md")); err != nil || !strings.Contains(string(text), "> make it work") {
		t.Errorf("task.md: %q, %v", text, err)
	}
	write(t, s.cfg.Dir, "task.md", "mine")
	s.answer(begin)
	if text, err := os.ReadFile(filepath.Join(s.cfg.Dir, "task.md")); err != nil || string(text) != "mine" {
		t.Errorf("task.md was overwritten: %q, %v", text, err)
	}

	write(t, s.cfg.Dir, "DONE", "")
	s.do(begin)
	if e := s.next(); e.typ != event.TypeFolderInspected || !has(e, `"done":true`) {
		t.Errorf("a file DONE is answered by %+v", e)
	}
	s.state.Completion.Aside = true
	if all := s.answer(begin); all[len(all)-1].typ != event.TypeIterationStarted || there(s.cfg.Dir, "DONE") {
		t.Errorf("one that was refused: %+v", all)
	}
}
