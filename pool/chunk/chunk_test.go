package chunk_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
)

func TestLinesAreCounted(t *testing.T) {
	for last, want := range map[uint64]string{2: "", 1: "it has 2 lines", 3: "it has 2 lines", math.MaxUint64: "it has 2 lines"} {
		stored, err := chunk.Encode(chunk.Header{Version: chunk.Version, First: 1, Last: event.Seq(last)}, []byte("one\ntwo\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = chunk.Decode(stored)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("to event %d: %v, want %q", last, err, want)
		}
	}
}
