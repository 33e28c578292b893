package house

import (
	"slices"
	"strings"
	"testing"
)

// sound is a small house that keeps every wall.
func sound() []pkg {
	return []pkg{
		{"internal/jsonscan", []file{{name: "scan.go", imports: []string{"math/bits"}}}},
		{"journal/event", []file{{name: "type.go", imports: []string{"fmt", "time", "./internal/jsonscan"}}}},
		{"internal/policy", []file{{name: "budget.go", imports: []string{"time", "./journal/event"}}}},
		{"journal", []file{{name: "options.go", imports: []string{"os", "time", "./journal/event"}, clock: []int{7}}}},
		{"inbox", []file{{name: "box.go", imports: []string{"os"}}}},
		{"projector", []file{
			{name: "state.go", imports: []string{"./internal/policy", "./journal/event"}},
			{name: "file.go", imports: []string{"os", "github.com/gofrs/flock"}, funcs: []string{"Replace"}, spawns: []int{3}},
			{name: "open.go", imports: []string{"os", "./journal"}, funcs: []string{"Open"}},
		}},
		{"internal/agent/agenttest", []file{{name: "suite.go", imports: []string{"net", "time"}, clock: []int{1}}}},
		{"internal/agent/pi", []file{{name: "pi.go", imports: []string{"./internal/agent", "./journal/event"}}}},
		{"internal/agent", []file{{name: "session.go", imports: []string{"./journal/event"}, spawns: []int{9}}}},
		{"internal/effect", []file{{name: "hands.go", imports: []string{"./internal/agent", "./projector"}, clock: []int{2}}}},
		{"internal/loop", []file{
			{name: "next.go", imports: []string{"./projector", "./internal/policy"}, names: []string{"rest"}},
			{name: "driver.go", imports: []string{"context", "time", "./projector"}, clock: []int{5}, spawns: []int{6}, funcs: []string{"drive"}},
		}},
		{"cmd/ralph", []file{{name: "main.go", imports: []string{"os", "./internal/loop", "./projector"}, clock: []int{1}}}},
	}
}

func TestASoundHouseHasNoViolation(t *testing.T) {
	for _, v := range check(sound()) {
		t.Error(v)
	}
}

func TestEachWallCanBeRunInto(t *testing.T) {
	addImport := func(pkgPath, fileName, imported string) func([]pkg) []pkg {
		return change(pkgPath, fileName, func(f *file) { f.imports = append(f.imports, imported) })
	}
	for _, tt := range []struct {
		name  string
		wrong func([]pkg) []pkg
		want  []string // one for each violation, in any order
	}{
		{"the journal imports the projector", addImport("journal", "options.go", "./projector"),
			[]string{"journal/options.go → projector runs upward, from floor 2 to floor 3"}},
		{"a hand imports the mind", addImport("internal/effect", "hands.go", "./internal/loop"),
			[]string{"internal/effect/hands.go → internal/loop runs upward, from floor 3 to floor 4"}},
		{"the loop imports its runner", addImport("internal/loop", "driver.go", "./internal/runner"),
			[]string{"internal/loop/driver.go → internal/runner runs upward, from floor 4 to floor 4.5"}},
		{"an agent imports the inbox", addImport("internal/agent/pi", "pi.go", "./inbox"),
			[]string{"internal/agent/pi/pi.go → inbox runs sideways, on floor 2"}},
		{"a projection imports a hand, against the one arrow that is allowed", addImport("projector", "open.go", "./internal/effect"),
			[]string{"projector/open.go → internal/effect runs sideways, on floor 3"}},
		{"the program links a test's room", addImport("cmd/ralph", "main.go", "./internal/agent/agenttest"),
			[]string{"cmd/ralph/main.go → internal/agent/agenttest takes a test's room into the program"}},

		{"a seventh package at the root", func(h []pkg) []pkg { return append(h, pkg{path: "utils"}) },
			[]string{"package utils stands at the root"}},
		{"a package that nobody planned", func(h []pkg) []pkg { return append(h, pkg{path: "internal/helpers"}) },
			[]string{"package internal/helpers stands on no floor"}},
		{"a new folder below a public package", func(h []pkg) []pkg { return append(h, pkg{path: "journal/tools"}) },
			[]string{"package journal/tools stands on no floor"}},

		{"a word reads a file, and three others through it", addImport("journal/event", "type.go", "os"), []string{
			"journal/event/type.go → os reaches the world",
			"internal/policy/budget.go → journal/event/type.go → os reaches the world",
			"projector/state.go → internal/policy/budget.go → journal/event/type.go → os reaches the world",
			"internal/loop/next.go → projector/state.go → internal/policy/budget.go → journal/event/type.go → os reaches the world",
		}},
		{"the mind throws dice", addImport("internal/loop", "next.go", "math/rand/v2"),
			[]string{"internal/loop/next.go → math/rand/v2 reaches the world"}},
		{"the mind starts a program", addImport("internal/loop", "next.go", "os/exec"),
			[]string{"internal/loop/next.go → os/exec reaches the world"}},
		{"the mind asks the network", addImport("internal/loop", "next.go", "net/http"),
			[]string{"internal/loop/next.go → net/http reaches the world"}},
		{"the mind uses another module", addImport("internal/loop", "next.go", "github.com/oklog/ulid/v2"),
			[]string{"internal/loop/next.go → github.com/oklog/ulid/v2 reaches the world"}},
		{"a fold reads the journal itself", addImport("projector", "state.go", "./journal"), []string{
			"projector/state.go → journal/options.go → os reaches the world",
			"internal/loop/next.go → projector/state.go → journal/options.go → os reaches the world",
		}},
		{"a fold writes its own projection", change("projector", "state.go", func(f *file) { f.names = append(f.names, "Replace") }),
			[]string{"projector/state.go uses Replace of an impure file"}},
		{"the mind calls its driver", change("internal/loop", "next.go", func(f *file) { f.names = append(f.names, "drive") }),
			[]string{"internal/loop/next.go uses drive of an impure file"}},
		{"a policy starts a goroutine", change("internal/policy", "budget.go", func(f *file) { f.spawns = []int{12} }),
			[]string{"internal/policy/budget.go:12 starts a goroutine"}},

		{"a policy reads the clock", change("internal/policy", "budget.go", func(f *file) { f.clock = []int{31} }),
			[]string{"internal/policy/budget.go:31 reads the clock"}},
		{"the mind reads the clock beside its driver", change("internal/loop", "next.go", func(f *file) { f.clock = []int{8} }),
			[]string{"internal/loop/next.go:8 reads the clock"}},
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
		panic(pkgPath + "/" + fileName + " is not part of the sound house")
	}
}

// The check is only as good as what is read off a file.
func TestReadSeesThroughAFile(t *testing.T) {
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
