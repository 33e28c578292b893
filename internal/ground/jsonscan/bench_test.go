package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// pieces are what generated programme text consists of. In a text drawn from them every sixteenth
// byte or so needs a backslash, as in Go's own source, and nothing repeats: a branch predictor
// learns a text of a kilobyte by heart, and then shows twice the speed of new text.
var pieces = strings.Fields(`\n\t \n\t\t \n\t \n "open" "closed" \\n if err != nil { } return nil, err ( ) := = , . func for range len(b) i < i++ append string []byte
	l.file.Write record fmt.Errorf("append: %w", offset // is not durable before Sync x ok switch case default: break segment.go struct int64 uint32
	context.Context ErrClosed := map[string]int make copy go defer close the reader stops at first short read instead of asking again type
	Journal Append &options.MaxRecord t.Fatal(err) want got a b _ _ = true false const var package interface chan select`)

const prose = "The test fails because the reader stops at the first short read instead of asking again; I will look at how the segment is opened " +
	"and whether the offset is kept across a reopen. Es läuft – der Rest steht in 报告, siehe unten. "

// programText returns n bytes of text that looks like a programme.
func programText(r *rand.Rand, n int) string {
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	var text strings.Builder
	for text.Len() < n {
		text.WriteString(unescape.Replace(pieces[r.IntN(len(pieces))]))
		switch r.IntN(8) {
		case 0:
			text.WriteString("\n\t\t\t"[:2+r.IntN(3)])
		case 1:
		default:
			text.WriteByte(' ')
		}
	}
	return text.String()[:n]
}

// agentLines is about 4 MB of stream-json as agents print it, the same in every run: many small
// updates, some texts, few large tool results. See TestAgentLines for its figures.
var agentLines = sync.OnceValue(func() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	say := func(n int) string {
		at := r.IntN(len(prose))
		return strings.ToValidUTF8(strings.Repeat(prose, n/len(prose)+2)[at:at+n], "")
	}
	program := func(n int) string { return programText(r, n) }
	quote := func(s string) string { return string(AppendString(nil, s)) }
	usage := func() string {
		return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,"service_tier":"standard"}`,
			r.IntN(100), r.IntN(9000), r.IntN(150000), r.IntN(2000))
	}
	id := func() string {
		return fmt.Sprintf("%08x-%04x-%04x-%012x", r.Uint32(), r.IntN(1<<16), r.IntN(1<<16), r.Int64N(1<<48))
	}
	var lines [][]byte
	for size := 0; size < 4<<20; {
		var line string
		switch k := r.IntN(100); {
		case k < 55:
			line = fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}},"session_id":"%s","parent_tool_use_id":null,"uuid":"%s"}`,
				r.IntN(4), quote(say(5+r.IntN(80))), id(), id())
		case k < 70:
			line = fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%s","type":"message","role":"assistant","model":"claude-sonnet","content":[{"type":"text","text":%s}],"stop_reason":null,"usage":%s},"session_id":"%s"}`,
				id(), quote(say(100+r.IntN(1500))), usage(), id())
		case k < 85:
			line = fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%s","type":"message","role":"assistant","model":"claude-sonnet","content":[{"type":"tool_use","id":"toolu_%s","name":"Edit","input":{"file_path":"/src/wal/log.go","old_string":%s,"new_string":%s,"replace_all":false}}],"stop_reason":"tool_use","usage":%s},"session_id":"%s"}`,
				id(), id(), quote(program(50+r.IntN(600))), quote(program(50+r.IntN(600))), usage(), id())
		default:
			line = fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%s","type":"tool_result","content":%s,"is_error":%t}]},"session_id":"%s","duration_ms":%d,"total_cost_usd":%.6f}`,
				id(), quote(program(int(200+r.ExpFloat64()*2500))), r.IntN(9) == 0, id(), r.IntN(100000), r.Float64())
		}
		lines = append(lines, []byte(line))
		size += len(line)
	}
	return lines
})

func TestAgentLines(t *testing.T) {
	lines := agentLines()
	all := bytes.Join(lines, nil)
	mean := len(all) / len(lines)
	backslashes := float64(bytes.Count(all, []byte{'\\'})) / float64(len(all))
	t.Logf("%d lines, mean %d B, %.1f %% backslashes", len(lines), mean, 100*backslashes)
	if mean < 800 || mean > 1300 || backslashes < 0.04 || backslashes > 0.08 {
		t.Error("the benchmarks no longer measure what agents print")
	}
	for _, line := range lines {
		if !json.Valid(line) {
			t.Fatalf("the generator wrote what is no JSON: %s", line)
		}
	}
}

// perLine measures f over all lines and reports MB/s. A benchmark with sub-benchmarks runs both
// sides in one process, one after the other.
func perLine(b *testing.B, f func(line []byte)) {
	lines := agentLines()
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			f(line)
		}
	}
}

func BenchmarkValid(b *testing.B) {
	b.Run("jsonscan", func(b *testing.B) {
		perLine(b, func(line []byte) {
			if !Valid(line) {
				b.Fatal("invalid")
			}
		})
	})
	b.Run("encoding-json", func(b *testing.B) {
		perLine(b, func(line []byte) {
			if !json.Valid(line) {
				b.Fatal("invalid")
			}
		})
	})
}

func BenchmarkDocument(b *testing.B) {
	b.Run("jsonscan", func(b *testing.B) {
		var document Document
		perLine(b, func(line []byte) {
			if value, err := document.Read(line); err != nil || !value.Get("session_id").IsString() {
				b.Fatal(err)
			}
		})
	})
	b.Run("encoding-json", func(b *testing.B) {
		perLine(b, func(line []byte) {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(line, &members); err != nil || len(members) < 3 {
				b.Fatal(err)
			}
		})
	})
}

// BenchmarkCursor walks all top-level members, and so skips over each line.
func BenchmarkCursor(b *testing.B) {
	b.Run("jsonscan", func(b *testing.B) {
		perLine(b, func(line []byte) {
			n := 0
			for members := Object(line); ; n++ {
				if _, _, ok := members.Next(); !ok {
					break
				}
			}
			if n < 3 {
				b.Fatal(n)
			}
		})
	})
}

func BenchmarkUsage(b *testing.B) {
	b.Run("jsonscan", func(b *testing.B) {
		tokens := int64(0)
		perLine(b, func(line []byte) {
			n, _ := Int(Get(line, "message", "usage", "output_tokens"))
			tokens += n
		})
	})
	b.Run("encoding-json", func(b *testing.B) {
		tokens := int64(0)
		perLine(b, func(line []byte) {
			var event struct {
				Message struct {
					Usage struct {
						Out int64 `json:"output_tokens"`
					} `json:"usage"`
				} `json:"message"`
			}
			if err := json.Unmarshal(line, &event); err != nil {
				b.Fatal(err)
			}
			tokens += event.Message.Usage.Out
		})
	})
}

// texts are the string values that are measured: text that needs no escapes, text that needs many,
// text beyond ASCII.
var texts = []struct{ name, text string }{
	{"clean", strings.Repeat("The quick brown fox jumps over the lazy dog and looks back. ", 70)},
	{"source", programText(rand.New(rand.NewPCG(3, 4)), 100_000)},
	{"non-ASCII", strings.Repeat("Größe – 报告在这里，请看下面。", 100)},
}

func BenchmarkValidText(b *testing.B) {
	for _, c := range texts {
		value := AppendString(nil, c.text)
		b.Run(c.name+"/jsonscan", func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				if !Valid(value) {
					b.Fatal("invalid")
				}
			}
		})
		b.Run(c.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			for b.Loop() {
				if !json.Valid(value) {
					b.Fatal("invalid")
				}
			}
		})
	}
}

func BenchmarkAppendString(b *testing.B) {
	for _, c := range texts {
		b.Run(c.name+"/jsonscan", func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendString(dst[:0], c.text)
			}
		})
		b.Run(c.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(c.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendUnquoted(b *testing.B) {
	for _, c := range texts {
		value := AppendString(nil, c.text)
		b.Run(c.name+"/jsonscan", func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendUnquoted(dst[:0], value)
			}
		})
		b.Run(c.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				var s string
				if err := json.Unmarshal(value, &s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
