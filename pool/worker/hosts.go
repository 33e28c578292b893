package worker

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/projector"
)

// maxRefused bounds what a report says of specifications.
const maxRefused = 200

// A Report is what a worker says of itself: keys.Worker. It is for people.
type Report struct {
	Version  int               `json:"v"`
	Host     string            `json:"host"`
	Slots    int               `json:"slots"`
	Labels   []string          `json:"labels,omitempty"`
	Running  []string          `json:"running,omitempty"` // IDs
	Draining bool              `json:"draining,omitempty"`
	Refused  map[string]string `json:"refused,omitempty"` // why a specification waits, by its ID
	Problems map[string]string `json:"problems,omitempty"`
}

// publish writes the report, if it has changed.
func (w *Worker) publish(ctx context.Context) error {
	w.mu.Lock()
	r := Report{
		Version: 1, Host: w.Host, Slots: w.Slots, Labels: w.Labels, Running: sorted(w.tended), Draining: w.draining || w.Drain,
		Refused: maps.Clone(w.refused), Problems: maps.Clone(w.problems),
	}
	w.mu.Unlock()
	if reflect.DeepEqual(r, w.published) {
		return nil
	}
	cell := live.Cell{Key: keys.Worker(w.Host)}
	if err := cell.Put(ctx, w.Store, 0, r); err != nil {
		return err
	}
	w.published = r
	return nil
}

// Reports returns what the workers of all hosts say.
func Reports(ctx context.Context, s store.Store) (all []Report, err error) {
	hosts, err := hostNames(ctx, s)
	if err != nil {
		return nil, err
	}
	var cells []string
	for _, host := range hosts {
		cells = append(cells, keys.Worker(host))
	}
	entries, err := store.GetAll(ctx, s, cells)
	for i, entry := range entries {
		var r Report
		_ = json.Unmarshal(entry.Value, &r) // it is only for people
		if r.Host == hosts[i] {
			all = append(all, r)
		}
	}
	return all, err
}

// hostNames returns all hosts that have ever written something.
func hostNames(ctx context.Context, s store.Store) ([]string, error) {
	return store.Names(ctx, s, keys.Hosts, keys.AfterHost)
}

// beatsAtOnce is how many beats a worker reads each time, beside those that seem late. It gets
// round all hosts in turn, from a place of its own: one of many workers soon notices a dead host.
const beatsAtOnce = 20

// lateAfter is the age from which a beat seems late.
const lateAfter = 3 * live.BeatEvery

// A beat is what was last seen of a host, on this host's clock.
type beat struct {
	revision store.Revision
	since    time.Time // when it was first seen
	read     time.Time // when it was last seen
	late     bool      // by the host's clock, which decides only whether it is read each time
}

type beats struct {
	own   string
	known map[string]*beat
	turn  []string // hosts that are read next
}

func newBeats(own string) beats { return beats{own: own, known: map[string]*beat{}} }

// read reads the beats of this host, of those that are late, and of some others.
func (b *beats) read(ctx context.Context, s store.Store, now time.Time) error {
	if len(b.turn) == 0 {
		hosts, err := hostNames(ctx, s)
		if err != nil {
			return err
		}
		at := rand.IntN(len(hosts) + 1)
		b.turn = slices.Concat(hosts[at:], hosts[:at])
	}
	n := min(beatsAtOnce, len(b.turn))
	hosts := append([]string{b.own}, b.turn[:n]...)
	b.turn = b.turn[n:]
	for host, known := range b.known {
		if known.late {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	var cells []string
	for _, host := range hosts {
		cells = append(cells, keys.Beat(host))
	}
	entries, err := store.GetAll(ctx, s, cells)
	if err != nil {
		return err
	}
	for i, host := range hosts {
		known := b.known[host]
		if known == nil || known.revision != entries[i].Revision {
			known = &beat{revision: entries[i].Revision, since: now}
			b.known[host] = known
		}
		var says live.Beat
		known.read = now
		known.late = json.Unmarshal(entries[i].Value, &says) != nil || now.Sub(says.At).Abs() >= lateAfter
	}
	return nil
}

// stale reports whether a host gives no sign of life: it has never had a beat, or its beat has
// stayed the same for so long.
func (b *beats) stale(host string) bool {
	known := b.known[host]
	return known == nil || known.revision == "" || known.same() >= StaleAfter
}

// same is for how long the beat has certainly stayed the same.
func (k *beat) same() time.Duration { return k.read.Sub(k.since) }

// dead returns the hosts whose beat has stayed the same, or was absent, for so long.
func (b *beats) dead() (hosts []string) {
	for host, known := range b.known {
		if known.same() >= StaleAfter {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return hosts
}

// A drain is what a person has said about a host: keys.Drain.
type drain struct {
	Drain bool   `json:"drain"`
	By    string `json:"by"`
}

// Draining returns those of some hosts that may claim nothing, and that nothing is taken over from.
func Draining(ctx context.Context, s store.Store, hosts []string) (draining []string, err error) {
	var cells []string
	for _, host := range hosts {
		cells = append(cells, keys.Drain(host))
	}
	entries, err := store.GetAll(ctx, s, cells)
	for i, entry := range entries {
		var d drain
		if _ = json.Unmarshal(entry.Value, &d); d.Drain {
			draining = append(draining, hosts[i])
		}
	}
	return draining, err
}

// SetDraining says whether a host may claim loops.
func SetDraining(ctx context.Context, s store.Store, host, by string, on bool) error {
	cell := live.Cell{Key: keys.Drain(host)}
	return cell.Put(ctx, s, 0, drain{Drain: on, By: by})
}

// show says what becomes of a loop before it has a journal: later its mirror does. It is for
// people, so an error is none.
func (w *Worker) show(ctx context.Context, id, state string, givenUp bool) {
	held, err := queue.Hold(ctx, w.Store, id)
	if err != nil || held.Begun || held.Host != w.Host {
		return
	}
	s := specOf(held)
	view := &projector.View{}
	view.ID, view.Name, view.Host, view.State = id, s.Name, w.Host, state
	view.Task.Text = s.Prompt[:min(len(s.Prompt), 200)]
	cell := live.Cell{Key: keys.View(id), Superseded: func(ctx context.Context) (bool, error) {
		now, err := queue.Hold(ctx, w.Store, id)
		return now.Epoch > held.Epoch, err
	}}
	_ = cell.Put(ctx, w.Store, held.Epoch, live.View{
		Version: 1, Loop: id, Epoch: held.Epoch, Host: w.Host, At: w.Now().UTC(), View: view, GivenUp: givenUp,
	})
}
