package board

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/listing"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/terminal"
)

var now = time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)

func usd(amount float64) *float64 { return &amount }

// loop returns a loop that began an hour ago.
func loop(name string, edit func(*listing.Loop)) listing.Loop {
	l := listing.Loop{View: new(projector.View), Path: "~/" + name + "-project", Today: usd(0.42)}
	l.Call, l.Found.Name, l.Found.File, l.Found.Agent = name, name, "--"+name+".json", "claude"
	l.Found.Head = registry.Summary{
		Status: event.StatusRunning, Iteration: 3, MaximumIterations: 10, Since: now.Add(-62 * time.Minute),
		At: now.Add(-3 * time.Minute), Cost: usd(1.2),
	}
	l.Found.Live.Alive, l.Found.Live.Since = true, l.Found.Head.Since
	change(&l, edit)
	return l
}

// change edits what was found of the loop, and makes a new view of that.
func change(l *listing.Loop, edit func(*listing.Loop)) {
	before := *l.View
	l.View = &before
	edit(l)
	call := l.Call
	l.View = projector.Brief(l.Found)
	l.Call = call
}

// ended is a loop without a runner.
func ended(reason event.Reason) func(*listing.Loop) {
	return func(l *listing.Loop) {
		l.Found.Live.Alive = false
		l.Found.Head.Status, l.Found.Head.Reason, l.Found.Head.At = reason.Status(), string(reason), now.Add(-26*time.Hour)
		l.Today = usd(0)
	}
}

// machine has loops of every kind.
func machine() []listing.Loop {
	loops := []listing.Loop{
		loop("parser", func(l *listing.Loop) {
			l.Found.Head.Status, l.Found.Head.Waiting = event.StatusWaiting, "a person: Which schema is right?"
			l.Facts = &listing.Facts{Text: "Which of the two schemas is right: v1, as docs/schema.md has it, or v2, which the code uses?\nI have changed nothing yet.", Since: now.Add(-3 * time.Minute)}
			l.Here = true
		}),
		loop("fonts", func(l *listing.Loop) {
			ended(event.ReasonBlocked)(l)
			l.Facts = &listing.Facts{Text: "the licence of 値段 is not clear", Hint: "give it what it needs, then resume the loop", Resumption: projector.Resumption{More: "up to 7 more iterations", Raise: map[string]string{"limits.cost": "3"}}}
		}),
		loop("login", ended(event.ReasonAuth)),
		loop("killed", func(l *listing.Loop) {
			l.Found.Live.Alive, l.Found.Died = false, true
			l.Facts = &listing.Facts{Text: "its runner died", Hint: "r resumes it"}
		}),
		loop("tests", func(l *listing.Loop) {
			l.Facts = &listing.Facts{Text: "bash  go test ./... -count=1 -race -timeout 20m -run 'TestOfTheVeryLongName|TestOfAnotherOne'", Since: now.Add(-2 * time.Minute)}
		}),
		loop("curious", func(l *listing.Loop) {
			l.Found.Head.Questions = 2
			l.Facts = &listing.Facts{Text: "Postgres or SQLite?", Asked: projector.Question{Number: 1, Choices: []string{"postgres", "sqlite"}}, Hint: "1 question more: 'ralph answer curious' lists them"}
		}),
		loop("limited", func(l *listing.Loop) {
			l.Found.Head.Status, l.Found.Head.Waiting, l.Today, l.Found.Head.Cost = event.StatusWaiting, "rate limit until 2026-11-21T14:42:10Z", nil, nil
		}),
		loop("leaving", func(l *listing.Loop) {
			l.Found.Head.Status, l.Found.Head.Pending = event.StatusStopping, "stopping after iteration 3"
		}),
		loop("finished", func(l *listing.Loop) {
			ended(event.ReasonPromise)(l)
			l.Facts = &listing.Facts{Text: "the agent gave the promise, and nothing is missing"}
		}),
		loop("spent", ended(event.ReasonCost)),
		loop("removed", func(l *listing.Loop) {
			l.Found.Live.Alive, l.Found.Gone, l.Found.Head = false, true, registry.Summary{Status: event.StatusUnknown}
			l.Today = nil
		}),
	}
	listing.SortLoops(loops)
	return loops
}

func modelOf(width, height int, loops ...listing.Loop) *Model {
	m := &Model{Theme: terminal.NewTheme(true, colorprofile.NoTTY), Project: "~/compiler"}
	m.Resize(width, height)
	m.Show(listing.Snapshot{At: now, Loops: loops})
	return m
}

// presses types keys, and returns the last effect. A word is one key, "'…" types a text.
func presses(m *Model, keys ...string) (last Effect) {
	for _, key := range keys {
		if text, typed := strings.CutPrefix(key, "'"); typed {
			for _, r := range text {
				last = m.Press(Key{Text: string(r)})
			}
		} else if len(key) == 1 {
			last = m.Press(Key{Name: key, Text: key})
		} else {
			last = m.Press(Key{Name: key})
		}
	}
	return last
}

func screen(m *Model) string {
	lines := m.View().Lines
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestScreens(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []string
	}{
		{"list", nil},
		{"ended", []string{"end", "up", "up"}},
		{"answer", []string{"a", "'v2, the code is right. 値段"}},
		{"resume", []string{"j", "a", "'The licence is OFL."}},
		{"ask", []string{"j", "a", "'The licence is OFL.", "enter"}},
		{"steer", []string{"/", "'tests", "enter", "s", "'Leave the schema alone.", "alt+enter", "'And the docs."}},
		{"stop", []string{"x"}},
		{"question", []string{"/", "'curious", "enter", "2"}},
		{"filter", []string{"/", "'needs fonts"}},
		{"new", []string{"n", "'Fix the failing tests."}},
		{"peek", []string{"/", "'curious", "enter", "space"}},
		{"manual", []string{"?"}},
		{"manual-end", []string{"?", "pgdown", "pgdown", "pgdown"}},
	} {
		for _, size := range [][2]int{{40, 34}, {100, 34}, {200, 34}} {
			t.Run(fmt.Sprintf("%s %d", tt.name, size[0]), func(t *testing.T) {
				m := modelOf(size[0], size[1], machine()...)
				presses(m, tt.keys...)
				m.Peeked(m.selected, strings.Split(strings.Repeat("bash  go test ./...\n  ok\n", 20)+"It asks.", "\n"))
				checkScreen(t, m)
				golden.Check(t, filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", tt.name, size[0])), screen(m))
			})
		}
	}
}

// Loops over stories have a column of their own, which stays where the iteration does not fit.
func TestStoriesHaveAColumn(t *testing.T) {
	for _, width := range []int{40, 100} {
		loops := append(machine(), loop("notes", func(l *listing.Loop) { l.Found.Head.Stories, l.Found.Head.StoriesDone = 12, 7 }))
		listing.SortLoops(loops)
		m := modelOf(width, 36, loops...)
		checkScreen(t, m)
		golden.Check(t, filepath.Join("testdata", fmt.Sprintf("stories-%d.txt", width)), screen(m))
	}
}

func TestScreensHaveColours(t *testing.T) {
	for name, theme := range map[string]terminal.Theme{
		"dark":      terminal.NewTheme(true, colorprofile.ANSI256),
		"light":     terminal.NewTheme(false, colorprofile.ANSI256),
		"no-colour": terminal.NewTheme(true, colorprofile.ASCII),
	} {
		m := modelOf(80, 24, machine()...)
		m.Theme = theme
		golden.Check(t, filepath.Join("testdata", "colours-"+name+".txt"), strings.ReplaceAll(screen(m), "\x1b", "␛"))
	}
}

// checkScreen checks what is true of every screen without styles.
func checkScreen(t *testing.T, m *Model) {
	t.Helper()
	s := m.View()
	if len(s.Lines) != m.Height && m.mode != reading || len(s.Lines) > m.Height {
		t.Errorf("%d lines on %d rows", len(s.Lines), m.Height)
	}
	for _, line := range s.Lines {
		if n := render.Columns(line); n > m.Width {
			t.Errorf("%d columns of %d: %q", n, m.Width, line)
		}
	}
	if s.Row >= len(s.Lines) || s.Row >= 0 && s.Column >= m.Width {
		t.Errorf("the cursor is at %d, %d of %d lines", s.Row, s.Column, len(s.Lines))
	}
}

// A terminal of any size shows a screen that fits on it, in every mode.
func TestEverySizeFits(t *testing.T) {
	for width := 1; width < 130; width += 7 {
		for height := 1; height < 40; height += 5 {
			for _, keys := range [][]string{{}, {"end"}, {"a", "'a long answer that is wrapped"}, {"s", "'x"}, {"x"}, {"?"}, {"/", "'f"}} {
				m := modelOf(width, height, machine()...)
				presses(m, keys...)
				s := m.View()
				if len(s.Lines) > height {
					t.Fatalf("%dx%d %v: %d lines", width, height, keys, len(s.Lines))
				}
				if typing := m.mode == answering || m.mode == filtering; typing && height >= 4 && s.Row < 0 {
					t.Fatalf("%dx%d %v: what is typed is not shown:\n%s", width, height, keys, strings.Join(s.Lines, "\n"))
				}
				if width >= 20 && height >= 12 {
					checkScreen(t, m)
				}
			}
		}
	}
}

func TestChosenLoopIsOnScreen(t *testing.T) {
	var loops []listing.Loop
	for i := range 60 {
		loops = append(loops, loop(fmt.Sprintf("loop%03d", i), func(l *listing.Loop) {
			l.Facts = &listing.Facts{Text: strings.Repeat("what it does ", i%7)}
			if i%3 == 0 {
				ended(event.ReasonBlocked)(l)
			}
		}))
	}
	listing.SortLoops(loops)
	for _, height := range []int{5, 9, 24, 60} {
		m := modelOf(80, height, loops...)
		for n, key := range slices.Concat(slices.Repeat([]string{"down"}, 70), slices.Repeat([]string{"up"}, 70), []string{"end", "home", "pgdown", "pgdown", "pgup"}) {
			presses(m, key)
			if text := screen(m); !strings.Contains(text, "> "+m.chosen().Name) {
				t.Fatalf("%d rows, after key %d (%s), %s is not shown:\n%s", height, n, key, m.chosen().Name, text)
			}
			if !slices.Contains(m.Visible(), m.selected) {
				t.Fatalf("the facts of %s are not read", m.selected)
			}
			if n := len(m.Visible()); n > height {
				t.Fatalf("%d loops on %d rows", n, height)
			}
		}
	}
}

// A loop that moves to another group stays chosen. If it vanishes, the one at its place is chosen.
func TestChoiceFollowsLoop(t *testing.T) {
	a, b, c := loop("a", func(*listing.Loop) {}), loop("b", func(*listing.Loop) {}), loop("c", func(*listing.Loop) {})
	m := modelOf(80, 24, a, b, c)
	presses(m, "j")
	change(&b, ended(event.ReasonBlocked))
	m.Show(listing.Snapshot{At: now, Loops: []listing.Loop{b, a, c}})
	if m.chosen().Name != "b" {
		t.Errorf("%s is chosen", m.chosen().Name)
	}
	m.Show(listing.Snapshot{At: now, Loops: []listing.Loop{a, c}})
	if m.chosen().Name != "a" {
		t.Errorf("%s is chosen", m.chosen().Name)
	}
	m.Show(listing.Snapshot{At: now})
	if m.chosen() != nil {
		t.Error("a loop is chosen where none is")
	}
	for _, key := range []string{"enter", "a", "s", "x", "p", "r", "up", "end"} {
		if effect := presses(m, key); effect.Do != Nothing {
			t.Errorf("%s does something without a loop", key)
		}
	}
}

func TestKeysHaveEffects(t *testing.T) {
	text := func(e Effect) string {
		var parts []string
		for _, c := range e.Commands {
			parts = append(parts, strings.TrimSpace(string(c.Kind)+" "+c.Text))
		}
		return strings.Join(parts, ", ")
	}
	for name, row := range map[string]struct {
		loop string
		keys []string
		do   Deed
		want string
		says string
	}{
		"attach":                 {"tests", []string{"enter"}, Attach, "", ""},
		"answer":                 {"parser", []string{"a", "'v2", "enter"}, Send, "steer v2, resume", "is being sent"},
		"answer is empty":        {"parser", []string{"a", "enter"}, Nothing, "", "there is no text yet"},
		"answer is left":         {"parser", []string{"a", "'v2", "esc"}, Nothing, "", ""},
		"answer by ctrl+c":       {"parser", []string{"a", "'v2", "ctrl+c"}, Nothing, "", ""},
		"answer nothing":         {"tests", []string{"a"}, Nothing, "", "asks nothing"},
		"answer an ended one":    {"fonts", []string{"a", "'OFL", "enter"}, Nothing, "", "Resume loop fonts? up to 7 more iterations with these words"},
		"and agree":              {"fonts", []string{"a", "'OFL", "enter", "enter"}, Resume, "follow-up OFL", "is being resumed"},
		"and come back":          {"fonts", []string{"a", "'OFL", "enter", "esc"}, Nothing, "", "> OFL"},
		"and type on":            {"fonts", []string{"a", "'OFL", "enter", "'y"}, Nothing, "", "> OFLy"},
		"resume an ended one":    {"fonts", []string{"r"}, Nothing, "", "Resume loop fonts? up to 7 more iterations"},
		"another key resumes no": {"fonts", []string{"r", "y"}, Nothing, "", "fonts"},
		"before it is known":     {"spent", []string{"r", "enter"}, Nothing, "", "spent: what it may use is being read"},
		"steer":                  {"tests", []string{"s", "'q? x", "enter"}, Send, "steer q? x", ""},
		"steer an ended one":     {"fonts", []string{"s"}, Nothing, "", "no runner"},
		"stop later":             {"tests", []string{"x", "enter"}, Send, "stop", ""},
		"stop now":               {"tests", []string{"x", "!"}, Send, "stop-now", ""},
		"do not stop":            {"tests", []string{"x", "n"}, Nothing, "", ""},
		"another key":            {"tests", []string{"x", "x"}, Nothing, "", "is left as it is"},
		"stop an ended one":      {"fonts", []string{"x"}, Nothing, "", "nothing to stop"},
		"pause":                  {"tests", []string{"p"}, Send, "pause", ""},
		"resume what waits":      {"parser", []string{"p"}, Send, "resume", ""},
		"resume what waits by r": {"parser", []string{"r"}, Send, "resume", ""},
		"resume what runs":       {"tests", []string{"r"}, Nothing, "", "nothing to resume"},
		"resume a dead one":      {"killed", []string{"r", "enter"}, Resume, "", ""},
		"do not resume":          {"killed", []string{"r", "esc"}, Nothing, "", ""},
		"pause an ended one":     {"spent", []string{"p"}, Nothing, "", "r resumes it"},
		"a folder that is gone":  {"removed", []string{"enter"}, Nothing, "", "nothing can be done"},
		"answer what is asked":   {"curious", []string{"a", "'neither", "enter"}, Send, "answer neither", ""},
		"answer by a digit":      {"curious", []string{"2", "enter"}, Send, "answer sqlite", ""},
		"another choice":         {"curious", []string{"2", "alt+1", "enter"}, Send, "answer postgres", ""},
		"own words stay":         {"curious", []string{"a", "'neither", "alt+1"}, Nothing, "", "the line is not empty"},
		"no such choice":         {"curious", []string{"3"}, Nothing, "", ""},
		"steer what asks":        {"curious", []string{"s", "'x", "enter"}, Send, "steer x", ""},
		"pause what asks":        {"curious", []string{"p"}, Send, "pause", ""},
		"peek":                   {"tests", []string{"space"}, Peek, "", "tests  running 1h2m"},
		"peek at the next one":   {"parser", []string{"space", "j"}, Peek, "", "fonts  blocked"},
		"peek and steer":         {"tests", []string{"space", "s", "'x", "enter"}, Send, "steer x", ""},
		"peek and come back":     {"tests", []string{"space", "esc"}, Nothing, "", "ended"},
		"begin a new one":        {"tests", []string{"n", "'Fix it.", "enter"}, Begin, "follow-up Fix it.", "is being started"},
		"begin nothing":          {"tests", []string{"n", "enter"}, Nothing, "", "there is no task yet"},
		"do not begin":           {"tests", []string{"n", "'Fix it.", "esc"}, Nothing, "", ""},
		"dismiss":                {"fonts", []string{"d"}, Dismiss, "", ""},
		"dismiss what is gone":   {"removed", []string{"d"}, Dismiss, "", ""},
		"dismiss what runs":      {"parser", []string{"d"}, Dismiss, "", ""}, // which is refused
		"leave":                  {"tests", []string{"q"}, Leave, "", ""},
		"leave by ctrl+c":        {"tests", []string{"ctrl+c"}, Leave, "", ""},
		"escape does not leave":  {"tests", []string{"esc"}, Nothing, "", ""},
	} {
		m := modelOf(100, 40, machine()...)
		m.selected = "--" + row.loop + ".json"
		m.arrange()
		effect := presses(m, row.keys...)
		if effect.Do != row.do || text(effect) != row.want || effect.Do > Leave && effect.Do < Begin && effect.Loop.Name != row.loop {
			t.Errorf("%s: %+v of %s: %s", name, effect.Do, effect.Loop.Name, text(effect))
		}
		if row.says != "" && !strings.Contains(screen(m), row.says) {
			t.Errorf("%s: the screen does not say %q:\n%s", name, row.says, screen(m))
		}
	}
}

// What a person types is for the loop that it was begun for, whatever happens to it meanwhile.
func TestTextIsForItsLoop(t *testing.T) {
	loops := machine()
	m := modelOf(100, 40, loops...)
	presses(m, "a", "'v2")
	i := slices.IndexFunc(loops, func(l listing.Loop) bool { return l.Name == "parser" })
	change(&loops[i], ended(event.ReasonStop))
	listing.SortLoops(loops)
	m.Show(listing.Snapshot{At: now, Loops: loops})
	if text := screen(m); !strings.Contains(text, "parser has no runner. This text is for its next prompt") || !strings.Contains(text, "> v2") {
		t.Errorf("the screen:\n%s", text)
	}
	if effect := presses(m, "enter"); effect.Do != Nothing || !strings.Contains(screen(m), "parser has ended meanwhile") || !strings.Contains(screen(m), "Resume loop parser?") {
		t.Errorf("%+v:\n%s", effect, screen(m))
	}
	if effect := presses(m, "enter"); effect.Do != Resume || effect.Loop.Name != "parser" || effect.Commands[0].Text != "v2" {
		t.Errorf("%+v", effect)
	}
	presses(m, "home", "a", "'v2")
	m.Show(listing.Snapshot{At: now})
	if effect := presses(m, "enter"); effect.Do != Nothing || m.mode != browsing {
		t.Errorf("%+v", effect)
	}
}

// An answer is for the question that was shown when the person began to type it.
func TestAnswerKeepsItsQuestion(t *testing.T) {
	loops := machine()
	parser := &loops[slices.IndexFunc(loops, func(l listing.Loop) bool { return l.Name == "parser" })]
	change(parser, func(l *listing.Loop) { l.Found.Head.Awaited = 4 })
	begun := func() *Model {
		m := modelOf(100, 40, loops...)
		presses(m, "a", "'v2")
		return m
	}
	answers := func(m *Model, question int) {
		t.Helper()
		want := []inbox.Command{{Kind: inbox.Answer, Question: question, Text: "v2"}}
		if effect := presses(m, "enter"); !reflect.DeepEqual(effect.Commands, want) {
			t.Errorf("%+v, not %+v", effect.Commands, want)
		}
	}
	answers(begun(), 4)

	m := begun()
	effect := presses(m, "enter")
	m.GiveBack(effect)
	answers(m, 4)

	m = begun()
	later := slices.Clone(loops)
	i := slices.IndexFunc(later, func(l listing.Loop) bool { return l.Name == "parser" })
	change(&later[i], func(l *listing.Loop) {
		l.Found.Head.Awaited, l.Found.Head.Status, l.Found.Head.Waiting = 0, event.StatusRunning, ""
	})
	m.Show(listing.Snapshot{At: now, Loops: later})
	answers(m, 4)

	m = begun()
	later = slices.Clone(loops)
	change(&later[i], func(l *listing.Loop) { l.Found.Head.Awaited = 5 })
	m.Show(listing.Snapshot{At: now, Loops: later})
	if effect := presses(m, "enter"); effect.Do != Nothing || !strings.Contains(screen(m), "parser asks something else now") {
		t.Errorf("%+v:\n%s", effect, screen(m))
	}
	answers(m, 5)

	m = begun()
	later = slices.Clone(loops)
	change(&later[i], ended(event.ReasonPromise))
	m.Show(listing.Snapshot{At: now, Loops: later})
	if effect := presses(m, "enter"); effect.Do != Nothing || !strings.Contains(screen(m), "parser has ended meanwhile") || !strings.Contains(screen(m), "Resume loop parser?") {
		t.Errorf("%+v:\n%s", effect, screen(m))
	}
	if effect := presses(m, "enter"); effect.Do != Resume || effect.Commands[0].Text != "v2" {
		t.Errorf("%+v:\n%s", effect, screen(m))
	}
}

// An answer to the question of a loop that has ended is bound to it; the next runner takes it.
func TestEndedLoopTakesAnswer(t *testing.T) {
	l := loop("curious", func(l *listing.Loop) {
		ended(event.ReasonPromise)(l)
		l.Found.Head.Questions = 1
		l.Facts = &listing.Facts{Text: "May I?", Asked: projector.Question{Number: 3}}
	})
	m := modelOf(100, 24, l)
	if text := screen(m); !strings.Contains(text, "1 question, completed 1d2h ago") || !strings.Contains(text, "May I?") {
		t.Errorf("the screen:\n%s", text)
	}
	want := []inbox.Command{{Kind: inbox.Answer, Question: 3, Text: "yes"}}
	if effect := presses(m, "a", "'yes", "enter", "enter"); effect.Do != Resume || !reflect.DeepEqual(effect.Commands, want) {
		t.Errorf("%+v", effect)
	}
}

// The loops of a fleet are listed after it, in the group of the most urgent one. Only those that
// need a person themselves are counted.
func TestFleetStandsAsOne(t *testing.T) {
	of := func(parent string, edit func(*listing.Loop)) func(*listing.Loop) {
		return func(l *listing.Loop) {
			l.Found.Parent, l.Found.ID = parent, l.Found.Name
			edit(l)
		}
	}
	m := modelOf(100, 24,
		loop("other", func(l *listing.Loop) { l.Found.ID = "other" }), loop("story-1", of("fleet", ended(event.ReasonPromise))), loop("story-2", of("fleet", ended(event.ReasonBlocked))),
		loop("helper", of("story-1", ended(event.ReasonPromise))), loop("fleet", func(l *listing.Loop) { l.Found.ID = "fleet" }), loop("a", of("b", func(*listing.Loop) {})), loop("b", of("a", func(*listing.Loop) {})))
	checkScreen(t, m)
	golden.Check(t, filepath.Join("testdata", "fleet-100.txt"), screen(m))
	done := modelOf(100, 24, loop("story-1", of("fleet", ended(event.ReasonBlocked))), loop("fleet", func(l *listing.Loop) { ended(event.ReasonPromise)(l); l.Found.ID = "fleet" }))
	if keys := strings.Join(done.browsingKeys(), " "); done.chosen().Name != "fleet" || !strings.Contains(keys, "d dismiss") {
		t.Errorf("a fleet with a loop that needs a person has the keys %s", keys)
	}
}

// What could not be begun is not lost.
func TestUnbegunTaskIsGivenBack(t *testing.T) {
	m := modelOf(100, 24)
	m.GiveBack(presses(m, "n", "'Fix it.", "enter"))
	if again := presses(m, "enter"); again.Do != Begin || again.Commands[0].Text != "Fix it." {
		t.Errorf("%+v", again)
	}
}

// A loop that begins to need a person calls once; the person may look at another window.
func TestLoopsCallPerson(t *testing.T) {
	loops := machine()
	names := func(calling []*listing.Loop) (names string) {
		for _, l := range calling {
			names += nameOf(l) + ": " + callOf(l) + "; "
		}
		return names
	}
	m := modelOf(80, 24, loops...)
	for i := range loops {
		switch l := &loops[i]; l.Name {
		case "tests":
			change(l, func(l *listing.Loop) {
				l.Found.Head.Status, l.Found.Head.Waiting = event.StatusWaiting, "a person: Which\x1b[2J\none?"
			})
		case "limited":
			change(l, ended(event.ReasonBlocked))
		case "leaving":
			change(l, func(l *listing.Loop) { l.Found.Head.Status, l.Found.Head.Pending = event.StatusPaused, "" })
		}
	}
	if got := names(m.Show(listing.Snapshot{At: now, Loops: loops})); got != "tests: Which one?; limited: blocked; " {
		t.Errorf("%q", got)
	}
	if got := names(m.Show(listing.Snapshot{At: now, Loops: loops})); got != "" {
		t.Errorf("again %q", got)
	}
}

// A text that was not sent is not lost.
func TestUnsentTextIsGivenBack(t *testing.T) {
	for name, keys := range map[string][]string{"parser": {"a", "'v2", "enter"}, "fonts": {"a", "'OFL", "enter", "enter"}, "tests": {"s", "'stop that", "enter"}} {
		m := modelOf(100, 40, machine()...)
		m.selected = "--" + name + ".json"
		m.arrange()
		effect := presses(m, keys...)
		m.GiveBack(effect)
		m.Say("the disk is full", true)
		text := screen(m)
		if want := "> " + keys[1][1:] + "\nthe disk is full\n"; !strings.Contains(text, want) {
			t.Errorf("%s: %q is missing:\n%s", name, want, text)
		}
		if again := presses(m, keys[2:]...); again.Do != effect.Do || !reflect.DeepEqual(again.Commands, effect.Commands) {
			t.Errorf("%s: %+v is not %+v", name, again, effect)
		}
	}
	m := modelOf(100, 40, machine()...)
	m.GiveBack(presses(m, "p"))
	if m.mode != browsing {
		t.Error("a command without a text asks for one")
	}
}

func TestFiltersNarrowList(t *testing.T) {
	names := func(m *Model) string {
		var names []string
		for _, i := range m.rows() {
			names = append(names, m.snapshot.Loops[m.items[i].loop].Name)
		}
		return strings.Join(names, " ")
	}
	for name, row := range map[string]struct {
		set  func(*Model)
		keys []string
		want string
	}{
		"this project": {nil, []string{"h"}, "parser"},
		"again":        {nil, []string{"h", "h", "/", "'tests"}, "tests"},
		"running":      {func(m *Model) { m.Running = true }, nil, "parser curious tests limited leaving"},
		"question":     {nil, []string{"/", "'SCHEMA"}, "parser"},
		"two words":    {nil, []string{"/", "'claude ended"}, "finished spent removed"},
		"taken back":   {nil, []string{"/", "'zzz", "esc", "/", "'tes"}, "tests"},
		"nothing":      {nil, []string{"/", "'zzz"}, ""},
		"kept":         {nil, []string{"/", "'tests", "enter", "j", "k"}, "tests"},
		"cleared":      {func(m *Model) { m.Here = true }, []string{"/", "'zzz", "enter", "esc"}, "parser"},
	} {
		m := modelOf(100, 40, machine()...)
		if row.set != nil {
			row.set(m)
			m.arrange()
		}
		presses(m, row.keys...)
		if got := names(m); got != row.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Foreign text cannot control the terminal.
func TestForeignTextIsCleaned(t *testing.T) {
	l := loop("x", func(l *listing.Loop) {
		l.Call, l.Path, l.Found.Agent, l.Found.Head.Agent = "x\x1b[2J", "p\x1b]0;t\x07", "a\x1b[31m", ""
		l.Found.Head.Status, l.Found.Head.Waiting = event.StatusWaiting, "a\x1b[2J limit"
		l.Found.Head.Pending = ""
	})
	m := modelOf(120, 24, l)
	presses(m, "/", "'\x1b[2J")
	m.Paste("\x1b[2J\x07")
	presses(m, "esc", "s")
	m.Paste("one\r\ntwo\x1b[2J")
	if text := screen(m); strings.ContainsAny(text, "\x1b\x07\r") {
		t.Errorf("%q", text)
	}
	if effect := presses(m, "enter"); !reflect.DeepEqual(effect.Commands, []inbox.Command{{Kind: inbox.Steer, Text: "one\ntwo[2J"}}) {
		t.Errorf("%+v", effect.Commands)
	}
}

// The screen is the same for a minute: nothing is written to the terminal while nothing happens.
func TestScreenIsStillWithinMinute(t *testing.T) {
	m := modelOf(120, 40, machine()...)
	before := screen(m)
	for second := range 50 {
		m.Show(listing.Snapshot{At: now.Add(time.Duration(second) * time.Second), Loops: machine()})
		if got := screen(m); second < 10 && got != before {
			t.Fatalf("after %d s:\n%s", second, got)
		}
	}
	m.Show(listing.Snapshot{At: now.Add(time.Minute), Loops: machine()})
	if screen(m) == before {
		t.Error("after a minute it is the same")
	}
}

// The outcome of a command is shown until the next key, or for a minute.
func TestOutcomeIsShownAWhile(t *testing.T) {
	m := modelOf(80, 24, machine()...)
	shows := func() bool { return strings.Contains(screen(m), "it is done") }
	m.Say("it is done", false)
	m.Show(listing.Snapshot{At: now.Add(59 * time.Second), Loops: machine()})
	if !shows() {
		t.Error("it is gone too soon")
	}
	m.Show(listing.Snapshot{At: now.Add(60 * time.Second), Loops: machine()})
	if shows() {
		t.Error("after a minute it is still there")
	}
	m.Say("it is done", false)
	presses(m, "down")
	if shows() {
		t.Error("after a key it is still there")
	}
}

func TestClocksAreWorded(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "<1m", 0: "<1m", 59 * time.Second: "<1m", 3*time.Minute + 59*time.Second: "3m", time.Hour: "1h",
		62 * time.Minute: "1h2m", 24 * time.Hour: "1d", 51 * time.Hour: "2d3h", 400 * 24 * time.Hour: "400d",
	} {
		if got := clock(d); got != want {
			t.Errorf("%s is %s, not %s", d, got, want)
		}
	}
}

func TestTypedTextIsEdited(t *testing.T) {
	for keys, want := range map[string]string{
		"'one two|ctrl+w|'three":                     "one three",
		"'one|home|'zero |end|' two":                 "zero one two",
		"'one|left|left|backspace|'x":                "xne",
		"'one two|alt+left|ctrl+k":                   "one ",
		"'one two|ctrl+u|'three":                     "three",
		"'ab|left|delete":                            "a",
		"'one two|ctrl+a|alt+right|ctrl+d|backspace": "ontwo",
		"'one|ctrl+j|'two":                           "one\ntwo",
		"'値段|backspace":                              "値",
	} {
		m := modelOf(80, 24, loop("x", func(*listing.Loop) {}))
		presses(m, append([]string{"s"}, strings.Split(keys, "|")...)...)
		if got := m.input.String(); got != want {
			t.Errorf("%s: %q, want %q", keys, got, want)
		}
	}
}
