package agenttest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// deadline is how long something that is certain to happen may take.
const deadline = 2 * time.Minute

// Recorder takes what a session delivers.
type Recorder struct {
	t       testing.TB
	mu      sync.Mutex
	drafts  []event.Draft
	changed chan struct{} // closed when there are more
}

// NewRecorder returns one whose Deliver is for an agent.Config.
func NewRecorder(t testing.TB) *Recorder { return &Recorder{t: t, changed: make(chan struct{})} }

// Deliver keeps a copy of the drafts.
func (r *Recorder) Deliver(drafts []event.Draft, release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range drafts {
		d.Data, d.Raw = slices.Clone(d.Data), slices.Clone(d.Raw)
		if !jsonscan.Valid(d.Data) || d.Raw != nil && !jsonscan.Valid(d.Raw) {
			r.t.Errorf("delivered what is not JSON: %s", short(d.Data))
		}
		r.drafts = append(r.drafts, d)
	}
	release()
	close(r.changed)
	r.changed = make(chan struct{})
}

// Drafts returns what has come so far.
func (r *Recorder) Drafts() []event.Draft {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.drafts)
}

// Await waits until there are n events of a type and returns the n-th.
func (r *Recorder) Await(typ event.Type, n int) event.Draft {
	r.t.Helper()
	limit := time.NewTimer(deadline)
	defer limit.Stop()
	for {
		r.mu.Lock()
		found, changed := of(r.drafts, typ), r.changed
		r.mu.Unlock()
		if len(found) >= n {
			return found[n-1]
		}
		select {
		case <-changed:
		case <-limit.C:
			r.t.Fatalf("there is no %s number %d among\n%s", typ, n, r)
		}
	}
}

// Of returns the events of a type that have come so far.
func (r *Recorder) Of(typ event.Type) []event.Draft { return of(r.Drafts(), typ) }

func of(drafts []event.Draft, typ event.Type) []event.Draft {
	var found []event.Draft
	for _, d := range drafts {
		if d.Type == typ {
			found = append(found, d)
		}
	}
	return found
}

func (r *Recorder) String() string {
	var all strings.Builder
	for _, d := range r.Drafts() {
		all.WriteString("  " + string(d.Type) + " " + short(d.Data) + "\n")
	}
	return all.String()
}

// Payload decodes a draft's data.
func Payload[P event.Payload](t testing.TB, d event.Draft) P {
	t.Helper()
	var p P
	if d.Type != p.EventType() {
		t.Fatalf("%s is no %s", d.Type, p.EventType())
	}
	if err := json.Unmarshal(d.Data, &p); err != nil {
		t.Fatalf("%s: %v", d.Type, err)
	}
	return p
}
