package launch

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// conditions reads what has to be before the first iteration; nil for a loop that begins at once.
func (p *Plan) conditions(e *cli.Env) (*event.When, error) {
	if p.At == "" && p.After == "" && p.When == "" {
		return nil, nil
	}
	if p.Resume {
		return nil, cli.Refuse("a resumed loop that has not begun keeps its own; 'ralph resume' lets it begin at once",
			"--at, --after and --when are for a new loop")
	}
	var w event.When
	if p.At != "" {
		at, ok := parseMoment(p.At, e.Now())
		if !ok {
			return nil, cli.Refuse("write it as 01:00, 2h or 2026-11-28T01:00", "--at: %q is no time", p.At)
		}
		w.At = at.In(e.Now().Location()) // its reason is shown in this zone
	}
	if p.After != "" {
		s, err := e.Find(p.After)
		if err != nil {
			return nil, err
		}
		if s.Dir == p.Dir {
			return nil, cli.Refuse("name another loop", "--after: a loop cannot begin after itself")
		}
		w.After = s.Dir
	}
	if p.When != "" {
		percent, ok := parseQuota(p.When)
		if !ok {
			return nil, cli.Refuse("write it as 'quota>30%'", "--when: %q is no condition", p.When)
		}
		w.Quota = percent
	}
	return &w, nil
}

// moments are the forms of a time, of which the first is the next such time of day.
var moments = []string{"15:04", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.RFC3339}

// parseMoment reads a time of day, a span of time from now, or a date and time in the zone of this
// machine.
func parseMoment(text string, now time.Time) (time.Time, bool) {
	if span, err := time.ParseDuration(text); err == nil {
		return now.Add(span), span > 0
	}
	for i, form := range moments {
		at, err := time.ParseInLocation(form, text, now.Location())
		if err != nil {
			continue
		}
		if i > 0 {
			return at, at.After(now)
		}
		at = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, true
	}
	return time.Time{}, false
}

// parseQuota reads a condition such as quota>30%.
func parseQuota(text string) (percent float64, ok bool) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, " ", ""), "quota>")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutSuffix(rest, "%")
	percent, err := strconv.ParseFloat(rest, 64)
	return percent, ok && err == nil && percent > 0 && percent < 100
}

// telling are the protocols of agents that tell their quota.
var telling = []string{config.ProtocolClaude, config.ProtocolCodex}

// checkQuotaKnown refuses to wait for a quota that no agent tells.
func checkQuotaKnown(w *event.When, settings config.Settings) error {
	if w == nil || w.Quota == 0 {
		return nil
	}
	if agent := settings.AllAgents()[0]; !slices.Contains(telling, agent.ResolvedProtocol()) {
		return cli.Refuse("leave --when out; Claude Code with a subscription and Codex tell it",
			"an agent of protocol %s does not tell how much of its quota is left", agent.ResolvedProtocol())
	}
	return nil
}
