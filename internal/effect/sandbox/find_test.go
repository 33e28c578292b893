package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hidden makes repositories that run a program, in places that are easy to pass over, and prints
// the folders in which git would run it.
const hidden = `set -e
printf '#!/bin/sh\necho "$PWD" >> "%s/ran"\n' "$PWD" > run; chmod +x run
evil() { mkdir -p "$1"; git init -q "$1"; git -C "$1" commit -q --allow-empty -m one; git -C "$1" config core.fsmonitor "$PWD/run"; }
evil d1/d2/d3/d4/d5/d6; echo d1/d2/d3/d4/d5/d6
for n in $(seq 70); do mkdir -p many/$n; cp -r d1/d2/d3/d4/d5/d6/.git many/$n; done; echo many/1 many/49 many/70 many/9
echo ignored > .gitignore; evil ignored/x; echo ignored/x; evil node_modules/x/y/z/w; echo node_modules/x/y/z/w
evil made; mkdir -p deep/er; mv made/.git deep/er/bare; git --git-dir=deep/er/bare config core.bare false; git --git-dir=deep/er/bare config core.worktree "$PWD/made"; echo deep/er/bare; mkdir deep/er/bare/sub; echo deep/er/bare/sub
evil other; mv other/.git "other/git "; printf 'gitdir: git ' > other/.git; echo other
evil long; mv long/.git long/git; (printf 'gitdir: git'; head -c 100000 /dev/zero | tr '\0' '\n') > long/.git; echo long
evil cut; mv cut/.git cut/git; printf 'gitdir: git\0x' > cut/.git; echo cut
evil common; mkdir apart via; for name in HEAD index; do cp common/.git/$name apart; done; mv common/.git common/git; echo ../common/git > apart/commondir; echo 'gitdir: ../apart' > via/.git; echo via
evil "$TEMP_OF_LOOP/x"; ln -s "$TEMP_OF_LOOP/x" linked; echo linked
rm -f ran
`

// TestPlantedAnywhere shows that git runs nothing of a repository that an agent left, wherever in
// the tree that is, whatever leads there, and also if the tree has no repository.
func TestPlantedAnywhere(t *testing.T) {
	for _, mode := range Local() {
		for _, in := range []string{"in a worktree", "without a repository"} {
			t.Run(string(mode)+" "+in, func(t *testing.T) {
				b := box(t, mode, func(p *Policy) { layHidden(t, p, in == "in a worktree") })
				out, err := b.runs(t, "TEMP_OF_LOOP="+b.Temp+"\n"+hidden)
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				places := strings.Fields(out)
				if _, err := b.PutBack(); err != nil {
					t.Fatal(err)
				}
				for _, place := range places {
					command(t, filepath.Join(b.Dir, place), "sh", "-c", "git status || true")
				}
				if text, err := os.ReadFile(filepath.Join(b.Dir, "ran")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("git ran the agent's program in %s", text)
				}
				if len(places) != 14 {
					t.Errorf("%d places: %q", len(places), places)
				}
			})
		}
	}
}

// layHidden makes a home, and the repository of the tree if there is to be one.
func layHidden(t *testing.T, p *Policy, linked bool) {
	t.Helper()
	dir := filepath.Dir(p.Dir)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	p.Show = append(p.Show, os.Getenv("HOME"))
	lay(t, os.Getenv("HOME"), map[string]string{".gitconfig": "[user]\n\temail = a@b\n\tname = a\n"})
	if linked {
		main := filepath.Join(dir, "main")
		command(t, dir, "git", "init", "-q", "-b", "main", main)
		command(t, main, "git", "commit", "-q", "--allow-empty", "-m", "one")
		command(t, main, "git", "worktree", "add", "-q", p.Dir)
		p.Git = Repository{Tree: p.Dir, Common: filepath.Join(main, ".git"), Own: command(t, p.Dir, "git", "rev-parse", "--absolute-git-dir")}
	}
}

// TestUnfinishedLook shows that what was not looked at is named once, and that git's index leads to
// a repository all the same.
func TestUnfinishedLook(t *testing.T) {
	b := box(t, Local()[0], func(p *Policy) { layHidden(t, p, true) })
	if out, err := b.runs(t, `set -e
git init -q z/repository; git -C z/repository commit -q --allow-empty -m one; git add z/repository 2>/dev/null
git -C z/repository config core.fsmonitor /bin/false`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	layLong(t, b.Dir)
	notes, err := b.PutBack()
	if err != nil {
		t.Fatal(err)
	}
	has := func(text string) bool {
		return slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, text) })
	}
	if len(notes) != 2 || !has("could not look for repositories in "+b.Dir) || !has("z/repository/.git/config, which git would run") {
		t.Errorf("%q", notes)
	}
	if notes, err := b.PutBack(); err != nil || len(notes) > 0 {
		t.Errorf("once more: %q, %v", notes, err)
	}
	b.most = 5
	command(t, b.Dir, "git", "-C", "z/repository", "config", "alias.x", "!true")
	if notes, err = b.PutBack(); err != nil || len(notes) != 2 || !has("looked at 5 names in "+b.Dir) || !has("z/repository/.git/config, which git would run") {
		t.Errorf("%q, %v", notes, err)
	}
	if notes, err := b.PutBack(); err != nil || len(notes) > 0 {
		t.Errorf("once more: %q, %v", notes, err)
	}
}

// TestAsideIsNoLink shows that what is set aside stays with the loop, where an agent made a link in
// the place of its folder.
func TestAsideIsNoLink(t *testing.T) {
	b := box(t, Local()[0], nil)
	victim := filepath.Join(filepath.Dir(b.Dir), "home")
	if err := os.Symlink(victim, b.Aside); err != nil {
		t.Fatal(err)
	}
	if out, err := b.runs(t, "git init -q x && echo run > x/.git/hooks/pre-commit"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := b.PutBack(); err != nil {
		t.Fatal(err)
	}
	if moved, err := os.ReadDir(b.Aside); err != nil || len(moved) != 1 || !strings.HasSuffix(moved[0].Name(), "-pre-commit") {
		t.Errorf("set aside are %v, %v", moved, err)
	}
	if led, err := os.ReadDir(victim); err != nil || len(led) > 0 {
		t.Errorf("a link led %v away, %v", led, err)
	}
}

// TestLinkForRalphsOwn shows that a link in the place of a file of ralph's is set aside: it would
// lead elsewhere, and bubblewrap mounts nothing at one.
func TestLinkForRalphsOwn(t *testing.T) {
	var link string
	b := box(t, Local()[0], func(p *Policy) {
		link = filepath.Join(p.Temp, "iterations")
		p.Ralph = []string{link}
	})
	if out, err := b.runs(t, "ln -s "+b.Dir+" "+link); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if notes, err := b.PutBack(); err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "moved "+link+" to ") {
		t.Errorf("%q, %v", notes, err)
	}
	if out, err := b.runs(t, "true"); err != nil {
		t.Errorf("the next turn: %v\n%s", err, out)
	}
}

// TestReach shows that what is protected can be changed no more, but for what in it can.
func TestReach(t *testing.T) {
	r := reach{write: []string{"/t", "/t/.ralph/demo"}, protect: []string{"/t/.ralph", "/t/.ralph/demo/journal", "/t/x"}}
	for path, want := range map[string]struct{ changes, enters bool }{
		"/":                      {false, true},
		"/t/a/b":                 {true, true},
		"/t/x/y":                 {false, false},
		"/t/.ralph":              {false, true},
		"/t/.ralph/other":        {false, false},
		"/t/.ralph/demo/x":       {true, true},
		"/t/.ralph/demo/journal": {false, false},
	} {
		if changes, enters := r.changes(path), r.enters(path); changes != want.changes || enters != want.enters {
			t.Errorf("%s: %v, %v", path, changes, enters)
		}
	}
}

// layLong makes a folder whose path is too long to open.
func layLong(t *testing.T, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	for range 20 {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() }) // nothing was written
		name := strings.Repeat("x", 250)
		err = root.Mkdir(name, 0o700)
		in, failed := root.OpenRoot(name)
		root, err = in, errors.Join(err, failed)
	}
	_ = root.Close() // likewise
}
