package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/projector"
)

// State is what a person decided about an item; empty while that is open.
type State string

// The states.
const (
	Approved   State = "approved"
	SentBack   State = "sent back"   // with words for the agent
	RolledBack State = "rolled back" // the file is as it was before the loop
)

// Decision is what a person decided about an item.
type Decision struct {
	State State     `json:"state,omitempty"`
	At    time.Time `json:"at,omitzero"`
	Words string    `json:"words,omitempty"` // that the agent got
	Kept  string    `json:"kept,omitempty"`  // the ref that keeps a file as it was before it was rolled back
	Back  string    `json:"back,omitempty"`  // the command that brings it back
}

// Review is the state of a review: a file in ralph's home.
type Review struct {
	Loop string `json:"loop"` // its ULID
	// Reviewed is that of the list when something was decided last.
	projector.Reviewed
	Items []Decided `json:"items"`
}

// Decided is an item with its decision.
type Decided struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	File string `json:"file,omitempty"`
	Decision
}

// Decide records what a person decided about an item, in place of what they decided before.
func (r *Review) Decide(item *Item, d Decision) {
	r.Items = slices.DeleteFunc(r.Items, func(old Decided) bool {
		return old.ID == item.ID || old.State == RolledBack && old.Kind == item.Kind && old.File == item.File
	})
	r.Items = append(r.Items, Decided{item.ID, item.Kind, item.File, d})
}

// Mark adds to a list what a person decided. A file that was rolled back and does not differ any
// more is at its end.
func (l *List) Mark(r Review) {
	same := func(d *Decided, item *Item) bool { return d.Kind == item.Kind && d.File == item.File }
	for i := range l.Items {
		item := &l.Items[i]
		for n := range r.Items {
			switch d := &r.Items[n]; {
			case d.ID == item.ID && d.State != RolledBack:
				item.Decision = d.Decision
			case same(d, item) && item.Kind == File:
				item.Again = true
			}
		}
		item.Again = item.Again && item.Open()
	}
	for n := range r.Items {
		d := &r.Items[n]
		gone := !slices.ContainsFunc(l.Items, func(item Item) bool { return same(d, &item) || slices.ContainsFunc(item.Files, d.among) })
		if d.State == RolledBack && gone {
			l.Items = append(l.Items, Item{ID: d.ID, Kind: d.Kind, File: d.File, Reasons: []string{"it is as it was before the loop"}, Decision: d.Decision})
		}
	}
	l.count()
}

// among reports whether a line of the rest is about the same file.
func (d *Decided) among(line string) bool {
	return len(line) > len(d.File) && line[:len(d.File)+1] == d.File+" "
}

// maxState is the largest state that is read, in bytes.
const maxState = 8 << 20

const folder = "reviews"

func stateFile(home, id string) (string, error) {
	if id == "" || filepath.Base(id) != id {
		return "", fmt.Errorf("%q is no id of a loop", id)
	}
	return filepath.Join(home, folder, id+".json"), nil
}

// ReadState returns the state of the review of a loop, which is empty before a person has decided
// anything.
func ReadState(home, id string) (Review, error) {
	r := Review{Loop: id}
	path, err := stateFile(home, id)
	if err != nil {
		return r, err
	}
	text, err := safefile.Read(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.Loop != id {
		err = fmt.Errorf("it is about loop %s", r.Loop)
	}
	if err != nil {
		return Review{Loop: id}, fmt.Errorf("read the review %s: %w", path, err)
	}
	return r, nil
}

// Write writes the state to ralph's home.
func (r Review) Write(home string) error {
	path, err := stateFile(home, r.Loop)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = safefile.WriteFile(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record the review: %w", err)
	}
	return nil
}

// lockFile is the name of the file that is locked while a state is changed.
const lockFile = "lock"

// Alone does what changes a state while no other process does. It waits for others until ctx ends.
func Alone(ctx context.Context, home string, do func() error) error {
	dir := filepath.Join(home, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("record the review: %w", err)
	}
	lock, err := safefile.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("record the review: %w", err)
	}
	defer lock.Close()
	for {
		alone, err := filelock.TryExclusive(lock)
		switch {
		case err != nil:
			return fmt.Errorf("record the review: %w", err)
		case alone:
			return do()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockWait):
		}
	}
}

// lockWait is the time between two attempts to lock: a change takes less.
const lockWait = 5 * time.Millisecond

// Forget removes the state of the review of a loop that is removed.
func Forget(home, id string) error {
	path, err := stateFile(home, id)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && id != "" {
		return fmt.Errorf("forget the review: %w", err)
	}
	return nil
}

// AddReviewed adds to views how far the reviews of their loops are. What cannot be read is left
// out.
func AddReviewed(home string, views ...*projector.View) {
	names, err := os.ReadDir(filepath.Join(home, folder))
	if err != nil || len(names) == 0 {
		return
	}
	begun := map[string]bool{}
	for _, name := range names {
		begun[name.Name()] = true
	}
	for _, v := range views {
		if !begun[v.ID+".json"] {
			continue
		}
		if r, err := ReadState(home, v.ID); err == nil && r.Total > 0 {
			r.Reviewed.Old = v.At.After(r.at())
			v.Reviewed = &r.Reviewed
		}
	}
}

// at is when something was decided last.
func (r *Review) at() (last time.Time) {
	for _, d := range r.Items {
		if d.At.After(last) {
			last = d.At
		}
	}
	return last
}

// An Act is what a person decides about an item or a file.
type Act struct {
	Do    Deed   `json:"do"`
	Item  string `json:"item,omitempty"`  // its id, or the beginning of it
	File  string `json:"file,omitempty"`  // that is rolled back
	Words string `json:"words,omitempty"` // for the agent
}

// Deed is a kind of acts.
type Deed string

// The closed list of deeds.
const (
	Approve  Deed = "approve"
	SendBack Deed = "send back"
	RollBack Deed = "roll back"
)

// Next is the first open item after one of that place, or else the first open one; -1 if none is.
func (l *List) Next(after int) int {
	first := -1
	for i := range l.Items {
		if !l.Items[i].Open() {
			continue
		}
		if i > after {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}
