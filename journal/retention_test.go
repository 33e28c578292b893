package journal_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// packed writes a journal of four segments, of which the older ones are
// compressed, and returns its lines.
func packed(t *testing.T, dir string) []string {
	t.Helper()
	opt := options()
	opt.Compress = true
	rec, err := journal.Recover(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, rec, 0, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 4; i++ {
		add(t, w, notices(i, 500)...)
		if _, err := w.Rotate(i, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	w.Tidied()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return mustRead(t, dir, journal.ReadOptions{})
}

func TestOlderSegmentsAreCompressed(t *testing.T) {
	dir := t.TempDir()
	all := packed(t, dir)
	list, err := journal.Segments(dir)
	if err != nil || len(list) != 4 {
		t.Fatalf("segments: %v, %v", list, err)
	}
	for i, s := range list {
		if s.Packed != (i < 3) || i < 3 && s.Size > 20_000 {
			t.Errorf("segment %+v", s)
		}
	}
	if len(all) != 1500+8 {
		t.Errorf("%d events, want 1508", len(all))
	}
	for _, seq := range []int{1, 2, 250, 502, 503, 504, 1004, 1508} {
		got, err := read(dir, journal.ReadOptions{FromSeq: event.Seq(seq)})
		if err != nil {
			t.Fatalf("from event %d: %v", seq, err)
		}
		equal(t, "read", got, all[seq-1:])
		got, at, err := lastLines(dir, len(all)-seq+1)
		if err != nil || at.Seq != 1508 {
			t.Fatalf("last: %+v, %v", at, err)
		}
		equal(t, "last", got, all[seq-1:])
		at, err = journal.Seek(dir, event.Seq(seq))
		if err != nil {
			t.Fatalf("seek %d: %v", seq, err)
		}
		ctx := patience(t)
		n := 0
		for e, err := range journal.Follow(ctx, dir, journal.FollowOptions{From: at}) {
			if err != nil || string(e.Line()) != all[seq-1+n] {
				t.Fatalf("follow from %+v: %v", at, err)
			}
			if n++; n == len(all)-seq+1 {
				break
			}
		}
	}
	one := mustRead(t, segmentPath(dir, list[1].Name+".zst"), journal.ReadOptions{})
	equal(t, "one compressed file", one, all[502:1004])
	if err := journal.Verify(dir, nil); err != nil {
		t.Errorf("verify: %v", err)
	}
	if err := journal.Verify(filepath.Join(dir, "journal"), nil); err != nil {
		t.Errorf("verify the folder of segments alone: %v", err)
	}
}

func lastLines(dir string, n int) ([]string, journal.Position, error) {
	events, at, err := journal.Last(dir, n)
	var lines []string
	for _, e := range events {
		lines = append(lines, string(e.Line()))
	}
	return lines, at, err
}

func TestCrashDuringCompression(t *testing.T) {
	dir := t.TempDir()
	all := packed(t, dir)
	// As a crash leaves it: a half-made file, and a segment both ways.
	first := segmentPath(dir, "000001-i0000.jsonl")
	testfile.Write(t, first, strings.Join(all[:502], "\n")+"\n")
	testfile.Write(t, segmentPath(dir, "000002-i0001.jsonl.zst.tmp"), "half")
	equal(t, "both ways", mustRead(t, dir, journal.ReadOptions{}), all)
	opt := options()
	opt.Compress = true
	w, _ := begin(t, dir, opt)
	w.Tidied()
	names, err := os.ReadDir(filepath.Join(dir, "journal"))
	if err != nil || len(names) != 5 {
		t.Errorf("the folder holds %v, %v", names, err)
	}
	if _, err := os.Stat(first); err == nil {
		t.Error("the plain segment is still there")
	}
	if err := journal.Verify(dir, nil); err != nil {
		t.Error(err)
	}
}

func TestCompressedDamageIsReported(t *testing.T) {
	dir := t.TempDir()
	packed(t, dir)
	path := segmentPath(dir, "000002-i0001.jsonl.zst")
	whole := testfile.Read(t, path)
	for what, text := range map[string][]byte{
		"cut":     whole[:len(whole)-10],
		"flipped": append(append(append([]byte(nil), whole[:len(whole)/2]...), whole[len(whole)/2]^0x55), whole[len(whole)/2+1:]...),
		"nothing": {},
	} {
		testfile.Write(t, path, text)
		var reports []journal.SegmentReport
		err := journal.Verify(dir, func(r journal.SegmentReport) { reports = append(reports, r) })
		if err == nil || !strings.Contains(err.Error(), "journal 000002-i0001.jsonl") {
			t.Errorf("%s: verify says %v", what, err)
		}
		if len(reports) != 4 || reports[0].Problem != nil || reports[1].Problem == nil || reports[2].Problem != nil {
			t.Errorf("%s: reports are %v", what, reports)
		}
		if _, err := read(dir, journal.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "000002-i0001.jsonl") {
			t.Errorf("%s: read says %v", what, err)
		}
	}
}

func TestVerifyFindsEachDamage(t *testing.T) {
	build := func(t *testing.T) string {
		dir := t.TempDir()
		opt := options()
		opt.InlineBytes = 20
		w, _ := begin(t, dir, opt)
		blob, err := w.PutBlob([]byte("a prompt that is a file of its own"))
		if err != nil {
			t.Fatal(err)
		}
		add(t, w, event.Encode(event.IterationStarted{N: 1, Prompt: blob}, "loop"))
		if _, err := w.Rotate(2, nil); err != nil {
			t.Fatal(err)
		}
		add(t, w, event.Draft{Type: event.TypeAgentUnparsed, By: "agent:pi", Data: []byte(`{}`), Raw: []byte(`"` + strings.Repeat("x", maxRaw) + `"`)})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Run("a whole journal", func(t *testing.T) {
		dir := build(t)
		var reports []journal.SegmentReport
		if err := journal.Verify(dir, func(r journal.SegmentReport) { reports = append(reports, r) }); err != nil {
			t.Fatal(err)
		}
		if len(reports) != 2 || reports[0].Blobs != 1 || reports[1].Blobs != 1 || !reports[1].Sealed ||
			reports[1].Events != 3 || reports[1].FirstSeq != 4 || reports[1].LastSeq != 6 || reports[1].Bytes != reports[1].Size {
			t.Errorf("reports are %+v", reports)
		}
	})
	blobs := func(t *testing.T, dir string) []string {
		names, err := filepath.Glob(filepath.Join(dir, "blobs", "*"))
		if err != nil || len(names) != 2 {
			t.Fatalf("blobs: %v, %v", names, err)
		}
		return names
	}
	for what, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		says   string
	}{
		"a missing blob": {func(t *testing.T, dir string) {
			os.Remove(blobs(t, dir)[0])
		}, "is missing"},
		"a changed blob": {func(t *testing.T, dir string) {
			os.WriteFile(blobs(t, dir)[1], []byte("other"), 0o600)
		}, "is not what was written"},
		"a segment that another one replaced": {func(t *testing.T, dir string) {
			other := testfile.Read(t, segmentPath(build(t), "000001-i0001.jsonl"))
			// A valid segment, but not the one that the next segment follows.
			os.WriteFile(segmentPath(dir, "000001-i0001.jsonl"), rewriteSealed(t, string(other)), 0o600)
		}, "the segment before it is not the one that it follows"},
		"a missing segment": {func(t *testing.T, dir string) {
			w, _ := begin(t, dir, options())
			w.Close()
			os.Remove(segmentPath(dir, "000002-i0002.jsonl"))
		}, "segment 000002 before it is missing"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := build(t)
			c.damage(t, dir)
			if err := journal.Verify(dir, nil); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("verify says %v, want %q", err, c.says)
			}
		})
	}
}

// rewriteSealed writes the events of a sealed segment again, with another author.
func rewriteSealed(t *testing.T, text string) (out []byte) {
	t.Helper()
	var crc uint32
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		e, err := event.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		d := event.Draft{Type: e.Type, By: "somebody", Iter: e.Iter, Data: e.Data(), Raw: e.Raw()}
		if e.Type == event.TypeSegmentSealed {
			seal := event.SegmentSealed{Events: i, Bytes: int64(len(out)), SHA256: fmt.Sprintf("%x", sha256.Sum256(out))}
			d.Data = event.AppendData(nil, seal)
		}
		stamp := frame.Stamp{Seq: e.Seq, At: e.At}
		copy(stamp.ID[:], e.ID())
		out, crc = frame.Append(out, stamp, d, crc)
		out = append(out, '\n')
	}
	return out
}

// The oldest segments go first, also for a disk that takes names in any order: a hole would be
// damage.
func TestDroppingLeavesNoHole(t *testing.T) {
	for crash := 1; crash < 12; crash++ {
		for seed := range uint64(20) {
			disk := newDisk(seed)
			if l := live(disk, 1); l.err != nil {
				t.Fatal(l.err)
			}
			opt := options()
			opt.FS, opt.KeepIterations = disk, 1
			rec, err := journal.Recover("loop", opt)
			if err != nil {
				t.Fatal(err)
			}
			if crash > 1 { // else none at all
				disk.Plan(simfs.Plan{CrashAt: disk.Changes() + 4 + crash})
			}
			_, _, _ = journal.Create("loop", rec, 20, []byte(`{}`), opt)
			disk = disk.Crash(simfs.PowerLostAnyOrder)
			if lines, err := readDisk(disk); err != nil || len(lines) == 0 {
				t.Fatalf("crash %d, seed %d: %d events, %v; the folder holds %q", crash, seed, len(lines), err, segmentNames(t, disk))
			}
		}
	}
}

// If a person removed all later segments, the last one is compressed. A new writer continues after
// it.
func TestACompressedLastSegment(t *testing.T) {
	dir := t.TempDir()
	all := packed(t, dir)
	if err := os.Remove(segmentPath(dir, "000004-i0003.jsonl")); err != nil {
		t.Fatal(err)
	}
	begin(t, dir, options())
	if err := journal.Verify(dir, nil); err != nil {
		t.Fatal(err)
	}
	equal(t, "read", mustRead(t, dir, journal.ReadOptions{})[:1506], all[:1506])
}
