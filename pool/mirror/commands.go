package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
)

// commands returns the keys of a loop's commands that are not known to be done.
func (m *Mirror) commands(ctx context.Context, l *loop) (waiting []string, err error) {
	for key, err := range m.store.List(ctx, keys.Inbox(l.id), "") {
		if err != nil {
			return nil, fmt.Errorf("list the commands: %w", err)
		}
		if id, ok := command.ID(l.id, key); ok && !l.done[id] {
			if _, dropped := l.dropped[id]; dropped {
				continue
			}
			waiting = append(waiting, key)
		}
	}
	return waiting, nil
}

// deliver drops commands into the loop's inbox. The store has just said that the loop is this
// host's.
func (m *Mirror) deliver(ctx context.Context, l *loop, waiting []string) error {
	if len(waiting) == 0 {
		return nil
	}
	received, err := receipts(l.dir)
	if err != nil {
		return fmt.Errorf("read which commands were received: %w", err)
	}
	for _, key := range waiting {
		if err := m.deliverOne(ctx, l, key, received); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mirror) deliverOne(ctx context.Context, l *loop, key string, received map[string]event.Seq) error {
	id, _ := command.ID(l.id, key)
	entry, err := m.store.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("read a command: %w", err)
	}
	c, wrong := command.Parse(entry.Value)
	seq, known := received[id]
	switch {
	case c.Outcome != "":
		l.done[id] = true
		return nil
	case known:
		l.dropped[id] = seq
		return nil
	case wrong != nil:
		return m.answer(ctx, l, id, command.Rejected, wrong.Error())
	case c.Epoch != 0 && c.Epoch != l.epoch:
		return m.answer(ctx, l, id, command.Rejected,
			fmt.Sprintf("it was given while the loop had epoch %d, and it has epoch %d: look at it, and give it again", c.Epoch, l.epoch))
	}
	c.Command.ID, c.Command.From = id, "pool:"+c.Command.From
	if _, err := inbox.Deliver(l.dir, c.Command); err != nil {
		return err
	}
	l.dropped[id] = 0
	return nil
}

// receipted says in the store which commands were received, once the log has their receipts: a host
// that takes the loop over knows them then.
func (m *Mirror) receipted(ctx context.Context, l *loop) error {
	for id, seq := range l.dropped {
		if seq == 0 || seq > l.log.Tail().Last {
			continue
		}
		if err := m.answer(ctx, l, id, command.Received, ""); err != nil {
			return err
		}
	}
	return nil
}

// answer writes what became of a command into it.
func (m *Mirror) answer(ctx context.Context, l *loop, id string, outcome command.Outcome, why string) error {
	key := keys.Inbox(l.id) + id
	entry, err := m.store.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("read a command: %w", err)
	}
	var c command.Command
	_ = json.Unmarshal(entry.Value, &c) // of what is no command only the answer remains
	if c.Outcome == "" {
		c.Version, c.Outcome, c.Why = command.Version, outcome, why
		text, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("answer command %s: %w", id, err)
		}
		_, err = m.store.CompareAndSwap(ctx, key, entry.Revision, text)
		if err != nil && !errors.Is(err, store.ErrChanged) {
			return fmt.Errorf("answer command %s: %w", id, err)
		}
	}
	delete(l.dropped, id)
	l.done[id] = true
	return nil
}
