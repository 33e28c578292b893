//go:build linux

package power

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// blockBytes is the size of the pieces that a disk writes whole or not at all.
const blockBytes = 512

// way is how much of the uncertain state survives.
type way int

const (
	nothing way = iota
	everything
	earlier // what came before some moment
	chance  // each piece by itself
	ways
)

// after returns the disk as the next machine finds it. The machine before must be off: nothing uses
// the disk any more.
func (d *disk) after() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	names, bytes := way(d.rng.IntN(int(ways))), way(d.rng.IntN(int(ways)))
	moment := d.rng.IntN(len(d.log) + 1)
	for i, change := range d.log {
		if change.certain || d.lucky(names, i < moment) {
			change.apply()
		}
	}
	next := newDisk(d.rng)
	next.keepsNew = d.keepsNew
	copied := map[*node]*node{d.root: next.root}
	d.take(d.root, next, copied, bytes)
	return next
}

func (d *disk) lucky(w way, early bool) bool {
	return w == everything || w == earlier && early || w == chance && d.rng.IntN(2) == 0
}

// take copies what survived of a folder. Names are taken in order, so that a seed gives the same
// disk.
func (d *disk) take(old *node, next *disk, copied map[*node]*node, w way) {
	folder := copied[old]
	for _, name := range slices.Sorted(maps.Keys(old.known)) {
		n := old.known[name]
		fresh := copied[n]
		if fresh == nil {
			fresh = next.node(n.mode)
			fresh.mtime = n.mtime
			copied[n] = fresh
			switch {
			case n.folder():
				d.take(n, next, copied, w)
			case n.mode&syscall.S_IFMT == syscall.S_IFREG:
				fresh.data = survives(n.base, n.pending, w, d.rng)
			default:
				fresh.data = n.data
			}
			fresh.base = slices.Clone(fresh.data)
		}
		folder.names[name], folder.known[name] = fresh, fresh
	}
}

// survives returns one possible content of a file after a cut.
func survives(base []byte, edits []edit, w way, rng *rand.Rand) []byte {
	switch w {
	case nothing:
		return slices.Clone(base)
	case earlier:
		edits = slices.Clone(edits[:rng.IntN(len(edits)+1)])
		if last := len(edits) - 1; last >= 0 && !edits[last].resize && rng.IntN(2) == 0 {
			edits[last].data = edits[last].data[:rng.IntN(len(edits[last].data)+1)] // torn
		}
	}
	now := slices.Clone(base)
	if w != chance {
		for _, e := range edits {
			now = e.on(now)
		}
		return now
	}
	// Each block gets the edits up to a point of its own, and so does the size.
	kept := map[int64]int{}
	stops := func(block int64) int {
		if _, drawn := kept[block]; !drawn {
			kept[block] = rng.IntN(len(edits) + 1)
		}
		return kept[block]
	}
	size, last := int64(len(base)), rng.IntN(len(edits)+1)
	current := size
	for i, e := range edits {
		before := current
		from, to := e.at, e.at+int64(len(e.data))
		if e.resize {
			from, to = e.at, max(current, e.at)
			current = e.at
		} else {
			current = max(current, to)
		}
		now = sized(now, max(int64(len(now)), to))
		for at := from; at < to; {
			end := min((at/blockBytes+1)*blockBytes, to)
			switch {
			// bytes that were cut off do not come back when the size grows again
			case e.resize && i < last:
				clear(now[at:end])
			case !e.resize && i < stops(at/blockBytes):
				copy(now[at:end], e.data[at-from:end-from])
			}
			at = end
		}
		if i < last {
			size = current
			if i == last-1 && current > before && rng.IntN(2) == 0 {
				size = before + rng.Int64N(current-before+1) // torn within a write
			}
		}
	}
	return sized(now, size)
}

// save writes the disk into a folder of the machine that the tests run on.
func (d *disk) save(to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	var failed error
	d.walk(d.root, to, func(at string, n *node) {
		if n.folder() {
			failed = firstError(failed, os.MkdirAll(at, 0o755))
		} else if n.mode&syscall.S_IFMT == syscall.S_IFREG {
			failed = firstError(failed, os.MkdirAll(filepath.Dir(at), 0o755))
			failed = firstError(failed, os.WriteFile(at, n.data, 0o644))
		}
	})
	return failed
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
