package pi

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// survive gives a dialect lines of any kind. A line that begins with "!" is
// something that the loop does. It fails where a fact or a reply is not JSON,
// or a turn finishes twice.
func survive(t *testing.T, script []byte) {
	d := New()
	turns, ends := 0, 0
	check := func(lines [][]byte) {
		for _, line := range lines {
			if !json.Valid(line) || bytes.ContainsRune(line, '\n') {
				t.Fatalf("wrote %q", line)
			}
		}
	}
	for line := range bytes.SplitSeq(script, []byte("\n")) {
		var out agent.Decoded
		switch {
		case bytes.HasPrefix(line, []byte("!open")):
			turns++
			ends = 0
			check(d.Open(agent.Prompt{Text: string(line)}))
		case bytes.HasPrefix(line, []byte("!steer")):
			lines, _ := d.Steer("c", string(line[len("!steer"):]))
			check(lines)
		case bytes.HasPrefix(line, []byte("!abort")):
			check(d.Abort())
		case bytes.HasPrefix(line, []byte("!reset")):
			lines, _ := d.Reset()
			check(lines)
		case bytes.HasPrefix(line, []byte("!stderr")):
			d.Decode(line, agent.Stderr, &out)
		default:
			d.Decode(line, agent.Stdout, &out)
		}
		check(out.Reply)
		for _, fact := range out.Facts {
			if data := event.AppendData(nil, fact); !json.Valid(data) {
				t.Fatalf("%q came to %s %s", line, fact.EventType(), data)
			}
			if _, is := fact.(event.AgentFinished); is {
				if ends++; turns == 0 || ends > 1 {
					t.Fatalf("%q ended turn %d %d times", line, turns, ends)
				}
			}
		}
	}
}

// script makes a captured conversation one for survive, with the ids that the dialect
// would have given.
func script(t testing.TB, path string) []byte {
	var b bytes.Buffer
	b.WriteString("!open\n")
	ids := strings.NewReplacer(`"id":"r1"`, `"id":"ralph-1"`, `"id":"r2"`, `"id":"ralph-2"`, `"id":"r3"`, `"id":"ralph-3"`, `"id":"r4"`, `"id":"ralph-4"`)
	for _, s := range readSaid(t, path) {
		switch {
		case s.Out != nil:
			b.WriteString(ids.Replace(string(s.Out)))
		case bytes.Contains(s.In, []byte(`"steer`)):
			b.WriteString("!steer STEER-A (sent while text streams)")
		case bytes.Contains(s.In, []byte(`"abort"`)):
			b.WriteString("!abort")
		case bytes.Contains(s.In, []byte(`"new_session"`)):
			b.WriteString("!reset")
		default:
			continue
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func TestLinesInAnyOrder(t *testing.T) {
	var all [][]byte
	for _, path := range captures(t) {
		all = append(all, bytes.Split(script(t, path), []byte("\n"))...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var b bytes.Buffer
		for range 300 {
			line := bytes.Clone(all[random.IntN(len(all))])
			if random.IntN(8) == 0 && len(line) > 0 {
				line[random.IntN(len(line))] = byte(random.Uint32())
			}
			b.Write(append(line, '\n'))
		}
		survive(t, b.Bytes())
	}
}

func TestCapturesDoNoHarm(t *testing.T) {
	for _, path := range captures(t) {
		survive(t, script(t, path))
	}
}

// words returns the shortest captured line of each kind: a fuzzer gets nowhere
// with complete conversations.
func words(t testing.TB) map[string]string {
	shortest := map[string]string{}
	for _, path := range captures(t) {
		for line := range bytes.SplitSeq(script(t, path), []byte("\n")) {
			var l struct {
				Type    string `json:"type"`
				Command string `json:"command"`
				Method  string `json:"method"`
				Step    struct {
					Type string `json:"type"`
				} `json:"assistantMessageEvent"`
				Message struct {
					Role string `json:"role"`
				} `json:"message"`
			}
			if json.Unmarshal(line, &l) != nil {
				l.Message.Role = "" // a method's message is a text, and the rest is read
			}
			kind := strings.Join([]string{l.Type, l.Command, l.Method, l.Step.Type, l.Message.Role}, " ")
			if old, seen := shortest[kind]; !seen || len(line) < len(old) {
				shortest[kind] = string(line)
			}
		}
	}
	return shortest
}

func FuzzDecode(f *testing.F) {
	known := words(f)
	if len(known) < 30 {
		f.Fatalf("only %d kinds of lines", len(known))
	}
	const begin = "!open\n" +
		`{"id":"ralph-1","type":"response","command":"get_state","success":true}` + "\n" +
		`{"id":"ralph-2","type":"response","command":"prompt","success":true}` + "\n"
	for _, kind := range slices.Sorted(maps.Keys(known)) {
		if line := known[kind]; len(line) < 1000 {
			f.Add([]byte(begin + line + "\n!steer x\n" + line))
		}
	}
	f.Add([]byte("!open\n!steer x\nnull\n[]\n{\"type\":null}\n!abort\n!reset\n\xff\n!stderr y"))
	f.Fuzz(func(t *testing.T, script []byte) { survive(t, script) })
}
