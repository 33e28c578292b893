package conformance_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
)

// rejectCases are journals with one mutation each.
func rejectCases(t *testing.T) []made {
	whole := record(t, base)
	edit := func(name, old, text string) files { return whole.replaced(name, old, text) }
	gone := func([]byte) []byte { return nil }
	// line changes one line of a segment, and no checksum.
	line := func(name string, n int, do func(line string) string) files {
		return whole.with(segment(name), func(text []byte) []byte {
			lines := strings.SplitAfter(string(text), "\n")
			lines[n-1] = do(lines[n-1])
			return []byte(strings.Join(lines, ""))
		})
	}
	blob := func(do func([]byte) []byte) files {
		for name := range whole {
			if strings.HasPrefix(name, "loop/blobs/") && bytes.Contains(whole[name], []byte("the prompt")) {
				return whole.with(name, do)
			}
		}
		panic("no blob")
	}
	unsealed := record(t, started+"rotate 1\n"+`loop.paused {}`+"\n")
	var cases []made
	for _, c := range []made{
		{name: "no-segment", code: "no-segment", about: "The folder has no segment.", requirements: "J-04",
			files: files{"loop/journal/readme.txt": []byte("nothing\n")}},
		{name: "same-ordinal", code: "same-ordinal", about: "Two segments have one ordinal.", requirements: "J-03",
			files: whole.with(segment("000002-i0002"), func([]byte) []byte { return whole[segment(seg2)] })},
		{name: "segment-missing", code: "segment-missing", about: "The segment in the middle is gone.", requirements: "J-05",
			files: whole.with(segment(seg2), gone)},
		{name: "segment-empty", code: "segment-empty", about: "The last segment is empty.", requirements: "J-06",
			files: whole.with(segment("000004-i0003"), func([]byte) []byte { return []byte{} })},
		{name: "segment-only-torn", code: "segment-empty", about: "The last segment has no complete line.", requirements: "J-06",
			files: whole.with(segment("000004-i0003"), func([]byte) []byte { return []byte(`{"v":1,"seq":99`) })},
		{name: "segment-cut", code: "segment-cut", about: "A segment before the last one ends within a line.", requirements: "J-07",
			files: whole.with(segment(seg2), func(text []byte) []byte { return text[:len(text)-40] })},
		{name: "compression", code: "compression", about: "A compressed segment is not Zstandard.", requirements: "J-08",
			files: whole.with(segment(seg1), gone).with(segment(seg1)+".zst", func([]byte) []byte { return []byte("not Zstandard\n") })},
		{name: "not-json", code: "not-json", about: "A line is cut in two.", requirements: "J-09",
			files: line(seg2, 3, func(l string) string { return l[:40] + "\n" + l[40:] })},
		{name: "not-json-with-checksum", code: "not-json", about: "A line has the right checksum, and is not JSON.", requirements: "J-09",
			files: edit(seg2, `"data":{"pid":7`, `"data":["pid":7`)},
		{name: "not-json-first-line", code: "not-json", about: "The line that opens a segment has the right checksum, and is not JSON.", requirements: "J-09 J-29",
			files: edit(seg2, `"prev":{`, `"prev":[`)},
		{name: "not-json-last-line", code: "not-json", about: "The last line has the right checksum, and is not JSON: it is not torn.", requirements: "J-09 J-27",
			files: record(t, started+"loop.paused {}\n").replaced(seg1, `"type":"loop.paused","data":{}`, `"type":"loop.paused","data":{`)},
		{name: "not-utf8", code: "not-json", about: "A text is not UTF-8.", requirements: "J-09", files: edit(seg2, `task.md`, "task\xffmd")},
		{name: "control-character", code: "not-json", about: "A text has a control character that is not escaped.", requirements: "J-09", files: edit(seg2, `task.md`, "task\x01md")},
		{name: "leading-zero", code: "not-json", about: "A number begins with 0.", requirements: "J-09", files: edit(seg2, `"seq":7,`, `"seq":07,`)},
		{name: "zeros-within", code: "not-json", about: "Zeros that are no block of a disk are damage.", requirements: "J-09 J-28",
			files: line(seg3, 3, func(l string) string { return l[:40] + strings.Repeat("\x00", 10) + l[50:] })},
		{name: "not-object", code: "not-object", about: "A line is a list.", requirements: "J-10", files: line(seg2, 3, func(string) string { return "[1]\n" })},
		{name: "version", code: "version", about: "A line is of another version.", requirements: "J-11", files: edit(seg2, `{"v":1,"seq":6`, `{"v":2,"seq":6`)},
		{name: "no-seq", code: "envelope", about: "A line has no seq.", requirements: "J-12", files: edit(seg2, `"seq":6,`, ``)},
		{name: "no-type", code: "envelope", about: "A line has no type.", requirements: "J-12", files: edit(seg2, `"type":"agent.said",`, ``)},
		{name: "seq-is-text", code: "envelope", about: "A seq is a text.", requirements: "J-12", files: edit(seg2, `"seq":6,`, `"seq":"6",`)},
		{name: "seq-is-negative", code: "envelope", about: "A seq is negative.", requirements: "J-12", files: edit(seg2, `"seq":6,`, `"seq":-6,`)},
		{name: "seq-has-a-fraction", code: "envelope", about: "A seq has a point.", requirements: "J-12", files: edit(seg2, `"seq":6,`, `"seq":6.0,`)},
		{name: "type-is-number", code: "envelope", about: "A type is a number.", requirements: "J-12", files: edit(seg2, `"type":"agent.said"`, `"type":7`)},
		{name: "type-is-empty", code: "envelope", about: "A type is empty.", requirements: "J-12", files: edit(seg2, `"type":"agent.said"`, `"type":""`)},
		{name: "time-is-local", code: "envelope", about: "A time has an offset.", requirements: "J-12", files: edit(seg2, `Z","iter":1,"by":"agent:pi"`, `+01:00","iter":1,"by":"agent:pi"`)},
		{name: "time-is-no-time", code: "envelope", about: "A month is 13.", requirements: "J-12", files: edit(seg2, `"at":"2026-11-`, `"at":"2026-13-`)},
		{name: "iter-is-text", code: "envelope", about: "An iteration is a text.", requirements: "J-12", files: edit(seg2, `"iter":1`, `"iter":"1"`)},
		{name: "cause-is-fraction", code: "envelope", about: "A cause is no whole number.", requirements: "J-12", files: edit(seg2, `"by":"agent:pi",`, `"by":"agent:pi","cause":1.5,`)},
		{name: "by-is-null", code: "envelope", about: "A source is null.", requirements: "J-12", files: edit(seg2, `"by":"agent:pi"`, `"by":null`)},
		{name: "id-is-number", code: "envelope", about: "An id is a number.", requirements: "J-12", files: edit(seg2, `"id":"01JD0000000000000000000006"`, `"id":6`)},
		{name: "seq-zero", code: "seq-zero", about: "The first seq is 0.", requirements: "J-14", files: edit(seg1, `"seq":1,`, `"seq":0,`)},
		{name: "seq-jumps", code: "seq", about: "A seq is left out.", requirements: "J-15", files: edit(seg2, `"seq":7,`, `"seq":8,`)},
		{name: "seq-jumps-between-segments", code: "seq", about: "The second segment does not continue the numbers of the first.", requirements: "J-15",
			files: edit(seg2, `"seq":4,`, `"seq":5,`)},
		{name: "no-checksum", code: "no-checksum", about: "A line has no checksum.", requirements: "J-16",
			files: line(seg2, 4, func(l string) string { return l[:len(l)-len(`,"crc":"00000000"}`+"\n")] + "}\n" })},
		{name: "checksum-in-upper-case", code: "no-checksum", about: "A checksum has upper-case digits.", requirements: "J-16",
			files: line(seg2, 4, func(l string) string { return l[:len(l)-11] + "ABCDEF01\"}\n" })},
		{name: "changed-line", code: "checksum", about: "One letter of a line was changed.", requirements: "J-17",
			files: line(seg2, 6, func(l string) string { return strings.Replace(l, "lines", "limes", 1) })},
		{name: "changed-checksum", code: "checksum", about: "A checksum was changed.", requirements: "J-17",
			files: line(seg2, 6, func(l string) string { return l[:len(l)-11] + "00000000\"}\n" })},
		{name: "swapped-lines", code: "seq", about: "Two lines are swapped.", requirements: "J-15",
			files: whole.with(segment(seg2), func(text []byte) []byte {
				lines := strings.SplitAfter(string(text), "\n")
				lines[4], lines[5] = lines[5], lines[4]
				return []byte(strings.Join(lines, ""))
			})},
		{name: "other-name", code: "opening", about: "A segment was renamed.", requirements: "J-18", files: renamed(whole, seg1, "000001-i0007", `"ordinal":1`, `"ordinal":1`)},
		{name: "opening-no-number", code: "opening", about: "The iteration of an opening is not a number.", requirements: "J-18", files: edit(seg1, `"iteration":0`, `"iteration":false`)},
		{name: "no-opening", code: "opening", about: "The first line of a segment does not open it.", requirements: "J-18", files: edit(seg1, `"segment.opened"`, `"segment.began"`)},
		{name: "prev-name", code: "prev-name", about: "A segment names another one as the one before.", requirements: "J-19", files: edit(seg2, `"name":"000001-i0000`, `"name":"000001-i0009`)},
		{name: "no-prev", code: "prev-name", about: "A segment does not name the one before.", requirements: "J-19", files: edit(seg2, `"prev":`, `"past":`)},
		{name: "prev-sealed", code: "prev-hash", about: "A segment says that the one before was not sealed.", requirements: "J-20", files: edit(seg2, `"sealed":true`, `"sealed":false`)},
		{name: "replaced-segment", code: "prev-hash", about: "The end of a segment was removed, and its checksums are right.", requirements: "J-20",
			files: unsealed.with(segment(seg1), func(text []byte) []byte { return text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1] })},
		{name: "seal", code: "seal", about: "The data of a seal cannot be read.", requirements: "J-21", files: edit(seg2, `"events":12`, `"events":"12"`)},
		{name: "seal-counts-lines", code: "seal-counts", about: "A seal is for one line more.", requirements: "J-22", files: edit(seg2, `"events":12`, `"events":13`)},
		{name: "seal-counts-bytes", code: "seal-counts", about: "A seal is for other bytes.", requirements: "J-22", files: edit(seg2, `"bytes":`, `"bytes":1`)},
		{name: "seal-hash", code: "seal-hash", about: "A seal has the hash of other lines.", requirements: "J-23", files: edit(seg3, `"why":"done"`, `"why":"gone"`)},
		{name: "after-seal", code: "after-seal", about: "A line follows the seal.", requirements: "J-24",
			files: whole.with(segment(seg3), func(text []byte) []byte { return chained(append(text, lineAfter(whole)...)) })},
		{name: "blob-missing", code: "blob-missing", about: "A blob is gone.", requirements: "J-25", files: blob(gone)},
		{name: "blob-changed", code: "blob-changed", about: "A blob was changed.", requirements: "J-26", files: blob(func(text []byte) []byte { return append(text, '.') })},
		{name: "raw-blob-missing", code: "blob-missing", about: "The blob of an agent's line is gone.", requirements: "J-25",
			files: record(t, started+first+agent+`agent.noticed {"what":"x"} {"bytes":6,"b10b":"`+helloBlob+`"}`+"\n").replaced("000002-i0001", "b10b", "blob")},
		{name: "first-fault-counts", code: "checksum", about: "Of two faults, that of the earlier line counts.", requirements: "J-17 J-29",

			files: line(seg2, 6, func(l string) string { return strings.Replace(l, "lines", "limes", 1) }).with(segment(seg3), func(text []byte) []byte { return text[1:] })},
	} {
		c.name, c.kind = "must-reject/"+c.name, "journal"
		cases = append(cases, c)
	}
	return cases
}

// lineAfter is the next line of a journal of three segments.
func lineAfter(f files) string {
	n := 1
	for _, name := range []string{seg1, seg2, seg3} {
		n += bytes.Count(f[segment(name)], []byte("\n"))
	}
	return fmt.Sprintf(`{"v":1,"seq":%d,"id":"01JD0000000000000000000099","at":"2026-11-21T01:53:00.000000Z","iter":2,"by":"loop","type":"loop.paused","data":{}}`+"\n", n)
}

// hold locks a file as a runner does, until the function is called.
func hold(t *testing.T, path string) func() {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := filelock.TryExclusive(f); err != nil || !locked {
		t.Fatalf("lock %s: %v, %v", path, locked, err)
	}
	return func() { f.Close() }
}
