package acp

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// answered reads the answer to a request of ours.
func (d *Dialect) answered(f *frame, out *agent.Decoded) {
	n, isNumber := f.id.Int()
	r, mine := d.take(n)
	if !isNumber || !mine {
		out.Add(event.AgentNoticed{What: "answer to nothing"})
		return
	}
	result, failed := f.result, f.failed
	if failed.IsNull() {
		failed = jsonscan.Value{}
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
func (d *Dialect) initialized(result, failed jsonscan.Value, out *agent.Decoded) {
	if failed.Exists() {
		d.cannotBegin("initialize", readFailure(failed), out)
		return
	}
	d.greeted = true
	about := result.Get("agentInfo")
	name := agent.Cut(out.Text(about.Get("name")) + " " + out.Text(about.Get("version")))
	out.Add(event.AgentNoticed{What: "initialize", Text: strings.TrimSpace(name)})
	if spoken, ok := result.Get("protocolVersion").Int(); !ok || spoken != version {
		d.greeted = false
		d.refuse(event.AgentFinished{
			Outcome: "error", Kind: "other",
			Error: fmt.Sprintf("the agent speaks version %d of the Agent Client Protocol, and ralph speaks %d", spoken, version),
		}, out)
		return
	}
	d.closes = result.Get("agentCapabilities", "sessionCapabilities", "close").IsObject()
	if d.phase == opening {
		out.Reply = append(out.Reply, d.newSession())
	}
}

// entered: there is a session. What has to be chosen in it is chosen before anything is prompted.
func (d *Dialect) entered(result, failed jsonscan.Value, out *agent.Decoded) {
	d.session, d.cost = result.Get("sessionId").Text(), cost{}
	d.startup = result.Get("_meta", "piAcp", "startupInfo").Text()
	switch {
	case failed.Exists():
		d.cannotBegin("session/new", readFailure(failed), out)
		return
	case d.session == "":
		d.cannotBegin("session/new", said("the answer to session/new names no session"), out)
		return
	}
	out.Add(event.AgentNoticed{What: "session/new", Text: agent.Cut(d.session)})
	d.chooseModel(result, out)
}

// chosen: a choice was made, or not. A model that the agent does not take is an error: the loop would run on another, at
// another price.
func (d *Dialect) chosen(what asks, result, failed jsonscan.Value, out *agent.Decoded) {
	switch {
	case failed.Exists() && what == asksModel:
		f := readFailure(failed)
		d.cannotBegin(fmt.Sprintf("the agent does not take the model %q", d.wants.model), f, out)
		return
	case failed.Exists():
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
func (d *Dialect) chooseModel(result jsonscan.Value, out *agent.Decoded) {
	if d.wants.model == "" {
		d.chooseThinking(result, out)
		return
	}
	switch id := option(result, "model"); {
	case id.Exists():
		out.Reply = append(out.Reply, d.setOption(asksModel, id, d.wants.model))
	case result.Get("models").IsObject():
		line := d.askSession(request{kind: asksModel}, "session/set_model", len(d.wants.model)+16)
		line = jsonscan.AppendString(append(line, `,"modelId":`...), d.wants.model)
		out.Reply = append(out.Reply, append(line, ends...))
	default:
		d.cannotBegin("model", said("the agent offers no choice of models: leave agent.model out, or choose it with agent.flags"), out)
	}
}

func (d *Dialect) chooseThinking(result jsonscan.Value, out *agent.Decoded) {
	if d.wants.thinking == "" {
		d.ready(out)
		return
	}
	if id := option(result, "thought_level"); id.Exists() {
		out.Reply = append(out.Reply, d.setOption(asksThinking, id, d.wants.thinking))
		return
	}
	out.Add(event.AgentNoticed{What: "thinking refused", Text: "the agent offers no choice of how much to think"})
	d.ready(out)
}

// option returns the id of the session's option of a category, a JSON string; nil where there is none.
func option(result jsonscan.Value, category string) jsonscan.Value {
	for o := range result.Get("configOptions").Items() {
		if id := o.Get("id"); o.Get("category").Says(category) && id.IsString() {
			return id
		}
	}
	return jsonscan.Value{}
}

func (d *Dialect) setOption(what asks, id jsonscan.Value, value string) []byte {
	line := d.askSession(request{kind: what}, "session/set_config_option", len(id.Raw())+len(value)+32)
	line = append(append(append(line, `,"configId":`...), id.Raw()...), `,"value":`...)
	return append(jsonscan.AppendString(line, value), ends...)
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
func (d *Dialect) cannotBegin(where string, f failure, out *agent.Decoded) {
	d.session = ""
	d.refuse(event.AgentFinished{Outcome: "error", Kind: f.kind(), Error: agent.Cut(where + ": " + f.Words)}, out)
}

// refuse ends the way to a session.
func (d *Dialect) refuse(finished event.AgentFinished, out *agent.Decoded) {
	switch d.phase {
	case resetting:
		d.phase = idle
		out.Stale = true
		out.Add(event.AgentNoticed{What: "session/new refused", Text: finished.Error})
	case opening:
		out.Limit(event.AgentLimited{Kind: finished.Kind, Text: finished.Error})
		d.finish(finished, out)
	default:
		out.Add(event.AgentNoticed{What: "refused", Text: finished.Error})
	}
}

// promptAnswered ends the turn once all its prompts are answered: one that came while another ran may have begun a run of
// its own.
func (d *Dialect) promptAnswered(r request, result, failed jsonscan.Value, out *agent.Decoded) {
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
func (d *Dialect) steeringAnswered(r request, result, failed jsonscan.Value, out *agent.Decoded) {
	outcome := result.Get("outcome").Text()
	if !failed.Exists() && outcome == "injected" {
		d.reached(r.command, true, out)
	} else {
		d.reached(r.command, false, out)
		out.Add(event.AgentNoticed{What: "_session/steering", Text: agent.Cut(strings.TrimSpace(outcome + " " + complaint(failed)))})
	}
	d.endTurn(out)
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: "_session/steering", Text: outcome})
	}
}

// complaint returns what an error object says.
func complaint(failed jsonscan.Value) string {
	if !failed.Exists() {
		return ""
	}
	return agent.Cut(readFailure(failed).Words)
}
