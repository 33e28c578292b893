package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// ofVerification says what ralph found out after a turn, and what it committed.
func (v *Steps) ofVerification(e event.Event, p event.Payload) {
	switch p := p.(type) {
	case event.GuardrailStarted:
		v.say("Running guardrail: %s", units.Cut(p.Name, stepCommandMost))
	case event.GuardrailEnded:
		v.guardrailEnded(p)
	case event.GuardrailEdited:
		v.guardrailEdited(p)
	case event.FolderInspected:
		v.folderInspected(p)
	case event.IterationChecked:
		if p.Guardrails > 0 {
			v.say("Guardrails: %d of %d passed (%s)", p.Guardrails-p.Failed, p.Guardrails, v.since(event.DoCheck, e))
		}
	case event.RepoCommitted:
		if p.SHA == "" {
			v.say("Committed (which commit is not known): %s", units.FirstLine(p.Message))
			return
		}
		v.say("Committed %.10s: %s (%s, +%d -%d)", p.SHA, units.FirstLine(p.Message), units.Quantity(p.Files, "file"), p.Insertions, p.Deletions)
	case event.SCMEnded:
		v.scmEnded(p, e)
	}
}

func (v *Steps) guardrailEdited(p event.GuardrailEdited) {
	what, during, after := "Guardrail's", "", ""
	if p.Role == event.RoleSettings {
		what = "Settings"
	}
	if p.During {
		during = " while the guardrails ran"
	}
	switch {
	case p.Why != "":
		after = " and cannot be put back: " + p.Why
	case p.Restored:
		after = " and is put back"
	}
	v.say("%s file %s was %s%s%s", what, p.Path, p.How, during, after)
}

func (v *Steps) guardrailEnded(p event.GuardrailEnded) {
	how := fmt.Sprintf("exited with code %d", p.Code)
	switch {
	case p.TimedOut:
		how = "timed out"
	case p.Code < 0:
		how = "ended by a signal"
	}
	v.say("Guardrail %s (%s): %s", how, tookMillis(p.Took), units.Cut(p.Name, stepCommandMost))
	if p.Action != "" {
		v.say("Fail action of the guardrail: %s", p.Action)
	}
	if !p.OK && p.Log != "" {
		v.say("Output of the guardrail: %s", p.Log)
	}
	if p.Warning != "" {
		v.say("Warning of the guardrail: %s", p.Warning)
	}
}

func (v *Steps) folderInspected(p event.FolderInspected) {
	if p.Done {
		v.say("File DONE is there")
	}
	if p.Wait {
		v.say("File WAIT_WITHOUT_RESTART is there")
	}
	if p.Boxes > 0 {
		v.say("Boxes of task.md: %d of %d ticked", p.Ticked, p.Boxes)
	}
}

func (v *Steps) scmEnded(p event.SCMEnded, e event.Event) {
	after := v.since(event.DoCommit, e)
	switch {
	case p.Error != "":
		v.say("Version control failed after %s, %s: %s", after, cmp.Or(p.Failed, "tasks"), p.Error)
	case p.Nothing:
		v.say("Nothing to commit (%s)", after)
	default:
		v.say("Version control done (%s): %s", after, strings.Join(p.Tasks, ", "))
	}
}

// ofStories says what is read of the stories of a plan, and what becomes of them.
func (v *Steps) ofStories(p event.Payload) {
	switch p := p.(type) {
	case event.StoriesRead:
		does, title := Story(p)
		if does == "" {
			does = "none is left"
		}
		v.say("Stories: %s; next: %s %s", states(p.Stories), does, title)
	case event.StoriesJudged:
		v.say("Stories: %s; %s of tasks.json", states(p.Stories), units.Quantity(len(p.Problems), "problem"))
	}
	notes, _ := new(Notes).ofStories(p)
	for _, n := range notes {
		v.say("%s", n.Text)
	}
}

// states counts the stories of each state.
func states(stories []event.StoryState) string {
	count := map[event.StoryStatus]int{}
	passing := 0
	for _, s := range stories {
		count[s.ReviewStatus]++
		if s.Passes {
			passing++
		}
	}
	return fmt.Sprintf("%d of %d pass, %d to review, %d to correct", passing, len(stories), count[event.StoryNeedsReview], count[event.StoryChangesRequested])
}
