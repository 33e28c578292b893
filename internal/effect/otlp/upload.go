package otlp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Upload is an export of a journal that is there already.
type Upload struct {
	Target *Target
	Mask   func([]byte) []byte
	Now    func() time.Time
	// Events are those of the journal. An error ends the export; what came before it is exported.
	Events iter.Seq2[event.Event, error]
	// Dead says that no runner works on the loop, so that what is open ends with the journal.
	Dead bool
	// Dir is the loop's folder, where the position is remembered; empty to export all of it,
	// whatever the collector has.
	Dir string
	// Patience is how long a collector that takes nothing is tried.
	Patience time.Duration
}

// Write writes the spans in the JSON encoding, one request on each line, as collectors read and
// write files. What comes before the damage of a journal is written.
func (u *Upload) Write(w io.Writer) (damage, err error) {
	out := outbox{position: Position{Fold: NewFold(Mapping{Content: u.Target.Content, Mask: u.Mask})}}
	return u.each(&out, func() error {
		line, err := Encode(out.position.Fold.Trace(), out.spans, u.Target.Resource, JSON)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		out.spans = nil
		return err
	})
}

// Send sends the spans that the collector does not have. Sent is also right with an error, which
// says why the rest was not sent, or where the journal is damaged.
func (u *Upload) Send(ctx context.Context) (Sent, error) {
	out := outbox{position: Position{Fold: NewFold(Mapping{Content: u.Target.Content})}, sender: NewSender(u.Target, u.Now), dir: u.Dir}
	defer out.sender.Close()
	if u.Dir != "" {
		var err error
		if out.position, err = ReadPosition(u.Dir, u.Target); err != nil {
			return Sent{}, err
		}
	}
	out.position.Fold.mapping.Mask = u.Mask
	damage, err := u.each(&out, func() error { return u.persist(ctx, &out) })
	return out.sent, cmp.Or(err, damage)
}

// each folds the events, and calls full with the spans that end.
func (u *Upload) each(out *outbox, full func() error) (damage, err error) {
	if damage, err = out.fold(u.Events, full); err != nil {
		return nil, err
	}
	if u.Dead || damage != nil {
		out.spans = append(out.spans, out.position.Fold.Cut()...)
	}
	if len(out.spans) > 0 {
		err = full()
	}
	return damage, err
}

// persist sends spans, and again what the collector does not take, while the patience lasts.
func (u *Upload) persist(ctx context.Context, out *outbox) error {
	waited, delay := time.Duration(0), retryFirst
	for {
		answer, err := out.send(ctx)
		if len(out.spans) == 0 {
			return err
		}
		wait := max(delay, answer.After)
		if answer.Verdict != Later || waited+wait > u.Patience {
			return fmt.Errorf("%s does not take the trace: %w", u.Target.Shown(), errors.New(answer.Why))
		}
		if pause(ctx, wait); ctx.Err() != nil {
			return ctx.Err()
		}
		waited, delay = waited+wait, min(2*delay, retryMost)
	}
}
