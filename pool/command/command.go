// Package command is how a person on one host steers a loop on another: the command waits in the
// store under an ID of its own, and the host that has the loop drops it into the loop's inbox,
// once. The receipt is an event of the loop, as for any command.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/store"
)

// Version is that of the form.
const Version = 1

// Outcome is what became of a command, as far as the store says it.
type Outcome string

// The outcomes. A command without one waits.
const (
	Received Outcome = "received" // the loop's log has its receipt
	Rejected Outcome = "rejected" // it reaches no inbox, and Why says why
)

// A Command is the value of keys.Inbox(loop) + its ID.
type Command struct {
	Version int           `json:"v"`
	Command inbox.Command `json:"command"` // without ID and processes
	// Epoch is that of the loop when the command was given; 0 is any. A command for an earlier
	// epoch is rejected: what it was given for may not be true any more.
	Epoch   uint64  `json:"epoch,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"`
	Why     string  `json:"why,omitempty"`
}

// kinds are those that come from another host: what people may ask for, and no more.
var kinds = []inbox.Kind{
	inbox.Steer, inbox.FollowUp, inbox.Stop, inbox.StopNow, inbox.Pause, inbox.Resume, inbox.Set, inbox.Kill, inbox.Answer, inbox.TakeBack,
}

// Send stores a command, wakes the host, and returns the command's ID. The host is the one that the
// caller has seen; if the log says after that that another has the loop, that one is woken as well.
// A host that takes the loop over later finds the command when it begins. After an error with an ID
// the command may be there: the loop takes it once, however often it is sent under that ID.
func Send(ctx context.Context, s store.Store, loop, host string, epoch uint64, c inbox.Command) (id string, err error) {
	value := Command{Version: Version, Command: c, Epoch: epoch}
	if err := value.Check(); err != nil {
		return "", fmt.Errorf("send a command to loop %s: %w", loop, err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("send a command to loop %s: %w", loop, err)
	}
	id = ulid.Make().String()
	if _, err := s.PutIfAbsent(ctx, keys.Inbox(loop)+id, text); err != nil {
		return id, fmt.Errorf("send a command to loop %s: %w", loop, err)
	}
	err = Wake(ctx, s, host, loop)
	newest, problem := log.Newest(ctx, s, loop)
	switch {
	case errors.Is(problem, log.ErrNone):
	case problem != nil:
		err = errors.Join(err, problem)
	case newest.Host != host:
		err = errors.Join(err, Wake(ctx, s, newest.Host, loop))
	}
	if err != nil {
		return id, fmt.Errorf("the command is stored, and its host finds it when it is woken next: %w", err)
	}
	return id, nil
}

// named is how many loops a call names at most.
const named = 64

// A call is the value of keys.Wake. Its last loops are those for which it was written last, so that
// a host with a thousand loops need not ask about all of them.
type call struct {
	Count uint64   `json:"count"` // of its writes
	Loops []string `json:"loops"`
}

// Wake says to a host that something is to be seen about one of its loops: a command, or a
// take-over.
func Wake(ctx context.Context, s store.Store, host, loop string) error {
	for {
		entry, err := s.Get(ctx, keys.Wake(host))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("wake host %s: %w", host, err)
		}
		var b call
		_ = json.Unmarshal(entry.Value, &b) // what is none is replaced
		b.Count++
		b.Loops = append(b.Loops, loop)
		b.Loops = b.Loops[max(0, len(b.Loops)-named):]
		text, err := json.Marshal(b)
		if err != nil {
			return fmt.Errorf("wake host %s: %w", host, err)
		}
		if _, err := s.CompareAndSwap(ctx, keys.Wake(host), entry.Revision, text); !errors.Is(err, store.ErrChanged) {
			if err != nil {
				err = fmt.Errorf("wake host %s: %w", host, err)
			}
			return err
		}
	}
}

// A Listener has read for which loops a host was woken.
type Listener struct {
	revision store.Revision
	count    uint64
}

// Woken returns the loops for which the host was woken since the last call. unknown says that it
// may be for any loop. After an error, the next call returns the same.
func (l *Listener) Woken(ctx context.Context, s store.Store, host string) (loops []string, unknown bool, err error) {
	entry, err := s.Get(ctx, keys.Wake(host))
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil || entry.Revision == l.revision {
		return nil, false, err
	}
	var b call
	_ = json.Unmarshal(entry.Value, &b) // what is none may be for any loop
	since := l.count
	l.revision, l.count = entry.Revision, b.Count
	if b.Count <= since || b.Count-since > uint64(len(b.Loops)) {
		return nil, true, nil
	}
	return b.Loops[uint64(len(b.Loops))-(b.Count-since):], false, nil
}

// ID returns the ID in the key of a command.
func ID(loop, key string) (id string, ok bool) {
	id, ok = strings.CutPrefix(key, keys.Inbox(loop))
	parsed, err := ulid.ParseStrict(id)
	return id, ok && err == nil && parsed.String() == id
}

// Parse reads a stored command. It may be hostile.
func Parse(value []byte) (c Command, err error) {
	if err := json.Unmarshal(value, &c); err != nil {
		return c, fmt.Errorf("it is no command: %w", err)
	}
	if c.Version != Version {
		return c, fmt.Errorf("version %d: this program reads version %d", c.Version, Version)
	}
	return c, c.Check()
}

// maxFrom bounds the name of who gave a command, in bytes.
const maxFrom = 255

// Check reports what a command lacks.
func (c Command) Check() error {
	if !slices.Contains(kinds, c.Command.Kind) {
		return fmt.Errorf("%.40q is no command from another host", c.Command.Kind)
	}
	if from := c.Command.From; from == "" || len(from) > maxFrom || strings.ContainsFunc(from, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("it does not say who gave it: %.40q is no name", from)
	}
	return c.Command.Check()
}
