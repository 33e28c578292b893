package main

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// What the voice says of what ralph itself does behind a turn, and of limits.

// hearCheck says what was found out when the agent had gone.
func (v *voice) hearCheck(e event.Event) error {
	switch e.Type {
	case event.TypeGuardrailStarted:
		return heard(e, func(p event.GuardrailStarted) { v.say("Running guardrail: %s", cutTo(commandMost, p.Name)) })
	case event.TypeGuardrailEnded:
		return heard(e, v.guardrailEnded)
	case event.TypeGuardrailEdited:
		return heard(e, func(p event.GuardrailEdited) {
			after := map[bool]string{true: " and is put back"}[p.Restored]
			if p.Why != "" {
				after = " and cannot be put back: " + p.Why
			}
			what, during := "Guardrail's", map[bool]string{true: " while the guardrails ran"}[p.During]
			if p.Role == event.RoleSettings {
				what = "Settings"
			}
			v.say("%s file %s was %s%s%s", what, p.Path, p.How, during, after)
		})
	case event.TypeFolderSeen:
		return heard(e, v.folderSeen)
	case event.TypeIterationChecked:
		return heard(e, func(p event.IterationChecked) {
			if p.Guardrails > 0 {
				v.say("Guardrails: %d of %d passed (%s)", p.Guardrails-p.Failed, p.Guardrails, v.since(event.DoCheck, e))
			}
		})
	case event.TypeRepoCommitted:
		return heard(e, func(p event.RepoCommitted) {
			if p.SHA == "" {
				v.say("Committed (which commit is not known): %s", firstLine(p.Message))
				return
			}
			v.say("Committed %.10s: %s (%s, +%d -%d)", p.SHA, firstLine(p.Message), quantity(p.Files, "file"), p.Insertions, p.Deletions)
		})
	case event.TypeSCMEnded:
		return heard(e, func(p event.SCMEnded) { v.scmEnded(p, e) })
	}
	return nil
}

// hearLimit says what slows a loop down or may soon end it.
func (v *voice) hearLimit(e event.Event) error {
	switch e.Type {
	case event.TypeAgentLimited:
		return heard(e, func(p event.AgentLimited) {
			until := ""
			if p.Until != "" {
				until = " until " + p.Until
			}
			v.say("Agent limited (%s)%s: %s", p.Kind, until, p.Text)
		})
	case event.TypeBudgetWarned:
		return heard(e, func(p event.BudgetWarned) { v.say("Limit %s: %s", p.Limit, p.Why) })
	case event.TypeBreakerTripped:
		return heard(e, func(p event.BreakerTripped) {
			wait := ""
			if p.Delay > 0 {
				wait = " for " + tookMillis(p.Delay)
			}
			v.say("Breaker %s, %s%s: %s", p.Rule, p.Step, wait, p.Evidence)
		})
	case event.TypeClockJumped:
		return heard(e, func(p event.ClockJumped) { v.say("Clock jumped by %s", tookMillis(p.By)) })
	}
	return nil
}

// guardrailEnded says what a check came to.
func (v *voice) guardrailEnded(p event.GuardrailEnded) {
	what := cutTo(commandMost, p.Name)
	switch {
	case p.TimedOut:
		v.say("Guardrail timed out (%s): %s", tookMillis(p.Took), what)
	case p.Code < 0:
		v.say("Guardrail ended by a signal (%s): %s", tookMillis(p.Took), what)
	default:
		v.say("Guardrail exited with code %d (%s): %s", p.Code, tookMillis(p.Took), what)
	}
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

func (v *voice) folderSeen(p event.FolderSeen) {
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

func (v *voice) scmEnded(p event.SCMEnded, e event.Event) {
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

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
