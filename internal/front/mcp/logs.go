package mcp

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs/filter"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

const (
	logsUsual = 50
	logsMost  = 200
	logsBytes = 64 << 10 // of all lines of an answer
	logsTypes = 32
)

type logsInput struct {
	loopInput
	Types      []string `json:"types,omitempty" jsonschema:"only these types, such as loop.ended; tool. means all that begin with it"`
	Iterations string   `json:"iterations,omitempty" jsonschema:"only these: 3, 2..4 or 5.."`
	Limit      int      `json:"limit,omitempty" jsonschema:"at most so many, from 1 to 200; 50 without it"`
	Cursor     string   `json:"cursor,omitempty" jsonschema:"the next of an earlier answer, or 0 for the beginning of the journal; without it the last events"`
}

type logsOutput struct {
	Loop   string      `json:"loop" jsonschema:"its id"`
	Events []eventLine `json:"events"`
	Next   string      `json:"next" jsonschema:"the cursor for what comes after these events"`
	More   bool        `json:"more" jsonschema:"there are events after these now"`
}

type eventLine struct {
	Seq       int64     `json:"seq"`
	At        time.Time `json:"at"`
	Iteration int       `json:"iteration"`
	Type      string    `json:"type"`
	Text      string    `json:"text" jsonschema:"the event as a line; shortened where it is long"`
}

func (s *Server) logs(ctx context.Context, e *cli.Env, _ *sdk.CallToolRequest, in logsInput) (logsOutput, error) {
	limit, err := within("limit", in.Limit, logsUsual, logsMost)
	if err != nil {
		return logsOutput{}, err
	}
	if len(in.Types) > logsTypes {
		return logsOutput{}, cli.Refuse("name groups, such as tool.", "%d types are named; %d is the most", len(in.Types), logsTypes)
	}
	for _, word := range append([]string{in.Iterations}, in.Types...) {
		if err := checkWord("a type or iterations", word); err != nil {
			return logsOutput{}, err
		}
	}
	keep, err := filter.New(filter.Options{Types: in.Types, Iterations: in.Iterations}, e.Now())
	if err != nil {
		return logsOutput{}, err
	}
	from, err := place(in.Cursor)
	if err != nil {
		return logsOutput{}, err
	}
	l, err := find(e, in.Loop)
	if err != nil {
		return logsOutput{}, err
	}
	r := reading{limit: limit, keep: keep, next: event.Seq(from)}
	if in.Cursor == "" {
		err = r.last(ctx, l)
	} else {
		err = r.after(ctx, l)
	}
	if err != nil {
		return logsOutput{}, err
	}
	return logsOutput{Loop: l.ID, Events: r.lines(), Next: r.next.String(), More: r.more}, nil
}

// A reading is a page of a journal.
type reading struct {
	limit int
	keep  filter.Filter
	found []event.Event
	next  event.Seq // of the last event that was read
	more  bool
}

// last reads the last events that are kept.
func (r *reading) last(ctx context.Context, l registry.Status) error {
	for e, err := range journal.Read(l.Dir, journal.ReadOptions{}) {
		if err != nil {
			return unreadable(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.next = e.Seq
		if !r.keep.Keeps(e) {
			continue
		}
		if len(r.found) == r.limit {
			r.found = slices.Delete(r.found, 0, 1)
		}
		r.found = append(r.found, e.Clone())
	}
	return nil
}

// after reads the first events after the cursor that are kept.
func (r *reading) after(ctx context.Context, l registry.Status) error {
	from := r.next + 1
	if r.next == 0 {
		from = 0 // the first that the journal still has
	}
	for e, err := range journal.Read(l.Dir, journal.ReadOptions{FromSeq: from}) {
		if none, ok := errors.AsType[*journal.RangeError](err); ok && none.Last == r.next {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(r.found) == r.limit {
			r.more = true
			return nil
		}
		r.next = e.Seq
		if r.keep.Keeps(e) {
			r.found = append(r.found, e.Clone())
		}
	}
	return nil
}

func unreadable(err error) error {
	gone, ok := errors.AsType[*journal.RangeError](err)
	if ok && gone.First == 0 {
		return cli.Refuse("take next of an earlier answer, or leave it out", "the cursor is beyond the journal: %w", err)
	}
	if ok {
		return cli.Refuse("a cursor of "+(gone.First-1).String()+" begins with the first event that is left", "%w", gone)
	}
	return err
}

// lines are the events as text, as many as an answer may have.
func (r *reading) lines() []eventLine {
	lines, size := []eventLine{}, 0
	for i, e := range r.found {
		line := eventLine{Seq: int64(e.Seq), At: e.At, Iteration: e.Iter, Type: short(string(e.Type)), Text: units.Cut(render.Fields(e), mostText)}
		if size += len(line.Text); size > logsBytes && i > 0 {
			r.more, r.next = true, r.found[i-1].Seq
			break
		}
		lines = append(lines, line)
	}
	return lines
}

const (
	reportPage = 32 << 10 // bytes of a page
	reportMost = 4 << 20  // bytes of a report that is served
)

type reportInput struct {
	loopInput
	Cursor string `json:"cursor,omitempty" jsonschema:"the next of an earlier answer"`
}

type reportOutput struct {
	Loop     string `json:"loop" jsonschema:"its id"`
	Markdown string `json:"markdown"`
	Next     string `json:"next,omitempty" jsonschema:"the cursor of the next page; none at the end"`
}

func (s *Server) report(_ context.Context, e *cli.Env, _ *sdk.CallToolRequest, in reportInput) (reportOutput, error) {
	from, err := place(in.Cursor)
	if err != nil {
		return reportOutput{}, err
	}
	l, err := find(e, in.Loop)
	if err != nil {
		return reportOutput{}, err
	}
	text, err := reportOf(e, l)
	if err != nil {
		return reportOutput{}, err
	}
	from = min(from, len(text))
	page := units.Prefix(text[from:], reportPage)
	out := reportOutput{Loop: l.ID, Markdown: page}
	if end := from + len(page); end < len(text) && page != "" {
		out.Next = strconv.Itoa(end)
	}
	return out, nil
}
