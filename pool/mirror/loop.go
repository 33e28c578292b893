package mirror

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/durable"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// A loop is one that is mirrored. One goroutine at a time has it.
type loop struct {
	name, dir string
	project   string
	member    membership.Membership
	id        string // in the pool; empty until the journal says it. The mirror's lock guards it
	epoch     uint64
	// folder is open, so that no other folder can have its number: a new loop of that name is not
	// taken for this one.
	folder *os.Root
	log    *decide.Mirror // nil until the end of the log is known
	view   live.Cell
	blobs  map[string]bool // that are in the store
	steered

	acted    time.Time // when the store last answered
	read     time.Time // as writtenAt, of the journal when all of it was read; zero if it has to be read
	unsealed int       // bytes
	alive    bool
	newer    bool // than the view in the store
	caught   bool // all that was there when the mirror began is sealed
	more     bool // more is to be sealed at once

	turn
}

// steered is what is known of a loop's commands.
type steered struct {
	// done are the commands that need nothing more. dropped are in the inbox or the journal, with
	// the event of their receipt, 0 while there is none.
	done    map[string]bool
	dropped map[string]event.Seq
	woken   atomic.Bool // commands may wait
}

// turn is when a loop is looked at. The mirror's lock guards it.
type turn struct {
	began  time.Time // the runner, as the registry has it
	doubt  time.Time // until then another host may be about to claim it
	due    time.Time
	rests  bool // nothing is to be done until something is heard of it
	busy   bool // a goroutine has it
	kicked bool // while it was busy
	fails  int  // in a row
}

func newLoop(e registry.Entry, p membership.Membership) *loop {
	l := &loop{name: e.Name, dir: e.Dir, project: e.Project, member: p, epoch: max(p.Epoch, 1), blobs: map[string]bool{}}
	l.done, l.dropped, l.began = map[string]bool{}, map[string]event.Seq{}, e.Started
	l.woken.Store(true)
	return l
}

// errRemoved: the folder was removed, or has another name now.
var errRemoved = errors.New("its folder was removed or moved; what the pool has of it stays")

// open makes sure that the folder is the loop's.
func (l *loop) open() error {
	now, err := os.Stat(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return errRemoved
	}
	if err != nil {
		return err
	}
	if l.folder == nil {
		if l.folder, err = os.OpenRoot(l.dir); err != nil {
			return err
		}
	}
	own, err := l.folder.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(own, now) {
		return errRemoved
	}
	return nil
}

// begin finds the loop's ID and the end of its log.
func (m *Mirror) begin(ctx context.Context, l *loop) error {
	if l.id == "" {
		id, err := m.idOf(ctx, l)
		if err != nil {
			return err
		}
		if other := m.claimID(id, l); other != "" {
			return fmt.Errorf("the folder %s has the same id, %s: one of them is a copy, and has to be removed", other, id)
		}
		l.view = live.Cell{Key: keys.View(id), Superseded: func(ctx context.Context) (bool, error) { return m.superseded(ctx, l) }}
	}
	if err := live.NoteLoop(ctx, m.store, m.opt.Host, l.id); err != nil {
		return err
	}
	tail, err := m.lastLines(ctx, l)
	if err != nil {
		return err
	}
	l.log, l.read, l.newer = decide.NewMirror(l.id, m.opt.Host, l.epoch, tail), time.Time{}, true
	return nil
}

// idOf returns the loop's ID in the pool: that of its journal, or that of the queue which it was
// submitted under.
func (m *Mirror) idOf(ctx context.Context, l *loop) (string, error) {
	now, err := projector.Load(l.dir)
	if err != nil {
		return "", fmt.Errorf("read the loop's id: %w", err)
	}
	view := now.View()
	id := cmp.Or(l.member.Loop, view.ID)
	if _, err := ulid.ParseStrict(id); err != nil {
		return "", fmt.Errorf("its id %.40q is no ULID", id)
	}
	if id != view.ID {
		err = m.submitted(ctx, l)
	}
	return id, err
}

// submitted refuses a pool.json that names a loop of the queue which this one is not: an agent can
// make that file, also in a sandbox, and would write the log of another loop, or claim one.
func (m *Mirror) submitted(ctx context.Context, l *loop) error {
	entry, err := m.store.Get(ctx, keys.Chunk(l.member.Loop, 0))
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("its pool.json names loop %s, which no host has claimed", l.member.Loop)
	}
	if err != nil {
		return fmt.Errorf("read chunk 0: %w", err)
	}
	var named struct{ Name string }
	if _, lines, err := chunk.Decode(entry.Value); err != nil || json.Unmarshal(lines, &named) != nil || named.Name != l.name {
		return fmt.Errorf("its pool.json names loop %s, which is another: %.80q", l.member.Loop, named.Name)
	}
	return nil
}

// superseded reports whether a chunk follows the end of the log, as far as it was read.
func (m *Mirror) superseded(ctx context.Context, l *loop) (bool, error) {
	_, err := m.store.Get(ctx, keys.Chunk(l.id, l.log.Tail().Next))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// lastLines returns the end of the log before the last chunk with lines that this host, or one
// before it, has written. Reading begins there: 'ralph pool check' reads all of it. A later epoch
// counts only by its position, after that: anyone who can write into the store could write a chunk
// further on, with any epoch.
func (m *Mirror) lastLines(ctx context.Context, l *loop) (tail decide.Tail, err error) {
	if m.opt.Verify {
		return tail, nil
	}
	var numbers []uint64
	after := uint64(0)
	for key, err := range m.store.List(ctx, keys.Log(l.id), "") {
		if err != nil {
			return tail, fmt.Errorf("list the chunks: %w", err)
		}
		if n, ok := keys.ChunkNumber(key); ok && n >= after && n-after <= chunk.MaxGap {
			numbers, after = append(numbers, n), n+1
		}
	}
	for _, n := range slices.Backward(numbers) {
		entry, err := m.store.Get(ctx, keys.Chunk(l.id, n))
		if err != nil {
			return tail, fmt.Errorf("read chunk %d: %w", n, err)
		}
		h, _, err := chunk.Decode(entry.Value)
		before := h.Epoch < l.epoch || h.Epoch == l.epoch && h.Host == m.opt.Host
		if err == nil && n > 0 && before && h.First > 0 && h.Last > 0 { // a later one with lines is no claim
			return decide.Tail{Loop: l.id, Next: n, Prev: h.Prev, Epoch: h.Epoch, Host: h.Host, Last: h.First - 1}, nil
		}
	}
	return tail, nil
}

// A brokenError is a log that is not what it must be. It is read again later: it may be repaired.
type brokenError struct{ error }

// writtenAt is when a file was last written to, or a folder changed; zero if that is not known, or
// if it could be written to again without another time.
func writtenAt(info fs.FileInfo, err error, now time.Time) time.Time {
	if err != nil || now.Sub(info.ModTime()) < settled {
		return time.Time{}
	}
	return info.ModTime()
}

// journalAt is writtenAt of what the writer of the journal touches each time.
func (l *loop) journalAt(now time.Time) time.Time {
	info, err := l.folder.Lstat("notify")
	return writtenAt(info, err, now)
}

// stirred reports whether something may have happened to a loop that rests: its journal was
// written to, or its runner has ended.
func (l *loop) stirred(now time.Time) bool {
	if at := l.journalAt(now); at.IsZero() || !at.Equal(l.read) {
		return true
	}
	if !l.alive {
		return false // a runner that begins is in the registry
	}
	state, err := registry.Probe(l.dir)
	return err != nil || !state.Alive
}

// look does all that is to be done for a loop now.
func (m *Mirror) look(ctx context.Context, l *loop) error {
	if err := l.open(); err != nil {
		return err
	}
	m.listen(l)
	state, err := registry.Probe(l.dir)
	if err != nil {
		return err
	}
	l.newer = l.newer || l.alive != state.Alive
	l.alive = state.Alive
	if l.log == nil {
		if err := m.begin(ctx, l); err != nil {
			return err
		}
	}
	woken := l.woken.Swap(false)
	err = m.exchange(ctx, l, woken)
	if err != nil && woken {
		l.woken.Store(true)
	}
	return err
}

// exchange seals lines and delivers commands.
func (m *Mirror) exchange(ctx context.Context, l *loop, woken bool) (err error) {
	var waiting []string
	if woken {
		if waiting, err = m.commands(ctx, l); err != nil {
			return err
		}
	}
	if err := m.drive(ctx, l, woken); err != nil || !l.log.Owns() {
		return err
	}
	if err := m.deliver(ctx, l, waiting); err != nil {
		return err
	}
	if err := m.receipted(ctx, l); err != nil {
		return err
	}
	return m.putView(ctx, l)
}

// piecesAtOnce bounds what is sealed of one loop before others get their turn.
const piecesAtOnce = 64

// drive does the steps of the loop's log until there is none. With ask, the store has to say once
// whose the loop is.
func (m *Mirror) drive(ctx context.Context, l *loop, ask bool) error {
	l.more = false
	answered := false
	written := l.journalAt(m.opt.Now()) // before it is read
	unchanged := l.unsealed == 0 && !written.IsZero() && written.Equal(l.read)
	l.read = time.Time{}
	from := &lines{dir: l.dir}
	defer from.close()
	var p piece
	for sealed := 0; ; {
		tail := l.log.Tail()
		if len(p.text) > 0 && p.last <= tail.Last {
			l.sealedPiece(p)
			// Commands wait for no backlog.
			if sealed++; sealed >= piecesAtOnce || ask && answered || l.woken.Load() {
				l.more = true
				return nil
			}
		}
		if l.log.Owns() && p.first != tail.Last+1 {
			p = piece{first: tail.Last + 1, last: tail.Last}
			if !unchanged {
				p = from.after(tail.Last)
			}
			l.unsealed = len(p.text)
		}
		now := m.opt.Now()
		due := p.full || p.last >= p.first && (!l.alive || !l.caught || l.answers(p)) || ask && !answered ||
			decide.Due(len(p.text), min(now.Sub(l.acted), decide.Interval)+restGrid, p.ended)
		step := l.log.Next(decide.Journal{Last: p.last, Due: due})
		if step.Do == decide.Wait {
			l.caught = true
			if from.err == nil {
				l.read = written
			}
			return from.err
		}
		if err := m.do(ctx, l, step, p); err != nil {
			if step.Do == decide.Seal {
				err = errors.Join(err, m.ask(ctx, l))
			}
			return err
		}
		l.acted = now
		answered = answered || step.Do == decide.Read || step.Do == decide.Put
	}
}

// ask reads whose the loop is, and fences one of another host: it also has to end here if what it
// has written cannot be sealed.
func (m *Mirror) ask(ctx context.Context, l *loop) error {
	for due := true; ; due = false {
		step := l.log.Next(decide.Journal{Last: l.log.Tail().Last, Due: due})
		if step.Do == decide.Wait {
			return nil
		}
		if err := m.do(ctx, l, step, piece{}); err != nil {
			return err
		}
	}
}

// do does one step.
func (m *Mirror) do(ctx context.Context, l *loop, step decide.Step, p piece) error {
	switch step.Do {
	case decide.Read:
		entry, err := m.store.Get(ctx, keys.Chunk(l.id, step.Number))
		switch {
		case errors.Is(err, store.ErrNotFound):
			l.log.Missing()
		case err != nil:
			return fmt.Errorf("read chunk %d: %w", step.Number, err)
		default:
			return l.log.Found(entry.Value, func(first, last event.Seq) ([]byte, error) { return linesBetween(l.dir, first, last) })
		}
		return nil
	case decide.Seal:
		return m.seal(ctx, l, p)
	case decide.Put:
		began := m.opt.Now()
		_, err := m.store.PutIfAbsent(ctx, keys.Chunk(l.id, step.Number), step.Stored)
		l.log.Answered(err)
		if errors.Is(err, store.ErrExists) {
			return nil // it is read next
		}
		if err != nil {
			return fmt.Errorf("write chunk %d: %w", step.Number, err)
		}
		m.count(len(step.Stored), m.opt.Now().Sub(began))
		return nil
	case decide.Fence:
		return m.fence(ctx, l, step)
	}
	return &brokenError{step.Why}
}

// seal makes a chunk of a piece, after all that it needs.
func (m *Mirror) seal(ctx context.Context, l *loop, p piece) error {
	if err := durable.SyncJournal(l.dir); err != nil {
		return err
	}
	if err := l.putBlobs(ctx, m.store, p.text); err != nil {
		return err
	}
	tail := l.log.Tail()
	tree := tail.Tree
	if p.iteration && m.opt.Tree != nil && !l.isPast(p) {
		if err := m.opt.Tree(ctx, m.store, l.dir, l.id, tail.Next); err != nil {
			m.say(l, fmt.Sprintf("the files after the iteration are not in the pool: %v", err))
		} else {
			tree = tail.Next + 1
		}
	}
	if err := l.open(); err != nil { // the lines are of that folder
		return err
	}
	return l.log.Seal(decide.Lines{Text: p.text, Last: p.last, Tree: tree, At: m.opt.Now().UTC(), Nonce: rand.Text()})
}

// isPast reports whether an iteration after that of a piece has ended: a tree would have the files
// of now, and that iteration gets it. So a mirror that is behind makes one tree, and not one for
// each.
func (l *loop) isPast(p piece) bool {
	last, _, err := journal.Last(l.dir, 1)
	return err == nil && len(last) == 1 && last[0].Iter > p.number+1
}

// answers reports whether a piece has the receipt of a command from the store.
func (l *loop) answers(p piece) bool {
	for id := range p.received {
		if _, ours := l.dropped[id]; ours {
			return true
		}
	}
	return false
}

// sealedPiece notes what is in the log now.
func (l *loop) sealedPiece(p piece) {
	l.newer = true
	for id, seq := range p.received {
		if _, ours := l.dropped[id]; ours {
			l.dropped[id] = seq
		}
	}
}

// fenceMost bounds the time that ending a loop takes.
const fenceMost = 2 * time.Minute

// ownClaims is how often a loop is looked at, for two minutes in all, before a claim of this host
// fences it: 'ralph pool take' may be about to bring the loop into this folder.
const ownClaims = 6

// isFenced reports whether the loop has ended in this folder before: then it comes back in another.
func (l *loop) isFenced() bool {
	_, err := os.Lstat(filepath.Join(l.dir, "moved.json"))
	return err == nil
}

// fence ends the loop here: another host has it.
func (m *Mirror) fence(ctx context.Context, l *loop, step decide.Step) error {
	if step.Host == m.opt.Host && l.fails < ownClaims && !l.isFenced() {
		return fmt.Errorf("this host has taken it over again, under epoch %d; it is not in this folder yet", step.Epoch)
	}
	ctx, cancel := context.WithTimeout(ctx, fenceMost)
	defer cancel()
	c := exec.CommandContext(ctx, m.opt.Program, "fence", l.dir, "--host="+step.Host, "--epoch", strconv.FormatUint(step.Epoch, 10))
	c.Env = append(os.Environ(), "RALPH_HOME="+m.opt.Home)
	text, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %.2000s", strings.Join(c.Args, " "), err, strings.TrimSpace(string(text)))
	}
	l.log.Fenced()
	m.say(l, fmt.Sprintf("it has ended here, and continues on host %s under epoch %d", step.Host, step.Epoch))
	return nil
}

// putView writes what the loop does, after something was sealed or its runner has begun or ended.
func (m *Mirror) putView(ctx context.Context, l *loop) error {
	if !l.newer {
		return nil
	}
	e := registry.Entry{Name: l.name, Dir: l.dir, Project: l.project, ID: l.id}
	err := l.view.PutView(ctx, m.store, e, live.View{Loop: l.id, Epoch: l.epoch, Host: m.opt.Host, At: m.opt.Now().UTC()})
	l.newer = err != nil
	return err
}
