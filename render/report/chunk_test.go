package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/report"
)

// A page is small however long an iteration is, and shows what failed in its middle.
func TestLongIterationIsShortened(t *testing.T) {
	talk := func(n, times int) (steps []step) {
		text := event.Plain(strings.Repeat("word ", 2000))
		for i := range times {
			steps = append(steps, step{0, event.AgentSaid{Block: fmt.Sprintf("%d.%d", n, i), Text: text, Final: true}})
		}
		return steps
	}
	steps := []step{{0, started(event.Rules{MaximumIterations: 1})}, {0, event.IterationStarted{N: 1}}, {0, event.AgentStarted{PID: 1}}}
	steps = append(steps, step{0, event.AgentSaid{Block: "0.0", Text: event.Plain("the first words"), Final: true}})
	steps = append(steps, talk(1, 200)...)
	steps = append(steps, step{0, event.ToolCalled{ID: "a", Name: "bash"}}, step{0, event.ToolReturned{ID: "a", Output: event.Plain("it failed in the middle")}})
	steps = append(steps, talk(2, 200)...)
	steps = append(steps, step{0, event.AgentSaid{Block: "9.9", Text: event.Plain("the last words"), Final: true}}, step{0, event.AgentFinished{Outcome: event.TurnOK}}, ended(1))
	dir := folder(t, events(steps...))
	r, err := report.Read(dir, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Judge(report.Facts{})
	var page bytes.Buffer
	if err := report.HTML(&page, r, dir, report.PageOptions{Location: time.UTC, Name: "shop/night"}); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 2<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	for _, want := range []string{"the first words", "it failed in the middle", "the last words", "left out here", "ralph replay shop/night --from"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// Of many iterations, those that a person needs most are shown in full.
func TestManyIterationsAreSummarised(t *testing.T) {
	steps := []step{{0, started(event.Rules{MaximumIterations: 9})}}
	for n := 1; n <= 6; n++ {
		outcome := event.OutcomeDone
		if n == 3 {
			outcome = event.OutcomeFailed
		}
		steps = append(steps, work(n, step{0, event.AgentSaid{Block: "1.0", Text: event.Plain(strings.Repeat(fmt.Sprintf("words of %d. ", n), 3000)), Final: true}})...)
		steps = append(steps, step{0, event.IterationEnded{N: n, Outcome: outcome}})
	}
	dir := folder(t, events(steps...))
	r, err := report.Read(dir, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shown := func(o report.PageOptions) (full []int) {
		var page bytes.Buffer
		if err := report.HTML(&page, r, dir, o); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 6; n++ {
			if strings.Contains(page.String(), fmt.Sprintf("<h4>Iteration %d of 9</h4>", n)) {
				full = append(full, n)
			}
		}
		return full
	}
	if got := fmt.Sprint(shown(report.PageOptions{Most: 130 << 10})); got != "[1 3 6]" {
		t.Errorf("shown in full: %s", got)
	}
	if got := fmt.Sprint(shown(report.PageOptions{Full: func(n int) bool { return n == 2 }})); got != "[2]" {
		t.Errorf("shown in full: %s", got)
	}
	if got := fmt.Sprint(shown(report.PageOptions{})); got != "[1 2 3 4 5 6]" {
		t.Errorf("shown in full: %s", got)
	}
}
