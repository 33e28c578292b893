package night

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/pool/mirror/decide"
)

// folder is the loop's folder on a host's disk.
type folder struct {
	epoch  uint64   // of pool.json, or 1
	lines  []string // the journal: event n is lines[n-1]
	synced int      // as many lines survive a loss of power
	moved  bool     // it is fenced
	inbox  []string
	tail   decide.Tail // where the mirror may begin to read again
}

func (f *folder) append(h *host, kind string) {
	f.lines = append(f.lines, fmt.Sprintf("%d %s %d %s %s\n", len(f.lines)+1, h.name, f.epoch, h.w.name(), kind))
	h.w.Events++
}

// has reports whether an event of that kind is in the journal.
func (f *folder) has(kind string) bool {
	for _, line := range f.lines {
		if strings.HasSuffix(line, " "+kind+"\n") {
			return true
		}
	}
	return false
}

// A process lives until it is killed.
type process struct{ dead bool }

func (p *process) alive() bool { return p != nil && !p.dead }

func (p *process) kill() {
	if p != nil {
		p.dead = true
	}
}

type host struct {
	w       *world
	name    string
	skew    time.Duration // of its clock
	cut     time.Duration // until then it does not reach the store
	stopped time.Duration // until then its processes do nothing
	down    bool
	folder  *folder
	agent   bool // an agent works, with a runner or left by one

	runner, mirror, taking *process
	mirroring
}

func newHost(w *world, name string) *host { return &host{w: w, name: name, down: true} }

// at is the time by the host's clock.
func (h *host) at() time.Time { return time.Unix(1_800_000_000, 0).Add(h.w.now + h.skew) }

// whenAwake does something as soon as the host is not stopped.
func (h *host) whenAwake(do func()) {
	if h.stopped > h.w.now {
		h.w.after(h.stopped-h.w.now, func() { h.whenAwake(do) })
		return
	}
	do()
}

// later does something in a process, unless that is killed before.
func (h *host) later(p *process, d time.Duration, do func()) {
	h.w.after(d, func() {
		h.whenAwake(func() {
			if p.alive() {
				do()
			}
		})
	})
}

func (h *host) boot() {
	if !h.down {
		return
	}
	h.down = false
	h.w.note("%s is up", h.name)
	h.startMirror()
	h.resumeLater()
}

func (h *host) cutOff(d time.Duration) {
	h.cut = max(h.cut, h.w.now+d)
	h.w.Cuts++
	h.w.note("%s is cut off for %s", h.name, d.Round(time.Second))
}

func (h *host) stop(d time.Duration) {
	h.stopped = max(h.stopped, h.w.now+d)
	h.w.Stops++
	h.w.note("%s is stopped for %s", h.name, d.Round(time.Second))
}

func (h *host) killMirror() {
	if h.mirror.alive() {
		h.w.Kills++
		h.w.note("the mirror of %s is killed", h.name)
		h.mirror.kill()
		h.w.after(h.w.span(0, time.Minute), h.startMirror)
	}
}

// killRunner leaves the agent at work.
func (h *host) killRunner() {
	if h.runner.alive() {
		h.w.Kills++
		h.w.note("the runner of %s is killed", h.name)
		h.runner.kill()
		h.resumeLater()
	}
}

func (h *host) killTake() {
	if h.taking.alive() {
		h.w.Kills++
		h.w.note("the take-over by %s is killed", h.name)
		h.taking.kill()
	}
}

// losePower loses what was not synced, or all of the disk.
func (h *host) losePower(disk bool) {
	if h.down {
		return
	}
	h.w.note("%s loses its power; its disk as well: %v", h.name, disk)
	h.down, h.agent = true, false
	for _, p := range []*process{h.runner, h.mirror, h.taking} {
		p.kill()
	}
	switch f := h.folder; {
	case f == nil:
	case disk:
		h.w.Disks++
		h.folder = nil
	default:
		f.lines = f.lines[:f.synced:f.synced]
	}
	h.w.after(h.w.span(5*time.Second, 5*time.Minute), h.boot)
}

// resumeLater is a service that resumes loops whose runner is gone.
func (h *host) resumeLater() {
	h.w.after(h.w.span(time.Second, time.Minute), func() { h.whenAwake(h.resume) })
}

// resume starts a runner, as 'ralph start --resume' does.
func (h *host) resume() {
	f := h.folder
	if h.down || f == nil || f.moved || h.runner.alive() {
		return
	}
	h.runner, h.agent = new(process), true
	if moved := fmt.Sprint("moved ", f.epoch); f.epoch > 1 && !f.has(moved) {
		f.append(h, moved)
	}
	h.w.note("%s runs the loop under epoch %d from event %d", h.name, f.epoch, len(f.lines))
	h.run(h.runner, f)
}

// run records what happens in the loop.
func (h *host) run(p *process, f *folder) {
	h.later(p, h.w.span(time.Second, 15*time.Second), func() {
		f.append(h, []string{"said", "said", "said", "ended"}[h.w.rng.IntN(4)])
		for _, id := range f.inbox {
			if !f.has(id) || h.w.variant == Forgetful {
				f.append(h, id)
				f.synced = len(f.lines)
			}
		}
		f.inbox = nil
		if h.w.chance(50) {
			f.synced = len(f.lines)
		}
		h.run(p, f)
	})
}

// fence is 'ralph fence': no process of the loop runs after it, and none can be started.
func (h *host) fence(f *folder) {
	f.moved, h.agent = true, false
	h.runner.kill()
}
