package acp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// answered reads the answer to a request of ours.
func (d *Dialect) answered(id, result, failed jsonscan.Value, out *agent.Decoded) {
	n, isNumber := id.Int()
	at := slices.IndexFunc(d.waiting, func(r request) bool { return r.id == n })
	if !isNumber || at < 0 {
		out.Add(event.AgentNoticed{What: "answer to nothing"})
		return
	}
	r := d.waiting[at]
	d.waiting = slices.Delete(d.waiting, at, at+1)
	r.answer(result, failed, out)
}

// closed: the earlier session is closed.
func (d *Dialect) closed(_, failed jsonscan.Value, out *agent.Decoded) {
	out.Add(event.AgentNoticed{What: "session/close", Text: complaint(failed)})
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
		d.cannotBegin("session/new", failureText("the answer to session/new names no session"), out)
		return
	}
	out.Add(event.AgentNoticed{What: "session/new", Text: agent.Cut(d.session)})
	d.chooseModel(result, out)
}

// modelChosen: a model that the agent does not take is an error: the loop would run on another, at
// another price.
func (d *Dialect) modelChosen(result, failed jsonscan.Value, out *agent.Decoded) {
	if failed.Exists() {
		d.cannotBegin(fmt.Sprintf("the agent does not take the model %q", d.wants.model), readFailure(failed), out)
		return
	}
	out.Add(event.AgentNoticed{What: "chosen"})
	d.chooseThinking(result, out)
}

func (d *Dialect) thinkingChosen(_, failed jsonscan.Value, out *agent.Decoded) {
	if failed.Exists() {
		out.Add(event.AgentNoticed{What: "thinking refused", Text: complaint(failed)})
	} else {
		out.Add(event.AgentNoticed{What: "chosen"})
	}
	d.ready(out)
}

// chooseModel asks for the wanted model in the session that result describes: as an option of the
// session, or with the request that ACP had before options.
func (d *Dialect) chooseModel(result jsonscan.Value, out *agent.Decoded) {
	if d.wants.model == "" {
		d.chooseThinking(result, out)
		return
	}
	switch id := option(result, "model"); {
	case id.Exists():
		out.Reply = append(out.Reply, d.setOption(d.modelChosen, id, d.wants.model))
	case result.Get("models").IsObject():
		out.Reply = append(out.Reply, d.askSession(d.modelChosen, "session/set_model", object{"modelId": d.wants.model}))
	default:
		d.cannotBegin("model", failureText("the agent offers no choice of models: leave its model out, or choose it with its flags"), out)
	}
}

func (d *Dialect) chooseThinking(result jsonscan.Value, out *agent.Decoded) {
	if d.wants.thinking == "" {
		d.ready(out)
		return
	}
	if id := option(result, "thought_level"); id.Exists() {
		out.Reply = append(out.Reply, d.setOption(d.thinkingChosen, id, d.wants.thinking))
		return
	}
	out.Add(event.AgentNoticed{What: "thinking refused", Text: "the agent offers no choice of how much to think"})
	d.ready(out)
}

// option returns the id of the session's option of a category, a JSON string; nil if there is
// none.
func option(result jsonscan.Value, category string) jsonscan.Value {
	for o := range result.Get("configOptions").Items() {
		if id := o.Get("id"); o.Get("category").Says(category) && id.IsString() {
			return id
		}
	}
	return jsonscan.Value{}
}

func (d *Dialect) setOption(chosen answer, id jsonscan.Value, value string) []byte {
	return d.askSession(chosen, "session/set_config_option", object{"configId": id.Text(), "value": value})
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
		out.Reply = append(out.Reply, d.begin())
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

// promptAnswered reads the answer to a prompt, of a steer if there is a command. The turn ends once
// all its prompts are answered: one that came while another ran may have begun a run of its own.
func (d *Dialect) promptAnswered(command string, result, failed jsonscan.Value, out *agent.Decoded) {
	e := d.readOutcome(result, failed)
	e.main = command == ""
	if !e.main {
		d.steerAnswered(command, e.good(), out)
	}
	if !d.turn.open {
		out.Add(event.AgentNoticed{What: "session/prompt", Text: string(e.finished.Outcome)})
		return
	}
	d.turn.ended = append(d.turn.ended, e)
	d.endTurn(out)
	if len(out.Facts) == 0 {
		out.Add(event.AgentNoticed{What: "session/prompt", Text: string(e.finished.Outcome)})
	}
}

// steeringAnswered: the agent has put the text where the model's next request will hold it, or not.
func (d *Dialect) steeringAnswered(command string, result, failed jsonscan.Value, out *agent.Decoded) {
	outcome := result.Get("outcome").Text()
	injected := !failed.Exists() && outcome == "injected"
	d.steerAnswered(command, injected, out)
	if !injected {
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
