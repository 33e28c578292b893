package player

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var compareAll = cmp.Exporter(func(reflect.Type) bool { return true })

func cost(usd float64) *float64 { return &usd }

func TestEachStepIsReadAsItIsWritten(t *testing.T) {
	for line, want := range map[string]step{
		"say Hello, # world":                                 sayStep{text: "Hello, # world"},
		"think about it":                                     thinkStep{"about it"},
		"slow 20ms: one two: three":                          sayStep{text: "one two: three", pause: 20 * time.Millisecond},
		"tool bash":                                          toolStep{name: "bash", ok: true},
		`tool bash {"command": "make  test"}`:                toolStep{name: "bash", input: `{"command":"make  test"}`, ok: true},
		`tool bash {"a":{"b":"}"}} 300ms -> ok: 12 passed`:   toolStep{"bash", `{"a":{"b":"}"}}`, 300 * time.Millisecond, true, "12 passed"},
		"tool read 1s -> error: no such file: x":             toolStep{"read", "", time.Second, false, "no such file: x"},
		"tool read -> ok":                                    toolStep{name: "read", ok: true},
		"write a/b.txt one line":                             writeStep{"a/b.txt", "one line"},
		`write "with space.txt" text`:                        writeStep{"with space.txt", "text"},
		"write empty":                                        writeStep{"empty", ""},
		"append log.txt more":                                appendStep{"log.txt", "more"},
		`tick "two words" in a.md`:                           tickStep{"two words", "a.md"},
		`tick "two words" in "a b.md"`:                       tickStep{"two words", "a b.md"},
		"tick word":                                          tickStep{"word", "{loop}/task.md"},
		"run make test && echo ok":                           runStep{"make test && echo ok"},
		"sleep 1m30s":                                        sleepStep{90 * time.Second},
		"silence":                                            silenceStep{},
		"plan - [x] a / - [~] b/c / - [ ] d":                 planStep{[]todo{{"a", "done"}, {"b/c", "active"}, {"d", "pending"}}},
		"use in=1200 out=300 usd=0.01":                       useStep{In: 1200, Out: 300, USD: cost(0.01)},
		"use cacheRead=1 cacheWrite=2 model=m-1":             useStep{CacheRead: 1, CacheWrite: 2, Model: "m-1"},
		"limit rate":                                         limitStep{kind: "rate"},
		"limit rate until +2s":                               limitStep{kind: "rate", relative: true, after: 2 * time.Second},
		"limit quota until +1h: come back: later":            limitStep{kind: "quota", relative: true, after: time.Hour, text: "come back: later"},
		"limit auth: log in":                                 limitStep{kind: "auth", text: "log in"},
		"limit overload until 2026-11-21T12:00:00Z: at noon": limitStep{kind: "overload", until: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), text: "at noon"},
		"retry":                         retryStep{attempt: 1},
		"retry 2/3 1s: 529 overloaded":  retryStep{2, 3, time.Second, "529 overloaded"},
		"compact":                       compactStep{},
		"promise":                       sayStep{text: "<promise>COMPLETE</promise>"},
		"promise ALL GREEN":             sayStep{text: "<promise>ALL GREEN</promise>"},
		"response":                      sayStep{text: "<response>DONE</response>"},
		"finish":                        finishStep{outcome: "ok"},
		"error the model is gone":       finishStep{"error", "other", "the model is gone"},
		"error rate: too many requests": finishStep{"error", "rate", "too many requests"},
		"error note: no kind":           finishStep{"error", "other", "note: no kind"},
		"crash":                         crashStep{1},
		"crash 3":                       crashStep{3},
		"exit":                          exitStep{0},
		"exit 7":                        exitStep{7},
		"hang":                          hangStep{},
		"ignore-term":                   ignoreTermStep{},
		"garbage":                       garbageStep{},
		"flood 20MB":                    floodStep{20 << 20},
		"flood 300k":                    floodStep{300 << 10},
		"flood 1GB":                     floodStep{1 << 30},
		"talk":                          talkStep{endless: true},
		"talk 17":                       talkStep{size: 17},
		"stderr oh no":                  stderrStep{"oh no"},
		"notice something":              noticeStep{"something"},
		"orphan sleep 300":              orphanStep{"sleep 300", false},
		"holder sleep 300":              orphanStep{"sleep 300", true},
		"inbox wait":                    inboxStep{kind: "wait"},
		"inbox blocked I need the key":  inboxStep{"blocked", "I need the key"},
		"limit context":                 limitStep{kind: "context"},
		"stale":                         staleStep{},
		"say <<END\n  one\n    two\n\n  three\nEND":      sayStep{text: "one\n  two\n\nthree"},
		"write a.txt <<X\na\n\tb\nX":                     writeStep{"a.txt", "a\n\tb"},
		"tool bash -> error: <<EOF\nline 1\nline 2\nEOF": toolStep{name: "bash", output: "line 1\nline 2"},
		"plan <<END\n- [x] a / b\n- [ ] c\nEND":          planStep{[]todo{{"a / b", "done"}, {"c", "pending"}}},
		"run <<END\nset -e\nmake\nEND":                   runStep{"set -e\nmake"},
		"run cat > f <<END\n  kept\nEND":                 runStep{"cat > f <<END\nkept\nEND"},
		"run cat > f <<'END'\n$kept\nEND":                runStep{"cat > f <<'END'\n$kept\nEND"},
		"say 1 << 2 and a<<b?":                           sayStep{text: "1 << 2 and a<<b?"},
		"\t say   spaces around are dropped  \r":         sayStep{text: "spaces around are dropped"},
	} {
		s, err := Parse("s", line)
		if err != nil {
			t.Errorf("%s\n%v", line, err)
			continue
		}
		if diff := cmp.Diff([]section{{steps: []step{want}}}, s.sections, compareAll); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}

func TestSectionsArePlayedInTheirOrder(t *testing.T) {
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
	want := &Scenario{Name: "s", About: "What it shows.", sections: []section{
		{
			steps:   []step{sayStep{text: "one"}, sayStep{text: "more"}},
			steered: []step{sayStep{text: "heard"}, finishStep{outcome: "ok"}},
		},
		{},
		{steps: []step{sayStep{text: "rest"}}},
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

func TestMistakesAreNamedByLine(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a word with a slip":                 {"say hi\nsya hi", `s:2: "sya" is no step: did you mean say?`},
		"a word in the plural":               {"iterations", `s:1: "iterations" is no step: did you mean iteration?`},
		"a dash forgotten":                   {"ignoreterm", `s:1: "ignoreterm" is no step: did you mean ignore-term?`},
		"a word from nowhere":                {"xylophone", `s:1: "xylophone" is no step: there are iteration, message, steered, say,`},
		"every mistake at once":              {"say\nsay ok\nsleep soon", "s:1: say: nothing follows it; want say TEXT\ns:3: sleep: \"soon\" is no time such as 300ms, 2s or 1m; want sleep 2s"},
		"nothing at all":                     {"# only a comment\n", "s:2: nothing to play"},
		"a time below nothing":               {"sleep -1s", `"-1s" is no time`},
		"slow without a colon":               {"slow 20ms text", "no text behind a colon"},
		"a tool without a name":              {"tool", "tool: nothing follows it"},
		"a tool's input with a slip":         {"tool bash {'a':1}", "its input is not JSON"},
		"a tool's input that is bare":        {"tool bash make test", `"make" is no time`},
		"a tool's result of another kind":    {"tool bash -> passed", "behind -> stands ok or error"},
		"a tool with too much":               {"tool bash 1s 2s", `"2s" is too much`},
		"a quote without an end":             {`tick "box in task.md`, "a quote has no end"},
		"a box of several words":             {"tick two words", "a text of several words stands in quotes"},
		"a plan without boxes":               {"plan a / b", `"a" is no entry; want plan - [x] DONE`},
		"a use of nothing":                   {"use", "use: nothing follows it"},
		"a use of an unknown kind":           {"use inn=1", `"inn" is no part of it`},
		"a use that is no number":            {"use in=many", `"many" is no number for in`},
		"a use below nothing":                {"use in=-1", `"-1" is no number for in`},
		"a cost without end":                 {"use usd=Inf", `"Inf" is no number for usd`},
		"a limit of an unknown kind":         {"limit speed", "its kind is one of rate, overload"},
		"a limit until nothing":              {"limit rate until soon", `"soon" is neither +2s nor a time`},
		"a limit with too much":              {"limit rate till +2s", `"till +2s" is too much`},
		"a retry beyond its end":             {"retry 3/2", `"3/2" is no count`},
		"an exit code out of range":          {"crash 256", `"256" is no exit code`},
		"a size without a number":            {"flood MB", `"MB" is no size`},
		"a size that fills a disk":           {"flood 2GB", `"2GB" is no size`},
		"too much behind a bare word":        {"finish now", `"now" is too much`},
		"a text without its end":             {"say <<END\nhello", "s:1: the text that begins with <<END has no line END"},
		"an iteration out of order":          {"iteration\niteration 3", "s:2: this is iteration 2, not 3"},
		"something after every further one":  {"iteration *\niteration", "s:2: 'iteration *' is every further iteration"},
		"steps before the first iteration":   {"say hi\niteration", "s:2: the steps above stand before the first iteration"},
		"a reaction without an arrow":        {"steered say hi", "want steered -> STEP"},
		"a message with words":               {"message hello\nsay x", `s:1: "hello" is too much`},
		"two messages":                       {"say x\nmessage\nmessage", "s:3: there is a message already"},
		"a message alone":                    {"message\nsay x", "nothing to play"},
		"an inbox without a kind":            {"inbox", "inbox: nothing follows it; want inbox wait TEXT"},
		"an iteration as a reaction":         {"steered -> iteration", "iteration cannot stand here"},
		"a mistake within a reaction":        {"steered -> sya hi", "did you mean say?"},
		"the line number behind a long text": {"say <<END\na\nb\nEND\nsya", `s:5: "sya"`},
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

func TestTheBuiltInScenariosAreListed(t *testing.T) {
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

func TestAScenarioIsLoadedFromItsFile(t *testing.T) {
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
