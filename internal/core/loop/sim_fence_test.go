package loop_test

import (
	"math/rand/v2"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal/event"
)

// The fences of the fourteenth edition: another host of a pool may have the loop at any moment, and
// a runner may find that its own host has it from another.

const (
	// After loop.fenced nothing is done, and nothing but the end is recorded. Before it, nothing is
	// decided once its command is in the journal.
	fencesHold = "a fenced loop does nothing"
	// loop.moved is recorded once for each epoch.
	movedOnce = "a take-over is recorded once"
)

// fencing draws a scenario of the fourteenth edition.
func fencing(seed uint64) scenario {
	s := sized(seed)
	r := rand.New(rand.NewPCG(seed, 14))
	s.edition = 14
	s.fences, s.claimed = []int{0, 1, 5, 15}[r.IntN(4)], []int{0, 30}[r.IntN(2)]
	return s
}

// fence says that another host has the loop. Not all of its kind take effect.
func (p *users) fence() event.CommandReceived {
	c := event.CommandReceived{Kind: event.CommandFence, Host: "kiln", Epoch: p.w.epoch + uint64(p.w.rng.IntN(4))}
	if p.w.chance(10) {
		c.Origin = event.OriginAgent
	}
	return c
}

// afterFence are the types that may follow loop.fenced.
var afterFence = []event.Type{
	event.TypeCommandDelivered, event.TypeCommandRefused, event.TypeIterationEnded, event.TypeLoopEnded,
	event.TypeSegmentOpened, event.TypeSegmentSealed,
}

// checkFence follows fences and take-overs from the first event to the last.
func (w *world) checkFence(events []event.Event) {
	epoch, coming := uint64(1), false
	fenced := false
	sent := map[string]event.CommandReceived{}
	for _, e := range events {
		if fenced && !slices.Contains(afterFence, e.Type) {
			w.violate(fencesHold, "event %d, %s, follows loop.fenced", e.Seq, e.Type)
		}
		switch e.Type {
		case event.TypeCommandReceived:
			p := as[event.CommandReceived](e)
			sent[p.ID] = p
			coming = coming || p.Kind == event.CommandFence && p.Epoch > epoch && p.Origin == ""
		case event.TypeDecided:
			if coming {
				w.violate(fencesHold, "event %d decides %s, and a fence has come", e.Seq, e.Data())
			}
		case event.TypeCommandDelivered:
			if p := sent[as[event.CommandDelivered](e).ID]; p.Epoch != 0 && p.Epoch != epoch && p.Kind != event.CommandFence {
				w.violate(fencesHold, "event %d: a command for epoch %d takes effect in epoch %d", e.Seq, p.Epoch, epoch)
			}
		case event.TypeLoopFenced:
			if p := as[event.LoopFenced](e); p.Epoch <= epoch || !coming {
				w.violate(fencesHold, "event %d: a fence for epoch %d in epoch %d; one has come: %v", e.Seq, p.Epoch, epoch, coming)
			}
			fenced, coming = true, false
		case event.TypeLoopMoved:
			p := as[event.LoopMoved](e)
			if p.Epoch <= epoch {
				w.violate(movedOnce, "event %d: a take-over to epoch %d in epoch %d", e.Seq, p.Epoch, epoch)
			}
			epoch, coming = p.Epoch, false // it may be older than the take-over
			for _, c := range sent {
				coming = coming || c.Kind == event.CommandFence && c.Epoch > epoch && c.Origin == ""
			}
		}
	}
}

// wrongFences are noticed by the promises of the fourteenth edition.
var wrongFences = []wrong{
	{"a fence is forgotten", mutation{folded: after(event.TypeCommandDelivered, func(s *loopstate.State) { s.Ownership.Fenced = nil }), unfolded: true, stage: fencedOften}, fencesHold},
	{"the epoch is forgotten", mutation{folded: always(func(s *loopstate.State) { s.Ownership.Moved = 0 }), unfolded: true, stage: fencedOften}, fencesHold},
	{"each resume records the take-over", mutation{movesAgain: true, stage: fencedOften}, movedOnce},
}

func fencedOften(s *scenario) { s.fences, s.claimed, s.resumes, s.disasters = 10, 60, 1, 4 }
