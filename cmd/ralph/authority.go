package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/registry"
)

// A deed is what a command line would do that is not for everyone.
type deed struct {
	what   string // names it; "" where anyone may do it
	nested bool   // an agent may do it to the loops that its own loop started
	loop   string // the loop, as it was typed
}

// person is a deed that is up to a person.
func person(what string, does bool) deed {
	if !does {
		return deed{}
	}
	return deed{what: what}
}

// deeds has the verbs of the core that do something without asking a loop's runner. Anyone may do
// the rest, also an agent: look, begin a loop, and drop a command. The loop's runner decides
// whether its sender may give that command.
var deeds = map[string]func(v verb) deed{
	"trust":          func(v verb) deed { return person("trust", !v.(*trustVerb).List) },
	"merge":          func(verb) deed { return deed{what: "merge"} },
	"rollback":       func(verb) deed { return deed{what: "rollback"} },
	"clean":          func(v verb) deed { return person("clean", !v.(*cleanVerb).DryRun) },
	"dismiss":        func(verb) deed { return deed{what: "dismiss"} },
	"journal repair": func(verb) deed { return deed{what: "journal repair"} },
	"kill":           func(v verb) deed { return deed{"kill", true, v.(*killVerb).Name} },
	"stop":           func(v verb) deed { s := v.(*stopVerb); return deed{"stop", !s.All, s.Name} },
	"fence":          func(verb) deed { return deed{what: "fence"} },
	"run":            func(v verb) deed { return person("--trust", v.(*runVerb).Trust) },
	"start":          func(v verb) deed { return startDeed(v.(*startVerb)) },
}

// trusting are the verbs that ask for trust, or for which [cli.TrustVariable] lets settings count.
var trusting = []string{"run", "start", "fleet", "plan", "acp", "mcp", "notify", "prove", "every add"}

func startDeed(v *startVerb) deed {
	if v.AcceptChanges {
		return deed{what: "--accept-changes"}
	}
	return person("--trust", v.Trust)
}

// authorize refuses what an agent of a loop may not do. name is the verb as it was typed.
func authorize(e *cli.Env, name string, v verb) error {
	var d deed
	if does, ok := deeds[name]; ok {
		d = does(v)
	}
	trust := e.Variable(cli.TrustVariable)
	if d.what == "" && trust != "" && slices.Contains(trusting, name) {
		d.what = cli.TrustVariable
	}
	asks := slices.Contains(trusting, name) && e.StdinIsTerminal()
	if d.what == "" && !asks {
		return nil
	}
	caller, isAgent, err := callingAgent(e)
	e.Agent = isAgent
	switch {
	case err != nil || !isAgent || d.what == "":
		return err
	case d.what == cli.TrustVariable && process.Variable(caller.PID, cli.TrustVariable) == trust:
		return nil // a person gave that trust to the loop, whose agents inherit it
	case d.nested:
		s, err := e.Find(d.loop)
		if err != nil {
			return err
		}
		all, err := registry.Survey(e.Home, nil)
		if err != nil || runner.Within(all, s, caller.ID) {
			return err
		}
		return cli.Refuse("'ralph ask' asks a person to do it",
			"an agent may %s only the loops that its own loop started, and %s is none of loop %s", d.what, s.Name, caller.Name)
	}
	return cli.Refuse("a person does it in a terminal of their own; 'ralph ask' asks for it",
		"%s is up to a person, and an agent of loop %s calls it", d.what, caller.Name)
}

// callingAgent returns the loop whose agent, or whatever else its runner runs, started this
// process. The kernel says so, or the environment does.
func callingAgent(e *cli.Env) (loop registry.Entry, isAgent bool, err error) {
	line, _ := process.Lineage(os.Getpid())
	here, _ := filepath.Glob(filepath.Join(e.Root(), cli.RalphFolder, "*")) // whatever home the environment names
	if loop, isAgent, err = registration.RunnerAmong(e.Home, line, here...); isAgent || err != nil {
		return loop, isAgent, err
	}
	s, own, err := cli.CallingLoop(e, "")
	if err != nil || !own {
		return loop, false, nil //nolint:nilerr // no loop is named that exists
	}
	return s.Entry, true, nil
}
