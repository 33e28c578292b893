package playground

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/journal/event"
)

// executor does what internal/effect/executor promises, with a simulated agent and project.
type executor struct{ *runner }

// Do starts an effect. Its outcome comes later, as an event with that cause.
func (x executor) Do(d event.Decided, cause event.Seq, s *loop.State) {
	switch d.Do {
	case event.DoBegin:
		var messages []string
		for _, m := range s.Commands.Open {
			for _, id := range d.Commands {
				if m.ID == id {
					messages = append(messages, "A person says: "+m.Text)
				}
			}
		}
		prompt := promptOf(s.Completion.Refused, len(s.Verification.Failures) > 0, messages)
		x.soon(80*time.Millisecond, func() { x.begin(d, prompt, cause) })
	case event.DoStart:
		x.soon(700*time.Millisecond, func() { x.start(cause) })
	case event.DoSteer:
		text := ""
		for _, m := range s.Commands.Open {
			if m.ID == d.Command {
				text = m.Text
			}
		}
		x.soon(200*time.Millisecond, func() { x.steer(d, text, cause) })
	case event.DoRelease:
		x.soon(300*time.Millisecond, func() { x.w.agent.exit(0, "", cause) })
	case event.DoAbort:
		x.abort(cause)
	case event.DoKill:
		if a := x.w.agent; a != nil {
			x.soon(50*time.Millisecond, func() { a.exit(-1, "killed", cause) })
		}
	case event.DoCheck:
		x.soon(200*time.Millisecond, func() { x.check(d, cause) })
	case event.DoCommit:
		x.soon(900*time.Millisecond, func() { x.commit(cause) })
	case event.DoCancel:
		if x.cut != nil {
			x.soon(100*time.Millisecond, x.cut)
		}
	default: // the rules of this loop ask for nothing else
		x.soon(0, func() {
			x.report(event.EffectFailed{Do: d.Do, Error: "the playground cannot do it", Class: event.ClassConfig}, "loop", cause)
		})
	}
}

// promptOf composes the prompt of an iteration.
func promptOf(refused []string, failed bool, messages []string) string {
	parts := []string{task}
	if len(refused) > 0 {
		parts = append(parts, "Your last claim was refused: "+strings.Join(refused, "; "))
	}
	if failed {
		parts = append(parts, "The guardrail 'make test' fails.")
	}
	return strings.Join(append(parts, messages...), "\n\n")
}

func (x executor) begin(d event.Decided, prompt string, cause event.Seq) {
	blob, err := x.writer.PutBlob([]byte(prompt))
	if err != nil {
		class := event.ClassTransient
		if errors.Is(err, syscall.ENOSPC) {
			class = event.ClassDisk
		}
		x.report(event.EffectFailed{Do: d.Do, Error: fmt.Sprintf("store the prompt: %v", err), Class: class}, "loop", cause)
		return
	}
	p := &x.w.project
	var drafts []event.Draft
	for _, payload := range []event.Payload{
		p.repo(event.MomentBegin), p.folder(),
		event.GuardrailSnapshotted{Files: []event.SnapshotFile{{
			Path: guardrailFile, Role: event.RoleProgram, Kind: "file", Mode: 0o644, Protected: true,
			SHA256: sum(guardrailText), Bytes: int64(len(guardrailText)),
		}}},
		event.IterationStarted{N: d.Iteration, Mode: "work", Prompt: blob, Commands: d.Commands},
	} {
		draft := event.Encode(payload, "loop")
		draft.Cause, draft.Iter = cause, d.Iteration
		drafts = append(drafts, draft)
	}
	x.step(drafts...)
}

func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:])
}

// steer gives the agent a message in its turn.
func (x executor) steer(d event.Decided, text string, cause event.Seq) {
	a := x.w.agent
	if a == nil || !a.alive || !a.turning || a.hangs {
		x.report(event.EffectFailed{Do: d.Do, Command: d.Command, Error: "the agent takes nothing now", Class: event.ClassTransient}, "loop", cause)
		return
	}
	x.soon(time.Second, func() {
		if a.alive && a.turning {
			x.report(event.CommandDelivered{ID: d.Command, How: event.DeliveredLive, Iteration: a.iteration}, agentName, cause)
			a.say("Understood: " + text)
		}
	})
}

// abort ends the turn and the process: one that hangs does not listen, and is killed.
func (x executor) abort(cause event.Seq) {
	a := x.w.agent
	if a == nil {
		return
	}
	a.turning = false
	if a.hangs {
		x.soon(5*time.Second, func() { a.exit(-1, "killed", cause) })
		return
	}
	x.soon(time.Second, func() { a.exit(143, "", cause) })
}

// check compares the files of the guardrail with their snapshot, inspects the project, and runs the
// guardrail.
func (x executor) check(d event.Decided, cause event.Seq) {
	p := &x.w.project
	if p.gamed {
		p.gamed = false
		x.report(event.GuardrailEdited{
			Path: guardrailFile, How: event.EditChanged, Restored: true, Role: event.RoleProgram, Is: sum("exit 0"), Guardrails: []string{guardrail},
			Kept: "guardrail-files/kept/" + guardrailFile,
		}, "loop", cause)
	}
	x.report(p.repo(event.MomentEnd), "loop", cause)
	x.report(p.folder(), "loop", cause)
	if d.Only == "look" {
		x.report(event.IterationChecked{}, "loop", cause)
		return
	}
	x.report(event.GuardrailStarted{Name: guardrail}, "loop", cause)
	took := x.w.span(4*time.Second, 12*time.Second)
	over := false
	x.cut = func() {
		if !over {
			over = true
			x.report(event.IterationChecked{}, "loop", cause)
		}
	}
	x.soon(took, func() {
		if over {
			return
		}
		over = true
		ended := p.verdict()
		ended.Took = took.Milliseconds()
		x.report(ended, "loop", cause)
		checked := event.IterationChecked{Guardrails: 1}
		if !ended.OK {
			checked.Failed = 1
		}
		x.report(checked, "loop", cause)
	})
}

func (x executor) commit(cause event.Seq) {
	p := &x.w.project
	if p.changed == 0 {
		x.report(event.SCMEnded{Nothing: true}, "loop", cause)
		return
	}
	lines := p.changed
	p.commit()
	x.report(event.RepoCommitted{SHA: p.head, Message: fmt.Sprintf("parser: %d of %d boxes", p.ticked, len(boxes)), Files: 2, Insertions: lines}, "loop", cause)
	x.report(event.SCMEnded{Tasks: []string{"commit"}}, "loop", cause)
}
