package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// files are those of a case, by their slash-separated names.
type files map[string][]byte

// recorder writes the journal of a loop, as its runner does, with a clock and ids of its own.
type recorder struct {
	t       *testing.T
	dir     string
	w       *journal.Writer
	options journal.Options
	iter    int
	lost    *event.Lost
}

// record runs a script and returns the loop's files. A line of it is an event (its type, its data
// and perhaps raw, each in JSON without a space), or:
//
//	rotate N    a segment of iteration N begins
//	crash TEXT  the runner dies while it writes TEXT, and another one recovers the journal
//	close       the writer ends
func record(t *testing.T, script string) files {
	t.Helper()
	at, n := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC), 0
	r := &recorder{t: t, dir: t.TempDir(), options: journal.Options{
		InlineBytes: 64,
		Now:         func() time.Time { at = at.Add(1_000_250 * time.Microsecond); return at },
		NewID: func(time.Time) (id [26]byte) {
			n++
			copy(id[:], fmt.Sprintf("01JD%022d", n))
			return id
		},
	}}
	r.open()
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" {
			r.line(line)
		}
	}
	loop := read(t, r.dir, "loop/")
	if err := r.w.Close(); err != nil {
		t.Fatal(err)
	}
	return loop
}

func (r *recorder) open() {
	rec, err := journal.Recover(r.dir, r.options)
	if err == nil {
		r.w, _, err = journal.Create(r.dir, rec, r.iter, nil, r.options)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.lost = rec.Lost
}

func (r *recorder) line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	var err error
	switch word {
	case "rotate":
		if r.iter, err = strconv.Atoi(rest); err == nil {
			_, err = r.w.Rotate(r.iter, nil)
		}
	case "close":
		err = r.w.Close()
	case "crash":
		r.crash(rest)
	default:
		data, raw, _ := strings.Cut(rest, " ")
		r.event(event.Type(word), data, raw)
	}
	if err != nil {
		r.t.Fatalf("%s: %v", line, err)
	}
}

// crash leaves a copy of the files to another runner.
func (r *recorder) crash(torn string) {
	left := read(r.t, r.dir, "")
	segment := "journal/" + r.w.Position().Segment
	left[segment] = append(left[segment], torn...)
	if err := r.w.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.dir = r.t.TempDir()
	write(r.t, r.dir, left)
	r.open()
}

// event appends an event. BLOB{text} in its data is a text that may be a blob.
func (r *recorder) event(typ event.Type, data, raw string) {
	by := "loop"
	switch noun, _, _ := strings.Cut(string(typ), "."); noun {
	case "agent", "tool":
		by = "agent:pi"
	}
	if before, rest, found := strings.Cut(data, "BLOB{"); found {
		text, after, _ := strings.Cut(rest, "}")
		blob, err := r.w.PutBlob([]byte(strings.ReplaceAll(text, "_", " ")))
		if err != nil {
			r.t.Fatal(err)
		}
		reference, err := json.Marshal(blob)
		if err != nil {
			r.t.Fatal(err)
		}
		data = before + string(reference) + after
	}
	d := event.Draft{Type: typ, By: by, Iter: r.iter, Data: []byte(data)}
	if raw != "" {
		d.Raw = []byte(raw)
	}
	if _, err := r.w.Append([]event.Draft{d}); err != nil {
		r.t.Fatal(err)
	}
}

// read returns the files in a folder.
func read(t *testing.T, dir, prefix string) files {
	t.Helper()
	all := files{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			all[prefix+filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func write(t *testing.T, dir string, all files) {
	t.Helper()
	for name, text := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		testfile.Write(t, path, text)
	}
}

// segment is the path of one in a case.
func segment(name string) string { return "loop/journal/" + name + ".jsonl" }

// with returns a copy in which do has changed a file.
func (f files) with(name string, do func([]byte) []byte) files {
	all := files{}
	for other, text := range f {
		all[other] = text
	}
	if text := do(bytes.Clone(all[name])); text == nil {
		delete(all, name)
	} else {
		all[name] = text
	}
	return all
}

// replaced changes a text in a segment, and computes the checksums of its lines again.
func (f files) replaced(name, old, text string) files {
	return f.with(segment(name), func(lines []byte) []byte {
		if !bytes.Contains(lines, []byte(old)) {
			panic("no " + old + " in " + name)
		}
		return chained(bytes.Replace(lines, []byte(old), []byte(text), 1))
	})
}

// chained computes the checksums of lines again.
func chained(text []byte) (out []byte) {
	var crc uint32
	for line := range bytes.Lines(text) {
		body := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("}"))
		if i := bytes.LastIndex(body, []byte(`,"crc":`)); i >= 0 {
			body = body[:i]
		}
		start := len(out)
		out, crc = frame.Close(append(out, body...), start, crc)
		out = append(out, '\n')
	}
	return out
}

// packed compresses as retention does.
func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10))
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	return enc.EncodeAll(text, nil)
}
