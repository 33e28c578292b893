package conversation

import (
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/transcript"
)

// height is how many lines an item takes, with the empty line after it.
func (v *View) height(i int) int {
	n := len(v.lines(i))
	if v.gap(i) {
		n++
	}
	return n
}

// gap reports whether an empty line separates an item from the next one that has lines.
func (v *View) gap(i int) bool {
	if len(v.lines(i)) == 0 {
		return false
	}
	for next := i + 1; next < len(v.items); next++ {
		if len(v.lines(next)) > 0 {
			return apart(v.items[i].Body, v.items[next].Body)
		}
	}
	return false
}

// back returns the place that is so many lines before another, at most the beginning.
func (v *View) back(at place, lines int) place {
	at.line -= lines
	for at.line < 0 && at.item > 0 {
		at.item--
		at.line += v.height(at.item)
	}
	at.line = max(at.line, 0)
	return at
}

// forth returns the place that is so many lines after another, and false if there is none.
func (v *View) forth(at place, lines int) (place, bool) {
	at.line += lines
	for at.item < len(v.items) {
		h := v.height(at.item)
		if at.line < h {
			return at, true
		}
		at.line -= h
		at.item++
	}
	return at, false
}

// end is the first line when the last line is at the bottom.
func (v *View) end() place { return v.back(place{item: len(v.items)}, v.rows) }

// first is the first line that is shown. It turns to following where the end is shown.
func (v *View) first() place {
	if !v.follow {
		if v.top.item >= len(v.items) {
			v.top = place{item: max(len(v.items)-1, 0)}
		}
		if len(v.items) > 0 { // the item may have become shorter
			v.top.line = max(min(v.top.line, v.height(v.top.item)-1), 0)
		}
		if _, more := v.forth(v.top, v.rows-1); more {
			return v.top
		}
	}
	return v.end()
}

// settle makes the place of the first line explicit, so that the view does not follow the end.
func (v *View) settle() {
	if v.follow {
		v.top, v.follow = v.end(), false
	}
}

// Scroll moves the view by so many lines, up if negative.
func (v *View) Scroll(lines int) {
	v.top = v.first()
	if lines < 0 {
		if top := v.back(v.top, -lines); top != v.top {
			v.top, v.follow = top, false
		}
		return
	}
	top, _ := v.forth(v.top, lines)
	v.top = top
	if _, more := v.forth(top, v.rows); !more {
		v.follow = true
	}
}

// ToStart shows the first line.
func (v *View) ToStart() { v.top, v.follow = place{}, false }

// ToEnd shows the last line, and follows what is added.
func (v *View) ToEnd() { v.follow = true }

// AtStart reports whether the first line is shown.
func (v *View) AtStart() bool { return v.first() == place{} }

// AtEnd reports whether the last line is shown, and will be.
func (v *View) AtEnd() bool { return v.follow }

// Lines returns what is shown, at most so many lines as there are rows, none of them wider than the
// columns. now is for durations of what runs.
func (v *View) Lines(now time.Time) []string {
	v.now = now
	lines := make([]string, 0, v.rows)
	at := v.first()
	for i := at.item; i < len(v.items) && len(lines) < v.rows; i++ {
		laid := v.lines(i)
		for y := at.line; y < len(laid) && len(lines) < v.rows; y++ {
			lines = append(lines, v.draw(laid[y], v.items[i].Seq == v.selected))
		}
		if v.gap(i) && len(lines) < v.rows {
			lines = append(lines, "")
		}
		at.line = 0
	}
	v.forget(at.item)
	return lines
}

// laidMost is how many items keep their lines. Beyond that those that are far from the screen lose
// them.
const laidMost = 1000

func (v *View) forget(near int) {
	if v.laid <= laidMost {
		return
	}
	v.laid = 0
	for i, it := range v.items {
		switch {
		case i < near-laidMost/4 || i > near+laidMost/4:
			it.drop()
		case it.laid != nil:
			v.laid++
		}
	}
}

// show moves the view as little as possible, so that an item is shown from its first line on.
func (v *View) show(i int) {
	top := v.first()
	at := place{item: i}
	if i < top.item || i == top.item && top.line > 0 {
		v.top, v.follow = at, false
		return
	}
	// Lines from the top to the end of the item, as far as they matter.
	used := v.height(i)
	for j := i - 1; j >= top.item && used <= 2*v.rows; j-- {
		used += v.height(j)
	}
	if used -= top.line; used <= v.rows {
		return
	}
	v.follow = false
	if v.top = v.back(place{item: i + 1}, v.rows); v.top.item >= i {
		v.top = at
	}
}

// Select moves the selection by so many entries, up if negative, and shows it. Without a selection
// a step of one selects the last entry that is shown.
func (v *View) Select(by int) {
	at, found := v.index(v.selected)
	switch {
	case len(v.items) == 0:
		return
	case v.selected == 0 || !found:
		last, more := v.forth(v.first(), max(v.rows-1, 0))
		if at = last.item; !more {
			at = len(v.items) - 1
		}
		if by >= -1 && by <= 1 {
			by = 0
		}
	}
	step := 1
	if by < 0 {
		step = -1
	}
	at = min(max(at+by, 0), len(v.items)-1)
	// An entry without lines cannot be seen.
	for len(v.lines(at)) == 0 && at+step >= 0 && at+step < len(v.items) {
		at += step
	}
	for len(v.lines(at)) == 0 && at-step >= 0 && at-step < len(v.items) {
		at -= step
	}
	v.choose(at)
	if at == len(v.items)-1 && step > 0 {
		v.follow = true
	}
}

func (v *View) choose(at int) {
	v.settle()
	v.selected = v.items[at].Seq
	v.show(at)
}

// Reselect moves a selection that is not shown any more to the nearest entry that is.
func (v *View) Reselect() {
	at, found := v.index(v.selected)
	if v.selected == 0 || !found {
		return
	}
	top := v.first()
	bottom, more := v.forth(top, max(v.rows-1, 0))
	if !more {
		bottom.item = len(v.items) - 1
	}
	step := 1
	if at > bottom.item {
		step = -1
	}
	for at = min(max(at, top.item), bottom.item); len(v.lines(at)) == 0 && at+step >= top.item && at+step <= bottom.item; {
		at += step
	}
	v.selected = v.items[at].Seq
}

// Deselect removes the selection.
func (v *View) Deselect() { v.selected = 0 }

// Find selects and shows the next entry, or the one before, that matches. It begins after the
// selection, or at the end of what is shown, and reports whether there is one.
func (v *View) Find(forward bool, match func(transcript.Entry) bool) bool {
	at, found := v.index(v.selected)
	if v.selected == 0 || !found {
		at = v.first().item
		if !forward {
			last, more := v.forth(v.first(), v.rows)
			if at = last.item + 1; !more {
				at = len(v.items)
			}
		} else {
			at--
		}
	}
	step := 1
	if !forward {
		step = -1
	}
	for i := at + step; i >= 0 && i < len(v.items); i += step {
		if match(v.items[i].Entry) {
			v.choose(i)
			return true
		}
	}
	return false
}

// JumpTo selects and shows an entry at the top, and reports whether it is there.
func (v *View) JumpTo(seq event.Seq) bool {
	at, found := v.index(seq)
	if !found {
		return false
	}
	v.selected = seq
	v.top, v.follow = place{item: at}, false
	return true
}
