package keep_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
)

// A file is generated if .gitattributes said so before the work that is measured, which must not
// take its own files out of the count.
func TestLinesOfEachFile(t *testing.T) {
	w := testgit.Unborn(t)
	long := strings.Repeat("line\n", 20)
	w.Write(".gitattributes", "gen/* linguist-generated\n")
	w.Write("gen/api.go", "a\n")
	w.Write("moved", long)
	before := w.Commit("before")
	w.Write(".gitattributes", "gen/* linguist-generated\n* linguist-generated\n")
	w.Write("gen/api.go", "b\n")
	w.Write("deep/a b", "1\n2\n3\n")
	w.Write("deep/go.sum", "1\n2\n")
	w.Write("binary", "\x00\x01")
	w.Write(".ralph/x", "own\n")
	w.Remove("moved")
	w.Write("there", long+"more\n")
	after := w.Commit("after")

	got, err := keep.Lines(t.Context(), w.Dir, before, after)
	testfile.Must(t, err)
	want := []keep.FileLines{
		{Path: ".gitattributes", Lines: 1}, {Path: "binary"}, {Path: "deep/a b", Lines: 3}, {Path: "deep/go.sum", Lines: 2, Generated: true},
		{Path: "gen/api.go", Lines: 2, Generated: true}, {Path: "there", Lines: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	got, err = keep.Lines(t.Context(), w.Dir, "", before)
	testfile.Must(t, err)
	want = []keep.FileLines{{Path: ".gitattributes", Lines: 1}, {Path: "gen/api.go", Lines: 1}, {Path: "moved", Lines: 20}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := keep.Lines(t.Context(), w.Dir, before, "0123456789012345678901234567890123456789"); err == nil {
		t.Error("a state that does not exist has lines")
	}
}
