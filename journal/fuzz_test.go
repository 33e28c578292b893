package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// seeds are the frozen segments and some ways of breaking them.
func seeds(f *testing.F) {
	f.Helper()
	for _, name := range []string{"000002-i0001.jsonl", "000003-i0001.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", "v1", "journal", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)-7])
		f.Add(bytes.Replace(text, []byte(`"seq":12`), []byte(`"seq":13`), 1))
		f.Add(bytes.ReplaceAll(text, []byte("\n"), nil))
		f.Add(append(bytes.Clone(text), make([]byte, 100)...))
	}
	f.Add([]byte("\n\n\n"))
	f.Add([]byte(`{"seq":1,"type":"segment.opened","data":{"ordinal":3}}` + "\n"))
}

func dropped(text []byte) *simfs.FS {
	disk := newDisk(1)
	if err := disk.MkdirAll("loop/journal"); err != nil {
		panic(err)
	}
	disk.Drop("loop/journal/000003-i0001.jsonl", text)
	return disk
}

// FuzzRead reads any bytes as a segment: it ends with events that were all
// verified, or names the damaged line.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := dropped(text)
		at := 0
		for e, err := range journal.Read("loop", journal.ReadOptions{FS: disk}) {
			if err != nil {
				damage, ok := errors.AsType[*journal.CorruptError](err)
				if !ok {
					t.Fatal(err)
				}
				if damage.Offset != int64(at) || damage.Line != 1+bytes.Count(text[:at], []byte("\n")) {
					t.Fatalf("%v; the readable part ends at %d", err, at)
				}
				break
			}
			if !bytes.HasPrefix(text[at:], append(bytes.Clone(e.Line()), '\n')) {
				t.Fatalf("event %d is not the line at %d", e.Seq, at)
			}
			at += len(e.Line()) + 1
			_, _, _, _ = e.ID(), e.By(), e.Data(), e.Raw()
		}
		_, _, _ = journal.LastFS(disk, "loop", 3)
		_ = journal.VerifyFS(disk, "loop", nil)
	})
}

// FuzzReadPacked reads any bytes as a compressed segment.
func FuzzReadPacked(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "v1", "journal", "000001-i0000.jsonl.zst"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := newDisk(1)
		if err := disk.MkdirAll("loop/journal"); err != nil {
			t.Fatal(err)
		}
		disk.Drop("loop/journal/000001-i0000.jsonl.zst", text)
		n := 0
		for e, err := range journal.Read("loop", journal.ReadOptions{FS: disk}) {
			if _, ok := errors.AsType[*journal.CorruptError](err); err != nil && !ok {
				t.Fatal(err)
			}
			if err == nil && e.Seq == 0 && n > 0 {
				t.Fatal("an event without a number")
			}
			n++
		}
	})
}

// FuzzRecover repairs any bytes as the last segment: it refuses them, or makes a journal that can
// be continued and verified, and loses no byte.
func FuzzRecover(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := dropped(text)
		opt := options()
		opt.FS = disk
		rec, err := journal.Recover("loop", opt)
		if err != nil {
			if _, ok := errors.AsType[*journal.CorruptError](err); !ok {
				t.Fatal(err)
			}
			if now := mustFile(t, disk, "000003-i0001.jsonl"); !bytes.Equal(now, text) {
				t.Fatal("a damaged segment was changed")
			}
			return
		}
		kept, err := disk.ReadFile("loop/journal/000003-i0001.jsonl")
		if err != nil && rec.Segment != "" {
			t.Fatal(err)
		}
		if rec.Lost != nil {
			side, err := disk.ReadFile("loop/" + rec.Lost.Kept)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, side...)
		}
		if !bytes.Equal(kept, text) {
			t.Fatalf("%d bytes became %d", len(text), len(kept))
		}
		w, _, err := journal.Create("loop", rec, 2, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append([]event.Draft{notice("on")}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		lines, err := readDisk(disk)
		if err != nil || !strings.Contains(lines[len(lines)-2], `"on"`) {
			t.Fatalf("after recovery: %d events, %v", len(lines), err)
		}
	})
}
