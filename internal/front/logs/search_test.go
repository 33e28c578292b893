package logs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

func compiled(t interface{ Fatal(...any) }, text string, expression bool, letters string) *pattern {
	p, err := newPattern(text, expression, letters)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPatternCase(t *testing.T) {
	for _, c := range []struct {
		text, letters, in string
		want              bool
	}{
		{"timeout", CaseSmart, "Timeout", true},
		{"Timeout", CaseSmart, "timeout", false},
		{"Timeout", CaseIgnore, "TIMEOUT", true},
		{"timeout", CaseMatch, "Timeout", false},
		{"a.b", CaseSmart, "axb", false},
		{"größe", CaseSmart, "GRÖSSE, GRÖßE", true},
		{`say "no"`, CaseSmart, `I say "No" to it`, true},
		{"two\nlines", CaseSmart, "in two\nlines", true},
	} {
		p := compiled(t, c.text, false, c.letters)
		if got := len(p.find(c.in, -1)) > 0; got != c.want {
			t.Errorf("%q in %q: %v", c.text, c.in, got)
		}
		if line := string(jsonscan.AppendString(nil, c.in)); c.want && !p.maybe([]byte(line)) {
			t.Errorf("%q: the line %s is not searched", c.text, line)
		}
	}
}

// TestNoMatchIsSkipped shows that a line that is not decoded has no match, however its JSON is
// spelled.
func TestNoMatchIsSkipped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		needle := rapid.StringMatching(`[a-cA-C"\\/<\n é]{1,4}`).Draw(t, "needle")
		text := rapid.StringMatching(`[a-cA-C"\\/<\n é]{0,6}`).Draw(t, "before") + needle + "x"
		var line []byte
		switch rapid.IntRange(0, 2).Draw(t, "spelling") {
		case 0:
			line = jsonscan.AppendString(nil, text)
		case 1:
			line, _ = json.Marshal(text)
		case 2:
			line = append(line, '"')
			for _, r := range text {
				line = fmt.Appendf(line, `\u%04x`, r)
			}
			line = append(line, '"')
		}
		letters := rapid.SampledFrom([]string{CaseSmart, CaseIgnore, CaseMatch}).Draw(t, "case")
		if p := compiled(t, needle, false, letters); !p.maybe(line) || len(p.find(jsonscan.Unquote(line), 1)) == 0 {
			t.Fatalf("%q is not found in %s", needle, line)
		}
	})
}

// recording returns events as a journal has them.
func recording(t *testing.T, payloads ...event.Payload) []event.Event {
	t.Helper()
	var events []event.Event
	for i, p := range payloads {
		line := fmt.Sprintf(`{"v":1,"seq":%d,"id":"01JD000000000000000000000A","at":"2026-11-21T01:00:00.000000Z","iter":1,"by":"agent:x","type":%q,"data":%s,"crc":"00000000"}`,
			i+1, p.EventType(), event.AppendData(nil, p))
		e, err := event.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func searched(t *testing.T, f *finder, events []event.Event) string {
	t.Helper()
	var out strings.Builder
	f.texts, f.lines = newTexts(""), render.NewLog(&out, render.Options{})
	for _, e := range events {
		if err := f.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(out.String()) {
		if fields := strings.Fields(line); len(fields) > 2 {
			line = fields[2] + " " + strings.Join(fields[5:], " ")
		}
		rows = append(rows, strings.TrimSpace(line))
	}
	return strings.Join(rows, "\n")
}

func TestFindsWordsCutInTwo(t *testing.T) {
	events := recording(t,
		event.AgentSaid{Block: "1", Text: event.Plain("there is a time")},
		event.AgentThought{Block: "1", Text: event.Plain("hm")},
		event.AgentSaid{Block: "1", Text: event.Plain("out in it, a time")},
		event.AgentSaid{Block: "1", Text: event.Plain("out."), Final: true},
		event.AgentSaid{Block: "2", Text: event.Plain("out"), Final: true},
	)
	got := searched(t, &finder{pattern: compiled(t, "timeout", false, CaseSmart)}, events)
	if want := "3 there is a timeout in it, a time\n4 there is a timeout in it, a timeout."; got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
}

func TestFindsInToolsInput(t *testing.T) {
	events := recording(t,
		event.ToolCalled{ID: "a", Name: "edit", Input: json.RawMessage(`{"path":"x.go","edits":[{"new":"caf\u00e9 \"one\"\nline"}]}`)},
		event.ToolReturned{ID: "a", OK: true, Output: event.Plain("done")},
	)
	for needle, want := range map[string]string{
		"café":         `1 input.edits.new: café "one" line`,
		`"one"`:        `1 input.edits.new: café "one" line`,
		"\"one\"\nl":   `1 input.edits.new: café "one" line`,
		"done":         "2 output: done",
		"tool.called":  "",
		"nothing here": "",
	} {
		if got := searched(t, &finder{pattern: compiled(t, needle, false, CaseSmart)}, events); got != want {
			t.Errorf("%s: found\n%s\nwant\n%s", needle, got, want)
		}
	}
}

func TestContextOfMatches(t *testing.T) {
	var said []event.Payload
	for _, word := range []string{"a", "b", "match", "c", "match", "d", "e", "f", "g", "match"} {
		said = append(said, event.AgentSaid{Block: word, Text: event.Plain(word), Final: true})
	}
	events := recording(t, said...)
	first := func(rows string) (seqs []string) {
		for row := range strings.Lines(rows) {
			seqs = append(seqs, strings.Fields(row)[0])
		}
		return seqs
	}
	for name, c := range map[string]struct {
		finder finder
		want   string
	}{
		"none":              {finder{}, "3 5 10"},
		"one event":         {finder{around: 1}, "2 3 4 5 6 -- 9 10"},
		"the last match":    {finder{last: 1}, "10"},
		"last with context": {finder{last: 1, around: 1}, "9 10"},
	} {
		c.finder.pattern = compiled(t, "match", false, CaseSmart)
		if got := strings.Join(first(searched(t, &c.finder, events)), " "); got != c.want {
			t.Errorf("%s: events %s, want %s", name, got, c.want)
		}
	}
}

func TestExcerptKeepsMatch(t *testing.T) {
	long := strings.Repeat("before ", 50) + "MATCH" + strings.Repeat(" after", 50)
	at := strings.Index(long, "MATCH")
	for _, columns := range []int{20, 40, 160} {
		got := excerpt(long, at, at+5, columns, "[", "]")
		if !strings.Contains(got, "[MATCH]") || render.Columns(got)-2 > columns || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	if got := excerpt("日本語 MATCH 日本語", 10, 15, 100, "", ""); got != "日本語 MATCH 日本語" {
		t.Errorf("%q", got)
	}
	if got := excerpt("x\x1b[2Jy MATCH", 7, 12, 100, "", ""); got != "xy MATCH" {
		t.Errorf("%q", got)
	}
}
