package story

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
	"github.com/ralph-loop/ralph/journal/event"
)

func with(s Story, change func(*Story)) Story {
	change(&s)
	return s
}

func priority(s Story, p float64) Story { return with(s, func(s *Story) { s.Priority = p }) }

func needing(s Story, ids ...string) Story { return with(s, func(s *Story) { s.DependsOn = ids }) }

func TestNext(t *testing.T) {
	open := func(id string) Story { return st(id, false, unreviewed, 0, "") }
	done := func(id string) Story { return st(id, true, approved, 1, "") }
	review := func(id string) Story { return st(id, false, waits, 0, "") }
	fix := func(id string) Story { return st(id, false, changes, 1, "x") }
	for _, c := range []struct {
		name string
		list *List
		mode event.StoryMode
		id   string
	}{
		{"the only one", list(open("A")), event.ModeImplement, "A"},
		{"the first of the file", list(open("A"), open("B")), event.ModeImplement, "A"},
		{"the lowest priority", list(open("A"), priority(open("B"), 0.5)), event.ModeImplement, "B"},
		{"a review before an implementation", list(open("A"), priority(review("B"), 9)), event.ModeReview, "B"},
		{"a correction before a review", list(open("A"), review("B"), priority(fix("C"), 9)), event.ModeReviewFix, "C"},
		{"the lowest priority of the reviews", list(review("A"), priority(review("B"), -1)), event.ModeReview, "B"},
		{"the lowest priority of the corrections", list(fix("A"), priority(fix("B"), -1)), event.ModeReviewFix, "B"},
		{"not what waits for another", list(needing(open("A"), "B"), priority(open("B"), 9)), event.ModeImplement, "B"},
		{"what waited", list(needing(open("A"), "B"), priority(done("B"), 9)), event.ModeImplement, "A"},
		{"a dependency that is not approved", list(needing(open("A"), "B"), review("B"), open("C")), event.ModeReview, "B"},
		{"a review does not wait for dependencies", list(needing(review("A"), "B"), open("B")), event.ModeReview, "A"},
		{"all done", list(done("A"), done("B")), event.ModeImplement, ""},
		{"no stories", list(), event.ModeImplement, ""},
		{"passes without a review", list(st("A", true, unreviewed, 0, ""), open("B")), event.ModeReview, "A"},
		{"approved, but open", list(open("B"), st("A", false, approved, 1, "")), event.ModeReview, "A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mode, next := c.list.Next(rules)
			if mode != c.mode || (next == nil) != (c.id == "") || next != nil && next.ID != c.id {
				t.Errorf("got %s %v", mode, next)
			}
			if c.list.Done(rules) != (c.id == "" && len(c.list.Stories) > 0) {
				t.Errorf("done: %v", c.list.Done(rules))
			}
		})
	}
}

func TestNextWithoutReviews(t *testing.T) {
	skip := Rules{Cap: 5, SkipReview: true}
	l := list(st("A", true, unreviewed, 0, ""), needing(st("B", false, waits, 0, ""), "A"), st("C", false, changes, 0, "x"))
	if mode, next := l.Next(skip); mode != event.ModeImplement || next.ID != "B" {
		t.Errorf("got %s %v", mode, next)
	}
	if l.Done(skip) || strings.Join(l.Undone(skip), ", ") != "B (not implemented), C (not implemented)" {
		t.Errorf("undone: %v", l.Undone(skip))
	}
	if least, likely := l.Estimate(skip); least != 2 || likely != 2 {
		t.Errorf("estimate: %d, %d", least, likely)
	}
	l.Stories[1].Passes, l.Stories[2].Passes = true, true
	if !l.Done(skip) || l.Done(rules) {
		t.Error("stories that pass are done, but not with reviews")
	}
}

// TestNextEnds: a list without problems has work until it is done.
func TestNextEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := agent{t}
		var ids []string
		l := list()
		for range rapid.IntRange(1, 6).Draw(t, "stories") {
			e := a.entry(strings.Repeat("x", 1+len(ids)), ids)
			one, problems := Parse(a.file(entry{{"project", `""`}, {"branchName", `""`}, {"description", `""`}}, []string{a.spell(e)}))
			if len(problems) > 1 { // dependsOn is unknown in a list of one
				t.Fatal(texts(problems))
			}
			l.Stories = append(l.Stories, one.Stories[0])
			ids = append(ids, one.Stories[0].ID)
		}
		r := Rules{Cap: 5, SkipReview: a.chance(30)}
		if _, next := l.Next(r); (next == nil) != l.Done(r) || l.Done(r) != (len(l.Undone(r)) == 0) {
			t.Fatalf("next %v, done %v, undone %v", next, l.Done(r), l.Undone(r))
		}
		if least, likely := l.Estimate(r); least > likely || (likely == 0) != l.Done(r) {
			t.Fatalf("estimate %d, %d, done %v", least, likely, l.Done(r))
		}
	})
}

func TestUndoneAndEstimate(t *testing.T) {
	l := list(st("A", true, approved, 1, ""), st("B", false, changes, 1, "x"), st("C", false, waits, 0, ""), st("D", false, unreviewed, 0, ""))
	if got := strings.Join(l.Undone(rules), ", "); got != "B (changes requested), C (needs review), D (not implemented)" {
		t.Error(got)
	}
	if least, likely := l.Estimate(rules); least != 2+1+2 || likely != 3+2+3 {
		t.Errorf("estimate: %d, %d", least, likely)
	}
	for range 20 {
		l.Stories = append(l.Stories, st("Z", false, unreviewed, 0, ""))
	}
	if got := l.Undone(rules); len(got) != 11 || got[10] != "13 more" {
		t.Errorf("%q", got)
	}
}
