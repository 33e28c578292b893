package journal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// TestVersion1StaysReadable reads a loop that version 1 wrote: a compressed
// segment, one whose writer was killed, what was cut off it, and a sealed one with
// a blob. Nothing in testdata/v1 is ever edited again.
func TestVersion1StaysReadable(t *testing.T) {
	dir := filepath.Join("testdata", "v1")
	var got bytes.Buffer
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%d %s iter=%d by=%s cause=%d %s %s %s\n", e.Seq, e.At.Format("15:04:05.000000"), e.Iter, e.By(), e.Cause, e.Type, e.Data(), e.Raw())
	}
	err := journal.Verify(dir, func(r journal.SegmentReport) {
		fmt.Fprintf(&got, "%s packed=%v events=%d bytes=%d sealed=%v blobs=%d %s %v\n", r.Name, r.Packed, r.Events, r.Bytes, r.Sealed, r.Blobs, r.SHA256, r.Problem)
	})
	if err != nil {
		t.Error(err)
	}
	state, at, err := journal.Checkpoint(dir)
	if err != nil {
		t.Error(err)
	}
	fmt.Fprintf(&got, "checkpoint %s at %+v\n", state, at)
	_, at, err = journal.Last(dir, 3)
	if err != nil {
		t.Error(err)
	}
	fmt.Fprintf(&got, "end at %+v\n", at)

	golden.Check(t, dir+".golden", got.String())
}

// TestTodaysWriterWritesVersion1 shows how testdata/v1 was made, and that today's writer still
// writes the same bytes, except the compressed ones.
func TestTodaysWriterWritesVersion1(t *testing.T) {
	dir := t.TempDir()
	writeVersion1(t, dir)
	for _, name := range []string{"journal/000002-i0001.jsonl", "journal/000002-i0001.jsonl.torn-1", "journal/000003-i0001.jsonl"} {
		got := testfile.Read(t, filepath.Join(dir, name))
		want := testfile.Read(t, filepath.Join("testdata", "v1", name))
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	equal(t, "the events", mustRead(t, dir, journal.ReadOptions{}), mustRead(t, filepath.Join("testdata", "v1"), journal.ReadOptions{}))
}

func writeVersion1(t *testing.T, dir string) {
	t.Helper()
	opt := options()
	opt.InlineBytes = 64
	opt.Mask = func(src []byte) []byte {
		return bytes.ReplaceAll(src, []byte("sk-secret"), []byte("[masked]"))
	}
	rec, err := journal.Recover(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, rec, 0, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	// Data is text here, so that a field added to a payload later changes nothing.
	with := func(typ event.Type, by string, iter int, cause event.Seq, data, raw string) event.Draft {
		d := event.Draft{Type: typ, By: by, Iter: iter, Cause: cause, Data: []byte(data)}
		if raw != "" {
			d.Raw = []byte(raw)
		}
		return d
	}
	blob, err := w.PutBlob([]byte(strings.Repeat("Read task.md and do the next thing in it. ", 40)))
	if err != nil {
		t.Fatal(err)
	}
	add(t, w,
		with(event.TypeLoopStarted, "loop", 0, 0, `{"name":"demo","id":"01JD0000000000000000000000","dir":"/p/.ralph/demo","project":"/p","agent":{"protocol":"pi"},"rules":{"maximumIterations":10},"task":{"file":"task.md"}}`, ""),
		with(event.TypeDecided, "loop", 0, 2, `{"do":"start","iteration":1}`, ""))
	if _, err := w.Rotate(1, []byte(`{"seq":3,"status":"running"}`)); err != nil {
		t.Fatal(err)
	}
	add(t, w, with(event.TypeIterationStarted, "loop", 1, 3, fmt.Sprintf(`{"n":1,"prompt":{"text":%q,"bytes":%d,"sha256":%q}}`, blob.Text, blob.Bytes, blob.SHA256), ""))
	add(t, w,
		with(event.TypeAgentSaid, "agent:pi", 1, 0, `{"block":"0","text":"two\nlines, \"quotes\" and ü"}`, `{"type":"message","text":"two\nlines"}`),
		with(event.TypeAgentNoticed, "agent:pi", 1, 0, `{"what":"env","text":"KEY=sk-secret"}`, `["sk-secret"]`),
		with("agent.later", "agent:pi", 1, 0, `{"a type":"of a later version","n":[1,2.5e3,null]}`, ""))
	w.Abandon()
	f, err := os.OpenFile(segmentPath(dir, "000002-i0001.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":1,"seq":10,"id":"01JD00`); err != nil {
		t.Fatal(err)
	}
	f.Close()

	if rec, err = journal.Recover(dir, opt); err != nil {
		t.Fatal(err)
	}
	if w, _, err = journal.Create(dir, rec, 1, []byte(`{"seq":9,"status":"running"}`), opt); err != nil {
		t.Fatal(err)
	}
	add(t, w,
		with(event.TypeLoopResumed, "loop", 1, 0, fmt.Sprintf(`{"died":true,"lost":{"segment":%q,"bytes":%d,"kept":%q}}`, rec.Lost.Segment, rec.Lost.Bytes, rec.Lost.Kept), ""),
		with(event.TypeLoopEnded, "loop", 1, 0, `{"status":"completed","reason":"promise","why":"done"}`, ""))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	journal.PackForTest(t, dir, "000001-i0000.jsonl")
}
