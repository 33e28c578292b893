package holdout_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestMain(m *testing.M) { testgit.Main(m) }

// world is a project, ralph's home, and a folder with held-out files.
type world struct {
	testgit.Tree
	home, held string
	store      holdout.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Tree: testgit.Born(t), home: t.TempDir(), held: t.TempDir()}
	w.store = holdout.Open(w.home, w.Dir)
	w.hold("tests/check.sh", `grep -q "$1" greeting`)
	return w
}

// hold writes a held-out file.
func (w *world) hold(name, text string) {
	w.T.Helper()
	path := filepath.Join(w.held, name)
	testfile.Must(w.T, os.MkdirAll(filepath.Dir(path), 0o755))
	testfile.Must(w.T, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) add(command, requirement string, paths ...string) holdout.Guardrail {
	w.T.Helper()
	g, err := w.store.Add(holdout.Guardrail{Command: command, Requirement: requirement}, w.Dir, paths, false)
	testfile.Must(w.T, err)
	return g
}

// config runs all guardrails of the project, without a sandbox.
func (w *world) config(ended func(event.HoldoutEnded)) holdout.Config {
	w.T.Helper()
	all, err := holdout.All(w.home, w.Dir)
	testfile.Must(w.T, err)
	return holdout.Config{
		Home: w.home, Project: w.Dir, Dir: w.Dir, Loop: "demo-2", Iteration: 3, Guardrails: all, Timeout: time.Minute, Env: os.Environ(),
		Box:   func(context.Context, *scratch.Tree) (process.Wrap, func() error, error) { return nil, nil, nil },
		Ended: ended,
	}
}

// Only the person reads what is kept, and nothing is replaced by chance.
func TestStoreKeepsAndRemoves(t *testing.T) {
	w := newWorld(t)
	g := w.add("sh tests/check.sh hello", "It says hello!", w.held)
	if g.Name != "it-says-hello" || !slices.Equal(g.Files, []string{"tests/check.sh"}) {
		t.Errorf("kept is %+v", g)
	}
	testfile.Must(t, filepath.WalkDir(w.home, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			if info, failed := entry.Info(); failed == nil && path != w.home && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has the mode %v", path, info.Mode())
			}
		}
		return err
	}))
	again := holdout.Guardrail{Name: g.Name, Command: "true", Requirement: "other"}
	_, err := w.store.Add(again, w.Dir, nil, false)
	if _, ok := errors.AsType[*holdout.ExistsError](err); !ok {
		t.Errorf("a name that is taken: %v", err)
	}
	if _, err := w.store.Add(holdout.Guardrail{Command: "true", Requirement: "other"}, w.Dir, []string{w.held}, true); err == nil {
		t.Error("a file of another guardrail was replaced")
	}
	if _, err := w.store.Add(again, w.Dir, nil, true); err != nil {
		t.Fatal(err)
	}
	list, err := w.store.Guardrails()
	testfile.Must(t, err)
	if len(list) != 1 || list[0].Command != "true" || len(list[0].Files) > 0 {
		t.Errorf("after a replacement: %+v", list)
	}
	if _, err := os.Stat(filepath.Join(w.store.Dir, "files", "tests")); err == nil {
		t.Error("the files of the one that was replaced are there")
	}
	testfile.Must(t, w.store.Remove(g.Name))
	if err := w.store.Remove(g.Name); !errors.Is(err, holdout.ErrUnknown) {
		t.Errorf("removed twice: %v", err)
	}
}

// What an agent could read, and what would lead elsewhere, is refused.
func TestStoreRefusesUnsafeSources(t *testing.T) {
	w := newWorld(t)
	for name, row := range map[string]struct {
		make func() string
		says string
	}{
		"a folder of the project":  {func() string { w.Write("held/x", "x"); return filepath.Join(w.Dir, "held") }, "is in the project"},
		"the project":              {func() string { return w.Dir }, "is in the project"},
		"a link to the project":    {func() string { return link(t, w.Dir) }, "is in the project"},
		"a link in the folder":     {func() string { dir := t.TempDir(); linkAt(t, "/etc", filepath.Join(dir, "x")); return dir }, "is a link"},
		"a folder of git":          {func() string { w.hold(".git/hooks/pre-commit", "x"); return w.held }, "a file of git's"},
		"a file that is not there": {func() string { return filepath.Join(w.held, "none") }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.store.Add(holdout.Guardrail{Command: "true", Requirement: "words"}, w.Dir, []string{row.make()}, false)
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	for _, words := range []string{"", " ", "two\nlines", strings.Repeat("x", holdout.MaxRequirement+1)} {
		if _, err := w.store.Add(holdout.Guardrail{Command: "true", Requirement: words}, w.Dir, nil, false); err == nil {
			t.Errorf("the requirement %.20q was kept", words)
		}
	}
	if list, err := w.store.Guardrails(); err != nil || len(list) > 0 {
		t.Errorf("kept are %+v, %v", list, err)
	}
}

func link(t *testing.T, to string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "link")
	linkAt(t, to, path)
	return path
}

func linkAt(t *testing.T, to, path string) {
	t.Helper()
	testfile.Must(t, os.Symlink(to, path))
}

// The commands run on the work as it is, committed or not, with the held-out files over it. One
// that failed says what has to hold, and leaves its output to the person.
func TestStoreOutsideProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inside := filepath.Join(w.Dir, "sub", "home")
	for home, ok := range map[string]bool{inside: false, filepath.Join(w.Dir, ".ralph"): true, t.TempDir(): true} {
		if _, err := holdout.Open(home, w.Dir).Add(holdout.Guardrail{Command: "true", Requirement: "words"}, w.Dir, nil, false); (err == nil) != ok {
			t.Errorf("in the home %s: %v", home, err)
		}
	}
}

func TestRunOnClaimedWork(t *testing.T) {
	w := newWorld(t)
	w.Write("greeting", "hello\n")
	w.Write("tests/check.sh", "exit 0 # of the agent")
	w.add("sh tests/check.sh hello", "it says hello", w.held)
	w.add("echo a secret of the test; false", "it never holds")
	w.add("test -z \"$RALPH_LOOP_DIR\" && ! test -e greeting.old && echo changed > tests/check.sh", "it is clean")
	var got []event.HoldoutEnded
	checked := holdout.Run(t.Context(), w.config(func(p event.HoldoutEnded) { p.Took = 0; got = append(got, p) }))
	want := []event.HoldoutEnded{{Number: 1, OK: true}, {Number: 2, Requirement: "it never holds"}, {Number: 3, OK: true}}
	if !slices.Equal(got, want) {
		t.Errorf("the results are %+v", got)
	}
	if checked.Passed != 2 || checked.Failed != 1 || !checked.ByConvention || checked.Error != "" {
		t.Errorf("the check is %+v", checked)
	}
	if w.Content("tests/check.sh") != "exit 0 # of the agent" {
		t.Error("the work tree of the loop changed")
	}
	outputs := w.store.Outputs("demo-2")
	if len(outputs) != 1 || filepath.Base(outputs[0]) != "demo-2-3-2.log" {
		t.Fatalf("the outputs are %q", outputs)
	}
	text, err := os.ReadFile(outputs[0])
	testfile.Must(t, err)
	if string(text) != "a secret of the test\n" {
		t.Errorf("the output is %q", text)
	}
	if others := w.store.Outputs("demo"); len(others) > 0 {
		t.Errorf("another loop has %q", others)
	}
	if left, err := os.ReadDir(filepath.Join(w.home, scratch.Folder)); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// Without a verdict the event says nothing of the guardrail; the person reads why.
func TestRunWithoutVerdict(t *testing.T) {
	for name, row := range map[string]struct {
		change func(w *world, c *holdout.Config)
		says   string
	}{
		"a program that is missing": {func(w *world, _ *holdout.Config) {}, "cannot run here"},
		"worktree.setup fails":      {func(_ *world, c *holdout.Config) { c.Worktree = config.Worktree{Setup: "exit 4"} }, "could not be prepared"},
		"no sandbox can be opened": {func(_ *world, c *holdout.Config) {
			c.Box = func(context.Context, *scratch.Tree) (process.Wrap, func() error, error) {
				return nil, nil, errors.New("no room")
			}
		}, "sandbox could not be opened"},
		"the work cannot be read":          {func(_ *world, c *holdout.Config) { c.Dir = filepath.Join(c.Dir, "none") }, "could not be copied"},
		"the files were removed meanwhile": {func(w *world, c *holdout.Config) { c.Guardrails[0].Files = []string{"tests/gone.sh"} }, "could not be prepared"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add("secret-program-that-is-missing", "it never holds", w.held)
			c := w.config(func(event.HoldoutEnded) { t.Error("there is a verdict") })
			row.change(w, &c)
			checked := holdout.Run(t.Context(), c)
			if !strings.Contains(checked.Error, row.says) || strings.Contains(checked.Error, "secret") || strings.Contains(checked.Error, w.home) {
				t.Errorf("the error is %q", checked.Error)
			}
			if outputs := w.store.Outputs("demo-2"); !slices.ContainsFunc(outputs, func(path string) bool { return strings.HasSuffix(path, "-error.log") }) {
				t.Errorf("the person has %q", outputs)
			}
		})
	}
}

// check.cancel ends a run; nothing is left.
func TestRunIsInterrupted(t *testing.T) {
	w := newWorld(t)
	w.add("echo begun > "+filepath.Join(w.home, "begun")+"; exec sleep 300", "it is quick")
	ctx, cancel := context.WithCancel(t.Context())
	c := w.config(func(event.HoldoutEnded) { t.Error("there is a verdict") })
	c.Box = func(context.Context, *scratch.Tree) (process.Wrap, func() error, error) {
		return func(argv, env []string) ([]string, []string, error) { cancel(); return argv, env, nil }, func() error { return nil }, nil
	}
	if checked := holdout.Run(ctx, c); checked.Error != "they were interrupted" {
		t.Errorf("the check is %+v", checked)
	}
	if left, err := os.ReadDir(filepath.Join(w.home, scratch.Folder)); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// A project without git is copied.
func TestRunWithoutGit(t *testing.T) {
	w := newWorld(t)
	w.Dir = t.TempDir()
	w.store = holdout.Open(w.home, w.Dir)
	w.Write("greeting", "hello\n")
	w.add("sh tests/check.sh hello", "it says hello", w.held)
	if checked := holdout.Run(t.Context(), w.config(func(event.HoldoutEnded) {})); checked.Passed != 1 || checked.Error != "" {
		t.Errorf("the check is %+v", checked)
	}
}

// Each output replaces the oldest of many.
func TestOutputsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.add("false", "it never holds")
	folder := filepath.Join(w.store.Dir, "output")
	testfile.Must(t, os.MkdirAll(folder, 0o700))
	for i := range 60 {
		path := filepath.Join(folder, "other-1-"+string(rune('A'+i))+".log")
		testfile.Must(t, os.WriteFile(path, nil, 0o600))
		at := time.Now().Add(time.Duration(i-100) * time.Hour)
		testfile.Must(t, os.Chtimes(path, at, at))
	}
	holdout.Run(t.Context(), w.config(func(event.HoldoutEnded) {}))
	entries, err := os.ReadDir(folder)
	testfile.Must(t, err)
	if len(entries) != 50 || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "demo-2-3-1.log" }) {
		t.Errorf("%d outputs are kept", len(entries))
	}
}

// All loops of a project have the same store; another project has another.
func TestStoreIsOfProject(t *testing.T) {
	w := newWorld(t)
	if holdout.Open(w.home, link(t, w.Dir)) != w.store {
		t.Error("a link to the project leads to another store")
	}
	if holdout.Open(w.home, t.TempDir()) == w.store {
		t.Error("another project has the same store")
	}
	testfile.Must(t, os.WriteFile(filepath.Join(w.home, "settings.json"),
		[]byte(`{"guardrails": [{"command": "true", "heldOut": true, "requirement": "of the person"}, {"command": "visible"}]}`), 0o600))
	w.add("true", "of the store")
	all, err := holdout.All(w.home, w.Dir)
	testfile.Must(t, err)
	if len(all) != 2 || all[0].Requirement != "of the store" || all[1].Requirement != "of the person" {
		t.Errorf("all are %+v", all)
	}
}
