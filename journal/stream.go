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

// ReadStream is [Read] for a stream without the name of a segment: a renamed file, a pipe, or
// several segments one after the other, compressed or not. name is for errors. The stream may begin
// with any segment; from there on each event has to follow the one before it. A torn line at the
// end is ignored.
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
		seg := &eventReader{lineReader: l, segment: name, verify: true}
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

func streamLines(from io.Reader) (*lineReader, error) {
	buffered := bufio.NewReaderSize(from, firstBytes)
	begin, err := buffered.Peek(len(packedMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	l := &lineReader{from: buffered}
	if bytes.Equal(begin, packedMagic) {
		if l.packed, err = unpack(buffered); err != nil {
			return nil, err
		}
		l.from = l.packed
	}
	return l, nil
}

// nextOfStream is next, but a segment may begin after another one: its checksums begin again.
func (r *eventReader) nextOfStream(e *event.Event) error {
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
