package main

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/process"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type listVerb struct {
	placed
	All     bool `short:"A" help:"All loops of this machine."`
	Running bool `short:"r" help:"Only those that have a runner."`
	Watch   bool `short:"w" help:"Show them again each second; a terminal is required."`
	JSON    bool `help:"Print an array of objects."`
}

// listMemory is where a list begins to collect garbage all the same: half a million loops' worth, in bytes.
const listMemory = 512 << 20

// Run lists loops without touching any of them. Those that were removed with their folders are listed for the last time.
func (v *listVerb) Run(e *env) error {
	if v.Watch {
		if v.JSON || !e.isTerminal() {
			return refuse("leave --watch out, and ask as often as you like", "--watch draws on a terminal")
		}
		return v.watch(e)
	}
	// Nothing that is made from here on can be thrown away before the end, and looking for it
	// takes a fifth of the time that ten thousand loops take.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(listMemory)
	all, err := v.survey(e)
	if err != nil {
		return err
	}
	switch {
	case v.JSON:
		err = printJSON(e.stdout, listed(e, all), "")
	case len(all) == 0:
		tell(e.stderr, "%s", v.none())
	default:
		_, err = e.stdout.Write(v.table(e, all))
	}
	if err != nil {
		return err
	}
	pruned, err := registry.Prune(e.home, all)
	if err == nil && len(pruned) > 0 && !v.JSON {
		tell(e.stderr, "the folders of %s are gone: the next list leaves them out", quantity(len(pruned), "loop"))
	}
	// A registry that cannot be written lists the same again.
	return nil
}

func (v *listVerb) none() string {
	if v.Running && v.All {
		return "no loop is running on this machine; 'ralph list --all' shows those that have ended"
	}
	if v.Running {
		return "no loop is running here; 'ralph list' shows those that have ended"
	}
	if v.All {
		return "there is no loop on this machine; 'ralph start' begins one"
	}
	return "there is no loop here; 'ralph list --all' shows those of this machine"
}

// survey returns the loops in question. What is in the registry and no entry is
// said on stderr.
func (v *listVerb) survey(e *env) ([]registry.Status, error) {
	all, err := registry.Survey(e.home, func(entry registry.Entry) bool { return v.All || entry.Project == e.root() })
	if err != nil {
		return nil, err
	}
	var loops []registry.Status
	for _, s := range all {
		if s.Name == "" {
			if !v.Watch {
				tell(e.stderr, "%v", s.Err)
			}
			continue
		}
		if !v.Running || s.Live.Alive {
			loops = append(loops, refreshed(s))
		}
	}
	inOrder(loops)
	return loops, nil
}

// inOrder puts those first that need a person, then those that run, and of each the newest.
func inOrder(loops []registry.Status) {
	slices.SortStableFunc(loops, func(a, b registry.Status) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), since(b).Compare(since(a)))
	})
}

func urgency(s registry.Status) int {
	switch {
	case s.Err != nil, s.Died, s.Live.Alive && strings.HasPrefix(s.Head.Waiting, "a person"),
		!s.Live.Alive && s.Head.Reason != "" && event.Reason(s.Head.Reason).ExitCode() == event.ExitPerson:
		return 0
	case s.Live.Alive:
		return 1
	}
	return 2
}

// refreshed takes from the journal what state.json does not say yet: it is written a moment after what it tells, so that of a loop that
// has just begun, was resumed, or whose runner was killed soon, it is missing or from before.
func refreshed(s registry.Status) registry.Status {
	old := s.Head.Status == event.StatusStarting || s.Head.Ended()
	if s.Err != nil || s.Gone || s.Head.Status != registry.StatusUnknown && !(s.Live.Alive && old) {
		return s
	}
	state, err := projector.Open(s.Dir)
	if err != nil || !state.Begun() {
		return s // status says what is wrong with it
	}
	s.Head = headOf(&state)
	s.Died = !s.Live.Alive && !s.Head.Ended()
	return s
}

// watch draws the list again and again, until ctrl-c.
func (v *listVerb) watch(e *env) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	clear := "\x1b[2J"
	for {
		all, err := v.survey(e)
		if err != nil {
			return err
		}
		text := clear + "\x1b[H" + e.now().Format("15:04:05") + "  " + quantity(len(all), "loop") + "\x1b[K\n"
		clear = ""
		lines := strings.SplitAfter(string(v.table(e, all)), "\n")
		_, rows := e.size()
		for _, line := range lines[:min(len(lines), max(rows-2, 1))] {
			text += strings.Replace(line, "\n", "\x1b[K\n", 1)
		}
		if _, err := e.stdout.Write([]byte(text + "\x1b[J")); err != nil {
			return err
		}
		select {
		case <-signals:
			return nil
		case <-time.After(time.Second):
		}
	}
}

// listedLoop is one loop as --json has it. Its keys stay.
type listedLoop struct {
	Name              string    `json:"name"`
	Call              string    `json:"call"` // how it is named from the current folder: its name, PROJECT/NAME or the path of its folder
	Dir               string    `json:"dir"`
	Project           string    `json:"project"`
	Alive             bool      `json:"alive"`
	Died              bool      `json:"died"` // its state says that it goes on, and no runner has it
	Gone              bool      `json:"gone"` // its folder is not there any more
	Status            string    `json:"status"`
	Reason            string    `json:"reason"`
	Iteration         int       `json:"iteration"`
	Counted           int       `json:"counted"`  // iterations that are used: begun, and not refunded
	Refunded          int       `json:"refunded"` // iterations
	MaximumIterations int       `json:"maximumIterations"`
	Started           time.Time `json:"started"`
	At                time.Time `json:"at"` // of the last event
	Agent             string    `json:"agent"`
	Cost              *float64  `json:"cost"`     // USD; null where it is not known
	TokensIn          *int64    `json:"tokensIn"` // null where not all are known
	TokensOut         *int64    `json:"tokensOut"`
	Waiting           string    `json:"waiting"`
	Pending           string    `json:"pending,omitempty"` // a pause or stop that is still to come
	ExitCode          *int      `json:"exitCode"`          // null where it has not ended
	PID               int       `json:"pid"`               // of the runner; 0 where there is none
	Host              string    `json:"host"`
	// Left are the pids of what outlived the runner of a loop that died: its agent works on.
	Left  []int  `json:"left,omitempty"`
	Error string `json:"error,omitempty"`
}

// leftOvers returns what outlived the runners of loops that died, by the files of their entries. Where none did, no process is
// looked at.
func leftOvers(all []registry.Status) map[string][]process.Stray {
	if !slices.ContainsFunc(all, func(s registry.Status) bool { return s.Died }) {
		return nil
	}
	marked, err := process.Marked()
	if err != nil {
		return nil // the list is of loops
	}
	left := map[string][]process.Stray{}
	for _, s := range all {
		if s.Died {
			left[s.File] = leftOf(marked, s)
		}
	}
	return left
}

func listed(e *env, all []registry.Status) []listedLoop {
	call := e.callers(all)
	left := leftOvers(all)
	loops := make([]listedLoop, 0, len(all))
	for _, s := range all {
		l := listedLoop{
			Name: s.Name, Call: call(s), Dir: s.Dir, Project: s.Project, Alive: s.Live.Alive, Died: s.Died, Gone: s.Gone,
			Status: s.Head.Status, Reason: s.Head.Reason, Iteration: s.Head.Iteration,
			Counted: countOf(s.Head).Used(), Refunded: s.Head.Refunded, MaximumIterations: s.Head.MaximumIterations, Started: since(s), At: s.Head.At, Agent: agentOf(s),
			Waiting: s.Head.Waiting, Pending: s.Head.Pending, Host: s.Host,
		}
		if s.Head.CostKnown {
			l.Cost = &s.Head.Cost
		}
		if s.Head.TokensKnown {
			l.TokensIn, l.TokensOut = &s.Head.TokensIn, &s.Head.TokensOut
		}
		if s.Live.Alive {
			l.PID = s.Live.PID
		}
		if s.Head.Reason != "" {
			code := event.Reason(s.Head.Reason).ExitCode()
			l.ExitCode = &code
		}
		if s.Err != nil {
			l.Error = s.Err.Error()
		}
		for _, stray := range left[s.File] {
			l.Left = append(l.Left, stray.PID)
		}
		loops = append(loops, l)
	}
	return loops
}

func since(s registry.Status) time.Time {
	if s.Head.Since.IsZero() {
		return s.Started
	}
	return s.Head.Since
}

func agentOf(s registry.Status) string {
	if s.Head.Agent != "" {
		return s.Head.Agent
	}
	return s.Agent
}

// table spells the list for people.
func (v *listVerb) table(e *env, all []registry.Status) []byte {
	t := table{head: []string{"NAME", "STATUS", "ITERATION", "STARTED", "AGENT", "COST", "TOKENS"}}
	if v.All {
		t.head, t.telling = append(t.head, "PROJECT"), true
	}
	now, homes, left, call := e.now(), e.variable("HOME"), leftOvers(all), e.callers(all)
	for _, s := range all {
		cost, tokens := "unknown", "unknown"
		if s.Head.CostKnown {
			cost = render.Cost(&s.Head.Cost)
		}
		if s.Head.TokensKnown {
			tokens = render.Tokens(s.Head.TokensIn + s.Head.TokensOut)
		}
		row := []string{
			call(s), standsAs(s, now, left[s.File]), countOf(s.Head).Short(),
			units.Ago(now.Sub(since(s))), agentOf(s), cost, tokens,
		}
		if v.All {
			row = append(row, tilde(s.Project, homes))
		}
		t.rows = append(t.rows, row)
	}
	look := e.look()
	if look.Color {
		t.paint = paintStatus
	}
	return t.format(look.Width)
}

// standsAs is a loop's status, with a word of what outlived its runner.
func standsAs(s registry.Status, now time.Time, left []process.Stray) string {
	status := statusOf(s, now)
	if len(left) > 0 {
		status += ", its agent lives"
	}
	return status
}

// statusOf is what a person wants to know first.
func statusOf(s registry.Status, now time.Time) string {
	switch {
	case s.Err != nil:
		return "unreadable"
	case s.Gone:
		return "gone"
	case s.Died:
		return "died"
	case s.Head.Status == registry.StatusUnknown && s.Live.Alive:
		return "starting"
	case s.Head.Reason != "":
		return s.Head.Status + " (" + s.Head.Reason + ")"
	case s.Head.Pending != "":
		return s.Head.Pending
	case s.Head.Status == event.StatusWaiting && s.Live.Alive:
		return s.Head.Status + " (" + shortly(s.Head.Waiting, now) + ")"
	}
	return s.Head.Status
}

// shortly says for what a loop waits in as many words as a column has room for: the reason
// that an agent gives for a person is status's to tell.
func shortly(waiting string, now time.Time) string {
	if strings.HasPrefix(waiting, "a person") {
		return "a person"
	}
	what, until, found := strings.Cut(waiting, " until ")
	if at, err := time.Parse(time.RFC3339, until); found && err == nil {
		return what + ", " + render.Span(at.Sub(now))
	}
	return waiting
}

func paintStatus(column int, cell string) string {
	if column != 1 {
		return ""
	}
	word, _, _ := strings.Cut(cell, " ")
	switch strings.TrimSuffix(word, ",") {
	case "running", "starting":
		return "\x1b[32m"
	case "waiting", "paused", "stopping", "pausing":
		return "\x1b[33m"
	case "died", "failed", "gone", "unreadable":
		return "\x1b[31m"
	}
	return "\x1b[2m"
}

// countOf returns the iterations of a loop by the head of its state.json.
func countOf(h registry.Head) units.Count {
	return units.Count{Begun: h.Iteration, Refunded: h.Refunded, Maximum: h.MaximumIterations}
}

func tilde(path, home string) string {
	if home != "" && strings.HasPrefix(path, home+string(os.PathSeparator)) {
		return "~" + path[len(home):]
	}
	return path
}

// table lays rows out in columns of equal width.
type table struct {
	head  []string
	rows  [][]string
	paint func(column int, cell string) (style string)
	// telling says that the last column tells rows apart that have the same name: the end of a path.
	telling bool
}

// columnsKept are never left out, however narrow the terminal is.
const columnsKept = 3

// toldApart is how many columns are left to a column that tells rows apart, before others are left out for it.
const toldApart = 16

// format fits the table into so many columns of a terminal, 0 for any: the last
// column is cut first, then columns are left out from the right; a telling one last of those.
func (t *table) format(width int) []byte {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i := range widths {
			row[i] = render.Clean(row[i])
			widths[i] = max(widths[i], render.Columns(row[i]))
		}
	}
	if t.telling && width > 0 {
		widths = t.makeRoom(widths, width)
	}
	widths = fit(widths, width)
	out := make([]byte, 0, (len(t.rows)+1)*128)
	for n, row := range append([][]string{t.head}, t.rows...) {
		for i, w := range widths {
			cell := t.cut(i, row[i], w)
			blanks := w - render.Columns(cell) + 2
			if style := t.style(n, i, cell); style != "" {
				cell = style + cell + "\x1b[0m"
			}
			out = append(out, cell...)
			for ; blanks > 0 && i < len(widths)-1; blanks-- {
				out = append(out, ' ')
			}
		}
		out = append(out, '\n')
	}
	return out
}

// makeRoom leaves out columns before the last until that one has enough to tell rows apart.
func (t *table) makeRoom(widths []int, width int) []int {
	last := len(widths) - 1
	need := min(widths[last], toldApart)
	for _, w := range widths[:last] {
		need += w + 2
	}
	for ; need > width && last > columnsKept; last-- {
		need -= widths[last-1] + 2
		widths = slices.Delete(widths, last-1, last)
		t.head = slices.Delete(t.head, last-1, last)
		for i, row := range t.rows {
			t.rows[i] = slices.Delete(row, last-1, last)
		}
	}
	return widths
}

// cut shortens a cell: of a path that tells rows apart the end is what differs.
func (t *table) cut(column int, cell string, width int) string {
	if t.telling && column == len(t.head)-1 && render.Columns(cell) > width {
		return "…" + ending(cell, width-1)
	}
	return render.Cut(cell, width)
}

func (t *table) style(row, column int, cell string) string {
	switch {
	case t.paint == nil:
		return ""
	case row == 0:
		return "\x1b[2m"
	}
	return t.paint(column, cell)
}

func fit(widths []int, width int) []int {
	const narrowest = 8
	total := func() (n int) {
		for _, w := range widths {
			n += w + 2
		}
		return n - 2
	}
	for width > 0 && total() > width {
		last := len(widths) - 1
		if room := widths[last] - (total() - width); room >= narrowest || last < columnsKept {
			widths[last] = max(room, 1)
			break
		}
		widths = widths[:last]
	}
	return widths
}

// openState returns a loop's state and whether its runner lives.
func openState(s registry.Status) (projector.State, error) {
	state, err := projector.Open(s.Dir)
	if err == nil && !state.Begun() && !s.Live.Alive {
		err = unbegun(s.Name, s.Head)
	}
	return state, err
}

// unbegun is the error of a loop whose journal says nothing: it never began, or its journal is gone and the head of
// state.json is all that is left.
func unbegun(name string, head registry.Head) error {
	if head.Ended() {
		return &failure{
			err:  fmt.Errorf("loop %s has %s (%s), and its journal is gone", name, head.Status, head.Reason),
			hint: fmt.Sprintf("put its files back from a copy, or begin it again with 'ralph start %s'", name),
			code: event.ExitFailed,
		}
	}
	return refuse(fmt.Sprintf("'ralph start %s' begins it", name), "loop %s has not begun", name)
}
