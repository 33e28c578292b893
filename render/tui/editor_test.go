package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/render"
)

func TestEditorKeys(t *testing.T) {
	ctrl := func(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Mod: tea.ModCtrl} }
	for _, tt := range []struct {
		text string
		keys []tea.KeyPressMsg
		want string
	}{
		{"use the other", []tea.KeyPressMsg{ctrl('w')}, "use the "},
		{"use the other", []tea.KeyPressMsg{ctrl('a'), ctrl('k')}, ""},
		{"use", []tea.KeyPressMsg{{Code: tea.KeyLeft}, {Code: tea.KeyBackspace}, {Code: 'x', Text: "x"}}, "uxe"},
		{"a\nbc", []tea.KeyPressMsg{ctrl('u')}, "a\n"},
		{"日本", []tea.KeyPressMsg{{Code: tea.KeyBackspace}}, "日"},
		{"one", []tea.KeyPressMsg{{Code: tea.KeyEnter, Mod: tea.ModShift}, {Code: 'x', Text: "x"}}, "one\nx"},
		{"one", []tea.KeyPressMsg{{Code: 'x', Mod: tea.ModAlt}, {Code: tea.KeyF5}}, "one"},
	} {
		var e editor
		e.set(tt.text)
		for _, k := range tt.keys {
			e.key(k)
		}
		if e.String() != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.text, e.String(), tt.want)
		}
	}
}

func TestEditorRecallsTexts(t *testing.T) {
	var e editor
	for _, text := range []string{"one", "two", "two"} {
		e.set(text)
		e.take()
	}
	e.set("draft")
	var got []string
	for _, by := range []int{1, 1, 1, -1, -1, -1} {
		e.back(by)
		got = append(got, e.String())
	}
	if want := "two one one two draft draft"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Whatever is typed, the rows fit, and the cursor is in them.
func TestEditorRowsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e editor
		e.set(rapid.StringOf(rapid.RuneFrom([]rune("ab é日\t\n\x1b\u202e"))).Draw(t, "text"))
		e.at = rapid.IntRange(0, len(e.text)).Draw(t, "cursor")
		columns := rapid.IntRange(2, 20).Draw(t, "columns")
		rows, row, column := e.rows(columns)
		if len(rows) == 0 || len(rows) > rowsMost || row < 0 || row >= len(rows) || column < 0 || column >= columns {
			t.Fatalf("the cursor is in row %d at %d of %q", row, column, rows)
		}
		for _, text := range rows {
			if render.Columns(text) > columns || strings.ContainsAny(text, "\x1b\n\t") {
				t.Fatalf("%q in %d columns", text, columns)
			}
		}
	})
}
