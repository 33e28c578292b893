package attach

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/term"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/render"
)

// paper is a terminal that keeps what scrolled out of it.
type paper struct{ *terminaltest.Emulator }

// lines are all down to the cursor, and what is below it.
func (g paper) lines() []string {
	lines := slices.Concat(g.Scrollback, g.Lines())
	for len(lines) > g.row()+1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func (g paper) row() int { return len(g.Scrollback) + g.Cursor.Row }

func drawing(columns, rows int) (*screen, paper) {
	g := paper{terminaltest.NewEmulator(terminaltest.Options{Columns: columns, Rows: 40})}
	s := newScreen(g)
	s.draws, s.columns, s.rows = true, columns, rows
	s.before = &term.State{} // in raw mode
	return s, g
}

func TestFooterIsDrawnBelowOutput(t *testing.T) {
	s, g := drawing(40, 24)
	s.footer("iteration 3 of 10 · 12m4s", nil)
	_, _ = s.Write([]byte("one\nhalf a li"))
	want := func(lines ...string) {
		t.Helper()
		if got := g.lines(); !slices.Equal(got, lines) {
			t.Errorf("the terminal shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
		}
	}
	want("one", "half a li", "iteration 3 of 10 · 12m4s")
	_, _ = s.Write([]byte("ne\ntwo\n"))
	want("one", "half a line", "two", "iteration 3 of 10 · 12m4s")
	s.footer("iteration 3 of 10 · 12m5s · bash  make test, 14s", []string{"ok a", "ok b"})
	s.refresh()
	want("one", "half a line", "two", "  | ok a", "  | ok b", "iteration 3 of 10 · 12m5s · bash  make…")
	s.prompt = true
	s.typed("leave it", 5)
	want("one", "half a line", "two", "  | ok a", "  | ok b", "iteration 3 of 10 · 12m5s · bash  make…", "> leave it")
	if g.row() != 6 || g.Cursor.Col != 7 {
		t.Errorf("the cursor is in row %d at %d", g.row(), g.Cursor.Col)
	}
	_, _ = s.Write([]byte("three\n"))
	want("one", "half a line", "two", "three", "  | ok a", "  | ok b", "iteration 3 of 10 · 12m5s · bash  make…", "> leave it")
	_, _ = s.Write([]byte("\x1b[2mfour\n\x1b[0m"))
	want("one", "half a line", "two", "three", "four", "  | ok a", "  | ok b", "iteration 3 of 10 · 12m5s · bash  make…", "> leave it")
	s.footer("", nil)
	s.typed("", 0)
	s.prompt = false
	s.say("ralph: left")
	want("one", "half a line", "two", "three", "four", "ralph: left", "")
}

func TestUnchangedFooterIsNotRedrawn(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out)
	s.draws = true
	s.footer("iteration 1", []string{"a"})
	s.refresh()
	out.Reset()
	for range 10 {
		s.footer("iteration 1", []string{"a"})
		s.refresh()
		s.size(80, 24)
	}
	if out.Len() > 0 {
		t.Errorf("drawn again: %q", out.String())
	}
}

func TestOutputPassesThroughWithoutFooter(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out)
	const text = "one\r\n\x1b[1mtwo\x1b[0m\tand\n\nhalf a li"
	_, _ = s.Write([]byte(text))
	s.footer("iteration 1", nil)
	s.refresh()
	s.typed("x", 1)
	s.size(20, 5)
	s.restore()
	s.close()
	if out.String() != text {
		t.Errorf("%q, want %q", out.String(), text)
	}
}

// After any sequence of output, status and typing, the output is complete, the footer is below it
// once, and the cursor is where the next character will appear.
func TestFooterKeepsOutputIntact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(12, 60).Draw(t, "columns")
		s, g := drawing(columns, rapid.IntRange(2, 24).Draw(t, "rows"))
		text := rapid.StringOf(rapid.RuneFrom([]rune("abc é日")))
		var output strings.Builder
		line := "" // the output's last
		t.Repeat(map[string]func(*rapid.T){
			"output": func(t *rapid.T) {
				piece := ""
				for range rapid.IntRange(1, 4).Draw(t, "pieces") {
					next := text.Draw(t, "text")
					if render.Columns(line+next) <= columns { // as render breaks it
						piece += next
						line += next
					}
					if rapid.Bool().Draw(t, "newline") {
						piece += "\n"
						line = ""
					}
				}
				output.WriteString(piece)
				_, _ = s.Write([]byte(piece))
			},
			"status": func(t *rapid.T) {
				s.footer(text.Draw(t, "status"), rapid.SliceOfN(text, 0, 3).Draw(t, "tail"))
				s.refresh()
			},
			"typing": func(t *rapid.T) {
				line := text.Draw(t, "line")
				s.typed(line, len(string([]rune(line)[:rapid.IntRange(0, utf8.RuneCountInString(line)).Draw(t, "cursor")])))
			},
			"": func(t *rapid.T) {
				want := strings.Split(strings.TrimSuffix(output.String(), "\n"), "\n")
				if output.Len() == 0 {
					want = nil
				}
				got := g.lines()
				rows, cursor, column := s.layout()
				if at := len(got) - len(rows) + cursor; len(rows) > 0 && (g.row() != at || g.Cursor.Col != column) {
					t.Fatalf("the cursor is in row %d at %d, not in row %d at %d, of\n%q", g.row(), g.Cursor.Col, at, column, got)
				}
				want = append(want, rows...)
				if len(rows) == 0 && strings.HasSuffix(output.String(), "\n") || len(want) == 0 {
					want = append(want, "")
				}
				for i := range want {
					want[i] = strings.TrimRight(want[i], " ")
				}
				if !slices.Equal(got, want) {
					t.Fatalf("the terminal shows\n%q\nwant\n%q", got, want)
				}
			},
		})
	})
}

// The time to show a part of a long pasted text does not depend on the text's length.
func TestWindowShowsCursor(t *testing.T) {
	for _, tt := range []struct {
		line   string
		after  int // bytes after the cursor
		want   string
		cursor int
	}{
		{strings.Repeat("x", 1<<20) + " the end", 0, strings.Repeat("x", 68) + " the end", 76},
		{strings.Repeat("日", 1<<19) + "x", 0, strings.Repeat("日", 37) + "x", 75},
		{strings.Repeat("a", 76), 0, strings.Repeat("a", 76), 76},
		{"short", 0, "short", 5},
		{"short", 3, "short", 2},
		{strings.Repeat("a", 100) + "b" + strings.Repeat("c", 100), 100, strings.Repeat("a", 50) + "b" + strings.Repeat("c", 24) + "…", 51},
		{"two\nlines\x1b[2J", 0, "two lines", 9},
	} {
		text, cursor := window(tt.line, len(tt.line)-tt.after, 76)
		if text != tt.want || cursor != tt.cursor {
			t.Errorf("of %d bytes is shown %q with the cursor at %d, want %q and %d", len(tt.line), text, cursor, tt.want, tt.cursor)
		}
	}
}
