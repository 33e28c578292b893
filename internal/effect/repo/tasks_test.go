package repo

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCommitInEachHashKind(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := unborn(t, "--object-format="+format)
			w.Write("a", "one\n")
			w.Write(".ralph/loop/task.md", "x")
			first, err := w.run(Config{AddUntracked: true, Message: "Begin"})
			if diff := cmp.Diff(Result{Done: []string{"commit"}, Committed: true, SHA: w.Head(), Message: "Begin", Stat: Stat{1, 1, 0}}, first); diff != "" || err != nil {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			w.Write("a", "eins\n")
			w.Write("new", "not taken along\n")
			second, err := w.run(Config{Message: "Translate"})
			if diff := cmp.Diff(Result{Done: []string{"commit"}, Committed: true, SHA: w.Head(), Message: "Translate", Stat: Stat{1, 1, 1}, New: []string{"new"}}, second); diff != "" || err != nil {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			// The same again, as after a crash.
			again, err := w.run(Config{})
			if diff := cmp.Diff(Result{Skipped: []string{"commit"}, Nothing: true, New: []string{"new"}}, again); diff != "" || err != nil || w.Head() != second.SHA {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			if s := w.Git("status", "--porcelain"); s != "?? .ralph/\n?? new" {
				t.Fatalf("left: %q", s)
			}
		})
	}
}

func TestOnlyRalphFolderIsNothing(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write(".ralph/settings.json", "{}")
	w.Commit("with settings")
	w.Write(".ralph/settings.json", "{ }")
	w.Write("sub/.ralph/x", "")
	for _, all := range []bool{false, true} {
		if r, err := w.run(Config{AddUntracked: all, Message: "x"}); err != nil || !r.Nothing {
			t.Errorf("%+v, %v", r, err)
		}
	}
	w.Write("b", "")
	w.Write("a", "x\n")
	if r, err := w.run(Config{AddUntracked: true, Message: "x"}); err != nil || r.Stat.Files != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if files := w.Git("show", "--name-only", "--format="); files != "a\nb" {
		t.Errorf("committed: %q", files)
	}
}

func TestRalphFolderMayBeIgnored(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write(".gitignore", ".ralph\n")
	w.Write(".ralph/x", "")
	if r, err := w.run(Config{AddUntracked: true, Message: "x"}); err != nil || r.Stat.Files != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestStagedFilesAreCommitted(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("staged", "1\n")
	w.Git("add", "staged")
	w.Write("new", "1\n")
	if r, err := w.run(Config{Message: "x"}); err != nil || r.Stat.Files != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestStagedAndRevertedIsNothing(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("a", "other")
	w.Git("add", "a")
	w.Write("a", "one\ntwo\nthree\n")
	before := w.Index()
	if r, err := w.run(Config{Message: "x"}); err != nil || !r.Nothing || r.Committed {
		t.Errorf("%+v, %v", r, err)
	}
	if w.Index() != before {
		t.Error("the index is another one")
	}
}

func TestMessagesArriveUnchanged(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("config", "commit.cleanup", "strip")
	for _, message := range []string{
		"--amend", "-", `"quoted" 'twice' $(touch x) \n`, "#1 is a number", "Subject\n\n# A heading\n- an item", "Ünï ☃", "%s %H",
	} {
		w.Write("a", message)
		r, err := Run(t.Context(), Config{Dir: w.Dir, Tasks: []string{"commit"}, Message: message}) // git is what is meant
		if err != nil || r.Message != message {
			t.Errorf("%q became %q, %v", message, r.Message, err)
		}
		if got := w.Git("log", "-1", "--format=%B"); strings.TrimSpace(got) != message {
			t.Errorf("%q: git has %q", message, got)
		}
	}
	for _, none := range []string{"", " \n", "\x00"} {
		w.Write("a", "none")
		if r, err := w.run(Config{Message: none}); !errors.Is(err, ErrNoMessage) || r.Committed {
			t.Errorf("%q: %+v, %v", none, r, err)
		}
	}
}

func TestNamesAreNames(t *testing.T) {
	t.Parallel()
	w := born(t)
	names := []string{"-n", "--all", ":(exclude)x", "with\nnewline", "q\"uo'te", "tab\t", "ünï", "*", "a b", "sub/ lead"}
	for _, name := range names {
		w.Write(name, "x\n")
	}
	must(t, os.Symlink("nowhere", filepath.Join(w.Dir, "link")))
	if s := w.see(); s.Files != len(names)+1 || s.Partial {
		t.Fatalf("%+v", s)
	}
	r, err := w.run(Config{AddUntracked: true, Message: "x"})
	if err != nil || r.Stat.Files != len(names)+1 || w.see().Dirty {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestFailingHookRestoresIndex(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]string{"pre-commit": "pre-commit", "commit-msg": "commit-msg"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := born(t)
			w.Write("staged", "x\n")
			w.Git("add", "staged")
			w.Write("planned", "x\n")
			w.Git("add", "-N", "planned")
			w.Write("a", "x\n")
			w.Write("new", "x\n")
			w.Hook(hook, "echo the tests fail\necho in main.go >&2\nexit 3")
			head, shown := w.Head(), w.Git("status", "--porcelain")
			before := w.Index() // after git status, which may write it
			r, err := w.run(Config{AddUntracked: true, Message: "x", Tasks: []string{"commit", "no-such-task"}})
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Doing != "git commit" || e.Output != "the tests fail\nin main.go" || !strings.HasSuffix(e.Error(), "in main.go") {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(Result{}, r); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if w.Head() != head || w.Index() != before || w.Git("status", "--porcelain") != shown {
				t.Error("something is not as it was")
			}
			w.Remove(".git/hooks/" + hook)
			if r, err := w.run(Config{AddUntracked: true, Message: "x"}); err != nil || r.Stat.Files != 4 {
				t.Fatalf("without the hook: %+v, %v", r, err)
			}
		})
	}
}

func TestFailingHookBeforeFirstCommit(t *testing.T) {
	t.Parallel()
	w := unborn(t)
	w.Write("a", "x\n")
	w.Hook("pre-commit", "exit 1")
	if _, err := w.run(Config{AddUntracked: true, Message: "x"}); err == nil {
		t.Fatal("committed")
	}
	if s := w.Git("status", "--porcelain"); s != "?? a" {
		t.Errorf("%q", s)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, ".git/index")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is an index: %v", err)
	}
}

func TestHooksMayChangeTheCommit(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Hook("pre-commit", "echo formatted > a && echo made > b && git add a b")
	w.Hook("commit-msg", `echo "[T-1] $(cat "$1")" > "$1"`)
	w.Hook("post-commit", "exit 1")
	w.Write("a", "x\n")
	r, err := w.run(Config{Message: "Change it"})
	if err != nil || r.Message != "[T-1] Change it" || r.Stat.Files != 2 || w.see().Dirty {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestHookMayUnstageEverything(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Hook("pre-commit", "git reset -q --hard")
	w.Write("new", "x")
	w.Git("add", "new")
	// git looks for something to commit before its hooks only.
	if r, err := w.run(Config{Message: "x"}); err != nil || r.Stat != (Stat{}) || r.SHA != w.Head() {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := w.run(Config{Message: "x"}); err != nil || !r.Nothing {
		t.Fatalf("once more: %+v, %v", r, err)
	}
}

func TestHangingHook(t *testing.T) {
	t.Parallel()
	w := born(t)
	// It reads from the terminal, then waits for a child: there must be no terminal, and neither of
	// the two may be left.
	w.Hook("pre-commit", "(read x < /dev/tty) 2>/dev/null && exit 9\nread x && exit 9\nsleep 600 &\necho $! > .git/sleeper\necho waiting\necho > .git/said\nwait")
	w.Write("a", "x")
	before := w.Index()
	r, err := w.runUntil(Config{Message: "x"}, func(string) {})
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, errStopped) || e.Output != "waiting" || r.Committed {
		t.Fatalf("%+v, %v", r, err)
	}
	if w.Index() != before {
		t.Error("the index is another one")
	}
	waitUntilGone(t, strings.TrimSpace(readFile(t, filepath.Join(w.Dir, ".git/sleeper"))))
}

func TestCommitEndedInLastHook(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Hook("post-commit", "echo made > .git/said\nexec sleep 600")
	w.Write("a", "x")
	r, err := w.runUntil(Config{Message: "x"}, func(string) {})
	if !errors.Is(err, errStopped) || !r.Committed || r.SHA != w.Head() || w.see().Dirty {
		t.Fatalf("%+v, %v", r, err)
	}
}

var errStopped = errors.New("the loop is stopped")

// runUntil calls said with what a hook writes to the FIFO .git/said, and then cancels.
func (w tree) runUntil(c Config, said func(text string)) (Result, error) {
	w.T.Helper()
	fifo := filepath.Join(w.Dir, ".git/said")
	must(w.T, exec.Command("mkfifo", fifo).Run())
	ctx, cancel := context.WithCancelCause(w.T.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		text, _ := os.ReadFile(fifo)
		said(strings.TrimSpace(string(text)))
		cancel(errStopped)
	})
	defer reader.Wait()
	c.Dir, c.Command, c.Tasks = w.Dir, "git", []string{"commit"}
	return Run(ctx, c)
}

func TestTaskTimeout(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), Config{Dir: t.TempDir(), Command: "sleep", Tasks: []string{"600"}, Timeout: 20 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not done after 20ms") {
		t.Fatalf("%v", err)
	}
}

func TestBackgroundProcessIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "task"), []byte("sleep 600 & echo $! > pid\n"), 0o600))
	if _, err := Run(t.Context(), Config{Dir: dir, Command: "sh", Tasks: []string{"task"}}); err != nil {
		t.Errorf("a command that ended well: %v", err)
	}
	pid := strings.TrimSpace(readFile(t, filepath.Join(dir, "pid")))
	if !isAlive(pid) {
		t.Error("what a command leaves running on purpose was ended")
	}
	if out, err := exec.Command("kill", pid).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestLeftLock(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("a", "x")
	w.Write(".git/index.lock", "")
	_, err := w.run(Config{Message: "x"})
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrLocked) || !strings.Contains(e.Hint(), filepath.Join(w.Dir, ".git/index.lock")) {
		t.Fatalf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, ".git/index.lock")); err != nil {
		t.Error("another git's lock was removed")
	}
}

func TestLockIsAwaited(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write(".git/index.lock", "")
	at, err := In(w.Dir).Locate(t.Context())
	must(t, err)
	done := make(chan error)
	go func() { done <- waitForLock(t.Context(), at, time.Minute) }()
	w.Remove(".git/index.lock")
	must(t, <-done)
}

func TestLockTakenBetweenCalls(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("a", "x")
	// The hook acts as another git that locks the index meanwhile.
	w.Hook("pre-commit", "touch .git/index.lock; exit 1")
	_, err := w.run(Config{Message: "x"})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "restore the index") {
		t.Fatalf("%v", err)
	}
}

func TestMissingAuthor(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("config", "user.useConfigOnly", "true") // otherwise git may make an address from the machine's name
	w.Write("a", "x")
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_AUTHOR") || strings.HasPrefix(entry, "GIT_COMMITTER") || strings.HasPrefix(entry, "EMAIL")
	})
	before := w.Index()
	_, err := w.run(Config{Message: "x", Env: env})
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrNoIdentity) || !strings.Contains(e.Hint(), "user.email") {
		t.Fatalf("%v", err)
	}
	if w.Index() != before {
		t.Error("the index is another one")
	}
}

func TestConflictsWithoutAnOperation(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Write("a", "stashed\n")
	w.Git("stash", "-q")
	w.Write("a", "committed\n")
	w.Commit("other")
	if out, err := w.Try("stash", "pop"); err == nil {
		t.Fatal(out)
	}
	before := w.Index()
	_, err := w.run(Config{AddUntracked: true, Message: "x"})
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrUnmerged) || e.Hint() == "" || !strings.Contains(err.Error(), `"a"`) || w.Index() != before {
		t.Fatalf("%v", err)
	}
}

func TestCommitOnDetachedHead(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Git("checkout", "-q", "--detach")
	w.Write("a", "x")
	r, err := w.run(Config{Message: "x", Tasks: []string{"commit", "push"}})
	if e, ok := errors.AsType[*Error](err); !ok || e.Doing != "git push" || !r.Committed || r.SHA != w.Head() || !cmp.Equal(r.Done, []string{"commit"}) {
		t.Fatalf("%+v, %v", r, err)
	}
}

// sign has commits signed by a shell script.
func (w tree) sign(script string) {
	w.T.Helper()
	w.Write(".git/signer", "#!/bin/sh\n"+script+"\n")
	must(w.T, os.Chmod(filepath.Join(w.Dir, ".git/signer"), 0o755))
	w.Git("config", "commit.gpgSign", "true")
	w.Git("config", "gpg.program", filepath.Join(w.Dir, ".git/signer"))
}

func TestSigningWithoutKeyFails(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.sign(`echo "at $GPG_TTY." > .git/asked; echo no key for you >&2; (read x < /dev/tty) 2>/dev/null && exit 0; exit 2`)
	w.Write("a", "x")
	before := w.Index()
	_, err := w.run(Config{Message: "x", Env: append(os.Environ(), "GPG_TTY=/dev/pts/7")})
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Output, "failed to sign") {
		t.Fatalf("%v", err)
	}
	if asked := readFile(t, filepath.Join(w.Dir, ".git/asked")); asked != "at .\n" {
		t.Errorf("asked %s", asked)
	}
	if w.Index() != before {
		t.Error("the index is another one")
	}
}

// A signing program that waits for a person has the time limit of its command.
func TestWaitingSigningEnds(t *testing.T) {
	t.Parallel()
	for patience := 100 * time.Millisecond; ; patience *= 2 {
		w := born(t)
		w.sign("sleep 600 & echo $! > .git/sleeper; mv .git/sleeper .git/asked; wait")
		w.Write("a", "x")
		before := w.Index()
		r, err := w.run(Config{Message: "x", Timeout: patience})
		if !errors.Is(err, context.DeadlineExceeded) || r.Committed {
			t.Fatalf("%+v, %v", r, err)
		}
		if _, err := os.Lstat(filepath.Join(w.Dir, ".git/asked")); err != nil {
			continue // git has not come that far in that time
		}
		if w.Index() != before || readFile(t, filepath.Join(w.Dir, "a")) != "x" {
			t.Error("the index or the work is another one")
		}
		waitUntilGone(t, strings.TrimSpace(readFile(t, filepath.Join(w.Dir, ".git/asked"))))
		return
	}
}

func TestFurtherWordsOfATask(t *testing.T) {
	t.Parallel()
	w := born(t)
	w.Hook("pre-commit", "exit 1")
	w.Write("a", "x")
	r, err := w.run(Config{Message: "x", Tasks: []string{"commit  --no-verify --signoff", " ", "tag v1"}})
	if err != nil || !cmp.Equal(r.Skipped, []string{" "}) || len(r.Done) != 2 || !strings.Contains(r.Message, "Signed-off-by: Ada") || w.Git("rev-parse", "v1") != r.SHA {
		t.Fatalf("%+v, %v", r, err)
	}
	w.Git("config", "core.editor", "touch edited; false")
	if _, err := w.run(Config{Tasks: []string{"tag --annotate v2"}}); err == nil {
		t.Fatal("a tag without a message was made")
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, "edited")); err == nil {
		t.Error("an editor was opened")
	}
	w.Write("a", "y")
	if r, err := w.run(Config{Message: "x", Tasks: []string{"commit --dry-run"}}); err != nil || !r.Nothing || r.Committed {
		t.Fatalf("a commit that makes none: %+v, %v", r, err)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	w := born(t)
	remote := treeIn(t, t.TempDir())
	remote.Git("init", "-q", "--bare")
	w.Git("remote", "add", "origin", remote.Dir)
	w.Git("push", "-q", "-u", "origin", "main")
	both := Config{Message: "x", Tasks: []string{"commit", "push"}}

	if r, err := w.run(both); err != nil || !cmp.Equal(r.Skipped, both.Tasks) || len(r.Done) != 0 {
		t.Fatalf("nothing to do: %+v, %v", r, err)
	}
	w.Write("a", "1")
	if r, err := w.run(both); err != nil || !cmp.Equal(r.Done, both.Tasks) || remote.Git("rev-parse", "main") != r.SHA {
		t.Fatalf("%+v, %v", r, err)
	}
	w.Write("a", "2")
	own := w.Commit("the agent's own commit")
	if r, err := w.run(both); err != nil || !r.Nothing || remote.Git("rev-parse", "main") != own {
		t.Fatalf("a commit of the agent waits: %+v, %v", r, err)
	}

	w.Write("a", "3")
	must(t, os.MkdirAll(filepath.Join(remote.Dir, "hooks"), 0o755))
	refuse := filepath.Join(remote.Dir, "hooks/pre-receive")
	must(t, os.WriteFile(refuse, []byte("#!/bin/sh\necho main is protected\nexit 1\n"), 0o755))
	r, err := w.run(both)
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Doing != "git push" || !strings.Contains(e.Output, "main is protected") || r.SHA != w.Head() || !cmp.Equal(r.Done, []string{"commit"}) {
		t.Fatalf("%+v, %v", r, err)
	}
	must(t, os.Remove(refuse))
	if again, err := w.run(both); err != nil || !again.Nothing || !cmp.Equal(again.Done, []string{"push"}) || remote.Git("rev-parse", "main") != r.SHA {
		t.Fatalf("done again after the failure: %+v, %v", again, err)
	}
}

func TestPushWithoutARemote(t *testing.T) {
	t.Parallel()
	w := born(t)
	if r, err := w.run(Config{Message: "x", Tasks: []string{"push"}}); err == nil || len(r.Skipped) > 0 {
		t.Fatalf("%+v", r)
	}
}

func TestAnotherProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "my hg")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nfor word; do printf '[%s]' \"$word\"; done >> said\n[ \"$1\" != refuse ]\n"), 0o755))
	r, err := Run(t.Context(), Config{Dir: dir, Command: program, Tasks: []string{"commit", "push --all"}, Message: "-Add a \"door\""})
	if err != nil || !r.Committed || r.SHA != "" || r.Nothing || r.Message != "-Add a \"door\"" {
		t.Fatalf("%+v, %v", r, err)
	}
	must(t, os.Rename(program, filepath.Join(dir, "hg")))
	r, err = Run(t.Context(), Config{Dir: dir, Command: "/bin/sh " + filepath.Join(dir, "hg"), Tasks: []string{"refuse", "after"}})
	if e, ok := errors.AsType[*Error](err); !ok || e.Doing != "sh refuse" || ExitCode(err) != 1 || len(r.Done) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if said := readFile(t, filepath.Join(dir, "said")); said != `[commit][-am][-Add a "door"][push][--all][refuse]` {
		t.Errorf("%s", said)
	}
	if r, err := Run(t.Context(), Config{Dir: dir, Command: program, Tasks: []string{"commit"}}); !errors.Is(err, ErrNoMessage) {
		t.Errorf("without a message: %+v, %v", r, err)
	}
}

// git sees the commit of a program that calls git.
func TestAnotherProgramCommitsToGit(t *testing.T) {
	t.Parallel()
	w := born(t)
	before := w.Head()
	program := filepath.Join(t.TempDir(), "stack")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nif [ \"$1\" = commit ]; then git \"$@\" || exit; exit $(cat \"$0.code\"); fi\n"), 0o755))
	must(t, os.WriteFile(program+".code", []byte("0"), 0o644))
	w.Write("a", "one\ntwo\n")
	r, err := w.run(Config{Command: program, Tasks: []string{"commit"}, Message: "Add two lines\n\nBecause."})
	if err != nil || r.SHA != w.Head() || r.SHA == before || r.Message != "Add two lines\n\nBecause." || r.Stat.Files != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	// It has committed, and failed after that.
	must(t, os.WriteFile(program+".code", []byte("7"), 0o644))
	w.Write("a", "three\n")
	r, err = w.run(Config{Command: program, Tasks: []string{"commit"}, Message: "Three"})
	if ExitCode(err) != 7 || !r.Committed || r.SHA != w.Head() || len(r.Done) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	// It fails, with nothing to commit.
	if r, err = w.run(Config{Command: program, Tasks: []string{"commit"}, Message: "None"}); err == nil || r.Committed || r.SHA != "" {
		t.Fatalf("%+v, %v", r, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return string(content)
}
