package policy

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Life is where the loop stands. A loop starts, works through iterations and
// ends. An iteration begins with its prompt, then the agent starts, has its turn,
// finishes, and is gone or at rest; what it left is looked at, checked and committed; only then
// does the iteration end. A runner that dies leaves an iteration open, which the next runner
// closes as interrupted.
type Life struct {
	Name    string       `json:"name,omitempty"`
	ID      string       `json:"id,omitempty"`
	Dir     string       `json:"dir,omitempty"`
	Project string       `json:"project,omitempty"`
	Host    string       `json:"host,omitempty"`
	PID     int          `json:"pid,omitempty"`
	Agent   event.Agent  `json:"agent"`
	Task    event.Source `json:"task"`
	Started time.Time    `json:"started,omitzero"`
	Resumed int          `json:"resumed,omitempty"` // how many runners took the loop up again

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
	Failed   *event.EffectFailed  `json:"failed,omitempty"` // the effect that this iteration failed by
	// Worked says that the iteration has ended, and that the files showed progress.
	Worked bool `json:"worked,omitempty"`

	Paused bool `json:"paused,omitempty"`
	// Person says that the loop is paused because its agent asked for a person.
	Person bool `json:"person,omitempty"`
	// Cancelled says that the end of the look, the check or the tasks was decided, and is not answered yet.
	Cancelled bool               `json:"cancelled,omitempty"`
	Broken    bool               `json:"broken,omitempty"` // the runner of this iteration died
	Fault     *event.FaultRaised `json:"fault,omitempty"`
	Ended     *event.LoopEnded   `json:"ended,omitempty"`
}

// Worker is the agent of the last iteration that began, where the loop has several.
type Worker struct {
	Agent int    `json:"agent,omitempty"` // its place in the list; 0 is the first
	Name  string `json:"name,omitempty"`
}

// Process is the agent's process as the journal knows it.
type Process struct {
	Alive   bool `json:"alive,omitempty"`
	Resting bool `json:"resting,omitempty"` // alive between two iterations
	PID     int  `json:"pid,omitempty"`
	Agent   int  `json:"agent,omitempty"` // whose process it is, by its place in the list; 0 is the first
	Live    bool `json:"live,omitempty"`
	Costs   bool `json:"costs,omitempty"`
	Tools   bool `json:"tools,omitempty"`
	// Uncounted says that the agent does not report the tokens it uses.
	Uncounted bool `json:"uncounted,omitempty"`
	ExitEnds  bool `json:"exitEnds,omitempty"`
	// Flags are the first flags that it was started with, without dashes and values, set apart by spaces.
	Flags   string `json:"flags,omitempty"`
	Heard   bool   `json:"heard,omitempty"`   // it said or did something
	Ending  bool   `json:"ending,omitempty"`  // agent.abort or agent.kill was decided
	Killing bool   `json:"killing,omitempty"` // agent.kill was decided
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
	Gone       Phase = "gone"      // the process is gone or at rest
	Checking   Phase = "checking"  // what it left is looked at, and the guardrails run
	Checked    Phase = "checked"
	Committing Phase = "committing" // the tasks of version control are done
	Settled    Phase = "settled"    // nothing is left to do for the iteration
	// Verifying is Checking while no iteration is open: the work was called done before one began.
	Verifying Phase = "verifying"
)

// Apply folds one event. The rules are those in force when it happened.
func (l *Life) Apply(e event.Event, r event.Rules) error {
	switch e.Type {
	case event.TypeLoopStarted:
		p, err := event.As[event.LoopStarted](e)
		if err != nil {
			return err
		}
		*l = Life{
			Name: p.Name, ID: p.ID, Dir: p.Dir, Project: p.Project, Host: p.Host, PID: p.PID,
			Agent: p.Agent, Task: p.Task, Started: e.At,
		}
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		if err != nil {
			return err
		}
		l.resume(p)
	case event.TypeLoopPaused:
		p, err := event.As[event.LoopPaused](e)
		if err != nil {
			return err
		}
		l.Paused, l.Person = true, p.For == "person"
	case event.TypeLoopUnpaused:
		l.Paused, l.Person = false, false
	case event.TypeFolderSeen:
		if r.DoneFile && l.Phase == Beginning && string(e.Field("done")) == "true" {
			l.Phase, l.Cancelled = Between, false // no iteration is needed
		}
	case event.TypeIterationChecked:
		l.checked()
	case event.TypeSCMEnded:
		if l.Phase == Committing {
			l.Phase = Settled
		}
	case event.TypeFaultRaised:
		p, err := event.As[event.FaultRaised](e)
		if err != nil {
			return err
		}
		p.Error = firstBytes(p.Error, problemMost)
		l.Fault = &p
	case event.TypeLoopEnded:
		p, err := event.As[event.LoopEnded](e)
		if err != nil {
			return err
		}
		p.Why, p.Hint = firstBytes(p.Why, problemMost), firstBytes(p.Hint, problemMost)
		l.Ended = &p
	case event.TypeIterationStarted:
		p, err := event.As[event.IterationStarted](e)
		if err != nil {
			return err
		}
		l.Iteration, l.Phase, l.Since, l.Prompt = p.N, Opened, e.At, p.Prompt
		l.Cut, l.CutWhy, l.Finished, l.Exited, l.Failed, l.Worked = "", "", nil, nil, nil, false
		l.Cancelled = false
	case event.TypeIterationEnded:
		p, err := event.As[event.IterationEnded](e)
		if err != nil {
			return err
		}
		l.Phase, l.Broken, l.Worked = Between, false, p.Progress == "yes"
	case event.TypeAgentReplaced:
		p, err := event.As[event.AgentReplaced](e)
		if err != nil {
			return err
		}
		if p.To >= 0 && p.To < len(r.Agents) {
			l.Agent = r.Agents[p.To]
			l.Finished, l.Exited, l.Failed = nil, nil, nil // they were about the one before
		}
	case event.TypeDecided:
		return l.decided(e)
	case event.TypeEffectFailed:
		return l.effectFailed(e)
	default:
		return l.agent(e)
	}
	return nil
}

// resume takes over from a dead or ended runner: whatever it had under way is
// gone, its agent too, and ends are no ends any more.
func (l *Life) resume(p event.LoopResumed) {
	l.Host, l.PID = p.Host, p.PID
	l.Resumed++
	if p.Agent != nil {
		l.Agent = *p.Agent
	}
	if l.Phase == Beginning || l.Phase == Verifying {
		l.Phase = Between // its prompt never came to be
	}
	l.Broken = l.Phase != Between
	l.Process = Process{}
	l.Ended, l.Fault, l.Failed = nil, nil, nil
	l.Cut, l.CutWhy, l.Finished, l.Exited = "", "", nil, nil // a person may have mended what was wrong
	l.Paused, l.Person, l.Cancelled = false, false, false
}

// checked ends the look at what the agent left.
func (l *Life) checked() {
	l.Cancelled = false
	switch l.Phase {
	case Checking:
		l.Phase = Checked
	case Verifying:
		l.Phase = Between
	}
}

func (l *Life) decided(e event.Event) error {
	p, err := event.As[event.Decided](e)
	if err != nil {
		return err
	}
	switch p.Do {
	case event.DoBegin:
		l.Phase, l.Failed = Beginning, nil
		l.Worker = Worker{Agent: p.Agent, Name: l.Agent.Name}
	case event.DoStart:
		l.Phase = Starting
		// Whatever was decided about a process before it was about another one.
		l.Process.Ending, l.Process.Killing = false, false
	case event.DoRelease:
		l.leave()
	case event.DoCheck:
		if l.Phase == Between {
			l.Phase = Verifying
		} else {
			l.Phase = Checking
		}
	case event.DoCommit:
		l.Phase = Committing
	case event.DoCancel:
		l.Cancelled = true
		if l.Phase != Verifying && l.Phase != Beginning {
			l.Cut = event.OutcomeAborted
		}
	case event.DoAbort:
		l.leave()
		l.Process.Ending = true
		if l.Cut == "" {
			l.Cut, l.CutWhy = event.Outcome(p.Outcome), firstBytes(p.Why, 200)
		}
	case event.DoKill:
		l.leave()
		l.Process.Ending, l.Process.Killing = true, true
		if p.Outcome != "" {
			l.Cut, l.CutWhy = event.Outcome(p.Outcome), firstBytes(p.Why, 200)
		}
	}
	return nil
}

// leave waits for the agent's process, if the open iteration has asked for one. One
// that rests, from an iteration before or with its turn in this one over, may be ended at any
// time, and ends nothing: who waited for it would wait for ever.
func (l *Life) leave() {
	switch l.Phase {
	case Gone:
		if !l.Process.Resting {
			l.Phase = Leaving
		}
	case Starting, Turning, Finished:
		l.Phase = Leaving
	}
}

func (l *Life) effectFailed(e event.Event) error {
	p, err := event.As[event.EffectFailed](e)
	if err != nil {
		return err
	}
	p.Error = firstBytes(p.Error, problemMost)
	switch p.Do {
	case event.DoBegin:
		l.Phase, l.Failed, l.Cancelled = Between, &p, false
	case event.DoStart:
		l.Failed = &p
		// A process that rests from an iteration before has no part in this one, and
		// nothing it does will end it.
		if !l.Process.Alive || l.Process.Resting {
			l.Phase = Gone
		}
	case event.DoCheck:
		cancelled := l.Cancelled
		l.checked()
		if !cancelled {
			l.Fault = &event.FaultRaised{Where: p.Do, Error: p.Error, Class: p.Class}
		}
	case event.DoCommit:
		l.Phase = Settled
	case event.DoRelease, event.DoAbort, event.DoKill:
		// The hands report agent.exited whatever happened, so this is a failure
		// of ralph itself: the process may be alive and out of reach.
		l.Fault = &event.FaultRaised{Where: p.Do, Error: p.Error, Class: p.Class}
	}
	return nil
}

// agent folds what the agent's process does.
func (l *Life) agent(e event.Event) error {
	switch e.Type {
	case event.TypeAgentStarted:
		p, err := event.As[event.AgentStarted](e)
		if err != nil {
			return err
		}
		alive := l.Process.Alive
		l.Process = Process{
			Alive: true, PID: p.PID, Agent: l.Worker.Agent, Live: p.Live, Costs: p.Costs, Tools: p.Tools, Uncounted: p.Uncounted, ExitEnds: p.ExitEnds, Flags: flagsOf(p.Argv),
			Ending: l.Process.Ending, Killing: l.Process.Killing,
		}
		if p.Reused && !alive {
			// It rested, and went just before it was given the prompt. That was told
			// already, and nothing more will be.
			l.Process.Alive, l.Phase = false, Gone
			return nil
		}
		if l.Phase == Starting {
			l.Phase = Turning
		}
	case event.TypeAgentSaid, event.TypeAgentThought, event.TypeAgentUsed, event.TypeToolCalled:
		return l.heard(e)
	case event.TypeAgentFinished:
		p, err := event.As[event.AgentFinished](e)
		if err != nil {
			return err
		}
		p.Error = firstBytes(p.Error, problemMost)
		l.Finished = &p
		if l.Phase == Turning {
			l.Phase = Finished
		}
	case event.TypeAgentRested:
		l.Process.Resting = l.Process.Alive
		if l.Phase == Leaving {
			l.Phase = Gone
		}
	case event.TypeAgentExited:
		p, err := event.As[event.AgentExited](e)
		if err != nil {
			return err
		}
		resting := l.Process.Resting
		p.Stderr = lastBytes(p.Stderr, 2048)
		l.Process = Process{
			Costs: l.Process.Costs, Tools: l.Process.Tools, Uncounted: l.Process.Uncounted, ExitEnds: l.Process.ExitEnds,
			Flags: l.Process.Flags, Heard: l.Process.Heard,
		}
		if resting {
			// It served an iteration before this one, and its going ends nothing.
			return nil
		}
		l.Exited = &p
		switch l.Phase {
		case Between, Checking, Checked, Committing, Settled, Verifying:
		default:
			l.Phase = Gone
		}
	}
	return nil
}

// heard notes that the agent said or did something. Blanks and counts of nothing also come from one that did not reach its model.
func (l *Life) heard(e event.Event) error {
	if l.Process.Heard {
		return nil
	}
	switch e.Type {
	case event.TypeAgentSaid:
		p, err := event.As[event.AgentSaid](e)
		if err != nil {
			return err
		}
		l.Process.Heard = strings.TrimSpace(p.Text.String()) != ""
	case event.TypeAgentUsed:
		p, err := event.As[event.AgentUsed](e)
		if err != nil {
			return err
		}
		l.Process.Heard = p.In > 0 || p.Out > 0 || p.CacheRead > 0 || p.CacheWrite > 0 || p.USD != nil && *p.USD > 0
	default:
		l.Process.Heard = true
	}
	return nil
}

// Nothing says in words that nothing was heard of an agent whose turn ended well, with the last that it printed as an error.
func (l *Life) Nothing() string {
	why := "the agent said nothing, used no tool and reported no tokens"
	if l.Exited != nil {
		why += lastLine(l.Exited.Stderr)
	}
	return why
}

// Outcome says what the iteration came to, once the phase is Gone. A turn that
// ralph cut short has the outcome that it was cut with; a turn that the agent
// finished has the agent's own; a process that ended without a word has failed, unless its
// end is how this agent finishes and its exit code is 0.
func (l *Life) Outcome() (outcome event.Outcome, problem string) {
	switch {
	case l.Broken:
		return event.OutcomeInterrupted, "the runner died"
	case l.Cut == event.OutcomeAborted:
		return l.Cut, "" // a person knows why
	case l.Cut != "":
		return l.Cut, l.CutWhy
	case l.Finished != nil && l.Finished.Outcome == "ok":
		return event.OutcomeDone, ""
	case l.Finished != nil && l.Finished.Kind == KindRefusal:
		return event.OutcomeFailed, strings.TrimSuffix("the model refused to answer: "+l.Finished.Error, ": ")
	case l.Finished != nil:
		return event.OutcomeFailed, orElse(l.Finished.Error, l.Finished.Outcome)
	case l.Failed != nil:
		return event.OutcomeFailed, l.Failed.Error
	case l.Exited == nil:
		return event.OutcomeFailed, "the agent is gone"
	case l.Process.ExitEnds && l.Exited.Code == 0 && l.Exited.Signal == "":
		return event.OutcomeDone, ""
	}
	return event.OutcomeFailed, exitProblem(*l.Exited)
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
