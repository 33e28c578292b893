package projector

import (
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Loop is what the events of a loop add up to. The zero Loop has folded none. It belongs to one
// goroutine.
type Loop struct{ state loopstate.State }

// Load returns a loop as its files are now. It reads state.json and the events after it, or the
// journal alone if state.json is missing, torn or of another journal. For a folder without a
// journal it returns the zero Loop.
func Load(loopDir string) (*Loop, error) {
	s, err := loopstate.Open(loopDir)
	return &Loop{s}, err
}

// Rebuild returns the loop as its journal alone describes it. It does not read state.json.
func Rebuild(loopDir string) (*Loop, error) {
	s, err := loopstate.Rebuild(loopDir)
	return &Loop{s}, err
}

// Fold takes in the next event. An error means that its payload cannot be read; the Loop must not
// be used then.
func (l *Loop) Fold(e event.Event) error { return l.state.Fold(e) }

// Seq is the number of the last event folded.
func (l *Loop) Seq() event.Seq { return l.state.Seq }

// View is what is true of a loop after the event Seq.
type View struct {
	registry.Summary
	ID        string // its ULID
	Name      string
	Project   string           // absolute path of the folder that the agent works in
	Agents    []event.Agent    // in order of preference; a single one for most loops
	Reviewers int              // how many of Agents, at their end, only review
	Ended     *event.LoopEnded // why and how it ended; nil while it has not
	Until     time.Time        // of a loop that waits for a moment
	Resting   bool             // nothing happens until a person resumes it, or answers its question
	Signalled bool             // a signal to the runner stops it, not a command of a person
	Rules     event.Rules      // the settings that decide now

	Begun int    // iterations that have begun
	Open  bool   // an iteration is open
	Doing string // what the open iteration does, for people

	// Used is the usage of the iterations that ended, as far as it is known.
	Used          event.Usage
	CostUnknown   bool // some of the usage had no price
	TokensUnknown bool // not all tokens were reported

	Ticked, Boxes int // the checklist of task.md, as last seen
	// Story is what the last iteration that began does with the stories of a plan; nil for a loop
	// without a plan, and before the first iteration.
	Story *Story
	Plan  []event.StoryState // the stories of a plan, in its order
	// Commands are those that were received and have not taken effect.
	Commands []event.CommandReceived
	// Edited are the files of guardrails and settings that the agent changed and no person has
	// accepted.
	Edited []event.EditedFile
	// Questions are those of the agent that are open, those whose answer it does not have yet, and
	// the last of the others, by number.
	Questions []Question
	Last      *Iteration // the last iteration that ended

	// More is what a loop that is over may use once it is resumed, such as "10 more iterations".
	// Raise are the settings that the resume has to raise for that, with their new values.
	More  string
	Raise map[string]string
}

// Story is what an iteration does with one story of a plan.
type Story struct {
	Mode  event.StoryMode
	ID    string // empty if no story can be worked on
	Title string // the beginning of it
}

// Question is a question that the agent asked while it worked on.
type Question struct {
	Number  int       // from 1 in the loop
	Text    string    // at most inbox.MaxQuestion bytes
	Choices []string  // answers that the agent expects; any other is as good
	Blocks  bool      // the work is not done while it is open
	AskedAt time.Time // of question.asked

	// Answer is the beginning of the answer; it is empty while the question is open, as By and
	// AnsweredAt are.
	Answer     string
	AnsweredAt time.Time
	By         string // such as cli:ada@mill
	Read       bool   // the agent has the answer
}

// Open reports whether the question has no answer.
func (q Question) Open() bool { return q.AnsweredAt.IsZero() }

// OpenQuestions are the questions without an answer, by number.
func (v *View) OpenQuestions() (open []Question) {
	for _, q := range v.Questions {
		if q.Open() {
			open = append(open, q)
		}
	}
	return open
}

// Iteration is what one iteration came to: iterations/NNN.json.
type Iteration struct {
	N           int           `json:"n"`
	Agent       string        `json:"agent,omitempty"` // its name, if the loop has several
	Outcome     event.Outcome `json:"outcome"`
	Error       string        `json:"error,omitempty"`
	Started     time.Time     `json:"started"`
	Ended       time.Time     `json:"ended"`
	Took        int64         `json:"took"` // milliseconds
	Usage       event.Usage   `json:"usage"`
	Tools       int           `json:"tools"`
	ToolsFailed int           `json:"toolsFailed"`
	// answers of the model, as far as the agent shows them
	Turns    int `json:"turns"`
	Messages int `json:"messages"` // blocks of text the agent said
	// the beginning of the agent's final message
	Summary  string      `json:"summary,omitempty"`
	Retries  int         `json:"retries"`
	Refunded bool        `json:"refunded,omitempty"`
	Claimed  event.Claim `json:"claimed,omitempty"`
	Refused  []string    `json:"refused,omitempty"`
	// What ralph itself found out after the turn.
	Guardrails int      `json:"guardrails,omitempty"` // that ran
	Failed     []string `json:"failed,omitempty"`     // of these, by their commands
	// yes or no, as the files show it; empty if nothing shows it
	Progress event.Progress `json:"progress,omitempty"`
	// the last commit of the iteration, if there is one
	Commit  *Commit   `json:"commit,omitempty"`
	Unkept  string    `json:"unkept,omitempty"` // why a task of version control failed
	LastSeq event.Seq `json:"lastSeq"`          // of its iteration.ended
}

// Commit is a commit that the loop made.
type Commit = struct {
	SHA     string `json:"sha"`
	Subject string `json:"subject"` // the first line of its message
}

// View returns what is true now. Later calls of Fold do not change it.
func (l *Loop) View() View {
	s := &l.state
	awaited, _ := s.Questions.Awaited() // once it is answered, the wait is about to end
	v := View{
		Summary: s.Summary(), ID: s.Lifecycle.ID, Name: s.Lifecycle.Name, Project: s.Lifecycle.Project, Agents: s.Rules.Agents, Reviewers: s.Rules.Reviewers, Ended: s.Lifecycle.Ended,
		Resting: s.Paused || s.NeedsResume() && (s.Escalation.Waits != "" || awaited > 0), Signalled: s.Commands.Signal, Rules: s.Rules, Plan: s.Stories.States,
		Begun: s.Budget.Count(s.Rules).Begun, Open: s.Lifecycle.Phase != policy.Between, Doing: s.Doing(),
		Used: s.Budget.Total.Usage, CostUnknown: s.Budget.Total.Unknown, TokensUnknown: s.Budget.Total.TokensUnknown,
		Ticked: s.Completion.Ticked, Boxes: s.Completion.Boxes, Edited: s.FileChanges.Unaccepted(),
	}
	if len(v.Agents) == 0 {
		v.Agents = []event.Agent{s.Lifecycle.Agent}
	}
	more := s.Budget.Allowance(s.Rules)
	v.More, v.Raise = more.Text, more.Raise
	if st := &s.Stories; st.Mode != "" {
		v.Story = &Story{Mode: st.Mode, ID: st.Story, Title: st.Title(st.Story)}
	}
	if s.Wait != nil {
		v.Until = s.Wait.Until
	}
	for _, c := range s.Commands.Open {
		v.Commands = append(v.Commands, event.CommandReceived{ID: c.ID, Kind: c.Kind, From: c.From, Text: c.Text, Key: c.Key, Val: c.Val, Question: c.Question})
	}
	for _, q := range s.Questions.List {
		v.Questions = append(v.Questions, Question{q.Number, q.Text, q.Choices, q.Blocks, q.AskedAt, q.Answer, q.AnsweredAt, q.By, q.Read})
	}
	if s.Last != nil {
		last := Iteration(*s.Last)
		v.Last = &last
	}
	return v
}
