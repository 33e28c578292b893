package claude

import (
	"bytes"
	"os"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/jsonscan"
)

func BenchmarkDecode(b *testing.B) {
	b.Run("captures", func(b *testing.B) { agenttest.BenchmarkDecode(b, withStreams(b)) })
	b.Run("work", func(b *testing.B) {
		a := suite
		a.Streams = map[string][]byte{"work": work(b)}
		agenttest.BenchmarkDecode(b, a)
	})
}

// work is a stream as a working agent prints it: mostly tool calls and their output.
func work(b *testing.B) []byte {
	b.Helper()
	file, err := os.ReadFile("testdata/work.txt")
	if err != nil {
		b.Fatal(err)
	}
	words := jsonscan.AppendStringBytes(nil, file)
	stream := bytes.Join(printed(b, "testdata/tool-run.jsonl")[1:23], []byte("\n"))
	stream = bytes.ReplaceAll(stream, []byte(`"content":"p1"`), append([]byte(`"content":`), words...))
	return bytes.ReplaceAll(stream, []byte(`"stdout":"p1"`), append([]byte(`"stdout":`), words...))
}
