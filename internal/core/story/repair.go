package story

import (
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// Repair returns the tasks.json that is valid after an iteration of this mode: what the agent left,
// with the changes that [Judge] reports undone. found is nil if the file is gone; before is the
// file from before the iteration. The mode must be one of the three.
//
// Undone are: changes of the review fields, story by story; stories that vanished; changes of
// verifyCommands; and stories that are not in the form that [Parse] needs, as far as that is enough
// to make the file valid. Else the file of before is restored, as it is for a file that is gone.
// Everything else that the agent wrote stays, byte by byte. A review that requests changes at the
// cap becomes an approval; that is no problem, see [Reviewed].
//
// What is returned has the form that Parse needs, and Judge finds nothing in it but a review that
// is missing. If before is itself not valid, nothing is undone, and the problems are those of
// found.
func Repair(found, before []byte, mode event.StoryMode, r Rules) (data []byte, problems []event.StoryProblem, restored bool) {
	b, wrong := read(before)
	if len(wrong) > 0 {
		if found == nil {
			return before, wrong, true
		}
		_, problems = Parse(found)
		return found, problems, false
	}
	if found == nil {
		return before, []event.StoryProblem{{Text: "tasks.json was gone; ralph wrote it again as it was before the iteration", Undone: true}}, true
	}
	p := repair{before: b, data: found, mode: mode, rules: r}
	if !p.run() {
		return before, bounded(p.problems), true
	}
	return p.data, bounded(p.problems), false
}

// A repair is the work on one file.
type repair struct {
	before   *file
	data     []byte // the file so far
	mode     event.StoryMode
	rules    Rules
	problems []event.StoryProblem
}

// run reports whether the file could be made valid.
func (p *repair) run() bool {
	if !p.form() {
		return p.giveUp()
	}
	p.commands()
	p.moves()
	p.atCap()
	if _, wrong := Parse(p.data); len(wrong) > 0 {
		p.add(wrong...)
		return p.giveUp()
	}
	return true
}

// giveUp marks all problems as undone, because the file of before is restored.
func (p *repair) giveUp() bool {
	for i := range p.problems {
		p.problems[i].Undone = true
	}
	last := event.StoryProblem{Text: "ralph restored tasks.json as it was before the iteration", Undone: true}
	p.problems = append([]event.StoryProblem{last}, p.problems...)
	return false
}

// add adds problems, each once.
func (p *repair) add(problems ...event.StoryProblem) {
	for _, x := range problems {
		if !slices.ContainsFunc(p.problems, func(y event.StoryProblem) bool { return x.Text == y.Text }) {
			p.problems = append(p.problems, x)
		}
	}
}

// commands puts verifyCommands back.
func (p *repair) commands() {
	f, _ := read(p.data)
	if slices.Equal(f.list.VerifyCommands, p.before.list.VerifyCommands) {
		return
	}
	const name = "verifyCommands"
	e := edits{data: p.data}
	if m, ok := p.before.top.get(name); ok {
		e.set(&f.top, name, m.value.of(p.before.data))
	} else {
		e.remove(&f.top, name)
	}
	p.data = e.apply()
	p.problems = append(p.problems, event.StoryProblem{Field: name, Undone: true,
		Text: "tasks.json, field verifyCommands: the commands were changed, but they are the person's; write in progress.txt what is wrong with them"})
}

// moves puts back what judge finds.
func (p *repair) moves() {
	f, _ := read(p.data)
	remedies := map[string]remedy{}
	for _, x := range judge(p.before.list.States(), f.list, p.mode, p.rules) {
		if x.remedy == nothing {
			if !p.concerns(x.Story) {
				p.add(x.StoryProblem)
			}
			continue
		}
		x.Undone = true
		p.problems = append(p.problems, x.StoryProblem)
		if remedies[x.Story] != restore {
			remedies[x.Story] = x.remedy
		}
	}
	e := edits{data: p.data}
	for id, by := range remedies {
		if by == clearFeedback {
			e.set(f.find(id), "reviewFeedback", []byte(`""`))
		} else {
			p.reset(&e, f, id)
		}
	}
	p.data = e.apply()
}

// concerns reports whether a problem of the story is known.
func (p *repair) concerns(id string) bool {
	return slices.ContainsFunc(p.problems, func(x event.StoryProblem) bool { return x.Story == id })
}

// reviewFields are those that only a review and ralph may change as they like.
var reviewFields = []string{"passes", "reviewStatus", "reviewCount", "reviewFeedback"}

// reset puts the review fields of a story back, those of a new one to the start.
func (p *repair) reset(e *edits, f *file, id string) {
	o := f.find(id)
	was := p.before.find(id)
	if was == nil {
		e.set(o, "passes", []byte("false"))
		e.set(o, "reviewStatus", []byte("null"))
		e.set(o, "reviewCount", []byte("0"))
		return
	}
	for _, name := range reviewFields {
		m, _ := was.get(name)
		e.set(o, name, m.value.of(p.before.data))
	}
}

// find returns the story with an id, or nil.
func (f *file) find(id string) *object {
	i, ok := f.place[id]
	if !ok {
		return nil
	}
	return &f.stories[i]
}
