package report_test

import (
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/report"
)

// statementOf is the statement of a loop with these events.
func statementOf(t *testing.T, all ...event.Payload) (*report.Provenance, error) {
	t.Helper()
	dir := t.TempDir()
	rec, err := journal.Recover(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, rec, 0, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		d := event.Encode(p, "loop")
		d.Iter = 1
		if _, err := w.Append([]event.Draft{d}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(dir, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Statement(dir)
}

var begun = []event.Payload{
	event.LoopStarted{Name: "demo", ID: "01DEMO", Project: "/p/web"}, event.IterationStarted{N: 1}, event.GuardrailEnded{Name: "go test", OK: true},
}

func TestStatementNamesResult(t *testing.T) {
	inspected := func(head string, dirty bool, made ...string) event.RepoInspected {
		return event.RepoInspected{Root: ".", When: event.MomentEnd, Head: head, Dirty: dirty, Made: made}
	}
	for name, row := range map[string]struct {
		events []event.Payload
		want   []string // kind and digest
	}{
		"a commit of the agent":        {[]event.Payload{inspected("aa", false, "aa")}, []string{"gitCommit aa"}},
		"a commit of the loop":         {[]event.Payload{inspected("aa", true), event.RepoCommitted{SHA: "bb"}}, []string{"gitCommit bb"}},
		"a work tree":                  {[]event.Payload{inspected("aa", true), event.IterationChecked{Snapshot: "cc"}}, []string{"gitCommit cc"}},
		"a work tree that is not kept": {[]event.Payload{inspected("aa", true), event.IterationChecked{}}, nil},
		"another repository inside": {[]event.Payload{inspected("aa", false), event.RepoInspected{Root: "inside", When: event.MomentEnd, Head: "zz"}},
			[]string{"gitCommit aa"}},
		"a claimed tree": {[]event.Payload{inspected("aa", false), event.LoopEnded{Status: event.StatusCompleted,
			Strength: &event.Strength{Grade: event.GradeStrong, Claimed: "dd"}}}, []string{"gitCommit aa", "gitTree dd"}},
		"no repository": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := statementOf(t, append(append([]event.Payload{}, begun...), row.events...)...)
			if row.want == nil {
				if !errors.Is(err, report.ErrNoSubject) {
					t.Errorf("%+v, %v", p, err)
				}
				return
			}
			if err != nil || len(p.Subject) != len(row.want) {
				t.Fatalf("%+v, %v", p, err)
			}
			for i, s := range p.Subject {
				for kind, digest := range s.Digest {
					if kind+" "+digest != row.want[i] {
						t.Errorf("subject %d is %s %s, want %s", i, kind, digest, row.want[i])
					}
				}
			}
		})
	}
}

func TestStatementHasEvidence(t *testing.T) {
	p, err := statementOf(t, append(append([]event.Payload{}, begun...), event.RepoInspected{Root: ".", When: event.MomentEnd, Head: "aa", Made: []string{"aa"}},
		event.HoldoutChecked{Passed: 2, Failed: 1}, event.IterationEnded{N: 1, Outcome: event.OutcomeDone},
		event.ProofEnded{Strength: event.Strength{Grade: event.GradeFair}})...)
	if err != nil {
		t.Fatal(err)
	}
	about := p.Predicate
	if p.Type != report.StatementType || p.PredicateType != report.PredicateType || about.Loop.ID != "01DEMO" || about.Loop.USD != nil {
		t.Errorf("%+v", p)
	}
	if len(about.Iterations) != 1 || about.Iterations[0].Commits[0] != "aa" || !about.Iterations[0].Guardrails[0].OK {
		t.Errorf("iterations: %+v", about.Iterations)
	}
	if about.HeldOut == nil || *about.HeldOut != (event.Counted{Passed: 2, Failed: 1}) || about.Strength.Grade != event.GradeFair {
		t.Errorf("%+v, %+v", about.HeldOut, about.Strength)
	}
	if len(about.Journal) != 1 || len(about.Journal[0].SHA256) != 64 || !about.Journal[0].Sealed {
		t.Errorf("journal: %+v", about.Journal)
	}
}
