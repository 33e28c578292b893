package board

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Loader reads what the board shows, and remembers what does not change. Its methods may be called
// by several goroutines; one works at a time.
type Loader struct {
	env *cli.Env

	mu     sync.Mutex
	stale  map[string]registry.Status // loops without a runner whose state.json says nothing, by file
	facts  map[string]remembered      // by file
	before map[string]spentBefore     // by file
}

// remembered are facts, and the loop that they were read of.
type remembered struct {
	head  registry.Summary
	alive bool
	Facts
}

// NewLoader returns a loader of all loops of a person.
func NewLoader(e *cli.Env) *Loader {
	return &Loader{env: e, stale: map[string]registry.Status{}, facts: map[string]remembered{}, before: map[string]spentBefore{}}
}

// Load returns all loops, with the facts of those whose entries have these file names.
func (l *Loader) Load(files []string) (Snapshot, error) { return l.load(files, 0) }

// LoadFirst returns all loops, with the facts of so many at the beginning.
func (l *Loader) LoadFirst(n int) (Snapshot, error) { return l.load(nil, n) }

func (l *Loader) load(files []string, first int) (Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first > 0 {
		l.env.Adopt()
	}
	all, err := registry.Survey(l.env.Home, nil)
	if err != nil {
		return Snapshot{}, err
	}
	if pruned, err := registry.Prune(l.env.Home, all); err == nil && len(pruned) > 0 {
		all = slices.DeleteFunc(all, func(s registry.Status) bool {
			return s.Gone && slices.ContainsFunc(pruned, func(e registry.Entry) bool { return e.Dir == s.Dir })
		})
	}
	now := l.env.Now()
	call, root, home := l.env.NamesToType(all), l.env.Root(), l.env.Variable("HOME")
	loops := make([]Loop, 0, len(all))
	for _, s := range all {
		s = l.refreshed(s)
		loop := Loop{Status: s, Call: call(s), Here: s.Project == root, Path: tilde(s.Project, home), Today: l.today(s, now)}
		if s.Name == "" {
			loop.Call = strings.Trim(strings.TrimSuffix(s.File, ".json"), "-")
		}
		loops = append(loops, loop)
	}
	sortLoops(loops)
	l.addFacts(loops, files, first)
	return Snapshot{At: now, Loops: loops}, nil
}

// addFacts adds to loops what was asked for, and what is remembered of the others.
func (l *Loader) addFacts(loops []Loop, files []string, first int) {
	wanted := map[string]bool{}
	for _, file := range files {
		wanted[file] = true
	}
	marked := sync.OnceValue(func() map[string][]process.Stray {
		all, err := process.Marked()
		if err != nil {
			return nil // what is left is not known
		}
		return all
	})
	for i := range loops {
		s := loops[i].Status
		if i < first || wanted[s.File] {
			facts := l.factsOf(s, marked)
			loops[i].Facts = &facts
		} else if known, found := l.facts[s.File]; found && known.alive == s.Live.Alive && known.head.Status == s.Head.Status && known.head.Reason == s.Head.Reason && known.head.Questions == s.Head.Questions {
			loops[i].Facts = &known.Facts
		}
	}
}

// refreshed is cli.Refreshed, which reads the journal of a loop whose state.json says nothing. A
// loop without a runner is read once.
func (l *Loader) refreshed(s registry.Status) registry.Status {
	if s.Live.Alive || s.Head.Status != event.StatusUnknown {
		delete(l.stale, s.File)
		return cli.Refreshed(s)
	}
	if old, known := l.stale[s.File]; known && old.ID == s.ID && old.Gone == s.Gone {
		return old
	}
	s = cli.Refreshed(s)
	l.stale[s.File] = s
	return s
}

// factsOf reads the facts of a loop again if it has changed, and those of a loop that died each
// time. marked returns the processes of all loops.
func (l *Loader) factsOf(s registry.Status, marked func() map[string][]process.Stray) Facts {
	known, found := l.facts[s.File]
	if found && known.head.Seq == s.Head.Seq && known.head.At.Equal(s.Head.At) && known.alive == s.Live.Alive && !s.Died {
		return known.Facts
	}
	facts := readFacts(s, marked)
	l.facts[s.File] = remembered{s.Head, s.Live.Alive, facts}
	return facts
}

func readFacts(s registry.Status, marked func() map[string][]process.Stray) Facts {
	switch {
	case s.Err != nil:
		return Facts{Text: cli.Clean(s.Err.Error())}
	case s.Gone:
		return Facts{Text: "its folder is gone: " + render.Clean(s.Dir)}
	case s.Died:
		return factsOfDied(s, marked())
	case s.Live.Alive:
		return factsOfLive(s)
	}
	return factsOfEnded(s)
}

// factsOfDied says whether processes outlived the runner: they still work, and no journal records
// their work.
func factsOfDied(s registry.Status, marked map[string][]process.Stray) Facts {
	f := Facts{Text: "its runner died", Hint: "r resumes it"}
	if left := send.LeftOf(marked, s); len(left) > 0 {
		f = Facts{Text: "its runner died, and left " + send.SpellStrays(left), Hint: "r ends that and resumes the loop; 'ralph kill' only ends it"}
	}
	if loop, err := projector.Load(s.Dir); err == nil {
		v := loop.View()
		f.More, f.Raise = v.More, v.Raise
	}
	return f
}

// lastEvents is how much of a journal's end is read for what runs now. A tool that has printed more
// since it was called is not found; the state says then what the agent does.
const lastEvents = 200

// factsOfLive reads what a loop does, or waits for, and since when.
func factsOfLive(s registry.Status) Facts {
	events, _, err := journal.Last(s.Dir, lastEvents)
	if err != nil && len(events) == 0 {
		return Facts{Text: "its journal cannot be read: " + cli.Clean(err.Error())}
	}
	running := render.Running{Project: s.Project}
	var began time.Time // the wait or the pause
	for _, e := range events {
		running.Event(e)
		switch e.Type {
		case event.TypeLoopWaiting, event.TypeLoopPaused:
			began = e.At
		}
	}
	switch {
	case s.Head.Questions > 0 && (s.Head.Awaited > 0 || !listing.WaitsForPerson(s)):
		if asked := factsOfQuestion(s); asked.Question > 0 {
			if asked.Since = began; s.Head.Status == event.StatusRunning {
				asked.Since = time.Time{} // the state says how long the runner has worked
			}
			return asked
		}
	case listing.WaitsForPerson(s):
		return Facts{Text: cmp.Or(cli.Clean(listing.Question(s)), "it waits for you"), Since: began}
	case s.Head.Status == event.StatusPaused:
		return Facts{Text: "a person paused it", Hint: "p resumes it", Since: began}
	case s.Head.Status == event.StatusWaiting:
		return Facts{Since: began}
	}
	if what, since := running.Now(); what != "" {
		return Facts{Text: what, Since: since}
	}
	loop, err := projector.Load(s.Dir)
	if err != nil {
		return Facts{}
	}
	if v := loop.View(); v.Open {
		return Facts{Text: render.Clean(v.Doing)}
	}
	return Facts{}
}

// factsOfQuestion reads what a loop's agent asks: first what the loop waits for.
func factsOfQuestion(s registry.Status) Facts {
	open := listing.OpenQuestions(s)
	if len(open) == 0 {
		return Facts{} // it was answered meanwhile
	}
	q := open[max(slices.IndexFunc(open, func(q projector.Question) bool { return q.Number == s.Head.Awaited }), 0)]
	f := Facts{Text: string(render.CleanText(q.Text)), Question: q.Number}
	for _, choice := range q.Choices {
		f.Choices = append(f.Choices, render.Clean(choice))
	}
	if more := len(open) - 1; more > 0 {
		f.Hint = fmt.Sprintf("%s more: 'ralph answer %s' lists them", units.Quantity(more, "question"), s.Name)
	}
	return f
}

// blockedPrefix begins the reason of a loop that ended blocked; the agent's own words follow it.
const blockedPrefix = "the agent is blocked: "

// factsOfEnded reads why a loop ended.
func factsOfEnded(s registry.Status) Facts {
	loop, err := projector.Load(s.Dir)
	if err != nil {
		return Facts{Text: "its journal cannot be read: " + cli.Clean(err.Error())}
	}
	v := loop.View()
	if v.Ended == nil {
		return Facts{}
	}
	f := factsOfQuestion(s)
	if f.Question == 0 {
		why := v.Ended.Why
		if v.Ended.Reason == event.ReasonBlocked {
			why = strings.TrimPrefix(why, blockedPrefix)
		}
		f.Text, f.Hint = cli.Clean(why), render.Clean(v.Ended.Hint)
	}
	f.More, f.Raise = v.More, v.Raise
	return f
}

func tilde(path, home string) string {
	if home != "" && (path == home || strings.HasPrefix(path, home+string(filepath.Separator))) {
		return "~" + path[len(home):]
	}
	return path
}
