package otlp

import (
	"encoding/json"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// loop folds what concerns the loop: its runs, and what it waits for.
func (f *Fold) loop(e event.Event, p event.Payload) (ended []Span) {
	switch p := p.(type) {
	case event.SegmentOpened:
		if f.Loop == "" {
			f.restore(p)
		}
	case event.LoopStarted:
		f.Loop, f.Name, f.Began, f.Agent = p.ID, p.Name, p.TraceParent, p.Agent
		f.beginRun(e, p.Version, p.Host)
	case event.LoopResumed:
		if p.Agent != nil {
			f.Agent = *p.Agent
		}
		f.beginRun(e, p.Version, p.Host)
	case event.AgentReplaced:
		f.Agent = event.Agent{Name: p.Name}
	case event.LoopWaiting:
		ended = f.endWait(e.At)
		if f.Run != nil {
			f.Wait = f.begin(e, spanID(f.Loop, "event", uint64(e.Seq)), f.Run.ID, "wait "+string(p.For))
			f.Wait.text("ralph.wait.for", string(p.For))
			f.Wait.text("ralph.wait.why", f.content(p.Why))
		}
	case event.LoopWaited:
		return f.endWait(e.At)
	case event.LoopEnded:
		ended = append(f.cutIteration(), f.endWait(e.At)...)
		ended = append(ended, f.endRun(e.At, p)...)
	}
	return ended
}

// beginRun begins the span of a run. The first one is the parent of all others.
func (f *Fold) beginRun(e event.Event, version, host string) {
	f.Runs++
	parent := spanID(f.Loop, "run", 1)
	if f.Runs == 1 {
		outer, _ := ParseParent(f.Began)
		parent = outer.Span
	}
	s := f.begin(e, spanID(f.Loop, "run", uint64(f.Runs)), parent, "invoke_workflow "+f.Name)
	s.text("gen_ai.operation.name", "invoke_workflow")
	s.text("gen_ai.workflow.name", f.short(f.Name))
	s.text("ralph.loop.id", f.Loop)
	s.number("ralph.loop.run", int64(f.Runs))
	s.text("ralph.version", f.short(version))
	s.text("host.name", f.short(host))
	f.Run, f.Cost = s, nil
}

func (f *Fold) endWait(at time.Time) []Span {
	if f.Wait == nil {
		return nil
	}
	s := f.Wait.end(at)
	f.Wait = nil
	return []Span{s}
}

func (f *Fold) endRun(at time.Time, p event.LoopEnded) []Span {
	if f.Run == nil {
		return nil
	}
	s := f.Run
	f.Run = nil
	s.text("ralph.loop.status", string(p.Status))
	s.text("ralph.loop.reason", string(p.Reason))
	s.number("ralph.loop.iterations", int64(f.N))
	s.money("ralph.loop.cost_usd", f.Cost)
	if p.Status == event.StatusFailed {
		s.fail(string(p.Reason))
		s.Message = f.content(p.Why)
	}
	return []Span{s.end(at)}
}

// restore takes the loop from the checkpoint of a segment, where earlier segments are not there.
// The part of the run that they had is unknown, so its span begins here.
func (f *Fold) restore(p event.SegmentOpened) {
	var state struct {
		ID          string      `json:"id"`
		Name        string      `json:"name"`
		TraceParent string      `json:"traceParent"`
		Resumed     int         `json:"resumed"`
		Iteration   int         `json:"iteration"`
		Agent       event.Agent `json:"agent"`
		Started     time.Time   `json:"started"`
		Ended       *struct{}   `json:"ended"`
	}
	if json.Unmarshal(p.Checkpoint, &state) != nil || state.ID == "" {
		return
	}
	f.Loop, f.Name, f.Began, f.Agent, f.N = state.ID, state.Name, state.TraceParent, state.Agent, state.Iteration
	f.Runs = state.Resumed + 1
	if state.Ended == nil {
		f.Runs--
		f.beginRun(event.Event{At: f.At}, "", "")
		f.Run.yes("ralph.incomplete", true)
	}
}
