package planning

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
)

// branchPrefix begins the names of branches that loops work on.
const branchPrefix = "ralph/"

// valuesOf returns what the templates of this project contain. The name is that of the feature; if
// it is empty, the name is that of the present branch, or of the project.
func valuesOf(e *cli.Env, name string) plan.Values {
	if name = strings.TrimPrefix(name, branchPrefix); name == "" {
		name = strings.TrimPrefix(launch.DefaultName(e), strings.ReplaceAll(branchPrefix, "/", "-"))
	}
	return plan.Values{Project: filepath.Base(e.Root()), Branch: branchPrefix + registration.SlugName(name), Date: e.Now().Format(time.DateOnly)}
}

// laidOut is what 'ralph init --tasks --json' prints.
type laidOut struct {
	Dir        string      `json:"dir"`
	BranchName string      `json:"branchName"` // in a tasks.json that was made
	Files      []plan.Made `json:"files"`
	Repository bool        `json:"repository"` // git sees the project
	Ignored    bool        `json:"ignored"`    // the marker was added to .gitignore
	Next       []string    `json:"next"`
}

// LayOut makes the plan of the project from templates. Files that exist stay as they are. Every
// error has exit code 2, as those of Initialize.
func LayOut(e *cli.Env, name string, asJSON bool) error {
	values := valuesOf(e, name)
	made, err := plan.LayOut(e.Root(), values)
	if err != nil {
		return &cli.Failure{Err: err, Code: event.ExitUsage, NextStep: "ralph/ is the folder of the plan: move away what is in its place"}
	}
	l := laidOut{
		Dir: plan.Dir(e.Root()), BranchName: values.Branch, Files: made,
		Next: []string{
			"'ralph plan' fills in prd.md and tasks.json in a conversation with your agent",
			"'ralph plan --check' says what is wrong with them",
			"'ralph start --tasks' works on the stories",
		},
	}
	tree, err := repo.WorkTree(e.Root())
	if l.Repository = err == nil && cli.Exists(filepath.Join(tree, ".git")); l.Repository {
		if l.Ignored, err = plan.Ignore(e.Root(), tree); err != nil {
			cli.Tell(e.Stderr, "%v", err)
			cli.Tell(e.Stderr, "hint: add the line %s to a file that git ignores files by", plan.Active)
		}
	} else {
		cli.Tell(e.Stderr, "%s is in no git repository: reviews see no commits, and 'ralph archive' commits nothing; 'git init' makes one", e.Root())
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, l, "")
	}
	return l.print(e)
}

func (l laidOut) print(e *cli.Env) error {
	var text strings.Builder
	for _, f := range l.Files {
		path := cli.Clean(e.Short(filepath.Join(l.Dir, f.Name)))
		switch {
		case !f.Created:
			fmt.Fprintf(&text, "kept %s as it was\n", path)
		case f.Name == plan.Tasks:
			fmt.Fprintf(&text, "made %s for the branch %s\n", path, l.BranchName)
		default:
			fmt.Fprintf(&text, "made %s\n", path)
		}
	}
	if l.Ignored {
		fmt.Fprintf(&text, "added %s to .gitignore\n", plan.Active)
	}
	text.WriteString("next:\n")
	for _, step := range l.Next {
		fmt.Fprintf(&text, "  %s\n", step)
	}
	_, err := e.Stdout.Write([]byte(text.String()))
	return err
}
