package transcript

import (
	"encoding/json"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// ofLoop takes in what happens to the loop and its iterations.
func (b *Builder) ofLoop(e event.Event, p event.Payload) bool {
	switch p := p.(type) {
	case event.LoopStarted:
		b.loopStarted(e, p)
	case event.LoopResumed:
		b.loopResumed(e, p)
	case event.LoopConfigured:
		b.opt.Maximum = p.Rules.MaximumIterations
		return false
	case event.LoopPaused:
		b.paused = b.begin(e, Pause{Why: clean(p.Why)})
	case event.LoopUnpaused:
		b.endPause(e)
	case event.LoopWaiting:
		b.endWait(e)
		b.waiting = b.begin(e, Wait{For: word(p.For), Until: p.Until, Why: clean(p.Why), Question: p.Question})
	case event.LoopWaited:
		b.endWait(e)
	case event.LoopEnded:
		b.loopEnded(e, p)
	case event.IterationStarted:
		b.iterationStarted(e, p)
	case event.IterationEnded:
		b.iterationEnded(e, p)
	case event.AgentReplaced:
		b.worker = render.Clean(p.Name)
		return false
	case event.StoriesRead:
		does, title := phrase.Story(p)
		b.story, b.title = render.Clean(does), render.Clean(title)
		b.stories = render.Clean(phrase.StoriesSum(p.Stories))
		return false
	case event.StoriesJudged:
		b.stories = render.Clean(phrase.StoriesSum(p.Stories))
		return false
	default:
		return false
	}
	return true
}

func (b *Builder) loopStarted(e event.Event, p event.LoopStarted) {
	b.name, b.project, b.opt.Maximum, b.refunded = render.Clean(p.Name), p.Project, p.Rules.MaximumIterations, 0
	b.prefer(p.Rules.Agents)
	l := Loop{Name: b.name, Project: render.Clean(p.Project), Maximum: p.Rules.MaximumIterations}
	working, reviewing := phrase.Roles(p)
	l.Agents, l.Reviewers = cleanEach(working), cleanEach(reviewing)
	b.begin(e, l)
}

// prefer sets the agent of the next iteration when a runner begins or resumes the loop.
func (b *Builder) prefer(agents []event.Agent) {
	b.first = render.Clean(phrase.First(agents))
	b.worker = b.first
}

func (b *Builder) loopResumed(e event.Event, p event.LoopResumed) {
	b.settle(e)
	b.endWait(e)
	b.worker = b.first
	l := Loop{Name: b.name, Resumed: true, Notes: cleanEach(phrase.Found(p))}
	if p.Rules != nil {
		b.opt.Maximum = p.Rules.MaximumIterations
		b.prefer(p.Rules.Agents)
		l.Maximum = p.Rules.MaximumIterations
	}
	b.begin(e, l)
}

func (b *Builder) loopEnded(e event.Event, p event.LoopEnded) {
	b.endPause(e)
	b.endWait(e)
	end := End{Name: b.name, Status: word(p.Status), Reason: word(p.Reason), Result: render.Clean(p.Result),
		Why: clean(p.Why), Hint: clean(p.Hint), Changed: p.Changed, Strength: clean(p.Strength.Done())}
	if p.Status != event.StatusCompleted { // else Why says it
		end.Stories = b.stories
	}
	for _, f := range p.Edited {
		f.Path, f.How, f.Role = render.Clean(f.Path), word(f.How), word(f.Role)
		f.Guardrails = cleanEach(f.Guardrails)
		end.Edited = append(end.Edited, f)
	}
	for _, q := range p.Questions {
		end.Questions = append(end.Questions, clean(q.String()))
	}
	b.begin(e, end)
}

func (b *Builder) iterationStarted(e event.Event, p event.IterationStarted) {
	b.iteration, b.turn, b.answered, b.claim = p.N, 1, false, nil
	b.begin(e, Iteration{
		N: p.N, Refunded: b.refunded, Maximum: b.opt.Maximum, Agent: b.worker, Story: b.story, Title: b.title,
		Prompt: clean(p.Prompt.Text), PromptBytes: p.Prompt.Bytes, Unkept: clean(p.Unkept),
	})
	b.story, b.title = "", ""
}

func (b *Builder) iterationEnded(e event.Event, p event.IterationEnded) {
	b.settle(e)
	for name, it := range b.guardrails {
		g, _ := it.Body.(Guardrail)
		g.State, g.Took = StateLost, e.At.Sub(g.Began)
		it.Body = g
		b.touch(it, e)
		delete(b.guardrails, name)
	}
	b.iteration = 0
	if p.Refunded {
		b.refunded++
	}
	b.begin(e, IterationEnd{
		N: p.N, Outcome: word(p.Outcome), Error: clean(p.Error), Usage: p.Usage, Tools: p.Tools, Took: p.Took,
		Refunded: p.Refunded, Progress: word(p.Progress), Refusal: clean(p.Refusal), GuardrailsSkipped: p.GuardrailsSkipped,
	})
}

func (b *Builder) endWait(e event.Event) {
	if b.waiting == nil {
		return
	}
	w, _ := b.waiting.Body.(Wait)
	w.Over = true
	b.waiting.Body = w
	b.touch(b.waiting, e)
	b.waiting = nil
}

func (b *Builder) endPause(e event.Event) {
	if b.paused == nil {
		return
	}
	p, _ := b.paused.Body.(Pause)
	p.Over = true
	b.paused.Body = p
	b.touch(b.paused, e)
	b.paused = nil
}

// changedPaths returns the files of a tool's changes, as Codex describes them.
func changedPaths(changes []byte) (paths []string) {
	var list []struct {
		Path string `json:"path"`
	}
	// Any other form is another tool's.
	if json.Unmarshal(changes, &list) != nil {
		return nil
	}
	for _, c := range list {
		if c.Path != "" {
			paths = append(paths, render.Clean(c.Path))
		}
	}
	return paths
}

func cleanEach(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, render.Clean(text))
	}
	return all
}
