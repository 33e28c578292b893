package keep

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A worker does random work in a linked work tree, and remembers each content that it made.
type worker struct {
	main, side tree
	rand       *rand.Rand
	made       []string
	commits    int // on the branch
}

// content is new with each call.
func (k *worker) content() string {
	k.made = append(k.made, fmt.Sprintf("content number %d.", len(k.made)))
	return k.made[len(k.made)-1]
}

func (k *worker) name() string { return fmt.Sprintf("file-%d", len(k.made)) }

func (k *worker) commit() {
	k.side.Write(k.name(), k.content())
	k.side.Commit("work")
	k.commits++
}

// repository makes one with a commit at a folder of the work tree.
func (k *worker) repository(name string) {
	in := k.side.at(name)
	in.Write("inside", k.content())
	in.Git("init", "-q")
	in.Commit("inside")
}

var works = map[string]func(*worker){
	"untracked file": func(k *worker) { k.side.Write(k.name(), k.content()) },
	"commit":         (*worker).commit,
	"hidden change": func(k *worker) {
		name := k.name()
		k.commit()
		k.side.Git("update-index", []string{"--assume-unchanged", "--skip-worktree"}[k.rand.IntN(2)], name)
		k.side.Write(name, k.content())
	},
	"ignored file":   func(k *worker) { k.side.Write(k.name()+".tmp", k.content()) },
	"ignored folder": func(k *worker) { k.side.Write("build/"+k.name(), k.content()) },
	"ignored copy": func(k *worker) {
		name, text := "build/"+k.name(), k.content()
		k.side.Write(name, text)
		k.main.Write(name, text)
	},
	"commit beside the branch": func(k *worker) {
		k.side.Git("checkout", "-q", "--detach")
		k.commit()
		k.side.Git("checkout", "-q", "-f", "side")
		k.commits--
	},
	"leave the branch": func(k *worker) { k.side.Git("checkout", "-q", "--detach"); k.commit(); k.commits = 0 },
	"reset": func(k *worker) {
		if k.commits > 0 {
			k.side.Git("reset", "-q", "--hard", "HEAD~1")
			k.commits--
		}
	},
	"amend": func(k *worker) {
		if k.commits > 0 {
			k.side.Write(k.name(), k.content())
			k.side.Git("add", "-A")
			k.side.Git("commit", "-q", "--amend", "-m", "again")
		}
	},
	"stash": func(k *worker) { k.side.Write(k.name(), k.content()); k.side.Git("stash", "push", "-q", "-u") },
	"own ref": func(k *worker) {
		k.side.Write(k.name(), k.content())
		k.side.Git("add", "-A")
		commit := k.side.Git("commit-tree", "-m", "own", k.side.Git("write-tree"))
		k.side.Git("update-ref", "refs/worktree/own", commit)
		k.side.Git("reset", "-q", "--hard")
	},
	"branch":             func(k *worker) { k.side.Git("branch", "-f", "other") },
	"repository":         func(k *worker) { k.repository(k.name()) },
	"ignored repository": func(k *worker) { k.repository("build/" + k.name()) },
	"submodule": func(k *worker) {
		k.side.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
		in := k.side.at("sub")
		in.Write(k.name(), k.content())
		in.Commit("inside")
		k.side.Git("add", "sub")
		k.side.Git("commit", "-qm", "sub")
		k.commits++
	},
}

// finish commits and merges most of what there is, so that often nothing would be lost.
func (k *worker) finish() {
	if k.rand.IntN(8) > 0 {
		k.side.Git("add", "-A")
		k.side.Git("commit", "-q", "--allow-empty", "-m", "end")
	}
	if k.rand.IntN(8) > 0 {
		k.main.Git("merge", "-q", "--no-edit", k.side.Head())
	}
	if k.rand.IntN(8) == 0 { // last, since another git add would replace it
		k.side.Write("staged", k.content())
		k.side.Git("add", "-f", "staged")
		k.side.Remove("staged")
	}
}

// keptIn returns everything that is in the repository under a name, and in its work tree.
func keptIn(w tree) string {
	w.T.Helper()
	stashes, _ := w.Try("reflog", "show", "--format=%H", "refs/stash", "--")
	if strings.Contains(stashes, "fatal") {
		stashes = ""
	}
	var text strings.Builder
	for object := range strings.Lines(w.Git(append([]string{"rev-list", "--objects", "--all"}, strings.Fields(stashes)...)...)) {
		id, _, _ := strings.Cut(strings.TrimSpace(object), " ")
		if w.Git("cat-file", "-t", id) == "blob" {
			text.WriteString(w.Git("cat-file", "blob", id) + "\n")
		}
	}
	must(w.T, filepath.WalkDir(w.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			body, err := os.ReadFile(path)
			text.Write(body)
			return err
		}
		return err
	}))
	return text.String()
}

// Unless FindLosses names something, all that was ever in a linked work tree is still there when it
// and its branch are gone.
func TestLossesAreFound(t *testing.T) {
	seeds, names := 30, slices.Sorted(maps.Keys(works))
	if testing.Short() {
		seeds = 6
	}
	series, _ := strconv.ParseUint(os.Getenv("RALPH_TEST_SEED"), 10, 64) // of discovery, else 0
	var nothing int
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			main := born(t)
			inner := born(t)
			main.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.Dir, "sub")
			main.Write(".gitignore", "*.tmp\nbuild/\n")
			main.Commit("all")
			k := &worker{main: main, side: main.worktree("side"), rand: rand.New(rand.NewPCG(series, uint64(seed)))}
			var did []string
			for range 1 + k.rand.IntN(3) {
				did = append(did, names[k.rand.IntN(len(names))])
				works[did[len(did)-1]](k)
			}
			k.finish()
			l, err := FindLosses(t.Context(), k.side.Dir, main.Dir, "")
			must(t, err)
			if l.Any() {
				return
			}
			nothing++
			must(t, DropWorktree(t.Context(), main.Dir, k.side.Dir))
			if l.Branch != "" {
				must(t, DeleteBranch(t.Context(), main.Dir, l.Branch, l.Head))
			}
			kept := keptIn(main)
			for _, content := range k.made {
				if !strings.Contains(kept, content) {
					t.Errorf("after %q, %q is lost without a word", did, content)
				}
			}
		})
	}
	if nothing < seeds/10 {
		t.Errorf("in only %d of %d work trees nothing would have been lost", nothing, seeds)
	}
}

func TestHiddenChangesAreFound(t *testing.T) {
	for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
		main := born(t)
		main.Write("edited", "as it is committed")
		main.Write("same", "as it is committed")
		main.Write("away", "as it is committed")
		main.Commit("all")
		side := main.worktree("side")
		side.Git("update-index", flag, "edited", "same", "away")
		side.Remove("away") // as in a sparse work tree
		for changes, text := range []string{"as it is committed", "as a person wants it"} {
			side.Write("edited", text)
			l, err := FindLosses(t.Context(), side.Dir, main.Dir, "")
			must(t, err)
			if l.Changes != changes {
				t.Errorf("%s, %q: %d changes, want %d", flag, text, l.Changes, changes)
			}
		}
	}
}

// What was squashed into the person's branch is not lost; what no branch has goes with the
// worktree.
func TestMergedWorkIsNoLoss(t *testing.T) {
	main := born(t)
	side := main.worktree("side")
	side.Write("new", "work\n")
	head := side.Commit("work")
	find := func(merged string) Losses {
		l, err := FindLosses(t.Context(), side.Dir, main.Dir, merged)
		must(t, err)
		return l
	}
	if l := find(""); l.Commits != 1 || l.Left != 0 || !l.Any() {
		t.Errorf("before the merge: %+v", l)
	}
	if l := find(head); l.Commits != 1 {
		t.Errorf("an agent says that it is merged: %+v", l)
	}
	main.Git("merge", "--squash", "-q", head)
	main.Git("commit", "-qm", "squashed")
	if l := find(head); l.Any() {
		t.Errorf("after the merge: %+v", l)
	}
	side.Git("checkout", "-q", "--detach")
	main.Git("branch", "-D", "side")
	if l := find(""); l.Commits != 0 || l.Left != 1 {
		t.Errorf("without a branch: %+v", l)
	}
}
