package pi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// said is one line of a captured conversation: in is what a driver wrote, out
// what pi printed. pi's line is kept byte for byte.
type said struct {
	In  json.RawMessage `json:"in"`
	Out json.RawMessage `json:"out"`
}

func readSaid(t testing.TB, path string) []said {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var lines []said
	scan := bufio.NewScanner(file)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var s said
		if err := json.Unmarshal(scan.Bytes(), &s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		lines = append(lines, s)
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func captures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/said.jsonl")
	if err != nil || len(paths) < 15 {
		t.Fatalf("captured streams: %d, %v", len(paths), err)
	}
	return paths
}

// sent is a line that the driver of a capture or the dialect wrote to pi.
type sent struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// replay plays a captured conversation to a dialect. What the driver of the
// capture asked for, the dialect is asked for too, and answers are given the ids
// that the dialect chose; what the dialect asks beyond that is answered as the captured pi would.
type replay struct {
	t       testing.TB
	d       *Dialect
	ids     map[string]string // capture's id → the dialect's
	waiting []sent            // of the dialect, not yet matched with the capture's
	prompt  string            // the first one
	opened  bool
	old     bool // pi 0.74 does not know clear_queue
	seen    func(line []byte, out *agent.Decoded)
}

func (r *replay) run(lines []said) {
	for _, s := range lines {
		var cmd sent
		if s.In != nil && json.Unmarshal(s.In, &cmd) == nil && cmd.Type == "prompt" {
			r.prompt = cmd.Message
			break
		}
	}
	for _, s := range lines {
		if s.In != nil {
			r.in(s.In)
		} else {
			r.out(s.Out)
		}
	}
}

func (r *replay) in(line []byte) {
	var cmd struct {
		sent
		StreamingBehavior string `json:"streamingBehavior"`
	}
	if err := json.Unmarshal(line, &cmd); err != nil {
		r.t.Fatal(err)
	}
	switch {
	case cmd.Type == "get_state" && !r.opened:
		r.opened = true
		r.write(r.d.Open(agent.Prompt{Text: r.prompt}))
	case cmd.Type == "prompt" && cmd.StreamingBehavior == "steer", cmd.Type == "steer":
		lines, live := r.d.Steer("command-"+cmd.ID, cmd.Message)
		if !live {
			r.t.Fatalf("steer %q was refused in a running turn", cmd.Message)
		}
		r.write(lines)
		cmd.Type = "steer"
	case cmd.Type == "prompt" && r.d.phase == idle:
		r.write(r.d.Open(agent.Prompt{Text: cmd.Message}))
	case cmd.Type == "new_session":
		lines, same := r.d.Reset()
		if !same {
			r.t.Fatal("reset was refused between turns")
		}
		r.write(lines)
	case cmd.Type == "abort":
		r.write(r.d.Abort())
	}
	for i, mine := range r.waiting {
		if mine.Type == cmd.Type {
			r.ids[cmd.ID] = mine.ID
			r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
			return
		}
	}
}

// write takes lines that the dialect writes to pi.
func (r *replay) write(lines [][]byte) {
	for _, line := range lines {
		var cmd sent
		if err := json.Unmarshal(line, &cmd); err != nil {
			r.t.Fatalf("the dialect wrote %q: %v", line, err)
		}
		switch cmd.Type {
		case "extension_ui_response":
		case "get_state":
			if r.d.phase == greeting {
				r.waiting = append(r.waiting, cmd)
				continue
			}
			r.decode(fmt.Appendf(nil, `{"id":%q,"type":"response","command":"get_state","success":true,"data":{"isStreaming":false,"isCompacting":false}}`, cmd.ID))
		case "clear_queue":
			answer := fmt.Sprintf(`{"id":%q,"type":"response","command":"clear_queue","success":true,"data":{"steering":[],"followUp":[]}}`, cmd.ID)
			if r.old {
				answer = fmt.Sprintf(`{"id":%q,"type":"response","command":"clear_queue","success":false,"error":"Unknown command: clear_queue"}`, cmd.ID)
			}
			r.decode([]byte(answer))
		default:
			r.waiting = append(r.waiting, cmd)
		}
	}
}

func (r *replay) out(line []byte) {
	var response struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Command string `json:"command"`
	}
	_ = json.Unmarshal(line, &response)
	if response.Type == "response" {
		if mine := r.ids[response.ID]; mine != "" {
			line = bytes.Replace(line, []byte(`"id":"`+response.ID+`"`), []byte(`"id":"`+mine+`"`), 1)
		}
	}
	r.decode(line)
}

func (r *replay) decode(line []byte) {
	out := agent.Decoded{At: readAt}
	r.d.Decode(line, agent.Stdout, &out)
	if r.seen != nil {
		r.seen(line, &out)
	}
	r.write(out.Reply)
}

func newReplay(t testing.TB, path string) *replay {
	return &replay{t: t, d: New(), ids: map[string]string{}, old: strings.Contains(path, "_v074")}
}

// TestCaptures holds the facts, the replies and what
// becomes of the raw line for every captured conversation.
func TestCaptures(t *testing.T) {
	for _, path := range captures(t) {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			var got bytes.Buffer
			r := newReplay(t, path)
			r.seen = func(_ []byte, out *agent.Decoded) { writeDecoded(&got, out) }
			r.run(readSaid(t, path))
			golden.Check(t, filepath.Join(filepath.Dir(path), "facts.jsonl"), got.Bytes())
		})
	}
}

func writeDecoded(w *bytes.Buffer, out *agent.Decoded) {
	for _, fact := range out.Facts {
		draft := event.Encode(fact, "agent:pi")
		fmt.Fprintf(w, `{"type":%q,"data":%s}`+"\n", draft.Type, draft.Data)
	}
	for _, reply := range out.Reply {
		fmt.Fprintf(w, `{"reply":%s}`+"\n", reply)
	}
	if out.Fresh || out.Stale {
		fmt.Fprintf(w, `{"fresh":%t,"stale":%t}`+"\n", out.Fresh, out.Stale)
	}
}

func diff(t *testing.T, want, got string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
}
