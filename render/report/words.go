package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Cost spells what was paid, as far as it is known.
func (a Amount) Cost() string {
	switch {
	case a.USD == nil && a.USDAtLeast:
		return "unknown"
	case a.USD == nil:
		return "none"
	case a.USDAtLeast:
		return "at least " + units.Cost(a.USD)
	}
	return units.Cost(a.USD)
}

// Counted spells all tokens, as far as they are known.
func (a Amount) Counted() string {
	n := a.Tokens()
	switch {
	case n == 0 && a.TokensAtLeast:
		return "unknown"
	case a.TokensAtLeast:
		return "at least " + units.Tokens(n)
	}
	return units.Tokens(n)
}

// Parts spells the tokens by kind.
func (a Amount) Parts() string {
	if a.Tokens() == 0 {
		return ""
	}
	return fmt.Sprintf("%s in, %s of them from the cache; %s out", units.Tokens(a.In+a.CacheRead+a.CacheWrite), units.Tokens(a.CacheRead), units.Tokens(a.Out))
}

// State is the word for what the loop does.
func (r *Report) State() string { return stateWord(r.Status, r.Died, r.Damage != "") }

// State is the word for what the loop does.
func (l Line) State() string { return stateWord(l.Status, l.Died, l.Group == "damaged") }

func stateWord(s event.Status, died, damaged bool) string {
	switch {
	case damaged:
		return "damaged"
	case died:
		return "died"
	}
	return string(s)
}

// Span spells milliseconds.
func Span(ms int64) string { return units.Span(units.Milliseconds(ms)) }

// Result says how an iteration ended.
func (i *Iteration) Result() string {
	switch {
	case i.Outcome == "":
		return "running"
	case i.Refunded:
		return string(i.Outcome) + ", refunded"
	}
	return string(i.Outcome)
}

// Verified says how the guardrails of an iteration went; empty if none ran.
func (i *Iteration) Verified() string {
	if len(i.Checks) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d passed", i.Passed(), len(i.Checks))
}

// Changed says what an iteration changed in files.
func (i *Iteration) Changed() string {
	all := i.Kept
	for _, c := range i.Commits {
		all = add(all, c.Changes)
	}
	switch {
	case all != nil && i.Left != nil:
		return all.String() + "; not committed: " + i.Left.String()
	case all != nil:
		return all.String()
	case i.Left != nil:
		return i.Left.String() + ", not committed"
	case i.Made > 0:
		return units.Quantity(i.Made, "commit")
	case i.Progress == "yes":
		return "something"
	case i.Progress == "no":
		return "nothing"
	}
	return ""
}

func (c Changes) String() string {
	changed := event.Difference(c)
	return phrase.Changed(&changed)
}

// Short is the beginning of a commit's name.
func (c Commit) Short() string { return units.Prefix(c.SHA, 10) }

// Words is what the agent said last, without lines that are only a claim.
func (i *Iteration) Words() string {
	var words strings.Builder
	for text := range strings.Lines(i.Summary) {
		if !claimLine().MatchString(text) {
			words.WriteString(text)
		}
	}
	return strings.TrimSpace(words.String())
}

var claimLine = units.Pattern(`^\s*<(promise|response)>[^<]*</(promise|response)>\s*$`)

// FirstLine is the first line of what the agent said last.
func (i *Iteration) FirstLine() string {
	return units.Cut(units.FirstLine(cmp.Or(i.Words(), strings.TrimSpace(i.Summary))), 160)
}

// String says until when the loop was useful.
func (u Useful) String() string {
	switch {
	case !u.Known:
		return "Nothing shows which iterations made progress: there is no git repository and no checklist."
	case u.Iteration == 0:
		return fmt.Sprintf("No iteration is known to have made progress. All of it took %s and cost %s.", Span(u.Took), u.Used.Cost())
	case u.After == 0:
		return "It made progress until its last iteration."
	case u.After == 1:
		return fmt.Sprintf("The last iteration with progress is %d. The one after it took %s and cost %s.", u.Iteration, Span(u.Took), u.Used.Cost())
	}
	return fmt.Sprintf("The last iteration with progress is %d. The %d after it took %s and cost %s.", u.Iteration, u.After, Span(u.Took), u.Used.Cost())
}

// Spent is what one agent used with one model.
type Spent struct {
	Agent string `json:"agent"`
	Model string `json:"model,omitempty"`
	Used  Amount `json:"used"`
}

// ByAgent sums days by agent and model, in the order in which they appear.
func ByAgent(days []Day) (all []Spent) {
	at := map[[2]string]int{}
	for _, d := range days {
		key := [2]string{d.Agent, d.Model}
		i, ok := at[key]
		if !ok {
			i = len(all)
			at[key] = i
			all = append(all, Spent{Agent: d.Agent, Model: d.Model})
		}
		all[i].Used.add(d.Used)
	}
	return all
}

// PerDay sums what was used on each day.
func PerDay(days []Day) (all []Day) {
	at := map[string]int{}
	for _, d := range days {
		i, ok := at[d.Date]
		if !ok {
			i = len(all)
			at[d.Date] = i
			all = append(all, Day{Date: d.Date})
		}
		all[i].Used.add(d.Used)
	}
	return all
}

// Idle is the time that was neither an iteration nor one of the waits, in milliseconds.
func (r *Report) Idle() int64 {
	rest := r.Wall - r.Active
	for _, w := range r.Waits {
		rest -= w.Took
	}
	return max(0, rest)
}

func clock(at time.Time, in *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return at.In(in).Format("2006-01-02 15:04")
}
