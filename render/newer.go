package render

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Newer counts the events of types that this version does not know: a newer ralph wrote them. The
// zero value has none.
type Newer struct {
	Events int      `json:"events"`
	Types  []string `json:"types"` // clean, each once, the first typesKept of them
	others bool     // there are more types
}

// A journal may have any number of types, and their names any length.
const (
	typesKept    = 8
	typeNameMost = 60
)

// Add counts an event.
func (n *Newer) Add(t event.Type) {
	n.Events++
	name := units.Cut(Clean(string(t)), typeNameMost)
	switch {
	case slices.Contains(n.Types, name):
	case len(n.Types) < typesKept:
		n.Types = append(slices.Clip(n.Types), name)
	default:
		n.others = true
	}
}

// Since says which type is new in comparison with an earlier state: each is named once, and then
// only that there are more. It is empty if none is.
func (n Newer) Since(before Newer) string {
	name := "of more types"
	switch {
	case len(n.Types) > len(before.Types):
		name = n.Types[len(n.Types)-1]
	case n.others == before.others:
		return ""
	}
	return "events of a newer ralph are not shown: " + name + "; 'ralph logs' has them"
}

// String says what is not shown: "2 events of a newer ralph are not shown: a.b, a.c".
func (n Newer) String() string {
	text := units.Quantity(n.Events, "event") + " of a newer ralph are not shown: "
	if n.Events == 1 {
		text = "1 event of a newer ralph is not shown: "
	}
	text += strings.Join(n.Types, ", ")
	if n.others {
		text += " and others"
	}
	return text
}
