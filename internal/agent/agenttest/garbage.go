package agenttest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// garbage are lines that no agent means.
func garbage() [][]byte {
	return [][]byte{
		nil,
		[]byte(" \t\r"),
		[]byte("null"), []byte("true"), []byte("17"), []byte(`"text"`), []byte("[]"), []byte("{}"),
		[]byte(`[{"type":"result"}]`), []byte(`[[[[[]]]]]`),
		[]byte(`{"type":null}`), []byte(`{"type":[]}`), []byte(`{"type":{"type":"x"}}`), []byte(`{"type":17}`), []byte(`{"type":""}`),
		[]byte(`{"type":"from a later version","data":{"deep":[1,2,{"x":null}]}}`),
		[]byte(`{"jsonrpc":"2.0","method":"from/a/later/version","params":{}}`),
		[]byte(`{"jsonrpc":"2.0","id":987654321,"result":null}`),
		[]byte(`{"":"","\u0000":"\ud800"}`),
		[]byte(`{"type"`), []byte(`{"type":"`), []byte(`{"type":"x",`), []byte(`{"type":"x"}}`), []byte(`{"type":"x"} {"type":"y"}`),
		[]byte("npm WARN deprecated something@1.0.0: use something else"),
		[]byte("panic: runtime error\tgoroutine 1 [running]:"),
		[]byte("\x1b[31mred\x1b[0m \x00\x01\x7f"),
		[]byte("\xff\xfe\xfd"), []byte("{\"type\":\"x\",\"text\":\"\xff\xc3\"}"), []byte("caf\xc3"),
		bytes.Repeat([]byte("["), 20_000),
		bytes.Repeat([]byte(`{"type":`), 20_000),
	}
}

func checkGarbage(t *testing.T, a Agent) {
	turn := transcript(t, a)
	for name, prepare := range map[string]func(t *testing.T) *conversation{
		"before the turn": func(t *testing.T) *conversation { return begin(t, a, nil) },
		"in the turn": func(t *testing.T) *conversation {
			c := begin(t, a, a.Fake())
			c.open(Wait)
			c.fake = nil
			return c
		},
		"after the turn": func(t *testing.T) *conversation {
			c := begin(t, a, a.Fake())
			c.open(Finish)
			c.fake = nil
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := prepare(t)
			for _, from := range []agent.Stream{agent.Stdout, agent.Stderr} {
				for _, line := range garbage() {
					c.means(nothing, line, c.decode(line, from), from)
				}
				// Lines on stderr belong to no protocol.
				if from == agent.Stderr {
					for _, line := range turn {
						c.means(nothing, line, c.decode(line, from), from)
					}
				}
			}
		})
	}
}

// nothing are the facts that change nothing for the loop.
var nothing = []event.Type{event.TypeAgentNoticed, event.TypeAgentUnparsed}

// means checks that a line came to these types alone; free text says whatever it
// holds.
func (c *conversation) means(types []event.Type, line []byte, facts []fact, from agent.Stream) {
	c.t.Helper()
	if c.text && from == agent.Stdout {
		types = []event.Type{event.TypeAgentSaid}
	}
	for _, f := range facts {
		if !slices.Contains(types, f.EventType()) {
			c.t.Errorf("%s came out as %s %s", short(line), f.EventType(), short([]byte(f.Data)))
		}
	}
	if len(c.out.Reply) > 0 {
		c.t.Errorf("%s was answered: %q", short(line), c.out.Reply)
	}
}

// longLine is how long a line is that an agent may print, in bytes. The short tests and the race
// detector, which looks at each byte for a hundred times as long, take shorter ones.
func longLine() int {
	if testing.Short() {
		return 2 << 20
	}
	return 20 << 20
}

func checkLongLines(t *testing.T, a Agent) {
	long := longLine()
	c := open(t, a)
	quoted, err := json.Marshal(string(bytes.Repeat([]byte("long "), long/5)))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]byte{
		bytes.Repeat([]byte("x"), long),
		bytes.Repeat([]byte("\xff"), long/8),
		bytes.Repeat([]byte("["), long),
		slices.Concat([]byte(`{"type":"from a later version","text":`), quoted, []byte("}")),
		slices.Concat([]byte(`{"type":"from a later version","text":`), quoted),
	} {
		c.means(nothing, line, c.decode(line, agent.Stdout), agent.Stdout)
	}
}

func checkHalfLines(t *testing.T, a Agent) {
	for _, line := range transcript(t, a) {
		for _, n := range []int{1, len(line) / 3, len(line) / 2, len(line) - 1} {
			if n <= 0 || n >= len(line) || jsonscan.Valid(line[:n]) {
				continue
			}
			c := open(t, a)
			c.means(nothing, line[:n], c.decode(line[:n], agent.Stdout), agent.Stdout)
		}
	}
}

// damagedBytes is how much a check of damaged streams decodes in all.
const damagedBytes = 4 << 20

// checkDamaged leaves lines out, doubles, swaps, cuts and garbles them: whatever comes,
// the contract holds.
func checkDamaged(t *testing.T, a Agent) {
	streams := [][][]byte{transcript(t, a)}
	for _, stream := range a.Streams {
		streams = append(streams, slices.Collect(lines(stream)))
	}
	for _, stream := range streams {
		size := 1
		for _, line := range stream {
			size += len(line)
		}
		rounds := min(max(1, damagedBytes/len(streams)/size), 200)
		for seed := range rounds {
			c := open(t, a)
			for _, line := range damaged(stream, uint64(seed)) {
				c.decode(line, agent.Stdout)
			}
			if t.Failed() {
				t.Fatalf("seed %d of the stream that begins with %s", seed, short(stream[0]))
			}
		}
	}
}

func damaged(stream [][]byte, seed uint64) [][]byte {
	r := rand.New(rand.NewPCG(seed, 1))
	stream = slices.Clone(stream)
	for range 1 + r.IntN(4) {
		if len(stream) == 0 {
			break
		}
		i, j := r.IntN(len(stream)), r.IntN(len(stream))
		switch r.IntN(6) {
		case 0:
			stream = slices.Delete(stream, i, i+1)
		case 1:
			stream = slices.Insert(stream, i, stream[j])
		case 2:
			stream[i], stream[j] = stream[j], stream[i]
		case 3:
			stream[i] = stream[i][:r.IntN(len(stream[i])+1)]
		case 4:
			line := bytes.Clone(stream[i])
			if len(line) > 0 {
				line[r.IntN(len(line))] = byte(r.IntN(256))
			}
			stream[i] = bytes.ReplaceAll(line, []byte("\n"), []byte(" "))
		case 5:
			stream = slices.Insert(stream, i, garbage()[r.IntN(len(garbage()))])
		}
	}
	return stream
}
