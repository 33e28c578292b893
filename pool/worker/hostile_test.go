package worker_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/worker"
)

// A forger is a store that says of each claim that it is of another specification.
type forger struct {
	store.Store
	from, to string
}

func (f *forger) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := f.Store.Get(ctx, key)
	if err != nil || !strings.HasSuffix(key, "/log/000000000000") {
		return entry, err
	}
	h, lines, err := chunk.Decode(entry.Value)
	if err == nil {
		entry.Value, err = chunk.Encode(h, bytes.ReplaceAll(lines, []byte(f.from), []byte(f.to)))
	}
	return entry, err
}

func TestReplacedClaimRunsNothingElse(t *testing.T) {
	w := newWorld(t, "")
	w.submit("one", nil)
	evil := filepath.Join(t.TempDir(), "evil")
	o := w.options(w.host("mill"), "mill")
	o.Store = &forger{w.store, "ralph rehearse work.rehearsal", "touch " + evil}
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(evil); err == nil {
		t.Error("what nobody has signed was run")
	}
	w.eachOnce()
}

func TestRepositoryLinksLeadNowhere(t *testing.T) {
	w := newWorld(t, "")
	seed, outside := filepath.Join(w.person.Dir, "seed"), t.TempDir()
	wants := map[string]string{"out": "leads out of the repository", "in": ".ralph of the repository is no folder", "named": "in the place of the loop's folder"}
	for inside, link := range map[string]string{"out": "out", "in": "in/.ralph", "named": "named/.ralph/named"} {
		link = filepath.Join(seed, link)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		w.submit(inside, func(s *spec.Spec) { s.Inside = inside })
	}
	w.person.Run(seed, "git", "add", ".")
	w.person.Run(seed, "git", "commit", "-q", "-m", "links")
	w.person.Run(seed, "git", "push", "-q", w.repository, "main")
	o := w.options(w.host("mill"), "mill")
	if err := worker.New(o).Run(t.Context()); err == nil {
		t.Error("the worker has run them")
	}
	for inside, want := range wants {
		view, err := live.ReadView(t.Context(), w.store, w.ids[inside])
		if err != nil || view == nil || !strings.Contains(view.View.State, want) {
			t.Errorf("%s: %+v, %v; want %q", inside, view, err, want)
		}
	}
	if names, err := os.ReadDir(outside); err != nil || len(names) > 0 || len(w.ran()) > 0 {
		t.Errorf("%d names outside, %v ran: %v", len(names), w.ran(), err)
	}
}

// git has a shell script called in place of git.
func (w *world) git(script string) {
	w.t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.t.TempDir(), "git")
	w.person.Write(path, "#!/bin/sh\n"+script+"exec "+program+" \"$@\"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.t.Setenv("PATH", filepath.Dir(path)+":"+os.Getenv("PATH"))
}

// once is the script that does something in the first call of git which has these words.
func (w *world) once(words, do string) string {
	mark := filepath.Join(w.t.TempDir(), "done")
	return "case \" $* \" in *' " + words + " '*) if ! test -e " + mark + "; then touch " + mark + "; " + do + "; fi;; esac\n"
}

func TestFullDiskIsTriedAgain(t *testing.T) {
	w := newWorld(t, "")
	w.submit("one", nil)
	o := w.options(w.host("mill"), "mill")
	w.git(w.once("--local", "echo 'fatal: No space left on device' >&2; exit 128"))
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Error(err)
	}
	w.eachOnce()
}

func TestSilentServerIsTriedAgain(t *testing.T) {
	w := newWorld(t, "")
	w.submit("one", nil)
	o := w.options(w.host("mill"), "mill")
	before := worker.BoundGit(5 * time.Second)
	defer worker.BoundGit(before)
	w.git(w.once("--bare", "sleep 60 & wait"))
	begun := time.Now()
	if err := worker.New(o).Run(t.Context()); err != nil || time.Since(begun) > 50*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	w.eachOnce()
}

// The git of a worker that was killed may live on, and write into the work tree that it makes.
func TestOrphanedGitIsAlone(t *testing.T) {
	w := newWorld(t, "")
	w.submit("one", nil)
	o := w.options(w.host("mill"), "mill")
	first := filepath.Join(t.TempDir(), "first")
	w.git(`case " $* " in *' --local '*)
	if test -e ` + first + `; then mkdir -p "$(cat ` + first + `)" && touch "$(cat ` + first + `)/orphan"
	else for last; do :; done; echo "$last" > ` + first + `; exit 128; fi;; esac
`)
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Error(err)
	}
	w.eachOnce()
}

// Any host may write a chunk with the highest epoch: the search for a branch ends all the same.
func TestForgedEpochFindsBranch(t *testing.T) {
	h := pooltest.NewHost(t)
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"}} {
		h.Run(h.Dir, "git", args...)
	}
	for _, branch := range []string{"one/e1", "one/e9", "one/e10", "one/eight", "other/e12"} {
		h.Run(h.Dir, "git", "update-ref", "refs/remotes/origin/ralph/"+branch, "HEAD")
	}
	for epoch, want := range map[uint64]string{math.MaxUint64: "origin/ralph/one/e10", 9: "origin/ralph/one/e9", 8: "origin/ralph/one/e1", 0: ""} {
		if branch, err := worker.LastBranch(t.Context(), h.Dir, "one", epoch); err != nil || branch != want {
			t.Errorf("epoch %d: %q, %v", epoch, branch, err)
		}
	}
}
