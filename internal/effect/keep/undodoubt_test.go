package keep

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A reviewer may change where git looks. Nothing outside of the kept work tree is touched.
func TestUndoStaysInItsTree(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	for name, move := range map[string]func(w, outer tree){
		"core.worktree": func(w, outer tree) { w.Git("config", "core.worktree", outer.Dir) },
		"a moved .git": func(w, outer tree) {
			must(t, os.Rename(filepath.Join(w.Dir, ".git"), filepath.Join(outer.Dir, ".git")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := busy(t)
			base := w.keep()
			outer := w.at("..")
			outer.Write("a", "a person's\n")
			outer.Write("other/work", "a person's\n")
			move(w, outer)
			files := outer.files()
			if u, err := w.undo(base); err == nil || u.Ref != "" {
				t.Errorf("%+v, %v", u, err)
			}
			same(t, "the files", outer.files(), files)
		})
	}
}

// Whatever the reviewer does to rules, a file that was ignored stays.
func TestUndoLeavesWhatWasIgnored(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	for name, c := range map[string]struct{ begin, edit func(w tree) }{
		"rules that ignore themselves": {
			func(w tree) {
				w.Write("venv/.gitignore", "*\n")
				w.Write("venv/lib/x", "ignored\n")
			},
			func(w tree) { w.Remove("venv/.gitignore") },
		},
		"rules that cannot be put back": {
			func(tree) {},
			func(w tree) {
				w.Remove(".gitignore")
				w.Write(".gitignore/.ralph/x", "x\n")
			},
		},
		"a rule of the repository": {
			func(w tree) {
				w.Write(".git/info/exclude", "*.tmp\n")
				w.Write("x.tmp", "ignored\n")
			},
			func(w tree) { w.Write(".git/info/exclude", "") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := busy(t)
			c.begin(w)
			files := w.files()
			base := w.keep()
			c.edit(w)
			w.Write("a", "edited\n")
			u, err := w.undo(base)
			after := w.files()
			if after["a"] != files["a"] {
				t.Errorf("nothing was put back: %+v, %v", u, err)
			}
			for path, text := range files {
				if got := after[path]; got != text && filepath.Base(path) != ".gitignore" {
					t.Errorf("%s is %q, want %q", path, got, text)
				}
			}
		})
	}
}

// An untracked file that a new rule hides is put back too.
func TestUndoFindsHiddenFiles(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	for name, hide := range map[string]func(w tree){
		"rules of the repository":      func(w tree) { w.Write(".git/info/exclude", "notes.txt\n") },
		"rules that ignore themselves": func(w tree) { w.Write(".gitignore", "*.log\nbuild/\nnotes.txt\n") },
		"a folder of its own rules":    func(w tree) { w.Write("src/.gitignore", "*\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := busy(t)
			w.Write("src/mine", "untracked\n")
			base := w.keep()
			hide(w)
			w.Write("notes.txt", "edited\n")
			w.Write("src/mine", "edited\n")
			u, err := w.undo(base)
			files := w.files()
			if files["notes.txt"] != "untracked\n" || files["src/mine"] != "untracked\n" {
				t.Errorf("%+v, %v, %q %q", u, err, files["notes.txt"], files["src/mine"])
			}
		})
	}
}

// Files that a sparse checkout leaves out are neither removed nor reported.
func TestUndoWithSparseCheckout(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	for name, edit := range map[string]func(w tree){
		"as it was": func(w tree) { w.Write("a", "edited\n") },
		"disabled":  func(w tree) { w.Git("sparse-checkout", "disable") },
		"narrower":  func(w tree) { w.Git("sparse-checkout", "set", "--no-cone", "/a") },
		"other":     func(w tree) { w.Git("sparse-checkout", "set", "big") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := born(t)
			w.Write("big/x", "x\n")
			w.Write("small/y", "y\n")
			w.Commit("folders")
			w.Git("sparse-checkout", "set", "small")
			base := w.keep()
			edit(w)
			u, err := w.undo(base)
			if err != nil || w.status() != "" {
				t.Errorf("%+v, %v, status %s", u, err, w.status())
			}
		})
	}
}

func TestUndoWithUnusualFiles(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no such names and modes")
	}
	w := busy(t)
	names := []string{"cr\r", "q\"\r", "tab\t", "\xff\xfe", "back\\slash", "new\nline\r", " space ", ":colon", "*"}
	for _, name := range names {
		w.Write(name, "a person's\n")
	}
	must(t, os.Chmod(filepath.Join(w.Dir, "cr\r"), 0o600))
	files := w.files()
	base := w.keep()
	for _, name := range names {
		w.Write(name, "edited\n")
	}
	w.Remove("cr\r")
	w.mustUndo(base)
	same(t, "the files", w.files(), files)
	info, err := os.Stat(filepath.Join(w.Dir, "cr\r"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("a private file has the mode %v", info.Mode())
	}
}

// In a person's home folder other programs work too.
func TestKeepRefusesHome(t *testing.T) {
	leaveToLong(t)
	t.Parallel()
	w := born(t)
	env := append(os.Environ(), "HOME="+w.Dir, "USERPROFILE="+w.Dir)
	if _, err := WorkTree(t.Context(), w.Dir, beforeRef, env...); !errors.Is(err, ErrHome) {
		t.Errorf("%v", err)
	}
}
