package agenttest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

//go:embed testdata/page.txt
var page []byte

// outputs are what a tool printed in the recorded streams. WorkStream replaces them by a page: the
// recorded tools printed a word, an agent's tools print files.
var outputs = [][]byte{[]byte(`"p1"`), []byte(`"p2"`), []byte(`"hello-from-bash\n"`)}

// turnTypes begin or end a turn, or answer a request.
var turnTypes = []string{"result", "response", "agent_end", "agent_settled"}

// WorkStream returns at least size bytes of what an agent prints while it works, for benchmarks:
// the stream that was recorded in file, again and again. Lines that begin or end a turn are left
// out.
func WorkStream(tb testing.TB, file string, size int) []byte {
	tb.Helper()
	recorded, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	quoted := jsonscan.AppendStringBytes(nil, page)
	var turn []byte
	for line := range lines(recorded) {
		var head struct {
			Type, Subtype string
			In, Out       json.RawMessage // of a recorded conversation
		}
		err := json.Unmarshal(line, &head)
		if err == nil && head.Out != nil {
			line = head.Out
			err = json.Unmarshal(line, &head)
		}
		if err != nil {
			tb.Fatal(err)
		}
		if head.In != nil || head.Subtype == "init" || slices.Contains(turnTypes, head.Type) {
			continue
		}
		for _, output := range outputs {
			line = bytes.ReplaceAll(line, output, quoted)
		}
		turn = append(append(turn, line...), '\n')
	}
	return bytes.Repeat(turn, size/len(turn)+1)
}
