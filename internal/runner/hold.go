package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A holder keeps iterations from beginning: until the time or the loop that the start named, and
// while the account of the agent has used what limits.window allows. It is asked before the first
// iteration and at the end of each, and looks again every holdEvery while it holds the loop.
type holder struct {
	runner *runner

	mu   sync.Mutex
	held *event.LoopHeld // as it was recorded last; nil if nothing holds
	// agents are those whose accounts have used too much, of several, and until when.
	agents map[int]time.Time
	when   *event.When // of the start; nil once it was met
	// passed says that a person let the loop go on although the account has used too much. It holds
	// for one iteration.
	passed bool
	// open is what the open iteration has cost so far, in US dollars. It is not on the disk yet.
	open float64
	// holding has a value when the loop began to be held.
	holding chan struct{}
}

// holdEvery is how often it looks again while it holds the loop.
var holdEvery = 5 * time.Second

func (r *runner) newHolder(when *event.When) *holder {
	return &holder{runner: r, when: when, agents: map[int]time.Time{}, holding: make(chan struct{}, 1)}
}

// ask returns the events that change what holds the loop, or one of several agents.
func (h *holder) ask(now time.Time) []event.Payload {
	h.mu.Lock()
	defer h.mu.Unlock()
	changes := h.preferred(now)
	hold := h.look(now)
	switch {
	case hold == nil && h.held == nil, h.held != nil && hold != nil && *h.held == *hold:
		return changes
	case hold == nil:
		h.held = nil
		return append(changes, event.LoopReleased{})
	}
	h.held = hold
	select {
	case h.holding <- struct{}{}:
	default:
	}
	return append(changes, *hold)
}

// preferred compares the accounts of several agents with the quotas of limits.window.
func (h *holder) preferred(now time.Time) (changes []event.Payload) {
	agents := h.runner.Settings.AllAgents()
	if len(agents) == 1 || h.passed {
		return nil
	}
	for i, a := range agents {
		var held event.AgentHeld
		if over := h.quota(Account(a, h.runner.Env), now); over != nil {
			held = event.AgentHeld{Until: over.Until, Why: over.Why}
		}
		if held.Until.Equal(h.agents[i]) {
			continue
		}
		held.Agent = i
		h.agents[i] = held.Until
		changes = append(changes, held)
	}
	return changes
}

// folded follows what the loop did.
func (h *holder) folded(e event.Event) {
	switch e.Type {
	case event.TypeLoopReleased:
		p, err := event.As[event.LoopReleased](e)
		h.mu.Lock()
		defer h.mu.Unlock()
		if err == nil && p.Person {
			h.held, h.when, h.passed = nil, nil, true
			clear(h.agents)
		}
	case event.TypeIterationStarted:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.passed = false
	case event.TypeAgentUsed:
		p, err := event.As[event.AgentUsed](e)
		if err == nil && p.USD != nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.open += *p.USD
		}
	case event.TypeIterationEnded:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.open = 0
	}
}

// look returns what holds the loop now; nil if nothing does.
func (h *holder) look(now time.Time) *event.LoopHeld {
	if w := h.when; w != nil {
		if hold := h.start(*w, now); hold != nil {
			return hold
		}
		h.when = nil
	}
	if h.passed {
		return nil
	}
	return h.window(now)
}

func (h *holder) start(w event.When, now time.Time) *event.LoopHeld {
	if w.At.After(now) {
		return &event.LoopHeld{Until: w.At, Why: "it starts at " + w.At.Local().Format("15:04 on Mon 2 Jan"), Start: true}
	}
	if w.After != "" {
		if why := unended(w.After); why != "" {
			return &event.LoopHeld{Why: why, Start: true}
		}
	}
	if w.Quota > 0 {
		q, err := ReadQuota(h.runner.Home, h.account())
		used, resets := q.used(0, now)
		if err == nil && 100-used <= w.Quota {
			return &event.LoopHeld{Until: resets, Why: fmt.Sprintf("%.0f%% of the account's quota are left, and it starts with more than %g%%", 100-used, w.Quota), Start: true}
		}
	}
	return nil
}

// unended says why a loop that has to end first has not; "" if it has, or is gone.
func unended(dir string) string {
	name := filepath.Base(dir)
	state, err := loopstate.Open(dir)
	switch {
	case err != nil, !state.Begun(), state.Lifecycle.Ended != nil:
		return ""
	}
	if live, err := registry.Probe(dir); err == nil && !live.Alive {
		return "loop " + name + " has to end first, and its runner died: 'ralph start " + name + " --resume' continues it"
	}
	return "loop " + name + " has to end first"
}

func (h *holder) account() string { return Account(h.runner.Settings.AllAgents()[0], h.runner.Env) }

// quota returns the first span of time of which an account has used too much of what its vendor
// allows.
func (h *holder) quota(account string, now time.Time) *event.LoopHeld {
	limits := h.runner.Settings.Limits.Window
	for _, key := range slices.Sorted(maps.Keys(limits)) {
		span, most, percent, err := config.ParseWindow(key, limits[key])
		if err != nil || !percent {
			continue // the settings were checked
		}
		q, err := ReadQuota(h.runner.Home, account)
		used, resets := q.used(int(span/time.Minute), now)
		if err == nil && used >= most {
			return &event.LoopHeld{Until: resets, Why: fmt.Sprintf("%.0f%% of the account's quota of %s are used, and limits.window allows %g%%", used, key, most)}
		}
	}
	return nil
}

// window returns the first span of time of which the account has used too much. With several agents
// those whose quota is used are held one by one.
func (h *holder) window(now time.Time) *event.LoopHeld {
	if len(h.runner.Settings.AllAgents()) == 1 {
		if over := h.quota(h.account(), now); over != nil {
			return over
		}
	}
	limits := h.runner.Settings.Limits.Window
	for _, key := range slices.Sorted(maps.Keys(limits)) {
		span, most, percent, err := config.ParseWindow(key, limits[key])
		if err != nil || percent {
			continue // the settings were checked
		}
		spent, frees := spentSince(h.runner.Home, h.account(), now.Add(-span))
		if spent += h.open; spent >= most {
			if frees.IsZero() {
				frees = now
			}
			return &event.LoopHeld{Until: frees.Add(span), Why: fmt.Sprintf("the loops of this account spent %s in %s, and limits.window allows %s", units.Cost(&spent), key, units.Cost(&most))}
		}
	}
	return nil
}

// follow asks again and again while the loop is held, and sleeps while it is not.
func (h *holder) follow(ctx context.Context) {
	for {
		var again <-chan time.Time
		h.mu.Lock()
		if h.held != nil {
			again = time.After(holdEvery)
		}
		h.mu.Unlock()
		select {
		case <-again:
		case <-h.holding:
			continue
		case <-ctx.Done():
			return
		case <-h.runner.driverDone:
			return
		}
		if drafts := h.runner.holdDrafts(); len(drafts) > 0 {
			h.runner.send(ctx, loop.Input{Drafts: drafts})
		}
	}
}

// A spending is what one iteration of an account cost.
type spending struct {
	Account string    `json:"account"`
	At      time.Time `json:"at"`
	Cost    float64   `json:"cost"` // US dollars
}

// spendingFile has the spendings of all loops of this person, a line each, for a week at least.
func spendingFile(home string) string { return filepath.Join(home, "spending.jsonl") }

const (
	maxSpending  = 16 << 20            // bytes of that file that are read
	spendingTrim = 4 << 20             // from this size on, what is older than spendingKept is left out
	spendingKept = 32 * 24 * time.Hour // longer than the longest span of limits.window
)

// recordSpending appends what an iteration cost. Each line is one write, so that loops do not mix
// theirs.
func recordSpending(home string, s spending) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := safefile.OpenFile(spendingFile(home), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("keep what the iteration cost: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if info, failed := f.Stat(); err == nil && failed == nil && info.Size() > spendingTrim {
		trimSpending(home, s.At.Add(-spendingKept))
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		err = fmt.Errorf("keep what the iteration cost: %w", err)
	}
	return err
}

// trimSpending leaves out what is old. A line that another loop adds meanwhile may be lost, which
// only lets an account spend that much more.
func trimSpending(home string, since time.Time) {
	var kept strings.Builder
	for _, s := range spendings(home) {
		if s.At.After(since) {
			if line, err := json.Marshal(s); err == nil {
				kept.Write(append(line, '\n'))
			}
		}
	}
	_ = safefile.WriteFile(spendingFile(home), []byte(kept.String()), 0o600) // the next one tries again
}

func spendings(home string) (all []spending) {
	text, err := safefile.Read(spendingFile(home), maxSpending)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var s spending
		if json.Unmarshal([]byte(line), &s) == nil { // a line may be cut off by a loss of power
			all = append(all, s)
		}
	}
	return all
}

// spentSince returns what an account has spent since a time, and when the first of that was.
func spentSince(home, account string, since time.Time) (spent float64, first time.Time) {
	for _, s := range spendings(home) {
		if s.Account != account || !s.At.After(since) {
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
			err = writeQuota(r.Home, r.accountOf(s), Quota{e.At, p.Windows})
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
	return Account(agents[min(max(s.Failover.Agent, 0), len(agents)-1)], r.Env)
}

// holdDrafts returns what holds the loop before its next iteration.
func (r *runner) holdDrafts() (drafts []event.Draft) {
	for _, p := range r.holder.ask(r.clock()) {
		drafts = append(drafts, event.Encode(p, "loop"))
	}
	return drafts
}

// ParseQuota reads a condition such as quota>30%.
func ParseQuota(text string) (percent float64, ok bool) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, " ", ""), "quota>")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutSuffix(rest, "%")
	percent, err := strconv.ParseFloat(rest, 64)
	return percent, ok && err == nil && percent > 0 && percent < 100
}
