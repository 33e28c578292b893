package review

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/reading"
)

const patch = "diff --git a/go.mod b/go.mod\nindex 1..2 100644\n--- a/go.mod\n+++ b/go.mod\n@@ -0,0 +1 @@\n+require x\n" +
	"diff --git a/notes.txt b/notes.txt\nindex 3..4 100644\n--- a/notes.txt\n+++ b/notes.txt\n@@ -0,0 +1 @@\n+a note that is longer than forty columns of a terminal\n"

// opened is a model with a survivor, a file and the rest, of a loop without a runner.
func opened(width, height int) (*model, reading.List) {
	strength := &event.Strength{Survivors: []event.Mutant{{File: "cart.go", Line: 2, Operator: "changed constant", Was: "return 2", Now: "return 3"}}}
	list := reading.New("demo", strength, reading.Parse([]byte(patch)), "")
	list.Compared = "Compared with the files as they are now."
	m := &model{name: "demo", width: width, height: height}
	m.show(loaded{list: list, more: "up to 2 more iterations"}, false)
	return m, list
}

// press presses keys, and returns what the last of them decided. A word in quotes is typed.
func press(m *model, keys ...string) (act *reading.Act, leave bool) {
	for _, key := range keys {
		text, typed := strings.CutPrefix(key, "'")
		if !typed {
			text = ""
		}
		act, leave = m.press(key, text)
	}
	return act, leave
}

func TestKeysDecide(t *testing.T) {
	_, list := opened(80, 20)
	survivor, file, rest := list.Items[0], list.Items[1], list.Items[2]
	for name, row := range map[string]struct {
		keys  []string
		want  *reading.Act
		leave bool
	}{
		"approve":                {[]string{"a"}, &reading.Act{Do: reading.Approve, Item: survivor.ID}, false},
		"approve the next":       {[]string{"n", "a"}, &reading.Act{Do: reading.Approve, Item: file.ID}, false},
		"next stops at the last": {[]string{"n", "n", "n", "a"}, &reading.Act{Do: reading.Approve, Item: rest.ID}, false},
		"previous":               {[]string{"n", "n", "p", "a"}, &reading.Act{Do: reading.Approve, Item: file.ID}, false},
		"from the list":          {[]string{"l", "down", "a"}, &reading.Act{Do: reading.Approve, Item: file.ID}, false},
		"chosen in the list":     {[]string{"l", "down", "down", "enter", "a"}, &reading.Act{Do: reading.Approve, Item: rest.ID}, false},
		"words":                  {[]string{"s", "'use a", "' table", "enter"}, &reading.Act{Do: reading.SendBack, Item: survivor.ID, Words: "use a table"}, false},
		"no words":               {[]string{"s", "enter"}, nil, false},
		"words taken back":       {[]string{"s", "'x", "esc"}, nil, false},
		"a file goes back":       {[]string{"n", "r", "enter"}, &reading.Act{Do: reading.RollBack, Item: list.Items[1].ID, File: "go.mod"}, false},
		"and is left":            {[]string{"n", "r", "esc"}, nil, false},
		"the rest does not":      {[]string{"n", "n", "r", "enter"}, nil, false},
		"leave":                  {[]string{"q"}, nil, true},
		"leave the list only":    {[]string{"l", "q"}, nil, false},
		"the manual":             {[]string{"?", "a"}, nil, false},
	} {
		m, _ := opened(80, 20)
		act, leave := press(m, row.keys...)
		if leave != row.leave || (act == nil) != (row.want == nil) || act != nil && *act != *row.want {
			t.Errorf("%s: %+v, leave %t", name, act, leave)
		}
	}
}

// While an act is done, no key decides anything. A failed one gives the words back.
func TestActIsDoneOnce(t *testing.T) {
	m, list := opened(80, 20)
	act, _ := press(m, "s", "'use a table", "enter")
	if again, _ := press(m, "a"); again != nil {
		t.Errorf("%+v", again)
	}
	m.done(*act, "", cli.Refuse("stop it", "the loop is busy"))
	if text := strings.Join(first(m.screen()), "\n"); !strings.Contains(text, "the loop is busy; stop it") || !strings.Contains(text, "> use a table") {
		t.Errorf("\n%s", text)
	}
	if act, _ = press(m, "enter"); act == nil || act.Words != "use a table" {
		t.Errorf("%+v", act)
	}
	m.done(*act, "sent", nil)
	state := reading.Review{}
	state.Decide(&list.Items[0], reading.Decision{State: reading.SentBack})
	list.Mark(state)
	m.show(loaded{list: list}, true)
	if m.at != 1 {
		t.Errorf("item %d is on the screen", m.at)
	}
}

func first(lines []string, _, _ int) []string { return lines }

// A loop that runs keeps its files; it is sent words.
func TestRunningLoopKeepsFiles(t *testing.T) {
	m, list := opened(80, 20)
	m.show(loaded{list: list, alive: true}, false)
	press(m, "n")
	if act, _ := press(m, "r", "enter"); act != nil || m.mode != browsing {
		t.Errorf("%+v", act)
	}
	if press(m, "s"); !strings.Contains(strings.Join(first(m.screen()), "\n"), "in the next prompt of demo") {
		t.Error("it does not say when the agent has the words")
	}
}

// The screen fits into any terminal, and has no colour without a theme.
func TestScreenFits(t *testing.T) {
	for _, size := range [][2]int{{40, 24}, {200, 60}, {20, 5}, {8, 3}, {1, 1}, {0, 0}} {
		for _, keys := range [][]string{nil, {"n"}, {"n", "n"}, {"l"}, {"?"}, {"s", "'words that are longer than the line has columns, by far"}, {"n", "r"}} {
			m, _ := opened(size[0], size[1])
			press(m, keys...)
			lines, row, column := m.screen()
			if len(lines) > size[1] || row >= len(lines) || column > max(size[0], 3) {
				t.Errorf("%v %q: %d lines, cursor %d %d", size, keys, len(lines), row, column)
			}
			for _, line := range lines {
				if render.Columns(line) > max(size[0], 20) || strings.Contains(line, "\x1b") {
					t.Errorf("%v %q: %q", size, keys, line)
				}
			}
		}
	}
}

func TestScreenSaysWhatIsLeft(t *testing.T) {
	m, list := opened(60, 16)
	text := strings.Join(first(m.screen()), "\n")
	for _, want := range []string{"demo: reviewed 0 of 3", "1 of 3  Changes that no guardrail notices", "cart.go:2", "-return 2\n+return 3", "? manual · q leave"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	press(m, "l")
	if text = strings.Join(first(m.screen()), "\n"); !strings.Contains(text, list.Compared) {
		t.Errorf("\n%s", text)
	}
	press(m, "l")
	state := reading.Review{}
	for i := range list.Items {
		state.Decide(&list.Items[i], reading.Decision{State: reading.Approved})
	}
	list.Mark(state)
	m.show(loaded{list: list}, true)
	if text = strings.Join(first(m.screen()), "\n"); !strings.Contains(text, "reviewed 3 of 3, all is decided") {
		t.Errorf("\n%s", text)
	}
	m = &model{name: "demo", width: 60, height: 16}
	m.show(loaded{list: reading.New("demo", nil, nil, whyUnknown(errors.New("no git")))}, false)
	if text = strings.Join(first(m.screen()), "\n"); !strings.Contains(text, "not known: no git") {
		t.Errorf("\n%s", text)
	}
}
