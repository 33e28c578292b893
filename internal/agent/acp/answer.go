package acp

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// answered reads the answer to a request of ours.
func (d *Dialect) answered(id []byte, m members, out *agent.Decoded) {
	n, isNumber := jsonscan.Int(id)
	r, mine := d.take(n)
	if !isNumber || !mine {
		out.Add(event.AgentNoticed{What: "answer to nothing"})
		return
	}
	result, failed := m.get("result"), m.get("error")
	if jsonscan.IsNull(failed) {
		failed = nil
	}
	switch r.kind {
	case asksInitialize:
		d.initialized(result, failed, out)
	case asksSession:
		d.entered(result, failed, out)
	case asksModel, asksThinking:
		d.chosen(r.kind, result, failed, out)
	case asksPrompt, asksSteer:
		d.promptAnswered(r, result, failed, out)
	case asksSteering:
		d.steeringAnswered(r, result, failed, out)
	case asksClose:
		out.Add(event.AgentNoticed{What: "session/close", Text: complaint(failed)})
	}
}

// initialized: the agent says what it is.
func (d *Dialect) initialized(result, failed []byte, out *agent.Decoded) {
	if failed != nil {
		d.cannotBegin("initialize", readFault(failed), out)
		return
	}
	d.greeted = true
	about := jsonscan.Get(result, "agentInfo")
	out.Add(event.AgentNoticed{What: "initialize", Text: cut(strings.TrimSpace(text(jsonscan.Get(about, "name")) + " " + text(jsonscan.Get(about, "version"))))})
	if spoken, ok := jsonscan.Int(jsonscan.Get(result, "protocolVersion")); !ok || spoken != version {
		d.greeted = false
		d.refuse(event.AgentFinished{
			Outcome: "error", Kind: "other",
			Error: fmt.Sprintf("the agent speaks version %d of the Agent Client Protocol, and ralph speaks %d", spoken, version),
		}, out)
		return
	}
	d.closes = jsonscan.IsObject(jsonscan.Get(result, "agentCapabilities", "sessionCapabilities", "close"))
	if d.phase == opening {
		out.Reply = append(out.Reply, d.newSession())
	}
}

// entered: there is a session. What has to be chosen in it is chosen before anything is prompted.
func (d *Dialect) entered(result, failed []byte, out *agent.Decoded) {
	d.session, d.cost = text(jsonscan.Get(result, "sessionId")), cost{}
	if failed == nil && d.session == "" {
		failed = []byte(`{"message":"the answer to session/new names no session"}`)
	}
	if failed != nil {
		d.cannotBegin("session/new", readFault(failed), out)
		return
	}
	out.Add(event.AgentNoticed{What: "session/new", Text: cut(d.session)})
	d.chooseModel(result, out)
}

// chosen: a choice was made, or not. A model that the agent does not take is an error: the loop would run on another, at
// another price.
func (d *Dialect) chosen(what asks, result, failed []byte, out *agent.Decoded) {
	switch {
	case failed != nil && what == asksModel:
		f := readFault(failed)
		d.cannotBegin(fmt.Sprintf("the agent does not take the model %q", d.wants.model), f, out)
		return
	case failed != nil:
		out.Add(event.AgentNoticed{What: "thinking refused", Text: complaint(failed)})
	default:
		out.Add(event.AgentNoticed{What: "chosen"})
	}
	if what == asksModel {
		d.chooseThinking(result, out)
		return
	}
	d.ready(out)
}

// chooseModel asks for the model that is wanted, in the session that result describes: as an option of the session, or as ACP had
// it before there were options.
func (d *Dialect) chooseModel(result []byte, out *agent.Decoded) {
	id := option(result, `"model"`)
	switch {
	case d.wants.model == "":
		d.chooseThinking(result, out)
	case id != nil:
		out.Reply = append(out.Reply, d.setOption(asksModel, id, d.wants.model))
	case jsonscan.IsObject(jsonscan.Get(result, "models")):
		params := jsonscan.AppendString([]byte(`,"modelId":`), d.wants.model)
		out.Reply = append(out.Reply, d.ask(request{kind: asksModel}, "session/set_model", d.sessionParams(string(params))))
	default:
		d.cannotBegin("model", fault{words: "the agent offers no choice of models: leave agent.model out, or choose it with agent.flags"}, out)
	}
}

func (d *Dialect) chooseThinking(result []byte, out *agent.Decoded) {
	id := option(result, `"thought_level"`)
	switch {
	case d.wants.thinking == "":
		d.ready(out)
	case id != nil:
		out.Reply = append(out.Reply, d.setOption(asksThinking, id, d.wants.thinking))
	default:
		out.Add(event.AgentNoticed{What: "thinking refused", Text: "the agent offers no choice of how much to think"})
		d.ready(out)
	}
}

// option returns the id of the session's option of a category, a JSON string; nil where there is none.
func option(result []byte, category string) []byte {
	options := jsonscan.Array(jsonscan.Get(result, "configOptions"))
	for o, ok := options.Next(); ok; o, ok = options.Next() {
		if id := jsonscan.Get(o, "id"); string(jsonscan.Get(o, "category")) == category && jsonscan.IsString(id) {
			return id
		}
	}
	return nil
}

func (d *Dialect) setOption(what asks, id []byte, value string) []byte {
	params := append([]byte(`,"configId":`), id...)
	params = jsonscan.AppendString(append(params, `,"value":`...), value)
	return d.ask(request{kind: what}, "session/set_config_option", d.sessionParams(string(params)))
}

// ready: the session is as it should be.
func (d *Dialect) ready(out *agent.Decoded) {
	switch d.phase {
	case resetting:
		d.phase = idle
		out.Fresh, out.Own = true, true
	case opening:
		out.Own = true
		if d.turn.aborting {
			d.finish(event.AgentFinished{Outcome: "aborted"}, out)
			return
		}
		out.Reply = append(out.Reply, d.writePrompt())
		if d.profile.busy == isAsked {
			return
		}
		for _, s := range d.turn.held {
			out.Reply = append(out.Reply, d.steer(s.command, s.text))
		}
		d.turn.held = nil
	}
}

// cannotBegin: there is no session, and the process is of no use any more.
func (d *Dialect) cannotBegin(where string, f fault, out *agent.Decoded) {
	d.session = ""
	d.refuse(event.AgentFinished{Outcome: "error", Kind: f.kind(), Error: cut(where + ": " + f.words)}, out)
}

// refuse ends the way to a session.
func (d *Dialect) refuse(finished event.AgentFinished, out *agent.Decoded) {
	switch d.phase {
	case resetting:
		d.phase = idle
		out.Stale = true
		out.Add(event.AgentNoticed{What: "session/new refused", Text: finished.Error})
	case opening:
		d.limit(finished, "", out)
		d.finish(finished, out)
	default:
		out.Add(event.AgentNoticed{What: "refused", Text: finished.Error})
	}
}

// promptAnswered ends the turn once all its prompts are answered: one that came while another ran may have begun a run of
// its own.
func (d *Dialect) promptAnswered(r request, result, failed []byte, out *agent.Decoded) {
	e := d.judge(result, failed)
	e.main = r.kind == asksPrompt
	if r.kind == asksSteer {
		d.reached(r.command, e.finished.Outcome == "ok" || e.finished.Outcome == "length", out)
	}
	if !d.turn.open {
		out.Add(event.AgentNoticed{What: "session/prompt", Text: e.finished.Outcome})
		return
	}
	d.turn.ended = append(d.turn.ended, e)
	d.endTurn(out)
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: "session/prompt", Text: e.finished.Outcome})
	}
}

// steeringAnswered: the agent has put the text where the model's next request will hold it, or not.
func (d *Dialect) steeringAnswered(r request, result, failed []byte, out *agent.Decoded) {
	outcome := text(jsonscan.Get(result, "outcome"))
	if failed == nil && outcome == "injected" {
		d.reached(r.command, true, out)
	} else {
		d.reached(r.command, false, out)
		out.Add(event.AgentNoticed{What: "_session/steering", Text: cut(strings.TrimSpace(outcome + " " + complaint(failed)))})
	}
	d.endTurn(out)
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: "_session/steering", Text: outcome})
	}
}

// complaint returns what an error object says.
func complaint(failed []byte) string {
	if failed == nil {
		return ""
	}
	return cut(readFault(failed).words)
}
