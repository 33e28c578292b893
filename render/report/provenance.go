package report

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Provenance is a statement about what a loop made, in the format of in-toto (Statement v1), for
// programs that check where software comes from. It is not signed.
type Provenance struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// The types of a statement and of its predicate. docs/guide/report.md describes the predicate.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/ralph-loop/ralph/provenance/v1"
)

// Subject is what a statement is about.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"` // gitCommit or gitTree
}

// Predicate is what is said of it.
type Predicate struct {
	Loop       LoopRun         `json:"loop"`
	Agents     []string        `json:"agents"`
	Models     []string        `json:"models"`
	Iterations []IterationRun  `json:"iterations"`
	Guardrails []GuardrailRun  `json:"guardrails"`
	HeldOut    *event.Counted  `json:"heldOut,omitempty"`
	Strength   *event.Strength `json:"strength,omitempty"`
	Journal    []Segment       `json:"journal"`
	// Missing counts iterations that the journal no longer has.
	Missing int `json:"missing,omitempty"`
}

// LoopRun is the loop of a statement.
type LoopRun struct {
	Name    string       `json:"name"`
	ID      string       `json:"id"`
	Version string       `json:"version,omitempty"` // of the ralph that began it
	Status  event.Status `json:"status"`
	Reason  event.Reason `json:"reason,omitempty"`
	Started time.Time    `json:"started"`
	Ended   *time.Time   `json:"ended,omitempty"`
	USD     *float64     `json:"usd"` // null if it is not known
}

// IterationRun is one iteration of a statement.
type IterationRun struct {
	N          int            `json:"n"`
	Seq        event.Seq      `json:"seq"` // of its iteration.started
	Agent      string         `json:"agent,omitempty"`
	Models     []string       `json:"models,omitempty"`
	Outcome    event.Outcome  `json:"outcome,omitempty"`
	USD        *float64       `json:"usd"`
	Commits    []string       `json:"commits,omitempty"`
	Guardrails []GuardrailRun `json:"guardrails,omitempty"`
	Refused    []string       `json:"refused,omitempty"`
}

// GuardrailRun is a guardrail with the result of its last run.
type GuardrailRun struct {
	Command   string `json:"command"`
	OK        bool   `json:"ok"`
	Iteration int    `json:"iteration,omitempty"`
}

// Segment is a file of the journal. The hash is that of its lines before the seal.
type Segment struct {
	Name   string    `json:"name"`
	Events int       `json:"events"`
	Last   event.Seq `json:"lastSeq"`
	SHA256 string    `json:"sha256"`
	Sealed bool      `json:"sealed"`
}

// ErrNoSubject reports a loop whose result git does not have.
var ErrNoSubject = errors.New("git has nothing of what the loop made")

// result is what events say of the result of a loop.
type result struct {
	head, kept string
	dirty      bool
	root       string // of the repository that was inspected first
	heldOut    *event.Counted
	strength   *event.Strength
	made       map[int][]string // commits of the agent, by iteration
}

func (s *result) apply(e event.Event) error {
	switch e.Type {
	case event.TypeRepoInspected, event.TypeRepoCommitted, event.TypeIterationChecked, event.TypeHoldoutChecked, event.TypeProofEnded, event.TypeLoopEnded:
	default:
		return nil
	}
	p, err := event.Decode(e)
	if err != nil {
		return err
	}
	switch p := p.(type) {
	case event.RepoInspected:
		if s.root == "" {
			s.root = p.Root
		}
		s.made[e.Iter] = append(s.made[e.Iter], p.Made...)
		if p.Root == s.root {
			s.head, s.dirty, s.kept = p.Head, p.Dirty, ""
		}
	case event.RepoCommitted:
		s.head, s.dirty, s.kept = p.SHA, false, ""
	case event.IterationChecked:
		s.kept = p.Snapshot
	case event.HoldoutChecked:
		if p.Error == "" {
			s.heldOut = &event.Counted{Passed: p.Passed, Failed: p.Failed}
		}
	case event.ProofEnded:
		if p.Error == "" {
			s.strength = &p.Strength
		}
	case event.LoopEnded:
		if p.Strength != nil {
			s.strength = p.Strength
		}
	}
	return nil
}

// subjects name the result: the commit, the commit that keeps what is not committed, and the tree
// that was claimed to be done.
func (s *result) subjects(name string) (all []Subject) {
	add := func(name, kind, digest string) {
		if digest != "" {
			all = append(all, Subject{name, map[string]string{kind: digest}})
		}
	}
	switch {
	case s.kept != "":
		add(name+" (work tree)", "gitCommit", s.kept)
	case !s.dirty:
		add(name, "gitCommit", s.head)
	}
	if s.strength != nil {
		add(name, "gitTree", s.strength.Claimed)
	}
	return all
}

// Statement says where what a loop made comes from. dir is the loop's folder.
func (r *Report) Statement(dir string) (*Provenance, error) {
	found := result{made: map[int][]string{}}
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err == nil {
			err = found.apply(e)
		}
		if err != nil {
			return nil, err
		}
	}
	p := &Provenance{Type: StatementType, PredicateType: PredicateType, Subject: found.subjects(path.Base(filepath.ToSlash(r.Project)))}
	if len(p.Subject) == 0 {
		return nil, ErrNoSubject
	}
	about := &p.Predicate
	*about = Predicate{
		Loop:   LoopRun{Name: r.Name, ID: r.ID, Version: r.Version, Status: r.Status, Reason: r.Reason, Started: r.Started, USD: r.Used.USD},
		Agents: r.Agents, Models: []string{}, Iterations: []IterationRun{}, Guardrails: []GuardrailRun{}, Journal: []Segment{},
		HeldOut: found.heldOut, Strength: found.strength, Missing: r.Missing,
	}
	if r.Used.USDAtLeast {
		about.Loop.USD = nil
	}
	if !r.Ended.IsZero() {
		about.Loop.Ended = &r.Ended
	}
	for _, i := range r.Done {
		about.add(i, found.made[i.N])
	}
	for _, c := range r.Checks {
		about.Guardrails = append(about.Guardrails, GuardrailRun{c.Name, c.OK, c.Iteration})
	}
	err := journal.Verify(dir, func(s journal.SegmentReport) {
		about.Journal = append(about.Journal, Segment{s.Name, s.Events, s.LastSeq, s.SHA256, s.Sealed})
	})
	return p, err
}

func (p *Predicate) add(i Iteration, made []string) {
	run := IterationRun{N: i.N, Seq: i.First, Agent: i.Agent, Models: i.Models, Outcome: i.Outcome, USD: i.Used.USD, Commits: made, Refused: i.Refused}
	if i.Used.USDAtLeast {
		run.USD = nil
	}
	for _, model := range i.Models {
		if !slices.Contains(p.Models, model) {
			p.Models = append(p.Models, model)
		}
	}
	for _, c := range i.Commits {
		run.Commits = append(run.Commits, c.SHA)
	}
	for _, c := range i.Checks {
		run.Guardrails = append(run.Guardrails, GuardrailRun{Command: c.Name, OK: c.OK})
	}
	p.Iterations = append(p.Iterations, run)
}
