package provenance

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// A Loop is what a journal says of the work of one loop.
type Loop struct {
	ID, Name   string
	Dir        string // the loop's folder
	Root       string // of the work tree, as it was then; empty if there was no repository
	Iterations []*Iteration
	// ForkOf is the loop whose first iterations this journal begins with; nil for any other loop.
	ForkOf *Loop

	inner   string // the root of a repository inside of the project, which is read instead
	project string
	until   int // the first iteration that is not of ForkOf
	last    *Iteration
	agent   string
	head    string // of the last inspection at a begin
	clean   bool   // nothing was uncommitted then
}

// An Iteration is what one iteration did.
type Iteration struct {
	Loop    *Loop
	N       int
	Seq     event.Seq // of its iteration.started
	Agent   string
	Models  []string
	Prompt  event.Blob
	USD     *float64 // nil if it is not known
	Checks  []Check
	Refused []string // what was missing from its claim
	Began   time.Time
	Ended   time.Time // zero if it runs, or if its end is not recorded
	Before  Tree      // the work tree before it
	After   Tree      // the work tree after its checks
	Commits []Commit

	unpriced bool
}

// A Tree is a commit with the files of a work tree; its zero value is a tree that is not known.
type Tree struct {
	Commit string
	At     time.Time
	// Head says that nothing was uncommitted: the commit is HEAD itself. Else it is a kept work
	// tree, whose first parent is HEAD.
	Head bool
}

// A Commit is one that an iteration made.
type Commit struct {
	SHA   string
	Seq   event.Seq
	At    time.Time
	Agent bool // the agent made it, and not ralph
}

// A Check is a guardrail with its result.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
}

// Read reads the journal of a loop.
func Read(dir string) (*Loop, error) { return ReadIn(dir, "") }

// ReadIn is Read for a repository inside of the project, by the real path of its root, unless that
// is empty. No work tree of such a repository is kept.
func ReadIn(dir, root string) (*Loop, error) { return read(dir, root, journal.ReadOptions{}) }

func read(dir, inner string, o journal.ReadOptions) (*Loop, error) {
	l := &Loop{Name: filepath.Base(dir), Dir: dir, inner: inner}
	for e, err := range journal.Read(dir, o) {
		if err == nil {
			err = l.Apply(e)
		}
		if err != nil {
			return l, fmt.Errorf("read the journal of %s: %w", l.Name, err)
		}
	}
	return l, nil
}

// Apply folds one event. Types that say nothing about the work are not decoded.
func (l *Loop) Apply(e event.Event) error {
	switch e.Type {
	case event.TypeLoopStarted, event.TypeAgentReplaced, event.TypeRepoInspected, event.TypeIterationStarted:
	case event.TypeAgentStarted, event.TypeAgentUsed, event.TypeGuardrailEnded, event.TypeIterationChecked, event.TypeRepoCommitted,
		event.TypeCompletionRefused, event.TypeIterationEnded:
		if l.last == nil {
			return nil
		}
	default:
		return nil
	}
	p, err := event.Decode(e)
	if err != nil {
		return err
	}
	switch p := p.(type) {
	case event.LoopStarted:
		l.started(p)
	case event.AgentReplaced:
		l.agent = p.Name
	case event.RepoInspected:
		l.inspected(e, p)
	case event.IterationStarted:
		l.begin(e, p)
	default:
		l.last.apply(e, p)
	}
	return nil
}

func (l *Loop) started(p event.LoopStarted) {
	l.ID, l.Name, l.project = p.ID, p.Name, p.Project
	l.agent = p.Agent.Name
	if l.agent == "" {
		l.agent = p.Agent.Protocol
	}
	if p.ForkOf != nil {
		l.ForkOf, l.until = &Loop{ID: p.ForkOf.ID, Name: p.ForkOf.Name, Dir: p.ForkOf.Dir, inner: l.inner}, p.ForkOf.Iteration
	}
}

// inspected takes the repository around the project, which is inspected first, or the inner one.
func (l *Loop) inspected(e event.Event, p event.RepoInspected) {
	root := filepath.FromSlash(p.Root)
	if !filepath.IsAbs(root) {
		root = filepath.Join(l.project, root)
	}
	if !l.counts(root) {
		return
	}
	l.Root = root
	if p.When == event.MomentBegin {
		l.head, l.clean = p.Head, !p.Dirty
		return
	}
	i := l.last
	if i == nil {
		return
	}
	if !p.Dirty && p.Head != "" {
		i.After = Tree{p.Head, e.At, true}
	}
	for _, sha := range p.Made {
		i.Commits = append(i.Commits, Commit{SHA: sha, Seq: e.Seq, At: e.At, Agent: true})
	}
}

// counts reports whether a repository is the one that is read: that around the project, or the
// inner one.
func (l *Loop) counts(root string) bool {
	if l.inner != "" {
		real, err := filepath.EvalSymlinks(root)
		return err == nil && real == l.inner
	}
	inside, err := filepath.Rel(root, l.project)
	return err == nil && filepath.IsLocal(inside)
}

func (l *Loop) begin(e event.Event, p event.IterationStarted) {
	i := &Iteration{Loop: l, N: p.N, Seq: e.Seq, Agent: l.agent, Prompt: p.Prompt, Began: e.At}
	if l.ForkOf != nil && p.N < l.until {
		i.Loop = l.ForkOf
	}
	switch {
	case p.Snapshot != "" && l.inner == "":
		i.Before = Tree{p.Snapshot, e.At, false}
	case l.clean && l.head != "":
		i.Before = Tree{l.head, e.At, true}
	}
	l.head, l.clean = "", false
	i.Loop.Iterations, l.last = append(i.Loop.Iterations, i), i
}

func (i *Iteration) apply(e event.Event, p event.Payload) {
	switch p := p.(type) {
	case event.AgentStarted:
		if name, ok := strings.CutPrefix(e.By(), "agent:"); ok {
			i.Agent = name
		}
		i.unpriced = i.unpriced || !p.Costs
	case event.AgentUsed:
		if p.Model != "" && !slices.Contains(i.Models, p.Model) {
			i.Models = append(i.Models, p.Model)
		}
		if i.unpriced = i.unpriced || p.USD == nil; i.unpriced {
			i.USD = nil
			return
		}
		sum := *p.USD
		if i.USD != nil {
			sum += *i.USD
		}
		i.USD = &sum
	case event.GuardrailEnded:
		i.Checks = slices.DeleteFunc(i.Checks, func(c Check) bool { return c.Name == p.Name })
		i.Checks = append(i.Checks, Check{p.Name, p.OK})
	case event.IterationChecked:
		if p.Snapshot != "" && i.Loop.inner == "" {
			i.After = Tree{p.Snapshot, e.At, false}
		}
	case event.RepoCommitted:
		if p.SHA != "" {
			i.Commits = append(i.Commits, Commit{SHA: p.SHA, Seq: e.Seq, At: e.At})
		}
	case event.CompletionRefused:
		i.Refused = p.Missing
	case event.IterationEnded:
		i.Ended, i.USD = e.At, p.Usage.USD
	}
}

// mostReasons is how many refusals and failures [Iteration.Because] returns.
const mostReasons = 10

// Because returns the refusals and the failed checks of the iterations right before this one that
// led to it, the last one first.
func (i *Iteration) Because() (reasons []string) {
	all := i.Loop.Iterations
	at := slices.Index(all, i)
	for at--; at >= 0; at-- {
		before := len(reasons)
		for _, missing := range all[at].Refused {
			reasons = append(reasons, fmt.Sprintf("iteration %d: refused: %s", all[at].N, missing))
		}
		for _, c := range all[at].Checks {
			if !c.OK {
				reasons = append(reasons, fmt.Sprintf("iteration %d: failed: %s", all[at].N, c.Name))
			}
		}
		if len(reasons) == before || len(reasons) >= mostReasons {
			break
		}
	}
	return reasons[:min(len(reasons), mostReasons)]
}

// Current reads the open iteration from the last segment of a journal.
func Current(dir string) (*Iteration, error) {
	l, err := read(dir, "", journal.ReadOptions{FromCheckpoint: true})
	if l.last == nil {
		return &Iteration{Loop: l}, errors.Join(err, errors.New("its journal has no iteration"))
	}
	return l.last, err
}
