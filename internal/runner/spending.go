package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// A spending is what one iteration of an account cost.
type spending struct {
	Account string    `json:"account"`
	At      time.Time `json:"at"`
	Cost    float64   `json:"cost"` // US dollars
}

// spendingFile has the spendings of all loops of this person, a line each, for a week at least.
func spendingFile(home string) string { return filepath.Join(home, "spending.jsonl") }

const (
	maxSpending  = 16 << 20            // bytes of the end of that file that are read
	spendingTrim = 4 << 20             // from this size on, what is older than spendingKept is left out
	spendingKept = 32 * 24 * time.Hour // longer than the longest span of limits.window
)

// recordSpending appends what an iteration cost.
func recordSpending(home string, s spending) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := safefile.OpenFile(spendingFile(home), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		err = safefile.AppendLine(f, line)
	}
	if err != nil {
		return fmt.Errorf("keep what the iteration cost: %w", err)
	}
	if info, err := os.Lstat(spendingFile(home)); err == nil && info.Size() > spendingTrim {
		trimSpending(home, s.At.Add(-spendingKept))
	}
	return nil
}

// trimSpending leaves out what is old. A line that another loop adds meanwhile may be lost, which
// only lets an account spend that much more.
func trimSpending(home string, since time.Time) {
	all, err := spendings(home)
	if err != nil {
		return // what cannot be read now is not old
	}
	var kept strings.Builder
	for _, s := range all {
		if s.At.After(since) {
			if line, err := json.Marshal(s); err == nil {
				kept.Write(append(line, '\n'))
			}
		}
	}
	_ = safefile.WriteFile(spendingFile(home), []byte(kept.String()), 0o600) // the next one tries again
}

func spendings(home string) (all []spending, err error) {
	f, err := safefile.Open(spendingFile(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var text []byte
	if err == nil {
		defer f.Close()
		_, _ = f.Seek(-maxSpending, io.SeekEnd) // a smaller file is read from its beginning
		text, err = io.ReadAll(f)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the loops spent: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		var s spending
		if json.Unmarshal([]byte(line), &s) == nil { // a line may be cut off by a loss of power
			all = append(all, s)
		}
	}
	return all, nil
}

// spentWithin returns what an account has spent in a span of time until now, and when the first of
// that was. What comes more than a span after now is of a clock that was wrong: a loop would wait
// for it.
func spentWithin(span time.Duration, all []spending, account string, now time.Time) (spent float64, first time.Time) {
	for _, s := range all {
		if s.Account != account || !s.At.After(now.Add(-span)) || s.At.After(now.Add(span)) {
			continue
		}
		spent += s.Cost
		if first.IsZero() || s.At.Before(first) {
			first = s.At
		}
	}
	return spent, first
}

// account keeps what an event says of the agent's account, for all loops of it.
func (r *runner) account(e event.Event, s *loopstate.State) {
	switch e.Type { // it is called for every event
	case event.TypeAgentQuota:
		p, err := event.As[event.AgentQuota](e)
		if err == nil {
			err = writeQuota(r.Home, r.accountOf(s), quota{e.At, p.Windows})
		}
		if err != nil {
			r.warn(err)
		}
	case event.TypeIterationEnded:
		p, err := event.As[event.IterationEnded](e)
		if err == nil && p.Usage.USD != nil && *p.Usage.USD > 0 {
			err = recordSpending(r.Home, spending{r.accountOf(s), e.At, *p.Usage.USD})
		}
		if err != nil {
			r.warn(err)
		}
	}
}

// accountOf is the account of the agent that works.
func (r *runner) accountOf(s *loopstate.State) string {
	agents := r.Settings.AllAgents()
	return accountID(agents[min(max(s.Failover.Agent, 0), len(agents)-1)], r.Env)
}
