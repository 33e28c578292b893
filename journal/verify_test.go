package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal"
)

// A person opens the segment in an editor and goes to that line: the first is 1.
func TestDamageNamesItsLine(t *testing.T) {
	sealed, left := twoSegments(t)
	lines := bytes.SplitAfter(sealed, []byte("\n"))
	first := "000001-i0000.jsonl"
	for what, c := range map[string]struct {
		segments map[string][]byte
		segment  string
		line     int
		offset   int
	}{
		"a segment under another name": {map[string][]byte{"000003-i0000.jsonl": left}, "000003-i0000.jsonl", 1, 0},
		"a segment that does not follow": {
			map[string][]byte{first: bytes.Join(lines[:len(lines)-2], nil), secondSegment: left}, secondSegment, 1, 0,
		},
		"a line after the seal": {
			map[string][]byte{first: rechecked(append(bytes.Clone(sealed), "{\"v\":1,\"seq\":5,\"id\":\"01JD0000000000000000000005\",\"at\":\"2026-11-21T01:52:28.123456Z\",\"iter\":0,\"by\":\"loop\",\"type\":\"loop.paused\",\"data\":{}\n"...))},
			first, 5, len(sealed),
		},
		"a seal for other lines": {
			map[string][]byte{first: rechecked(bytes.Replace(sealed, []byte(`"events":3`), []byte(`"events":4`), 1))}, first, 4, len(sealed) - len(lines[3]),
		},
		"a line with its checksum that is not JSON": {
			map[string][]byte{first: rechecked(bytes.Replace(sealed, []byte(`"data":{`), []byte(`"data":[`), 1))}, first, 1, 0,
		},
	} {
		t.Run(what, func(t *testing.T) {
			disk := newDisk(1)
			if err := disk.MkdirAll("loop/journal"); err != nil {
				t.Fatal(err)
			}
			for name, text := range c.segments {
				disk.Drop("loop/journal/"+name, text)
			}
			damage, ok := errors.AsType[*journal.CorruptError](journal.VerifyFS(disk, "loop", nil))
			if !ok || damage.Segment != c.segment || damage.Line != c.line || damage.Offset != int64(c.offset) {
				t.Errorf("reported as %+v; want line %d of %s, at byte %d", damage, c.line, c.segment, c.offset)
			}
		})
	}
}

// rechecked computes the checksums of lines again.
func rechecked(text []byte) []byte {
	var out []byte
	var crc uint32
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		line, _, _ = bytes.Cut(line, []byte(`,"crc":`))
		start := len(out)
		out, crc = frame.Close(append(out, line...), start, crc)
		out = append(out, '\n')
	}
	return out
}
