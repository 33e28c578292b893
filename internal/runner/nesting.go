package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/registry"
)

// A NestingError reports that an agent may not start the loop, because of a limit of the loop that
// a person started.
type NestingError struct {
	Root string // the name of the loop that a person started
	Key  string // the setting that is the limit; empty if none is
	Why  string
	hint string // the next step where no setting is the limit
}

func (e *NestingError) Error() string { return e.Why }

// Hint returns the next step.
func (e *NestingError) Hint() string {
	if e.Key == "" {
		return e.hint
	}
	return fmt.Sprintf("do the work in this loop, or have a person raise %s of loop %s", e.Key, e.Root)
}

// nesting is the place of a loop that an agent starts.
type nesting struct {
	outer []registry.Status // the loops around it: its parent first, the root last
	lock  *registration.TreeLock
	// left is what limits.cost of the root leaves for this loop, in US dollars; 0 without a limit
	left float64
}

func (n *nesting) parent() string {
	if len(n.outer) == 0 {
		return ""
	}
	return n.outer[0].ID
}

// release lets other loops of the same root start, once the registry and the journal have this one.
func (n *nesting) release() {
	if n.lock != nil {
		_ = n.lock.Release() // the end of the process releases it too
		n.lock = nil
	}
}

// nest finds the loop whose agent starts this one, and checks the limits of the root. A limit that
// is reached is a *NestingError. The caller calls release.
func nest(cfg *Config, ancestors []int) (nesting, error) {
	all, err := registry.Survey(cfg.Home, nil)
	if err != nil {
		return nesting{}, err
	}
	n := nesting{outer: around(all, cfg, ancestors)}
	if len(n.outer) == 0 {
		return n, nil
	}
	if err := resumesOuter(n.outer, all, cfg); err != nil {
		return n, err
	}
	root := n.outer[len(n.outer)-1]
	if n.lock, err = registration.AcquireTree(cfg.Home, root.Dir, false); errors.Is(err, registration.ErrTreeHeld) {
		return n, starting(root.Name)
	} else if err != nil {
		return n, err
	}
	if all, err = registry.Survey(cfg.Home, nil); err == nil {
		err = n.check(all, root, cfg.Dir)
	}
	if err != nil {
		n.release()
	}
	return n, err
}

// around returns the loops around a new one, its parent first. The parent is the loop whose runner
// is an ancestor of this process; else the one that the environment names.
func around(all []registry.Status, cfg *Config, ancestors []int) (outer []registry.Status) {
	parent := slices.IndexFunc(all, func(s registry.Status) bool { return s.Err == nil && s.Dir == variable(cfg.Env, "RALPH_LOOP_DIR") })
	for _, pid := range ancestors {
		if at := slices.IndexFunc(all, func(s registry.Status) bool { return s.Live.Alive && s.Live.PID == pid && s.Dir != cfg.Dir }); at >= 0 {
			parent = at
			break
		}
	}
	for parent >= 0 && len(outer) < len(all) {
		s := all[parent]
		if s.Dir != cfg.Dir {
			outer = append(outer, s)
		}
		parent = slices.IndexFunc(all, func(o registry.Status) bool { return s.Parent != "" && o.ID == s.Parent })
	}
	return outer
}

// starting is the error of a start that has met another one.
func starting(root string) *NestingError {
	return &NestingError{
		Root: root, Why: fmt.Sprintf("another loop is being started within loop %s at this moment", root),
		hint: "start it again: one loop at a time begins within loop " + root,
	}
}

// resumesOuter refuses to resume a loop from within it: it would become a loop within a nested one,
// and its own limits would no longer count.
func resumesOuter(outer, all []registry.Status, cfg *Config) error {
	self := slices.IndexFunc(all, func(s registry.Status) bool { return s.Dir == cfg.Dir })
	if self < 0 {
		return nil // it is a new one
	}
	for _, s := range outer {
		if s.Parent != "" && s.Parent == all[self].ID {
			return &NestingError{
				Root: cfg.Name, Why: fmt.Sprintf("loop %s is around loop %s, whose agent resumes it", cfg.Name, s.Name),
				hint: "a person resumes loop " + cfg.Name,
			}
		}
	}
	return nil
}

// variable returns the value of a variable that is an absolute path; else something that no folder
// is called.
func variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok && filepath.IsAbs(value) {
			return filepath.Clean(value)
		}
	}
	return "\x00"
}

// check compares the loops within a root with the root's limits.
func (n *nesting) check(all []registry.Status, root registry.Status, dir string) error {
	state, err := loopstate.Rebuild(root.Dir)
	if err != nil {
		return fmt.Errorf("read the limits of loop %s: %w", root.Name, err)
	}
	limits := limitsOf(root.Dir, state.Settings.SHA256)
	if depth := len(n.outer); depth > limits.Depth {
		return &NestingError{Root: root.Name, Key: "nesting.depth",
			Why: fmt.Sprintf("this would be a loop at depth %d within loop %s, whose nesting.depth is %d", depth, root.Name, limits.Depth)}
	}
	var others []registry.Status
	for _, s := range all {
		if s.Err == nil && s.Dir != dir && Within(all, s, root.ID) {
			others = append(others, s)
		}
	}
	if len(others) >= limits.Loops {
		return &NestingError{Root: root.Name, Key: "nesting.loops",
			Why: fmt.Sprintf("the agents of loop %s have started %d loops, and its nesting.loops is %d", root.Name, len(others), limits.Loops)}
	}
	most := state.Rules.Limits.Cost
	if most <= 0 {
		return nil
	}
	spent := costOf(&state)
	for _, s := range others {
		spent += heldBy(s)
	}
	if n.left = most - spent; n.left <= 0 {
		return &NestingError{Root: root.Name, Key: "limits.cost",
			Why: fmt.Sprintf("loop %s and the loops within it have used or reserved %s, and its limits.cost is %s",
				root.Name, units.Cost(&spent), units.Cost(&most))}
	}
	return nil
}

// limitsOf returns the limits that a person gave the root. If its agent has changed the copy of the
// settings, those that are built in count.
func limitsOf(dir, sum string) config.Nesting {
	text, err := FrozenText(dir)
	if hash := sha256.Sum256(text); err == nil && hex.EncodeToString(hash[:]) == sum {
		if settings, _, err := config.Thaw(text); err == nil {
			return settings.Nesting
		}
	}
	return config.Defaults().Nesting
}

// Within reports whether a loop was started by an agent of the root, or of a loop within it.
func Within(all []registry.Status, s registry.Status, root string) bool {
	for range all {
		if s.Parent == "" || root == "" {
			return false
		}
		if s.Parent == root {
			return true
		}
		at := slices.IndexFunc(all, func(o registry.Status) bool { return o.ID == s.Parent })
		if at < 0 {
			return false
		}
		s = all[at]
	}
	return false
}

func costOf(state *loopstate.State) float64 {
	if used := state.Budget.Used(); used.USD != nil {
		return *used.USD
	}
	return 0
}

// heldBy is what a nested loop takes of the root's budget: its limit while it runs, then its cost.
func heldBy(s registry.Status) float64 {
	state, err := loopstate.Open(s.Dir)
	if err != nil {
		return 0 // it is damaged or gone: what it used is not known
	}
	if s.Live.Alive {
		return max(state.Rules.Limits.Cost, costOf(&state))
	}
	return costOf(&state)
}

// limitCost keeps a nested loop within what the root has left.
func (n *nesting) limitCost(limit float64) float64 {
	if n.left > 0 && (limit <= 0 || limit > n.left) {
		return n.left
	}
	return limit
}
