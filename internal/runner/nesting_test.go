package runner

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/registry"
)

func loopAt(name, parent string, pid int) registry.Status {
	return registry.Status{
		Entry: registry.Entry{Name: name, Dir: filepath.Join(string(filepath.Separator), "p", name), ID: name, Parent: parent},
		Live:  registry.Liveness{Alive: pid > 0, PID: pid},
	}
}

func TestParentIsAnAncestor(t *testing.T) {
	all := []registry.Status{loopAt("root", "", 10), loopAt("inner", "root", 20), loopAt("dead", "", 0), loopAt("a", "b", 30), loopAt("b", "a", 31)}
	in := func(name string) []string { return []string{"RALPH_LOOP_DIR=" + loopAt(name, "", 0).Dir} }
	for name, c := range map[string]struct {
		env       []string
		ancestors []int
		self      string
		want      []string
	}{
		"a person":                   {ancestors: []int{5, 6}, self: "new"},
		"an agent":                   {ancestors: []int{5, 10}, self: "new", want: []string{"root"}},
		"an agent without a trace":   {ancestors: []int{5, 20, 10}, self: "new", want: []string{"inner", "root"}},
		"a process that left":        {env: in("inner"), self: "new", want: []string{"inner", "root"}},
		"a variable that is a lie":   {env: in("dead"), ancestors: []int{20}, self: "new", want: []string{"inner", "root"}},
		"a variable that is no loop": {env: []string{"RALPH_LOOP_DIR=x"}, self: "new"},
		"a loop that is resumed":     {env: in("inner"), ancestors: []int{20, 10}, self: "inner", want: []string{"root"}},
		"entries in a circle":        {ancestors: []int{30}, self: "new", want: []string{"a", "b", "a", "b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := around(all, &Config{Dir: loopAt(c.self, "", 0).Dir, Env: c.env}, c.ancestors)
			if len(got) != len(c.want) {
				t.Fatalf("%d loops around it, want %v", len(got), c.want)
			}
			for i, s := range got {
				if s.Name != c.want[i] {
					t.Errorf("loop %d around it is %s, want %s", i, s.Name, c.want[i])
				}
			}
		})
	}
	if !Within(all, loopAt("new", "inner", 0), "root") || Within(all, all[3], "root") || Within(all, all[0], "root") {
		t.Error("Within counts the wrong loops")
	}
}

func TestNestedCostIsLimited(t *testing.T) {
	for _, c := range []struct{ left, own, want float64 }{{0, 0, 0}, {0, 7, 7}, {5, 0, 5}, {5, 7, 5}, {5, 2, 2}} {
		n := nesting{left: c.left}
		if got := n.limitCost(c.own); got != c.want {
			t.Errorf("with %v left, a limit of %v becomes %v, want %v", c.left, c.own, got, c.want)
		}
	}
}

func TestEditedLimitsDoNotCount(t *testing.T) {
	if got := limitsOf(t.TempDir(), "0"); got != config.Defaults().Nesting {
		t.Errorf("the limits without settings are %+v", got)
	}
}

// The agent of a nested loop cannot take an outer loop out of its limits, as a loop within its own.
func TestNestedResumesNoOuter(t *testing.T) {
	all := []registry.Status{loopAt("root", "", 0), loopAt("inner", "root", 20), loopAt("deep", "inner", 30)}
	for name, c := range map[string]struct {
		self      string
		ancestors []int
		want      bool
	}{
		"the root":        {"root", []int{20}, true},
		"the one between": {"inner", []int{30}, true},
		"a new one":       {"new", []int{30}, false},
		"by a person":     {"root", nil, false},
	} {
		cfg := &Config{Name: c.self, Dir: loopAt(c.self, "", 0).Dir}
		var refused *NestingError
		if err := resumesOuter(around(all, cfg, c.ancestors), all, cfg); errors.As(err, &refused) != c.want {
			t.Errorf("%s: %v", name, err)
		} else if c.want && !strings.Contains(refused.Hint(), "a person resumes loop "+c.self) {
			t.Errorf("%s: the hint is %q", name, refused.Hint())
		}
	}
}

// Two starts that meet are no reason to raise a limit.
func TestStartsWithinRootMeet(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	first, err := registration.AcquireTree(home, root, false)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Release()
	if _, err := registration.AcquireTree(home, root, false); !errors.Is(err, registration.ErrTreeHeld) {
		t.Errorf("the second start got %v", err)
	}
	limit := NestingError{Root: "night", Key: "nesting.loops"}
	if hint := starting("night").Hint(); !strings.Contains(hint, "start it again") || strings.Contains(hint, "raise") {
		t.Errorf("the hint of two starts is %q", hint)
	}
	if hint := limit.Hint(); !strings.Contains(hint, "raise nesting.loops of loop night") {
		t.Errorf("the hint of a limit is %q", hint)
	}
}
