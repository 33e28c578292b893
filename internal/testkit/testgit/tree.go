package testgit

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// Main runs the tests of a package with a git without configuration, and with no repository except
// their own.
func Main(m *testing.M) {
	home, err := os.MkdirTemp("", "testgit")
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

// Formats are the kinds of hash that a repository can have.
var Formats = []string{"sha1", "sha256"}

// A Tree is a working tree of a test's own.
type Tree struct {
	T   *testing.T
	Dir string
}

// Unborn is a repository without a commit.
func Unborn(t *testing.T, flags ...string) Tree {
	t.Helper()
	return Copied(t, "unborn", flags, func(w Tree) { w.Git(append([]string{"init", "-q"}, flags...)...) })
}

// Born has one commit of one file, "a".
func Born(t *testing.T, flags ...string) Tree {
	t.Helper()
	return Copied(t, "born", flags, func(w Tree) {
		w.Git(append([]string{"init", "-q"}, flags...)...)
		w.Write("a", "one\ntwo\nthree\n")
		w.Commit("begin")
	})
}

// fixtures are trees that tests copy: to copy one takes a tenth of the time of its git processes.
var (
	fixtures     = map[string]func() (string, error){}
	fixturesLock sync.Mutex
)

// Copied returns a tree of a test's own. The first test that needs a kind of tree makes it.
func Copied(t *testing.T, kind string, flags []string, fill func(w Tree)) Tree {
	t.Helper()
	key := kind + strings.Join(flags, " ")
	fixturesLock.Lock()
	if fixtures[key] == nil {
		fixtures[key] = sync.OnceValues(func() (string, error) {
			dir, err := os.MkdirTemp(os.Getenv("HOME"), kind)
			if err == nil {
				fill(Tree{t, dir})
			}
			return dir, err
		})
	}
	fixture := fixtures[key]
	fixturesLock.Unlock()
	parent, err := filepath.EvalSymlinks(t.TempDir())
	testfile.Must(t, err)
	from, err := fixture()
	testfile.Must(t, err)
	w := Tree{t, filepath.Join(parent, "tree")}
	testfile.Must(t, os.CopyFS(w.Dir, os.DirFS(from)))
	return w
}

// LeaveToLong skips a test of many git processes: 'make long' runs it.
func LeaveToLong(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts many processes: make long")
	}
}

// At is a folder in the tree, which need not exist.
func (w Tree) At(name string) Tree { return Tree{w.T, filepath.Join(w.Dir, name)} }

// Git runs a git command, and returns what it says.
func (w Tree) Git(args ...string) string {
	w.T.Helper()
	out, err := w.Try(args...)
	if err != nil {
		w.T.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Try is Git for a command that may fail.
func (w Tree) Try(args ...string) (string, error) {
	cmd := exec.CommandContext(w.T.Context(), "git", args...)
	cmd.Dir = w.Dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSuffix(out.String(), "\n"), err
}

// Commit commits all files.
func (w Tree) Commit(message string) string {
	w.T.Helper()
	w.Git("add", "-A")
	w.Git("commit", "-qm", message)
	return w.Head()
}

// Head is the commit that is checked out.
func (w Tree) Head() string { w.T.Helper(); return w.Git("rev-parse", "HEAD") }

// Write writes a file.
func (w Tree) Write(name, content string) {
	w.T.Helper()
	testfile.Write(w.T, filepath.Join(w.Dir, name), content)
}

// Content is that of a file.
func (w Tree) Content(name string) string {
	w.T.Helper()
	return string(testfile.Read(w.T, filepath.Join(w.Dir, name)))
}

// Remove removes a file, or a folder with what is in it.
func (w Tree) Remove(name string) {
	w.T.Helper()
	testfile.Must(w.T, os.RemoveAll(filepath.Join(w.Dir, name)))
}

// Hook writes a shell script that git runs.
func (w Tree) Hook(name, script string) {
	w.T.Helper()
	w.Write(".git/hooks/"+name, "#!/bin/sh\n"+script+"\n")
	testfile.Must(w.T, os.Chmod(filepath.Join(w.Dir, ".git/hooks", name), 0o755))
}

// Programs sets every program that git could run in a repository. It returns a file that each of
// them makes.
func (w Tree) Programs() (mark string) {
	w.T.Helper()
	mark = filepath.Join(w.T.TempDir(), "ran")
	program := filepath.Join(w.T.TempDir(), "program")
	testfile.Must(w.T, os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+mark+"'\ncat\n"), 0o755))
	hooks := filepath.Join(w.Dir, ".git", "hooks")
	testfile.Must(w.T, os.MkdirAll(hooks, 0o755))
	for _, name := range []string{"post-checkout", "post-merge", "pre-merge-commit", "reference-transaction", "post-index-change", "commit-msg"} {
		testfile.Must(w.T, os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\ntouch '"+mark+"'\n"), 0o755))
	}
	for _, key := range []string{"core.fsmonitor", "filter.own.clean", "filter.own.smudge", "merge.own.driver", "core.sshCommand"} {
		w.Git("config", key, program)
	}
	w.Write(".gitattributes", "* filter=own merge=own\n")
	return mark
}

// Index is what git's index holds, with its time of change.
func (w Tree) Index() string {
	w.T.Helper()
	path := filepath.Join(w.Dir, ".git/index")
	content, err := os.ReadFile(path)
	testfile.Must(w.T, err)
	info, err := os.Stat(path)
	testfile.Must(w.T, err)
	return info.ModTime().String() + info.Mode().String() + string(content)
}
