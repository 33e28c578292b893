package story

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// TestStatisticsCountReviews plays loops of three stories and compares reviewCount with the reviews
// that there were.
func TestStatisticsCountReviews(t *testing.T) {
	r := Rules{Cap: 3}
	file := fileOf(st("A", false, unreviewed, 0, ""), st("B", false, unreviewed, 0, ""), st("C", false, unreviewed, 0, ""))
	returns := map[string]int{"B": 1, "C": 9} // how often a review sends a story back
	played := map[string]int{}
	var reviewed []event.StoryReviewed
	for range 30 {
		l, _ := Parse(file)
		mode, next := l.Next(r)
		if next == nil {
			break
		}
		review := Review{Status: waits, Count: next.ReviewCount}
		if mode == event.ModeReview {
			played[next.ID]++
			review = Review{Passes: true, Status: approved, Count: next.ReviewCount + 1}
			if returns[next.ID] > 0 {
				returns[next.ID]--
				review = Review{Status: changes, Count: next.ReviewCount + 1, Feedback: "x"}
			}
		}
		found, err := SetReview(file, next.ID, review)
		if err != nil {
			t.Fatal(err)
		}
		data, problems, _ := Repair(found, file, mode, r)
		if len(problems) > 0 {
			t.Fatal(texts(problems))
		}
		after, _ := Parse(data)
		if v, ok := Reviewed(l.States(), after, r); ok != (mode == event.ModeReview) {
			t.Errorf("a verdict of a %s iteration: %v", mode, ok)
		} else if ok {
			reviewed = append(reviewed, v)
		}
		file = data
	}
	l, _ := Parse(file)
	for i := range l.Stories {
		if s := l.Stories[i]; s.ReviewCount != played[s.ID] {
			t.Errorf("story %s has reviewCount %d after %d reviews", s.ID, s.ReviewCount, played[s.ID])
		}
	}
	n := Count(l.States(), reviewed, r)
	if !slices.Equal(n.Counts, []int{0, 1, 1, 1}) || n.Done != 3 || n.Reviews != 6 || n.Returned != 3 {
		t.Errorf("%+v", n)
	}
	if got := n.Text(); got != "3 of 3 stories are done; 6 reviews, 3 of them requested changes; approved at the cap: C" {
		t.Error(got)
	}
}

func TestStatisticsText(t *testing.T) {
	open := st("A", false, unreviewed, 0, "")
	passing := st("A", true, unreviewed, maxCount, "")
	var many []event.StoryReviewed
	for i := range 12 {
		many = append(many, event.StoryReviewed{Story: fmt.Sprint(i), Approved: true, AtCap: true})
	}
	for _, c := range []struct {
		name     string
		list     *List
		reviewed []event.StoryReviewed
		skip     bool
		want     string
	}{
		{"one", list(open), nil, false, "0 of 1 story is done"},
		{"none", list(), nil, false, "0 of 0 stories are done"},
		{"without reviews", list(passing, open), nil, true, "1 of 2 stories are done; 1000000 reviews"},
		{"a vote that is not complete", list(st("A", false, waits, 1, "")), []event.StoryReviewed{{Story: "A", Open: true}}, false, "0 of 1 story is done; 1 review"},
		{"many at the cap", list(open), many, false, "0 of 1 story is done; approved at the cap: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := Count(c.list.States(), c.reviewed, Rules{Cap: 5, SkipReview: c.skip})
			if got := n.Text(); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if len(n.Counts) > maxCounted+1 {
				t.Errorf("%d counts", len(n.Counts))
			}
		})
	}
}
