package runner

import (
	"bytes"
	"fmt"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// Redecoder decodes the agents' raw lines in a journal again with the present dialects, in order.
// It changes nothing. Lines that the journal does not keep (pieces of a text, standard error, text
// that is not JSON) are left out.
type Redecoder struct {
	Blob func(sha256 string) ([]byte, error) // reads a line that is kept in a file

	agents  []event.Agent
	dialect agent.Dialect // nil while no agent is at work
	prompt  agent.Prompt
	place   int
	steers  map[string]string // texts of commands, by id
	decoded agent.Decoded
	open    *Redecoded
}

// Redecoded is one line of an agent, as recorded and as decoded now.
type Redecoded struct {
	Seq       event.Seq // of the event that keeps the line
	Iteration int
	By        string
	Recorded  []event.Draft // with events of lines that followed at once and are not kept
	Decoded   []event.Draft
	at        event.Event
}

// Same reports whether the line decodes to what was recorded. The end of Recorded may be of another
// line.
func (r *Redecoded) Same() bool {
	if len(r.Decoded) > len(r.Recorded) {
		return false
	}
	for i, d := range r.Decoded {
		was := r.Recorded[i]
		shortened := was.Type == event.TypeToolReturned && d.Type == was.Type && jsonscan.Get(was.Data, "blob") != nil // its output is in a file
		if d.Type != was.Type || !shortened && !bytes.Equal(d.Data, was.Data) {
			return false
		}
	}
	return len(r.Decoded) > 0
}

// Event takes the next event of the journal, and returns a line after the last event recorded for
// it; else nil.
func (r *Redecoder) Event(e event.Event) (*Redecoded, error) {
	if o := r.open; o != nil && e.By() == o.By && e.At.Equal(o.at.At) && len(e.Raw()) == 0 {
		o.Recorded = append(o.Recorded, recorded(e))
		return nil, nil
	}
	done := r.Close()
	err := r.follow(e)
	if err == nil && len(e.Raw()) > 0 && r.dialect != nil {
		err = r.decodeLine(e)
	}
	if err != nil {
		err = fmt.Errorf("decode event %d again: %w", e.Seq, err)
	}
	return done, err
}

// Close returns the last line; nil if there is none.
func (r *Redecoder) Close() *Redecoded {
	done := r.open
	r.open = nil
	return done
}

// follow keeps the dialect in step with the agent's conversation.
func (r *Redecoder) follow(e event.Event) error {
	switch e.Type {
	case event.TypeLoopStarted:
		p, err := event.As[event.LoopStarted](e)
		r.agents = p.Rules.Agents
		if len(r.agents) == 0 {
			r.agents = []event.Agent{p.Agent}
		}
		return err
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		r.dialect = nil
		if p.Rules != nil && len(p.Rules.Agents) > 0 {
			r.agents = p.Rules.Agents
		} else if p.Agent != nil {
			r.agents = []event.Agent{*p.Agent}
		}
		return err
	case event.TypeIterationStarted:
		p, err := event.As[event.IterationStarted](e)
		r.prompt = agent.Prompt{Text: p.Prompt.Text, Iteration: p.N}
		return err
	case event.TypeCommandReceived:
		p, err := event.As[event.CommandReceived](e)
		if r.steers == nil {
			r.steers = map[string]string{}
		}
		r.steers[p.ID] = p.Text
		return err
	case event.TypeDecided:
		p, err := event.As[event.Decided](e)
		r.applyDecision(p)
		return err
	case event.TypeAgentStarted:
		p, err := event.As[event.AgentStarted](e)
		if err == nil && (!p.Reused || r.dialect == nil) {
			err = r.startDialect()
		}
		if err == nil {
			r.dialect.Open(r.prompt)
		}
		return err
	case event.TypeAgentExited:
		r.dialect = nil
	}
	return nil
}

// applyDecision calls the dialect as the session did for a decision.
func (r *Redecoder) applyDecision(d event.Decided) {
	if d.Do == event.DoStart {
		r.place = d.Agent
	}
	if r.dialect == nil {
		return
	}
	switch d.Do {
	case event.DoStart:
		r.dialect.Reset()
	case event.DoSteer:
		r.dialect.Steer(d.Command, r.steers[d.Command])
	case event.DoAbort:
		r.dialect.Abort()
	}
}

// startDialect creates the dialect of a new process.
func (r *Redecoder) startDialect() error {
	if r.place >= len(r.agents) {
		return fmt.Errorf("the journal does not say what agent %d is", r.place+1)
	}
	about := r.agents[r.place]
	a := config.Agent{Protocol: about.Protocol}
	if len(about.Command) > 0 {
		a.Command, a.Flags = about.Command[0], about.Command[1:]
	}
	dialect, err := Dialect(a)
	if err != nil {
		return err
	}
	spec, err := specOf(a)
	if err != nil {
		return err
	}
	spec.Iteration, spec.Prompt = r.prompt.Iteration, r.prompt.Text
	// The dialect can decode even if its program cannot be started here.
	_, _ = dialect.Command(spec)
	r.dialect = dialect
	return nil
}

// decodeLine decodes a line again.
func (r *Redecoder) decodeLine(e event.Event) error {
	raw := e.Raw()
	if name := event.RawBlob(raw); name != "" && r.Blob != nil {
		var err error
		if raw, err = r.Blob(string(name)); err != nil {
			return err
		}
	}
	r.decoded.Reset()
	r.decoded.At = e.At.Local()
	r.dialect.Decode(raw, agent.Stdout, &r.decoded)
	r.open = &Redecoded{Seq: e.Seq, Iteration: e.Iter, By: e.By(), Recorded: []event.Draft{recorded(e)}, at: e.Clone()}
	for _, fact := range r.decoded.Facts {
		r.open.Decoded = append(r.open.Decoded, event.Encode(fact, e.By()))
	}
	return nil
}

func recorded(e event.Event) event.Draft {
	return event.Draft{Type: e.Type, By: e.By(), Data: bytes.Clone(e.Data())}
}
