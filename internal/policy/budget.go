package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Budget counts what the loop has used and says when a limit is reached:
// iterations, money, tokens, time. An iteration that failed through no fault of the
// agent is refunded. Money that an agent does not report is unknown, which is not
// nothing: it never counts as 0 in a sum that is shown. The same holds for tokens. Limits may be raised while
// the loop runs, and what was used is kept when it is resumed. Time in which the loop
// could do nothing (a limit that was waited for, a pause, a machine that slept, a runner that was dead) is
// not counted. When four fifths of a limit are used, that is said once
// for each value that the limit has.
type Budget struct {
	Rules    event.Rules `json:"rules"`
	Started  time.Time   `json:"started,omitzero"`
	Now      time.Time   `json:"now,omitzero"`
	Counted  int         `json:"counted"`            // iterations begun and not refunded
	Refunded int         `json:"refunded,omitempty"` // iterations given back
	Total    event.Usage `json:"total"`
	Unknown  bool        `json:"unknown,omitempty"` // some of the total had no price
	// TokensUnknown says that some agent did not report its tokens, or that not all could be read.
	TokensUnknown bool    `json:"tokensUnknown,omitempty"`
	Current       Meter   `json:"current"`          // of the open iteration
	Worker        string  `json:"worker,omitempty"` // whose that is, where the loop has several agents
	Agents        []Share `json:"agents,omitempty"` // what each of these has used
	// Idle is how long the loop could do nothing, in milliseconds; Resting is since when it cannot.
	Idle    int64     `json:"idle,omitempty"`
	Resting time.Time `json:"resting,omitzero"`
	Warned  []string  `json:"warned,omitempty"` // the limits of which a warning was given
}

// Share is what one of several agents has used of the total, the open iteration included.
type Share struct {
	Name       string      `json:"name"`
	Iterations int         `json:"iterations"` // ended, and not refunded
	Refunded   int         `json:"refunded,omitempty"`
	Usage      event.Usage `json:"usage"`
	Unknown    bool        `json:"unknown,omitempty"` // some use had no price
	// TokensUnknown says that it did not report all its tokens.
	TokensUnknown bool `json:"tokensUnknown,omitempty"`
}

// Count returns how many iterations of the agent have ended, and how many of these were refunded.
func (s *Share) Count() units.Count {
	return units.Count{Begun: s.Iterations + s.Refunded, Refunded: s.Refunded}
}

// Spent is Usage with its money and its tokens only where all of them are known.
func (s *Share) Spent() event.Usage {
	return Meter{Usage: s.Usage, Unknown: s.Unknown, TokensUnknown: s.TokensUnknown}.Spent()
}

// sharesMost bounds them where a loop is resumed with other agents again and again.
const sharesMost = 32

// share returns that of an agent for writing, nil where the loop has one agent only. Shares of copied states stay as they are.
func (b *Budget) share(name string) *Share {
	if len(b.Rules.Agents) < 2 || name == "" {
		return nil
	}
	b.Agents = slices.Clone(b.Agents)
	at := slices.IndexFunc(b.Agents, func(s Share) bool { return s.Name == name })
	if at < 0 {
		if len(b.Agents) == sharesMost {
			return nil
		}
		at = len(b.Agents)
		b.Agents = append(b.Agents, Share{Name: name})
	}
	return &b.Agents[at]
}

// Meter counts one iteration.
type Meter struct {
	Usage   event.Usage `json:"usage"`
	Unknown bool        `json:"unknown,omitempty"` // some use had no price
	// TokensUnknown says that the agent does not report its tokens, or that not all could be read.
	TokensUnknown bool `json:"tokensUnknown,omitempty"`
	Tools         int  `json:"tools"`
	Failed        int  `json:"failed,omitempty"` // tools that returned an error
	Said          int  `json:"said,omitempty"`   // blocks of text
	Retries       int  `json:"retries,omitempty"`
	// Turns are answers of the model: what the assistant itself says, thinks and calls before a tool returns is one.
	Turns     int  `json:"turns,omitempty"`
	Answering bool `json:"answering,omitempty"` // the last of them goes on
}

// answer notes that the model answers. A subagent's answers are within one.
func (m *Meter) answer(e event.Event) {
	if !m.Answering && len(e.Field("parent")) == 0 {
		m.Turns++
		m.Answering = true
	}
}

// Apply folds one event.
func (b *Budget) Apply(e event.Event) error {
	before := b.Now
	switch e.Type {
	case event.TypeSegmentOpened, event.TypeSegmentSealed:
		// They say nothing of the loop: one that a runner is about to take up has not run on.
		return nil
	}
	b.Now = e.At
	switch e.Type {
	case event.TypeLoopStarted:
		p, err := event.As[event.LoopStarted](e)
		if err != nil {
			return err
		}
		*b = Budget{Rules: p.Rules, Started: e.At, Now: e.At}
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		if err != nil {
			return err
		}
		if p.Rules != nil {
			b.Warned = slices.DeleteFunc(slices.Clone(b.Warned), func(limit string) bool { return budgeted(b.Rules, limit) != budgeted(*p.Rules, limit) })
			b.Rules = *p.Rules
		}
		if b.Resting.IsZero() {
			b.Resting = before
		}
		b.wake()
	case event.TypeLoopPaused:
		b.rest()
	case event.TypeLoopUnpaused:
		b.wake()
	case event.TypeClockJumped:
		p, err := event.As[event.ClockJumped](e)
		if err != nil {
			return err
		}
		if b.Resting.IsZero() {
			b.Idle += max(0, p.By)
		}
	case event.TypeBudgetWarned:
		p, err := event.As[event.BudgetWarned](e)
		if err != nil {
			return err
		}
		b.Warned = append(b.Warned, p.Limit)
	case event.TypeLoopConfigured:
		p, err := event.As[event.LoopConfigured](e)
		if err != nil {
			return err
		}
		b.Rules = p.Rules
		b.Warned = slices.DeleteFunc(slices.Clone(b.Warned), func(limit string) bool { return limit == p.Key })
	case event.TypeDecided:
		return b.decided(e)
	case event.TypeIterationStarted:
		b.wake()
		b.Counted++
		b.settle() // some agents tell what a turn has used when it is over
	case event.TypeIterationEnded:
		return b.close(e)
	case event.TypeAgentStarted:
		p, err := event.As[event.AgentStarted](e)
		if err != nil {
			return err
		}
		b.Current.Unknown = b.Current.Unknown || !p.Costs
		b.Current.TokensUnknown = b.Current.TokensUnknown || p.Uncounted && b.Current.Usage.Tokens() == 0
	case event.TypeAgentNoticed:
		if string(e.Field("what")) == `"`+event.NoticeUnreadUsage+`"` {
			b.Current.TokensUnknown = true
		}
	case event.TypeAgentUsed:
		return b.used(e)
	case event.TypeToolCalled:
		b.Current.Tools++
		b.Current.answer(e)
	case event.TypeAgentThought:
		b.Current.answer(e)
	case event.TypeToolReturned:
		b.Current.Answering = false
		if string(e.Field("ok")) == "false" {
			b.Current.Failed++
		}
	case event.TypeAgentRetried:
		b.Current.Retries++
	case event.TypeAgentSaid:
		if string(e.Field("final")) == "true" {
			b.Current.Said++
		}
		b.Current.answer(e)
	}
	return nil
}

func (m *Meter) use(p event.AgentUsed) {
	if m.Usage.Tokens() == 0 && p.In+p.Out+p.CacheRead+p.CacheWrite > 0 {
		m.TokensUnknown = false // it reports them, whatever was known of it
	}
	m.Usage.In += p.In
	m.Usage.Out += p.Out
	m.Usage.CacheRead += p.CacheRead
	m.Usage.CacheWrite += p.CacheWrite
	if p.USD == nil {
		m.Unknown = true
		return
	}
	m.Usage.USD = plus(m.Usage.USD, *p.USD)
}

func (b *Budget) decided(e event.Event) error {
	p, err := event.As[event.Decided](e)
	if err != nil {
		return err
	}
	if p.Do == event.DoBegin {
		b.wake() // before the look, which limits.duration ends as well
	}
	if p.Do == event.DoBegin && p.Agent >= 0 && p.Agent < len(b.Rules.Agents) {
		b.Worker = b.Rules.Agents[p.Agent].Name
	}
	return nil
}

func (b *Budget) used(e event.Event) error {
	p, err := event.As[event.AgentUsed](e)
	if err != nil {
		return err
	}
	if name, isAgent := strings.CutPrefix(e.By(), "agent:"); isAgent {
		if s := b.share(name); s != nil {
			m := Meter{Usage: s.Usage, Unknown: s.Unknown}
			m.use(p)
			s.Usage, s.Unknown = m.Usage, m.Unknown
		}
	}
	if b.late(e) {
		var m Meter
		m.use(p)
		b.add(m)
		return nil
	}
	b.Current.use(p)
	return nil
}

// late says that an agent tells what it used when the next iteration is another one's already: that costs the loop, and
// not the iteration.
func (b *Budget) late(e event.Event) bool {
	name, isAgent := strings.CutPrefix(e.By(), "agent:")
	return isAgent && name != b.Worker && slices.ContainsFunc(b.Rules.Agents, func(a event.Agent) bool { return a.Name == name })
}

// plus never changes what a points to: states that were copied share it. The sum is finite,
// whatever an agent says, because a state has to be JSON.
func plus(a *float64, b float64) *float64 {
	if a != nil {
		b = min(b+*a, math.MaxFloat64)
	}
	return &b
}

// Count returns how many iterations the loop has begun, of these refunded, and may use.
func (b *Budget) Count() units.Count {
	return units.Count{Begun: b.Counted + b.Refunded, Refunded: b.Refunded, Maximum: b.Rules.MaximumIterations}
}

// Spent returns the usage of the open iteration, with its money and its tokens only where all of
// them are known.
func (m Meter) Spent() event.Usage {
	u := m.Usage
	u.TokensUnknown = m.TokensUnknown
	if m.Unknown {
		u.USD = nil
	}
	return u
}

func (b *Budget) close(e event.Event) error {
	p, err := event.As[event.IterationEnded](e)
	if err != nil {
		return err
	}
	if p.Refunded {
		b.Counted--
		b.Refunded++
	}
	if s := b.share(b.Worker); s != nil {
		s.TokensUnknown = s.TokensUnknown || b.Current.TokensUnknown
		if p.Refunded {
			s.Refunded++
		} else {
			s.Iterations++
		}
	}
	if p.Outcome == event.OutcomeLimited {
		b.rest()
	}
	b.settle()
	return nil
}

// settle adds what the iteration used to the total: it is used, refunded or not.
func (b *Budget) settle() {
	b.add(b.Current)
	b.Current = Meter{}
}

func (b *Budget) add(m Meter) {
	b.Total.In += m.Usage.In
	b.Total.Out += m.Usage.Out
	b.Total.CacheRead += m.Usage.CacheRead
	b.Total.CacheWrite += m.Usage.CacheWrite
	b.Unknown = b.Unknown || m.Unknown
	b.TokensUnknown = b.TokensUnknown || m.TokensUnknown
	if m.Usage.USD != nil {
		b.Total.USD = plus(b.Total.USD, *m.Usage.USD)
	}
}

// Used returns everything that the loop has used, the open iteration included, with
// its money and its tokens only where all of them are known.
func (b *Budget) Used() event.Usage {
	u := b.known()
	u.TokensUnknown = b.TokensUnknown || b.Current.TokensUnknown
	if b.Unknown || b.Current.Unknown {
		u.USD = nil
	}
	return u
}

// known is Used with the money and tokens that are known, be it all or not: at least that much is spent.
func (b *Budget) known() event.Usage {
	u := b.Total
	c := b.Current.Usage
	u.In, u.Out = u.In+c.In, u.Out+c.Out
	u.CacheRead, u.CacheWrite = u.CacheRead+c.CacheRead, u.CacheWrite+c.CacheWrite
	if c.USD != nil {
		u.USD = plus(u.USD, *c.USD)
	}
	return u
}

// Over says which limit forbids another iteration, and in a sentence why; an empty
// reason where none does.
func (b *Budget) Over() (event.Reason, string) {
	used := b.known()
	tokens := used.Tokens()
	r := b.Rules
	switch {
	case b.Counted >= r.MaximumIterations:
		return event.ReasonIterations, fmt.Sprintf("%d of %d iterations are used", b.Counted, r.MaximumIterations)
	case r.LimitCost > 0 && used.USD != nil && *used.USD >= r.LimitCost:
		return event.ReasonCost, units.Of(*used.USD, r.LimitCost) + " are spent"
	case r.LimitTokens > 0 && tokens >= r.LimitTokens:
		return event.ReasonTokens, fmt.Sprintf("%d of %d tokens are used", tokens, r.LimitTokens)
	}
	if why := b.Late(); why != "" {
		return event.ReasonDuration, why
	}
	return "", ""
}

// Late says that the loop has run for as long as it may; empty where it has not.
func (b *Budget) Late() string {
	if limit := milliseconds(b.Rules.LimitDuration); limit > 0 && b.Ran() >= limit {
		return "the loop has run for " + units.Plain(limit)
	}
	return ""
}

// Until returns the moment at which the loop will have run for as long as it may. False says that there is no limit, or that time
// does not count now: when the limit is reached is then not known.
func (b *Budget) Until() (time.Time, bool) {
	if b.Rules.LimitDuration <= 0 || !b.Resting.IsZero() {
		return time.Time{}, false
	}
	return b.Started.Add(milliseconds(b.Rules.LimitDuration)).Add(milliseconds(b.Idle)), true
}

// rest begins a time in which the loop can do nothing.
func (b *Budget) rest() {
	if b.Resting.IsZero() {
		b.Resting = b.Now
	}
}

// wake ends it.
func (b *Budget) wake() {
	if !b.Resting.IsZero() {
		b.Idle += max(0, b.Now.Sub(b.Resting).Milliseconds())
		b.Resting = time.Time{}
	}
}

// Ran is how long the loop has run, without the time in which it could do nothing.
func (b *Budget) Ran() time.Duration {
	until := b.Now
	if !b.Resting.IsZero() {
		until = b.Resting
	}
	return max(0, until.Sub(b.Started)-milliseconds(b.Idle))
}

// Overspent says that the open iteration has used more than one may; empty where it has not.
func (b *Budget) Overspent() string {
	used, r := b.Current.Usage, b.Rules
	tokens := used.Tokens()
	switch {
	case r.IterationCost > 0 && used.USD != nil && *used.USD >= r.IterationCost:
		return "the iteration has spent " + units.Of(*used.USD, r.IterationCost)
	case r.IterationTokens > 0 && tokens >= r.IterationTokens:
		return fmt.Sprintf("the iteration has used %d of %d tokens", tokens, r.IterationTokens)
	}
	return ""
}

// Warning returns what has to be said of a limit now, once; false where nothing has. running says that an agent is at its turn, of
// which it is known then whether it reports what it costs and the tokens that it uses.
func (b *Budget) Warning(running bool, agent Process) (event.BudgetWarned, bool) {
	used := b.known()
	r := b.Rules
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
		{"limits.cost", running && !agent.Costs && (r.LimitCost > 0 || r.IterationCost > 0), costUnreported},
		{"limits.tokens", running && agent.Uncounted && (r.LimitTokens > 0 || r.IterationTokens > 0), tokensUnreported},
		{"limits.cost", near(spent, r.LimitCost), units.Of(spent, r.LimitCost) + " are spent"},
		{"limits.tokens", near(float64(tokens), float64(r.LimitTokens)), fmt.Sprintf("%d of %d tokens are used", tokens, r.LimitTokens)},
		{"limits.duration", near(float64(b.Ran()), float64(milliseconds(r.LimitDuration))), fmt.Sprintf("the loop has run for %s of %s", units.Plain(b.Ran().Round(time.Second)), units.Plain(milliseconds(r.LimitDuration)))},
		// Of a handful, the last but one is no news.
		{"maximumIterations", r.MaximumIterations >= 5 && near(float64(b.Counted), float64(r.MaximumIterations)), fmt.Sprintf("%d of %d iterations are used", b.Counted, r.MaximumIterations)},
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

// Unreported says why a limit cannot stop the agent that was started last; empty where it can, or where that is not known.
func (l *Life) Unreported(limit string) string {
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

// budgeted returns how much of what a warning is about the rules allow.
func budgeted(r event.Rules, limit string) float64 {
	switch limit {
	case "limits.cost":
		return r.LimitCost
	case "limits.tokens":
		return float64(r.LimitTokens)
	case "limits.duration":
		return float64(r.LimitDuration)
	case "maximumIterations":
		return float64(r.MaximumIterations)
	}
	return 0
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
