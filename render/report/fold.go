package report

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
	"github.com/ralph-loop/ralph/render/transcript"
)

// Options say what is counted.
type Options struct {
	Location *time.Location // of days; nil is the system's
	Since    time.Time      // days have what was used since then; zero is all
}

// Fold makes a report of events. It belongs to one goroutine.
type Fold struct {
	opt    Options
	report Report
	dir    string // the loop's folder
	loop   projector.Loop

	at      time.Time // of the last event
	open    *Iteration
	waiting string    // for what, in words; empty if it does not wait
	since   time.Time // of the wait
	worker  string    // the agent that works, if the loop has several
	agent   string    // the agent, if it has one
	story   string    // of the next iteration
	begins  map[string]event.RepoInspected
	away    map[string]string            // of Report.Away, by the roots
	edits   map[string][]transcript.Edit // of tools that have not returned, by their calls
	files   map[string]int               // of Report.Files
	calls   map[string]string
	checks  map[string]int
	tools   map[string]int

	unpriced bool // the price of the last usage is yet to come
	day      int  // of Report.Days, to which it was added; -1 for none
}

// Bounds of what is kept for a loop or an iteration.
const (
	callsKept    = 1024
	toolsKept    = 200
	problemsKept = 20
	checksKept   = 200
	daysKept     = 5000
	outputKept   = 4 << 10
	lineKept     = 300
	filesKept    = 500
	reposKept    = 256
)

// New returns a fold of no events.
func New(o Options) *Fold {
	if o.Location == nil {
		o.Location = time.Local
	}
	empty := Report{Agents: []string{}, Needs: []Need{}, Waits: []Waited{}, Done: []Iteration{}, Days: []Day{}, Tools: []ToolUse{}, Checks: []Check{}}
	return &Fold{opt: o, report: empty, calls: map[string]string{}, checks: map[string]int{}, tools: map[string]int{},
		begins: map[string]event.RepoInspected{}, away: map[string]string{}, edits: map[string][]transcript.Edit{}, files: map[string]int{}}
}

// Read returns the report of the loop in a folder. A journal that is damaged gives the report up to
// the damage, which the report says.
func Read(dir string, o Options) (*Report, error) {
	f := New(o)
	var damage error
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err == nil {
			err = f.Add(e)
		}
		if err != nil {
			damage = err
			break
		}
	}
	r := f.Report()
	if damage != nil {
		var corrupt *journal.CorruptError
		var unreadable *event.DecodeError
		if !errors.As(damage, &corrupt) && !errors.As(damage, &unreadable) {
			return r, damage
		}
		r.Damage = render.Clean(damage.Error())
		r.Used.TokensAtLeast, r.Used.USDAtLeast = true, true
	}
	if gone, err := journal.DroppedFrom(dir); err == nil {
		r.Missing = gone.Through
	}
	return r, nil
}

// Add takes in the next event. The error is of an event that cannot be read; the report is of the
// events before it then.
func (f *Fold) Add(e event.Event) error {
	if err := f.loop.Fold(e); err != nil {
		return err
	}
	r := &f.report
	if r.Started.IsZero() {
		r.Started = e.At
	}
	f.at, r.At, r.Last = e.At, e.At, e.Seq
	if f.open != nil {
		f.open.Bytes += int64(len(e.Line()) - len(e.Raw()))
		f.open.Last = e.Seq
	}
	switch e.Type {
	case event.TypeAgentSaid, event.TypeAgentThought, event.TypeToolProgressed, event.TypeSegmentOpened, event.TypeSegmentSealed, event.TypeDecided:
		return nil // most of a journal, and nothing that is counted here
	case event.TypeToolReturned:
		f.toolReturned(e)
		return nil
	}
	p, err := event.Decode(e)
	if err != nil {
		return err
	}
	if p == nil {
		f.ofNewer(e)
		return nil
	}
	f.ofLoop(e, p)
	f.ofAgent(e, p)
	f.ofVerification(e, p)
	f.ofStories(p)
	return nil
}

// ofNewer counts an event that a newer ralph wrote.
func (f *Fold) ofNewer(e event.Event) {
	if f.report.Newer == nil {
		f.report.Newer = &render.Newer{}
	}
	f.report.Newer.Add(e.Type)
}

// ofLoop takes in the beginning and the end of the loop, its iterations and its waits.
func (f *Fold) ofLoop(e event.Event, p event.Payload) {
	r := &f.report
	switch p := p.(type) {
	case event.LoopStarted:
		f.dir = p.Dir
		f.started(p)
	case event.LoopResumed:
		f.endWait(e.At)
		r.Ended = time.Time{}
		if p.Rules != nil {
			f.worker = render.Clean(phrase.First(p.Rules.Agents))
		}
		r.Project = cmp.Or(render.Clean(p.Project), r.Project)
		if p.Task != nil {
			r.Task = taskOf(*p.Task)
		}
	case event.LoopEnded:
		r.Ended = e.At
		f.wait("not running", e.At)
	case event.LoopPaused:
		f.wait("paused", e.At)
	case event.LoopUnpaused, event.LoopWaited:
		f.endWait(e.At)
	case event.LoopWaiting:
		f.wait(p.For.String(), e.At)
	case event.AgentReplaced:
		f.worker = render.Clean(p.Name)
	case event.IterationStarted:
		f.endWait(e.At)
		f.open = &Iteration{N: p.N, First: e.Seq, Last: e.Seq, Started: e.At, Bytes: int64(len(e.Line()))}
		if f.report.Plan != nil {
			f.open.Mode, f.open.Story, f.story = event.StoryMode(render.Clean(p.Mode)), f.story, ""
		}
	case event.IterationEnded:
		f.iterationEnded(e, p)
	}
}

func (f *Fold) started(p event.LoopStarted) {
	r := &f.report
	r.Name, r.ID, r.Project = render.Clean(p.Name), render.Clean(p.ID), render.Clean(p.Project)
	r.Host, r.Version = render.Clean(p.Host), render.Clean(p.Version)
	r.Task = taskOf(p.Task)
	f.agent = render.Clean(cmp.Or(p.Agent.Name, p.Agent.Protocol))
	f.worker = render.Clean(phrase.First(p.Rules.Agents))
}

func taskOf(s event.Source) string {
	if s.Text != nil {
		return line(s.Text.Text)
	}
	return line("the file " + s.File)
}

// wait begins a time that is no iteration. What was waited for before ends.
func (f *Fold) wait(what string, at time.Time) {
	f.endWait(at)
	f.waiting, f.since = what, at
}

func (f *Fold) endWait(at time.Time) {
	if f.waiting == "" {
		return
	}
	what := f.waiting
	f.waiting = ""
	r := &f.report
	i := slices.IndexFunc(r.Waits, func(w Waited) bool { return w.For == what })
	if i < 0 {
		i = len(r.Waits)
		r.Waits = append(r.Waits, Waited{For: what})
	}
	r.Waits[i].Times++
	r.Waits[i].Took += max(0, at.Sub(f.since).Milliseconds())
}

// iterationEnded keeps the iteration with what the state knows of it.
func (f *Fold) iterationEnded(e event.Event, p event.IterationEnded) {
	f.unknownPrice()
	i := f.open
	if f.open = nil; i == nil {
		i = &Iteration{N: p.N, First: e.Seq, Started: e.At}
	}
	i.Last, i.Took, i.Outcome, i.Error = e.Seq, p.Took, word(p.Outcome), line(p.Error)
	i.Tools, i.Refunded, i.Progress = p.Tools, p.Refunded, word(p.Progress)
	i.Used.TokensAtLeast = i.Used.TokensAtLeast || p.Usage.TokensUnknown
	i.Used.USDAtLeast = i.Used.USDAtLeast || p.Usage.USD == nil && (p.Usage.TokensUnknown || p.Usage.Tokens() > 0)
	v := f.loop.View()
	i.Ticked = v.Ticked
	if last := v.Last; last != nil && last.N == p.N {
		i.Agent, i.Failed, i.Turns, i.Retries = render.Clean(last.Agent), last.ToolsFailed, last.Turns, last.Retries
		i.Summary, i.Claimed, i.Unkept = text(last.Summary), word(last.Claimed), line(last.Unkept)
		for _, missing := range last.Refused {
			i.Refused = append(i.Refused, line(missing))
		}
	}
	if f.report.Plan != nil {
		f.report.Plan.spent(i, cmp.Or(i.Agent, f.worker))
	}
	f.report.Active += i.Took
	f.progressed(i, e.At)
	f.report.Done = append(f.report.Done, *i)
}

// progressed notes whether an iteration changed anything.
func (f *Fold) progressed(i *Iteration, at time.Time) {
	u := &f.report.Useful
	u.Known = u.Known || i.Progress != ""
	if i.Progress == event.ProgressYes {
		*u = Useful{Known: true, Iteration: i.N, At: at}
		return
	}
	u.After++
	u.Took += i.Took
	u.Used.add(i.Used)
}

// Report returns the report of the events so far. The fold must not be used after that.
func (f *Fold) Report() *Report {
	r := &f.report
	v := f.loop.View()
	f.unknownPrice()
	if f.open != nil {
		f.open.Took = max(0, r.At.Sub(f.open.Started).Milliseconds())
		f.open.Agent = f.worker
		r.Active += f.open.Took
		r.Open = f.open
		if r.Plan != nil {
			r.Plan.spent(f.open, f.worker)
		}
	}
	if r.waits = f.waiting; f.waiting != "not running" {
		f.endWait(r.At)
	}
	r.Wall = max(0, r.At.Sub(r.Started).Milliseconds())
	if r.Name == "" {
		r.Name, r.Project = render.Clean(v.Name), render.Clean(v.Project)
	}
	if len(v.Agents) > 0 {
		working, reviewing := phrase.Roles(event.LoopStarted{Rules: event.Rules{Agents: v.Agents, Reviewers: v.Reviewers}})
		r.Agents, r.Reviewers = lines(working), lines(reviewing)
	}
	r.Status, r.Reason, r.Waiting, r.Doing = word(v.Status), "", text(v.Waiting), v.Doing
	if !v.Open {
		r.Doing = ""
	}
	if v.Ended != nil {
		r.Reason, r.Why, r.Hint = word(v.Ended.Reason), text(v.Ended.Why), text(v.Ended.Hint)
		r.Changed, r.Strength = (*Changes)(v.Ended.Changed), v.Ended.Strength
	}
	if v.PullRequest != nil {
		r.Published = lines(v.PullRequest.Lines())
	}
	for _, root := range slices.Sorted(maps.Keys(f.away)) {
		r.Away = append(r.Away, line("repository "+root+": "+f.away[root]))
	}
	r.Maximum, r.Begun, r.Refunded = v.MaximumIterations, v.Begun, v.Refunded
	r.Ticked, r.Boxes = v.Ticked, v.Boxes
	if r.Plan != nil {
		r.Plan.Total, r.Plan.Done = v.Stories, v.StoriesDone
	}
	r.Used = total(v)
	if f.open != nil {
		r.Used.add(f.open.Used)
	}
	for _, edited := range v.Edited {
		edited.Path = render.Clean(edited.Path)
		r.Edited = append(r.Edited, edited)
	}
	r.awaited = v.Awaited
	for _, q := range v.Questions {
		if q.Open() {
			r.Questions = append(r.Questions, event.OpenQuestion{Number: q.Number, Text: text(q.Text), Blocks: q.Blocks})
		}
	}
	for _, c := range v.Commands {
		p := c.CommandReceived
		p.Kind, p.From, p.Text, p.Key, p.Val = word(p.Kind), render.Clean(p.From), text(p.Text), render.Clean(p.Key), render.Clean(p.Val)
		r.Pending = append(r.Pending, p)
	}
	slices.SortStableFunc(r.Tools, func(a, b ToolUse) int { return b.Times - a.Times })
	return r
}

// total is the usage of all iterations that ended, also of those that the journal no longer has.
func total(v projector.View) Amount {
	return Amount{
		In: v.Used.In, Out: v.Used.Out, CacheRead: v.Used.CacheRead, CacheWrite: v.Used.CacheWrite,
		TokensAtLeast: v.TokensUnknown, USD: v.Used.USD, USDAtLeast: v.CostUnknown,
	}
}
