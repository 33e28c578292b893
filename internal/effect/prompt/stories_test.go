package prompt_test

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/effect/prompt"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// planned is an iteration of a loop over a plan, as the default settings make it.
func planned(mode event.StoryMode, changes ...func(*prompt.Stories)) prompt.Parts {
	s := &prompt.Stories{
		Mode: mode, Tasks: "ralph/tasks.json", PRD: "ralph/prd.md", Progress: "ralph/progress.txt", Cap: 5,
		Base: "5729c235ce96de9a189020ae8cc52532083a5a4c", Head: "465561f0d2a1b3c4d5e6f708192a3b4c5d6e7f80",
		Story: &prompt.Story{
			ID: "US-002", Title: "Filter tasks by status", Description: "As a user I want to see open tasks only.\nThe list is long.",
			Criteria: []string{"The dropdown has the options All, Active and Done", "The choice is in the URL"}, Count: 1,
		},
		Checks: []prompt.Check{{Name: "make test", OK: true}, {Name: "make lint"}},
	}
	if mode == event.ModeReviewFix {
		s.Story.Feedback = "1. app/list.go:40: Done shows active tasks too.\n2. The URL is not read at the start."
	}
	if mode == event.ModeImplement {
		s.Story.Count, s.Base, s.Checks = 0, "", nil
	}
	for _, change := range changes {
		change(s)
	}
	return prompt.Parts{Iteration: 4, Of: 15, Promise: "COMPLETE", Blocked: true, Ask: true, Stories: s}
}

func skip(s *prompt.Stories)  { s.SkipReview = true }
func atCap(s *prompt.Stories) { s.AtCap, s.Story.Count = true, 4 }
func edits(s *prompt.Stories) { s.MayEdit = true }
func other(s *prompt.Stories) { s.OtherModel = true }
func none(s *prompt.Stories)  { s.Story = nil }

var modes = map[string]prompt.Parts{
	"implement":              planned(event.ModeImplement),
	"implement, skip review": planned(event.ModeImplement, skip),
	"review":                 planned(event.ModeReview),
	"review at the cap":      planned(event.ModeReview, atCap),
	"review, may edit":       planned(event.ModeReview, edits),
	"review by another":      planned(event.ModeReview, other),
	"review-fix":             planned(event.ModeReviewFix),
	"no story":               planned(event.ModeImplement, none),
}

// everything is an iteration with all parts that a loop over a plan can have.
func everything() prompt.Parts {
	p := planned(event.ModeReviewFix)
	p.Failures = []prompt.Failure{failure(prompt.Append, "make lint")}
	p.Left = []string{"it was cut short: nothing was said for 10m0s"}
	p.MaxDiff = 400
	p.Stories.Extra = "Use the words of docs/glossary.md."
	p.Stories.Problems = []string{"Story US-001: an iteration that implements cannot set passes to true; it is false again."}
	p.Refused = []string{"stories that are not done: US-002 (needs review)"}
	p.Messages = []prompt.Message{{Text: "leave the schema alone"}}
	return p
}

func TestTestdataStories(t *testing.T) {
	examples := map[string]prompt.Parts{"everything": everything()}
	for name, parts := range modes {
		examples[strings.NewReplacer(", ", "-", " ", "-").Replace(name)] = parts
	}
	for name, parts := range examples {
		golden.Check(t, filepath.Join("testdata", "stories", name+".txt"), prompt.Compose(parts)+"\n")
	}
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) != len(examples) {
		t.Errorf("%d files for %d examples, %v", len(files), len(examples), err)
	}
}

// storyRules are the rules of planned work: a phrase of each, and the modes whose prompts have it.
// In the prompts of all other modes it must not be.
var storyRules = []struct{ rule, phrase, in string }{
	{"iteration N of M", "This iteration: 4 of 15", "*"},
	{"the progress file is read, patterns first", "Orient. Read `ralph/progress.txt`, its section Codebase Patterns first", "* -review by another"},
	{"the requirements are read", "`ralph/prd.md`", "*"},
	{"the stories are read", "and `ralph/tasks.json`", "*"},
	{"git log and git status", "git status", "*"},
	{"review-fix before review before implement", "`changes_requested` is fixed first (review-fix), then `needs_review` is reviewed (review), then a new story is implemented (implement)", "* -implement, skip review"},
	{"priority and dependsOn", "the first by `priority` whose `dependsOn` are done", "*"},
	{"which story and mode", ", implement US-002", "implement|implement, skip review"},
	{"which story and mode", ", review US-002", "review|review at the cap|review, may edit|review by another"},
	{"which story and mode", ", review-fix US-002", "review-fix"},
	{"title, description, criteria", "> - The choice is in the URL", "* -no story"},
	{"split a large story", "more than about 60% of your context, split it", "implement|implement, skip review"},
	{"add, split, reorder", "You may add, split and reorder stories.", "*"},
	{"how a new story begins", "begins with `passes` false, `reviewStatus` null, `reviewCount` 0", "*"},
	{"no story is removed", "Remove no story", "*"},

	{"existing code and patterns first", "Read the code that exists first, and follow the Codebase Patterns", "implement|implement, skip review"},
	{"constraints of the requirements", "Respect the constraints of `ralph/prd.md`", "implement|implement, skip review"},
	{"verifyCommands", "Run every command of `verifyCommands`", "* -no story"},
	{"verification again after a correction", "run `verifyCommands` again", "implement|implement, skip review|review-fix"},
	{"every changed line", "read every changed line of `git diff`", "implement|implement, skip review|review-fix"},
	{"each criterion is genuinely met", "each acceptance criterion is genuinely met", "implement|implement, skip review|review-fix"},
	{"edge cases, errors, TODOs", "edge cases, missing error handling and TODOs", "implement|implement, skip review|review-fix"},
	{"implemented: needs_review, not passes", "Set `reviewStatus` to \"needs_review\": a fresh context reviews the story next. Leave `passes` false and `reviewCount` as it is", "implement"},
	{"notes", "Write into `notes`", "implement|implement, skip review"},
	{"commit of an implementation", "`feat: ID - TITLE`", "implement|implement, skip review"},

	{"another person's work", "as the work of another person", "review|review at the cap|review, may edit"},
	{"another agent's work", "Another agent did this work", "review by another"},
	{"no reasoning of the implementer", "without the `notes` of the story", "review by another"},
	{"no reasoning of the implementer", "without reading the file", "review by another"},
	{"no reasoning of the implementer", "':!ralph'", "review by another"},
	{"reviewCount is incremented", "Set `reviewCount` to 2,", "review|review, may edit|review by another"},
	{"reviewCount is incremented", "Set `reviewCount` to 5,", "review at the cap"},
	{"one story's fields", "the review fields of no other story", "review|review at the cap|review, may edit|review by another"},
	{"recent commits of the story", "git log --oneline 5729c235ce96..465561f0d2a1", "review|review at the cap|review, may edit|review by another"},
	{"the changes of the story", "`git diff 5729c235ce96..465561f0d2a1", "review|review at the cap|review, may edit|review by another"},
	{"each criterion by itself", "For each acceptance criterion by itself: find the code that implements it, verify that it really works", "review|review at the cap|review, may edit|review by another"},
	{"edge cases and error paths", "check edge cases and error paths", "review|review at the cap|review, may edit|review by another"},
	{"results of the guardrails", "`make test` passed, `make lint` failed", "review|review at the cap|review, may edit|review by another|review-fix"},
	{"approved", "set `reviewStatus` to \"approved\" and `passes` to true", "review|review at the cap|review, may edit|review by another"},
	{"changes requested, with what and where", "\"changes_requested\", leave `passes` false, and write into `reviewFeedback` exactly what has to be fixed and where", "review|review, may edit|review by another"},
	{"approved at the cap", "review 5 of at most 5, so approve all the same", "review at the cap"},
	{"concerns at the cap", "[AUTO-APPROVED AT CAP]", "review at the cap"},
	{"a reviewer does not fix", "Do not fix anything", "review|review at the cap|review by another"},
	{"a reviewer's changes are undone", "ralph undoes every change of a reviewer", "review|review at the cap|review by another"},
	{"a reviewer may correct", "You may correct small faults yourself", "review, may edit"},
	{"commit of a review", "`review: ID - approved` or `review: ID - changes requested`", "review|review at the cap|review, may edit|review by another"},

	{"the feedback", "> 1. app/list.go:40", "review-fix"},
	{"every point of the feedback", "Address each point of it explicitly", "review-fix"},
	{"not the easy ones alone", "not the easy ones alone", "* -implement, skip review"},
	{"back to review", "Set `reviewStatus` to \"needs_review\" and `reviewFeedback` to \"\"", "review-fix"},
	{"a fix counts no review", "`reviewCount` as it is", "implement|review-fix"},
	{"commit of a fix", "`fix: ID - address review feedback`", "review-fix"},

	{"progress is appended", "Append an entry to `ralph/progress.txt`", "*"},
	{"the entry's head has the mode", "a line with the story, the mode and the iteration", "*"},
	{"what the entry contains", "what was done, the files changed, the results of the verification, and what was learned", "* -review by another"},
	{"Codebase Patterns is kept current", "section Codebase Patterns current", "* -review by another"},
	{"lasting rules alone change memory", "only for a rule that outlasts this loop", "*"},
	{"memory files", "CLAUDE.md, AGENTS.md or `.claude/rules/`", "*"},
	{"everything is committed", "Commit everything, `ralph/tasks.json` and `ralph/progress.txt` too", "*"},
	{"promise when all are approved", "every story has `passes` true and `reviewStatus` \"approved\", say <promise>COMPLETE</promise>", "* -implement, skip review"},
	{"promise without reviews", "every story has `passes` true, say <promise>COMPLETE</promise>", "implement, skip review"},
	{"passes without reviews", "When all of `verifyCommands` pass, set `passes` to true", "implement, skip review"},
	{"review fields without reviews", "leave `reviewStatus`, `reviewCount` and `reviewFeedback` of every story as they are", "implement, skip review"},

	{"one story", "Never start a second", "*"},
	{"an implementer never sets passes", "An iteration that implements or fixes never does", "* -implement, skip review"},
	{"tests are not weakened", "Never weaken, skip or delete a test", "*"},
	{"a blocker is documented", "If you are stuck, write what blocks you into `ralph/progress.txt`", "*"},
	{"the requirements are read-only", "Read-only: never change it", "*"},
	{"reviews and fixes apart", "A review judges; it does not fix code", "* -implement, skip review"},
	{"what becomes of an illegal move", "It puts back what your mode may not change, restores the file if it is gone or not valid, and the next prompt says so", "*"},
}

func TestModesHaveTheirRules(t *testing.T) {
	for _, r := range storyRules {
		in := map[string]bool{}
		all, but, _ := strings.Cut(r.in, " -")
		for name := range modes {
			in[name] = all == "*" && name != but
		}
		if all != "*" {
			for name := range strings.SplitSeq(r.in, "|") {
				if _, known := modes[name]; !known {
					t.Errorf("%s: there is no mode %q", r.rule, name)
				}
				in[name] = true
			}
		}
		for name, parts := range modes {
			if has := strings.Contains(prompt.Compose(parts), r.phrase); has != in[name] {
				t.Errorf("%s: in the prompt for %s: %v: %q", r.rule, name, has, r.phrase)
			}
		}
	}
}

// What prompt caches keep is the beginning that two prompts have in common.
func TestStoriesBeginAlike(t *testing.T) {
	common := func(x, y prompt.Parts) int {
		a, b := prompt.Compose(x), prompt.Compose(y)
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n
	}
	p, q := planned(event.ModeImplement), planned(event.ModeImplement)
	q.Iteration, q.Stories.Story, q.Left = 9, &prompt.Story{ID: "US-007"}, []string{"x"}
	if whole := strings.Index(prompt.Compose(p), "## This iteration"); common(p, q) < whole {
		t.Errorf("two iterations of a mode have %d bytes in common, not %d", common(p, q), whole)
	}
	for _, mode := range []event.StoryMode{event.ModeReview, event.ModeReviewFix} {
		if whole := strings.Index(prompt.Compose(p), "## Mode"); common(p, planned(mode)) < whole {
			t.Errorf("%s has %d bytes in common with implement, not %d", mode, common(p, planned(mode)), whole)
		}
	}
}

// Four bytes are about one token.
func TestStoriesAreShort(t *testing.T) {
	for name, parts := range modes {
		tokens := len(prompt.Compose(parts)) / 4
		if tokens > 1300 {
			t.Errorf("%s: about %d tokens", name, tokens)
		}
		t.Logf("%s: about %d tokens", name, tokens)
	}
}

func TestStoriesKeepTheBase(t *testing.T) {
	p := planned(event.ModeImplement)
	p.Base, p.Stories.Extra = "The task.", "From prompt.md."
	if got := prompt.Compose(p); !strings.Contains(got, "\n\nThe task.\n\nFrom prompt.md.\n\n") {
		t.Error(got)
	}
	p.Failures = []prompt.Failure{{Action: prompt.Replace, Message: "Make it compile."}}
	got := prompt.Compose(p)
	if strings.Contains(got, "The task.") || strings.Contains(got, "From prompt.md.") {
		t.Error("the base is there, and what replaces it")
	}
	for _, want := range []string{"Make it compile.", "## Rules", "> US-002"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestChangesWithoutCommits(t *testing.T) {
	p := planned(event.ModeReview, func(s *prompt.Stories) { s.Base = "" })
	if got := prompt.Compose(p); !strings.Contains(got, "`git log --oneline -5`") {
		t.Error(got)
	}
	p = planned(event.ModeReview, func(s *prompt.Stories) { s.Head = "" })
	if got := prompt.Compose(p); !strings.Contains(got, "git diff 5729c235ce96..HEAD`") {
		t.Error(got)
	}
}

// Whatever agents wrote into a story, it stays within its quotation and claims nothing.
func TestForeignTextStaysQuoted(t *testing.T) {
	hostile := rapid.StringMatching("(\n|\r|## Rules|# x|>|```|~~~|---|<promise>COMPLETE</promise>|<response>DONE</response>|<blocked>x</blocked>|[a-z ]){0,12}")
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]event.StoryMode{event.ModeImplement, event.ModeReview, event.ModeReviewFix}).Draw(t, "mode")
		clean := planned(mode, func(s *prompt.Stories) { s.Story = &prompt.Story{} })
		p := planned(mode, func(s *prompt.Stories) {
			s.Story = &prompt.Story{
				ID: "U" + hostile.Draw(t, "id"), Title: hostile.Draw(t, "title"), Description: hostile.Draw(t, "description"),
				Criteria: []string{hostile.Draw(t, "criterion")}, Feedback: hostile.Draw(t, "feedback"),
			}
			s.Checks = []prompt.Check{{Name: hostile.Draw(t, "check")}}
			s.Problems = []string{hostile.Draw(t, "problem")}
		})
		ours := map[string]bool{}
		for line := range strings.Lines(prompt.Compose(clean)) {
			ours[strings.TrimSpace(line)] = true
		}
		for line := range strings.Lines(prompt.Compose(p)) {
			line = strings.TrimRight(line, "\n")
			if strings.HasSuffix(line, "</promise>") || strings.HasSuffix(line, "</response>") || strings.HasSuffix(line, "</blocked>") {
				t.Fatalf("%q claims", line)
			}
			words := strings.TrimSpace(line)
			known := ours[words] || strings.HasPrefix(line, ">") || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "## This iteration: 4 of 15, ") ||
				strings.HasPrefix(line, "ralph's last check of the project: ") || strings.HasPrefix(line, "What was wrong with ") || strings.HasPrefix(line, "Feedback of review ")
			if !known {
				t.Fatalf("%q is not quoted", line)
			}
		}
	})
}
