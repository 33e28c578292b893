package conversation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/theme"
	"github.com/ralph-loop/ralph/render/transcript"
)

var now = noon.Add(time.Hour)

// view returns a view of entries.
func view(columns, rows int, list []transcript.Entry) *View {
	v := New()
	v.Resize(columns, rows)
	v.Put(list)
	return v
}

func TestEntriesLookAsRecorded(t *testing.T) {
	runs := map[string][]transcript.Entry{"each": each()}
	for _, name := range []string{"demo", "pi-tools", "pi-overload", "claude-tools", "claude-partial", "claude-subagent", "stories"} {
		runs[name] = recorded(t, filepath.Join("..", "testdata", "runs", name+".jsonl"))
	}
	for name, list := range runs {
		for _, columns := range []int{40, 200} {
			compare(t, fmt.Sprintf("%s.%d", name, columns), view(columns, 10_000, list))
		}
	}
	v := view(40, 10_000, each())
	v.SetTheme(theme.New(true, colorprofile.ANSI256))
	compare(t, "each.40.colour", v)
	v.Resize(200, 10_000)
	compare(t, "each.200.colour", v)
	v = view(80, 10_000, each())
	v.ToggleAll()
	compare(t, "each.unfolded", v)
	v.Resize(40, 10_000)
	compare(t, "each.unfolded.40", v)
}

func compare(t *testing.T, name string, v *View) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		golden.Check(t, filepath.Join("testdata", name+".golden"), strings.Join(v.Lines(now), "\n")+"\n")
	})
}

func TestLinesFitColumns(t *testing.T) {
	list := each()
	for columns := range 60 {
		v := view(columns, 1000, list)
		for _, colors := range []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ANSI256} {
			v.SetTheme(theme.New(true, colors))
			v.ToggleAll()
			for _, line := range v.Lines(now) {
				if got := render.Columns(render.Clean(line)); got > columns {
					t.Fatalf("%d columns: %q has %d", columns, line, got)
				}
			}
		}
	}
}

// A view shows its end as a new view of the same entries does, whatever it went through.
func TestCachesDoNotShow(t *testing.T) {
	list := each()
	rapid.Check(t, func(t *rapid.T) {
		v, from, to := New(), 12, 20
		v.Put(list[from:to])
		columns, colored := 80, false
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0:
				next := min(to+rapid.IntRange(0, 3).Draw(t, "appended"), len(list))
				v.Put(list[to:next])
				to = next
			case 1:
				next := max(from-rapid.IntRange(0, 3).Draw(t, "prepended"), 0)
				v.Prepend(list[next:from])
				from = next
			case 2:
				n := rapid.IntRange(1, to-from).Draw(t, "kept")
				v.Trim(n)
				from = to - n
			case 3:
				columns = rapid.IntRange(10, 90).Draw(t, "columns")
				v.Resize(columns, 24)
			case 4:
				colored = !colored
			case 5:
				v.Scroll(rapid.IntRange(-30, 30).Draw(t, "scrolled"))
			case 6:
				v.Select(rapid.IntRange(-3, 3).Draw(t, "selected"))
				v.Toggle()
				v.Toggle()
			case 7:
				at := rapid.IntRange(from, to-1).Draw(t, "changed")
				odd := list[at]
				odd.Body = transcript.Words{Text: "other"}
				v.Put([]transcript.Entry{odd})
				v.Lines(now)
				v.Put(list[at : at+1])
			}
			if colored {
				v.SetTheme(theme.New(true, colorprofile.ANSI))
			} else {
				v.SetTheme(theme.Theme{})
			}
			v.Lines(now)
		}
		v.Deselect()
		v.ToEnd()
		fresh := view(columns, 24, list[from:to])
		if colored {
			fresh.SetTheme(theme.New(true, colorprofile.ANSI))
		}
		if diff := cmp.Diff(fresh.Lines(now), v.Lines(now)); diff != "" {
			t.Fatalf("-new +used:\n%s", diff)
		}
	})
}

// lists of words: each entry has as many lines as its text.
func wordsOf(n, from int) (list []transcript.Entry) {
	for i := range n {
		text := fmt.Sprintf("entry %d", from+i) + strings.Repeat("  \nmore", i%4)
		list = append(list, transcript.Entry{Seq: event.Seq(from + i), At: noon, Body: transcript.Words{Text: text, Done: true}})
	}
	return list
}

func TestViewFollowsEnd(t *testing.T) {
	v := view(40, 7, wordsOf(20, 100))
	v.Put(wordsOf(30, 110))
	if got := strings.Join(v.Lines(now), "\n"); !strings.HasSuffix(got, "entry 139\n  more") || !v.AtEnd() {
		t.Errorf("after an entry was added:\n%s", got)
	}
	v.Resize(13, 5)
	if got := strings.Join(v.Lines(now), "\n"); !strings.HasSuffix(got, "entry 139\n  more") {
		t.Errorf("after a resize:\n%s", got)
	}
}

// A view that is not at the end shows the same, whatever happens outside of it.
func TestViewDoesNotMove(t *testing.T) {
	v := view(40, 7, wordsOf(50, 100))
	v.Lines(now)
	v.Scroll(-40)
	want := v.Lines(now)
	if v.AtEnd() {
		t.Fatal("the view still follows the end")
	}
	same := func(after string) {
		t.Helper()
		if diff := cmp.Diff(want, v.Lines(now)); diff != "" {
			t.Errorf("after %s: -before +after:\n%s", after, diff)
		}
	}
	v.Put(wordsOf(10, 150))
	same("an append")
	v.Prepend(wordsOf(30, 60))
	same("a page before")
	changed := wordsOf(1, 101)
	changed[0].Body = transcript.Words{Text: "now\n\nwith\n\nmore\n\nlines"}
	v.Put(changed)
	same("a change of an entry before")
	v.Resize(60, 7)
	same("a resize")
	v.Trim(90)
	same("a trim")
	v.ToggleAll()
	same("a fold")
}

func TestScrollReachesEachLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := wordsOf(rapid.IntRange(0, 12).Draw(t, "entries"), 1)
		all := view(40, 1000, list).Lines(now)
		rows := rapid.IntRange(1, 8).Draw(t, "rows")
		v := view(40, rows, list)
		most := max(len(all)-rows, 0)
		at := most
		for _, by := range rapid.SliceOfN(rapid.IntRange(-10, 10), 0, 20).Draw(t, "steps") {
			v.Scroll(by)
			at = min(max(at+by, 0), most)
			if diff := cmp.Diff(all[at:min(at+rows, len(all))], v.Lines(now)); diff != "" {
				t.Fatalf("at line %d of %d: -want +got:\n%s", at, len(all), diff)
			}
			if v.AtStart() != (at == 0) {
				t.Fatalf("at line %d: AtStart is %t", at, v.AtStart())
			}
			if at == most && by > 0 && !v.AtEnd() {
				t.Fatalf("the last line is shown, but not followed")
			}
		}
		v.ToStart()
		if got := v.Lines(now); !slices.Equal(got, all[:min(rows, len(all))]) {
			t.Fatalf("at the start: %q", got)
		}
	})
}

func TestSelectionIsShown(t *testing.T) {
	v := view(40, 6, wordsOf(30, 1))
	v.Lines(now)
	for range 12 {
		v.Select(-1)
	}
	e, ok := v.Selected()
	if !ok || e.Seq != 19 {
		t.Fatalf("selected: %d, %t", e.Seq, ok)
	}
	if got := strings.Join(v.Lines(now), "\n"); !strings.Contains(got, "▌ entry 19") {
		t.Errorf("it is not shown:\n%s", got)
	}
	if got := v.SelectedText(); got != "entry 19  \nmore  \nmore" {
		t.Errorf("its text: %q", got)
	}
	v.Deselect()
	if _, ok := v.Selected(); ok || strings.Contains(strings.Join(v.Lines(now), ""), "▌") {
		t.Error("it is still selected")
	}
}

// A selection that is scrolled out of view moves with it, and steps beyond the end stop there.
func TestSelectionFollowsView(t *testing.T) {
	v := view(40, 6, wordsOf(30, 1))
	selected := func() event.Seq {
		e, _ := v.Selected()
		return e.Seq
	}
	v.Lines(now)
	v.Reselect()
	if selected() != 0 {
		t.Error("without a selection, one is made")
	}
	v.Select(v.Len())
	if selected() != 30 || !v.AtEnd() {
		t.Errorf("the newest entry: %d", selected())
	}
	v.Scroll(-20)
	v.Reselect()
	above := selected()
	if got := strings.Join(v.Lines(now), "\n"); above >= 30 || !strings.Contains(got, "▌") {
		t.Errorf("entry %d is selected on\n%s", above, got)
	}
	v.Select(-v.Len())
	if selected() != 1 || !v.AtStart() {
		t.Errorf("the first entry: %d", selected())
	}
	v.ToEnd()
	v.Reselect()
	if got := strings.Join(v.Lines(now), "\n"); selected() <= above || !strings.Contains(got, "▌") {
		t.Errorf("entry %d is selected on\n%s", selected(), got)
	}
}

func TestFindGoesBothWays(t *testing.T) {
	v := view(40, 6, wordsOf(30, 1))
	v.Lines(now)
	has := func(text string) func(transcript.Entry) bool {
		return func(e transcript.Entry) bool {
			w, _ := e.Body.(transcript.Words)
			return strings.Contains(w.Text, text)
		}
	}
	for _, step := range []struct {
		forward bool
		text    string
		want    event.Seq
	}{{false, "entry 2", 29}, {false, "entry 2", 28}, {false, "entry 7", 7}, {true, "entry 1", 10}, {true, "nothing", 0}, {false, "entry 1", 1}} {
		found := v.Find(step.forward, has(step.text))
		e, _ := v.Selected()
		if found != (step.want != 0) || found && e.Seq != step.want {
			t.Errorf("%+v: %t, %d", step, found, e.Seq)
		}
	}
	v.Highlight("ENTRY 1")
	v.SetTheme(theme.New(true, colorprofile.ANSI256))
	if got := v.Lines(now)[0]; !strings.Contains(got, theme.New(true, colorprofile.ANSI256).Current.Render("entry 1")) {
		t.Errorf("the match is not marked: %q", got)
	}
	if v.JumpTo(1000) || !v.JumpTo(20) || !strings.HasPrefix(v.Lines(now)[0], "") {
		t.Error("jump to an entry that is there, and to one that is not")
	}
}

func TestToggleUnfoldsSelected(t *testing.T) {
	v := view(80, 100, each()[6:7])
	folded := len(v.Lines(now))
	v.Select(0)
	v.Toggle()
	unfolded := strings.Join(v.Lines(now), "\n")
	if !strings.Contains(unfolded, "timeout 1000") || !strings.Contains(unfolded, "exit 1") {
		t.Errorf("unfolded:\n%s", unfolded)
	}
	v.Toggle()
	if got := len(v.Lines(now)); got != folded {
		t.Errorf("%d lines, folded before: %d", got, folded)
	}
}

// Words that are written piece by piece look the same as if they came at once.
func TestWordsGrow(t *testing.T) {
	text := each()[3].Body.(transcript.Words).Text
	v := view(40, 100, nil)
	for n := range len(text) + 1 {
		v.Put(entries(transcript.Words{Text: text[:n]}))
		v.Lines(now)
	}
	want := view(40, 100, entries(transcript.Words{Text: text})).Lines(now)
	if diff := cmp.Diff(want, v.Lines(now)); diff != "" {
		t.Errorf("-at once +in pieces:\n%s", diff)
	}
}

func TestCountdownRuns(t *testing.T) {
	v := view(60, 10, entries(transcript.Wait{For: event.WaitRate, Until: now.Add(90 * time.Second)}))
	first, second := v.Lines(now)[0], v.Lines(now.Add(30 * time.Second))[0]
	if !strings.Contains(first, "in 1m30s") || !strings.Contains(second, "in 1m0s") {
		t.Errorf("%q, then %q", first, second)
	}
}

func TestOnlyVisibleIsLaidOut(t *testing.T) {
	v := view(80, 50, wordsOf(10_000, 1))
	v.Lines(now)
	v.Resize(60, 50)
	v.Lines(now)
	if v.laid > 60 {
		t.Errorf("%d entries were laid out for 50 rows", v.laid)
	}
	for range 400 {
		v.Scroll(-50)
		v.Lines(now)
	}
	kept := 0
	for _, it := range v.items {
		if it.laid != nil {
			kept++
		}
	}
	if kept > laidMost+100 {
		t.Errorf("%d entries keep their lines", kept)
	}
}

func BenchmarkResize(b *testing.B) {
	var list []transcript.Entry
	for i := range 10_000 {
		e := each()[i%34]
		e.Seq = event.Seq(i + 1)
		list = append(list, e)
	}
	v := view(200, 60, list)
	v.SetTheme(theme.New(true, colorprofile.TrueColor))
	width := 0
	for b.Loop() {
		width = (width + 7) % 100
		v.Resize(100+width, 60)
		v.Lines(now)
	}
}

func BenchmarkFrame(b *testing.B) {
	v := view(200, 60, each())
	v.SetTheme(theme.New(true, colorprofile.TrueColor))
	for b.Loop() {
		v.Lines(now)
	}
}

// One more word of a long answer, with the frame that shows it.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat(each()[3].Body.(transcript.Words).Text+"\n", 200)
	v := view(100, 60, nil)
	n := 0
	for b.Loop() {
		if n += 20; n > len(text) {
			n = 0
		}
		v.Put(entries(transcript.Words{Text: text[:n]}))
		v.Lines(now)
	}
}
