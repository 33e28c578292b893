package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/report"
)

// planned is a loop over a plan of three stories, of which two are approved.
func planned(t *testing.T) (all []event.Event) {
	t.Helper()
	data, err := os.ReadFile("../testdata/runs/stories.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		e, err := event.Parse(bytes.Clone(bytes.TrimRight(line, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func TestReportOfStories(t *testing.T) {
	r := fold(t, planned(t))
	r.Judge(report.Facts{Name: "notes"})
	plan, err := json.MarshalIndent(r.Plan, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "stories.json", append(plan, '\n'))
	var text bytes.Buffer
	if err := report.Markdown(&text, r, time.UTC); err != nil {
		t.Fatal(err)
	}
	golden(t, "stories.md", text.Bytes())

	dir := folder(t, planned(t))
	var page bytes.Buffer
	if err := report.HTML(&page, r, dir, report.PageOptions{Location: time.UTC}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 3 done", "approved at the cap", "codex $0.70; of all others: $1.80", `<span class="facts">review-fix US-002</span>`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page.String(), "\x1b") {
		t.Error("a title reaches the page with its escape sequence")
	}
}

// A loop without a plan says nothing of stories.
func TestReportWithoutStories(t *testing.T) {
	r := fold(t, overspent())
	var text bytes.Buffer
	if err := report.Markdown(&text, r, time.UTC); err != nil {
		t.Fatal(err)
	}
	if r.Plan != nil || strings.Contains(text.String(), "tories") {
		t.Errorf("%+v", r.Plan)
	}
}

// What the reviewers and all others used is what the loop used.
func TestSharesAddUp(t *testing.T) {
	r := fold(t, planned(t))
	sum := r.Plan.Others.Tokens()
	for _, s := range r.Plan.Reviewers {
		sum += s.Used.Tokens()
	}
	if sum != r.Used.Tokens() || sum == 0 {
		t.Errorf("%d tokens of %d", sum, r.Used.Tokens())
	}
}
