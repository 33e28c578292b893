package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/journal/event"
)

// For each row of the table of transitions, the hook and the runner give the verdict of the row.
// The hook judges against the marker as its file has it. The runner's verdict is that of
// story.Repair.
func TestHookAgreesWithRunner(t *testing.T) {
	for mode, blocks := range transitionTable(t) {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			rows, blocked := 0, 0
			for _, b := range blocks {
				text := []byte(tasksOf(b.before...))
				m := readAgain(t, plan.Marker{IterationMode: mode, ReviewCap: mostReviews, PreIterationSnapshot: snapshotOf(b.before...)})
				for _, after := range b.after {
					legal := b.legal(after)
					if !checkAgreement(t, m, text, b.before, after, legal) {
						return
					}
					rows++
					if !legal {
						blocked++
					}
				}
			}
			if rows < 1500 || blocked < rows/2 || blocked == rows {
				t.Errorf("%d rows, %d blocked", rows, blocked)
			}
		})
	}
}

const mostReviews = 5

// readAgain returns a marker as the hook reads it from the file.
func readAgain(t *testing.T, m plan.Marker) plan.Marker {
	t.Helper()
	data, err := json.Marshal(m)
	if err == nil {
		m = plan.Marker{}
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkAgreement compares the verdicts on one change with that of the table, and without reviews,
// where only a story that is gone is wrong.
func checkAgreement(t *testing.T, m plan.Marker, before []byte, was, is []one, legal bool) bool {
	t.Helper()
	list := &story.List{}
	for _, o := range is {
		list.Stories = append(list.Stories, o.story())
	}
	text, note := checkReview(list, m)
	_, problems, restored := story.Repair([]byte(tasksOf(is...)), before, m.IterationMode, story.Rules{Cap: mostReviews})
	if (text == "") != legal || (len(problems) == 0) != legal || restored || note != "" {
		t.Errorf("%s: %v → %v: legal %v, the hook %q %q, the runner %v", m.IterationMode, was, is, legal, text, note, problems)
		return false
	}
	for _, p := range problems {
		if !strings.Contains(text, p.Text) {
			t.Errorf("%s: %v → %v: the runner found %q, the hook %q", m.IterationMode, was, is, p.Text, text)
			return false
		}
	}
	m.SkipReview = true
	if text, _ := checkReview(list, m); (text == "") != (len(is) >= len(was)) {
		t.Errorf("%s without reviews: %v → %v: the hook %q", m.IterationMode, was, is, text)
		return false
	}
	return true
}

// A block of the table has the changes that begin with the same stories.
type block struct {
	before  []one
	after   [][]one
	allowed map[[2]one]bool // by what is after
}

func (b block) legal(after []one) bool { return b.allowed[keyOf(after)] }

func (b *block) allow(after []one) { b.allowed[keyOf(after)] = true }

func keyOf(stories []one) (key [2]one) {
	copy(key[:], stories)
	return key
}

// transitionTable reads the table that the tests of internal/core/story generate. Of two stories,
// it leaves out most changes that are not legal.
func transitionTable(t *testing.T) map[event.StoryMode][]block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "core", "story", "testdata", "transitions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table := map[event.StoryMode][]block{}
	for part := range strings.SplitSeq(string(text), "\n\n") {
		head, rest, _ := strings.Cut(part, "\n")
		mode, cells, found := strings.Cut(head, ": ")
		switch {
		case strings.HasPrefix(head, "#"):
		case found:
			table[event.StoryMode(mode)] = append(table[event.StoryMode(mode)], changeBlock(t, cells, rest))
		default:
			table[event.StoryMode(mode)] = append(table[event.StoryMode(mode)], newBlock(t, event.StoryMode(mode), rest)...)
		}
	}
	if len(table) != 3 {
		t.Fatalf("the table has %d modes", len(table))
	}
	return table
}

// changeBlock reads the rows of one story or of two that may change in each way.
func changeBlock(t *testing.T, head, rows string) block {
	t.Helper()
	b := block{before: cellsOf(t, head), allowed: map[[2]one]bool{}}
	var others int
	for row := range strings.Lines(rows) {
		verdict, what, _ := strings.Cut(strings.TrimSpace(row), ": ")
		switch number, isOthers := strings.CutSuffix(what, " others"); {
		case isOthers:
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			others += n
		case verdict == "legal" && what == "as before":
			b.allow(b.before)
		case verdict == "legal":
			b.allow(cellsOf(t, what))
		default: // a verdict is missing, or the feedback is cleared
			others++
		}
	}
	for i, after := range changesOf(b.before) {
		legal := b.legal(after)
		if !legal {
			others--
		}
		if legal || len(b.before) == 1 || i%101 == 0 {
			b.after = append(b.after, after)
		}
	}
	if others != 0 {
		t.Fatalf("%s: %d changes of the table are not tried", head, others)
	}
	return b
}

// newBlock reads the rows of new stories and of removed ones, beside the story that the iteration
// is for.
func newBlock(t *testing.T, mode event.StoryMode, rows string) []block {
	t.Helper()
	work := map[event.StoryMode]string{
		event.ModeImplement: "open null 0 - / open needs_review 0 -",
		event.ModeReview:    "open needs_review 0 - / passes approved 1 -",
		event.ModeReviewFix: "open changes_requested 1 old / open needs_review 1 -",
	}
	worked := cellsOf(t, work[mode])
	worked[1].ID = worked[0].ID
	added := block{before: worked[:1], allowed: map[[2]one]bool{}}
	var removed []block
	for row := range strings.Lines(rows) {
		what, verdict, _ := strings.Cut(strings.TrimSpace(row), ": ")
		cell, ok := strings.CutPrefix(what, "new ")
		if !ok {
			removed = append(removed, block{before: []one{worked[0], {ID: "US-003"}}, after: [][]one{worked[1:]}})
			continue
		}
		story := cellsOf(t, cell)[0]
		story.ID = "US-003"
		after := []one{story, worked[1]}
		added.after = append(added.after, after)
		if verdict == "legal" {
			added.allow(after)
		}
	}
	return append(removed, added)
}

// cellsOf reads stories as the table has them: passes or open, reviewStatus, reviewCount,
// reviewFeedback.
func cellsOf(t *testing.T, text string) []one {
	t.Helper()
	var all []one
	for cell := range strings.SplitSeq(text, " / ") {
		fields := strings.Fields(cell)
		if len(fields) != 4 {
			t.Fatalf("a story of the table: %q", cell)
		}
		count, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		o := one{ID: fmt.Sprintf("US-%03d", len(all)+1), Passes: fields[0] == "passes", Status: event.StoryStatus(fields[1]), Count: count, Feedback: fields[3]}
		if o.Status == "null" {
			o.Status = ""
		}
		if o.Feedback == "-" {
			o.Feedback = ""
		}
		all = append(all, o)
	}
	return all
}

// changesOf returns each change of each story that the table has verdicts on.
func changesOf(before []one) [][]one {
	all := [][]one{nil}
	for _, b := range before {
		counts, feedbacks := []int{0, 1, 2, -1}, []string{"", "new"}
		if b.Feedback != "" {
			feedbacks = append(feedbacks, b.Feedback)
		}
		if len(before) > 1 {
			counts = counts[:2]
			if b.Feedback != "" {
				feedbacks = []string{"", b.Feedback}
			}
		}
		var longer [][]one
		for _, rest := range all {
			for _, passes := range []bool{false, true} {
				for _, status := range []event.StoryStatus{"", event.StoryNeedsReview, event.StoryChangesRequested, event.StoryApproved} {
					for _, count := range counts {
						for _, feedback := range feedbacks {
							longer = append(longer, append(slices.Clip(rest), one{b.ID, passes, status, b.Count + count, feedback}))
						}
					}
				}
			}
		}
		all = longer
	}
	return all
}
