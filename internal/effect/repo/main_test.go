package repo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// TestMain gives all tests a git without configuration, and no repository except their own.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "repo-test")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TEMPLATE_DIR": "",
		"GIT_CEILING_DIRECTORIES": filepath.Dir(home), "GIT_ALLOW_PROTOCOL": "file",
		"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
		"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
		"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main",
		"GIT_CONFIG_KEY_1": "gc.auto", "GIT_CONFIG_VALUE_1": "0",
	} {
		os.Setenv(name, value)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// A tree is a working tree of a test's own.
type tree struct {
	t   *testing.T
	dir string
}

// unborn is a repository without a commit.
func unborn(t *testing.T, flags ...string) tree {
	t.Helper()
	return copied(t, "unborn", flags, func(w tree) { w.git(append([]string{"init", "-q"}, flags...)...) })
}

// born has one commit of one file, "a".
func born(t *testing.T, flags ...string) tree {
	t.Helper()
	return copied(t, "born", flags, func(w tree) {
		w.git(append([]string{"init", "-q"}, flags...)...)
		w.write("a", "one\ntwo\nthree\n")
		w.commit("begin")
	})
}

// fixtures are trees that tests copy: to copy one takes a tenth of the time of its git processes.
var (
	fixtures     = map[string]func() (string, error){}
	fixturesLock sync.Mutex
)

// copied returns a tree of a test's own. The first test that needs a kind of tree makes it.
func copied(t *testing.T, kind string, flags []string, make func(w tree)) tree {
	t.Helper()
	key := kind + strings.Join(flags, " ")
	fixturesLock.Lock()
	if fixtures[key] == nil {
		fixtures[key] = sync.OnceValues(func() (string, error) {
			dir, err := os.MkdirTemp(os.Getenv("HOME"), kind)
			if err == nil {
				make(tree{t, dir})
			}
			return dir, err
		})
	}
	fixture := fixtures[key]
	fixturesLock.Unlock()
	w := tree{t, filepath.Join(resolved(t, t.TempDir()), "tree")}
	from, err := fixture()
	must(t, err)
	must(t, os.CopyFS(w.dir, os.DirFS(from)))
	return w
}

// leaveToLong skips a test of many git processes: 'make long' runs it.
func leaveToLong(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts many processes: make long")
	}
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// at is a folder in the tree, which need not exist.
func (w tree) at(name string) tree { return tree{w.t, filepath.Join(w.dir, name)} }

func (w tree) git(args ...string) string {
	w.t.Helper()
	out, err := w.try(args...)
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (w tree) try(args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = w.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSuffix(out.String(), "\n"), err
}

func (w tree) commit(message string) string {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-qm", message)
	return w.head()
}

func (w tree) head() string { w.t.Helper(); return w.git("rev-parse", "HEAD") }

func (w tree) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// hook writes a shell script that git runs.
func (w tree) hook(name, script string) {
	w.t.Helper()
	w.write(".git/hooks/"+name, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(filepath.Join(w.dir, ".git/hooks", name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w tree) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
		w.t.Fatal(err)
	}
}

func (w tree) see() Snapshot {
	w.t.Helper()
	s, err := TakeSnapshot(w.t.Context(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// run commits and waits only shortly for a lock.
func (w tree) run(c Config) (Result, error) {
	c.Dir, c.lockWait = w.dir, lockPause
	if c.Command == "" {
		c.Command = "git"
	}
	if c.Tasks == nil {
		c.Tasks = []string{"commit"}
	}
	return Run(w.t.Context(), c)
}

// formats are the kinds of hash that a repository can have.
var formats = []string{"sha1", "sha256"}
