package reading

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// Kind is a kind of items.
type Kind string

// The kinds in their order.
const (
	Untried  Kind = "guardrail" // one that could not be tried
	Survivor Kind = "survivor"  // a mutant that no guardrail noticed
	Fact     Kind = "fact"      // something that looks like gaming
	File     Kind = "file"      // a changed file that carries a risk
	Rest     Kind = "rest"      // all other changed files
)

// Title says what items of a kind are.
func (k Kind) Title() string {
	return map[Kind]string{
		Untried: "Guardrails that could not be tried", Survivor: "Changes that no guardrail notices", Fact: "What looks like gaming",
		File: "Files by risk", Rest: "The rest",
	}[k]
}

// Item is one thing to read. Its texts are clean.
type Item struct {
	ID      string   `json:"id"` // a digest of what is read
	Kind    Kind     `json:"kind"`
	File    string   `json:"file,omitempty"` // from the root of the repository, with slashes
	Line    int      `json:"line,omitempty"`
	Reasons []string `json:"reasons"`
	Added   int      `json:"added,omitempty"` // lines
	Removed int      `json:"removed,omitempty"`
	Files   []string `json:"files,omitempty"`   // of the rest, each with its counts of lines
	Diff    string   `json:"diff,omitempty"`    // its beginning
	Command string   `json:"command,omitempty"` // that shows it

	paths []string // as they are on the disk

	Decision
	// Again says that it was approved or sent back, and has changed since.
	Again bool `json:"changedSince,omitempty"`
}

// Place names where an item is.
func (i *Item) Place() string {
	switch {
	case i.Kind == Rest:
		return units.Quantity(len(i.Files), "other file")
	case i.Kind == Untried:
		return "a guardrail"
	case i.Line > 0:
		return fmt.Sprintf("%s:%d", i.File, i.Line)
	}
	return i.File
}

// Open reports whether a person has still to decide about it.
func (i *Item) Open() bool { return i.State == "" }

// List is what a person has to read.
type List struct {
	Items []Item `json:"items"`
	// Unknown is why it is not known which files changed; empty if it is.
	Unknown string `json:"unknown,omitempty"`
	// Compared says with what the files before the loop were compared.
	Compared string `json:"compared,omitempty"`
	projector.Reviewed
}

// Item returns the item whose id begins with a word; nil if there is none, or several.
func (l *List) Item(id string) (found *Item) {
	for i := range l.Items {
		if item := &l.Items[i]; len(id) >= shortestID && strings.HasPrefix(item.ID, id) {
			if found != nil {
				return nil
			}
			found = item
		}
	}
	return found
}

// OfFile returns the item of a file that changed, by its path or as the list shows it, and the
// path; an item of its own for one of the rest; nil if there is none, or if several are shown so.
func (l *List) OfFile(file string) (found *Item, path string) {
	shownSo := 0
	for i := range l.Items {
		for _, at := range l.Items[i].paths {
			if at == file {
				return l.Items[i].of(at), at
			}
			if render.Clean(at) == file {
				found, path = l.Items[i].of(at), at
				shownSo++
			}
		}
	}
	if shownSo != 1 {
		return nil, ""
	}
	return found, path
}

// of is the item of one of its files.
func (i *Item) of(path string) *Item {
	if i.Kind == Rest {
		return &Item{ID: digest(File, i.ID, path), Kind: File, File: render.Clean(path)}
	}
	return i
}

// Path returns where the file of an item is; empty if it has several.
func (i *Item) Path() string {
	switch {
	case i.Kind == Rest:
		return ""
	case len(i.paths) == 1:
		return i.paths[0]
	}
	return i.File
}

// shortestID is how many digits of an id a person has to type.
const shortestID = 4

// Group are the items of one kind.
type Group struct {
	Title string
	Kind  Kind
	Items []Item
}

// Groups are the kinds that the list has, in their order. Rolled back files are among the files.
func (l *List) Groups() (all []Group) {
	for _, kind := range []Kind{Untried, Survivor, Fact, File, Rest} {
		g := Group{Title: kind.Title(), Kind: kind}
		for _, item := range l.Items {
			if item.Kind == kind {
				g.Items = append(g.Items, item)
			}
		}
		if len(g.Items) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// WithoutFiles returns the list without the lines of the files: those of the project may have what
// a page for others must not show.
func (l *List) WithoutFiles() *List {
	short := *l
	short.Items = slices.Clone(l.Items)
	for i := range short.Items {
		if item := &short.Items[i]; item.Kind != Survivor && item.Kind != Untried {
			item.Diff = ""
		}
	}
	return &short
}

// DiffLine is a line of a difference. Its class is added, removed or kept.
type DiffLine struct{ Class, Text string }

// Lines are the lines of the difference.
func (i *Item) Lines() (all []DiffLine) {
	if i.Diff == "" {
		return nil
	}
	for text := range strings.SplitSeq(i.Diff, "\n") {
		class := "kept"
		switch {
		case strings.HasPrefix(text, "+"):
			class = "added"
		case strings.HasPrefix(text, "-"):
			class = "removed"
		}
		all = append(all, DiffLine{class, text})
	}
	return all
}

// Why are the reasons in one line, with what was decided.
func (i *Item) Why() string {
	text := strings.Join(i.Reasons, "; ")
	if i.Again {
		text += "; it has changed since it was read"
	}
	if i.State != "" {
		text += " (" + string(i.State) + ")"
	}
	return text
}

// Bounds of a list.
const (
	diffsKept     = 4 << 20 // bytes of all differences
	survivorsKept = 100
	factsKept     = 200
	filesKept     = 2000
	reasonKept    = 300 // bytes
)

// New returns what a person has to read of a loop, which they call name. The strength may be nil.
func New(name string, s *event.Strength, changes []Change, unknown string) List {
	l := List{Items: []Item{}, Unknown: render.Clean(unknown)}
	if s != nil {
		for _, g := range s.Guardrails {
			if g.Verdict == event.BrokenControl {
				l.Items = append(l.Items, untried(g))
			}
		}
		for _, m := range s.Survivors[:min(len(s.Survivors), survivorsKept)] {
			l.Items = append(l.Items, survivor(m))
		}
		for _, f := range s.Facts[:min(len(s.Facts), factsKept)] {
			l.Items = append(l.Items, fact(f))
		}
	}
	l.Items = append(l.Items, files(changes)...)
	known := map[string]bool{}
	l.Items = slices.DeleteFunc(l.Items, func(item Item) bool { // what is said twice is one item
		said := known[item.ID]
		known[item.ID] = true
		return said
	})
	size := 0
	for i := range l.Items {
		item := &l.Items[i]
		if size += len(item.Diff); size > diffsKept {
			item.Diff = "…"
		}
		item.Command = "ralph diff " + name
		if item.File != "" {
			item.Command += " " + quoted(item.File)
		}
	}
	l.count()
	return l
}

func (l *List) count() {
	l.Reviewed = projector.Reviewed{Total: len(l.Items), FilesUnknown: l.Unknown != ""}
	for i := range l.Items {
		if !l.Items[i].Open() {
			l.Decided++
		}
	}
}

func untried(g event.GuardrailProof) Item {
	item := Item{
		ID: digest(Untried, g.Command, g.Output), Kind: Untried,
		Reasons: []string{units.Cut(render.Clean(g.Command), reasonKept) + " fails in a fresh work tree of the claimed state"},
		Diff:    string(render.CleanText(g.Output)),
	}
	if g.Log != "" {
		item.Reasons = append(item.Reasons, "all that it printed: "+render.Clean(g.Log))
	}
	return item
}

func survivor(m event.Mutant) Item {
	var diff []string
	for _, part := range []struct{ sign, text string }{{"-", m.Was}, {"+", m.Now}} {
		if part.text == "" {
			continue
		}
		for line := range strings.SplitSeq(part.text, "\n") {
			diff = append(diff, part.sign+string(render.CleanText(bounded(line))))
		}
	}
	return Item{
		ID: digest(Survivor, m.File, m.Line, m.Operator, m.Was, m.Now), Kind: Survivor, File: render.Clean(m.File), Line: m.Line,
		Reasons: []string{"all guardrails pass with this change (" + render.Clean(m.Operator) + ")"}, Diff: strings.Join(diff, "\n"),
	}
}

func fact(f event.GamingFact) Item {
	return Item{
		ID: digest(Fact, f.Kind, f.File, f.Line, f.Text), Kind: Fact, File: render.Clean(f.File), Line: f.Line,
		Reasons: []string{units.Cut(render.Clean(f.Text), reasonKept)},
	}
}

// files are the files with a risk, the most severe first, and one item for all others.
func files(changes []Change) []Item {
	type ranked struct {
		*Change
		risks []Risk
	}
	var risky []ranked
	rest := Item{Kind: Rest, Reasons: []string{"no risk is known of them"}}
	var parts []any
	tests := testsAmong(changes)
	for i := range changes {
		c := &changes[i]
		if risks := c.risks(tests); len(risks) > 0 && len(risky) < filesKept {
			risky = append(risky, ranked{c, risks})
			continue
		}
		rest.paths = append(rest.paths, c.Path)
		rest.Files = append(rest.Files, fmt.Sprintf("%s +%d −%d", render.Clean(c.Path), c.Added, c.Removed))
		rest.Added, rest.Removed = rest.Added+c.Added, rest.Removed+c.Removed
		parts = append(parts, c.header)
		switch {
		case len(rest.Diff) < diffKept:
			rest.Diff += render.Clean(c.Path) + "\n" + c.Diff + "\n"
		case !strings.HasSuffix(rest.Diff, cutOff):
			rest.Diff += cutOff
		}
	}
	slices.SortStableFunc(risky, func(a, b ranked) int {
		return cmp.Or(compareRisks(a.risks, b.risks), (b.Added+b.Removed)-(a.Added+a.Removed), strings.Compare(a.Path, b.Path))
	})
	var items []Item
	for _, r := range risky {
		item := Item{
			ID: digest(File, r.header), Kind: File, File: render.Clean(r.Path), Added: r.Added, Removed: r.Removed, Diff: r.Diff,
			paths: []string{r.Path},
		}
		for _, risk := range r.risks {
			item.Reasons = append(item.Reasons, risk.String())
		}
		items = append(items, item)
	}
	if len(rest.Files) > 0 {
		rest.ID = digest(append([]any{Rest}, parts...)...)
		rest.Diff = strings.TrimSuffix(rest.Diff, "\n")
		rest.Files = rest.Files[:min(len(rest.Files), filesKept)]
		items = append(items, rest)
	}
	return items
}

// cutOff ends the difference of the rest where more files follow.
const cutOff = "… and more files\n"

// compareRisks orders files: that with the more severe risk first, then that with more of them.
func compareRisks(a, b []Risk) int {
	for i := range min(len(a), len(b)) {
		if a[i].rank != b[i].rank {
			return a[i].rank - b[i].rank
		}
	}
	return len(b) - len(a)
}

// quoted is a path as a word of a command line.
func quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-+@%:") == "" && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
