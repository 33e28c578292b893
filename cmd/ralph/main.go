// Command ralph runs a coding agent again and again, each time with a fresh
// context, until the work is proved done or a limit says stop.
package main

import (
	"context"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// How ralph speaks. Results go to stdout, everything else to stderr. Lines on
// stderr begin with "ralph: ", are lower case and end without a full stop. An
// error names the thing, the cause and, as a hint, the next step. Wherever a table
// is printed, --json prints the same as JSON. Exit codes: see event.ExitCompleted
// and its neighbours, and 'ralph --help'.

// version is set when a release is built: -ldflags "-X main.version=1.0.0".
var version = ""

func main() {
	cli.Release = version
	os.Exit(run(os.Args[1:]))
}

// run performs a command line and returns the exit code for the caller. An agent takes a hook's
// exit code 2 for a refusal: a command line that cannot be read would keep it from stopping, or
// from all tools.
func run(args []string) int {
	e, err := cli.NewEnv()
	if err != nil {
		return cli.Report(os.Stderr, err)
	}
	e.ShowCommit = func(ctx context.Context, project, commit string) (string, error) {
		return repo.Show(ctx, project, commit)
	}
	code := perform(e, args)
	if code == event.ExitUsage && len(args) > 0 && args[0] == "hook" {
		return 1 // any other code is an error that the agent shows
	}
	return code
}

func perform(e *cli.Env, args []string) int {
	if len(args) == 0 {
		return cli.Report(e.Stderr, overview(e))
	}
	args = cli.SettingFlags(args)
	code := -1
	parser, err := commands().Parser(args, func(n int) { code = n })
	if err != nil {
		return cli.Report(e.Stderr, err)
	}
	parsed, err := parser.Parse(args)
	if code >= 0 {
		return code // --help and --version have printed what was asked for
	}
	if err != nil {
		return cli.Report(e.Stderr, commands().Usage(parser.Model.Node, args, err))
	}
	name := strings.TrimPrefix(parsed.Selected().FullPath(), "ralph ")
	v := parsed.Selected().Target.Addr().Interface().(verb)
	if features.onHost != nil {
		if there, err := features.onHost(e, v, args); there {
			return cli.Report(e.Stderr, err)
		}
	}
	return cli.Report(e.Stderr, do(e, name, v))
}

// verb is the verb that a command line names.
type verb interface{ Run(e *cli.Env) error }

// do runs a verb for the project of the command line, if its caller may.
func do(e *cli.Env, name string, v verb) error {
	if about, ok := v.(interface{ SetProject(e *cli.Env) error }); ok {
		if err := about.SetProject(e); err != nil {
			return err
		}
	}
	if err := authorize(e, name, v); err != nil {
		return err
	}
	return v.Run(e)
}
