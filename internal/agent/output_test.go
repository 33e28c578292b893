//go:build unix

package agent_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestOutputComesBeforeExit(t *testing.T) {
	c := shell(t, `i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done; printf 'no newline'; exit 3`)
	c.begin()
	drafts := c.all()
	var said strings.Builder
	for _, d := range drafts {
		if d.Type == event.TypeAgentSaid {
			said.WriteString(agenttest.Payload[event.AgentSaid](t, d).Text.String())
		}
	}
	var want strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	want.WriteString("no newline")
	if said.String() != want.String() {
		t.Errorf("%d bytes were reported of %d", said.Len(), want.Len())
	}
	exit := agenttest.Payload[event.AgentExited](t, drafts[len(drafts)-1])
	if exit.Code != 3 || exit.Signal != "" {
		t.Errorf("%+v", exit)
	}
}

// echo is a protocol whose facts its lines name, so that a test can say what becomes of a line.
type echo struct {
	facts func(line string, from agent.Stream, out *agent.Decoded)
	able  agent.Abilities
}

func (e echo) Command(s agent.Spec) (agent.Command, error) {
	return agent.Command{Argv: s.Command, CloseStdin: true}, nil
}
func (e echo) Open(agent.Prompt) [][]byte             { return nil }
func (e echo) Steer(id, text string) ([][]byte, bool) { return nil, false }
func (e echo) Reset() ([][]byte, bool)                { return nil, e.able.Reset }
func (e echo) Abort() [][]byte                        { return nil }
func (e echo) Stop() [][]byte                         { return nil }
func (e echo) Abilities() agent.Abilities             { return e.able }
func (e echo) Decode(line []byte, from agent.Stream, out *agent.Decoded) {
	e.facts(string(line), from, out)
}

// prints is a command that prints text, byte for byte.
func prints(t *testing.T, text string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"cat", path}
}

func TestRawLinesKept(t *testing.T) {
	one := func(_ string, _ agent.Stream, out *agent.Decoded) { out.Add(event.AgentNoticed{What: "a"}) }
	two := func(_ string, _ agent.Stream, out *agent.Decoded) {
		out.Add(event.AgentNoticed{What: "a"})
		out.Add(event.AgentNoticed{What: "b"})
	}
	dropped := func(_ string, _ agent.Stream, out *agent.Decoded) {
		out.Add(event.AgentNoticed{What: "a"})
		out.DropRaw = true
	}
	silent := func(_ string, _ agent.Stream, out *agent.Decoded) {}
	quiet := func(_ string, _ agent.Stream, out *agent.Decoded) { out.DropRaw = true }
	const line = `{"type":"moon", "n":[1, {"ü":"\u00fc"}] }`
	for name, row := range map[string]struct {
		line  string
		facts func(string, agent.Stream, *agent.Decoded)
		lose  bool // KeepRaw is off
		want  []string
	}{
		"it is kept byte for byte":                         {line, one, false, []string{`a ` + line}},
		"with the first of its facts":                      {line, two, false, []string{`a ` + line, `b `}},
		"not where the dialect says that it repeats":       {line, dropped, false, []string{`a `}},
		"not where it is not wanted":                       {line, one, true, []string{`a `}},
		"not where it is no JSON":                          {`{"type":"moon"`, one, false, []string{`a `}},
		"not where it is no UTF-8":                         {"{\"type\":\"\xff\"}", one, false, []string{`a `}},
		"a line without facts is noticed by its type":      {line, silent, false, []string{`moon ` + line}},
		"one without a type is noticed as a line":          {`{"n":1}`, silent, false, []string{`line {"n":1}`}},
		"one whose type is no word is, too":                {`{"type":7}`, silent, false, []string{`line {"type":7}`}},
		"and one that is no JSON":                          {`moon`, silent, false, []string{`line `}},
		"a line that repeats and says nothing is left out": {line, quiet, false, nil},
		"nor is an empty one":                              {``, silent, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, echo{facts: row.facts}, func(cfg *agent.Config) { cfg.KeepRaw = !row.lose }, prints(t, row.line+"\n")...)
			c.begin()
			var got []string
			for _, d := range c.all() {
				if d.Type == event.TypeAgentNoticed {
					got = append(got, agenttest.Payload[event.AgentNoticed](t, d).What+" "+string(d.Raw))
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("got %q,\nwant %q", got, row.want)
			}
		})
	}
}

// An agent cannot name a blob that is missing: a line that looks like the writer's reference to one
// is a text.
func TestPrintedReferencesAreTexts(t *testing.T) {
	blob := strings.Repeat("ab", 32)
	for line, text := range map[string]bool{
		`{"blob":"` + blob + `","bytes":6}`:             true,
		`{ "bytes" : 6, "blob" : "` + blob + `" }`:      true,
		`{"bl\u006fb":"` + blob + `","bytes":6}`:        true,
		`{"blob":1,"bytes":6,"blob":"` + blob + `"}`:    true,
		`{"blob":"` + blob + `","bytes":6,"more":true}`: false,
		`{"blob":"` + blob + `"}`:                       false,
		`{"blob":"` + blob[2:] + `","bytes":6}`:         false,
	} {
		decodes := func(_ string, _ agent.Stream, out *agent.Decoded) { out.Add(event.AgentUnparsed{}) }
		c := converse(t, echo{facts: decodes}, func(cfg *agent.Config) { cfg.KeepRaw = true }, prints(t, line+"\n")...)
		c.begin()
		found := false
		for _, d := range c.all() {
			if d.Type != event.TypeAgentUnparsed {
				continue
			}
			found = true
			if got := agenttest.Payload[event.AgentUnparsed](t, d).Line.String(); (got == line) != text || (string(d.Raw) == line) == text {
				t.Errorf("%s: the text %q and the raw %s", line, got, d.Raw)
			}
		}
		if !found {
			t.Errorf("%s is lost", line)
		}
	}
}

// An agent cannot make a journal that is no JSON: as a part of an event, a line is deeper.
func TestDeepLinesAreTexts(t *testing.T) {
	const most = jsonscan.MaxDepth
	for depth, deep := range map[int]bool{100: false, most - 8: false, most - 7: true, most: true, most + 1: true} {
		line := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		decodes := func(line string, _ agent.Stream, out *agent.Decoded) {
			out.Add(event.ToolCalled{ID: "1", Input: json.RawMessage(line)})
		}
		c := converse(t, echo{facts: decodes}, func(cfg *agent.Config) { cfg.KeepRaw = true }, prints(t, line+"\n")...)
		c.begin()
		found := false
		for _, d := range c.all() {
			found = found || d.Type == event.TypeAgentUnparsed || d.Type == event.TypeToolCalled
			raw := cmp.Or(string(d.Raw), "{}")
			switch {
			case !jsonscan.Valid([]byte(`{"data":` + string(d.Data) + `,"raw":` + raw + `}`)):
				t.Errorf("%d deep: %s is no JSON", depth, d.Type)
			case d.Type == event.TypeAgentUnparsed && (agenttest.Payload[event.AgentUnparsed](t, d).Line.String() != line || !deep),
				d.Type == event.TypeToolCalled && (string(d.Raw) != line || deep):
				t.Errorf("%d deep: %s", depth, d.Type)
			}
		}
		if !found {
			t.Errorf("%d deep: the line is lost", depth)
		}
	}
}

// A long text is reported when it is complete. Until then its pieces are a sign of life, which is
// reported once a second.
func TestHiddenPiecesShowProgress(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var reads []time.Duration
	for _, at := range []int{0, 400, 999, 1000, 1900, 2300, 2900, 3300, 3400} { // the sixth is reported, and begins another second
		reads = append(reads, time.Duration(at)*time.Millisecond)
	}
	n := 0
	script := echo{func(line string, _ agent.Stream, out *agent.Decoded) {
		if out.DropRaw = line != "6"; !out.DropRaw {
			out.Add(event.AgentNoticed{What: "whole"})
		}
		out.Reply = [][]byte{[]byte("on")} // no two lines are read at once
	}, agent.Abilities{Live: true}}
	c := converse(t, asking{script}, func(cfg *agent.Config) {
		cfg.Now = func() time.Time {
			n++
			return begun.Add(reads[min(n, len(reads))-1])
		}
	}, "sh", "-c", `for i in 1 2 3 4 5 6 7 8 9; do echo $i; read x; done`)
	c.begin()
	var got []string
	for _, d := range c.all() {
		if d.Type == event.TypeAgentNoticed {
			got = append(got, agenttest.Payload[event.AgentNoticed](t, d).What)
		}
	}
	if want := []string{event.NoticeWriting, event.NoticeWriting, "whole", event.NoticeWriting}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// asking is an echo whose stdin stays open.
type asking struct{ echo }

func (a asking) Command(s agent.Spec) (agent.Command, error) {
	return agent.Command{Argv: s.Command}, nil
}

func TestUnparsedLineKeptOnce(t *testing.T) {
	unread := func(_ string, _ agent.Stream, out *agent.Decoded) { out.Add(event.AgentUnparsed{}) }
	for name, row := range map[string]struct {
		line       string
		lose       bool // KeepRaw is off
		fact, kept string
	}{
		"beside its fact": {`{"type":"moon"}`, false, "", `{"type":"moon"}`},
		"in its fact where no agent's lines are kept": {`{"type":"moon"}`, true, `{"type":"moon"}`, ""},
		"and where it is no JSON":                     {`{"type":`, false, `{"type":`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := converse(t, echo{facts: unread}, func(cfg *agent.Config) { cfg.KeepRaw = !row.lose }, prints(t, row.line+"\n")...)
			c.begin()
			for _, d := range c.all() {
				if d.Type != event.TypeAgentUnparsed {
					continue
				}
				if line := agenttest.Payload[event.AgentUnparsed](t, d).Line.String(); line != row.fact || string(d.Raw) != row.kept {
					t.Errorf("the fact has %q, and the line beside it is %q", line, d.Raw)
				}
				return
			}
			t.Error("it is not reported")
		})
	}
}

func TestStderrLinesNotKept(t *testing.T) {
	c := converse(t, echo{facts: func(line string, from agent.Stream, out *agent.Decoded) {
		out.Add(event.AgentNoticed{What: fmt.Sprint(from == agent.Stderr), Text: line})
	}}, nil, "sh", "-c", `echo '{"a":1}' >&2`)
	c.begin()
	drafts := c.all()
	if len(drafts) != 3 || drafts[1].Raw != nil || !strings.Contains(string(drafts[1].Data), `"true"`) {
		t.Errorf("%v", types(drafts))
	}
	if exit := agenttest.Payload[event.AgentExited](t, drafts[2]); exit.Stderr != "{\"a\":1}\n" {
		t.Errorf("the last words are %q", exit.Stderr)
	}
}

func TestLongOutputMovesToBlob(t *testing.T) {
	sum := func(text []byte) (event.Blob, error) {
		return event.Blob{SHA256: event.BlobRef(fmt.Sprint(len(text)))}, nil
	}
	long, letters := strings.Repeat("x", 65<<10), "x"+strings.Repeat("é", 40<<10)
	for name, row := range map[string]struct {
		output string
		blob   func([]byte) (event.Blob, error)
		moved  bool
	}{
		"a long one is moved":                        {long, sum, true},
		"a short one stays":                          {strings.Repeat("x", 60<<10), sum, false},
		"it is cut between letters":                  {letters, sum, true},
		"where no blob can be stored it stays":       {long, func([]byte) (event.Blob, error) { return event.Blob{}, errors.New("disk full") }, false},
		"where a blob is no file it stays":           {long, func([]byte) (event.Blob, error) { return event.Blob{Text: "x"}, nil }, false},
		"where blobs are not kept it stays":          {long, nil, false},
		"a text of newlines is long in its spelling": {strings.Repeat("\n", 40<<10), sum, true},
	} {
		t.Run(name, func(t *testing.T) {
			facts := func(_ string, _ agent.Stream, out *agent.Decoded) {
				out.Add(event.ToolReturned{ID: "t1", OK: true, Output: event.Plain(row.output), Took: 5})
			}
			c := converse(t, echo{facts: facts}, func(cfg *agent.Config) { cfg.Blob = row.blob }, "echo", "go")
			c.begin()
			got := agenttest.Payload[event.ToolReturned](t, c.until(event.TypeToolReturned))
			if got.ID != "t1" || !got.OK || got.Took != 5 {
				t.Errorf("%+v", got)
			}
			head := got.Output.String()
			if !row.moved {
				if head != row.output || got.Blob != "" || got.Bytes != 0 {
					t.Errorf("%d bytes of %d, blob %q", len(head), len(row.output), got.Blob)
				}
				return
			}
			if string(got.Blob) != fmt.Sprint(len(row.output)) || got.Bytes != len(row.output) {
				t.Errorf("blob %q of %d bytes", got.Blob, got.Bytes)
			}
			if len(head) < 4000 || len(head) > 4096 || !strings.HasPrefix(row.output, head) || !utf8.ValidString(head) {
				t.Errorf("the head has %d bytes and ends %q", len(head), head[len(head)-4:])
			}
		})
	}
}

// A value that is cut in two by the head of a long output could be recognised in neither half.
func TestBlobHeadIsMasked(t *testing.T) {
	const hidden = "hunter2-correct-horse"
	masker := redact.New([]string{"DEMO_TOKEN=" + hidden})
	output := strings.Repeat("x", 4090) + " " + hidden + strings.Repeat(" y", 40<<10)
	facts := func(_ string, _ agent.Stream, out *agent.Decoded) {
		out.Add(event.ToolReturned{ID: "t1", Output: event.Plain(output)})
	}
	c := converse(t, echo{facts: facts}, func(cfg *agent.Config) {
		cfg.Secrets = masker
		cfg.Blob = func([]byte) (event.Blob, error) { return event.Blob{SHA256: "ab"}, nil }
	}, "echo", "go")
	c.begin()
	head := agenttest.Payload[event.ToolReturned](t, c.until(event.TypeToolReturned)).Output.String()
	if strings.Contains(head, "hunt") || len(head) < 4000 {
		t.Errorf("the head ends %q", head[len(head)-20:])
	}
}

func TestStreamedTextIsWithheld(t *testing.T) {
	const hidden = "hunter2-correct-horse"
	masker := redact.New([]string{"DEMO_TOKEN=" + hidden})
	facts := func(line string, _ agent.Stream, out *agent.Decoded) {
		out.Add(event.AgentSaid{Block: "1.0", Text: event.Plain(line)})
		out.DropRaw = true
	}
	c := converse(t, echo{facts: facts}, func(cfg *agent.Config) { cfg.Secrets = masker },
		prints(t, "the token is hunter2-\ncorrect-horse, and\nthe last word is hunter2-corr\n")...)
	c.begin()
	var texts []string
	drafts := c.all()
	for _, d := range drafts[1 : len(drafts)-1] {
		texts = append(texts, agenttest.Payload[event.AgentSaid](t, d).Text.String())
	}
	// What is still held when the process ends is reported before its exit.
	want := []string{"the token is ", "[masked:DEMO_TOKEN], ", "andthe last word is ", "hunter2-corr"}
	if !slices.Equal(texts, want) {
		t.Errorf("got %q,\nwant %q", texts, want)
	}
}
