package plain_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/testkit/testevent"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/plain"
)

// harmless reports the first character that may not reach a terminal.
func harmless(text string) error {
	for i, r := range text {
		switch {
		case r == '\n':
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			return fmt.Errorf("broken UTF-8 at %d", i)
		case unicode.IsControl(r), 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
			return fmt.Errorf("%U at %d: %q", r, i, text[max(0, i-20):min(len(text), i+20)])
		}
	}
	return nil
}

// poisoned returns every type of event with all its strings replaced.
func poisoned(t testing.TB, poison string) []event.Event {
	var events []event.Event
	future, err := json.Marshal("future." + strings.ToValidUTF8(poison, "?"))
	testfile.Must(t, err)
	for _, e := range testevent.Poisoned(t, filepath.Join("..", "..", "journal", "event", "testdata", "catalogue.jsonl"), poison) {
		for _, typ := range []event.Type{e.Type, event.Type(future[1 : len(future)-1])} {
			at := clock.Add(time.Duration(len(events)) * time.Second)
			events = append(events, testevent.Of(event.Seq(len(events)+1), at, event.Draft{Type: typ, By: "x", Data: e.Data()}))
		}
	}
	return events
}

// checkHarmless shows events in every way and checks each character.
func checkHarmless(t *testing.T, events []event.Event, width int) {
	t.Helper()
	for _, opt := range []render.Options{{}, {Width: width}, {Width: width, Verbose: true, Time: true}, {Quiet: true}} {
		got := text(t, opt, events)
		if opt.Width == 0 {
			got = strings.ReplaceAll(got, "\t", " ") // a file keeps its tabs
		}
		if err := harmless(got); err != nil {
			t.Errorf("%+v: %v", opt, err)
		}
		for line := range strings.Lines(got) {
			if n := render.Columns(strings.TrimSuffix(line, "\n")); opt.Width > 0 && n > max(opt.Width, render.Narrowest) {
				t.Errorf("%+v: a line has %d columns: %q", opt, n, line)
			}
		}
		var log bytes.Buffer
		opt.Location = time.UTC
		show(t, render.NewLog(&log, opt), events)
		if err := harmless(log.String()); err != nil {
			t.Errorf("log: %v", err)
		}
		if lines := strings.Count(log.String(), "\n"); lines != len(events) {
			t.Errorf("log: %d lines for %d events", lines, len(events))
		}
	}
}

func TestTerminalGetsNoControlCharacters(t *testing.T) {
	for name, poison := range map[string]string{
		"an escape sequence":     "\x1b[2Jowned",
		"a title":                "\x1b]0;owned\x07",
		"a sequence cut in two":  "\x1b",
		"C1":                     "\u009b31m\u0085",
		"controls":               "\x00\x01\b\r\x7f\v\f",
		"the line is reordered":  "\u202eevil\u2066",
		"newlines":               "a\nb\r\nc\rd\u2028e",
		"nothing":                "",
		"wide and combining":     strings.Repeat("値e\u0301🎉", 50),
		"one long word":          strings.Repeat("x", 3000),
		"broken UTF-8":           "\xff\xfe",
		"quotes and backslashes": `"\"\\`,
	} {
		t.Run(name, func(t *testing.T) {
			checkHarmless(t, poisoned(t, poison), 40)
		})
	}
}

// Colours are this package's own: without them, the text is the same.
func TestColorChangesNothingElse(t *testing.T) {
	plain := text(t, render.Options{Width: 80}, busyRun())
	coloured := text(t, render.Options{Width: 80, Color: true}, busyRun())
	for _, style := range []string{"0", "1", "2", "31", "32", "33", "36"} {
		coloured = strings.ReplaceAll(coloured, "\x1b["+style+"m", "")
	}
	if plain != coloured {
		t.Error("the coloured text has other words than the plain one")
	}
	if err := harmless(plain); err != nil {
		t.Error(err)
	}
}

func FuzzText(f *testing.F) {
	f.Add("I look at the \x1b[31mtests\x1b[0m first", uint8(80), uint16(7))
	f.Add("値段の計算 \r\n\t- x \u202e\u009b", uint8(2), uint16(3))
	f.Add(strings.Repeat("word ", 40), uint8(40), uint16(1))
	f.Add("\t"+strings.Repeat("x", 90)+"\n   "+strings.Repeat("y", 37)+"\n- z", uint8(40), uint16(200))
	f.Fuzz(func(t *testing.T, said string, width uint8, piece uint16) {
		said = strings.ToValidUTF8(said, "\uFFFD")
		var steps []any
		rest := []rune(said)
		for len(rest) > 0 {
			n := min(int(piece)+1, len(rest))
			steps = append(steps, event.AgentSaid{Block: "1", Text: event.Plain(string(rest[:n]))})
			rest = rest[n:]
		}
		steps = append(steps, event.AgentSaid{Block: "1", Final: true}, event.ToolCalled{ID: "1", Name: said, Input: []byte(event.Plain(said))},
			event.ToolReturned{ID: "1", OK: width%2 == 0, Output: event.Plain(said)})
		events := script(steps...)
		checkHarmless(t, events, int(width))
		// The words are the same in one piece and in many. Breaks may differ.
		whole := text(t, render.Options{Width: int(width)}, script(event.AgentSaid{Block: "1", Text: event.Plain(said), Final: true}))
		pieces := text(t, render.Options{Width: int(width)}, events[:len(events)-2])
		if letters(whole) != letters(pieces) {
			t.Errorf("in pieces of %d: %q, whole: %q", piece+1, pieces, whole)
		}
	})
}

// letters is a text without its blanks.
func letters(s string) string { return strings.Join(strings.Fields(s), "") }

// The totals at the end include what came before.
func TestResumeCountsEarlierIterations(t *testing.T) {
	events := busyRun()
	var s projector.Loop
	var from int
	for i, e := range events {
		if err := s.Fold(e); err != nil {
			t.Fatal(err)
		}
		if e.Type == event.TypeIterationEnded {
			from = i - 5 // some of what was folded is shown again
			break
		}
	}
	var out bytes.Buffer
	resumed := plain.New(&out, render.Options{Location: time.UTC})
	resumed.Resume(s.View())
	show(t, resumed, events[from:])
	all := strings.Split(strings.TrimSpace(text(t, render.Options{}, events)), "\n")
	// how many tools failed earlier is not known
	all[len(all)-1] = regexp.MustCompile(`\d+ tools( \(\d+ failed\))? · `).ReplaceAllString(all[len(all)-1], "")
	if got := strings.Split(strings.TrimSpace(out.String()), "\n"); got[len(got)-1] != all[len(all)-1] {
		t.Errorf("totals %q, want %q", got[len(got)-1], all[len(all)-1])
	}
}
