package story

import (
	"maps"
	"slices"
)

// maxPasses is how often form tries: what one pass puts back can contradict what the agent left.
const maxPasses = 6

// form makes the file one that Parse accepts; false if it cannot. The first pass puts fields back,
// later ones stories, and takes new stories out that are not in the form.
func (p *repair) form() bool {
	for pass := range maxPasses {
		f, wrong := read(p.data)
		if f == nil || len(f.stories) == 0 {
			p.add(wrong...)
			return false
		}
		if pass == 0 && p.bringBack(f) {
			continue
		}
		if len(wrong) == 0 {
			return true
		}
		for i := range wrong {
			wrong[i].Undone = true
		}
		p.add(wrong...)
		if _, twice := f.top.twice(); twice {
			return false
		}
		p.data = p.header(f)
		f, _ = read(p.data)
		p.data = p.stories(f, pass > 1)
	}
	return false
}

// bringBack inserts the stories that vanished, each after the one that it followed; false if none
// did.
func (p *repair) bringBack(f *file) bool {
	gone := map[string]bool{}
	for _, x := range vanished(p.before.list.States(), f.list) {
		gone[x.Story] = true
		x.Undone = true
		p.add(x.StoryProblem)
	}
	if len(gone) == 0 {
		return false
	}
	follow := map[string][]item{} // stories that come back, by the story before them
	previous := ""
	for i := range p.before.list.Stories {
		id := p.before.list.Stories[i].ID
		if gone[id] {
			follow[previous] = append(follow[previous], item{-1, p.before.stories[i].at.of(p.before.data)})
		} else {
			previous = id
		}
	}
	items := follow[""]
	for i := range f.list.Stories {
		items = append(items, item{index: i})
		if id := f.list.Stories[i].ID; f.place[id] == i {
			items = append(items, follow[id]...)
		}
	}
	p.data = f.rearrange(items)
	return true
}

// header puts the wrong fields beside the stories back.
func (p *repair) header(f *file) []byte {
	e := edits{data: p.data}
	p.fields(&e, &f.top, &p.before.top, f.wrong[-1])
	return e.apply()
}

// fields gives members of an object the values that they had.
func (p *repair) fields(e *edits, o, was *object, names []string) {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if m, ok := was.get(name); ok {
			e.set(o, name, m.value.of(p.before.data))
		} else {
			e.remove(o, name)
		}
	}
}

// stories puts back the stories of f that have a problem: their wrong fields, or if complete is
// true all of them. New ones and second ones of an id are taken out.
func (p *repair) stories(f *file, complete bool) []byte {
	indexes := slices.Sorted(maps.Keys(f.wrong))
	e := edits{data: f.data}
	out := map[int]bool{}
	for _, i := range indexes {
		if i < 0 {
			continue
		}
		id := f.list.Stories[i].ID
		was := p.before.find(id)
		if _, twice := f.stories[i].twice(); was != nil && f.place[id] == i && !complete && !twice {
			p.fields(&e, &f.stories[i], was, f.wrong[i])
			continue
		}
		if was != nil && f.place[id] == i {
			e.replace(f.stories[i].at, was.at.of(p.before.data))
			continue
		}
		out[i] = true
	}
	if len(out) == 0 {
		return e.apply()
	}
	var items []item
	for i := range f.stories {
		if !out[i] {
			items = append(items, item{index: i})
		}
	}
	return f.rearrange(items)
}
