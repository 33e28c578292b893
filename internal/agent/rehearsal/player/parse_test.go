package player

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var compareAll = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Comparer(func(a, b *kind) bool { return a.name == b.name }),
}

func TestParseSteps(t *testing.T) {
	for line, want := range map[string]step{
		"say Hello, # world":                                 step{text: "Hello, # world"},
		"think about it":                                     step{text: "about it"},
		"slow 20ms: one two: three":                          step{text: "one two: three", wait: 20 * time.Millisecond},
		"tool bash":                                          step{name: "bash"},
		`tool bash {"command": "make  test"}`:                step{name: "bash", input: `{"command":"make  test"}`},
		`tool bash {"a":{"b":"}"}} 300ms -> ok: 12 passed`:   step{name: "bash", input: `{"a":{"b":"}"}}`, wait: 300 * time.Millisecond, text: "12 passed"},
		"tool read 1s -> error: no such file: x":             step{name: "read", input: "", wait: time.Second, failed: true, text: "no such file: x"},
		"tool read -> ok":                                    step{name: "read"},
		"write a/b.txt one line":                             step{name: "a/b.txt", text: "one line"},
		`write "with space.txt" text`:                        step{name: "with space.txt", text: "text"},
		"write empty":                                        step{name: "empty", text: ""},
		"append log.txt more":                                step{name: "log.txt", text: "more"},
		`tick "two words" in a.md`:                           step{text: "two words", name: "a.md"},
		`tick "two words" in "a b.md"`:                       step{text: "two words", name: "a b.md"},
		"tick word":                                          step{text: "word", name: "{loop}/task.md"},
		"run make test && echo ok":                           step{text: "make test && echo ok"},
		"sleep 1m30s":                                        step{wait: 90 * time.Second},
		"silence":                                            step{},
		"plan - [x] a / - [~] b/c / - [ ] d":                 step{fields: []field{{"todos", []todo{{"a", "done"}, {"b/c", "active"}, {"d", "pending"}}}}},
		"use in=1200 out=300 usd=0.01":                       step{fields: []field{{"in", uint64(1200)}, {"out", uint64(300)}, {"cacheRead", 0}, {"cacheWrite", 0}, {"usd", 0.01}}},
		"use cacheRead=1 cacheWrite=2 model=m-1":             step{fields: []field{{"in", 0}, {"out", 0}, {"cacheRead", uint64(1)}, {"cacheWrite", uint64(2)}, {"model", "m-1"}}},
		"limit rate":                                         step{name: "rate", wait: -1},
		"limit rate until +2s":                               step{name: "rate", wait: 2 * time.Second},
		"limit quota until +1h: come back: later":            step{name: "quota", wait: time.Hour, text: "come back: later"},
		"limit auth: log in":                                 step{name: "auth", wait: -1, text: "log in"},
		"limit overload until 2026-11-21T12:00:00Z: at noon": step{name: "overload", wait: -1, until: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), text: "at noon"},
		"retry":                         step{number: 1},
		"retry 2/3 1s: 529 overloaded":  step{number: 2, of: 3, wait: time.Second, text: "529 overloaded"},
		"compact":                       step{},
		"promise":                       step{text: "<promise>COMPLETE</promise>"},
		"promise ALL GREEN":             step{text: "<promise>ALL GREEN</promise>"},
		"response":                      step{text: "<response>DONE</response>"},
		"finish":                        step{},
		"error the model is gone":       step{name: "other", text: "the model is gone"},
		"error rate: too many requests": step{name: "rate", text: "too many requests"},
		"error note: no kind":           step{name: "other", text: "note: no kind"},
		"crash":                         step{number: 1},
		"crash 3":                       step{number: 3},
		"exit":                          step{number: 0},
		"exit 7":                        step{number: 7},
		"hang":                          step{},
		"ignore-term":                   step{},
		"garbage":                       step{},
		"flood 20MB":                    step{number: 20 << 20},
		"flood 300k":                    step{number: 300 << 10},
		"flood 1GB":                     step{number: 1 << 30},
		"talk":                          step{number: -1},
		"talk 17":                       step{number: 17},
		"stderr oh no":                  step{text: "oh no"},
		"notice something":              step{text: "something"},
		"orphan sleep 300":              step{text: "sleep 300"},
		"holder sleep 300":              step{text: "sleep 300"},
		"inbox wait":                    step{name: "wait"},
		"inbox blocked I need the key":  step{name: "blocked", text: "I need the key"},
		"limit context":                 step{name: "context", wait: -1},
		"stale":                         step{},
		"say <<END\n  one\n    two\n\n  three\nEND":      step{text: "one\n  two\n\nthree"},
		"write a.txt <<X\na\n\tb\nX":                     step{name: "a.txt", text: "a\n\tb"},
		"tool bash -> error: <<EOF\nline 1\nline 2\nEOF": step{name: "bash", failed: true, text: "line 1\nline 2"},
		"plan <<END\n- [x] a / b\n- [ ] c\nEND":          step{fields: []field{{"todos", []todo{{"a / b", "done"}, {"c", "pending"}}}}},
		"run <<END\nset -e\nmake\nEND":                   step{text: "set -e\nmake"},
		"run cat > f <<END\n  kept\nEND":                 step{text: "cat > f <<END\nkept\nEND"},
		"run cat > f <<'END'\n$kept\nEND":                step{text: "cat > f <<'END'\n$kept\nEND"},
		"say 1 << 2 and a<<b?":                           step{text: "1 << 2 and a<<b?"},
		"\t say   spaces around are dropped  \r":         step{text: "spaces around are dropped"},
	} {
		s, err := Parse("s", line)
		if err != nil {
			t.Errorf("%s\n%v", line, err)
			continue
		}
		name, _ := cutWord(strings.TrimSpace(line))
		want.kind = &kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
		if diff := cmp.Diff([]section{{steps: []step{want}}}, s.sections, compareAll); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

func TestParseSections(t *testing.T) {
	s, err := Parse("s", `
# What it shows.
# More about it.
iteration
  say one
  steered -> say heard
  say more
  steered -> finish
iteration 2
iteration *
  say rest`)
	if err != nil {
		t.Fatal(err)
	}
	said := func(text string) step { return step{kind: &kind{name: "say"}, text: text} }
	want := &Scenario{Name: "s", About: "What it shows.", sections: []section{
		{
			steps:   []step{said("one"), said("more")},
			steered: []step{said("heard"), step{kind: &kind{name: "finish"}}},
		},
		{},
		{steps: []step{said("rest")}},
	}}
	if diff := cmp.Diff(want, s, compareAll); diff != "" {
		t.Fatal(diff)
	}
	for n, at := range map[int]int{-1: 0, 0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 1000: 2} {
		if diff := cmp.Diff(want.sections[at], s.section(n), compareAll); diff != "" {
			t.Errorf("iteration %d: %s", n, diff)
		}
	}
}

func TestParseMistakes(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a word with a slip":                {"say hi\nsya hi", `s:2: "sya" is no step: did you mean say?`},
		"a word in the plural":              {"iterations", `s:1: "iterations" is no step: did you mean iteration?`},
		"a dash forgotten":                  {"ignoreterm", `s:1: "ignoreterm" is no step: did you mean ignore-term?`},
		"a word from nowhere":               {"xylophone", `s:1: "xylophone" is no step: there are iteration, message, steered, say,`},
		"every mistake at once":             {"say\nsay ok\nsleep soon", "s:1: say: nothing follows it; want say TEXT\ns:3: sleep: \"soon\" is no time such as 300ms, 2s or 1m; want sleep 2s"},
		"nothing at all":                    {"# only a comment\n", "s:2: nothing to play"},
		"a time below nothing":              {"sleep -1s", `"-1s" is no time`},
		"slow without a colon":              {"slow 20ms text", "no text after a colon"},
		"a tool without a name":             {"tool", "tool: nothing follows it"},
		"a tool's input with a slip":        {"tool bash {'a':1}", "its input is not JSON"},
		"a tool's input that is bare":       {"tool bash make test", `"make" is no time`},
		"a tool's result of another kind":   {"tool bash -> passed", "after -> comes ok or error"},
		"a tool with too much":              {"tool bash 1s 2s", `"2s" is too much`},
		"a quote without an end":            {`tick "box in task.md`, "a quote has no end"},
		"a box of several words":            {"tick two words", "put quotes around a text of several words"},
		"a plan without boxes":              {"plan a / b", `"a" is no entry; want plan - [x] DONE`},
		"a use of nothing":                  {"use", "use: nothing follows it"},
		"a use of an unknown kind":          {"use inn=1", `"inn" is no part of it`},
		"a use that is no number":           {"use in=many", `"many" is no number for in`},
		"a use below nothing":               {"use in=-1", `"-1" is no number for in`},
		"a cost without end":                {"use usd=Inf", `"Inf" is no number for usd`},
		"a limit of an unknown kind":        {"limit speed", "its kind is one of rate, overload"},
		"a limit until nothing":             {"limit rate until soon", `"soon" is neither +2s nor a time`},
		"a limit with too much":             {"limit rate till +2s", `"till +2s" is too much`},
		"a retry beyond its end":            {"retry 3/2", `"3/2" is no count`},
		"an exit code out of range":         {"crash 256", `"256" is no exit code`},
		"a size without a number":           {"flood MB", `"MB" is no size`},
		"a size that fills a disk":          {"flood 2GB", `"2GB" is no size`},
		"too much after a bare word":        {"finish now", `"now" is too much`},
		"a text without its end":            {"say <<END\nhello", "s:1: the text that begins with <<END has no line END"},
		"an iteration out of order":         {"iteration\niteration 3", "s:2: this is iteration 2, not 3"},
		"something after every further one": {"iteration *\niteration", "s:2: 'iteration *' is every further iteration"},
		"steps before the first iteration":  {"say hi\niteration", "s:2: the steps above come before the first iteration"},
		"a reaction without an arrow":       {"steered say hi", "want steered -> STEP"},
		"a message with words":              {"message hello\nsay x", `s:1: "hello" is too much`},
		"two messages":                      {"say x\nmessage\nmessage", "s:3: there is already a section 'message'"},
		"a message alone":                   {"message\nsay x", "nothing to play"},
		"an inbox without a kind":           {"inbox", "inbox: nothing follows it; want inbox wait TEXT"},
		"an iteration as a reaction":        {"steered -> iteration", "iteration is not allowed here"},
		"a mistake within a reaction":       {"steered -> sya hi", "did you mean say?"},
		"the line number after a long text": {"say <<END\na\nb\nEND\nsya", `s:5: "sya"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("s", row.text)
			if err == nil {
				t.Fatal("it was taken")
			}
			if !strings.Contains(err.Error(), row.want) {
				t.Errorf("got  %s\nwant %s", err, row.want)
			}
			if mistake, ok := errors.AsType[*ParseError](err); !ok || mistake.Line == 0 {
				t.Errorf("%#v is no ParseError", err)
			}
		})
	}
}

func TestListBuiltInScenarios(t *testing.T) {
	var names []string
	for _, s := range List() {
		names = append(names, s.Name)
		if s.About == "" {
			t.Errorf("%s does not say what it shows", s.Name)
		}
	}
	if diff := cmp.Diff([]string{"crash", "demo", "garbage", "hang", "ratelimit", "talk"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestLoadFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.rehearsal")
	if err := os.WriteFile(file, []byte("# Mine.\nsay hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load("", file)
	if err != nil || s.About != "Mine." {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err := Load("", "no such scenario"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "demo") {
		t.Errorf("error %v does not say what there is", err)
	}
}

// FuzzParse: whatever the text, there is a scenario or a mistake with a line that exists.
func FuzzParse(f *testing.F) {
	for _, name := range builtIn() {
		text, err := embedded.ReadFile("scenario/" + name + extension)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("say <<END\r\nEND\ntick \"\nuse usd=NaN\nplan - [ ]")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("s", text)
		if err == nil {
			if len(s.sections) == 0 {
				t.Error("a scenario without anything to play")
			}
			return
		}
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok {
			t.Fatalf("%#v does not join the mistakes", err)
		}
		for _, err := range joined.Unwrap() {
			mistake, ok := errors.AsType[*ParseError](err)
			if !ok || mistake.Line < 1 || mistake.Line > strings.Count(text, "\n")+1 || mistake.Problem == "" {
				t.Errorf("%#v", err)
			}
		}
	})
}
