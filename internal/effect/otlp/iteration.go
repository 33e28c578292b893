package otlp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// iteration folds what concerns an iteration: its agent and its guardrails.
func (f *Fold) iteration(e event.Event, p event.Payload) []Span {
	switch p := p.(type) {
	case event.IterationStarted:
		ended := f.cutIteration()
		f.beginIteration(e, p)
		return ended
	case event.AgentStarted:
		f.Turn.Session = cmp.Or(p.Session, f.Turn.Session)
	case event.AgentUsed:
		f.count(p)
	case event.AgentFinished:
		if p.Outcome != event.TurnOK {
			f.Turn.Kind = cmp.Or(string(p.Kind), string(p.Outcome))
		}
	case event.GuardrailStarted:
		f.Guardrails = append(f.Guardrails, call{p.Name, *f.begin(e, spanID(f.Loop, "event", uint64(e.Seq)), f.inner(), "evaluate "+p.Name)})
		if len(f.Guardrails) > openMost {
			ended := f.cut(&f.Guardrails[0].Span)
			f.Guardrails = f.Guardrails[1:]
			return []Span{ended}
		}
	case event.GuardrailEnded:
		return f.guardrailEnded(e.At, p)
	case event.IterationEnded:
		if f.Iteration != nil {
			return append(f.cutCalls(), f.endIteration(e.At, p))
		}
	}
	return nil
}

func (f *Fold) beginIteration(e event.Event, p event.IterationStarted) {
	parent := spanID(f.Loop, "run", uint64(max(f.Runs, 1)))
	name := cmp.Or(f.Agent.Name, f.Agent.Protocol)
	s := f.begin(e, spanID(f.Loop, "iteration", uint64(max(p.N, 0))), parent, "invoke_agent "+name)
	s.Client = true
	s.text("gen_ai.operation.name", "invoke_agent")
	s.text("gen_ai.agent.name", f.short(name))
	s.text("gen_ai.agent.version", f.short(f.Agent.Version))
	s.number("ralph.iteration", int64(p.N))
	s.text("ralph.iteration.mode", p.Mode)
	f.Iteration, f.N, f.Turn = s, p.N, turn{Prompt: f.content(p.Prompt.Text)}
}

// count adds what the agent used. Unknown prices stay unknown.
func (f *Fold) count(p event.AgentUsed) {
	u := &f.Turn.Usage
	u.In, u.Out, u.CacheRead, u.CacheWrite = u.In+p.In, u.Out+p.Out, u.CacheRead+p.CacheRead, u.CacheWrite+p.CacheWrite
	f.Turn.Used, f.Turn.Awaited = true, p.Unpriced
	f.Turn.Model = cmp.Or(p.Model, f.Turn.Model)
	if p.USD == nil {
		f.Turn.Unpriced = f.Turn.Unpriced || !p.Unpriced
		return
	}
	add(&u.USD, *p.USD)
	add(&f.Cost, *p.USD)
}

func add(sum **float64, usd float64) {
	if *sum != nil {
		usd += **sum
	}
	*sum = &usd
}

// used adds to the span of the iteration what its agent used and said. The convention counts what
// came from a cache, and went into it, as input.
func (f *Fold) used() {
	s, u := f.Iteration, f.Turn.Usage
	s.text("gen_ai.provider.name", provider(f.Turn.Model, f.Agent))
	s.text("gen_ai.response.model", f.short(f.Turn.Model))
	s.text("gen_ai.conversation.id", f.short(f.Turn.Session))
	if f.Turn.Used {
		s.number("gen_ai.usage.input_tokens", u.In+u.CacheRead+u.CacheWrite)
		s.number("gen_ai.usage.output_tokens", u.Out)
		s.number("gen_ai.usage.cache_read.input_tokens", u.CacheRead)
		s.number("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite)
		s.money("ralph.cost_usd", u.USD)
		s.yes("ralph.cost_incomplete", (f.Turn.Unpriced || f.Turn.Awaited) && u.USD != nil)
	}
	s.number("ralph.tools", f.Turn.Tools)
	finish := "stop"
	if f.Turn.Kind != "" {
		finish = "error"
	}
	s.text("gen_ai.input.messages", message("user", f.Turn.Prompt, ""))
	s.text("gen_ai.output.messages", message("assistant", f.content(f.Turn.Said), finish))
}

// message returns one message in the form that the convention has for them; empty without a text.
// Only a message of the model has a reason to finish.
func message(role, text, finish string) string {
	if text == "" {
		return ""
	}
	out := append([]byte(`[{"role":"`), role...)
	out = append(out, `","parts":[{"type":"text","content":`...)
	out = append(jsonscan.AppendString(out, text), `}]`...)
	if finish != "" {
		out = append(append(append(out, `,"finish_reason":"`...), finish...), '"')
	}
	return string(append(out, `}]`...))
}

func (f *Fold) endIteration(at time.Time, p event.IterationEnded) Span {
	s := f.Iteration
	f.used()
	f.Iteration = nil
	s.text("ralph.iteration.outcome", string(p.Outcome))
	s.text("ralph.iteration.progress", string(p.Progress))
	s.yes("ralph.iteration.refunded", p.Refunded)
	switch p.Outcome {
	case event.OutcomeDone, event.OutcomeAborted: // a person's decision is no failure
	case event.OutcomeInterrupted:
		s.yes("ralph.incomplete", true)
		s.fail(string(p.Outcome))
	default:
		s.fail(cmp.Or(f.Turn.Kind, string(p.Outcome)))
		s.Message = f.content(p.Error)
	}
	return s.end(at)
}

func (f *Fold) guardrailEnded(at time.Time, p event.GuardrailEnded) []Span {
	i := slices.IndexFunc(f.Guardrails, func(c call) bool { return c.ID == p.Name })
	if i < 0 {
		return nil
	}
	s := f.Guardrails[i].Span
	f.Guardrails = slices.Delete(f.Guardrails, i, i+1)
	label, score := "pass", 1.0
	if !p.OK {
		label, score = "fail", 0
	}
	result := marked(at, "gen_ai.evaluation.result", "gen_ai.evaluation.name", f.short(p.Name), "gen_ai.evaluation.score.label", label)
	result.Attributes = append(result.Attributes, Attribute{Key: "gen_ai.evaluation.score.value", Float: &score})
	if p.Message != nil {
		if why := f.content(p.Message.Text); why != "" {
			result.Attributes = append(result.Attributes, Attribute{Key: "gen_ai.evaluation.explanation", Text: &why})
		}
	}
	s.mark(result)
	s.number("process.exit.code", int64(p.Code))
	switch {
	case p.TimedOut:
		s.fail("timeout")
	case !p.OK:
		s.fail("failed")
	}
	return []Span{s.end(at)}
}

// toolCalled begins the span of a tool. An id that is open already is that of another call now.
func (f *Fold) toolCalled(e event.Event) (ended []Span) {
	id, name := jsonscan.Unquote(e.Field("id")), jsonscan.Unquote(e.Field("name"))
	if i := f.tool(id); i >= 0 {
		ended = append(ended, f.cut(&f.Tools[i].Span))
		f.Tools = slices.Delete(f.Tools, i, i+1)
	}
	if len(f.Tools) == openMost {
		ended = append(ended, f.cut(&f.Tools[0].Span))
		f.Tools = slices.Delete(f.Tools, 0, 1)
	}
	parent := f.inner()
	if i := f.tool(jsonscan.Unquote(e.Field("parent"))); i >= 0 {
		parent = f.Tools[i].Span.ID
	}
	s := f.begin(e, spanID(f.Loop, "event", uint64(e.Seq)), parent, "execute_tool "+name)
	s.text("gen_ai.operation.name", "execute_tool")
	s.text("gen_ai.tool.name", f.short(name))
	s.text("gen_ai.tool.call.id", f.short(id))
	s.text("gen_ai.tool.call.arguments", f.content(string(e.Field("input"))))
	f.Turn.Tools++
	f.Tools = append(f.Tools, call{id, *s})
	return ended
}

// tool returns the place of an open call; -1 if there is none.
func (f *Fold) tool(id string) int {
	return slices.IndexFunc(f.Tools, func(c call) bool { return c.ID == id && id != "" })
}

func (f *Fold) toolReturned(e event.Event) []Span {
	i := f.tool(jsonscan.Unquote(e.Field("id")))
	if i < 0 {
		return nil
	}
	s := f.Tools[i].Span
	f.Tools = slices.Delete(f.Tools, i, i+1)
	if ok, known := jsonscan.Bool(e.Field("ok")); known && !ok {
		s.fail("tool_error")
	}
	if f.mapping.Content {
		s.text("gen_ai.tool.call.result", f.content(jsonscan.Unquote(e.Field("output"))))
	}
	return []Span{s.end(e.At)}
}

// said keeps the last message of the agent itself.
func (f *Fold) said(e event.Event) {
	if f.Iteration == nil || len(e.Field("parent")) > 0 {
		return
	}
	block := jsonscan.Unquote(e.Field("block"))
	message, _, _ := strings.Cut(block, ".")
	if i := strings.LastIndexByte(block, '.'); i >= 0 {
		message = block[:i]
	}
	if message != f.Turn.Message {
		f.Turn.Message, f.Turn.Said = message, ""
	}
	text := jsonscan.Unquote(e.Field("text"))
	if len(f.Turn.Said) < textMost {
		f.Turn.Said += text
	}
}

// providers are the providers of models by the beginning of their names, which may follow a slash.
var providers = []struct{ prefix, name string }{
	{"claude", "anthropic"},
	{"gpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"codex", "openai"},
	{"gemini", "gcp.gemini"}, {"grok", "x_ai"}, {"deepseek", "deepseek"},
	{"mistral", "mistral_ai"}, {"codestral", "mistral_ai"}, {"devstral", "mistral_ai"}, {"kimi", "moonshot_ai"},
}

// provider returns who provides a model, as far as its name says, else as far as the agent does.
// The convention wants the best that is known.
func provider(model string, a event.Agent) string {
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, p := range providers {
		if strings.HasPrefix(model, p.prefix) {
			return p.name
		}
	}
	switch a.Protocol {
	case "claude":
		return "anthropic"
	case "codex":
		return "openai"
	}
	return cmp.Or(a.Protocol, a.Name, "unknown")
}
