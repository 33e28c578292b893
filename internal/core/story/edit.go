package story

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// edits are changes of a file. All other bytes stay as they are.
type edits struct {
	data []byte
	list []edit
}

// An edit replaces a part of a file. One that overlaps an earlier one is left out.
type edit struct {
	at   span
	text []byte
}

func (e *edits) replace(at span, text []byte) {
	if !bytes.Equal(at.of(e.data), text) {
		e.list = append(e.list, edit{at, text})
	}
}

// set gives a member of an object a value. A new member follows the last one.
func (e *edits) set(o *object, name string, value []byte) {
	if m, ok := o.get(name); ok {
		e.replace(m.value, value)
		return
	}
	text := append(jsonscan.AppendString(nil, name), ": "...)
	text = append(text, value...)
	if len(o.members) == 0 {
		e.list = append(e.list, edit{span{o.at.from + 1, o.at.from + 1}, text})
		return
	}
	last := o.members[len(o.members)-1]
	lead := last.key.from
	for lead > 0 && strings.IndexByte(spaces, e.data[lead-1]) >= 0 {
		lead--
	}
	end := last.value.to
	e.list = append(e.list, edit{span{end, end}, slices.Concat([]byte(","), e.data[lead:last.key.from], text)})
}

// remove takes a member out of an object, with its comma.
func (e *edits) remove(o *object, name string) {
	for i, m := range o.members {
		switch {
		case m.name != name:
			continue
		case i > 0:
			e.list = append(e.list, edit{span{o.members[i-1].value.to, m.value.to}, nil})
		case len(o.members) > 1:
			e.list = append(e.list, edit{span{m.key.from, o.members[1].key.from}, nil})
		default:
			e.list = append(e.list, edit{span{m.key.from, m.value.to}, nil})
		}
		return
	}
}

// apply returns the changed file.
func (e *edits) apply() []byte {
	if len(e.list) == 0 {
		return e.data
	}
	slices.SortStableFunc(e.list, func(a, b edit) int { return a.at.from - b.at.from })
	var out []byte
	at := 0
	for _, change := range e.list {
		if change.at.from < at {
			continue
		}
		out = append(out, e.data[at:change.at.from]...)
		out = append(out, change.text...)
		at = change.at.to
	}
	return append(out, e.data[at:]...)
}

// An item of a new userStories: a story of the file by its index, or with -1 another text.
type item struct {
	index int
	text  []byte
}

// rearrange returns the file with these stories. White space around those that it had stays, and
// new ones are indented like them.
func (f *file) rearrange(items []item) []byte {
	last := len(f.stories) - 1
	out := append([]byte{}, f.data[:f.array.from+1]...)
	for k, it := range items {
		text, after := it.text, []byte(nil)
		if it.index >= 0 {
			at := f.stories[it.index].at
			text = at.of(f.data)
			if it.index < last {
				after = f.data[at.to:f.comma(it.index)]
			}
		}
		out = append(out, f.lead(it.index)...)
		out = append(out, text...)
		if k < len(items)-1 {
			out = append(append(out, after...), ',')
		}
	}
	return append(out, f.data[f.stories[last].at.to:]...)
}

// comma returns where the comma after a story is that is not the last.
func (f *file) comma(i int) int { return skipSpace(f.data, f.stories[i].at.to) }

// lead is the white space before a story; -1 is a new one.
func (f *file) lead(i int) []byte {
	if i < 0 {
		i = min(1, len(f.stories)-1)
	}
	from := f.array.from + 1
	if i > 0 {
		from = f.comma(i-1) + 1
	}
	return f.data[from:f.stories[i].at.from]
}
