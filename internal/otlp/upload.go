package otlp

import (
	"context"
	"encoding/json"
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
// write files. It returns the number of spans.
func (u *Upload) Write(w io.Writer) (spans int64, err error) {
	fold := NewFold(Mapping{Content: u.Target.Content, Mask: u.Mask})
	damage := u.each(fold, func(batch []Span) error {
		line, err := Encode(fold.Trace(), batch, u.Target.Resource, JSON)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		spans += int64(len(batch))
		return err
	})
	return spans, damage
}

// Send sends the spans that the collector does not have. Sent is also right with an error, which
// says why the rest was not sent, or where the journal is damaged.
func (u *Upload) Send(ctx context.Context) (sent Sent, err error) {
	p := Position{To: u.Target.Shown(), Fold: NewFold(Mapping{Content: u.Target.Content})}
	if u.Dir != "" {
		if p, err = ReadPosition(u.Dir, u.Target); err != nil {
			return sent, err
		}
	}
	p.Fold.mapping.Mask = u.Mask
	sender := NewSender(u.Target, u.Now)
	defer sender.Close()
	err = u.each(p.Fold, func(batch []Span) error {
		n, err := u.persist(ctx, sender, p.Fold.Trace(), batch)
		sent.Taken, sent.Rejected = sent.Taken+n.Taken, sent.Rejected+n.Rejected
		p.Sent, p.Lost = p.Sent+n.Taken, p.Lost+n.Rejected
		if err != nil || u.Dir == "" {
			return err
		}
		return p.keep(u.Dir)
	})
	return sent, err
}

// each folds the events after those of the fold, and calls batch with the spans that end, at most
// batchMost at a time. The fold is then that after the spans.
func (u *Upload) each(fold *Fold, batch func([]Span) error) error {
	var spans []Span
	var damage error
	for e, err := range u.Events {
		if err != nil {
			damage = err
			break
		}
		if e.Seq <= fold.Seq {
			continue
		}
		if spans = append(spans, fold.Event(e)...); len(spans) >= batchMost {
			if err := batch(spans); err != nil {
				return err
			}
			spans = nil
		}
	}
	if u.Dead || damage != nil {
		spans = append(spans, fold.Cut()...)
	}
	if len(spans) > 0 {
		if err := batch(spans); err != nil {
			return err
		}
	}
	return damage
}

// persist sends spans, and again what the collector does not take, while the patience lasts.
func (u *Upload) persist(ctx context.Context, s *Sender, trace string, spans []Span) (all Sent, err error) {
	waited, delay := time.Duration(0), retryFirst
	for {
		sent, answer := s.SendAll(ctx, trace, spans)
		all.Taken, all.Rejected = all.Taken+sent.Taken, all.Rejected+sent.Rejected
		spans = spans[sent.Taken+sent.Rejected:]
		if len(spans) == 0 {
			return all, nil
		}
		wait := max(delay, answer.After)
		if answer.Verdict != Later || waited+wait > u.Patience {
			return all, fmt.Errorf("%s does not take the trace: %w", u.Target.Shown(), errors.New(answer.Why))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return all, ctx.Err()
		}
		waited, delay = waited+wait, min(2*delay, retryMost)
	}
}

// clone copies a fold by the form in which it is kept.
func (f *Fold) clone() (*Fold, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("copy what was exported: %w", err)
	}
	c := NewFold(f.mapping)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("copy what was exported: %w", err)
	}
	return c, nil
}
