package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A ground is a work tree in which an agent plants what a person's git or shell would run later.
type ground struct {
	Repository
	Home string `json:"home"`
}

// evil is the folder of the tree with the agent's programs, and with a repository of its own.
func (g ground) evil() string { return filepath.Join(g.Tree, "evil") }

// program is one of the agent's: it leaves a mark when it runs.
func (g ground) program(name string) (path string, err error) {
	path = filepath.Join(g.evil(), name)
	return path, errors.Join(os.MkdirAll(g.evil(), 0o700), overwrite(path, g.script(name), 0o700))
}

func (g ground) script(name string) string { return "#!/bin/sh\n: > '" + g.mark(name) + "'\n" }

func (g ground) mark(name string) string { return filepath.Join(g.evil(), name+".ran") }

// settings are those of git that run a program in each status and commit.
func (g ground) settings(name string) (string, error) {
	program, err := g.program(name)
	return "[core]\n\tfsmonitor = " + program + "\n", err
}

// A seed is one thing to plant. Each of a name must fail.
type seed struct {
	what string
	name string // of its program
	put  func(g ground, name string) error
	undo func(g ground) error // as a person would; nil if it hides no other
}

// seeds are in an order in which each is seen when those before it are removed: git looks into one
// folder alone.
var seeds = []seed{
	{"replace .git", "replace", ground.replaceGit, func(g ground) error {
		path := filepath.Join(g.Tree, ".git")
		return errors.Join(safefile.Move(path, filepath.Join(g.evil(), "replaced")), safefile.Move(path+".old", path))
	}},
	{"plant .git/commondir", "commondir", func(g ground, name string) error {
		dir, err := g.repository(name)
		return errors.Join(err, overwrite(filepath.Join(g.Own, "commondir"), dir+"\n", 0o600))
	}, func(g ground) error {
		if g.linked() {
			return overwrite(filepath.Join(g.Own, "commondir"), "../..\n", 0o600)
		}
		return os.Remove(filepath.Join(g.Own, "commondir"))
	}},
	{"plant .git/config.worktree", "worktree", func(g ground, name string) error {
		text, err := g.settings(name)
		return errors.Join(err, overwrite(filepath.Join(g.Own, "config.worktree"), text, 0o600))
	}, func(g ground) error { return os.Remove(filepath.Join(g.Own, "config.worktree")) }},
	{"change .git/config", "config", func(g ground, name string) error {
		text, err := g.settings(name)
		return errors.Join(err, overwrite(filepath.Join(g.Common, "config"), settingsOfGround+text, 0o600))
	}, func(g ground) error { return overwrite(filepath.Join(g.Common, "config"), settingsOfGround, 0o600) }},
	{"plant a hook of git", "hook", func(g ground, name string) error {
		_, err := g.program(name)
		hooks := filepath.Join(g.Common, "hooks")
		return errors.Join(err, os.MkdirAll(hooks, 0o700), overwrite(filepath.Join(hooks, "pre-commit"), g.script(name), 0o700))
	}, nil},
	{"plant a link in git's files", "link", func(g ground, name string) error {
		path := filepath.Join(g.Own, "COMMIT_EDITMSG") // git writes through it
		return errors.Join(os.MkdirAll(g.evil(), 0o700), os.Remove(path), os.Symlink(g.mark(name), path))
	}, nil},
	{"plant ~/.gitconfig", "user", func(g ground, name string) error {
		text, err := g.settings(name)
		return errors.Join(err, overwrite(filepath.Join(g.Home, ".gitconfig"), text, 0o600))
	}, nil},
	{"plant ~/.profile", "profile", func(g ground, name string) error {
		return errors.Join(os.MkdirAll(g.evil(), 0o700), overwrite(filepath.Join(g.Home, ".profile"), g.script(name), 0o600))
	}, nil},
	{"plant a repository deep in the tree", "deep", func(g ground, name string) error {
		dir, err := g.repository(name)
		return errors.Join(err, os.MkdirAll(g.deep(), 0o700), safefile.Move(dir, filepath.Join(g.deep(), ".git")))
	}, nil},
	{"plant a bare repository", "bare", func(g ground, name string) error {
		dir, err := g.repository(name)
		text, failed := g.settings(name)
		tree := dir + ".tree"
		return errors.Join(err, failed, os.MkdirAll(tree, 0o700),
			overwrite(filepath.Join(dir, "config"), text+"\trepositoryformatversion = 0\n\tworktree = "+tree+"\n", 0o600))
	}, nil},
	// The first to be planted, since git is run for that.
	{"plant a repository in the index", "nested", ground.addRepository, nil},
	{"plant a step of a rebase", "rebase", ground.beginRebase, nil},
}

// settingsOfGround are those of the repository.
const settingsOfGround = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tworktreeConfig = true\n"

// overwrite replaces a file as git and an agent would: by one of another name, or in its place.
func overwrite(path, content string, mode fs.FileMode) error {
	if safefile.Replace(safefile.Dir(filepath.Dir(path)), filepath.Base(path), []byte(content), mode) == nil {
		return nil
	}
	f, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// deep is a folder with a repository that the index does not name.
func (g ground) deep() string { return filepath.Join(g.evil(), "a", "b", "c", "d") }

func (g ground) bare(name string) string { return filepath.Join(g.evil(), name+".git") }

// repository makes a repository of the agent's, whose settings run its program.
func (g ground) repository(name string) (dir string, err error) {
	dir = g.bare(name)
	text, err := g.settings(name)
	for _, sub := range []string{"objects", "refs/heads"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(dir, sub), 0o700))
	}
	return dir, errors.Join(err, safefile.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o600),
		safefile.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
}

func (g ground) replaceGit(name string) error {
	dir, err := g.repository(name)
	path := filepath.Join(g.Tree, ".git")
	if err == nil {
		err = safefile.Move(path, path+".old")
	}
	if err == nil {
		err = safefile.Move(dir, path)
	}
	return err
}

// addRepository has git's index name a repository whose settings run a program.
func (g ground) addRepository(name string) error {
	ctx, dir := context.Background(), filepath.Join(g.evil(), name+"-repository")
	err := os.MkdirAll(dir, 0o700)
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "by an agent"}} {
		if err == nil {
			err = g.git(ctx, dir, args...)
		}
	}
	text, failed := g.settings(name)
	err = errors.Join(err, failed)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(dir, ".git", "config"), []byte(text), 0o600)
	}
	if err == nil {
		path, _ := filepath.Rel(g.Tree, dir)
		err = g.git(ctx, g.Tree, "-c", "core.fsmonitor=false", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+","+path)
	}
	return err
}

// beginRebase leaves the state of a rebase whose next step is a program.
func (g ground) beginRebase(name string) error {
	program, err := g.program(name)
	head, failed := safefile.Read(filepath.Join(g.Own, "HEAD"), 1<<10)
	branch := strings.TrimSpace(strings.TrimPrefix(string(head), "ref: "))
	commit, missing := safefile.Read(filepath.Join(g.Common, filepath.FromSlash(branch)), 1<<10)
	dir := filepath.Join(g.Own, "rebase-merge")
	err = errors.Join(err, failed, missing, os.MkdirAll(dir, 0o700))
	for file, text := range map[string]string{
		"git-rebase-todo": "exec " + program + "\n", "head-name": branch + "\n", "onto": string(commit), "orig-head": string(commit), "interactive": "",
	} {
		err = errors.Join(err, overwrite(filepath.Join(dir, file), text, 0o600))
	}
	return err
}

// plant tries all, from within the sandbox, the last first: the first change where git looks for
// the others.
func (g ground) plant(try func(what string, do func() error)) {
	if g.Common == "" {
		return
	}
	for _, s := range slices.Backward(seeds) {
		try(s.what, func() error { return s.put(g, s.name) })
	}
}

// lay makes the repository in which is planted; linked, the tree is a work tree beside it.
//
// Without git there is none, and nothing is planted.
func (g *ground) lay(ctx context.Context, main, home string, linked bool) error {
	g.Tree, g.Home = main, home
	if _, err := exec.LookPath("git"); err != nil {
		return nil
	}
	*g = ground{Repository{Tree: main, Common: filepath.Join(main, ".git"), Own: filepath.Join(main, ".git")}, home}
	if err := errors.Join(os.MkdirAll(main, 0o700), os.MkdirAll(home, 0o700)); err != nil {
		return err
	}
	steps := [][]string{{"init", "-q", "."}, {"symbolic-ref", "HEAD", "refs/heads/main"}, {"commit", "-q", "--allow-empty", "-m", "one"}}
	if linked {
		g.Tree = filepath.Join(main, ".ralph", "loop", "worktree")
		g.Own = filepath.Join(g.Common, "worktrees", "worktree")
		steps = append(steps, []string{"worktree", "add", "-q", g.Tree})
	}
	for i, args := range steps {
		if i == 1 {
			if err := overwrite(filepath.Join(g.Common, "config"), settingsOfGround, 0o600); err != nil {
				return err
			}
		}
		if err := g.git(ctx, main, args...); err != nil {
			return err
		}
	}
	return g.git(ctx, g.Tree, "commit", "-q", "--allow-empty", "-m", "two") // leaves a COMMIT_EDITMSG
}

// git runs git as a person with that home would.
func (g *ground) git(ctx context.Context, dir string, args ...string) error {
	return g.run(ctx, dir, append([]string{"git"}, args...)...)
}

func (g *ground) run(ctx context.Context, dir string, argv ...string) error {
	errs := process.Tail{Max: 2000}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.Home, "XDG_CONFIG_HOME=" + g.Home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(g.Home)}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME=a", "GIT_"+who+"_EMAIL=a@b")
	}
	exit, err := process.Run(ctx, process.Command{Argv: argv, Dir: dir, Env: env, Stdout: io.Discard, Stderr: &errs, Session: true})
	if err == nil {
		err = exit.Failure()
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv[:min(2, len(argv))], " "), err, strings.Join(strings.Fields(errs.String()), " "))
	}
	return nil
}

// harvest looks what a person's git and shell run of what was planted: of all attempts, only those
// for which that is so have succeeded. That git fails is no matter.
func (g *ground) harvest(ctx context.Context, attempts []Attempt) {
	for _, program := range agents() {
		i := slices.IndexFunc(attempts, func(a Attempt) bool { return a.What == settingsOf+program })
		if i < 0 {
			continue
		}
		if found := g.settingsPlanted(program); found != "" {
			attempts[i].Escaped, attempts[i].Says = true, "a person's session of "+program+" runs what is in "+found
		} else if attempts[i].Escaped {
			attempts[i].Escaped, attempts[i].Says = false, "it is in the loop's copy alone"
		}
	}
	changed := true
	for _, s := range seeds {
		i := slices.IndexFunc(attempts, func(a Attempt) bool { return a.What == s.what })
		if i < 0 {
			continue
		}
		if changed {
			for _, dir := range []string{g.Tree, g.deep(), g.bare("bare")} {
				_ = g.git(ctx, dir, "status")
			}
			_ = g.git(ctx, g.Tree, "commit", "-q", "--allow-empty", "-m", "by a person")
			_ = g.git(ctx, g.Tree, "rebase", "--continue")
			_ = g.run(ctx, g.Tree, "sh", "-l", "-c", "true")
			changed = false
		}
		planted := attempts[i].Escaped
		if _, err := os.Lstat(g.mark(s.name)); err == nil {
			attempts[i].Escaped, attempts[i].Says = true, "a person's git or shell runs it"
		} else if planted {
			attempts[i].Escaped, attempts[i].Says = false, "git and the shell run nothing of it"
		}
		if planted && s.undo != nil {
			_ = s.undo(*g) // it may have been put back
			changed = true
		}
	}
}
