package takeover

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/tree"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Options say what is taken over, and where to.
type Options struct {
	Store store.Store
	Host  string // the name of this host in the pool
	Home  string // of ralph
	Loop  string // its ID
	Into  string // a new folder; empty for one of the loop's name in the current folder
	Tree  uint64 // the number of a tree, plus 1; 0 for the newest
	Now   bool   // also from a host that was heard of
	Trust bool   // a person trusts what was typed on the other host
	Asks  bool   // there is a person who can be asked
	// Stdin and Stderr are those of the program that asks them.
	Stdin  io.Reader
	Stderr io.Writer
	Say    func(text string)
	Clock  func() time.Time
}

// Taken says what was taken over.
type Taken struct {
	Loop    string `json:"loop"`
	Name    string `json:"name"`
	Epoch   uint64 `json:"epoch"`
	From    string `json:"from"`
	Project string `json:"project"`
	Chunks  int    `json:"chunks"`
	Events  uint64 `json:"events"`
	Tree    uint64 `json:"tree"` // its number
	Running bool   `json:"running"`
	// Milliseconds are the times of the steps.
	Milliseconds struct {
		Read   int64 `json:"read"`
		Claim  int64 `json:"claim"`
		Import int64 `json:"import"`
		Start  int64 `json:"start"`
	} `json:"milliseconds"`
}

// A taking is a take-over that goes on.
type taking struct {
	Options
	Taken

	scratch string
	lock    *os.File
	record  record
	log     log.Log
	files   tree.Manifest
	view    projector.View
}

func (t *taking) say(format string, args ...any) { t.Say(fmt.Sprintf(format, args...)) }

// Take takes a loop over.
func Take(ctx context.Context, o Options) (Taken, error) {
	t := &taking{Options: o, Taken: Taken{Loop: o.Loop}}
	err := t.take(ctx)
	if err != nil {
		err = fmt.Errorf("take over loop %s: %w", o.Loop, err)
	}
	return t.Taken, err
}

func (t *taking) take(ctx context.Context) (err error) {
	folder := filepath.Join(t.Home, "pool", "take")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if t.lock, err = lock(filepath.Join(folder, t.Taken.Loop+".lock")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.lock.Close()) }()
	if t.record, err = readRecord(filepath.Join(folder, t.Taken.Loop+".json")); err != nil {
		return err
	}
	t.scratch = filepath.Join(folder, t.Taken.Loop)
	defer func() { err = errors.Join(err, os.RemoveAll(t.scratch)) }()
	if err := timed(&t.Milliseconds.Read, func() error { return t.read(ctx) }); err != nil {
		return err
	}
	if !t.own() {
		if err := t.permitted(ctx); err != nil {
			return err
		}
		if err := timed(&t.Milliseconds.Claim, func() error { return t.claim(ctx) }); err != nil {
			return err
		}
	}
	t.Taken.Epoch, t.Taken.From = t.log.Tail.Epoch, t.log.From
	if err := t.wake(ctx, t.Taken.From); err != nil {
		t.say("%v: its mirror finds the claim when it stores more, or asks", err)
	}
	if err := timed(&t.Milliseconds.Import, func() error { return t.bring(ctx) }); err != nil {
		return err
	}
	err = timed(&t.Milliseconds.Start, func() error { return t.start(ctx) })
	t.show(ctx) // it is this host's, also if it could not be resumed
	if err != nil {
		return err
	}
	return t.record.remove()
}

// wake says to the mirror of another host that the loop is, or is about to be, taken over.
func (t *taking) wake(ctx context.Context, host string) error {
	if host == t.Host {
		return nil
	}
	return command.Wake(ctx, t.Store, host, t.Taken.Loop)
}

// show writes where the loop is now, so that a list has it before this host's mirror says more.
func (t *taking) show(ctx context.Context) {
	cell := live.Cell{Key: keys.View(t.Taken.Loop), Superseded: func(ctx context.Context) (bool, error) {
		newest, err := log.Newest(ctx, t.Store, t.Taken.Loop)
		return newest.Epoch > t.Taken.Epoch, err
	}}
	e := registry.Entry{Name: t.files.Name, Dir: t.folder(), Project: t.project(), ID: t.Taken.Loop}
	err := cell.PutView(ctx, t.Store, e, live.View{Loop: t.Taken.Loop, Epoch: t.Taken.Epoch, Host: t.Host, At: t.Clock().UTC()})
	if err != nil {
		t.say("%v: 'ralph pool list' shows what was last said of it, until the mirror of this host runs", err)
	}
}

func timed(took *int64, step func() error) error {
	begin := time.Now()
	err := step()
	*took = time.Since(begin).Milliseconds()
	return err
}

// read unpacks the newest tree, assembles the journal, and verifies both.
func (t *taking) read(ctx context.Context) error {
	if err := os.RemoveAll(t.scratch); err != nil {
		return err
	}
	files := filepath.Join(t.scratch, "files")
	loop := filepath.Join(files, "loop")
	if err := os.MkdirAll(loop, 0o700); err != nil {
		return err
	}
	t.say("reading the log of loop %s", t.Taken.Loop)
	r := log.Reader{Store: t.Store, Loop: t.Taken.Loop}
	var err error
	if t.log, err = r.Journal(ctx, loop); err != nil {
		return err
	}
	for _, d := range t.log.Damages {
		if !d.Repaired {
			return fmt.Errorf("%s: 'ralph pool check --repair' on a host that has its journal stores what is missing", d)
		}
	}
	if t.log.Tail.Last == 0 {
		return fmt.Errorf("host %s has claimed it, and has recorded nothing of it yet: a worker begins it again", t.log.Tail.Host)
	}
	if _, err := log.Blobs(ctx, t.Store, t.Taken.Loop, filepath.Join(loop, "blobs"), func(name string, err error) error {
		return fmt.Errorf("blob %s: %w: 'ralph pool check --repair' on a host that has it stores it again", name, err)
	}); err != nil {
		return err
	}
	if err := journal.Verify(loop, nil); err != nil {
		return fmt.Errorf("its journal does not verify: %w", err)
	}
	loaded, err := projector.Load(loop)
	if err != nil {
		return err
	}
	t.view = loaded.View()
	t.Taken.Name, t.Taken.Chunks, t.Taken.Events = t.view.Name, t.log.Chunks, uint64(t.log.Tail.Last)
	t.say("%d chunks with %d events are verified", t.Taken.Chunks, t.Taken.Events)
	number := t.Options.Tree
	if number == 0 {
		number = t.log.Tail.Tree
	}
	if number == 0 {
		return errors.New("the pool has no files of it: its host stores them at the end of an iteration, and none has ended")
	}
	t.Taken.Tree = number - 1
	if t.files, err = tree.Get(ctx, t.Store, t.Taken.Loop, number-1, files); err != nil {
		return fmt.Errorf("%w: --tree takes an older one, and 'ralph pool check --repair' on a host that has the files stores a new one", err)
	}
	t.say("files of tree %d, of %s, are verified", number-1, t.files.At.Format(time.DateTime+" MST"))
	return nil
}

// own reports whether the last claim is one of this host, of which an earlier call has left the
// record, and which may still be completed.
func (t *taking) own() bool {
	if t.record.Nonce == "" || t.log.Claim.Nonce != t.record.Nonce || t.log.Claim.Host != t.Host {
		return false
	}
	if !t.here() && (t.record.Imported || t.log.Tail.Next > t.log.Claim.Number+1) {
		return false // it ran here, and is gone
	}
	t.say("the claim of epoch %d is this host's own: going on", t.log.Claim.Epoch)
	return true
}

// permitted returns why the loop stays where it is.
func (t *taking) permitted(ctx context.Context) error {
	if t.view.Ended != nil {
		return fmt.Errorf("it has ended (%s): 'ralph pool list' shows it", t.view.Ended.Reason)
	}
	host := t.log.Tail.Host
	here, err := registry.Survey(t.Home, func(e registry.Entry) bool { return e.ID == t.view.ID })
	if err != nil {
		return err
	}
	for _, s := range here {
		claim, err := membership.Read(s.Dir)
		if err != nil {
			return err
		}
		if host == t.Host && !s.Gone && max(claim.Epoch, 1) == t.log.Tail.Epoch {
			return fmt.Errorf("it is on this host: 'ralph start %s --resume --project %s' continues it", s.Name, s.Project)
		}
	}
	if !t.Trust && !t.Asks && os.Getenv("RALPH_TRUST") == "" {
		return fmt.Errorf("its prompt and settings were typed on host %s, and there is no person to ask here: --trust lets them count", host)
	}
	if t.Options.Now || host == t.Host {
		return nil
	}
	return t.silent(ctx, host)
}

// claim puts the claim. If the host has sealed more meanwhile, all is read again.
func (t *taking) claim(ctx context.Context) error {
	into, err := t.newFolder()
	if err != nil {
		return err
	}
	t.record = record{Nonce: rand.Text(), At: t.Clock().UTC().Truncate(time.Microsecond), Into: into, path: t.record.path}
	if err := t.record.write(); err != nil {
		return err
	}
	t.say("claiming epoch %d", t.log.Tail.Epoch+1)
	before := t.log.Tail
	// From now on that host asks often whose the loop is: it finds the claim also if this process
	// is killed after it.
	if err := errors.Join(t.wake(ctx, before.Host), live.NoteLoop(ctx, t.Store, t.Host, t.Taken.Loop)); err != nil {
		return err
	}
	claim := decide.NewClaimAfter(before, t.Host, t.record.Nonce, t.record.At)
	tail, err := t.drive(ctx, claim)
	if err != nil {
		return err
	}
	if tail.Next == before.Next+1 {
		t.log.Claim.Host, t.log.Claim.Epoch, t.log.Claim.Number = tail.Host, tail.Epoch, tail.Next-1
		t.log.Tail, t.log.From = tail, before.Host
		return nil
	}
	t.say("host %s has stored more meanwhile", before.Host)
	return t.read(ctx)
}

// newFolder is where the loop is put. Its name is one that the journal has, which anybody may have
// written.
func (t *taking) newFolder() (string, error) {
	into := t.Into
	if into == "" {
		if into = t.view.Name; registry.CheckName(into) != nil {
			return "", fmt.Errorf("its journal names the loop %.80q: name a new folder with --into DIR", into)
		}
	}
	into, err := filepath.Abs(into)
	if err != nil {
		return "", err
	}
	if entries, err := os.ReadDir(into); err == nil && len(entries) > 0 {
		return "", fmt.Errorf("%s is not empty: name a new folder with --into DIR", into)
	}
	return into, nil
}

// drive does what the claim says until it is won.
func (t *taking) drive(ctx context.Context, c *decide.Claim) (decide.Tail, error) {
	for {
		switch step := c.Next(); step.Do {
		case decide.Read:
			entry, err := t.Store.Get(ctx, keys.Chunk(t.Taken.Loop, step.Number))
			switch {
			case errors.Is(err, store.ErrNotFound):
				c.Missing()
			case err != nil:
				return c.Tail(), fmt.Errorf("it is unknown whether the claim was stored: %w: run the same command again", err)
			default:
				c.Found(entry.Value)
			}
		case decide.Put:
			_, err := t.Store.PutIfAbsent(ctx, keys.Chunk(t.Taken.Loop, step.Number), step.Stored)
			c.Answered(err)
		case decide.Won:
			return c.Tail(), nil
		case decide.Lost:
			return c.Tail(), errors.Join(fmt.Errorf("host %s has taken it over meanwhile, under epoch %d", step.Host, step.Epoch), t.record.remove())
		default:
			return c.Tail(), step.Why
		}
	}
}
