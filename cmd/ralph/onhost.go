//go:build !ralph_core

package main

import (
	"cmp"
	"io"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/front/attach"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/remote"
	"github.com/ralph-loop/ralph/internal/verb/distant"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// onHost performs a command line that names a loop of another host, HOST:NAME, and reports whether
// it is one. No verb has code of its own for that but those that follow a loop.
func onHost(e *cli.Env, v verb, args []string) (bool, error) {
	there, err := distant.Find(e, commands(), args)
	if there == nil || err != nil {
		return err != nil, err
	}
	if loop, isAgent, err := callingAgent(e); err != nil || isAgent {
		return true, cmp.Or(err, agentMayNot(loop))
	}
	h, err := remote.Connect(e, there.Host)
	if err != nil {
		return true, err
	}
	switch v := v.(type) {
	case *attachVerb:
		return true, h.Attach(there.Loop, there.Args, attach.Options{
			JSON: v.JSON, Verbose: v.Verbose, Time: v.Time, Lines: int(v.Lines), Plain: v.Plain, Inline: v.Inline, ReadOnly: v.ReadOnly,
		}, v.Weak)
	case *logsVerb:
		if v.Follow {
			return true, h.Follow(there.Loop, v.options())
		}
	case *startVerb:
		switch {
		case v.After != "":
			return true, cli.Refuse("leave it out", "--after is for a new loop, and for loops of this machine")
		case !v.Resume:
			return true, cli.Refuse("begin it there, in its project: 'ssh -t "+there.Host+"', then 'ralph start'",
				"a new loop does not begin on another host: %s:%s", there.Host, there.Loop)
		}
	case *exportVerb:
		if !v.Undo {
			file := cmp.Or(v.Output, filepath.Base(there.Loop)+".ralph")
			return true, cli.Refuse("write it there and copy it: "+cli.AsTyped([]string{"ssh", there.Host, "ralph export " + there.Loop + " -o loop.ralph"})+
				" && "+cli.AsTyped([]string{"scp", there.Host + ":loop.ralph", file}), "the file of an export is written where the loop is")
		}
	case *reportVerb:
		if page := !v.JSON && !v.Markdown && !v.JUnit && !v.Provenance; page && v.Output == "" && e.IsTerminal() {
			there.Args, there.Output = append(there.Args, "-o", "-"), filepath.Base(there.Loop)+".html"
		}
	}
	if there.Output == "" {
		return true, h.Run(there.Args)
	}
	return true, e.WriteFile(there.Output, there.Force, func(w io.Writer) error { return h.Print(there.Args, w) })
}

// listElsewhere lists the loops of other machines. What cannot be reached is reported, and the
// error is only an exit code.
func listElsewhere(e *cli.Env, v *listVerb) (loops []*projector.View, err error) {
	sources := v.Host
	if v.Hosts {
		own, err := remote.Hosts(e)
		switch {
		case err != nil:
			return nil, err
		case len(own) == 0 && len(sources) == 0:
			return nil, cli.Refuse("name them: \"hosts\": [\"farm\"] in "+filepath.Join(e.Home, "settings.json"), "the setting hosts names no machine")
		}
		sources = append(sources, own...)
	}
	if v.Pool {
		sources = append(sources, remote.Pool)
	}
	if loop, isAgent, err := callingAgent(e); err != nil || isAgent {
		return nil, cmp.Or(err, agentMayNot(loop))
	}
	ctx, stop := remote.Interruptible()
	defer stop()
	all := remote.List(ctx, e, sources, v.Running, e.StdinIsTerminal())
	for _, of := range all {
		if of.Err != nil {
			err = cli.Exit(event.ExitFailed)
			cli.Report(e.Stderr, of.Err)
		}
	}
	return remote.Merge(all), err
}

func agentMayNot(loop registry.Entry) error {
	return cli.Refuse("a person does it in a terminal of their own; 'ralph ask' asks for it",
		"loops of other hosts are up to a person, and an agent of loop %s calls this", loop.Name)
}

// elsewhere are the sources of loops of other machines that a person sees without asking for them:
// the hosts of the settings, and the pool that this host is in. An agent sees none.
func elsewhere(e *cli.Env) []string {
	sources, _ := remote.Hosts(e) // what is wrong with the settings is said where a loop begins
	if remote.Joined(e) {
		sources = append(sources, remote.Pool)
	}
	if len(sources) > 0 {
		if _, isAgent, err := callingAgent(e); err != nil || isAgent {
			return nil
		}
	}
	return sources
}
