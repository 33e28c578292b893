package claude

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// A result comes when all is spent, and limits of one iteration have to act before. So usage is
// reported request by request: the tokens that a message states, and what Claude answers when it is
// asked for its totals, which have the price and the subagents (of those, 2.1.329 streams nothing).
// The result then adds only what is not reported yet.

// question is the request for what the process has used: get_usage, which 2.1.197 and 2.1.329
// answer in a few milliseconds, also in mid-turn.
type question struct {
	answers bool   // this program is Claude Code, and has not refused to answer
	due     bool   // something was used since it was asked
	id      string // of the one that is not answered; "" for none
	// slow says that an answer contains the limits of a subscription, which Claude has to fetch.
	slow  bool
	asked time.Time
}

// betweenSlow is the least time between two questions that make Claude ask its service.
const betweenSlow = 30 * time.Second

// askUsage asks for the totals, if something was used and no question is open. Without detached, an
// interrupt would wait for the answer.
func (d *Dialect) askUsage(out *agent.Decoded) {
	q := &d.question
	if !q.answers || !q.due || q.id != "" || d.turn.aborting || q.slow && out.At.Sub(q.asked) < betweenSlow {
		return
	}
	q.due, q.id, q.asked = false, d.requests.Next(), out.At
	request := object{"subtype": "get_usage", "skip_behaviors": true, "detached": true}
	out.Reply = append(out.Reply, agent.Line(object{"type": "control_request", "request_id": q.id, "request": request}))
}

// usageAnswered reports what the totals say beyond what facts have reported.
func (d *Dialect) usageAnswered(answer jsonscan.Value, out *agent.Decoded) {
	session := answer.Get("session")
	totals := readModels(session.Get("model_usage"))
	d.question.id = ""
	if !session.IsObject() {
		d.question.answers = false
		return
	}
	d.question.slow = answer.Get("rate_limits_available").IsTrue()
	s := &d.spent
	switch {
	case s.gap:
		// Before anything was used, the totals are those of the earlier process.
		if s.events.Tokens() == 0 && (allComplete(totals) || len(totals) == 0) {
			s.models, s.gap = totals, false
			if usd, ok := agent.Dollars(session.Get("total_cost_usd")); ok {
				s.usd, s.gapUSD = usd, false
			}
		}
	case allComplete(totals):
		uses := s.less(totals)
		priced := allKnown(uses) && sum(uses).Tokens() >= sum(s.early).Tokens()
		for _, more := range s.rest(uses) {
			if more.Tokens() > 0 || more.usd > 0 {
				d.early(more, !priced, out)
			}
		}
	}
	d.askUsage(out)
}

// reportMessage reports what a message has used.
func (d *Dialect) reportMessage(s *stream, out *agent.Decoded) {
	more := s.used.less(s.reported)
	if d.variant != nil || more.Tokens() == 0 {
		return
	}
	s.reported = s.used
	more.Model, more.known = s.model, false
	d.early(more, true, out)
	d.question.due = true
}

// early reports usage before its result.
func (d *Dialect) early(more use, unpriced bool, out *agent.Decoded) {
	fact := more.fact()
	fact.Unpriced = unpriced
	out.Add(fact)
	s := &d.spent
	s.unpriced = unpriced
	for i := range s.early {
		if s.early[i].Model == more.Model {
			s.early[i] = s.early[i].plus(more)
			return
		}
	}
	s.early = append(s.early, more)
}

// rest returns what of the uses since the last result has not been reported. What was reported of a
// model that is named otherwise there (messages leave out a suffix) is taken from the others.
func (s *spending) rest(uses []use) []use {
	if len(s.early) == 0 {
		return uses
	}
	uses = slices.Clone(uses)
	reported := slices.Clone(s.early)
	for _, same := range []bool{true, false} {
		for i := range uses {
			for j := range reported {
				if !same || uses[i].Model == reported[j].Model {
					uses[i].without(&reported[j])
				}
			}
		}
	}
	return uses
}

// without takes from u what reported has of it, and that from reported.
func (u *use) without(reported *use) {
	before := *u
	take(&u.In, &reported.In)
	take(&u.Out, &reported.Out)
	take(&u.CacheRead, &reported.CacheRead)
	take(&u.CacheWrite, &reported.CacheWrite)
	take(&u.usd, &reported.usd)
	u.partial = u.partial || *u != before
}

func take[N int64 | float64](from, reported *N) {
	n := min(*from, *reported)
	*from, *reported = *from-n, *reported-n
}
