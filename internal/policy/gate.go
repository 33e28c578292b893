package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Gate is what ralph itself found out about an iteration when its agent had gone: which
// guardrails failed, which of their files the agent had changed, and what became of the
// commit. A failure goes into the next prompt, and into each prompt after it until the guardrails have
// run again. The guardrails of an iteration have passed when all of them ran after its agent
// had gone, none failed, and none of their files is another one than when the iteration began. Where an iteration is given back, the next one is told what
// that one was told.
type Gate struct {
	Checked  bool      `json:"checked,omitempty"` // since the last iteration began
	Ran      int       `json:"ran,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	Edited   []string  `json:"edited,omitempty"`
	// Loose are the files that the agent changed in this iteration and that were not put back, or that changed while the
	// guardrails ran: what passed was not what was asked for.
	Loose []string `json:"loose,omitempty"`
	// Left is what the iteration left behind that the next one should know of.
	Left []string `json:"left,omitempty"`
	// Background names the work in the background that the agent has not seen the end of.
	Background string `json:"background,omitempty"`
	// Untooled says that the agent would have told of its tools and has called none in the open iteration: what is
	// running then is its own helpers, of which the next one need not know.
	Untooled bool `json:"untooled,omitempty"`
	// Rested says that the agent's process went to rest and has no prompt since: all that a turn left running was ended then, and
	// what still runs is its own.
	Rested bool `json:"rested,omitempty"`
	// Commit is why the work could not be committed; empty where it could.
	Commit string `json:"commit,omitempty"`
	// Before is what the open iteration was told of those before it.
	Before *Told `json:"before,omitempty"`
}

// Told is what stood in a prompt of what came before it.
type Told struct {
	Failures []Failure `json:"failures,omitempty"`
	Edited   []string  `json:"edited,omitempty"`
	Left     []string  `json:"left,omitempty"`
	Commit   string    `json:"commit,omitempty"`
}

// Failure is a guardrail that did not pass.
type Failure struct {
	Name    string     `json:"name"`
	Action  string     `json:"action"` // APPEND, PREPEND or REPLACE
	Message event.Blob `json:"message"`
}

const (
	// failuresMost, editedMost and leftMost bound what a checkpoint holds.
	failuresMost = 64
	editedMost   = 32
	leftMost     = 8
	nameMost     = 500
	// Messages are kept whole up to messagesMost bytes together, and in part behind that.
	messagesMost = 32 << 10
	messageLeast = 500
)

// Apply folds one event.
func (g *Gate) Apply(e event.Event) error {
	switch e.Type {
	case event.TypeIterationStarted:
		*g = Gate{Rested: g.Rested, Before: &Told{g.Failures, g.Edited, g.Left, g.Commit}}
	case event.TypeLoopResumed:
		g.Checked, g.Rested = false, false // whatever was under way is not known any more
	case event.TypeAgentNoticed:
		return g.noticed(e)
	case event.TypeDecided:
		p, err := event.As[event.Decided](e)
		if err != nil {
			return err
		}
		switch p.Do {
		case event.DoBegin:
			g.Checked = false // whoever put a file DONE there meanwhile may have mended what failed
		case event.DoCheck:
			g.Checked, g.Ran, g.Edited, g.Loose = false, 0, nil, nil
		}
	case event.TypeGuardrailEnded:
		p, err := event.As[event.GuardrailEnded](e)
		if err != nil {
			return err
		}
		g.ended(p)
	case event.TypeGuardrailEdited:
		p, err := event.As[event.GuardrailEdited](e)
		if err != nil {
			return err
		}
		if (!p.Restored || p.During) && len(g.Loose) < editedMost {
			g.Loose = append(g.Loose, firstBytes(p.Path, 200))
		}
		if len(g.Edited) < editedMost {
			g.Edited = append(g.Edited, edited(p))
		}
	case event.TypeIterationChecked:
		g.Checked = true
	case event.TypeSCMEnded:
		p, err := event.As[event.SCMEnded](e)
		if err != nil {
			return err
		}
		if p.Error != "" {
			g.Commit = firstBytes(p.Error, problemMost)
		}
	case event.TypeAgentStarted:
		p, err := event.As[event.AgentStarted](e)
		if err != nil {
			return err
		}
		g.Untooled, g.Rested = p.Tools, false
	case event.TypeToolCalled:
		g.Untooled = false
	case event.TypeAgentRested:
		p, err := event.As[event.AgentRested](e)
		if err != nil {
			return err
		}
		g.strays(p.Strays)
		g.Rested = true
	case event.TypeAgentExited:
		p, err := event.As[event.AgentExited](e)
		if err != nil {
			return err
		}
		g.strays(p.Strays)
	case event.TypeIterationEnded:
		p, err := event.As[event.IterationEnded](e)
		if err != nil {
			return err
		}
		g.left(p)
		g.carry(p.Refunded)
	}
	return nil
}

func (g *Gate) noticed(e event.Event) error {
	if string(e.Field("what")) != `"`+event.NoticeBackground+`"` {
		return nil
	}
	p, err := event.As[event.AgentNoticed](e)
	if err != nil {
		return err
	}
	g.Background = firstBytes(p.Text, 500)
	return nil
}

func (g *Gate) ended(p event.GuardrailEnded) {
	if g.Ran == 0 {
		g.Failures = nil // of the check before
	}
	g.Ran++
	if p.OK || len(g.Failures) >= failuresMost {
		return
	}
	f := Failure{Name: firstBytes(p.Name, nameMost), Action: p.Action}
	if p.Message != nil {
		f.Message = *p.Message
	}
	together := len(f.Message.Text)
	for _, other := range g.Failures {
		together += len(other.Message.Text)
	}
	if together > messagesMost {
		f.Message.Text = firstBytes(f.Message.Text, messageLeast)
	}
	g.Failures = append(g.Failures, f)
}

func edited(p event.GuardrailEdited) string {
	what := fmt.Sprintf("the file %s, which guardrails consist of, was %s", firstBytes(p.Path, 200), firstBytes(p.How, 200))
	if p.Role == event.RoleSettings {
		what = fmt.Sprintf("the settings file %s was %s", firstBytes(p.Path, 200), firstBytes(p.How, 200))
	}
	if p.During {
		what += " while the guardrails ran"
	}
	if p.Restored {
		what += ", and has been put back"
	}
	return what
}

// strays are processes that were still running when the turn was over.
func (g *Gate) strays(n int) {
	switch {
	case g.Untooled, g.Rested:
	case n == 1:
		g.Left = append(g.Left, "a process that was started in the background was still running at the end, and was ended")
	case n > 1:
		g.Left = append(g.Left, fmt.Sprintf("%d processes that were started in the background were still running at the end, and were ended", n))
	}
}

// carry keeps for the next prompt what the one before held and is still so.
func (g *Gate) carry(refunded bool) {
	before := g.Before
	if g.Before = nil; before == nil {
		return
	}
	if g.Ran == 0 {
		g.Failures = before.Failures
	}
	if refunded {
		g.Edited = firsts(slices.Concat(before.Edited, g.Edited), editedMost)
		g.Left = firsts(slices.Concat(before.Left, g.Left), leftMost)
		g.Commit = orElse(g.Commit, before.Commit)
	}
}

// firsts returns the first n different texts.
func firsts(texts []string, n int) []string {
	var different []string
	for _, text := range texts {
		if len(different) < n && !slices.Contains(different, text) {
			different = append(different, text)
		}
	}
	return different
}

// left notes how an iteration ended that did not end by itself.
func (g *Gate) left(p event.IterationEnded) {
	g.Untooled = false
	if g.Background != "" {
		g.Left = append(g.Left, "work that was put into the background had not ended: "+g.Background)
		g.Background = ""
	}
	switch p.Outcome {
	case event.OutcomeInterrupted, event.OutcomeAborted:
		g.Left = append(g.Left, "it was interrupted before it was over: work may be half done")
	case event.OutcomeIdle, event.OutcomeOverlong, event.OutcomeOverspent:
		g.Left = append(g.Left, "it was cut short: "+firstBytes(p.Error, 200))
	case event.OutcomeFailed:
		if p.Error != "" {
			g.Left = append(g.Left, "it ended with an error: "+firstBytes(p.Error, 500))
		}
	}
}

// Missing says which guardrails are still in the way of a claim.
func (g *Gate) Missing(r event.Rules) []string {
	switch {
	case r.Guardrails == 0:
		return nil
	case !g.Checked || g.Ran == 0:
		return []string{"the guardrails have not all run"}
	case len(g.Failures) > 0:
		var missing []string
		for _, f := range g.Failures {
			missing = append(missing, fmt.Sprintf("the guardrail %q failed", firstBytes(f.Name, 200)))
		}
		return missing
	case g.Ran < r.Guardrails:
		return []string{"the guardrails have not all run"}
	case len(g.Loose) > 0:
		return []string{"guardrails passed that were changed in the same iteration: " + strings.Join(g.Loose, ", ")}
	}
	return nil
}
