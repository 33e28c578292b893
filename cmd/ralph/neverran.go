package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// A loop whose agent never ran, because its name was mistyped, say, has nothing that is worth a name: it leaves nothing, and where
// its starter could not see to that, its name is free all the same.

// agentRan reports whether a loop's agent ran, or may have: its start was decided last, and the runner said no more.
func agentRan(dir string) (ran, perhaps bool, err error) {
	first, starting := true, false
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			return true, true, err
		}
		switch {
		case first && e.Seq > 1: // what came before is gone
			return true, true, nil
		case e.Type == event.TypeAgentStarted:
			return true, true, nil
		case e.Type == event.TypeDecided:
			p, err := event.As[event.Decided](e)
			if err != nil {
				return true, true, err
			}
			starting = starting || p.Do == event.DoStart
		case e.Type == event.TypeEffectFailed:
			p, err := event.As[event.EffectFailed](e)
			if err != nil {
				return true, true, err
			}
			starting = starting && p.Do != event.DoStart
		}
		first = false
	}
	return false, starting, nil
}

// settle finds out what is to become of a loop that has ended and whose name a new one is to have: an error, or one of the
// flags is set as if it had been given.
func (v *startVerb) settle(e *env, before standing) error {
	_, ran, err := agentRan(v.dir)
	if err != nil {
		return err
	}
	completed := before.state.Status() == event.StatusCompleted
	prompted := v.Prompt != "" || v.PromptFile != "" || v.Task != ""
	switch exists := runner.Exists(v.Name, &before.state); {
	case !ran && !completed:
		v.Fresh = true
		return nil
	case e.typed() && onTerminal(e.stderr) && !v.JSON:
		return v.ask(e, exists, prompted)
	case completed && prompted:
		v.Fresh = true
		return nil
	default:
		return taken(exists)
	}
}

// ask has a person say what is to become of an ended loop.
func (v *startVerb) ask(e *env, exists *runner.ExistsError, prompted bool) error {
	asker := newAsker(e.stdin, e.stderr)
	defer asker.close()
	tell(e.stderr, "%v", exists)
	label := "(r)esume it, or enter to leave: "
	if prompted {
		label = "(r)esume it with its own prompt, archive it and begin (f)resh, another (n)ame, or enter to leave: "
	}
	for {
		answer, err := asker.line(label)
		if err != nil {
			fmt.Fprintln(e.stderr)
			return exit(event.ExitInterrupted)
		}
		switch answer = strings.ToLower(answer); {
		case answer == "":
			return taken(exists)
		case answer == "r" || answer == "resume":
			v.Resume, v.Prompt, v.PromptFile, v.Task = true, "", "", ""
			return nil
		case prompted && (answer == "f" || answer == "fresh"):
			v.Fresh = true
			return nil
		case prompted && (answer == "n" || answer == "name"):
			return v.another(e, asker)
		}
	}
}

// another has a person give the new loop another name.
func (v *startVerb) another(e *env, asker *asker) error {
	for {
		name, err := asker.line("Name: ")
		if err != nil {
			fmt.Fprintln(e.stderr)
			return exit(event.ExitInterrupted)
		}
		dir, err := e.loopDir(name)
		if err == nil {
			v.Name, v.dir = name, dir
			return nil
		}
		asker.say("%v", err)
	}
}

// clear leaves nothing of a new loop that failed before its agent ran, or that its runner did not begin, but what was in its folder before it. A fault of ralph's own
// stays, for the report of it, and so does a loop that a person or a limit stopped meanwhile. cleared says that the loop is gone.
func (v *startVerb) clear(e *env, r readiness) (cleared bool) {
	switch {
	case v.Resume, r.Ended == nil && r.Error == "":
		return false
	case r.Ended != nil && (r.Ended.Reason == event.ReasonFault || r.Ended.Status != event.StatusFailed):
		return false
	}
	if _, err := e.lookAt(v.Name, v.dir); err != nil { // until its runner has left
		return false
	}
	var aside string
	err := holding(v.dir, func() error {
		switch there := exists(filepath.Join(v.dir, "journal")); {
		case !there && r.Ended != nil:
			return goneOn(v.Name) // it was taken away, and nobody knows what stood there
		case there: // another starter may have begun one in its place since
			state, err := projector.Open(v.dir)
			if err != nil || state.Begun() && state.Life.PID != r.PID {
				return errors.Join(err, goneOn(v.Name))
			}
			// A runner that says that it could not begin has started nothing that it had decided on.
			ran, perhaps, err := agentRan(v.dir)
			if err != nil || ran || perhaps && r.Error == "" {
				return errors.Join(err, goneOn(v.Name))
			}
		}
		if err := registry.Remove(e.home, e.root(), v.Name); err != nil {
			return err
		}
		if len(v.found) > 0 {
			return removeBut(v.dir, v.found)
		}
		var err error
		aside, err = e.moveAside(v.Name, v.dir)
		return err
	})
	switch {
	case errors.Is(err, registry.ErrNoFolder): // another one has done it
		return true
	case err != nil:
		return false
	}
	if aside != "" {
		_ = os.RemoveAll(aside)            // what cannot be removed is an archived loop
		_ = os.Remove(filepath.Dir(aside)) // unless others stand there
	}
	return true
}

// removeBut removes a loop's files but some. The journal goes first: without it there is no loop, whatever else is left.
func removeBut(dir string, keep []string) error {
	names, err := namesIn(dir)
	err = errors.Join(err, os.RemoveAll(filepath.Join(dir, "journal")))
	for _, name := range names {
		if !slices.Contains(keep, name) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return err
}

// namesIn returns what stands in a folder, but for the lock of the loop there, which is never removed alone.
func namesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var names []string
	for _, entry := range entries {
		if entry.Name() != "run.lock" {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// clearedHint is the next step where nothing is left of a loop.
func clearedHint(ended *event.LoopEnded) string {
	if ended.Hint != "" {
		return ended.Hint
	}
	return "put that right and start it again: its agent never ran, and nothing of it was kept"
}
