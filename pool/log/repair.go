package log

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/parts"
)

// repairVersion is that of a Repair.
const repairVersion = 1

// maxRepair bounds the lines of a repair, in bytes.
const maxRepair = 1 << 30

// A Repair says who stored the lines of damaged chunks again, and why. It is the first line under
// keys.Repair, followed by the lines, compressed.
type Repair struct {
	Version int       `json:"v"`
	Loop    string    `json:"loop"`
	Number  uint64    `json:"n"` // of the first damaged chunk
	First   event.Seq `json:"first"`
	Last    event.Seq `json:"last"`
	// Epoch and Host are those under which the host that repairs it has the loop. They count only
	// if no chunk follows.
	Epoch uint64    `json:"epoch"`
	Host  string    `json:"host"`
	By    string    `json:"by"` // the host that stored it
	At    time.Time `json:"at"`
	Why   string    `json:"why"` // as the damage was found
}

// repair returns the repair of a damage; one without version if there is none that fits.
func (r *Reader) repair(ctx context.Context, d Damage) (note Repair, lines []byte, err error) {
	if r.Repair != nil {
		note, lines, err = r.Repair(d)
	} else {
		note, lines, err = Stored(ctx, r.Store, r.Loop, d.First)
	}
	if err != nil || note.Version == 0 {
		return Repair{}, nil, err
	}
	if note.Loop != r.Loop || note.First != d.From || note.Last < d.To || uint64(bytes.Count(lines, []byte("\n"))) != uint64(note.Last-note.First)+1 {
		return Repair{}, nil, nil
	}
	if d.To > 0 { // what the next chunks have is theirs
		lines, note.Last = firstLines(lines, uint64(d.To-d.From)+1), d.To
	}
	return note, lines, nil
}

func firstLines(lines []byte, n uint64) []byte {
	end := 0
	for range n {
		end += bytes.IndexByte(lines[end:], '\n') + 1
	}
	return lines[:end]
}

// Stored returns the repair of a chunk that the store has; one without version if there is none.
func Stored(ctx context.Context, s store.Store, loop string, n uint64) (note Repair, lines []byte, err error) {
	var packed bytes.Buffer
	_, err = parts.Get(ctx, s, keys.Repair(loop, n), &packed)
	if errors.Is(err, store.ErrNotFound) {
		return note, nil, nil
	}
	if err != nil {
		return note, nil, fmt.Errorf("read the repair of chunk %d of loop %s: %w", n, loop, err)
	}
	z, err := zstd.NewReader(&packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRepair))
	if err != nil {
		return note, nil, err
	}
	defer z.Close()
	text, err := io.ReadAll(io.LimitReader(z, maxRepair))
	head, lines, _ := bytes.Cut(text, []byte("\n"))
	if err == nil {
		err = json.Unmarshal(head, &note)
	}
	if err == nil && note.Version != repairVersion {
		err = fmt.Errorf("it has version %d, and this program reads %d: use a newer ralph", note.Version, repairVersion)
	}
	if err != nil {
		return Repair{}, nil, fmt.Errorf("read the repair of chunk %d of loop %s: %w", n, loop, err)
	}
	return note, lines, nil
}

// PutRepair stores the lines of a damage, if no host has.
func PutRepair(ctx context.Context, s store.Store, note Repair, lines []byte) error {
	note.Version = repairVersion
	head, err := json.Marshal(note)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	_, err = parts.Put(ctx, s, keys.Repair(note.Loop, note.Number), bytes.NewReader(z.EncodeAll(append(append(head, '\n'), lines...), nil)))
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// Note begins the repair of a damage, whose lines are those of a journal from event d.From on.
func (d Damage) Note(loop, host string, at time.Time, last event.Seq) Repair {
	return Repair{Version: repairVersion, Loop: loop, Number: d.First, First: d.From, Last: last, By: host, At: at, Why: d.String()}
}

// Ends reports whether no chunk follows, so that only the loop's own host knows what it
// had.
func (d Damage) Ends() bool { return d.ends }
