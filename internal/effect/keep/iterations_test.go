package keep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

func (w tree) keepIteration(n, keep int) string {
	w.T.Helper()
	commit, err := BeforeIteration(w.T.Context(), w.Dir, bundleID, n, keep)
	if err != nil {
		w.T.Fatal(err)
	}
	return commit
}

func (w tree) kept() (numbers []int) {
	w.T.Helper()
	all, err := Iterations(w.T.Context(), w.Dir, bundleID)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, kept := range all {
		numbers = append(numbers, kept.N)
	}
	return numbers
}

// TestIterationsAreBounded shows that the newest work trees and the first one are kept, that one
// that was cut off is replaced, and that those of other loops stay.
func TestIterationsAreBounded(t *testing.T) {
	w := born(t)
	other, err := BeforeIteration(t.Context(), w.Dir, "01M8BNGX9EWD5NWXM83V7KZZZZ", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 12; n++ {
		w.Write("a", fmt.Sprintf("before %d", n))
		w.keepIteration(n, 3)
	}
	if got := fmt.Sprint(w.kept()); got != "[1 10 11 12]" {
		t.Errorf("kept are %s", got)
	}
	w.Write("a", "again")
	w.keepIteration(12, 3)
	if got := w.Git("show", iterationRef(bundleID, 12)+":a"); got != "again" {
		t.Errorf("the iteration that begins again has %q", got)
	}
	if err := ForgetLoop(t.Context(), w.Dir, bundleID); err != nil {
		t.Fatal(err)
	}
	if got := w.Git("for-each-ref", "refs/ralph", "--format=%(objectname)"); got != other {
		t.Errorf("after the loop was forgotten there are %q; want %s", got, other)
	}
	if err := ForgetLoop(t.Context(), t.TempDir(), bundleID); err != nil {
		t.Errorf("without a repository: %v", err)
	}
}

// TestKeepingIterationTouchesNothing compares everything that a person can see before and after.
func TestKeepingIterationTouchesNothing(t *testing.T) {
	w := busy(t)
	w.Write("stash", "stashed")
	w.Git("stash", "push", "-q", "--include-untracked", "--", "stash")
	see := func() string {
		return w.Index() + w.Git("stash", "list") + w.Head() + w.Git("for-each-ref", "refs/heads", "refs/stash")
	}
	before, files := see(), w.files()
	w.keepIteration(1, 5)
	if see() != before {
		t.Error("index, stash, HEAD or branches changed")
	}
	same(t, "the files", w.files(), files)
}

// TestRestoreBringsFilesBack changes files in every way, puts them back, and brings the changes
// back.
func TestRestoreBringsFilesBack(t *testing.T) {
	w := busy(t)
	odd := "new\nline \"quoted\""
	w.Write(odd, "odd")
	must(t, os.Symlink("a", filepath.Join(w.Dir, "link")))
	commit, files := w.keepIteration(1, 5), w.files()
	w.Write("a", "changed")
	w.Remove(odd)
	w.Remove("link")
	w.Remove("src/c.go")
	w.Write("made/deep/inside", "made")
	must(t, os.Chmod(filepath.Join(w.Dir, "run.sh"), 0o644))
	w.Remove("notes.txt")
	w.Write("notes.txt/inside", "a folder where a file was")
	w.Git("add", "a")
	w.Git("commit", "-qm", "by an agent")
	w.Write("a.log", "ignored, and changed")
	files["a.log"] = "ignored, and changed"
	head, index, changed := w.Head(), w.Index(), w.files()

	dry, err := Restore(t.Context(), w.Dir, bundleID, commit, true)
	if err != nil || len(dry.Files) != 8 || dry.Ref != "" {
		t.Errorf("dry: %+v, %v", dry, err)
	}
	same(t, "after looking", w.files(), changed)
	done, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "put back", w.files(), files)
	if w.Head() != head || w.Index() != index {
		t.Error("HEAD or the index changed")
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "made")); err == nil {
		t.Error("an empty folder is left")
	}
	found, err := CommitOf(t.Context(), w.Dir, bundleID, done.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), w.Dir, bundleID, found, false); err != nil {
		t.Fatal(err)
	}
	same(t, "brought back", w.files(), changed)
	if _, err := CommitOf(t.Context(), w.Dir, bundleID, "HEAD"); !errors.Is(err, repo.ErrUnknownCommit) {
		t.Errorf("a ref of another loop: %v", err)
	}
}

// TestDiffRunsNoProgram gives the repository every program that git diff could run.
func TestDiffRunsNoProgram(t *testing.T) {
	w := born(t)
	mark := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+mark+"'\n"), 0o755))
	for _, key := range []string{"diff.external", "diff.own.textconv", "diff.own.command", "core.fsmonitor", "filter.own.clean", "filter.own.smudge", "core.pager"} {
		w.Git("config", key, program)
	}
	w.Write(".gitattributes", "* diff=own filter=own\n")
	w.Write("a", "one\n")
	commit := w.keepIteration(1, 5)
	w.Write("a", "two\n")
	now, err := FilesNow(t.Context(), w.Dir)
	must(t, err)
	out, err := repo.Diff(t.Context(), w.Dir, commit, now, nil, nil)
	must(t, err)
	if !strings.Contains(string(out), "-one\n+two\n") {
		t.Errorf("the difference is %s", out)
	}
	_, err = Restore(t.Context(), w.Dir, bundleID, commit, false)
	must(t, err)
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
}

// BenchmarkKeepIteration compares keeping a large work tree in which nothing changed with git
// status.
func BenchmarkKeepIteration(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		name := filepath.Join(dir, fmt.Sprintf("d%02d", i%100), fmt.Sprintf("f%04d.go", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(strings.Repeat(fmt.Sprintln("line", i), 200)), 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	g := repo.In(dir)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"}} {
		if _, err := g.Read(b.Context(), args...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("status", func(b *testing.B) {
		for b.Loop() {
			if _, err := g.Read(b.Context(), "status", "--porcelain"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("keep", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			if _, err := BeforeIteration(b.Context(), dir, bundleID, n, 3); err != nil {
				b.Fatal(err)
			}
		}
	})
}
