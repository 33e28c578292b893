package listing

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// Table shows loops to a person, with their projects if asked for.
func Table(e *cli.Env, all []*projector.View, projects bool) []byte {
	opt := e.RenderOptions()
	t := table{head: []string{"NAME", "STATUS", "ITERATION", "STARTED", "AGENT", "COST", "TOKENS"}, color: opt.Color, paths: projects}
	if projects {
		t.head = append(t.head, "PROJECT")
	}
	stories := slices.ContainsFunc(all, func(v *projector.View) bool { return v.Stories > 0 })
	if stories {
		t.head = slices.Insert(t.head, storiesColumn, "STORIES")
	}
	strength := slices.ContainsFunc(all, func(v *projector.View) bool { return v.Strength != "" })
	if strength {
		t.head = slices.Insert(t.head, strengthColumn, "STRENGTH")
	}
	now, home, family := e.Now(), e.Variable("HOME"), familiesOf(all)
	for _, v := range all {
		name, status := v.Call, statusOf(v, now)
		inner := family.within[v.ID]
		if n := running(inner); n > 0 || v.Alive && len(inner) > 0 {
			status += fmt.Sprintf(", %d of %s within it running", n, units.Quantity(len(inner), "loop"))
		}
		if family.has(v) {
			name = "  " + name
		}
		row := []string{name, status, cli.CountOf(v.Summary).Short(), units.Ago(now.Sub(v.Started)), v.Agent, Cost(v.Cost), Tokens(v)}
		if projects {
			row = append(row, Tilde(v.Project, home))
		}
		if stories {
			row = slices.Insert(row, storiesColumn, Stories(v))
		}
		if strength {
			row = slices.Insert(row, strengthColumn, cmp.Or(string(v.Strength), "-"))
		}
		t.rows = append(t.rows, row)
	}
	return t.format(opt.Width)
}

// running counts the loops that have a runner.
func running(loops []*projector.View) (count int) {
	for _, v := range loops {
		if v.Alive {
			count++
		}
	}
	return count
}

// Stories says how many stories of a loop are done: "2/5"; "-" for a loop without stories.
func Stories(v *projector.View) string {
	if v.Stories == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", v.StoriesDone, v.Stories)
}

// Cost spells what a loop cost; an amount that is known to be nothing is a dash.
func Cost(usd *float64) string {
	if usd != nil && *usd == 0 {
		return "-"
	}
	return units.Cost(usd)
}

// Tokens spells how many tokens a loop used.
func Tokens(v *projector.View) string {
	if v.TokensIn == nil || v.TokensOut == nil {
		return "unknown"
	}
	return units.Tokens(*v.TokensIn + *v.TokensOut)
}

// Asks says how many questions of a loop's agent have no answer, unless its state says so already;
// empty if there are none.
func Asks(v *projector.View) string {
	if n := v.Summary.Questions; n > 1 || n == 1 && !(v.WaitsForPerson() && v.Awaited > 0) {
		return units.Quantity(n, "question")
	}
	return ""
}

// statusOf is the status of a loop, or what a person has to know before it.
func statusOf(v *projector.View, now time.Time) string {
	status := v.State
	switch {
	case v.Error != "", v.Gone, v.Died, v.ContinuesOn != "":
	case v.Reason != "":
		status = v.Status.String() + " (" + v.Reason + ")"
	case v.Pending != "":
		status = v.Pending
	case v.Awaited > 0 && v.WaitsForPerson():
		status += fmt.Sprintf(" (question %d)", v.Awaited)
	case v.Status == event.StatusWaiting && v.Alive:
		status += " (" + shortWait(v, now) + ")"
	}
	if len(v.Left) > 0 {
		status += ", its agent lives"
	}
	if asks := Asks(v); asks != "" {
		status += ", " + asks
	}
	if v.Reviewed != nil {
		status += ", " + v.Reviewed.String()
	}
	if silence := Silence(v, now); silence > 0 {
		status += ", last heard of " + units.Ago(silence)
	}
	return status
}

// Silence is how long nothing was heard of the machine that has a loop; 0 while it gives signs of
// life, and for a loop of this machine.
func Silence(v *projector.View, now time.Time) time.Duration {
	if silence := now.Sub(v.Heard); v.Remote != "" && !v.Heard.IsZero() && silence >= silentAfter {
		return silence
	}
	return 0
}

// silentAfter is more than the minute to which a sign of life is known, and several beats.
const silentAfter = 2 * time.Minute

// shortWait says in a few words for a column what a loop waits for. The page of the loop's status
// shows the reason that an agent gives for waiting for a person.
func shortWait(v *projector.View, now time.Time) string {
	if v.WaitsForPerson() {
		return event.WaitPerson.String()
	}
	what, until, found := strings.Cut(v.Waiting, " until ")
	if at, err := time.Parse(time.RFC3339, until); found && err == nil {
		return what + ", " + units.Span(at.Sub(now))
	}
	return v.Waiting
}

func statusStyle(status string) string {
	word, _, _ := strings.Cut(status, " ")
	switch strings.TrimSuffix(word, ",") {
	case "running", "starting", "proving":
		return "\x1b[32m"
	case "waiting", "paused", "stopping", "pausing":
		return "\x1b[33m"
	case "died", "failed", "gone", "unreadable":
		return "\x1b[31m"
	}
	return "\x1b[2m"
}

// Tilde shortens a path in the person's home folder.
func Tilde(path, home string) string {
	if home != "" && (path == home || strings.HasPrefix(path, home+string(os.PathSeparator))) {
		return "~" + path[len(home):]
	}
	return path
}

// A table has columns of equal width.
type table struct {
	head  []string
	rows  [][]string
	color bool
	// the last column is a path, whose end distinguishes rows of the same name
	paths bool
}

const (
	columnsKept  = 3  // columns that are never left out, however narrow the terminal is
	narrowest    = 8  // columns of the terminal that a path needs, else it is left out
	narrowedPath = 16 // columns of the terminal that a path gets, before others are left out for it
	statusColumn = 1

	strengthColumn = 2 // if that of a done is known
	storiesColumn  = 3 // if a loop works on stories
)

// format fits the table into the width of a terminal, 0 for any.
func (t *table) format(width int) []byte {
	widths := make([]int, len(t.head))
	rows := append([][]string{t.head}, t.rows...)
	for _, row := range rows {
		for i := range widths {
			row[i] = render.Clean(row[i])
			widths[i] = max(widths[i], render.Columns(row[i]))
		}
	}
	shown := t.fit(widths, width)
	var out []byte
	for n, row := range rows {
		for i, column := range shown {
			cell := t.cut(column, row[column], widths[column])
			blanks := widths[column] - render.Columns(cell) + 2
			style := "\x1b[2m"
			if n > 0 {
				style = statusStyle(cell)
			}
			if t.color && (n == 0 || column == statusColumn) {
				cell = style + cell + "\x1b[0m"
			}
			out = append(out, cell...)
			if i < len(shown)-1 {
				out = append(out, strings.Repeat(" ", blanks)...)
			}
		}
		out = append(out, '\n')
	}
	return out
}

// leftOut are the columns that a narrow terminal does not show, the first one first.
var leftOut = []string{"TOKENS", "AGENT", "STARTED", "STRENGTH", "STORIES", "COST"}

// fit returns the columns that are shown, and sets the width of the last of them. A path gets
// narrower before others are left out for it.
func (t *table) fit(widths []int, width int) []int {
	shown := make([]int, len(widths))
	for i := range shown {
		shown[i] = i
	}
	next := leftOut
	for width > 0 {
		last := len(shown) - 1
		column, left := shown[last], width
		for _, c := range shown[:last] {
			left -= widths[c] + 2
		}
		need := widths[column]
		if path := t.paths && last >= columnsKept; path && len(next) > 0 {
			need = min(need, narrowedPath)
		} else if path {
			need = min(need, narrowest)
		}
		switch {
		case left >= need || last < columnsKept:
			widths[column] = max(min(widths[column], left), 1)
			return shown
		case len(next) > 0:
			shown = slices.DeleteFunc(shown, func(c int) bool { return t.head[c] == next[0] })
			next = next[1:]
		default:
			shown = shown[:last]
		}
	}
	return shown
}

func (t *table) cut(column int, cell string, width int) string {
	if t.paths && column == len(t.head)-1 && render.Columns(cell) > width {
		return "…" + render.CutStart(cell, width-1)
	}
	return render.Cut(cell, width)
}
