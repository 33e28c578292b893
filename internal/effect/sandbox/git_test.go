package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// command runs a program of a person's, outside of every sandbox.
func command(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// plant tries to make a person's git run a program, in the folders of git's and of the tree.
const plant = `
own=$(git rev-parse --absolute-git-dir); common=$(git rev-parse --path-format=absolute --git-common-dir)
mkdir evil; printf '#!/bin/sh\necho ran >> "$0.ran"\n' > evil/run; chmod +x evil/run
mkdir evil/hooks; cp evil/run evil/hooks/pre-commit; cp evil/run evil/hooks/post-index-change
git init -q --bare evil/git; git --git-dir=evil/git config core.fsmonitor "$PWD/evil/run"; git --git-dir=evil/git config core.hooksPath "$PWD/evil/hooks"
settings="[core]
	fsmonitor = $PWD/evil/run
	hooksPath = $PWD/evil/hooks"
(
for dir in "$own" "$common"; do
	echo "$settings" >> "$dir/config"; echo "$settings" > "$dir/config.worktree"; echo "$settings" > "$dir/config.new"; mv -f "$dir/config.new" "$dir/config"
	cp evil/run "$dir/hooks/pre-commit"; mkdir "$dir/hooks" && cp evil/run "$dir/hooks/pre-commit"; mv "$dir/hooks" "$dir/hooks.old"
	mkdir -p "$dir/modules/x"; mkdir -p "$dir/worktrees/x"; mkdir -p "$dir/info" && echo '* filter=x' > "$dir/info/attributes"
	rm -f "$dir/COMMIT_EDITMSG"; ln -s "$PWD/../victim" "$dir/COMMIT_EDITMSG"; rm -rf "$dir/logs"; ln -s "$PWD/.." "$dir/logs"
	echo "$PWD/evil/git" > "$dir/commondir"
done
mv .git .git.old; cp -r evil/git .git
) 2>/dev/null
true`

// TestPlantedGitFiles shows that a person's git runs nothing of what an agent left in the files of
// git's, that an agent can commit, and that nothing is left where a name was missing.
func TestPlantedGitFiles(t *testing.T) {
	for _, mode := range Local() {
		for _, linked := range []bool{false, true} {
			if mode == Landlock && !linked {
				continue // refused
			}
			t.Run(string(mode)+map[bool]string{true: " in a worktree"}[linked], func(t *testing.T) {
				b := box(t, mode, func(p *Policy) {
					main := filepath.Join(filepath.Dir(p.Dir), "main")
					if !linked {
						main = p.Dir
					}
					command(t, filepath.Dir(p.Dir), "git", "init", "-q", "-b", "main", main)
					command(t, main, "git", "config", "user.email", "a@b")
					command(t, main, "git", "config", "user.name", "a")
					command(t, main, "git", "config", "extensions.worktreeConfig", "true")
					command(t, main, "git", "commit", "-q", "--allow-empty", "-m", "one")
					p.Git = Repository{Tree: p.Dir, Common: filepath.Join(main, ".git"), Own: filepath.Join(main, ".git")}
					if linked {
						command(t, main, "git", "worktree", "add", "-q", p.Dir)
						p.Git.Own = command(t, p.Dir, "git", "rev-parse", "--absolute-git-dir")
						p.Show = append(p.Show, p.Git.Common)
					}
				})
				there := map[string]bool{}
				for _, p := range b.Git.missing() {
					_, err := os.Lstat(filepath.Join(b.Git.Own, p.name))
					there[p.name] = err == nil
				}
				if out, err := b.runs(t, "echo made > made && git add made && git commit -q -m made && git branch other && git checkout -q other && git checkout -q - && git stash list"); err != nil {
					t.Fatalf("an agent cannot commit: %v\n%s", err, out)
				}
				if out, err := b.runs(t, plant); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if _, err := b.PutBack(); err != nil {
					t.Fatal(err)
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				if got := command(t, b.Dir, "git", "log", "-1", "--format=%s"); got != "made" {
					t.Errorf("the last commit is %q", got)
				}
				for _, argv := range [][]string{{"git", "status"}, {"git", "commit", "-q", "--allow-empty", "-m", "by a person"}, {"git", "add", "made"}} {
					command(t, b.Dir, argv...)
				}
				if text, err := os.ReadFile(filepath.Join(b.Dir, "evil", "run.ran")); err == nil {
					t.Errorf("git ran the agent's program: %q", text)
				}
				if text, err := os.ReadFile(filepath.Join(b.Dir, "..", "victim")); err == nil {
					t.Errorf("git wrote through a link: %q", text)
				}
				for _, p := range b.Git.missing() {
					if _, err := os.Lstat(filepath.Join(b.Git.Own, p.name)); err == nil && !there[p.name] {
						t.Errorf("%s is left in %s", p.name, b.Git.Own)
					}
				}
			})
		}
	}
}

// TestPlantedRepositories shows that a person's git runs nothing of a repository that an agent put
// into the tree and the index, nor of a rebase that it began, and that a person's own stay.
func TestPlantedRepositories(t *testing.T) {
	for _, mode := range Local() {
		t.Run(string(mode), func(t *testing.T) {
			var own string
			b := box(t, mode, func(p *Policy) {
				main := filepath.Join(filepath.Dir(p.Dir), "main")
				t.Setenv("HOME", filepath.Join(filepath.Dir(p.Dir), "home"))
				p.Show = append(p.Show, os.Getenv("HOME"))
				lay(t, os.Getenv("HOME"), map[string]string{".gitconfig": "[user]\n\temail = a@b\n\tname = a\n"})
				command(t, filepath.Dir(p.Dir), "git", "init", "-q", "-b", "main", main)
				command(t, main, "git", "commit", "-q", "--allow-empty", "-m", "one")
				command(t, main, "git", "worktree", "add", "-q", p.Dir)
				p.Git = Repository{Tree: p.Dir, Common: filepath.Join(main, ".git"), Own: command(t, p.Dir, "git", "rev-parse", "--absolute-git-dir")}
				own = filepath.Join(p.Dir, "own")
				command(t, p.Dir, "git", "init", "-q", own)
				command(t, own, "git", "commit", "-q", "--allow-empty", "-m", "one")
				command(t, own, "git", "config", "alias.x", "!true")
			})
			out, err := b.runs(t, `set -e
printf '#!/bin/sh\necho ran >> "$0.ran"\n' > run; chmod +x run
git init -q a; git -C a commit -q --allow-empty -m one; git add a
git init -q b; git -C b commit -q --allow-empty -m one
cp -r b a/c; git -C a add c; git -C a commit -q -m two; git add a; git commit -q -m by-the-agent
for dir in a b a/c; do cp run $dir/.git/hooks/post-index-change; git -C $dir config core.fsmonitor "$PWD/run"; rm -f run.ran; done
own=$(git rev-parse --absolute-git-dir); mkdir "$own/rebase-merge"; cd "$own/rebase-merge"
printf 'pick %s\nexec %s/run\nx %s/run\n' "$(git rev-parse HEAD)" "$OLDPWD" "$OLDPWD" > git-rebase-todo
git rev-parse HEAD | tee onto orig-head | git commit-tree -p HEAD -m three "HEAD^{tree}" > three; echo "pick $(cat three)" >> git-rebase-todo
touch interactive; git symbolic-ref HEAD > head-name; git -C "$OLDPWD" checkout -q --detach
mkdir "$own/sequencer" "$OLDPWD/git-merge-a"; echo a/../run > strategy; printf '[Options] Strategy = "a/../run"\n' > "$own/sequencer/opts"
`)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_ = os.Remove(filepath.Join(b.Dir, "run.ran"))
			notes, err := b.PutBack()
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Join(notes, "\n")
			for _, name := range []string{"a/.git/config", "a/.git/hooks/post-index-change", "b/.git/config", "a/c/.git/config", "rebase-merge/git-rebase-todo", "rebase-merge/strategy", "sequencer/opts"} {
				if !strings.Contains(said, name) {
					t.Errorf("%s is not named: %s", name, said)
				}
			}
			if todo := read(t, b.Git.todo()); !strings.HasPrefix(todo, "pick ") || strings.Contains(todo, "run") {
				t.Errorf("the rebase is %q", todo)
			}
			command(t, b.Dir, "sh", "-c", "git rebase --continue || true") // a pick without changes ends it
			command(t, b.Dir, "git", "status")
			command(t, b.Dir, "git", "add", "-A")
			command(t, b.Dir, "git", "status")
			if _, err := os.Stat(filepath.Join(b.Dir, "run.ran")); err == nil {
				t.Error("git ran the agent's program")
			}
			if got := command(t, own, "git", "config", "alias.x"); got != "!true" {
				t.Errorf("the person's repository has %q", got)
			}
			if notes, err := b.PutBack(); err != nil || len(notes) > 0 {
				t.Errorf("once more: %q, %v", notes, err)
			}
		})
	}
}
