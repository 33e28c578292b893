package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// Verification is the result of the check after an agent's turn: which guardrails failed, which of
// their files the agent changed, and whether the commit failed. A failure goes into every prompt
// until the guardrails have run again. The guardrails of an iteration have passed if all of them
// ran after the turn, none failed, and none of their files changed since the iteration began. After
// an iteration whose agent did not read its prompt, the next one repeats its reports.
type Verification struct {
	Checked  bool      `json:"checked,omitempty"` // since the last iteration began
	Ran      int       `json:"ran,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
	// Failing are the guardrails that failed in the last check, with their past.
	Failing []Failing `json:"failing,omitempty"`
	Edited  []string  `json:"edited,omitempty"`
	// Unrestored are the files that the agent changed in this iteration and that were not put back,
	// or that changed while the guardrails ran: other guardrails passed than those required.
	Unrestored []string `json:"unrestored,omitempty"`
	// Left reports what the iteration left unfinished or running, for the next prompt.
	Left []string `json:"left,omitempty"`
	// Untooled says that the agent reports its tools and has called none in the open iteration:
	// what still runs are its own helpers, which the next one need not know.
	Untooled bool `json:"untooled,omitempty"`
	// Commit is why the work could not be committed; empty if it could.
	Commit string `json:"commit,omitempty"`
	// New are new files that are in no commit, the first of them.
	New []string `json:"new,omitempty"`
	// Before is what the prompt of the open iteration reported.
	Before *Reported `json:"before,omitempty"`
}

// Reported is what a prompt said about the iteration before it.
type Reported struct {
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

// Failing is a guardrail that has failed in each of the last iterations.
type Failing struct {
	Name      string `json:"name"`
	Times     int    `json:"times"`     // iterations in a row
	Iteration int    `json:"iteration"` // the last of them
	Output    string `json:"output"`    // the end of what it printed, on one line
}

const (
	// failuresMost, editedMost and leftMost bound what a checkpoint holds.
	failuresMost = 64
	editedMost   = 32
	leftMost     = 8
	nameMost     = 500
	// Messages are kept complete up to messagesMost bytes in total, and in part beyond that.
	messagesMost = 32 << 10
	messageLeast = 500
	outputMost   = 200
)

// Apply folds one event. was is the loop before it.
func (g *Verification) Apply(p event.Payload, was *Lifecycle) {
	switch p := p.(type) {
	case event.IterationStarted:
		*g = Verification{Before: &Reported{g.Failures, g.Edited, g.Left, g.Commit}, Failing: g.Failing}
	case event.LoopResumed:
		g.Checked = false // what the dead runner had under way is unknown
		g.Failing = nil   // a person may have mended it
	case event.Decided:
		switch p.Do {
		case event.DoBegin:
			g.Checked = false // a person who created the file DONE meanwhile may have repaired what failed
		case event.DoCheck:
			g.Checked, g.Ran, g.Edited, g.Unrestored = false, 0, nil, nil
		}
	case event.GuardrailEnded:
		g.ended(p)
		g.again(p, was.Iteration)
	case event.GuardrailEdited:
		if (!p.Restored || p.During) && len(g.Unrestored) < editedMost {
			g.Unrestored = append(g.Unrestored, firstBytes(p.Path, 200))
		}
		if len(g.Edited) < editedMost {
			g.Edited = append(g.Edited, edited(p))
		}
	case event.IterationChecked:
		g.Checked = true
	case event.SCMEnded:
		if p.Error != "" && p.Failed != taskPullRequest { // the work is kept, and the agent can do nothing about it
			g.Commit = firstBytes(p.Error, problemMost)
		}
		g.New = nil
		for _, name := range p.Left[:min(len(p.Left), leftMost)] {
			g.New = append(g.New, firstBytes(name, 200))
		}
	case event.AgentStarted:
		g.Untooled = p.Tools
	case event.ToolCalled:
		g.Untooled = false
	case event.AgentParked:
		g.strays(p.Strays)
	case event.AgentExited:
		if !was.Process.Parked { // all that the turn left running was ended at its exit
			g.strays(p.Strays)
		}
	case event.IterationEnded:
		g.left(p, was.Background)
		g.carry(was.unread(p))
	}
}

func (g *Verification) ended(p event.GuardrailEnded) {
	if g.Ran == 0 {
		g.Failures = nil // of the previous check
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

// again counts how often in a row a guardrail has failed: once for each iteration.
func (g *Verification) again(p event.GuardrailEnded, iteration int) {
	name := firstBytes(p.Name, nameMost)
	at := slices.IndexFunc(g.Failing, func(f Failing) bool { return f.Name == name })
	switch {
	case p.OK:
		g.Failing = slices.DeleteFunc(g.Failing, func(f Failing) bool { return f.Name == name })
		return
	case at < 0 && len(g.Failing) >= failuresMost:
		return
	case at < 0:
		at = len(g.Failing)
		g.Failing = append(g.Failing, Failing{Name: name})
	}
	f := &g.Failing[at]
	if f.Iteration != iteration {
		f.Times++
	}
	f.Iteration, f.Output = iteration, fmt.Sprintf("exit code %d", p.Code)
	if p.Message != nil {
		if _, output, found := strings.Cut(p.Message.Text, event.OutputFollows); found && strings.TrimSpace(output) != "" {
			f.Output = lastLine(output)
		}
	}
}

// lastLine is the last line of an output that says something and is complete.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if at := strings.LastIndexByte(text, '\n'); at > 0 && strings.HasSuffix(text, "... [truncated]") {
		text = strings.TrimSpace(text[:at])
	}
	return firstBytes(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]), outputMost)
}

// Culprit returns the guardrail that has failed in the most iterations in a row, and at least in
// two: the agent can hardly make it pass.
func (g *Verification) Culprit() (worst Failing, found bool) {
	for _, f := range g.Failing {
		if f.Times > max(worst.Times, 1) {
			worst, found = f, true
		}
	}
	return worst, found
}

// String says what the guardrail did.
func (f Failing) String() string {
	return fmt.Sprintf("the guardrail %q failed in %s: %s", firstBytes(f.Name, 200), iterations(f.Times), f.Output)
}

// Advice is the next step for a person.
func (f Failing) Advice() string {
	return fmt.Sprintf("run %q by hand, mend what it needs or change guardrails in the settings, then resume the loop", firstBytes(f.Name, 200))
}

func edited(p event.GuardrailEdited) string {
	kind := "guardrail"
	if p.Role == event.RoleSettings {
		kind = "settings"
	}
	what := fmt.Sprintf("the %s file %s %s", kind, firstBytes(p.Path, 200), p.How.Past())
	if p.During {
		what += " while the guardrails ran"
	}
	if p.Restored {
		what += ", and has been put back"
	}
	return what
}

// strays reports n processes that were still running after the turn.
func (g *Verification) strays(n int) {
	switch {
	case g.Untooled:
	case n == 1:
		g.Left = append(g.Left, "a process that was started in the background was still running at the end, and was ended")
	case n > 1:
		g.Left = append(g.Left, fmt.Sprintf("%d processes that were started in the background were still running at the end, and were ended", n))
	}
}

// carry keeps for the next prompt what the previous one reported and still holds.
func (g *Verification) carry(unread bool) {
	before := g.Before
	if g.Before = nil; before == nil {
		return
	}
	if g.Ran == 0 {
		g.Failures = before.Failures
	}
	if unread {
		g.Edited = firsts(slices.Concat(before.Edited, g.Edited), editedMost)
		g.Left = firsts(slices.Concat(before.Left, g.Left), leftMost)
		g.Commit = cmp.Or(g.Commit, before.Commit)
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

// left reports an iteration that did not end by itself.
func (g *Verification) left(p event.IterationEnded, background string) {
	g.Untooled = false
	if background != "" {
		g.Left = append(g.Left, "work that was put into the background had not ended: "+background)
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

// Missing says which guardrails prevent a claim.
func (g *Verification) Missing(r event.Rules) []string {
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
	case len(g.Unrestored) > 0:
		return []string{"guardrails passed that were changed in the same iteration: " + strings.Join(g.Unrestored, ", ")}
	}
	return nil
}
