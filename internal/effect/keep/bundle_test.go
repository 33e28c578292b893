package keep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/repo"
)

const bundleID = "01M8BNGX9EWD5NWXM83V7K72KS"

func bundled(t *testing.T, w tree) (string, Bundle) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bundle")
	b, err := WriteBundle(t.Context(), w.Dir, file, bundleID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file, b
}

// TestBundleBringsWholeTree shows that a clone of a bundle has the branch, the commits and the
// files, also those that were not committed, and that the source does not change.
func TestBundleBringsWholeTree(t *testing.T) {
	w := busy(t)
	w.Git("update-ref", "refs/ralph/"+bundleID+"/1", "HEAD")
	w.Git("update-ref", "refs/ralph/01M8BNGX9EWD5NWXM83V7KZZZZ/1", "HEAD")
	w.Remove("src/c.go")
	refs, index, files := w.Git("for-each-ref"), w.Index(), w.files()
	file, b := bundled(t, w)
	same(t, "the source", w.files(), files)
	if w.Git("for-each-ref") != refs || w.Index() != index {
		t.Error("the source's refs or index changed")
	}
	to := treeIn(t, t.TempDir())
	if err := CloneBundle(t.Context(), to.Dir, file, b, fitsAlways); err != nil {
		t.Fatal(err)
	}
	for _, ignored := range []string{"build/out", "a.log"} {
		delete(files, ignored)
	}
	for name := range files {
		if strings.HasPrefix(name, ".ralph/") {
			delete(files, name) // the loops' own folders
		}
	}
	same(t, "the clone", to.files(), files)
	if to.Head() != w.Head() || to.Git("symbolic-ref", "HEAD") != w.Git("symbolic-ref", "HEAD") {
		t.Error("the clone is at another commit or branch")
	}
	if got := to.Git("for-each-ref", "refs/ralph", "--format=%(refname)"); got != "refs/ralph/"+bundleID+"/1\n"+MovedRef(bundleID) {
		t.Errorf("the clone has the refs %q", got)
	}
	to.Git("fsck", "--strict")
}

// TestBundleLeavesTreeAlone shows that a repository gets the commits and a branch, and that
// nothing else changes: a branch that exists stays.
func TestBundleLeavesTreeAlone(t *testing.T) {
	w := born(t)
	w.Git("checkout", "-q", "-b", "feature/x")
	w.Write("new", "in work")
	file, b := bundled(t, w)
	to := busy(t)
	before, index, head := to.files(), to.Index(), to.Head()
	for i, want := range []bool{true, false} {
		made, err := Unbundle(t.Context(), to.Dir, file, b)
		if err != nil || made != want {
			t.Fatalf("time %d: branch made: %v, %v", i+1, made, err)
		}
	}
	same(t, "the tree", to.files(), before)
	if to.Index() != index || to.Head() != head {
		t.Error("the index or HEAD changed")
	}
	if to.Git("rev-parse", "feature/x") != w.Head() {
		t.Error("the branch is at another commit")
	}
	if got := to.Git("show", MovedRef(bundleID)+":new"); got != "in work" {
		t.Errorf("the file that was not committed is %q", got)
	}
}

// TestBundleRunsNoProgram gives the repository and the person's settings programs that git would
// run. A file that a filter would change arrives as it was.
func TestBundleRunsNoProgram(t *testing.T) {
	w := born(t)
	mark := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+mark+"'\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.Write(".gitattributes", "*.bin filter=own\n")
	w.Write("a.bin", "as it is")
	w.Git("add", ".")
	w.Git("commit", "-qm", "files")
	settings := filepath.Join(t.TempDir(), "settings")
	must(t, os.WriteFile(settings, []byte("[filter \"own\"]\n\tclean = "+program+"\n\tsmudge = "+program+"\n\trequired\n[core]\n\tfsmonitor = "+program+"\n\thooksPath = "+filepath.Dir(program)+"\n[init]\n\ttemplateDir = "+filepath.Dir(program)+"\n"), 0o600))
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+settings)
	file := filepath.Join(t.TempDir(), "bundle")
	b, err := WriteBundle(t.Context(), w.Dir, file, bundleID, nil, env...)
	if err != nil {
		t.Fatal(err)
	}
	to := treeIn(t, t.TempDir())
	if err := CloneBundle(t.Context(), to.Dir, file, b, fitsAlways, env...); err != nil {
		t.Fatal(err)
	}
	if got := to.files()["a.bin"]; got != "as it is" {
		t.Errorf("the file is %q", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the settings ran")
	}
}

// TestDamagedBundleIsRefused shows that a damaged or hostile bundle changes no ref.
func TestDamagedBundleIsRefused(t *testing.T) {
	file, b := bundled(t, born(t))
	text, err := os.ReadFile(file)
	must(t, err)
	text[len(text)-30] ^= 1
	must(t, os.WriteFile(file, text, 0o600))
	to := unborn(t)
	if _, err := Unbundle(t.Context(), to.Dir, file, b); err == nil {
		t.Error("a damaged bundle was taken")
	}
	b.Branch = "../../heads/x"
	file, _ = bundled(t, born(t))
	if _, err := Unbundle(t.Context(), to.Dir, file, b); err == nil {
		t.Error("a branch with a wrong name was made")
	}
	if refs := to.Git("for-each-ref", "refs/heads"); refs != "" {
		t.Errorf("refs were made: %s", refs)
	}
	if _, err := WriteBundle(t.Context(), unborn(t).Dir, file+"2", bundleID, nil); !errors.Is(err, repo.ErrNoCommits) {
		t.Errorf("a repository without a commit: %v", err)
	}
}

func fitsAlways(files, bytes int64) error { return nil }

// A stranger's file may name the id of a loop that is here: what the loop keeps stays.
func TestBundleReplacesNoRef(t *testing.T) {
	for _, ref := range []string{LoopRefs(bundleID) + "before-rollback", MovedRef(bundleID)} {
		w := born(t)
		w.Git("update-ref", LoopRefs(bundleID)+"before-rollback", "HEAD")
		w.Git("update-ref", LoopRefs(bundleID)+"another", "HEAD")
		file, b := bundled(t, w)
		to := born(t)
		to.Write("person", "the only copy")
		kept := to.Commit("kept")
		to.Git("update-ref", ref, kept)
		refs := to.Git("for-each-ref")
		if _, err := Unbundle(t.Context(), to.Dir, file, b); !errors.Is(err, ErrRefTaken) || !strings.Contains(err.Error(), ref) {
			t.Errorf("%s: %v", ref, err)
		}
		if got := to.Git("for-each-ref"); got != refs {
			t.Errorf("the refs are\n%s\nand were\n%s", got, refs)
		}
	}
}
