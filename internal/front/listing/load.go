package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
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
	// Distant are the loops of other machines as they were last; nil without any. A view of them is
	// complete: no file is read.
	Distant func() []*projector.View

	mu     sync.Mutex
	stale  map[string]*projector.View // loops without a runner whose state.json says nothing, by file
	facts  map[string]remembered      // by file
	before map[string]spentBefore     // by file
}

// remembered are facts, and the loop that they were read of.
type remembered struct {
	of *projector.View
	Facts
}

// NewLoader returns a loader of all loops of a person.
func NewLoader(e *cli.Env) *Loader {
	return &Loader{env: e, stale: map[string]*projector.View{}, facts: map[string]remembered{}, before: map[string]spentBefore{}}
}

// Load returns all loops, with the facts of those whose entries have these file names.
func (l *Loader) Load(files []string) (Snapshot, error) { return l.load(files, 0) }

// LoadFirst returns all loops, with the facts of so many at the beginning.
func (l *Loader) LoadFirst(n int) (Snapshot, error) { return l.load(nil, n) }

func (l *Loader) load(files []string, first int) (Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first > 0 {
		_ = l.env.Adopt() // a board shows what is registered
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
		v := l.brief(s)
		if v.Call = call(s); s.Name == "" {
			v.Call = strings.Trim(strings.TrimSuffix(s.File, ".json"), "-")
		}
		loops = append(loops, Loop{View: v, Here: s.Project == root, Path: Tilde(s.Project, home), Today: l.today(v, now)})
	}
	if l.Distant != nil {
		for _, v := range l.Distant() {
			facts := factsOfDistant(v)
			loops = append(loops, Loop{View: v, Path: v.Remote + ":" + v.Project, Facts: &facts})
		}
	}
	SortLoops(loops)
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
		v := loops[i].View
		if v.Remote != "" {
			continue
		}
		if i < first || wanted[v.Found.File] {
			facts := l.factsOf(v, marked)
			loops[i].Facts = &facts
		} else if known, found := l.facts[v.Found.File]; found && alike(v, known.of) {
			loops[i].Facts = &known.Facts
		}
	}
}

// alike reports whether what is known of a loop may still be shown.
func alike(a, b *projector.View) bool {
	return a.Alive == b.Alive && a.State == b.State && a.Reason == b.Reason && a.Summary.Questions == b.Summary.Questions
}

// brief is [projector.Brief], which reads the journal of a loop whose state.json says nothing. A
// loop without a runner is read once.
func (l *Loader) brief(s registry.Status) *projector.View {
	if s.Live.Alive || s.Head.Status != event.StatusUnknown {
		delete(l.stale, s.File)
		return projector.Brief(s)
	}
	old, known := l.stale[s.File]
	if !known || old.Found.ID != s.ID || old.Gone != s.Gone {
		old = projector.Brief(s)
		l.stale[s.File] = old
	}
	v := *old // what was returned before may be read at the same time
	return &v
}

// factsOf reads the facts of a loop again if it has changed, and those of a loop that died each
// time. marked returns the processes of all loops.
func (l *Loader) factsOf(v *projector.View, marked func() map[string][]process.Stray) Facts {
	known, found := l.facts[v.Found.File]
	if found && known.of.Seq == v.Seq && known.of.At.Equal(v.At) && known.of.Alive == v.Alive && !v.Died {
		return known.Facts
	}
	facts := readFacts(v, marked)
	l.facts[v.Found.File] = remembered{v, facts}
	return facts
}

func readFacts(v *projector.View, marked func() map[string][]process.Stray) Facts {
	switch {
	case v.Error != "":
		return Facts{Text: v.Error}
	case v.Gone:
		return Facts{Text: "its folder is gone: " + render.Clean(v.Dir)}
	}
	if v.Alive {
		return factsOfLive(v)
	}
	now, err := projector.Read(v.Found)
	switch {
	case v.Died:
		f := factsOfDied(v, marked())
		f.Resumption = now.Resumption
		return f
	case err != nil:
		return Facts{Text: "its journal cannot be read: " + cli.Clean(err.Error())}
	case now.Ended == nil:
		return Facts{}
	}
	return factsOfEnded(now)
}

// factsOfDied says whether processes outlived the runner: they still work, and no journal records
// their work.
func factsOfDied(v *projector.View, marked map[string][]process.Stray) Facts {
	if left := send.LeftOf(marked, v.Found); len(left) > 0 {
		return Facts{Text: "its runner died, and left " + send.SpellStrays(left), Hint: "r ends that and resumes the loop; 'ralph kill' only ends it"}
	}
	return Facts{Text: "its runner died", Hint: "r resumes it"}
}

// lastEvents is how much of a journal's end is read for what runs now. A tool that has printed more
// since it was called is not found; the state says then what the agent does.
const lastEvents = 200

// factsOfLive reads what a loop does, or waits for, and since when: no more than it needs.
func factsOfLive(v *projector.View) Facts {
	events, _, err := journal.Last(v.Dir, lastEvents)
	if err != nil && len(events) == 0 {
		return Facts{Text: "its journal cannot be read: " + cli.Clean(err.Error())}
	}
	running := render.Running{Project: v.Project}
	var began time.Time // the wait or the pause
	for _, e := range events {
		running.Event(e)
		switch e.Type {
		case event.TypeLoopWaiting, event.TypeLoopPaused:
			began = e.At
		}
	}
	if v.Summary.Questions > 0 && (v.Awaited > 0 || !v.WaitsForPerson()) {
		now, _ := projector.Read(v.Found) // without the question, the state is shown
		if asked := factsOfQuestion(now); asked.Asked.Number > 0 {
			if v.Status != event.StatusRunning { // else the state says how long the runner has worked
				asked.Since = began
			}
			return asked
		}
	}
	switch {
	case v.WaitsForPerson():
		return Facts{Text: cmp.Or(v.Question, "it waits for you"), Since: began}
	case v.Status == event.StatusPaused:
		return Facts{Text: "a person paused it", Hint: "p resumes it", Since: began}
	case v.Status == event.StatusWaiting:
		return Facts{Since: began}
	}
	if what, since := running.Now(); what != "" {
		return Facts{Text: what, Since: since}
	}
	if now, err := projector.Read(v.Found); err == nil && now.Open {
		return Facts{Text: now.Doing}
	}
	return Facts{}
}

// factsOfQuestion are what a loop's agent asks: first what the loop waits for.
func factsOfQuestion(v *projector.View) Facts {
	open := v.OpenQuestions()
	if len(open) == 0 {
		return Facts{}
	}
	q := open[max(slices.IndexFunc(open, func(q projector.Question) bool { return q.Number == v.Awaited }), 0)]
	q.Choices = slices.Clone(q.Choices) // others may read the view
	for i := range q.Choices {
		q.Choices[i] = render.Clean(q.Choices[i]) // one line each
	}
	f := Facts{Text: q.Text, Asked: q}
	if more := len(open) - 1; more > 0 {
		f.Hint = fmt.Sprintf("%s more: 'ralph answer %s' lists them", units.Quantity(more, "question"), v.Name)
	}
	return f
}

// factsOfDistant are what is known of a loop of another machine. How its questions are listed there
// is not known here.
func factsOfDistant(v *projector.View) Facts {
	f := factsOfQuestion(v)
	switch f.Hint = ""; {
	case f.Asked.Number > 0:
	case v.Ended != nil:
		f.Text = v.Ended.Why
	default:
		f.Text = cmp.Or(v.Question, v.Doing, v.NextStep)
	}
	return f
}

// blockedPrefix begins the reason of a loop that ended blocked; the agent's own words follow it.
const blockedPrefix = "the agent is blocked: "

// factsOfEnded are why a loop ended.
func factsOfEnded(v *projector.View) Facts {
	f := factsOfQuestion(v)
	if f.Asked.Number == 0 {
		f.Text, f.Hint = v.Ended.Why, render.Clean(v.Ended.Hint)
		if v.Ended.Reason == event.ReasonBlocked {
			f.Text = strings.TrimPrefix(f.Text, blockedPrefix)
		}
	}
	f.Resumption = v.Resumption
	return f
}
