package projector

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// View returns what is true after the last event that was folded. Later calls of Fold do not change
// it.
func (l *Loop) View() View {
	s := &l.state
	v := View{
		Summary: s.Summary(), Agents: s.Rules.Agents, Reviewers: s.Rules.Reviewers, Workers: workersOf(s), Ended: s.Lifecycle.Ended,
		Questions: questionsOf(s),
		Identity:  identityOf(s), Work: workOf(s), Waits: waitsOf(s), Spending: spendingOf(s), People: peopleOf(s),
	}
	if s.Begun() {
		rules := s.Rules
		rules.Agents, rules.Reviewers = nil, 0
		v.Rules = &rules
	}
	if len(v.Agents) == 0 {
		v.Agents = []event.Agent{s.Lifecycle.Agent}
	}
	if v.Ended != nil {
		v.Done = v.Ended.Strength.Done()
	}
	more := s.Budget.Allowance(s.Rules)
	v.Resumption = Resumption{more.Text, more.Raise}
	bound(&v)
	v.assess()
	return v
}

func identityOf(s *loopstate.State) Identity {
	life := &s.Lifecycle
	i := Identity{
		ID: life.ID, Name: life.Name, Dir: life.Dir, Project: life.Project, Host: life.Host, Started: life.Started, Resumed: life.Resumed,
		Task: Task{File: life.Task.File}, Epoch: s.Ownership.Moved,
	}
	if text := life.Task.Text; text != nil {
		i.Task.Text = units.Cut(text.Text, taskMost)
	}
	return i
}

func workOf(s *loopstate.State) Work {
	life, count := &s.Lifecycle, s.Budget.Count(s.Rules)
	w := Work{
		Begun: count.Begun, Counted: count.Used(), Open: life.Phase != policy.Between, Doing: s.Doing(),
		Checking: life.Phase.Verifying(), OpenSince: life.Since,
		Ticked: s.Completion.Ticked, Boxes: s.Completion.Boxes, Changed: s.Changes.Whole(),
	}
	if now := &s.Budget.Current; w.Open {
		w.Tools, w.Failed, w.OpenUsage = now.Tools, now.Failed, now.Spent()
	}
	if st := &s.Stories; st.Mode != "" {
		w.Story = &Story{Mode: st.Mode, ID: st.Story, Title: st.Title(st.Story)}
	}
	if st := &s.Stories; s.Rules.Stories && st.Total > 0 {
		w.Plan = &Plan{st.States, st.Tally.Reviews, st.Tally.Approved, st.Tally.Changes, st.Tally.AtCap}
	}
	if s.Last != nil {
		last := Iteration(*s.Last)
		if last.Claimed != "" && len(last.Refused) == 0 { // by the proof of the guardrails, which came after it
			last.Refused = s.Completion.Refused
		}
		w.Last = &last
	}
	for _, t := range s.Fleet.Tasks {
		w.Fleet = append(w.Fleet, FleetTask{ID: t.ID, Loop: t.Loop, Step: t.Step, Why: t.Why})
	}
	if h := &s.Holdout; s.Rules.HeldOut > 0 {
		w.HeldOut = &HeldOut{
			Guardrails: s.Rules.HeldOut, ByConvention: h.ByConvention || !h.Sandboxed, Passed: h.Passed, Failed: h.Failed, Error: h.Error,
		}
	}
	if pr := life.PullRequest; pr != nil {
		w.PullRequest = &PullRequest{pr.URL, pr.Error, pr.Stack}
	}
	return w
}

// deadlines says what a deadline would do.
var deadlines = map[string]string{
	policy.TimerIdle:       "limits.idle cuts the iteration short",
	policy.TimerIteration:  "limits.iteration cuts the iteration short",
	policy.TimerBackground: "limits.tool cuts the iteration short",
	policy.TimerTool:       "limits.tool cuts the iteration short",
	policy.TimerLimit:      "it is tried again",
	policy.TimerBreaker:    "the next iteration begins",
	policy.TimerExitGrace:  "limits.exitGrace ends the agent's process",
	policy.TimerRestart:    "the next iteration",
	policy.TimerHeld:       "its turn comes",
	policy.TimerDuration:   "limits.duration ends the loop",
}

func waitsOf(s *loopstate.State) Waits {
	awaited, _ := s.Questions.Awaited() // once it is answered, the wait is about to end
	asked := s.Escalation.Waits != "" || s.Holdout.Asks != "" || awaited > 0
	w := Waits{Resting: s.Paused || s.NeedsResume() && asked, Signalled: s.Commands.Signal, Trouble: Trouble{
		Failures: s.Failover.Restart.Failures, Failure: s.Failover.Restart.Error,
		Stuck: s.Breaker.Stuck, Refusal: s.Breaker.Refusal, Blind: s.Breaker.Blind,
	}}
	for _, limit := range s.Budget.Warned {
		w.Trouble.Warnings = append(w.Trouble.Warnings, warning(s, limit))
	}
	if next, ok := s.Deadline(); ok {
		w.Deadline = &Deadline{next.At, deadlines[next.Name]}
	}
	if s.Wait == nil {
		return w
	}
	w.Until = s.Wait.Until
	if s.Status() != event.StatusWaiting {
		return w
	}
	w.Wait = &Wait{For: s.Wait.For}
	switch w.Wait.For {
	case event.WaitPerson:
		if n := s.Questions.Waits; len(n) > 0 {
			w.Wait.Question = n[0]
		}
	case event.WaitBreaker:
		w.Wait.Hint = s.Breaker.Hint
	case event.WaitRestart, event.WaitHeld:
	default:
		w.Wait.Error, w.Wait.Attempt = s.Failover.Limits.Error, s.Failover.Limits.Attempt
	}
	return w
}

// warning says how near the limit of a warning is.
func warning(s *loopstate.State, limit string) string {
	b, r, used := &s.Budget, &s.Rules, s.Budget.Used()
	switch limit {
	case "limits.cost":
		if !s.Lifecycle.Process.Costs || used.USD == nil {
			return limit + ": not all costs are reported, and what is not reported cannot stop the loop"
		}
		return fmt.Sprintf("%s: %s of %s", limit, units.Cost(used.USD), units.Cost(&r.Limits.Cost))
	case "limits.tokens":
		if s.Lifecycle.Process.Uncounted || used.TokensUnknown {
			return limit + ": not all tokens are reported, and what is not reported cannot stop the loop"
		}
		return fmt.Sprintf("%s: %s of %s", limit, units.Tokens(used.Tokens()), units.Tokens(r.Limits.Tokens))
	case "limits.duration":
		return fmt.Sprintf("%s: %s of %s", limit, units.Span(b.Ran()), units.Span(r.Limits.Duration.Std()))
	case "maximumIterations":
		return fmt.Sprintf("%s: %d of %d", limit, b.Counted, r.MaximumIterations)
	}
	return limit + " is near"
}

func spendingOf(s *loopstate.State) Spending {
	b := &s.Budget
	p := Spending{
		Spent: b.Used(), Ran: b.Ran().Milliseconds(),
		Used: b.Total.Usage, CostUnknown: b.Total.Unknown, TokensUnknown: b.Total.TokensUnknown,
	}
	if len(s.Rules.Agents) > 1 { // else it was resumed with one, whose share is not kept
		for i := range b.Agents {
			share := &b.Agents[i]
			p.Shares = append(p.Shares, Share{share.Name, share.Iterations, share.Refunded, share.Spent()})
		}
	}
	return p
}

// States of a command without an outcome.
const (
	CommandReceived = "received"
	CommandSent     = "sent"   // into the running turn
	CommandWaits    = "waits"  // for the next prompt
	CommandInPrompt = "prompt" // it is in that of an iteration
)

func peopleOf(s *loopstate.State) People {
	p := People{Edited: s.FileChanges.Unaccepted(), Checked: s.Verification.Edited}
	for _, aside := range s.FileChanges.Aside {
		p.Aside = append(p.Aside, SetAside{filepath.FromSlash(aside.Name), aside.Role == event.RoleSettings})
	}
	for _, c := range s.Commands.Open {
		state := CommandReceived
		switch {
		case c.Prompt > 0:
			state = CommandInPrompt
		case c.Sent:
			state = CommandSent
		case c.Held, c.Kind == event.CommandFollowUp:
			state = CommandWaits
		}
		received := event.CommandReceived{ID: c.ID, Kind: c.Kind, From: c.From, Text: c.Text, Key: c.Key, Val: c.Val, Question: c.Question}
		p.Commands = append(p.Commands, Command{received, state, c.Prompt})
	}
	for _, seen := range s.Changes.Away() {
		root := filepath.FromSlash(seen.Root)
		if !filepath.IsAbs(root) {
			root = filepath.Join(s.Lifecycle.Project, root)
		}
		p.Away = append(p.Away, Away{root, seen.Left, seen.Branch, seen.Away(), fmt.Sprintf("git -C %s switch %s", root, seen.Left)})
	}
	return p
}

func questionsOf(s *loopstate.State) (all []Question) {
	for _, q := range s.Questions.List {
		all = append(all, Question{q.Number, q.Text, q.Choices, q.Blocks, q.AskedAt, q.Answer, q.AnsweredAt, q.By, q.Read})
	}
	return all
}

func workersOf(s *loopstate.State) (all []Worker) {
	current := Worker{Agent: s.Lifecycle.Agent, Current: true}
	if p := s.Lifecycle.Process; p.Alive {
		current.PID, current.Steerable = p.PID, p.Live
	}
	if len(s.Rules.Agents) == 0 {
		return []Worker{current}
	}
	for i, agent := range s.Rules.Agents {
		w := Worker{Agent: agent}
		if i == s.Failover.Agent {
			w = current
		} else {
			a := s.Failover.Of(i, policy.Availability{}, s.Rules)
			w.Until, w.Gone, w.Why = a.Until, a.Gone(), a.Why
		}
		switch {
		case s.Rules.Reviewers == 0:
		case policy.IsReviewer(s.Rules, i):
			w.Role = "reviews"
		default:
			w.Role = "implements"
		}
		all = append(all, w)
	}
	return all
}

// assess sets what follows for a person from what the view has.
func (v *View) assess() {
	v.State, v.ExitCode, v.Question = v.state(), nil, ""
	if v.Reason != "" {
		code := event.Reason(v.Reason).ExitCode()
		v.ExitCode = &code
	}
	if v.WaitsForPerson() {
		v.Question = strings.TrimPrefix(strings.TrimPrefix(v.Waiting, forPerson), ": ")
	}
	v.NextStep = v.nextStep()
}

// state is the status in words.
func (v *View) state() string {
	status := v.Status.String()
	switch {
	case v.Error != "":
		return "unreadable"
	case v.Gone:
		return "gone"
	case v.ContinuesOn != "":
		return "continues on " + v.ContinuesOn
	case v.Died:
		return "died"
	case v.Pending == "":
		return status
	case v.Status == event.StatusStopping: // the one word says the other
		return v.Pending
	}
	return status + ", " + v.Pending
}

// nextStep is what a person may do about a loop that has ended, that died or that waits for them.
func (v *View) nextStep() string {
	open := v.OpenQuestions()
	switch {
	case v.Gone, v.Error != "":
		return ""
	case v.ContinuesOn != "":
		return fmt.Sprintf("'ralph pool take %s' brings it back", v.Name)
	case v.Died:
		return fmt.Sprintf("'ralph start %s --resume' resumes it", v.Name)
	case v.Ended != nil:
		return NextStep(v.Name, v.Ended)
	case v.Wait != nil && v.Wait.For == event.WaitPerson && v.Wait.Question > 0:
		return fmt.Sprintf("'ralph answer %s %d TEXT' continues it", v.Name, v.Wait.Question)
	case v.Wait != nil && v.Wait.For == event.WaitPerson:
		return fmt.Sprintf("'ralph resume %s' continues it", v.Name)
	case v.Wait != nil && v.Wait.For == event.WaitHeld:
		return fmt.Sprintf("'ralph resume %s' lets it go on at once", v.Name)
	case v.Wait != nil && v.Wait.Hint != "":
		return v.Wait.Hint
	case len(open) > 0:
		return fmt.Sprintf("'ralph answer %s %d TEXT' answers question %d", v.Name, open[0].Number, open[0].Number)
	}
	return ""
}

// limitOf is the setting that ended a loop for a reason.
var limitOf = map[event.Reason]string{
	event.ReasonIterations: "maximumIterations", event.ReasonCost: "limits.cost", event.ReasonTokens: "limits.tokens",
	event.ReasonDuration: "limits.duration", event.ReasonRestarts: "restart.max",
}

// NextStep is the hint after the end of a loop; empty if there is none.
func NextStep(name string, ended *event.LoopEnded) string {
	key := limitOf[ended.Reason]
	switch {
	case ended.Hint != "":
		return ended.Hint
	case key != "":
		return fmt.Sprintf("'ralph start %s --resume --set %s=…' raises it", name, key)
	case ended.Reason == event.ReasonDisk:
		return fmt.Sprintf("make room, make the folder writable or put it back, then 'ralph start %s --resume'", name)
	case ended.Reason == event.ReasonFault:
		return fmt.Sprintf("'ralph start %s --resume' resumes it; 'ralph logs %s --type fault.' makes a good report", name, name)
	}
	return ""
}

// forPerson begins what a loop waits for if it waits for a person.
var forPerson = event.WaitPerson.String()

// WaitsForPerson reports whether the loop waits for a person's answer. One that was found does so
// only while it has a runner.
func (v *View) WaitsForPerson() bool {
	return v.Status == event.StatusWaiting && strings.HasPrefix(v.Waiting, forPerson) && (v.Alive || v.Group == "")
}
