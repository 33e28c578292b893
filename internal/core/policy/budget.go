package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Budget counts what the loop has used and says when a limit is reached: iterations, money, tokens,
// time. An iteration that failed through no fault of the agent is refunded. Money that an agent
// does not report is unknown: it never counts as 0 in a sum that is shown. The same holds for
// tokens. Limits may be raised while the loop runs, and what was used is kept when it is resumed.
// Time in which the loop could do nothing (a limit that was waited for, a pause, a machine that
// slept, a runner that was dead) is not counted. When four fifths of a limit are used, a warning is
// given, once for each value of the limit.
type Budget struct {
	Started  time.Time      `json:"started,omitzero"`
	Now      time.Time      `json:"now,omitzero"`
	Counted  int            `json:"counted"`            // iterations begun and not refunded
	Refunded int            `json:"refunded,omitempty"` // iterations refunded
	Total    Spending       `json:"total"`              // of all ended iterations
	Current  IterationUsage `json:"current"`            // of the open iteration
	Agents   []AgentUsage   `json:"agents,omitempty"`   // of each agent, if the loop has several
	// Waited is how long the loop could do nothing, in milliseconds; WaitingSince is the start of
	// such a time that goes on.
	Waited       int64     `json:"waited,omitempty"`
	WaitingSince time.Time `json:"waitingSince,omitzero"`
	Warned       []string  `json:"warned,omitempty"` // the limits for which a warning was given
}

// Spending is a usage that may be known only in part.
type Spending struct {
	Usage   event.Usage `json:"usage"`
	Unknown bool        `json:"unknown,omitempty"` // some of it had no price
	// Unpriced says that the price of some of it is yet to come.
	Unpriced bool `json:"unpriced,omitempty"`
	// TokensUnknown says that an agent does not report its tokens, or that not all could be read.
	TokensUnknown bool `json:"tokensUnknown,omitempty"`
}

// Spent returns the usage, with money and tokens only if all of each are known.
func (s Spending) Spent() event.Usage {
	u := s.Usage
	u.TokensUnknown = s.TokensUnknown
	if s.Unknown || s.Unpriced {
		u.USD = nil
	}
	return u
}

func (s *Spending) add(other Spending) {
	s.Usage.In += other.Usage.In
	s.Usage.Out += other.Usage.Out
	s.Usage.CacheRead += other.Usage.CacheRead
	s.Usage.CacheWrite += other.Usage.CacheWrite
	s.Unknown, s.Unpriced = s.Unknown || other.Unknown, other.Unpriced
	s.TokensUnknown = s.TokensUnknown || other.TokensUnknown
	if other.Usage.USD != nil {
		s.Usage.USD = plus(s.Usage.USD, *other.Usage.USD)
	}
}

func spendingOf(p event.AgentUsed) Spending {
	usage := event.Usage{In: p.In, Out: p.Out, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, USD: p.USD}
	return Spending{Usage: usage, Unknown: p.USD == nil && !p.Unpriced, Unpriced: p.Unpriced}
}

// settle ends the wait for a price: one that has not come is unknown.
func (s *Spending) settle() { s.Unknown, s.Unpriced = s.Unknown || s.Unpriced, false }

// AgentUsage is what one of several agents has used of the total, the open iteration included.
type AgentUsage struct {
	Name       string `json:"name"`
	Iterations int    `json:"iterations"` // ended, and not refunded
	Refunded   int    `json:"refunded,omitempty"`
	Spending
}

// Count returns how many iterations of the agent have ended, and how many of these were refunded.
func (s *AgentUsage) Count() units.Count {
	return units.Count{Begun: s.Iterations + s.Refunded, Refunded: s.Refunded}
}

// sharesMost bounds Agents: a loop may be resumed with other agents again and again.
const sharesMost = 32

// share returns an agent's entry for writing; nil if the loop has only one agent. The entries of
// copied states do not change.
func (b *Budget) share(name string, r event.Rules) *AgentUsage {
	if len(r.Agents) < 2 || name == "" {
		return nil
	}
	b.Agents = slices.Clone(b.Agents)
	at := slices.IndexFunc(b.Agents, func(s AgentUsage) bool { return s.Name == name })
	if at < 0 {
		if len(b.Agents) == sharesMost {
			return nil
		}
		at = len(b.Agents)
		b.Agents = append(b.Agents, AgentUsage{Name: name})
	}
	return &b.Agents[at]
}

// IterationUsage counts one iteration.
type IterationUsage struct {
	Spending
	Tools   int `json:"tools"`
	Failed  int `json:"failed,omitempty"` // tools that returned an error
	Said    int `json:"said,omitempty"`   // blocks of text
	Retries int `json:"retries,omitempty"`
	// Turns counts the model's answers. What the assistant itself says, thinks and calls before a
	// tool returns is one answer.
	Turns     int  `json:"turns,omitempty"`
	Answering bool `json:"answering,omitempty"` // the last of them goes on
}

// answer notes that the model answers. A subagent's answers are within one.
func (m *IterationUsage) answer(parent string) {
	if !m.Answering && parent == "" {
		m.Turns++
		m.Answering = true
	}
}

// Apply folds one event that by recorded. was is the loop before it.
func (b *Budget) Apply(at time.Time, by string, p event.Payload, was *Lifecycle) {
	before := b.Now
	switch p.(type) {
	case event.SegmentOpened, event.SegmentSealed:
		// They do not mean that the loop ran: a runner may only be about to resume it.
		return
	}
	b.Now = at
	switch p := p.(type) {
	case event.LoopStarted:
		*b = Budget{Started: at, Now: at}
	case event.LoopResumed:
		if p.Rules != nil {
			b.Warned = slices.DeleteFunc(slices.Clone(b.Warned), func(limit string) bool { return !sameRule(was.Rules, *p.Rules, limit) })
		}
		if b.WaitingSince.IsZero() {
			b.WaitingSince = before
		}
		b.stopWaiting()
	case event.LoopPaused:
		b.startWaiting()
	case event.LoopWaiting:
		if p.For == event.WaitPerson || p.For == event.WaitHeld {
			b.startWaiting()
		}
	case event.LoopUnpaused, event.LoopWaited:
		if waited, ok := p.(event.LoopWaited); resumedByPerson(p) || ok && waited.For == event.WaitHeld {
			b.stopWaiting()
		}
	case event.ClockJumped:
		if b.WaitingSince.IsZero() {
			b.Waited += max(0, p.By)
		}
	case event.BudgetWarned:
		b.Warned = append(b.Warned, p.Limit)
	case event.LoopConfigured:
		b.Warned = slices.DeleteFunc(slices.Clone(b.Warned), func(limit string) bool { return limit == p.Key })
	case event.Decided:
		if p.Do == event.DoBegin {
			b.stopWaiting() // before the look, because limits.duration ends it too
		}
	case event.IterationStarted:
		b.stopWaiting()
		b.Counted++
		b.settle() // some agents report a turn's usage after its end
	case event.IterationEnded:
		b.close(p, was)
	case event.AgentStarted:
		b.Current.Unknown = b.Current.Unknown || !p.Costs
		b.Current.TokensUnknown = b.Current.TokensUnknown || p.Uncounted && b.Current.Usage.Tokens() == 0
	case event.AgentNoticed:
		if p.What == event.NoticeUnreadUsage {
			b.Current.TokensUnknown = true
		}
	case event.AgentUsed:
		b.used(p, by, was)
	case event.ToolCalled:
		b.Current.Tools++
		b.Current.answer(p.Parent)
	case event.AgentThought:
		b.Current.answer(p.Parent)
	case event.ToolReturned:
		b.Current.Answering = false
		if !p.OK {
			b.Current.Failed++
		}
	case event.AgentRetried:
		b.Current.Retries++
	case event.AgentSaid:
		if p.Final {
			b.Current.Said++
		}
		b.Current.answer(p.Parent)
	}
}

func (b *Budget) used(p event.AgentUsed, by string, was *Lifecycle) {
	used := spendingOf(p)
	name, isAgent := strings.CutPrefix(by, "agent:")
	if isAgent {
		if s := b.share(name, was.Rules); s != nil {
			s.add(used)
		}
	}
	// Usage that an agent reports after another agent's iteration began counts for the loop, not
	// for that iteration.
	if isAgent && name != was.Worker.Name && slices.ContainsFunc(was.Rules.Agents, func(a event.Agent) bool { return a.Name == name }) {
		used.settle()
		b.Total.add(used)
		return
	}
	if b.Current.Usage.Tokens() == 0 && used.Usage.Tokens() > 0 {
		b.Current.TokensUnknown = false // the agent reports them, whatever it said before
	}
	b.Current.add(used)
}

// plus never changes what a points to, because copied states share it. The sum is finite, whatever
// an agent reports, because JSON has no infinity.
func plus(a *float64, b float64) *float64 {
	if a != nil {
		b = min(b+*a, math.MaxFloat64)
	}
	return &b
}

// Count returns how many iterations the loop has begun, how many of these were refunded, and how
// many it may use.
func (b *Budget) Count(r event.Rules) units.Count {
	return units.Count{Begun: b.Counted + b.Refunded, Refunded: b.Refunded, Maximum: r.MaximumIterations}
}

func (b *Budget) close(p event.IterationEnded, was *Lifecycle) {
	if p.Refunded {
		b.Counted--
		b.Refunded++
	}
	if s := b.share(was.Worker.Name, was.Rules); s != nil {
		s.TokensUnknown = s.TokensUnknown || b.Current.TokensUnknown
		s.settle()
		if p.Refunded {
			s.Refunded++
		} else {
			s.Iterations++
		}
	}
	if p.Outcome == event.OutcomeLimited {
		b.startWaiting()
	}
	b.settle()
}

// settle adds the iteration's usage to the total, even if the iteration is refunded.
func (b *Budget) settle() {
	b.Current.Spending.settle()
	b.Total.add(b.Current.Spending)
	b.Current = IterationUsage{}
}

// Used returns what the loop has used, including the open iteration, with money and tokens only if
// all of each are known.
func (b *Budget) Used() event.Usage { return b.all().Spent() }

// known is Used with the known money and tokens, which are a lower bound.
func (b *Budget) known() event.Usage { return b.all().Usage }

func (b *Budget) all() Spending {
	all := b.Total
	all.add(b.Current.Spending)
	return all
}

// Over returns which limit forbids another iteration, and why; an empty reason if none does.
func (b *Budget) Over(r event.Rules) (event.Reason, string) {
	used := b.known()
	tokens := used.Tokens()
	switch {
	case b.Counted >= r.MaximumIterations:
		return event.ReasonIterations, fmt.Sprintf("%d of %d iterations are used", b.Counted, r.MaximumIterations)
	case r.Limits.Cost > 0 && used.USD != nil && *used.USD >= r.Limits.Cost:
		return event.ReasonCost, units.Of(*used.USD, r.Limits.Cost) + " are spent"
	case r.Limits.Tokens > 0 && tokens >= r.Limits.Tokens:
		return event.ReasonTokens, fmt.Sprintf("%d of %d tokens are used", tokens, r.Limits.Tokens)
	}
	if why := b.Late(r); why != "" {
		return event.ReasonDuration, why
	}
	return "", ""
}

// Late says that limits.duration is used up; empty if it is not.
func (b *Budget) Late(r event.Rules) string {
	if limit := r.Limits.Duration.Std(); limit > 0 && b.Ran() >= limit {
		return "the loop has run for " + units.Plain(limit)
	}
	return ""
}

// Until returns the moment at which limits.duration will be used up. It reports false if there is
// no limit, or if time does not count now, so that the moment is unknown.
func (b *Budget) Until(r event.Rules) (time.Time, bool) {
	if r.Limits.Duration <= 0 || !b.WaitingSince.IsZero() {
		return time.Time{}, false
	}
	return b.Started.Add(r.Limits.Duration.Std()).Add(units.Milliseconds(b.Waited)), true
}

// startWaiting begins a time in which the loop can do nothing.
func (b *Budget) startWaiting() {
	if b.WaitingSince.IsZero() {
		b.WaitingSince = b.Now
	}
}

// stopWaiting ends it.
func (b *Budget) stopWaiting() {
	if !b.WaitingSince.IsZero() {
		b.Waited += max(0, b.Now.Sub(b.WaitingSince).Milliseconds())
		b.WaitingSince = time.Time{}
	}
}

// Ran returns how long the loop has run, without the time in which it could do nothing.
func (b *Budget) Ran() time.Duration {
	until := b.Now
	if !b.WaitingSince.IsZero() {
		until = b.WaitingSince
	}
	return max(0, until.Sub(b.Started)-units.Milliseconds(b.Waited))
}

// Overspent says that the open iteration has used more than the limits allow; empty if it has not.
func (b *Budget) Overspent(r event.Rules) string {
	used := b.Current.Usage
	tokens := used.Tokens()
	switch {
	case r.Limits.IterationCost > 0 && used.USD != nil && *used.USD >= r.Limits.IterationCost:
		return "the iteration has spent " + units.Of(*used.USD, r.Limits.IterationCost)
	case r.Limits.IterationTokens > 0 && tokens >= r.Limits.IterationTokens:
		return fmt.Sprintf("the iteration has used %d of %d tokens", tokens, r.Limits.IterationTokens)
	}
	return ""
}

// Warning returns a warning that has not been given yet; false if there is none. running says that
// an agent is at its turn: then it is known whether the agent reports cost and tokens.
func (b *Budget) Warning(running bool, l *Lifecycle) (event.BudgetWarned, bool) {
	used := b.known()
	r, agent := l.Rules, l.Process
	tokens := used.Tokens()
	near := func(used, limit float64) bool { return limit > 0 && used >= limit*4/5 && used < limit }
	spent := 0.0
	if used.USD != nil {
		spent = *used.USD
	}
	for _, w := range []struct {
		limit string
		is    bool
		why   string
	}{
		{"limits.cost", running && !agent.Costs && (r.Limits.Cost > 0 || r.Limits.IterationCost > 0), costUnreported},
		{"limits.tokens", running && agent.Uncounted && (r.Limits.Tokens > 0 || r.Limits.IterationTokens > 0), tokensUnreported},
		{"limits.cost", near(spent, r.Limits.Cost), units.Of(spent, r.Limits.Cost) + " are spent"},
		{"limits.tokens", near(float64(tokens), float64(r.Limits.Tokens)), fmt.Sprintf("%d of %d tokens are used", tokens, r.Limits.Tokens)},
		{"limits.duration", near(float64(b.Ran()), float64(r.Limits.Duration.Std())),
			fmt.Sprintf("the loop has run for %s of %s", units.Plain(b.Ran().Round(time.Second)), units.Plain(r.Limits.Duration.Std()))},
		// With fewer than 5, a warning is no news.
		{"maximumIterations", r.MaximumIterations >= 5 && near(float64(b.Counted), float64(r.MaximumIterations)),
			fmt.Sprintf("%d of %d iterations are used", b.Counted, r.MaximumIterations)},
	} {
		if w.is && !slices.Contains(b.Warned, w.limit) {
			return event.BudgetWarned{Limit: w.limit, Why: w.why}, true
		}
	}
	return event.BudgetWarned{}, false
}

const (
	costUnreported   = "this agent does not report what it costs: no limit of cost can stop it"
	tokensUnreported = "this agent does not report the tokens that it uses: no limit of tokens can stop it"
)

// Unreported says why a limit cannot stop the agent that was started last; empty if it can, or if
// that is unknown.
func (l *Lifecycle) Unreported(limit string) string {
	known := l.Process.Alive || l.Exited != nil
	switch {
	case !known:
	case (limit == "limits.cost" || limit == "limits.iterationCost") && !l.Process.Costs:
		return costUnreported
	case (limit == "limits.tokens" || limit == "limits.iterationTokens") && l.Process.Uncounted:
		return tokensUnreported
	}
	return ""
}
