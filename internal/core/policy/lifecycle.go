package policy

import (
	"cmp"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Lifecycle is the state of the loop and of its open iteration. A loop starts, works through
// iterations and ends. An iteration begins with its prompt; then the agent starts, has its turn,
// finishes, and exits or is parked; its work is checked and committed; only then does the iteration
// end. A runner that dies leaves an iteration open, which the next runner closes as interrupted.
type Lifecycle struct {
	Name    string       `json:"name,omitempty"`
	ID      string       `json:"id,omitempty"`
	Dir     string       `json:"dir,omitempty"`
	Project string       `json:"project,omitempty"`
	Host    string       `json:"host,omitempty"`
	PID     int          `json:"pid,omitempty"`
	Agent   event.Agent  `json:"agent"`
	Task    event.Source `json:"task"`
	Started time.Time    `json:"started,omitzero"`
	Resumed int          `json:"resumed,omitempty"` // how many runners resumed the loop
	Rules   event.Rules  `json:"rules"`             // in force now
	// TraceParent is the span of another program in which the loop began.
	TraceParent string `json:"traceParent,omitempty"`

	Iteration int        `json:"iteration"` // the last one that began; 0 before the first
	Phase     Phase      `json:"phase,omitempty"`
	Since     time.Time  `json:"since,omitzero"` // when the iteration began
	Prompt    event.Blob `json:"prompt"`
	Worker    Worker     `json:"worker,omitzero"`

	Process Process `json:"process"`
	// Cut is the outcome of an iteration that ralph itself cut short.
	Cut      event.Outcome        `json:"cut,omitempty"`
	CutWhy   string               `json:"cutWhy,omitempty"`
	Finished *event.AgentFinished `json:"finished,omitempty"`
	Exited   *event.AgentExited   `json:"exited,omitempty"`
	// the effect whose failure made this iteration fail
	Failed *event.EffectFailed `json:"failed,omitempty"`
	// Worked says that the iteration has ended, and that the files showed progress.
	Worked bool `json:"worked,omitempty"`
	// Background names the work in the background of the open iteration that has not ended.
	Background string `json:"background,omitempty"`

	Paused bool `json:"paused,omitempty"`
	// Wait is what the loop waits for between two iterations.
	Wait *event.LoopWaiting `json:"wait,omitempty"`
	// Hold keeps the next iteration from beginning; nil if nothing does.
	Hold *event.LoopHeld `json:"hold,omitempty"`
	// When is that of the start; nil once it was met.
	When *event.When `json:"when,omitempty"`
	// Cancelled says that check.cancel was decided, and is not answered yet.
	Cancelled bool               `json:"cancelled,omitempty"`
	Broken    bool               `json:"broken,omitempty"` // the runner of this iteration died
	Fault     *event.FaultRaised `json:"fault,omitempty"`
	Ended     *event.LoopEnded   `json:"ended,omitempty"`
	// PullRequest is that of the loop's branch; nil if the loop has not tried to make one.
	PullRequest *PullRequest `json:"pullRequest,omitempty"`
}

// Worker is the agent of the last iteration that began, if the loop has several.
type Worker struct {
	Agent int    `json:"agent,omitempty"` // its index in the list
	Name  string `json:"name,omitempty"`
}

// Process is the agent's process as the journal knows it.
type Process struct {
	Alive  bool `json:"alive,omitempty"`
	Parked bool `json:"parked,omitempty"` // alive between two iterations
	PID    int  `json:"pid,omitempty"`
	// index of the agent in the list
	Agent int  `json:"agent,omitempty"`
	Live  bool `json:"live,omitempty"`
	Costs bool `json:"costs,omitempty"`
	Tools bool `json:"tools,omitempty"`
	// Uncounted says that the agent does not report the tokens it uses.
	Uncounted bool `json:"uncounted,omitempty"`
	ExitEnds  bool `json:"exitEnds,omitempty"`
	// Flags are the first flags that it was started with, without dashes and values, separated by
	// spaces.
	Flags    string `json:"flags,omitempty"`
	Heard    bool   `json:"heard,omitempty"`    // it reached its model: it said, thought, did or used something
	Answered bool   `json:"answered,omitempty"` // it said or did something
	Unparsed bool   `json:"unparsed,omitempty"` // it printed what is not of its protocol
	Silent   bool   `json:"silent,omitempty"`   // it left by itself with 0, and without a sign of a turn
	Ending   bool   `json:"ending,omitempty"`   // agent.abort or agent.kill was decided
	Killing  bool   `json:"killing,omitempty"`  // agent.kill was decided
}

// Phase of an iteration.
type Phase string

// The phases, in their order.
const (
	Between    Phase = ""          // no iteration is open
	Beginning  Phase = "beginning" // the prompt is being composed
	Opened     Phase = "opened"    // the prompt is in the journal
	Starting   Phase = "starting"  // the agent is being given the prompt
	Turning    Phase = "turning"   // the agent works
	Finished   Phase = "finished"  // the agent said that its turn is over
	Leaving    Phase = "leaving"   // the process is being ended or put to rest
	Gone       Phase = "gone"      // the process has exited or is parked
	Checking   Phase = "checking"  // what it left is looked at, and guardrails run
	Checked    Phase = "checked"
	Committing Phase = "committing" // the tasks of version control are done
	Settled    Phase = "settled"    // nothing is left to do for the iteration
	// VerifyingDone is Checking while no iteration is open: the file DONE existed before one began.
	VerifyingDone Phase = "verifying"
	Proving       Phase = "proving" // no iteration is open, and the guardrails are tried
)

// Open reports whether an iteration has its prompt and has not ended.
func (p Phase) Open() bool {
	return p != Between && p != Beginning && p != VerifyingDone && p != Proving
}

// Working reports whether the agent is at its turn, or about to be.
func (p Phase) Working() bool { return p == Starting || p == Turning }

// Verifying reports whether what the agent left is being checked.
func (p Phase) Verifying() bool { return p == Checking || p == VerifyingDone }

// Cancellable reports whether the executor does something that check.cancel ends: it composes the
// prompt, checks, commits or tries the guardrails.
func (p Phase) Cancellable() bool {
	return p == Beginning || p == Committing || p == Proving || p.Verifying()
}

// Apply folds one event.
func (l *Lifecycle) Apply(at time.Time, p event.Payload) {
	switch p := p.(type) {
	case event.LoopStarted:
		*l = Lifecycle{
			Name: p.Name, ID: p.ID, Dir: p.Dir, Project: p.Project, Host: p.Host, PID: p.PID,
			Agent: p.Agent, Task: p.Task, Started: at, Rules: p.Rules,
			TraceParent: p.TraceParent, When: p.When,
		}
	case event.LoopResumed:
		l.resume(p)
	case event.LoopConfigured:
		l.Rules = p.Rules
	case event.LoopPaused:
		l.Paused = true
	case event.LoopUnpaused:
		l.Paused = false
	case event.LoopWaiting:
		p.Why = firstBytes(p.Why, problemMost)
		l.Wait = &p
	case event.LoopWaited:
		l.Wait = nil
	case event.LoopHeld:
		p.Why = firstBytes(p.Why, problemMost)
		l.Hold = &p
		if !p.Start {
			l.When = nil
		}
	case event.LoopReleased:
		l.Hold = nil
		if l.Iteration == 0 {
			l.When = nil
		}
	case event.FolderInspected:
		if l.Rules.Completion.DoneFile && l.Phase == Beginning && p.Done {
			l.Phase, l.Cancelled = Between, false // no iteration is needed
		}
	case event.StoriesRead:
		if l.Phase == Beginning && (p.Done || p.Other) {
			l.Phase, l.Cancelled = Between, false // no iteration is needed, or not of this agent
		}
	case event.IterationChecked:
		l.checked()
	case event.HoldoutChecked:
		l.heldOut()
	case event.SCMEnded:
		if l.Phase == Committing {
			l.Phase = Settled
		}
		l.published(p)
	case event.ProofEnded:
		l.proved()
	case event.LoopFenced:
		l.fenced()
	case event.FaultRaised:
		p.Error = firstBytes(p.Error, problemMost)
		l.Fault = &p
	case event.LoopEnded:
		p.Why, p.Hint = firstBytes(p.Why, problemMost), firstBytes(p.Hint, problemMost)
		l.Ended, l.Wait = &p, nil
	case event.IterationStarted:
		l.Iteration, l.Phase, l.Since, l.Prompt = p.N, Opened, at, p.Prompt
		l.Cut, l.CutWhy, l.Finished, l.Exited, l.Failed, l.Worked = "", "", nil, nil, nil, false
		l.Cancelled, l.Background, l.When = false, "", nil
	case event.IterationEnded:
		l.Phase, l.Broken, l.Worked, l.Background = Between, false, p.Progress == event.ProgressYes, ""
	case event.AgentReplaced:
		if p.To >= 0 && p.To < len(l.Rules.Agents) {
			l.Agent = l.Rules.Agents[p.To]
			l.Finished, l.Exited, l.Failed = nil, nil, nil // they were about the previous agent
		}
	case event.Decided:
		l.decided(p)
	case event.EffectFailed:
		l.effectFailed(p)
	default:
		l.agent(p)
	}
}

// NeedsResume reports whether only a person's resume lets the loop go on.
func (l *Lifecycle) NeedsResume() bool {
	return l.Paused || l.Wait != nil && l.Wait.For == event.WaitPerson
}

// resumedByPerson reports whether an event ends what only a person could end.
func resumedByPerson(p event.Payload) bool {
	waited, ok := p.(event.LoopWaited)
	return p.EventType() == event.TypeLoopUnpaused || ok && waited.For == event.WaitPerson
}

// resume takes over from a dead or ended runner: whatever it had under way is gone, also its agent,
// and an earlier end no longer counts.
func (l *Lifecycle) resume(p event.LoopResumed) {
	l.Hold = nil // it is observed again
	l.Host, l.PID = p.Host, p.PID
	l.Resumed++
	if p.Agent != nil {
		l.Agent = *p.Agent
	}
	if p.Rules != nil {
		l.Rules = *p.Rules
	}
	if p.Task != nil {
		l.Task = *p.Task
	}
	l.Dir, l.Project = cmp.Or(p.Dir, l.Dir), cmp.Or(p.Project, l.Project)
	l.Broken = l.Phase.Open()
	if !l.Broken {
		l.Phase = Between // a prompt that was being composed is lost
	}
	l.Process = Process{}
	l.Ended, l.Fault, l.Failed = nil, nil, nil
	l.Cut, l.CutWhy, l.Finished, l.Exited = "", "", nil, nil // a person may have repaired what was wrong
	l.Paused, l.Wait, l.Cancelled = false, nil, false
}

// checked ends the check.
func (l *Lifecycle) checked() {
	l.Cancelled = false
	switch l.Phase {
	case Checking:
		l.Phase = Checked
	case VerifyingDone:
		l.Phase = Between
	}
}

// proved ends the proof of the guardrails.
func (l *Lifecycle) proved() {
	if l.Phase == Proving {
		l.Phase, l.Cancelled = Between, false
	}
}

// heldOut ends the run of the held-out guardrails, which comes last.
func (l *Lifecycle) heldOut() {
	if l.checked(); l.Phase == Checked {
		l.Phase = Settled
	}
}

func (l *Lifecycle) decided(p event.Decided) {
	switch p.Do {
	case event.DoBegin:
		l.Phase, l.Failed = Beginning, nil
		l.Worker = Worker{Agent: p.Agent, Name: l.Agent.Name}
		if p.Agent >= 0 && p.Agent < len(l.Rules.Agents) {
			l.Worker.Name = l.Rules.Agents[p.Agent].Name
		}
	case event.DoStart:
		l.Phase = Starting
		// Earlier decisions were about another process.
		l.Process.Ending, l.Process.Killing = false, false
	case event.DoRelease:
		l.leave()
	case event.DoCheck, event.DoHoldout:
		if l.Phase == Between {
			l.Phase = VerifyingDone
		} else {
			l.Phase = Checking
		}
	case event.DoCommit:
		l.Phase = Committing
	case event.DoProve:
		l.Phase = Proving
	case event.DoCancel:
		l.Cancelled = true
		if l.Phase.Open() {
			l.Cut = event.OutcomeAborted
		}
	case event.DoAbort:
		l.leave()
		l.Process.Ending = true
		if l.Cut == "" {
			l.Cut, l.CutWhy = p.Outcome, firstBytes(p.Why, 200)
		}
	case event.DoKill:
		l.leave()
		l.Process.Ending, l.Process.Killing = true, true
		if p.Outcome != "" {
			l.Cut, l.CutWhy = p.Outcome, firstBytes(p.Why, 200)
		}
	}
}

// fenced: what was under way ends without a report, also the agent.
func (l *Lifecycle) fenced() {
	if l.Phase.Open() {
		l.Cut, l.CutWhy = event.OutcomeAborted, ""
	} else {
		l.Phase = Between
	}
	l.Process.Alive, l.Process.Parked, l.Process.PID = false, false, 0
}

// leave waits for the exit of the agent's process, if the open iteration has started one. A parked
// process may be ended at any time and its exit does not end the iteration, so nothing waits for
// it.
func (l *Lifecycle) leave() {
	switch l.Phase {
	case Gone:
		if !l.Process.Parked {
			l.Phase = Leaving
		}
	case Starting, Turning, Finished:
		l.Phase = Leaving
	}
}

func (l *Lifecycle) effectFailed(p event.EffectFailed) {
	p.Error = firstBytes(p.Error, problemMost)
	switch p.Do {
	case event.DoBegin:
		l.Phase, l.Failed, l.Cancelled = Between, &p, false
	case event.DoStart:
		l.Failed = &p
		// A process parked by an earlier iteration has no part in this one, and does not end it.
		if !l.Process.Alive || l.Process.Parked {
			l.Phase = Gone
		}
	case event.DoCheck:
		cancelled := l.Cancelled
		l.checked()
		if !cancelled {
			l.Fault = &event.FaultRaised{Where: string(p.Do), Error: p.Error, Class: p.Class}
		}
	case event.DoHoldout:
		l.heldOut()
	case event.DoCommit:
		l.Phase = Settled
	case event.DoProve:
		l.proved()
	case event.DoRelease, event.DoAbort, event.DoKill:
		// The executor reports agent.exited whatever happened, so this is a failure of ralph
		// itself: the process may still be alive.
		l.Fault = &event.FaultRaised{Where: string(p.Do), Error: p.Error, Class: p.Class}
	}
}

// agent folds what the agent's process does.
func (l *Lifecycle) agent(p event.Payload) {
	switch p := p.(type) {
	case event.AgentStarted:
		alive := l.Process.Alive
		l.Process = Process{
			Alive: true, PID: p.PID, Agent: l.Worker.Agent, Live: p.Live, Costs: p.Costs, Tools: p.Tools,
			Uncounted: p.Uncounted, ExitEnds: p.ExitEnds, Flags: flagsOf(p.Argv),
			Ending: l.Process.Ending, Killing: l.Process.Killing,
		}
		if p.Reused && !alive {
			// The parked process exited just before it was given the prompt. Its exit is
			// recorded already.
			l.Process.Alive, l.Phase = false, Gone
			return
		}
		if l.Phase == Starting {
			l.Phase = Turning
		}
	case event.AgentNoticed:
		if p.What == event.NoticeBackground {
			l.Background = firstBytes(p.Text, 500)
		}
	// An agent that did not reach its model may also print blanks and report zero tokens.
	case event.AgentSaid:
		l.Process.Answered = l.Process.Answered || strings.TrimSpace(p.Text.String()) != ""
		l.Process.Heard = l.Process.Heard || l.Process.Answered
	case event.AgentUsed:
		l.Process.Heard = l.Process.Heard || p.In > 0 || p.Out > 0 || p.CacheRead > 0 || p.CacheWrite > 0 || p.USD != nil && *p.USD > 0
	case event.AgentThought:
		l.Process.Heard = true
	case event.ToolCalled:
		l.Process.Heard, l.Process.Answered = true, true
	case event.AgentUnparsed:
		l.Process.Unparsed = l.Process.Unparsed || p.Stream == ""
	case event.AgentFinished:
		p.Error = firstBytes(p.Error, problemMost)
		l.Finished = &p
		if l.Phase == Turning {
			l.Phase = Finished
		}
	case event.AgentParked:
		l.Process.Parked = l.Process.Alive
		if l.Phase == Leaving {
			l.Phase = Gone
		}
	case event.AgentExited:
		resting := l.Process.Parked
		p.Stderr = lastBytes(p.Stderr, 2048)
		l.Process = Process{
			Costs: l.Process.Costs, Tools: l.Process.Tools, Uncounted: l.Process.Uncounted, ExitEnds: l.Process.ExitEnds,
			Flags: l.Process.Flags, Heard: l.Process.Heard, Answered: l.Process.Answered, Unparsed: l.Process.Unparsed,
			Silent: p.Code == 0 && p.Signal == "" && l.Finished == nil && !l.Process.Ending && !l.Process.Heard && !l.Process.Unparsed,
		}
		if resting {
			// It served an earlier iteration: its exit ends nothing.
			return
		}
		l.Exited = &p
		switch l.Phase {
		case Between, Checking, Checked, Committing, Settled, VerifyingDone, Proving:
		default:
			l.Phase = Gone
		}
	}
}

// unread reports whether the next prompt has to repeat the messages and reports of the iteration
// that ends: it is refunded, or its agent failed, was killed or was cut short before it had worked.
// A word is work only of an agent that shows no tools: others may say that their model cannot be
// reached. l is the loop before the end.
func (l *Lifecycle) unread(p event.IterationEnded) bool {
	switch {
	case p.Refunded:
		return true
	case p.Outcome == event.OutcomeDone, p.Tools > 0, p.Progress == event.ProgressYes:
		return false
	case l.Failed != nil: // no process had it, and Process is an earlier one
		return true
	}
	return l.Process.Tools || !l.Process.Answered
}

// EmptyTurn says that an agent whose turn ended well neither said nor did anything, with what
// its standard error says.
func (l *Lifecycle) EmptyTurn() string {
	why := "the agent said nothing, used no tool and reported no tokens"
	if l.Process.Heard {
		why = "the model answered without a word, and used no tool"
	}
	if l.Exited != nil {
		why += complaint(l.Exited.Stderr)
	}
	return why
}

// Outcome returns the iteration's outcome, once the phase is Gone. If ralph cut the turn short, it
// is Cut; if the agent finished it, the agent's own. A process that exited without a result has
// failed, unless this agent finishes by its exit and the exit code is 0.
func (l *Lifecycle) Outcome() (outcome event.Outcome, problem string) {
	switch {
	case l.Broken:
		return event.OutcomeInterrupted, "the runner died"
	case l.Cut == event.OutcomeAborted:
		return l.Cut, "" // a person knows why
	case l.Cut != "":
		return l.Cut, l.CutWhy
	case l.Finished != nil && l.Finished.Outcome == "ok":
		return event.OutcomeDone, ""
	case l.Finished != nil && l.Finished.Kind == event.KindRefusal:
		return event.OutcomeFailed, strings.TrimSuffix("the model refused to answer: "+l.Finished.Error, ": ")
	case l.Finished != nil:
		return event.OutcomeFailed, cmp.Or(l.Finished.Error, string(l.Finished.Outcome))
	case l.Failed != nil:
		return event.OutcomeFailed, l.Failed.Error
	case l.Exited == nil:
		return event.OutcomeFailed, "the agent is gone"
	case l.Process.ExitEnds && l.Exited.Code == 0 && l.Exited.Signal == "":
		return event.OutcomeDone, ""
	}
	return event.OutcomeFailed, exitProblem(*l.Exited)
}
