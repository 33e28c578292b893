package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// said is one line of a captured conversation. Files directly under testdata hold what Claude
// printed; those under testdata/said hold what the driver wrote as well.
type said struct {
	In  json.RawMessage `json:"in"`
	Out json.RawMessage `json:"out"`
}

func lines(t testing.TB, path string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

// printed returns what Claude printed in a capture.
func printed(t testing.TB, path string) [][]byte {
	t.Helper()
	var out [][]byte
	for _, s := range readSaid(t, path) {
		if s.Out != nil {
			out = append(out, s.Out)
		}
	}
	return out
}

func readSaid(t testing.TB, path string) []said {
	t.Helper()
	var all []said
	for _, line := range lines(t, path) {
		switch {
		case strings.Contains(path, "/said/"):
			var s said
			if err := json.Unmarshal(line, &s); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all = append(all, s)
		case strings.HasSuffix(path, "event-samples.jsonl"):
			var s struct{ Sample json.RawMessage }
			if err := json.Unmarshal(line, &s); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all = append(all, said{Out: s.Sample})
		default:
			all = append(all, said{Out: line})
		}
	}
	return all
}

func captures(t testing.TB) []string {
	t.Helper()
	printed, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	both, err := filepath.Glob("testdata/said/*.jsonl")
	if err != nil || len(printed) < 18 || len(both) < 13 {
		t.Fatalf("captured streams: %d and %d, %v", len(printed), len(both), err)
	}
	return append(printed, both...)
}

// asked are the steers and interrupts of the captures that hold only what Claude printed, by the
// number of the line before which they were sent.
var asked = map[string]map[int]string{
	"steered-during-tool":     {6: "steer"},
	"steer-priority-now-text": {1: "steer"}, // without uuids: nothing is echoed
	"interrupt-control":       {4: "abort"},
}

// replay plays a capture to a dialect. The uuids of the capture's driver become those that the
// dialect chose.
type replay struct {
	t     testing.TB
	d     *Dialect
	uuids *strings.Replacer
	known []string
	seen  func(n int, line []byte, out *agent.Decoded)
}

func newReplay(t testing.TB) *replay {
	return &replay{t: t, d: New(nil), uuids: strings.NewReplacer()}
}

// captured are the uuids of the captures' drivers, in the order in which they were used.
var captured = []string{"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"}

func (r *replay) wrote() {
	if n := len(r.d.sent); n <= len(captured) {
		r.known = append(r.known, captured[n-1], r.d.sent[n-1].uuid)
		r.uuids = strings.NewReplacer(r.known...)
	}
}

func (r *replay) run(name string, all []said) {
	n, asked := 0, asked[name]
	for _, s := range all {
		if s.In != nil {
			r.in(s.In)
			continue
		}
		switch what := asked[n]; {
		case what == "steer":
			r.steer()
		case what == "abort" && len(r.d.Abort()) != 1:
			r.t.Fatal("the turn cannot be interrupted")
		}
		r.out(n, s.Out)
		n++
	}
}

func (r *replay) steer() {
	id := fmt.Sprintf("steer-%d", len(r.d.sent))
	if lines, live := r.d.Steer(id, "use the other branch"); !live || len(lines) != 1 {
		r.t.Fatal("a steer was refused in a running turn")
	}
	r.wrote()
}

func (r *replay) in(line []byte) {
	var s struct {
		Type    string
		Request struct{ Subtype string }
	}
	if err := json.Unmarshal(line, &s); err != nil {
		r.t.Fatal(err)
	}
	switch {
	case s.Type == "user" && len(r.d.sent) == 0:
		r.d.Open(agent.Prompt{Text: "first task", Iteration: 7})
		r.wrote()
	case s.Type == "user":
		r.steer()
	case s.Request.Subtype == "interrupt":
		if len(r.d.Abort()) != 1 {
			r.t.Fatal("the turn cannot be interrupted")
		}
	}
}

func (r *replay) out(n int, line []byte) {
	if !r.d.turn.open && (len(r.d.sent) == 0 || bytes.Contains(line, []byte(`"subtype":"init"`)) && !r.d.sent[len(r.d.sent)-1].steer) {
		r.d.Open(agent.Prompt{Text: "first task", Iteration: 7})
		r.wrote()
	}
	line = []byte(r.uuids.Replace(string(line)))
	var out agent.Decoded
	r.d.Decode(line, agent.Stdout, &out)
	if out.JSON != json.Valid(line) {
		r.t.Errorf("line %d: JSON is %v", n, out.JSON)
	}
	if len(out.Facts) == 0 && !out.DropRaw {
		r.t.Errorf("line %d came to nothing: %.200s", n, line)
	}
	if r.seen != nil {
		r.seen(n, line, &out)
	}
}

// TestCaptures compares the facts of each captured stream with the golden ones.
func TestCaptures(t *testing.T) {
	for _, path := range captures(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			r := newReplay(t)
			r.seen = func(n int, line []byte, out *agent.Decoded) { writeDecoded(&got, n, out) }
			all := readSaid(t, path)
			r.run(name, all)
			var gone agent.Decoded
			r.d.End(-1, &gone)
			writeDecoded(&got, len(all), &gone)
			golden.Check(t, filepath.Join("testdata", "golden", name+".jsonl"), got.Bytes())
		})
	}
}

// writeDecoded writes what a line came to, one JSON line for each fact.
func writeDecoded(w *bytes.Buffer, n int, out *agent.Decoded) {
	for _, fact := range out.Facts {
		draft := event.Encode(fact, "agent:claude")
		fmt.Fprintf(w, `{"line":%d,"type":"%s","data":%s}`+"\n", n, draft.Type, draft.Data)
	}
	for _, reply := range out.Reply {
		fmt.Fprintf(w, `{"line":%d,"reply":%s}`+"\n", n, reply)
	}
	if out.DropRaw {
		fmt.Fprintf(w, `{"line":%d,"dropRaw":true}`+"\n", n)
	}
}

// TestRepliesMatchCapture compares the answers to can_use_tool with those that the real program
// accepted.
func TestRepliesMatchCapture(t *testing.T) {
	for _, path := range []string{"testdata/said/root-asks-v329.jsonl", "testdata/said/root-asks-v197.jsonl"} {
		var tried, given []string
		all := readSaid(t, path)
		for _, s := range all {
			if s.In != nil && jsonscan.Unquote(jsonscan.Get(s.In, "type")) == "control_response" {
				tried = append(tried, normal(t, s.In))
			}
		}
		r := newReplay(t)
		r.seen = func(_ int, _ []byte, out *agent.Decoded) {
			for _, reply := range out.Reply {
				if isUsageQuestion(reply) {
					continue // the captures' driver did not ask
				}
				given = append(given, normal(t, reply))
			}
		}
		r.run("", all)
		if len(tried) != 3 || strings.Join(tried, "\n") != strings.Join(given, "\n") {
			t.Errorf("%s: replies\n%s\nwant\n%s", path, strings.Join(given, "\n"), strings.Join(tried, "\n"))
		}
	}
}

func isUsageQuestion(line []byte) bool {
	return jsonscan.Unquote(jsonscan.Get(line, "request", "subtype")) == "get_usage"
}

// normal sorts the keys of an object.
func normal(t *testing.T, line []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}
