package journal_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal"
)

// Last reads backwards in steps of 64 KiB, and a step may begin anywhere in a line,
// within its checksum too. Here the end moves on by lines of different lengths, so
// that steps begin at every place of one.
func TestLastFromMidLine(t *testing.T) {
	dir := t.TempDir()
	w, _ := begin(t, dir, options())
	for range 60 {
		add(t, w, notice(strings.Repeat("x", 1<<10)), notice(strings.Repeat("y", 1<<7)))
	}
	for i := range 400 {
		want := add(t, w, notice(strings.Repeat("z", i%7)))[0]
		for _, n := range []int{1, 2, 5} {
			got, at, err := journal.Last(dir, n)
			if err != nil || len(got) != n || got[n-1].Seq != want.Seq || at != w.Position() {
				t.Fatalf("the last %d of %d: %d events to %+v, %v", n, want.Seq, len(got), at, err)
			}
		}
	}
}
