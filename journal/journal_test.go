package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// clock advances by a millisecond with each call.
func clock() func() time.Time {
	at := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)
	return func() time.Time {
		at = at.Add(time.Millisecond)
		return at
	}
}

func ids() func(time.Time) [26]byte {
	n := 0
	return func(time.Time) (id [26]byte) {
		n++
		copy(id[:], fmt.Sprintf("01JD%022d", n))
		return id
	}
}

func options() journal.Options { return journal.Options{Now: clock(), NewID: ids()} }

func notice(text string) event.Draft {
	return event.Encode(event.AgentNoticed{What: "line", Text: text}, "agent:rehearsal")
}

func notices(from, n int) []event.Draft {
	var d []event.Draft
	for i := range n {
		d = append(d, notice(fmt.Sprintf("number %d", from+i)))
	}
	return d
}

// begin recovers and opens a journal.
func begin(t testing.TB, dir string, opt journal.Options) (*journal.Writer, journal.Recovery) {
	t.Helper()
	rec, err := journal.Recover(dir, opt)
	if err != nil {
		t.Fatalf("recover: %v", err)
	}
	w, _, err := journal.Create(dir, rec, 1, []byte(`{"seq":`+fmt.Sprint(rec.NextSeq-1)+`}`), opt)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	t.Cleanup(func() { w.Close() })
	return w, rec
}

func add(t testing.TB, w *journal.Writer, drafts ...event.Draft) []event.Event {
	t.Helper()
	events, err := w.Append(drafts)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return events
}

// read returns the lines of a journal and the error that ended it.
func read(src string, opt journal.ReadOptions) (lines []string, err error) {
	for e, err := range journal.Read(src, opt) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(e.Line()))
	}
	return lines, nil
}

func mustRead(t testing.TB, src string, opt journal.ReadOptions) []string {
	t.Helper()
	lines, err := read(src, opt)
	if err != nil {
		t.Fatalf("read %s: %v", src, err)
	}
	return lines
}

func segmentPath(dir, name string) string { return filepath.Join(dir, "journal", name) }

func TestWhatIsAppendedIsRead(t *testing.T) {
	dir := t.TempDir()
	opt := options()
	rec, err := journal.Recover(dir, opt)
	if err != nil || rec.NextSeq != 1 || rec.Segment != "" {
		t.Fatalf("recover of an empty folder = %+v, %v", rec, err)
	}
	w, opened, err := journal.Create(dir, rec, 0, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	keep := func(events []event.Event) {
		for _, e := range events {
			want = append(want, string(e.Line()))
		}
	}
	keep(opened)
	keep(add(t, w, notices(1, 3)...))
	rotated, err := w.Rotate(1, []byte(`{"n":4}`))
	if err != nil {
		t.Fatal(err)
	}
	keep(rotated)
	got := add(t, w, notices(4, 2)...)
	if got[0].Seq != 7 || got[1].Seq != 8 || got[0].Type != event.TypeAgentNoticed || got[0].By() != "agent:rehearsal" {
		t.Errorf("appended events are %d %d %s by %s", got[0].Seq, got[1].Seq, got[0].Type, got[0].By())
	}
	if got[0].At != got[1].At || got[0].ID() >= got[1].ID() {
		t.Errorf("one batch has times %v, %v and ids %s, %s", got[0].At, got[1].At, got[0].ID(), got[1].ID())
	}
	keep(got)
	if lines := mustRead(t, dir, journal.ReadOptions{}); strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}

	state, at, err := journal.Checkpoint(dir)
	if err != nil || state != `{"n":4}` || at.Seq != 6 || at.Segment != "000002-i0001.jsonl" {
		t.Errorf("checkpoint = %s at %+v, %v", state, at, err)
	}
	if lines := mustRead(t, dir, journal.ReadOptions{FromCheckpoint: true}); len(lines) != 3 {
		t.Errorf("from the checkpoint there are %d events, want 3", len(lines))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := w.Append(notices(1, 1)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	for name, mode := range map[string]fs.FileMode{"journal": 0o700, "journal/000001-i0000.jsonl": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v; want %v", name, info.Mode().Perm(), err, mode)
		}
	}
}

func TestWriterContinuesJournal(t *testing.T) {
	dir := t.TempDir()
	opt := options()
	w, _ := begin(t, dir, opt)
	add(t, w, notices(1, 2)...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w, rec := begin(t, dir, opt)
	if rec.NextSeq != 5 || !rec.Sealed || rec.Lost != nil || rec.Segment != "000001-i0001.jsonl" || rec.At.IsZero() {
		t.Errorf("after a clean end: %+v", rec)
	}
	add(t, w, notices(3, 2)...)
	w.Abandon()
	w2, rec := begin(t, dir, opt)
	if rec.NextSeq != 8 || rec.Sealed || rec.Lost != nil || rec.Ordinal != 2 || len(rec.SHA256) != 64 {
		t.Errorf("after a crash: %+v", rec)
	}
	add(t, w2, notices(5, 1)...)
	if lines := mustRead(t, dir, journal.ReadOptions{}); len(lines) != 9 {
		t.Errorf("%d events, want 9", len(lines))
	}
}

func TestInvalidLastLineIsTorn(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	add(t, w, notices(1, 2)...)
	name := w.Position().Segment
	f, err := os.OpenFile(segmentPath(dir, name), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(strings.Repeat("\x00", 300) + "\n")
	f.Close()
	w.Abandon()
	if lines := mustRead(t, dir, journal.ReadOptions{}); len(lines) != 3 {
		t.Errorf("%d events, want 3", len(lines))
	}
	_, rec := begin(t, dir, options())
	if rec.Lost == nil || rec.Lost.Bytes != 301 || rec.NextSeq != 4 {
		t.Errorf("recovery is %+v", rec)
	}
}

func TestDamageIsNamed(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	add(t, w, notices(1, 6)...)
	name := w.Position().Segment
	whole, err := os.ReadFile(segmentPath(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	lines = lines[:len(lines)-1]
	with := func(edit func(l []string) []string) string {
		return strings.Join(edit(append([]string(nil), lines...)), "")
	}
	for what, c := range map[string]struct {
		text    string
		line    int
		problem string
	}{
		"a flipped letter": {with(func(l []string) []string {
			l[3] = strings.Replace(l[3], "number", "nunber", 1)
			return l
		}), 4, "its checksum does not match: this line or the line before was changed"},
		"a flipped letter in the last line": {with(func(l []string) []string {
			l[6] = strings.Replace(l[6], "number", "nunber", 1)
			return l
		}), 7, "its checksum does not match: this line or the line before was changed"},
		"a line that is not JSON": {with(func(l []string) []string {
			l[2] = "oops\n"
			return l
		}), 3, "it is not JSON"},
		"a dropped line": {with(func(l []string) []string {
			return append(l[:2], l[3:]...)
		}), 3, "it is event 4 instead of event 3"},
		"a doubled line": {with(func(l []string) []string {
			return append(l[:3], l[2:]...)
		}), 0, ""},
		"two lines in the wrong order": {with(func(l []string) []string {
			l[2], l[3] = l[3], l[2]
			return l
		}), 3, "it is event 4 instead of event 3"},
		"a line without a checksum": {with(func(l []string) []string {
			l[4] = l[4][:strings.Index(l[4], `,"crc"`)] + "}\n"
			return l
		}), 5, "it has no checksum"},
	} {
		t.Run(what, func(t *testing.T) {
			if what == "a doubled line" {
				c.text = strings.Join(append(append(append([]string(nil), lines[:3]...), lines[2]), lines[3:]...), "")
				c.line, c.problem = 4, "it is event 3 instead of event 4"
			}
			dir := t.TempDir()
			os.Mkdir(filepath.Join(dir, "journal"), 0o700)
			os.WriteFile(segmentPath(dir, name), []byte(c.text), 0o600)
			check := func(who string, err error) {
				t.Helper()
				damage, ok := errors.AsType[*journal.CorruptError](err)
				if !ok {
					t.Fatalf("%s says %v", who, err)
				}
				offset := len(strings.Join(strings.SplitAfter(c.text, "\n")[:c.line-1], ""))
				if damage.Segment != name || damage.Line != c.line || damage.Problem != c.problem || damage.Offset != int64(offset) {
					t.Errorf("%s says %v", who, err)
				}
				if damage.Hint() == "" {
					t.Error("no hint")
				}
			}
			got, err := read(dir, journal.ReadOptions{})
			check("read", err)
			if len(got) != c.line-1 {
				t.Errorf("%d events before it, want %d", len(got), c.line-1)
			}
			_, err = journal.Recover(dir, options())
			check("recover", err)
			_, _, err = journal.Last(dir, 5)
			check("last", err)
			if now, err := os.ReadFile(segmentPath(dir, name)); err != nil || string(now) != c.text {
				t.Errorf("the damaged segment was changed (%v)", err)
			}
		})
	}
}

func TestAppendRefusesInvalidDrafts(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	good := notice("good")
	for what, bad := range map[string]event.Draft{
		"no data":                     {Type: event.TypeAgentNoticed, By: "loop"},
		"no type":                     {By: "loop", Data: []byte(`{}`)},
		"a newline in data":           {Type: event.TypeAgentNoticed, By: "loop", Data: []byte("{\n}")},
		"a newline in raw":            {Type: event.TypeAgentNoticed, By: "loop", Data: []byte(`{}`), Raw: []byte("{}\n")},
		"an empty raw":                {Type: event.TypeAgentNoticed, By: "loop", Data: []byte(`{}`), Raw: []byte{}},
		"a type that breaks the line": {Type: `x"y`, By: "loop", Data: []byte(`{}`)},
	} {
		before := w.Position()
		if _, err := w.Append([]event.Draft{good, bad, good}); err == nil {
			t.Errorf("%s: accepted", what)
		}
		if w.Position() != before {
			t.Errorf("%s: the position moved", what)
		}
	}
	if got := add(t, w, good); got[0].Seq != 2 {
		t.Errorf("after refusals seq is %d, want 2", got[0].Seq)
	}
	if lines := mustRead(t, dir, journal.ReadOptions{}); len(lines) != 2 {
		t.Errorf("%d events, want 2", len(lines))
	}
}

func TestEverySecretIsMasked(t *testing.T) {
	dir := t.TempDir()
	opt := options()
	opt.InlineBytes = 64
	opt.Mask = func(src []byte) []byte {
		return []byte(strings.ReplaceAll(string(src), "hunter2", "***"))
	}
	rec, _ := journal.Recover(dir, opt)
	w, opened, err := journal.Create(dir, rec, 0, []byte(`{"secret":"hunter2"}`), opt)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(opened[0].Line()), "hunter2") {
		t.Error("the checkpoint is not masked")
	}
	long := strings.Repeat("x", maxRaw) + "hunter2"
	got := add(t, w,
		event.Draft{Type: event.TypeAgentNoticed, By: "agent:hunter2", Data: []byte(`{"what":"hunter2"}`), Raw: []byte(`{"a":"hunter2"}`)},
		event.Draft{Type: event.TypeAgentNoticed, By: "loop", Data: []byte(`{"what":"x"}`), Raw: []byte(`"` + long + `"`)})
	if got[0].By() != "agent:***" || string(got[0].Data()) != `{"what":"***"}` || string(got[0].Raw()) != `{"a":"***"}` {
		t.Errorf("line is %s", got[0].Line())
	}
	if !strings.HasPrefix(string(got[1].Raw()), `{"blob":"`) {
		t.Errorf("long raw is %.80s", got[1].Raw())
	}
	for _, text := range []string{"hunter2", "hunter2 " + strings.Repeat("y", 100)} {
		if b, err := w.PutBlob([]byte(text)); err != nil || strings.Contains(b.Text, "hunter2") {
			t.Errorf("blob %+v, %v", b, err)
		}
	}
	w.Close()
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), "hunter2") {
			t.Errorf("%s holds the secret (%v)", path, err)
		}
		return nil
	})
	if lines := mustRead(t, dir, journal.ReadOptions{}); len(lines) != 4 {
		t.Errorf("%d events, want 4", len(lines))
	}
}

const maxRaw = 256 << 10

func TestBlobs(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	short, err := w.PutBlob([]byte("short"))
	if err != nil || short != (event.Blob{Text: "short", Bytes: 5}) {
		t.Errorf("short text is %+v, %v", short, err)
	}
	text := strings.Repeat("ü", 20_000)
	long, err := w.PutBlob([]byte(text))
	if err != nil || long.Bytes != 40_000 || long.Text != strings.Repeat("ü", 512) {
		t.Fatalf("long text is %d bytes, %d in the event, %v", long.Bytes, len(long.Text), err)
	}
	file := filepath.Join(dir, "blobs", string(long.SHA256))
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("the blob has %d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the blob has mode %v, %v", info.Mode(), err)
	}
	if again, err := w.PutBlob([]byte(text)); err != nil || again != long {
		t.Errorf("the same text again is %+v, %v", again, err)
	}
	binary, err := w.PutBlob([]byte("\xff\xfe"))
	if err != nil || binary.SHA256 == "" || binary.Bytes != 2 {
		t.Errorf("a text that is not UTF-8 is %+v, %v", binary, err)
	}
}

func TestSeekFindsEveryEvent(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	for i := range 30 {
		for j := range 10 {
			add(t, w, notice(strings.Repeat("z", (i*131+j*977)%5000)))
		}
		if i%10 == 9 {
			if _, err := w.Rotate(i, []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	all := mustRead(t, dir, journal.ReadOptions{})
	for seq := 1; seq <= len(all)+1; seq++ {
		at, err := journal.Seek(dir, event.Seq(seq))
		if err != nil || at.Seq != event.Seq(seq)-1 {
			t.Fatalf("seek %d: %+v, %v", seq, at, err)
		}
		if seq%17 == 0 || seq > len(all)-3 {
			got, err := read(dir, journal.ReadOptions{FromSeq: event.Seq(seq)})
			if err != nil || strings.Join(got, "\n") != strings.Join(all[seq-1:], "\n") {
				t.Fatalf("read from %d: %d events, %v; want %d", seq, len(got), err, len(all)-seq+1)
			}
		}
	}
	if _, err := journal.Seek(dir, event.Seq(len(all)+2)); err == nil {
		t.Error("an event that has not been written was found")
	} else if r, ok := errors.AsType[*journal.RangeError](err); !ok || r.Last != event.Seq(len(all)) {
		t.Errorf("beyond the end: %v", err)
	}
	for _, n := range []int{0, 1, 2, 5, 6, 50, 120, len(all), len(all) + 10} {
		got, at, err := journal.Last(dir, n)
		want := all[len(all)-min(n, len(all)):]
		if err != nil || at != w.Position() || len(got) != len(want) {
			t.Fatalf("last %d: %d events at %+v, %v", n, len(got), at, err)
		}
		for i := range got {
			if string(got[i].Line()) != want[i] {
				t.Fatalf("last %d: event %d is %s", n, i, got[i].Line())
			}
		}
	}
}

func TestSymlinksAreRefused(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "journal")); err != nil {
		t.Fatal(err)
	}
	rec, err := journal.Recover(dir, options())
	if err == nil {
		_, _, err = journal.Create(dir, rec, 0, nil, options())
	}
	if err == nil {
		t.Error("a linked journal folder was used")
	}
	if err := os.Remove(filepath.Join(dir, "journal")); err != nil {
		t.Fatal(err)
	}
	w, _ := begin(t, dir, options())
	name := w.Position().Segment
	w.Close()
	if err := os.Rename(segmentPath(dir, name), segmentPath(dir, "real")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", segmentPath(dir, name)); err != nil {
		t.Fatal(err)
	}
	if _, err := read(dir, journal.ReadOptions{}); err == nil {
		t.Error("a linked segment was read")
	}
	if _, err := journal.Recover(dir, options()); err == nil {
		t.Error("a linked segment was recovered")
	}
}
