package inbox

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// File names of the states that a command goes through.
const (
	droppedSuffix = ".json"
	claimedSuffix = ".claimed"
	tempPrefix    = ".drop-"
)

// Drop puts c into the inbox of the loop at loopDir and returns the id that it gives it. c.ID must
// be empty. On return without error the file and its name are synced. The inbox is made if it is
// missing, the loop's folder is not. An error with an id means that the command is in the inbox and
// may be lost in a power failure. What an agent may ask for goes into its part of the inbox, all
// else into that of people. c.Process becomes this process, with those that it descends from.
//
// Drop does not check whether the loop takes commands. If it has ended or its runner died, the
// command waits for the next runner.
func Drop(loopDir string, c Command) (id string, err error) {
	id, err = dropper.drop(loopDir, c)
	if err != nil {
		err = fmt.Errorf("drop command: %w", err)
	}
	return id, err
}

// Deliver is Drop for a command that was given on another host, under the id that it got there. It
// reports whether it did: false means that the inbox has a command of that id already, which is
// dropped or claimed. The caller knows from the journal whether it was received before. An agent
// gives its commands on its own host.
func Deliver(loopDir string, c Command) (bool, error) {
	id, err := dropper.deliver(loopDir, c)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("deliver command: %w", err)
	}
	return id != "", err
}

// Withdraw takes a command back and reports whether it did: false means that the runner has claimed
// it, or that no such command was dropped.
func Withdraw(loopDir, id string) (bool, error) {
	if !canonicalID(id) {
		return false, fmt.Errorf("withdraw command: %.40q is not an id", id)
	}
	for _, part := range []string{Folder, AgentFolder} {
		d, err := openDir(loopDir, part)
		if err == nil {
			err = d.root.Remove(id + droppedSuffix)
			d.close()
		}
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("withdraw command: %w", err)
		}
	}
	return false, nil
}

// Dropped returns the first commands of people that no runner has claimed, at most PassLimit, in
// the order of their ids. It leaves out what is not one, such as a file that is being written.
func Dropped(loopDir string) ([]Command, error) {
	d, err := openDir(loopDir, Folder)
	if isAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	defer d.close()
	files, err := newBox(loopDir, Folder, nil).firstFiles(d, PassLimit)
	if err != nil {
		return nil, fmt.Errorf("read inbox: %w", err)
	}
	var all []Command
	for _, f := range files {
		text, _, err := d.read(f.name)
		if err != nil || f.claimed || f.id == "" {
			continue
		}
		if c, err := decode(f, text); err == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// dropper is this process's. One for all loops keeps its ids in order.
var dropper = writer{open: makeBox, newID: monotonicIDs(rand.Reader), token: rand.Text}

// writer drops commands. Its fields are what tests replace.
type writer struct {
	open  func(loopDir, name string) (openBox, error)
	newID func(time.Time) (string, error)
	token func() string // for temporary names
}

func (w *writer) drop(loopDir string, c Command) (id string, err error) {
	if c.ID != "" {
		return "", errors.New("it has an id already")
	}
	return w.write(loopDir, c)
}

// deliver is fs.ErrExist for a command that is in the inbox. A claim renames it, so the name that it
// is dropped under is looked for first.
func (w *writer) deliver(loopDir string, c Command) (id string, err error) {
	if !canonicalID(c.ID) {
		return "", fmt.Errorf("%.40q is not an id", c.ID)
	}
	if c.Kind.IsAgents() {
		return "", fmt.Errorf("%s is a command of an agent", c.Kind)
	}
	d, err := makeDir(loopDir, Folder)
	if err != nil {
		return "", err
	}
	defer d.close()
	for _, suffix := range []string{droppedSuffix, claimedSuffix} {
		if _, err := d.root.Lstat(c.ID + suffix); !errors.Is(err, fs.ErrNotExist) {
			return "", cmp.Or(err, fs.ErrExist)
		}
	}
	return w.write(loopDir, c)
}

// write puts a command into its part of the inbox, under its id or a new one.
func (w *writer) write(loopDir string, c Command) (id string, err error) {
	if err := c.Check(); err != nil {
		return "", err
	}
	c.Process = lineage()
	d, err := w.open(loopDir, folderOf(c.Kind))
	if err != nil {
		return "", err
	}
	defer d.close()
	temp := tempPrefix + w.token()
	f, err := d.create(temp)
	if err != nil {
		return "", err
	}
	var line []byte
	if id, line, err = w.encode(f, c); err == nil {
		err = safefile.Fill(f, line)
	} else {
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = d.place(temp, id+droppedSuffix)
	}
	if err != nil {
		return "", errors.Join(err, d.names().Remove(temp))
	}
	return id, d.names().Sync()
}

// encode gives the command an id, unless it has one, and its time: the one that the file system
// gave the new file. This package reads no clock, so all processes that share the folder, on any
// host, take their ids from one clock.
func (w *writer) encode(f newFile, c Command) (id string, line []byte, err error) {
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	if c.ID == "" {
		if c.ID, err = w.newID(info.ModTime()); err != nil {
			return "", nil, err
		}
	}
	if c.At.IsZero() {
		c.At = info.ModTime()
	}
	c.At = c.At.UTC().Truncate(time.Microsecond)
	line, err = encode(c)
	return c.ID, line, err
}

// monotonicIDs returns a source of ULIDs that rise with every call, also within a millisecond and
// when the time it is given steps back. It is safe for concurrent use.
func monotonicIDs(random io.Reader) func(time.Time) (string, error) {
	var (
		mu      sync.Mutex
		last    uint64
		entropy = ulid.Monotonic(random, 0)
	)
	return func(at time.Time) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		last = max(last, ulid.Timestamp(at))
		id, err := ulid.New(last, entropy)
		if errors.Is(err, ulid.ErrMonotonicOverflow) {
			last++ // one in 2^48 milliseconds: borrow from the next
			id, err = ulid.New(last, entropy)
		}
		if err != nil {
			return "", fmt.Errorf("make id: %w", err)
		}
		return id.String(), nil
	}
}
