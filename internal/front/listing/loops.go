package listing

import (
	"cmp"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/projector"
)

// Loop is one loop as the board shows it. Its view is that of a list.
type Loop struct {
	*projector.View

	Here bool   // of the project of the current folder
	Path string // of its project, short
	// Today is what it has cost since midnight, in USD; nil if that is not known.
	Today *float64
	Facts *Facts // nil if they were not read

	Listed projector.Group // the group in which it is listed, with the loops around it and within it
	Depth  int             // how many loops it is within
}

// Facts are what a list does not say. They are read for the loops on the screen only.
type Facts struct {
	Text string // what it asks, does, or why it ended; clean, in lines
	Hint string // the next step for a person; clean, in one line
	// Asked is the question that Text is; its number is 0 if it is none.
	Asked projector.Question
	// Since is when it began to wait, to pause, or to do what Text says; zero if it is not known.
	Since time.Time
	projector.Resumption
}

// Snapshot is what all loops were at a moment.
type Snapshot struct {
	At    time.Time
	Loops []Loop // in the order of the board
}

// SortLoops puts loops that need a person first, then those that work, then those that ended. In a
// group, those of this project come first, and those of each other host together. What ended last
// is the first of its group; others keep their place as long as they are in it, and the one that
// began last is the first. Loops within another one, such as those of a fleet, come right after it,
// in the group of the most urgent one.
func SortLoops(loops []Loop) {
	slices.SortStableFunc(loops, func(a, b Loop) int {
		return cmp.Or(
			a.Group.Compare(b.Group),
			-cmp.Compare(number(a.Here), number(b.Here)),
			cmp.Compare(a.Remote, b.Remote),
			moment(&b).Compare(moment(&a)),
		)
	})
	alone := slices.Clone(loops) // in that order
	byID, within, placed := map[string]int{}, map[string][]int{}, map[int]bool{}
	for i, l := range alone {
		if l.ID != "" && l.Parent != l.ID {
			byID[l.on(l.ID)] = i
			within[l.on(l.Parent)] = append(within[l.on(l.Parent)], i)
		}
	}
	loops = loops[:0]
	var place func(i int, group projector.Group, depth int)
	place = func(i int, group projector.Group, depth int) {
		if placed[i] {
			return
		}
		placed[i] = true
		l := alone[i]
		l.Listed, l.Depth = group, depth
		if loops = append(loops, l); l.ID == "" {
			return
		}
		for _, inner := range within[l.on(l.ID)] {
			place(inner, group, depth+1)
		}
	}
	for i, l := range alone {
		top := i
		for range alone { // an entry that was edited may name itself as its parent's parent
			outer, found := byID[alone[top].on(alone[top].Parent)]
			if !found || placed[outer] {
				break
			}
			top = outer
		}
		place(top, l.Group, 0)
		place(i, l.Group, 0)
	}
}

// on is an id among the loops of the same machine: a loop that was moved is on two.
func (l *Loop) on(id string) string { return l.Remote + ":" + id }

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func moment(l *Loop) time.Time {
	if l.Group == projector.Over && !l.At.IsZero() {
		return l.At
	}
	return l.Started
}
