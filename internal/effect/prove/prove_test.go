package prove_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/prove"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestMain(m *testing.M) { testgit.Main(m) }

const (
	// before and after are a program of a shell, and tests are its tests.
	before = "#!/bin/sh\n# price COUNT\necho 0\n"
	after  = "#!/bin/sh\n# price COUNT\ncount=$1\nif [ \"$count\" -gt 10 ]; then\n    count=$((count - 1))\nfi\necho $((count * 3))\n"
	tests  = "set -e\n[ \"$(sh price.sh 2)\" = 6 ]\n[ \"$(sh price.sh 10)\" = 30 ]\n[ \"$(sh price.sh 11)\" = 30 ]\n[ \"$(sh price.sh 12)\" = 33 ]\n"
)

// A project has a program and its tests, which a loop changed.
type project struct {
	testgit.Tree
	cfg prove.Config
}

// changed is a repository whose second state is in its work tree, not committed.
func changed(t *testing.T, start, claimed map[string]string, commands ...string) *project {
	t.Helper()
	w := testgit.Unborn(t)
	w.Write(".gitignore", "node_modules/\n")
	for name, text := range start {
		w.Write(name, text)
	}
	w.Commit("The start.")
	for name, text := range claimed {
		if text == "" {
			w.Remove(name)
			continue
		}
		w.Write(name, text)
	}
	now, err := keep.FilesNow(t.Context(), w.Dir)
	testfile.Must(t, err)
	p := &project{w, prove.Config{
		Dir: w.Dir, Home: t.TempDir(), Start: w.Head(), Claimed: now, Patience: time.Minute,
		Rules: event.ProveRules{Time: config.Duration(10 * time.Minute), Mutants: 20, Strong: 70},
	}}
	for _, command := range commands {
		p.cfg.Guardrails = append(p.cfg.Guardrails, guardrail.Guardrail{Command: command})
	}
	return p
}

func honest(t *testing.T, commands ...string) *project {
	return changed(t, map[string]string{"price.sh": before}, map[string]string{"price.sh": after, "test_price.sh": tests}, commands...)
}

func (p *project) run() event.Strength {
	p.T.Helper()
	s, err := prove.Run(p.T.Context(), p.cfg)
	testfile.Must(p.T, err)
	return s
}

func verdicts(s event.Strength) (found []event.Proof) {
	for _, g := range s.Guardrails {
		found = append(found, g.Verdict)
	}
	return found
}

// Tests that notice what changes are proved, and the done is strong; a command that cannot fail is
// vacuous.
func TestHonestIsStrong(t *testing.T) {
	p := honest(t, "sh test_price.sh", "git diff --exit-code HEAD") // a mutant is no change that is not committed
	s := p.run()
	if diff := cmp.Diff([]event.Proof{event.Proved, event.Vacuous}, verdicts(s)); diff != "" {
		t.Error(diff)
	}
	if s.Grade != event.GradeStrong || s.Mutants.Killed < 10 || s.Mutants.Tried != s.Mutants.Killed || s.Cut || !strings.HasPrefix(s.Guardrails[0].At, "price.sh:") {
		t.Errorf("%+v", s)
	}
	if want := (event.Counted{Passed: 2}); s.Visible != want {
		t.Errorf("visible: %v", s.Visible)
	}
}

// Tests that notice nothing are vacuous, and their survivors are named; without a test for anything
// the done is weak.
func TestVacuousIsWeak(t *testing.T) {
	p := changed(t, map[string]string{"price.sh": before}, map[string]string{"price.sh": after, "test_price.sh": "sh price.sh 2 >/dev/null\ntrue\n"}, "sh test_price.sh")
	s := p.run()
	if s.Grade != event.GradeWeak || len(s.Survivors) == 0 || s.Survivors[0].File != "price.sh" {
		t.Errorf("%+v", s)
	}
}

// Tests that fail on the program of the start, and there is nothing to change: the weaker proof.
func TestProvedAtStart(t *testing.T) {
	p := honest(t, "sh test_price.sh")
	p.cfg.Rules.Mutants = 0
	s := p.run()
	if diff := cmp.Diff([]event.GuardrailProof{{Command: "sh test_price.sh", Verdict: event.ProvedAtStart, At: "the start"}}, s.Guardrails); diff != "" {
		t.Error(diff)
	}
	if s.Grade != event.GradeFair {
		t.Errorf("the grade is %s", s.Grade)
	}
}

// What fails in a fresh tree says nothing, and the person reads what it printed. That it failed in
// an iteration changes nothing of that.
func TestBrokenControl(t *testing.T) {
	p := honest(t, "sh test_price.sh", "seq 1000; echo no "+"$TOKEN"+" elsewhere; test -e elsewhere", "no-such-program-here")
	p.cfg.ID = "loop"
	p.cfg.Env = append(os.Environ(), "TOKEN=secret-of-a-person")
	secrets := redact.New(p.cfg.Env)
	p.cfg.Redact = func() guardrail.Redactor { return secrets.Stream() }
	p.cfg.Known.Guardrails = []event.GuardrailProof{{Command: p.cfg.Guardrails[1].Command, Verdict: event.ProvedAtStart, At: "iteration 1"}}
	s := p.run()
	if diff := cmp.Diff([]event.Proof{event.Proved, event.BrokenControl, event.BrokenControl}, verdicts(s)); diff != "" {
		t.Error(diff)
	}
	broken := s.Guardrails[1]
	text, err := os.ReadFile(broken.Log)
	testfile.Must(t, err)
	if all := string(text); !strings.HasPrefix(all, "1\n2\n") || strings.Contains(all, "secret-of-a-person") || !strings.HasSuffix(strings.TrimSpace(all), broken.Output) {
		t.Errorf("%s has\n%s\nwhich ends with\n%s", broken.Log, text, broken.Output)
	}
	if info, err := os.Stat(broken.Log); err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(broken.Log) != prove.Folder(p.cfg.Home, "loop") {
		t.Errorf("%s: %v, %v", broken.Log, info.Mode(), err)
	}
	if !strings.HasSuffix(broken.Output, " elsewhere") || len(broken.Output) > 2000 || !strings.Contains(s.Guardrails[2].Output, "no-such-program-here") {
		t.Errorf("%q, %q", broken.Output, s.Guardrails[2].Output)
	}
	if want := (event.Counted{Passed: 1, Failed: 2}); s.Visible != want {
		t.Errorf("visible: %v", s.Visible)
	}
}

// A fresh tree gets the dependencies that git ignores, and what the settings want in a worktree;
// the paths in them lead to the tree.
func TestDependenciesAreBrought(t *testing.T) {
	p := honest(t, "sh test_price.sh && test -e node_modules/a/b && test -e made && . ./node_modules/activate && test $HERE -ef .")
	p.Write("node_modules/a/b", "x")
	p.Write("node_modules/activate", "HERE="+p.Dir+"\n")
	p.cfg.Worktree.Setup = "touch made"
	s := p.run()
	if diff := cmp.Diff([]event.Proof{event.Proved}, verdicts(s)); diff != "" {
		t.Error(diff)
	}
}

// A command that takes much longer than its control because something has to be built gets the time
// for it: the mark is what was built, and a mutant that no guardrail notices survives.
func TestSlowerOnceIsNoFailure(t *testing.T) {
	p := honest(t, `test -e "$MARKS/control" || { touch "$MARKS/control"; exit 0; }; test -e "$MARKS/built" || { touch "$MARKS/built"; sleep 600; }`)
	p.cfg.Env = append(os.Environ(), "MARKS="+t.TempDir())
	p.cfg.Patience, p.cfg.Rules.Mutants = 300*time.Millisecond, 1
	if s := p.run(); s.Mutants.Killed > 0 || s.Guardrails[0].Verdict != event.Vacuous {
		t.Errorf("%+v", s)
	}
}

// An endless loop is noticed, and not tried again once it is known how long a changed program
// takes.
func TestEndlessLoopIsNoticed(t *testing.T) {
	p := changed(t, map[string]string{"count.sh": "echo\n"}, map[string]string{
		"count.sh": "n=3\nwhile [ $n -gt 0 ]; do\nn=$((n - 1))\ndone\n",
	}, `echo x >>"$RUNS/runs"; test -z $(sh count.sh)`)
	runs := t.TempDir()
	p.cfg.Env, p.cfg.Patience = append(os.Environ(), "RUNS="+runs), 300*time.Millisecond
	s := p.run()
	text, err := os.ReadFile(filepath.Join(runs, "runs"))
	testfile.Must(t, err)
	if got := strings.Count(string(text), "x"); got != 2+s.Mutants.Tried { // the control and the start besides
		t.Errorf("%d runs, %v", got, s.Mutants)
	}
	if diff := cmp.Diff([]event.Proof{event.Proved}, verdicts(s)); diff != "" || s.Mutants.Killed == 0 {
		t.Error(diff, s.Mutants)
	}
}

// What a command leaves running in a session of its own ends with it, also where a loop runs it.
func TestLeftoversEnd(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	for _, mark := range []string{"", "loop-of-a-test.ralph"} {
		p := honest(t, `setsid sh -c 'echo $$ >"$PIDS/pid"; exec sleep 600' >/dev/null 2>&1 & while ! test -s "$PIDS/pid"; do :; done`)
		pids := t.TempDir()
		p.cfg.Env, p.cfg.Mark, p.cfg.Rules.Mutants = append(os.Environ(), "PIDS="+pids, process.MarkVariable+"="+mark), mark, 0
		p.run()
		text, err := os.ReadFile(filepath.Join(pids, "pid"))
		testfile.Must(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		testfile.Must(t, err)
		all, err := process.Marked()
		testfile.Must(t, err)
		for own, found := range all {
			if slices.ContainsFunc(found, func(s process.Stray) bool { return s.PID == pid }) {
				t.Errorf("with the mark %q, process %d is still there with %s", mark, pid, own)
			}
		}
	}
}

// A mutant that cannot be read says nothing.
func TestMutantThatDoesNotBuild(t *testing.T) {
	p := honest(t, "sh test_price.sh || { echo 'price.sh: 3: Syntax error: end of file unexpected'; false; }")
	p.cfg.Rules.Mutants = 4
	var invalid int
	p.cfg.Tried = func(tried event.ProofTried) error {
		if tried.Invalid && tried.On == event.TrialMutant {
			invalid++
		}
		return nil
	}
	s := p.run()
	if s.Mutants.Invalid == 0 || s.Mutants.Invalid != invalid || s.Mutants.Killed > 0 {
		t.Errorf("%v", s.Mutants)
	}
}

// The person's work tree, index and refs are as they were.
func TestPersonsTreeIsLeftAlone(t *testing.T) {
	p := honest(t, "sh test_price.sh", "echo x >> price.sh; echo x > new; git add -A; git commit -qm x; git tag x", `echo x >> "`+"$ROOT"+`/planted"`)
	p.cfg.Env = append(os.Environ(), "ROOT="+p.Dir, "GIT_DIR="+p.Dir+"/.git", "GIT_INDEX_FILE="+p.Dir+"/.git/index")
	state := func() string {
		var files strings.Builder
		testfile.Must(t, filepath.WalkDir(p.Dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				text, _ := os.ReadFile(path)
				files.WriteString(path + "\n" + string(text))
			}
			return err
		}))
		return files.String() + p.Index()
	}
	was := state()
	p.run()
	if now := state(); now != was {
		t.Error("the person's files differ")
	}
	if left, err := filepath.Glob(filepath.Join(p.cfg.Home, "scratch", "*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// A proof that was cut off continues after its last trial, and comes to the same.
func TestContinuesAfterLastTrial(t *testing.T) {
	p := honest(t, "sh test_price.sh", "true")
	p.cfg.Rules.Mutants = 4
	var tried []event.ProofTried
	p.cfg.Tried = func(t event.ProofTried) error { tried = append(tried, t); return nil }
	want := p.run()
	want.Took = 0
	if len(tried) != 6 {
		t.Fatalf("%d trials", len(tried))
	}
	all := tried
	errKilled := errors.New("killed")
	for _, n := range []int{0, 2, 5} { // before the first, and among the mutants
		tried = nil
		p.cfg.Done = nil
		p.cfg.Tried = func(t event.ProofTried) error {
			if len(tried) == n {
				return errKilled
			}
			tried = append(tried, t)
			return nil
		}
		if _, err := prove.Run(t.Context(), p.cfg); !errors.Is(err, errKilled) {
			t.Fatalf("after %d: %v", n, err)
		}
		text, err := json.Marshal(tried) // as a journal has them
		testfile.Must(t, err)
		p.cfg.Done = nil
		testfile.Must(t, json.Unmarshal(text, &p.cfg.Done))
		more := 0
		p.cfg.Tried = func(event.ProofTried) error { more++; return nil }
		got := p.run()
		got.Took = 0
		if diff := cmp.Diff(want, got); diff != "" || more != len(all)-n {
			t.Errorf("after %d trials there were %d more: %s", n, more, diff)
		}
	}
}

// Without time or when it is stopped, the proof says what is known.
func TestTimeIsOver(t *testing.T) {
	p := honest(t, "sh test_price.sh")
	ctx, cancel := context.WithCancel(t.Context())
	p.cfg.Tried = func(tried event.ProofTried) error {
		if tried.On == event.TrialStart {
			cancel()
		}
		return nil
	}
	s, err := prove.Run(ctx, p.cfg)
	if err != nil || !s.Cut || s.Mutants.Tried > 0 || s.Guardrails[0].Verdict != event.ProvedAtStart {
		t.Errorf("%+v, %v", s, err)
	}
	p.cfg.Tried, p.cfg.Rules.Time = nil, 0
	if s = p.run(); !s.Cut || s.Guardrails[0].Verdict != event.NotRun {
		t.Errorf("%+v", s)
	}
}

func TestWithoutRepository(t *testing.T) {
	_, err := prove.Run(t.Context(), prove.Config{Dir: t.TempDir(), Home: t.TempDir(), Start: "HEAD", Claimed: "HEAD", Rules: event.ProveRules{Time: config.Duration(time.Minute)}})
	if !repo.Absent(err) {
		t.Errorf("%v", err)
	}
}

// The trial of the tests of the start is made where the loop changed them, and only there.
func TestTestsOfStart(t *testing.T) {
	for name, c := range map[string]struct {
		start map[string]string
		want  []event.Trial
	}{
		"new tests":     {map[string]string{"price.sh": before}, []event.Trial{event.TrialControl, event.TrialStart}},
		"changed tests": {map[string]string{"price.sh": before, "test_price.sh": "false\n"}, []event.Trial{event.TrialControl, event.TrialStart, event.TrialTests}},
	} {
		t.Run(name, func(t *testing.T) {
			p := changed(t, c.start, map[string]string{"price.sh": after, "test_price.sh": tests}, "sh test_price.sh")
			p.cfg.Rules.Mutants = 0
			var trials []event.Trial
			p.cfg.Tried = func(tried event.ProofTried) error {
				trials = append(trials, tried.On)
				if tried.On == event.TrialTests && len(tried.Failed) != 1 {
					t.Errorf("%+v", tried)
				}
				return nil
			}
			p.run()
			if diff := cmp.Diff(c.want, trials); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Documents, tests and locks have no mutants, nor has a file that a guardrail runs.
func TestOnlyProgramIsMutated(t *testing.T) {
	p := changed(t, map[string]string{"a.txt": "x"}, map[string]string{
		"README.md": "if a == b\n", "test_a.py": "x = 1\n", "package-lock.json": `{"a": 1}`, "verify-all.sh": "x=1\n", "vendor/a.go": "package a\n\nvar A = 1\n",
		"gen.go": "// Code generated by x. DO NOT EDIT.\npackage a\n\nvar A = 1\n",
	}, "sh verify-all.sh")
	if s := p.run(); s.Mutants.Tried > 0 {
		t.Errorf("%+v", s)
	}
}

// What looks like gaming is in the strength: a test that was red over the claimed program is gone.
func TestFactsAreFound(t *testing.T) {
	p := changed(t, map[string]string{
		"price.py": "def price(n):\n    return 0\n",
		"test_price.py": "import unittest\nfrom price import price\n\n\nclass T(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(price(2), 6)\n\n" +
			"    def test_ten(self):\n        self.assertEqual(price(11), 30)\n",
	}, map[string]string{
		"price.py":      "def price(n):\n    return n * 3\n",
		"test_price.py": "import unittest\nfrom price import price\n\n\nclass T(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(price(2), 6)\n",
	}, "python3 -m unittest")
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	s := p.run()
	if len(s.Facts) == 0 || s.Facts[0].Kind != event.FactTestsRemoved || s.Grade != event.GradeWeak {
		t.Errorf("%+v", s)
	}
}
