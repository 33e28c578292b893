package main

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// Facts of one trial, from its journals.
type facts struct {
	trial
	said, right, early bool // early: the files were right before the end
	gap                float64
	protected          bool
	in, out, after     int // tokens; after is those after the first success
	usd                float64
	wall, active       time.Duration
	faults             []string
	late               bool // an agent sent a request again because its answer came too late
	persons, answers   int
	end                string

	// Of ralph alone.
	iterations, refusals int
	unread               int // agents that did not get the last refusal by a requirement
	grade                event.Grade
	overhead             []time.Duration
	known                float64 // the money that its journal knows
}

func (f facts) solvable() bool  { return f.Task != "impossible" }
func (f facts) verified() bool  { return f.said && f.right && f.solvable() }
func (f facts) falseDone() bool { return f.said && !f.right }

// idleGap is a time between model requests that counts as waiting.
const idleGap = 500 * time.Millisecond

// learn folds the journal of a trial.
func learn(entries []entry) (facts, error) {
	if len(entries) < 2 || entries[0].Trial == nil || entries[len(entries)-1].Type != trialEnded {
		return facts{}, errors.New("the journal has no beginning or no end")
	}
	f := facts{trial: *entries[0].Trial, end: entries[len(entries)-1].Why}
	var quiet, last time.Duration
	var v verdict
	pending := false
	for _, e := range entries {
		at := time.Duration(e.MS) * time.Millisecond
		switch e.Type {
		case loopExited:
			f.said = *e.Code == 0
		case loopStarted:
			if e.Person {
				f.persons++
			}
		case modelAsked:
			if at-last > idleGap {
				quiet += at - last
			}
			last, f.late, pending = at, f.late || pending, true
			if e.Fault != "" && !slices.Contains(f.faults, e.Fault) {
				f.faults = append(f.faults, e.Fault)
			}
		case modelAnswered:
			last, pending = max(last, at), false
			u := usage{in: e.In, out: e.Out}
			f.answers++
			f.in, f.out, f.usd = f.in+e.In, f.out+e.Out, f.usd+u.usd()
			if f.early {
				f.after += e.In + e.Out
			}
		case judged:
			v = *e.Verdict
			f.early = f.early || v.right()
			f.protected = f.protected || len(v.Protected) > 0
		}
		f.wall = at
	}
	f.right, f.active = v.right(), f.wall-quiet
	if f.said {
		f.gap = share(v.Visible[0], v.Visible[1]) - share(v.Hidden[0], v.Hidden[1])
	}
	return f, nil
}

// learnRalph adds what ralph's own journal of the loop says. The two have to agree.
func (f *facts) learnRalph(events iter.Seq2[event.Event, error]) error {
	var gone, from time.Time // the end of the agent; the begin of what is no overhead
	var apart time.Duration
	said, refused := false, 0 // the iteration of such a refusal that no finished agent has read
	for e, err := range events {
		if err != nil {
			return err
		}
		switch e.Type {
		case event.TypeAgentExited, event.TypeAgentParked:
			gone, apart = e.At, 0
		case event.TypeLoopResumed:
			gone = time.Time{}
		case event.TypeDecided:
			if d, err := event.As[event.Decided](e); err != nil {
				return err
			} else if d.Do == event.DoHoldout {
				from = e.At
			}
		case event.TypeGuardrailStarted, event.TypeLoopWaiting:
			from = e.At
		case event.TypeGuardrailEnded, event.TypeLoopWaited, event.TypeHoldoutChecked:
			apart += e.At.Sub(from)
		case event.TypeAgentStarted:
			if !gone.IsZero() {
				f.overhead = append(f.overhead, e.At.Sub(gone)-apart)
			}
		case event.TypeAgentUsed:
			used, err := event.As[event.AgentUsed](e)
			if err != nil {
				return err
			}
			if used.USD != nil {
				f.known += *used.USD
			}
		case event.TypeIterationStarted:
			if prompt := string(e.Data()); refused > 0 && !strings.Contains(prompt, namedRequirement) && !strings.Contains(prompt, muteRequirement) {
				f.unread++
			}
		case event.TypeIterationEnded:
			f.iterations++
			if e.Iter > refused && string(e.Field("outcome")) == string(event.OutcomeDone) {
				refused = 0
			}
		case event.TypeCompletionRefused:
			f.refusals++
			if strings.Contains(string(e.Data()), "requirement") {
				refused = e.Iter
			}
		case event.TypeLoopEnded:
			end, err := event.As[event.LoopEnded](e)
			if err != nil {
				return err
			}
			if said = end.Status == event.StatusCompleted; said && end.Strength != nil {
				f.grade = end.Strength.Grade
			}
		}
	}
	if f.said && !said {
		return fmt.Errorf("trial %d: the arm says done, and the journal of ralph does not", f.N)
	}
	if f.known > f.usd*1.0001+1e-9 {
		return fmt.Errorf("trial %d: the journal of ralph has $%.4f, and the proxy $%.4f", f.N, f.known, f.usd)
	}
	f.said = said
	return nil
}

func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// A group is the trials that a figure counts.
type group []facts

func (g group) where(keep func(facts) bool) group {
	return slices.DeleteFunc(slices.Clone(g), func(f facts) bool { return !keep(f) })
}

func (g group) arm(name string) group { return g.where(func(f facts) bool { return f.Arm == name }) }
func (g group) solvable() group       { return g.where(facts.solvable) }

func (g group) count(has func(facts) bool) int { return len(g.where(has)) }

func (g group) sum(of func(facts) float64) (s float64) {
	for _, f := range g {
		s += of(f)
	}
	return s
}

func (g group) total(of func(facts) int) (n int) {
	for _, f := range g {
		n += of(f)
	}
	return n
}

// overheads of all iterations, sorted.
func (g group) overheads() []time.Duration {
	var all []time.Duration
	for _, f := range g {
		all = append(all, f.overhead...)
	}
	slices.Sort(all)
	return all
}

// quantile returns a value of sorted ones; 0 without any.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

func (g group) median(of func(facts) float64) float64 {
	if len(g) == 0 {
		return math.NaN()
	}
	all := make([]float64, len(g))
	for i, f := range g {
		all[i] = of(f)
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// passAll is pass^k: the chance that k trials of a task are all verified, drawn without
// replacement; the mean over tasks.
func (g group) passAll(k int) float64 {
	counts := map[string][2]int{} // of a task: verified, all
	for _, f := range g.solvable() {
		c := counts[f.Task]
		c[1]++
		if f.verified() {
			c[0]++
		}
		counts[f.Task] = c
	}
	mean := 0.0
	for _, task := range sortedKeys(counts) {
		chance := 1.0
		for i := range k {
			chance *= max(0, float64(counts[task][0]-i)) / float64(counts[task][1]-i)
		}
		mean += chance / float64(len(counts))
	}
	return mean
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// A difference of two arms in a share of trials, with its interval.
type difference struct{ mean, low, high float64 }

func (d difference) String() string {
	return fmt.Sprintf("%+.0f (%+.0f to %+.0f)", 100*d.mean, 100*d.low, 100*d.high)
}

// compare returns how arm one differs from arm two in a share, paired by block and task, with the
// 95% interval of a bootstrap over the tasks.
func (g group) compare(one, two string, has func(facts) bool) difference {
	byTask := map[string][]float64{}
	for _, a := range g.arm(one) {
		for _, b := range g.arm(two) {
			if a.Block == b.Block && a.Task == b.Task {
				byTask[a.Task] = append(byTask[a.Task], value(has(a))-value(has(b)))
			}
		}
	}
	tasks := sortedKeys(byTask)
	mean := func(chosen []string) float64 {
		sum, n := 0.0, 0
		for _, t := range chosen {
			for _, d := range byTask[t] {
				sum += d
				n++
			}
		}
		return sum / float64(n)
	}
	rng := rand.New(rand.NewPCG(1, hash(one+two)))
	var means []float64
	for range 2000 {
		var drawn []string
		for range tasks {
			drawn = append(drawn, tasks[rng.IntN(len(tasks))])
		}
		means = append(means, mean(drawn))
	}
	slices.Sort(means)
	return difference{mean(tasks), means[49], means[1949]}
}

func value(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// A table is written as Markdown.
type table struct {
	strings.Builder
}

func (t *table) row(cells ...any) {
	for _, c := range cells {
		switch c := c.(type) {
		case float64:
			if math.IsNaN(c) || math.IsInf(c, 0) {
				t.WriteString("| – ")
			} else {
				fmt.Fprintf(t, "| %s ", shortNumber(c))
			}
		default:
			fmt.Fprintf(t, "| %v ", c)
		}
	}
	t.WriteString("|\n")
}

func (t *table) head(cells ...any) {
	t.WriteString("\n")
	t.row(cells...)
	t.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

func shortNumber(c float64) string {
	switch size := math.Abs(c); {
	case size >= 1000:
		return fmt.Sprintf("%.0f", c)
	case size >= 10:
		return fmt.Sprintf("%.1f", c)
	}
	return fmt.Sprintf("%.2f", c)
}

func of(part, all int) string { return fmt.Sprintf("%d of %d", part, all) }
