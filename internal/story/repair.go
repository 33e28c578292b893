package story

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// CapPrefix begins the feedback of a story that ralph approved because it was reviewed as often as
// the settings allow.
const CapPrefix = "[AUTO-APPROVED AT CAP]"

// Repair returns the tasks.json that is valid after an iteration of this mode: what the agent left,
// with the changes that [Judge] reports undone. found is nil if the file is gone; before is the
// file from before the iteration.
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
		return before, p.problems, true
	}
	return p.data, p.problems, false
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
		p.problems = append(p.problems, wrong...)
		return p.giveUp()
	}
	return true
}

// giveUp marks all problems as undone, because the file of before is restored.
func (p *repair) giveUp() bool {
	for i := range p.problems {
		p.problems[i].Undone = true
	}
	p.problems = append(p.problems, event.StoryProblem{
		Text: "ralph restored tasks.json as it was before the iteration, because it could not be read", Undone: true})
	return false
}

// form makes the file one that Parse accepts; false if it cannot.
func (p *repair) form() bool {
	f, wrong := read(p.data)
	p.problems = append(p.problems, wrong...)
	return f != nil && len(wrong) == 0
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
	states := p.before.list.States()
	findings := judge(states, f.list, p.mode, p.rules)
	e := edits{data: p.data}
	gone := map[string]bool{}
	reset := map[string]bool{}
	for _, x := range findings {
		x.Undone = x.remedy != nothing
		p.problems = append(p.problems, x.StoryProblem)
		switch x.remedy {
		case restoreStory:
			gone[x.Story] = true
		case restoreFields:
			reset[x.Story] = true
		case clearFeedback:
			if !reset[x.Story] {
				e.set(f.find(x.Story), "reviewFeedback", []byte(`""`))
			}
		}
	}
	for id := range reset {
		p.reset(&e, f, id)
	}
	p.data = e.apply()
	if len(gone) > 0 {
		p.bringBack(gone)
	}
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
	for i := range f.list.Stories {
		if f.list.Stories[i].ID == id {
			return &f.stories[i]
		}
	}
	return nil
}

// bringBack inserts stories of before, each after the one that it followed.
func (p *repair) bringBack(gone map[string]bool) {
	f, _ := read(p.data)
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
		items = append(items, follow[f.list.Stories[i].ID]...)
	}
	p.data = f.rearrange(items)
}

// atCap approves a story that a review has just sent back for the last time.
func (p *repair) atCap() {
	if p.mode != event.ModeReview || p.rules.SkipReview {
		return
	}
	l, _ := Parse(p.data)
	v, ok := Reviewed(p.before.list.States(), l, p.rules)
	if !ok || v.Approved || v.Count < p.rules.Cap {
		return
	}
	s := l.Find(v.Story)
	p.data = set(p.data, v.Story, Review{Passes: true, Status: event.StoryApproved, Count: v.Count, Feedback: prefixed(s.ReviewFeedback)})
	if strings.TrimSpace(s.Notes) == "" {
		f, _ := read(p.data)
		e := edits{data: p.data}
		text := fmt.Sprintf("ralph approved it after %d reviews; reviewFeedback has the open concerns.", v.Count)
		e.set(f.find(v.Story), "notes", jsonscan.AppendString(nil, text))
		p.data = e.apply()
	}
}

func prefixed(feedback string) string {
	if strings.HasPrefix(feedback, CapPrefix) {
		return feedback
	}
	return CapPrefix + " " + feedback
}

// A Review is what a review, or ralph, says of a story.
type Review struct {
	Passes   bool
	Status   event.StoryStatus
	Count    int
	Feedback string
}

// SetReview writes the review fields of one story into a tasks.json. Everything else stays as it
// is. It fails if the file has no such story, or if the result would not be valid.
func SetReview(data []byte, id string, review Review) ([]byte, error) {
	l, problems := Parse(data)
	switch {
	case len(problems) > 0:
		return nil, fmt.Errorf("set the review of story %s: %s", id, problems[0].Text)
	case l.Find(id) == nil:
		return nil, fmt.Errorf("set the review of story %s: there is no such story", id)
	}
	changed := set(data, id, review)
	if _, problems := Parse(changed); len(problems) > 0 {
		return nil, fmt.Errorf("set the review of story %s: %s", id, problems[0].Text)
	}
	return changed, nil
}

// set is SetReview of a valid file that has the story.
func set(data []byte, id string, review Review) []byte {
	f, _ := read(data)
	o := f.find(id)
	status := []byte("null")
	if review.Status != "" {
		status = jsonscan.AppendString(nil, string(review.Status))
	}
	e := edits{data: data}
	e.set(o, "passes", strconv.AppendBool(nil, review.Passes))
	e.set(o, "reviewStatus", status)
	e.set(o, "reviewCount", strconv.AppendInt(nil, int64(review.Count), 10))
	e.set(o, "reviewFeedback", jsonscan.AppendString(nil, review.Feedback))
	return bytes.Clone(e.apply())
}

// Reviewed returns the verdict of a review iteration on one story, from the states before it and
// the list that [Repair] left; false if there is none. Agent and Open are empty.
func Reviewed(before []event.StoryState, after *List, r Rules) (event.StoryReviewed, bool) {
	for _, b := range before {
		s := after.Find(b.ID)
		if s == nil || s.ReviewCount <= b.ReviewCount {
			continue
		}
		approved := s.ReviewStatus == event.StoryApproved
		return event.StoryReviewed{
			Story: s.ID, Approved: approved, Count: s.ReviewCount, Feedback: s.ReviewFeedback,
			AtCap: approved && s.ReviewCount >= r.Cap && strings.HasPrefix(s.ReviewFeedback, CapPrefix),
		}, true
	}
	return event.StoryReviewed{}, false
}
