package repo

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
	k.side.write(k.name(), k.content())
	k.side.commit("work")
	k.commits++
}

// repository makes one with a commit at a folder of the work tree.
func (k *worker) repository(name string) {
	in := k.side.at(name)
	in.write("inside", k.content())
	in.git("init", "-q")
	in.commit("inside")
}

var works = map[string]func(*worker){
	"untracked file": func(k *worker) { k.side.write(k.name(), k.content()) },
	"commit":         (*worker).commit,
	"hidden change": func(k *worker) {
		name := k.name()
		k.commit()
		k.side.git("update-index", []string{"--assume-unchanged", "--skip-worktree"}[k.rand.IntN(2)], name)
		k.side.write(name, k.content())
	},
	"ignored file":   func(k *worker) { k.side.write(k.name()+".tmp", k.content()) },
	"ignored folder": func(k *worker) { k.side.write("build/"+k.name(), k.content()) },
	"ignored copy": func(k *worker) {
		name, text := "build/"+k.name(), k.content()
		k.side.write(name, text)
		k.main.write(name, text)
	},
	"commit beside the branch": func(k *worker) {
		k.side.git("checkout", "-q", "--detach")
		k.commit()
		k.side.git("checkout", "-q", "-f", "side")
		k.commits--
	},
	"leave the branch": func(k *worker) { k.side.git("checkout", "-q", "--detach"); k.commit(); k.commits = 0 },
	"reset": func(k *worker) {
		if k.commits > 0 {
			k.side.git("reset", "-q", "--hard", "HEAD~1")
			k.commits--
		}
	},
	"amend": func(k *worker) {
		if k.commits > 0 {
			k.side.write(k.name(), k.content())
			k.side.git("add", "-A")
			k.side.git("commit", "-q", "--amend", "-m", "again")
		}
	},
	"stash": func(k *worker) { k.side.write(k.name(), k.content()); k.side.git("stash", "push", "-q", "-u") },
	"own ref": func(k *worker) {
		k.side.write(k.name(), k.content())
		k.side.git("add", "-A")
		commit := k.side.git("commit-tree", "-m", "own", k.side.git("write-tree"))
		k.side.git("update-ref", "refs/worktree/own", commit)
		k.side.git("reset", "-q", "--hard")
	},
	"branch":             func(k *worker) { k.side.git("branch", "-f", "other") },
	"repository":         func(k *worker) { k.repository(k.name()) },
	"ignored repository": func(k *worker) { k.repository("build/" + k.name()) },
	"submodule": func(k *worker) {
		k.side.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
		in := k.side.at("sub")
		in.write(k.name(), k.content())
		in.commit("inside")
		k.side.git("add", "sub")
		k.side.git("commit", "-qm", "sub")
		k.commits++
	},
}

// finish commits and merges most of what there is, so that often nothing would be lost.
func (k *worker) finish() {
	if k.rand.IntN(8) > 0 {
		k.side.git("add", "-A")
		k.side.git("commit", "-q", "--allow-empty", "-m", "end")
	}
	if k.rand.IntN(8) > 0 {
		k.main.git("merge", "-q", "--no-edit", k.side.head())
	}
	if k.rand.IntN(8) == 0 { // last, since another git add would replace it
		k.side.write("staged", k.content())
		k.side.git("add", "-f", "staged")
		k.side.remove("staged")
	}
}

// keptIn returns everything that is in the repository under a name, and in its work tree.
func keptIn(w tree) string {
	w.t.Helper()
	stashes, _ := w.try("reflog", "show", "--format=%H", "refs/stash", "--")
	if strings.Contains(stashes, "fatal") {
		stashes = ""
	}
	var text strings.Builder
	for object := range strings.Lines(w.git(append([]string{"rev-list", "--objects", "--all"}, strings.Fields(stashes)...)...)) {
		id, _, _ := strings.Cut(strings.TrimSpace(object), " ")
		if w.git("cat-file", "-t", id) == "blob" {
			text.WriteString(w.git("cat-file", "blob", id) + "\n")
		}
	}
	must(w.t, filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
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
			main.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "sub")
			main.write(".gitignore", "*.tmp\nbuild/\n")
			main.commit("all")
			k := &worker{main: main, side: main.worktree("side"), rand: rand.New(rand.NewPCG(series, uint64(seed)))}
			var did []string
			for range 1 + k.rand.IntN(3) {
				did = append(did, names[k.rand.IntN(len(names))])
				works[did[len(did)-1]](k)
			}
			k.finish()
			l, err := FindLosses(t.Context(), k.side.dir, main.dir)
			must(t, err)
			if l.Changes+l.Unmerged+l.Left+len(l.Ignored) > 0 {
				return
			}
			nothing++
			must(t, DropWorktree(t.Context(), main.dir, k.side.dir))
			if l.Branch != "" {
				must(t, DeleteBranch(t.Context(), main.dir, l.Branch, l.Head))
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
		main.write("edited", "as it is committed")
		main.write("same", "as it is committed")
		main.write("away", "as it is committed")
		main.commit("all")
		side := main.worktree("side")
		side.git("update-index", flag, "edited", "same", "away")
		side.remove("away") // as in a sparse work tree
		for changes, text := range []string{"as it is committed", "as a person wants it"} {
			side.write("edited", text)
			l, err := FindLosses(t.Context(), side.dir, main.dir)
			must(t, err)
			if l.Changes != changes {
				t.Errorf("%s, %q: %d changes, want %d", flag, text, l.Changes, changes)
			}
		}
	}
}
