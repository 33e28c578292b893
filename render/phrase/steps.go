package phrase

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Steps says what a loop does step by step, and how long each took: the phrases, the command lines,
// the prompt, and what completion is looked for with. The zero value is at the beginning of a loop.
// It belongs to one goroutine.
type Steps struct {
	loop     string // its name
	rules    event.Rules
	refunded int
	claimed  bool                       // in this iteration
	decided  map[event.Effect]time.Time // when each kind of effect was last decided
	began    time.Time                  // the loop
}

// stepCommandMost and promptMost are how much of a command and a prompt is shown, in characters.
const (
	stepCommandMost = 400
	promptMost      = 200
)

// Of returns the lines of an event, none for what a viewer shows as it comes.
func (s *Steps) Of(e event.Event) []string {
	p, err := event.Decode(e)
	if err != nil {
		return []string{fmt.Sprintf("event %d %s: %v", e.Seq, e.Type, err)}
	}
	switch p := p.(type) {
	case nil, event.AgentSaid, event.AgentThought, event.AgentUsed, event.AgentPlanned, event.AgentNoticed, event.AgentUnparsed,
		event.ToolCalled, event.ToolProgressed, event.ToolReturned, event.SegmentOpened, event.SegmentSealed, event.RepoInspected:
		return nil
	case event.Decided:
		if s.decided == nil {
			s.decided = map[event.Effect]time.Time{}
		}
		s.decided[p.Do] = e.At
		return nil
	}
	lines := s.beside(e, p)
	switch p.(type) {
	case event.IterationStarted, event.GuardrailStarted, event.GuardrailEnded: // the lines say it
	default:
		text := Capital(Of(p, Known{At: e.At, Loop: s.loop}).Line())
		if took := s.took(e, p); took != "" {
			text += " (" + took + ")"
		}
		lines = append(lines, text)
	}
	switch p := p.(type) {
	case event.IterationEnded:
		if p.Refunded {
			s.refunded++
		}
	case event.LoopEnded:
		if p.Hint != "" {
			lines = append(lines, "Hint: "+p.Hint)
		}
		lines = append(lines, fmt.Sprintf("Result: %s, exit code %d", cmp.Or(p.Result, string(p.Reason)), p.Reason.ExitCode()))
	}
	return lines
}

// beside are the lines before the phrase.
func (s *Steps) beside(e event.Event, p event.Payload) []string {
	switch p := p.(type) {
	case event.LoopStarted:
		s.loop, s.rules, s.began = p.Name, p.Rules, e.At
		return []string{fmt.Sprintf("Agent command: %s (protocol %s)", commandLine(p.Agent.Command), p.Agent.Protocol)}
	case event.LoopConfigured:
		s.rules = p.Rules
	case event.LoopResumed:
		if p.Rules != nil {
			s.rules = *p.Rules
		}
	case event.IterationStarted:
		s.claimed = false
		return []string{s.iteration(p.N) + " starting", s.prompt(e, p)}
	case event.IterationEnded:
		if p.Outcome == event.OutcomeDone && !s.claimed {
			return []string{"Completion looked for: " + s.markers() + "; not claimed"}
		}
	case event.CompletionClaimed:
		s.claimed = true
		return []string{"Completion looked for: " + s.markers()}
	case event.AgentStarted:
		return []string{"Running agent: " + commandLine(p.Argv)}
	case event.GuardrailStarted:
		return []string{"Running guardrail: " + units.Cut(p.Name, stepCommandMost)}
	case event.GuardrailEnded:
		return s.guardrail(p)
	}
	return nil
}

func (s *Steps) guardrail(p event.GuardrailEnded) []string {
	how := fmt.Sprintf("exited with code %d", p.Code)
	if p.TimedOut || p.Code < 0 {
		how = Verdict(p)
	}
	said := Of(p, Known{})
	lines := []string{fmt.Sprintf("Guardrail %s (%s): %s", how, strings.Join(said.Facts, " · "), units.Cut(p.Name, stepCommandMost))}
	if !p.OK && p.Log != "" {
		lines = append(lines, "Output of the guardrail: "+p.Log)
	}
	if p.Warning != "" {
		lines = append(lines, "Warning of the guardrail: "+p.Warning)
	}
	return lines
}

// took says how long it took to what an event reports, where its phrase does not say it.
func (s *Steps) took(e event.Event, p event.Payload) string {
	var at time.Time
	switch p := p.(type) {
	case event.LoopEnded:
		at = s.began
	case event.AgentStarted:
		at = s.decided[event.DoStart]
	case event.AgentFinished:
		at = s.decided[event.DoStart]
	case event.IterationChecked:
		at = s.decided[event.DoCheck]
	case event.SCMEnded:
		at = s.decided[event.DoCommit]
	case event.EffectFailed:
		at = s.decided[p.Do]
	default:
		return ""
	}
	if at.IsZero() {
		return ""
	}
	return units.Took(max(e.At.Sub(at), 0))
}

func commandLine(words []string) string { return units.Cut(strings.Join(words, " "), stepCommandMost) }

func (s *Steps) iteration(n int) string {
	c := units.Count{Begun: n, Refunded: s.refunded, Maximum: s.rules.MaximumIterations}
	if c.Refunded == 0 {
		return "Iteration " + c.Short()
	}
	return "Iteration " + c.Number()
}

func (s *Steps) prompt(e event.Event, p event.IterationStarted) string {
	begin := []rune(p.Prompt.Text)
	begin = begin[:min(len(begin), promptMost)]
	more, made := "", ""
	if len(string(begin)) < p.Prompt.Bytes {
		more = " …"
	}
	if at := s.decided[event.DoBegin]; !at.IsZero() {
		made = ", made in " + units.Took(max(e.At.Sub(at), 0))
	}
	return fmt.Sprintf("Prompt of %s%s: %s%s", units.Bytes(int64(p.Prompt.Bytes)), made, strconv.Quote(string(begin)), more)
}

// markers are what completion is claimed with.
func (s *Steps) markers() string {
	var markers []string
	if text := s.rules.Completion.Promise; text != "" {
		markers = append(markers, "<promise>"+text+"</promise>")
	}
	if text := s.rules.CompletionResponse; text != "" {
		markers = append(markers, "<response>"+text+"</response>")
	}
	return strings.Join(markers, " or ")
}

// Capital begins a sentence, unless that begins with the name of a file or a setting.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	word, _, _ := strings.Cut(text, " ")
	if size == 0 || first == utf8.RuneError || strings.Contains(word, ".") {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
