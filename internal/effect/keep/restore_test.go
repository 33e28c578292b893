package keep

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestInterruptedRestoreGoesOn puts one file back, as a Restore does that is killed then. The next
// one does the rest, and names the ref that has all that was found.
func TestInterruptedRestoreGoesOn(t *testing.T) {
	for name, again := range map[string]func(tree){
		"one file was put back":   func(w tree) { w.Write("src/b.go", "changed"); w.Write("made", "made") },
		"all files were put back": func(tree) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := busy(t)
			commit, files := w.keepIteration(1, 5), w.files()
			w.Write("a", "changed")
			w.Write("src/b.go", "changed")
			w.Write("made", "made")
			changed := w.files()
			first, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
			must(t, err)
			refs := LoopRefs(bundleID)
			w.Git("update-ref", refs+"rolling-back", first.Ref)
			w.Git("update-ref", "-d", first.Ref)
			again(w)
			second, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
			must(t, err)
			same(t, "put back", w.files(), files)
			if second.CutOff != first.Ref || second.Ref == first.Ref {
				t.Errorf("the first kept %q, the second %+v", first.Ref, second)
			}
			found, err := CommitOf(t.Context(), w.Dir, bundleID, second.CutOff)
			must(t, err)
			third, err := Restore(t.Context(), w.Dir, bundleID, found, false)
			must(t, err)
			same(t, "brought back", w.files(), changed)
			if third.CutOff != "" {
				t.Errorf("cut off: %+v", third)
			}
		})
	}
}

// TestRestoreLongNames puts files back whose names have all the bytes that a file system allows.
func TestRestoreLongNames(t *testing.T) {
	w := busy(t)
	w.Write(strings.Repeat("a", 255), "long")
	w.Write("src/"+strings.Repeat("ä", 127), "long")
	commit, files := w.keepIteration(1, 5), w.files()
	w.Write(strings.Repeat("a", 255), "changed")
	w.Write("src/"+strings.Repeat("ä", 127), "changed")
	_, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
	must(t, err)
	same(t, "put back", w.files(), files)
}

// What was found is durable before a file of it is replaced: git does not sync it. Where that
// fails, all files stay.
func TestRestoreSyncsFirst(t *testing.T) {
	w := busy(t)
	commit, files := w.keepIteration(1, 5), w.files()
	w.Write("a", "changed")
	w.Write(".gitignore", "hidden")
	w.Write("hidden", "made")
	changed, broken, synced := w.files(), errors.New("the disk is broken"), 0
	defer func() { sync = syncDisk }()
	sync = func(dir string) error {
		if synced++; synced == 1 {
			same(t, "before the sync", w.files(), changed)
			w.Git("rev-parse", "--verify", LoopRefs(bundleID)+"rolling-back")
			return errors.Join(syncDisk(dir), broken)
		}
		return syncDisk(dir)
	}
	if _, err := Restore(t.Context(), w.Dir, bundleID, commit, false); !errors.Is(err, broken) {
		t.Error(err)
	}
	same(t, "after a failed sync", w.files(), changed)
	_, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
	must(t, err)
	same(t, "put back", w.files(), files)
	if synced != 3 { // the last one before the file that was hidden is removed
		t.Errorf("%d syncs", synced)
	}
}

// TestRestoreFile puts one file back, or removes one that was made. All others stay as they are,
// and the ref that it names has what was there.
func TestRestoreFile(t *testing.T) {
	for name, gone := range map[string]bool{"a": false, "made/c": true} {
		t.Run(name, func(t *testing.T) {
			w := busy(t)
			commit, files := w.keepIteration(1, 5), w.files()
			w.Write("a", "changed")
			w.Write("src/b.go", "changed")
			w.Write("made/c", "made")
			w.Write("made/d", "made")
			changed := w.files()
			done, err := RestoreFile(t.Context(), w.Dir, bundleID, commit, name)
			must(t, err)
			want := maps.Clone(changed)
			if want[name] = files[name]; gone {
				delete(want, name)
			}
			same(t, "put back", w.files(), want)
			if len(done.Files) != 1 || done.Files[0] != name || done.Ref == "" {
				t.Errorf("%+v", done)
			}
			found, err := CommitOf(t.Context(), w.Dir, bundleID, done.Ref)
			must(t, err)
			_, err = RestoreFile(t.Context(), w.Dir, bundleID, found, name)
			must(t, err)
			same(t, "brought back", w.files(), changed)
		})
	}
}

// TestRestoreLeavesUnkeptFiles changes a file that is not kept with the others, or will not
// be. After a rollback and the way back it is as it was.
func TestRestoreLeavesUnkeptFiles(t *testing.T) {
	large := strings.Repeat("x", maxKept+1)
	exclude := func(w tree) {
		must(w.T, os.MkdirAll(filepath.Join(w.Dir, ".git", "info"), 0o755))
		must(w.T, os.WriteFile(filepath.Join(w.Dir, ".git", "info", "exclude"), []byte("f\n"), 0o644))
	}
	for name, row := range map[string]struct {
		before, after func(tree)
		restored      string // the content of f after the rollback
		why           string // f was left
	}{
		"it has become too large": {
			func(w tree) { w.Write("f", "small") }, func(w tree) { w.Write("f", large) }, large, "f (it was too large to be kept)",
		},
		"it was too large": {
			func(w tree) { w.Write("f", large) }, func(w tree) { w.Write("f", "small") }, "small", "f (it was too large to be kept)",
		},
		"a new rule ignores it": {
			func(w tree) { w.Write("f", "one") }, func(w tree) { w.Write(".gitignore", "f\n"); w.Write("f", "two") }, "one", "",
		},
		"a new rule outside of the tree ignores it": {
			func(w tree) { w.Write("f", "one") }, func(w tree) { exclude(w); w.Write("f", "two") }, "one", "",
		},
		"a rule had ignored it": {
			func(w tree) { w.Write(".gitignore", "f\n"); w.Write("f", "secret") },
			func(w tree) { w.Write(".gitignore", ""); w.Write("f", "another") }, "another", "",
		},
		"a rule had ignored its folder": {
			func(w tree) { w.Write(".gitignore", "d/\n"); w.Write("f", "f"); w.Write("d/\xff", "secret") },
			func(w tree) { w.Remove(".gitignore") }, "f", "",
		},
		"it is in a repository now": {
			func(w tree) { w.Write("f", "f"); w.Write("sub/a", "one") },
			func(w tree) { w.Write("sub/a", "two"); w.Git("init", "-q", "sub") }, "f", "sub (it is a repository of its own)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := born(t)
			row.before(w)
			commit := w.keepIteration(1, 5)
			row.after(w)
			changed := w.files()
			done, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
			left, isLeft := errors.AsType[*SkippedError](err)
			switch {
			case row.why == "" && err != nil:
				t.Fatal(err)
			case row.why != "" && (!isLeft || !strings.Contains(left.Error(), row.why)):
				t.Errorf("left: %v, want %s", err, row.why)
			}
			if got := w.files()["f"]; got != row.restored {
				t.Errorf("f has %d bytes, %.20q", len(got), got)
			}
			if done.Ref == "" {
				same(t, "nothing was changed", w.files(), changed)
				return
			}
			found, err := CommitOf(t.Context(), w.Dir, bundleID, done.Ref)
			must(t, err)
			if _, err = Restore(t.Context(), w.Dir, bundleID, found, false); err != nil && !isLeft {
				t.Error(err)
			}
			same(t, "brought back", w.files(), changed)
		})
	}
}

func TestRestoreKeepsPermissions(t *testing.T) {
	w := born(t)
	for _, name := range []string{"changed", "removed"} {
		w.Write(name, "secret")
		must(t, os.Chmod(filepath.Join(w.Dir, name), 0o600))
	}
	commit := w.keepIteration(1, 5)
	w.Write("changed", "more")
	w.Remove("removed")
	_, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
	must(t, err)
	for _, name := range []string{"changed", "removed"} {
		if info, err := os.Stat(filepath.Join(w.Dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// A person edits the file while git is asked for what it was.
func TestRestoreSeesLateChange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the git that edits is a shell script")
	}
	w := born(t)
	commit := w.keepIteration(1, 5)
	w.Write("a", "an agent's")
	real, err := exec.LookPath("git")
	must(t, err)
	bin := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\ncase $* in *' cat-file blob '*) echo \"a person's\" > '"+w.Dir+"/a' ;; esac\nexec '"+real+"' \"$@\"\n"), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	done, err := Restore(t.Context(), w.Dir, bundleID, commit, false)
	if _, left := errors.AsType[*SkippedError](err); !left || len(done.Left) != 1 || len(done.Files) > 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if text := w.files()["a"]; text != "a person's\n" {
		t.Errorf("the file has %q", text)
	}
}
