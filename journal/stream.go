package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/ralph-loop/ralph/journal/event"
)

// packedMagic is how a compressed segment begins.
var packedMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// ReadStream is [Read] for what has no name of a segment: a renamed file, a pipe, or several segments one after the
// other, compressed or not. name stands in errors. It may begin with any segment; from there on every event has to
// follow the one before it. An unfinished last line is not there yet.
func ReadStream(from io.Reader, name string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		l, err := streamLines(from)
		if err != nil {
			yield(event.Event{}, fmt.Errorf("read %s: %w", name, err))
			return
		}
		if l.packed != nil {
			defer l.packed.close()
		}
		seg := &events{lines: l, segment: name, verify: true}
		var e event.Event
		for {
			err := seg.nextOfStream(&e)
			if err == io.EOF {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func streamLines(from io.Reader) (*lines, error) {
	buffered := bufio.NewReaderSize(from, firstBytes)
	begin, err := buffered.Peek(len(packedMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	l := &lines{from: buffered}
	if bytes.Equal(begin, packedMagic) {
		if l.packed, err = unpack(buffered); err != nil {
			return nil, err
		}
		l.from = l.packed
	}
	return l, nil
}

// nextOfStream is next, and lets a segment begin where another one ended: its checksums begin again.
func (r *events) nextOfStream(e *event.Event) error {
	crc := r.crc
	err := r.next(e)
	damage, ok := errors.AsType[*CorruptError](err)
	if !ok {
		return err
	}
	r.crc = 0
	if again := r.next(e); again == nil && e.Type == event.TypeSegmentOpened {
		return nil
	}
	r.crc = crc
	return damage
}
