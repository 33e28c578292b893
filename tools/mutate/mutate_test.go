package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal/event"
)

const pay = `package pay

import "time"

var steps = []int{10, 20}

func Price(n int, urgent bool) (total int) {
	total = n * 7
	if n > 3 && !urgent {
		total--
	}
	for _, step := range steps {
		if total == step {
			return 0
		}
	}
	return total
}

func none() {}

func Wait() time.Duration { return 2 * time.Minute }

func Unused(a, b bool) bool { return a || b }
`

// shop lays out a module whose tests are in two packages.
func shop(t *testing.T, more string) options {
	o := options{dir: t.TempDir(), packages: []string{"pay"}, suites: []suite{{pkg: "pay"}, {pkg: "user"}}, jobs: 2, only: regexp.MustCompile("")}
	for name, text := range map[string]string{
		"go.mod":     "module example.org/shop\n\ngo 1.26\n",
		"pay/pay.go": pay,
		"pay/pay_test.go": "package pay\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) {\n\tif Price(3, false) != 21 || Price(4, false) != 27 || " +
			"Price(4, true) != 28 {\n\t\tt.Error(\"wrong\")\n\t}\n" + more + "}\n",
		"user/user_test.go": "package user\n\nimport (\n\t\"testing\"\n\t\"time\"\n\n\t\"example.org/shop/pay\"\n)\n\n" +
			"func TestWait(t *testing.T) {\n\tif pay.Wait() < 3*time.Second {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
	} {
		path := filepath.Join(o.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// Each survivor has a reason: no price is a step, three minutes are more than three seconds, and no
// test calls Unused.
func TestSurvivorsOfShop(t *testing.T) {
	o := shop(t, "")
	r, err := measure(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.survivors {
		if !slices.Contains([]int{5, 14, 22, 24}, c.Line) || strings.HasSuffix(c.String(), "(not reached)") != (c.Line == 24) {
			t.Errorf("survives, and should not: %s", c)
		}
	}
	if killed, rows := r.killed, slices.IndexFunc(r.survivors, func(c *change) bool { return c.Was == "row 2 of steps" }); killed < 8 || rows < 0 {
		t.Errorf("%d of %d killed, rows of the table %d", killed, r.of, rows)
	}
	if text, err := os.ReadFile(filepath.Join(o.dir, "pay", "pay.go")); err != nil || string(text) != pay {
		t.Errorf("the source tree was written: %v\n%s", err, text)
	}
}

func TestFailingTestsAreAnError(t *testing.T) {
	if _, err := measure(shop(t, "t.Error(\"broken\")\n")); err == nil || !strings.Contains(err.Error(), "fail without a mutant") {
		t.Errorf("%v", err)
	}
}

func TestSeedGivesTheOrder(t *testing.T) {
	var all []*change
	for n := range 100 {
		all = append(all, &change{id: n, Mutant: event.Mutant{Line: n}})
	}
	order := func(o options) (ids []int) {
		for _, c := range choose(o, all) {
			ids = append(ids, c.id)
		}
		return ids
	}
	every := options{seed: 7, only: regexp.MustCompile("")}
	if seven := order(every); !slices.Equal(seven, order(every)) || slices.Equal(seven, order(options{seed: 8, only: every.only})) || len(seven) != 100 {
		t.Errorf("seed 7 gives %v", seven)
	}
	if got := order(options{only: regexp.MustCompile(":42:")}); !slices.Equal(got, []int{42}) {
		t.Errorf("%v match", got)
	}
}

func TestChangedFilesRunFirst(t *testing.T) {
	o := shop(t, "")
	for _, args := range []string{"init -q", "add -A", "-c user.name=a -c user.email=a@b commit -q -m one"} {
		git := exec.Command("git", strings.Fields(args)...)
		git.Dir = o.dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v %s", args, err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(o.dir, "pay", "pay.go"), []byte(pay+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []*change
	for n := range 100 {
		all = append(all, &change{id: n, Mutant: event.Mutant{File: []string{"pay/pay.go", "pay/other.go"}[n%2]}})
	}
	for revision, first := range map[string]bool{"HEAD": true, "": false, "nowhere": false} {
		o.changed = revision
		chosen := choose(o, all)
		if got := !slices.ContainsFunc(chosen[:50], func(c *change) bool { return c.File != "pay/pay.go" }); got != first || len(chosen) != 100 {
			t.Errorf("%d mutants, those of files that differ from %q first: %v", len(chosen), revision, got)
		}
	}
}
