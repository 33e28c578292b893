package claude

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// spending is what the process had used by its last result: Claude's totals are those of the
// process, and it may end several turns.
type spending struct {
	usd       float64
	models    []use
	byMessage bool // message by message
	// gapUSD and gap say that the next total does not show what is new: a session of an earlier
	// process is continued, or totals could not be read and what was reported instead is not known
	// by model.
	gapUSD, gap bool
	// events is what messages reported since the last result. A result counts it again, and better;
	// without a result nothing else is known.
	events use
	// early is what facts of messages and answers have reported since the last result, by model;
	// unpriced says that the price of some of it has not been.
	early    []use
	unpriced bool
}

// used reports what this result adds to what was used. It takes the first of these that can be
// read: model_usage_since_last_result (2.1.329); the difference of the totals by model from those
// of the result before; `usage`, which counts no subagents and no response that was cut off.
//
// The total cost, which is the sum over all models, replaces prices that cannot be read. Where no
// tokens can be read, the least that is known is reported, with a notice.
func (d *Dialect) used(m jsonscan.Value, out *agent.Decoded) {
	since, totals := readModels(m.Get("model_usage_since_last_result")), readModels(m.Get("modelUsage"))
	plain := readUse(m.Get("usage"))
	plain.Usage = plain.SplitByTotal()
	if d.spent.byMessage && len(since)+len(totals) == 0 {
		return
	}
	uses, complete := since, allComplete(since)
	if !d.spent.gap && (!complete && allComplete(totals) || len(since) == 0) {
		uses, complete = d.spent.less(totals), allComplete(totals)
	}
	more, priced := d.spent.more(m.Get("total_cost_usd"))
	guessed := sum(since).guessed || sum(totals).guessed
	switch {
	case complete && (guessed || allKnown(uses)):
	case complete:
		uses = []use{sum(uses).costing(more, priced)}
	case plain.Complete && (plain.Tokens() > 0 || more == 0 && (priced || d.spent.events.Tokens() == 0)):
		free := plain.Tokens() == 0 && !m.Get("total_cost_usd").Exists()
		uses, complete = []use{plain.costing(more, free || priced && !guessed)}, true
	default:
		least := sum(uses).atLeast(plain).atLeast(d.spent.events)
		if priced || !least.known {
			least = least.costing(more, priced && !guessed)
		}
		uses = []use{least}
	}
	report(d.spent.rest(uses), out)
	if said := m.Get("usage").Exists() || len(since)+len(totals) > 0; !complete && (said || more > 0) {
		out.UnreadUsage()
	}
	d.spent.book(m.Get("total_cost_usd"), uses, since, totals)
}

// more returns what a total cost has grown by since the last result; false if that is not known.
func (s *spending) more(total jsonscan.Value) (usd float64, known bool) {
	usd, known = agent.Dollars(total)
	if !known || s.gapUSD {
		return 0, false
	}
	return grown(usd, s.usd), true
}

// less returns what totals have grown by since the last result.
func (s *spending) less(totals []use) []use {
	more := make([]use, 0, len(totals))
	for _, total := range totals {
		more = append(more, total.less(s.of(total.Model)))
	}
	return more
}

// of returns what was spent on a model by the last result.
func (s *spending) of(model string) use {
	if i := slices.IndexFunc(s.models, func(u use) bool { return u.Model == model }); i >= 0 {
		return s.models[i]
	}
	return use{Usage: agent.Usage{Model: model}, known: true}
}

// book notes what the totals of the next result are compared with.
func (s *spending) book(cost jsonscan.Value, reported, since, totals []use) {
	if usd, ok := agent.Dollars(cost); ok {
		s.usd, s.gapUSD = usd, false
	} else if n := sum(reported); n.known {
		s.usd += n.usd
	}
	switch {
	case allComplete(totals):
		s.models, s.gap = totals, false
	case allComplete(since):
		for _, more := range since {
			more = more.plus(s.of(more.Model))
			s.models = append(slices.DeleteFunc(s.models, func(u use) bool { return u.Model == more.Model }), more)
		}
	default:
		n := sum(reported)
		s.gap = s.gap || n.Tokens() > 0 || n.usd > 0 || !n.known
	}
	s.events, s.early, s.unpriced = use{}, nil, false
}

// messageUsage notes what a message says that it used. Each of its lines says it again, and those
// that come later may say more.
func (d *Dialect) messageUsage(s *stream, model, usage jsonscan.Value) {
	if !usage.IsObject() || d.variant != nil && d.variant.each {
		return
	}
	now := s.used.atLeast(readUse(usage))
	more := now.less(s.used)
	s.model = cmp.Or(model.Text(), s.model)
	more.Model = s.model
	if d.spent.events.Tokens() == 0 {
		d.spent.events.Model = more.Model
	}
	s.used, d.spent.events = now, d.spent.events.plus(more)
}

// End reports what is known of a turn without a result. What it cost is not known.
func (d *Dialect) End(_ int, out *agent.Decoded) {
	rest := d.spent.rest([]use{d.spent.events})
	if d.spent.unpriced || sum(rest).Tokens() > 0 {
		report(rest, out)
	}
	d.spent.events, d.spent.early, d.spent.unpriced = use{}, nil, false
}
