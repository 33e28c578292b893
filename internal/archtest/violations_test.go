package archtest

import (
	"slices"
	"strings"
	"testing"
)

// sound is a small set of packages that keeps every rule.
func sound() []pkg {
	return []pkg{
		{path: "internal/ground/jsonscan", files: []file{{name: "scan.go", imports: []string{"math/bits"}}}},
		{path: "journal/event", files: []file{{name: "type.go", imports: []string{"fmt", "time", "./internal/ground/jsonscan"}}}},
		{path: "internal/core/policy", files: []file{{name: "budget.go", imports: []string{"time", "./journal/event"}}}},
		{path: "journal", files: []file{{name: "options.go", imports: []string{"os", "time", "./journal/event"}, clock: []int{7}}}},
		{path: "inbox", files: []file{{name: "box.go", imports: []string{"os"}}}},
		{path: "internal/core/loopstate", files: []file{
			{name: "state.go", imports: []string{"./internal/core/policy", "./journal/event"}},
			{name: "file.go", imports: []string{"os", "github.com/gofrs/flock"}, funcs: []string{"Replace"}, spawns: []int{3}},
			{name: "open.go", imports: []string{"os", "./journal"}, funcs: []string{"Open"}},
		}},
		{path: "internal/agent/agenttest", files: []file{{name: "suite.go", imports: []string{"net", "time"}, clock: []int{1}}}},
		{path: "internal/agent/pi", files: []file{{name: "pi.go", imports: []string{"./internal/agent", "./journal/event"}}}},
		{path: "internal/agent", files: []file{{name: "session.go", imports: []string{"./journal/event"}, spawns: []int{9}}}},
		{path: "internal/effect/executor", files: []file{{name: "executor.go", imports: []string{"./internal/agent", "./internal/core/loopstate"}, clock: []int{2}}}},
		{path: "internal/core/loop", files: []file{
			{name: "next.go", imports: []string{"./internal/core/loopstate", "./internal/core/policy"}, names: []string{"rest"}},
			{name: "driver.go", imports: []string{"context", "time", "./internal/core/loopstate"}, clock: []int{5}, spawns: []int{6}, funcs: []string{"drive"}},
		}},
		{path: "internal/front/web", files: []file{{name: "server.go", imports: []string{"net/http", "./journal"}}}},
		{path: "cmd/ralph", files: []file{{name: "main.go", imports: []string{"os", "./internal/core/loop", "./internal/core/loopstate"}, clock: []int{1}}}},
	}
}

func TestSoundPackagesHaveNoViolation(t *testing.T) {
	for _, v := range check(sound()) {
		t.Error(v)
	}
}

func TestEachRuleFindsItsViolation(t *testing.T) {
	addImport := func(pkgPath, fileName, imported string) func([]pkg) []pkg {
		return change(pkgPath, fileName, func(f *file) { f.imports = append(f.imports, imported) })
	}
	for _, tt := range []struct {
		name  string
		wrong func([]pkg) []pkg
		want  []string // one for each violation, in any order
	}{
		{"the journal imports the state", addImport("journal", "options.go", "./internal/core/loopstate"),
			[]string{"journal/options.go → internal/core/loopstate is an import of core by files"}},
		{"an executor imports the core", addImport("internal/effect/executor", "executor.go", "./internal/core/loop"),
			[]string{"internal/effect/executor/executor.go → internal/core/loop is forbidden"}},
		{"the loop imports its runner", addImport("internal/core/loop", "driver.go", "./internal/runner"),
			[]string{"internal/core/loop/driver.go → internal/runner is an import of runner by core"}},
		{"an agent imports the inbox", addImport("internal/agent/pi", "pi.go", "./inbox"),
			[]string{"internal/agent/pi/pi.go → inbox is an import of files by agent"}},
		{"a projection imports an executor", addImport("internal/core/loopstate", "open.go", "./internal/effect/executor"),
			[]string{"internal/core/loopstate/open.go → internal/effect/executor is an import of effect by core"}},
		{"the program links a test package", addImport("cmd/ralph", "main.go", "./internal/agent/agenttest"),
			[]string{"cmd/ralph/main.go → internal/agent/agenttest links a test package into the program"}},

		{"a front end links the engine", addImport("internal/front/web", "server.go", "./internal/core/loop"),
			[]string{"internal/front/web/server.go → internal/core/loop is an import of core by front"}},
		{"a front end uses another one", addImport("internal/front/web", "server.go", "./internal/front/mcp"),
			[]string{"internal/front/web/server.go → internal/front/mcp joins two front ends"}},

		{"another package at the root", func(h []pkg) []pkg { return append(h, pkg{path: "utils"}) },
			[]string{"package utils is at the root"}},
		{"a package without a rule", func(h []pkg) []pkg { return append(h, pkg{path: "internal/helpers"}) },
			[]string{"package internal/helpers has no layer"}},
		{"a new folder below a public package", func(h []pkg) []pkg { return append(h, pkg{path: "journal/tools"}) },
			[]string{"package journal/tools has no layer"}},

		{"an event reads a file, and three others through it", addImport("journal/event", "type.go", "os"), []string{
			"journal/event/type.go → os reaches the outside world",
			"internal/core/policy/budget.go → journal/event/type.go → os reaches the outside world",
			"internal/core/loopstate/state.go → internal/core/policy/budget.go → journal/event/type.go → os reaches the outside world",
			"internal/core/loop/next.go → internal/core/loopstate/state.go → internal/core/policy/budget.go → journal/event/type.go → os reaches the outside world",
		}},
		{"the core uses random numbers", addImport("internal/core/loop", "next.go", "math/rand/v2"),
			[]string{"internal/core/loop/next.go → math/rand/v2 reaches the outside world"}},
		{"the core starts a program", addImport("internal/core/loop", "next.go", "os/exec"),
			[]string{"internal/core/loop/next.go → os/exec reaches the outside world"}},
		{"the core uses the network", addImport("internal/core/loop", "next.go", "net/http"),
			[]string{"internal/core/loop/next.go → net/http reaches the outside world"}},
		{"the core uses another module", addImport("internal/core/loop", "next.go", "github.com/oklog/ulid/v2"),
			[]string{"internal/core/loop/next.go → github.com/oklog/ulid/v2 reaches the outside world"}},
		{"a fold reads the journal itself", addImport("internal/core/loopstate", "state.go", "./journal"), []string{
			"internal/core/loopstate/state.go → journal/options.go → os reaches the outside world",
			"internal/core/loop/next.go → internal/core/loopstate/state.go → journal/options.go → os reaches the outside world",
		}},
		{"a fold writes its own projection", change("internal/core/loopstate", "state.go", func(f *file) { f.names = append(f.names, "Replace") }),
			[]string{"internal/core/loopstate/state.go uses Replace of an impure file"}},
		{"the core calls its driver", change("internal/core/loop", "next.go", func(f *file) { f.names = append(f.names, "drive") }),
			[]string{"internal/core/loop/next.go uses drive of an impure file"}},
		{"a policy starts a goroutine", change("internal/core/policy", "budget.go", func(f *file) { f.spawns = []int{12} }),
			[]string{"internal/core/policy/budget.go:12 starts a goroutine"}},

		{"a policy reads the clock", change("internal/core/policy", "budget.go", func(f *file) { f.clock = []int{31} }),
			[]string{"internal/core/policy/budget.go:31 reads the clock"}},
		{"the core reads the clock beside its driver", change("internal/core/loop", "next.go", func(f *file) { f.clock = []int{8} }),
			[]string{"internal/core/loop/next.go:8 reads the clock"}},
		{"the journal reads the clock outside its options", func(h []pkg) []pkg {
			return change("journal", "options.go", func(f *file) { f.name = "writer.go" })(h)
		}, []string{"journal/writer.go:7 reads the clock"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, v := range check(tt.wrong(sound())) {
				if v.why == "" {
					t.Errorf("%s: no reason is given", v.what)
				}
				got = append(got, v.what)
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			// One way into the world may be found through several trails.
			if got = slices.Compact(got); !slices.Equal(got, tt.want) {
				t.Errorf("found:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(tt.want, "\n\t"))
			}
		})
	}
}

// change returns a change of one file.
func change(pkgPath, fileName string, do func(*file)) func([]pkg) []pkg {
	return func(h []pkg) []pkg {
		for _, p := range h {
			for i := range p.files {
				if p.path == pkgPath && p.files[i].name == fileName {
					do(&p.files[i])
					return h
				}
			}
		}
		panic(pkgPath + "/" + fileName + " is not part of the sound packages")
	}
}

// read must find every fact that the check uses.
func TestReadFindsEachFact(t *testing.T) {
	f, err := read("x.go", []byte(`package x

import (
	clock "time"

	"github.com/ralph-loop/ralph/journal/event"
)

var now = clock.Now

func age(e event.Event) clock.Duration {
	go rest()
	return clock.Since(e.At) + clock.Until(e.At)
}

type t struct{}

func (t) method() { other.Now() }
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"time", "./journal/event"}; !slices.Equal(f.imports, want) {
		t.Errorf("imports %q, want %q", f.imports, want)
	}
	if want := []int{9, 13, 13}; !slices.Equal(f.clock, want) {
		t.Errorf("the clock is read on lines %v, want %v", f.clock, want)
	}
	if want := []int{12}; !slices.Equal(f.spawns, want) {
		t.Errorf("goroutines start on lines %v, want %v", f.spawns, want)
	}
	if want := []string{"age"}; !slices.Equal(f.funcs, want) {
		t.Errorf("functions %q, want %q", f.funcs, want)
	}
	if !slices.Contains(f.names, "rest") {
		t.Errorf("names used %q lack rest", f.names)
	}
}
