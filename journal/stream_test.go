package journal_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
)

// Segments that were renamed, compressed or put together read like those in their folder, and what
// is wrong with them is found as well.
func TestReadStream(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	add(t, w, notices(1, 3)...)
	if _, err := w.Rotate(2, nil); err != nil {
		t.Fatal(err)
	}
	add(t, w, notices(4, 6)...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := read(dir, journal.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var both [][]byte
	for _, name := range []string{"000001-i0001.jsonl", "000002-i0002.jsonl"} {
		text := testfile.Read(t, filepath.Join(dir, "journal", name))
		both = append(both, text)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	pack := func(text []byte) []byte { return enc.EncodeAll(text, nil) }
	for name, c := range map[string]struct {
		text    []byte
		lines   int
		damaged bool
	}{
		"both":                      {text: joined(both...), lines: len(want)},
		"both compressed":           {text: joined(pack(both[0]), pack(both[1])), lines: len(want)},
		"an unfinished line":        {text: joined(both[0], both[1][:len(both[1])-9]), lines: len(want) - 1},
		"nothing":                   {},
		"in the wrong order":        {text: joined(both[1], both[0]), lines: len(want) - bytes.Count(both[0], []byte{'\n'}), damaged: true},
		"a segment twice":           {text: joined(both[0], both[0]), lines: bytes.Count(both[0], []byte{'\n'}), damaged: true},
		"without its first line":    {text: both[0][bytes.IndexByte(both[0], '\n')+1:], damaged: true},
		"compressed, and cut short": {text: pack(both[0])[:40], damaged: true},
	} {
		renamed := filepath.Join(t.TempDir(), "renamed")
		testfile.Write(t, renamed, c.text)
		var lines int
		var failed error
		for _, err := range journal.ReadStream(bytes.NewReader(c.text), "it") {
			if failed = err; err == nil {
				lines++
			}
		}
		again, err := read(renamed, journal.ReadOptions{})
		if lines != c.lines || (failed != nil) != c.damaged || len(again) != lines || (err != nil) != c.damaged {
			t.Errorf("%s: %d events, want %d: %v; by its name %d: %v", name, lines, c.lines, failed, len(again), err)
		}
	}
}

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
