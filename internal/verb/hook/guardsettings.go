package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/trust"
	"github.com/ralph-loop/ralph/internal/verb/shellguard"
)

// A guard is how tool calls of a session are judged.
type guard struct {
	shellguard.Context
	Sessions bool // also sessions that no loop runs
}

const (
	mostConfig = 4 << 20         // bytes of a loop's config.json
	cleanTime  = 5 * time.Second // for git status: an agent waits
)

// guardOf returns how the tool calls of a session are judged. With an error, what could be read
// counts, and the built-in settings for the rest: a defect in settings switches nothing off.
func guardOf(e Env, in Input) (guard, error) {
	project, dir, inLoop := "", "", false
	if dir, inLoop = ownLoop(e); inLoop {
		project = filepath.Dir(filepath.Dir(dir))
	} else {
		project = sessionProject(e, in)
	}
	tree := project
	if inLoop {
		tree = treeOf(dir)
	}
	settings, err := guardSettings(e, project, dir)
	rules := settings.Guard
	g := guard{Sessions: rules.Sessions, Context: shellguard.Context{
		Dir: filepath.ToSlash(in.Cwd), Project: filepath.ToSlash(tree), Home: filepath.ToSlash(e.Variable("HOME")),
		Allow: rules.Allow, Deny: rules.Deny, Unknown: shellguard.Decision(rules.Unknown),
		Env: func(name string) (string, bool) {
			text := e.Variable(name)
			return text, text != ""
		},
		Clean: func(dir string) bool {
			ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
			defer cancel()
			changed, err := repo.Changed(ctx, dir)
			return err == nil && len(changed) == 0
		},
	}}
	for _, word := range rules.Off {
		g.Off = append(g.Off, shellguard.Category(word))
	}
	g.Protected = append(g.Protected, filepath.ToSlash(e.Home))
	if inLoop {
		g.Protected = append(g.Protected, loopfolder.Files(filepath.ToSlash(dir))...)
	}
	if tree != project { // the settings of a loop in a worktree are not in its tree
		for _, name := range []string{guardrail.SettingsFile, guardrail.LocalSettingsFile, ".ralph/session", ".git/config", ".git/hooks"} {
			g.Protected = append(g.Protected, filepath.ToSlash(filepath.Join(project, name)))
		}
	}
	return g, errors.Join(err, g.protect(tree, settings.Guardrails))
}

// treeOf returns the project's folder in which a loop works. One whose worktree cannot be read is
// taken for the project.
func treeOf(dir string) string {
	project := filepath.Dir(filepath.Dir(dir))
	tree, err := workspace.Tree(dir, project)
	if err != nil {
		return project
	}
	return tree
}

// protect adds the files of the guardrails that have to stay as they are.
func (g *guard) protect(project string, guardrails []config.Guardrail) error {
	var protected []guardrail.Guardrail
	for _, r := range guardrails {
		if r.Protect {
			protected = append(protected, guardrail.Guardrail{Command: r.Command, Protect: true})
		}
	}
	if len(protected) == 0 {
		return nil
	}
	snapshot, err := guardrail.NewSnapshot(guardrail.Place{Work: project}, protected)
	if err != nil {
		return fmt.Errorf("find the files of the guardrails: %w", err)
	}
	for _, record := range snapshot.Records() {
		if record.Protected {
			g.Protected = append(g.Protected, filepath.ToSlash(filepath.Join(project, filepath.FromSlash(record.Path))))
		}
	}
	return nil
}

// sessionProject returns the project of a session that no loop runs: the nearest folder with a
// .ralph, else where the agent works.
func sessionProject(e Env, in Input) string {
	first := ""
	for project := range projects(e, in) {
		if first == "" {
			first = project
		}
		folder := filepath.Join(project, ".ralph")
		if info, err := os.Lstat(folder); err == nil && info.IsDir() && folder != e.Home {
			return project
		}
	}
	return first
}

// guardSettings returns the settings of a session: for a loop those that it was started with, else
// those of the person, and of the project if they are trusted.
func guardSettings(e Env, project, loopDir string) (config.Settings, error) {
	if loopDir != "" {
		frozen, err := safefile.Read(filepath.Join(loopDir, loopfolder.Config), mostConfig)
		if err == nil {
			settings, _, err := config.Thaw(frozen)
			if err != nil {
				return config.Defaults(), err
			}
			return settings, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return config.Defaults(), err
		}
	}
	own := config.Source{HomeDir: e.Home}
	loaded, err := config.Load(config.Source{HomeDir: e.Home, ProjectDir: project})
	if err == nil && len(loaded.Parts) > 0 {
		record, failed := trust.Get(e.Home, project)
		if failed != nil || record.Fingerprint != config.Fingerprint(loaded.Parts) {
			stricter := loaded.Settings.Guard // what refuses more needs no trust
			loaded, err = config.Load(own)
			loaded.Settings.Guard.Deny = append(loaded.Settings.Guard.Deny, stricter.Deny...)
			loaded.Settings.Guard.Sessions = loaded.Settings.Guard.Sessions || stricter.Sessions
		}
	}
	if err != nil {
		settings, _ := config.Load(own)
		if settings.Settings.Guard.Unknown == "" {
			return config.Defaults(), err
		}
		return settings.Settings, err
	}
	return loaded.Settings, nil
}
