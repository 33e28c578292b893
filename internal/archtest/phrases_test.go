package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// showing are the folders whose packages show events to people. Elsewhere a policy says in an event
// why it decided so: that is part of the event.
var showing = []string{"render/", "internal/front/", "internal/verb/", "cmd/", "client/"}

// apart are packages and files that say something of an event which is not what it means.
var apart = map[string]string{
	"render/phrase/":       "the phrases themselves",
	"render/running.go":    "what happens between two events",
	"internal/verb/why/":   "why a rule decided so, from the state before the event",
	"internal/verb/fleet/": "what the agent of a fleet says of its own work",
	"internal/verb/hook/":  "what the hooks of an agent are answered",
}

// otherTexts are texts of other places that are not about what the event means.
var otherTexts = map[string]string{
	"it was withdrawn": "the answer to a request of the client",
	"not running":      "what the loop does between its end and a resume",
	"guardrail ":       "what the line is about",

	"%s, as it was found in iteration %d: %s": "a command that brings a file back",
	"cat ":                        "a command that brings a file back",
	"\n\n'ralph attach ":          "what to type in an editor",
	"' shows it in a terminal.":   "what to type in an editor",
	"\n\nA prompt lets it go on.": "what to type in an editor",
	"continues the loop":          "what to type in a terminal",
	"lets it go on at once":       "what to type in a terminal",

	"a tool that was called before":     "the name of a tool whose call is not read",
	"no result":                         "how a tool ended that has no event",
	"the turn ended before it returned": "how a tool ended that has no event",
	"the agent writes":                  "what happens between two events",
	"the agent thinks":                  "what happens between two events",

	"more line":        "where the rest of a text is",
	"all of it is in ": "where the rest of a text is",
	"all of it: ":      "where the rest of a text is",
	"    all of it, ":  "where the rest of a text is",
	", is in blobs/":   "where the rest of a text is",
	"    no output":    "where the rest of a text is",
	" · from ":         "who sent a message",
}

// A reader sees the same words for an event wherever it is shown, because package phrase alone has
// them.
func TestPhraseHasAllWords(t *testing.T) {
	used := map[string]bool{}
	eachText(t, func(name, text string) {
		begins := func(with string) bool { return strings.HasPrefix(name, with) }
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || !slices.ContainsFunc(showing, begins) {
			return
		}
		for place := range apart {
			if begins(place) {
				used[place] = true
				return
			}
		}
		for _, found := range wordsForEvents(t, name, text) {
			if used[found.text] = true; otherTexts[found.text] == "" {
				t.Errorf("%s:%d: %q: package render/phrase has the words for an event; call phrase.Of", name, found.line, found.text)
			}
		}
	})
	for _, known := range slices.Concat(slices.Collect(maps.Keys(apart)), slices.Collect(maps.Keys(otherTexts))) {
		if !used[known] {
			t.Errorf("%q is an exception, and nothing needs it", known)
		}
	}
}

func TestWordsForEventsAreFound(t *testing.T) {
	for source, want := range map[string]int{
		`func f(p event.LoopPaused) string { return "the loop rests" + p.Why }`:                                           1,
		`func (v *view) f(e event.Event, p event.LoopPaused) { v.say("the loop rests", p.Why) }`:                          1,
		`func f(p event.Payload) { switch p := p.(type) { case event.LoopPaused: say("the loop rests") } }`:               1,
		`func f(p any) { switch p.(type) { case event.LoopEnded, event.LoopPaused: say("it is over"); default: } }`:       1,
		`func f(p event.Payload) { switch p := p.(type) { case event.LoopPaused: say(phrase.Of(p), "why", p.Why) } }`:     0,
		`func f(p event.LoopPaused) error { return fmt.Errorf("loop paused: %w", p.Err) }`:                                0,
		`func f(p event.LoopPaused) string { return units.Quantity(p.N, "file") + "loop.paused" }`:                        0,
		`func f(p any) { switch p.(type) { case transcript.Pause: say("the loop rests") } }`:                              1,
		`func f(e event.Event) { switch e.Type { case event.TypeLoopPaused: say("the loop rests") } }`:                    1,
		`func f(e event.Event) { switch e.Type { case event.TypeLoopPaused: paused() }; say("the loop rests for ever") }`: 0,
	} {
		if got := wordsForEvents(t, "x.go", "package x\n"+source); len(got) != want {
			t.Errorf("%d, want %d in %s: %v", len(got), want, source, got)
		}
	}
}

// eventText is a text that is said of an event.
type eventText struct {
	text string
	line int
}

// inWords matches two words of a sentence.
var inWords = regexp.MustCompile(`[a-z]{2,} [a-z]{2,}|^ [a-z]{3,} |[a-z]{3,} $`)

// wordsForEvents finds texts in functions that are given the payload of an event, and in the cases
// of a type switch or a switch on the type of an event.
func wordsForEvents(t *testing.T, name, source string) (found []eventText) {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[token.Pos]bool{}
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isError(call) {
				return false
			}
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || seen[literal.Pos()] {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && inWords.MatchString(text) {
				seen[literal.Pos()] = true
				found = append(found, eventText{text, files.Position(literal.Pos()).Line})
			}
			return true
		})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil && slices.ContainsFunc(n.Type.Params.List, func(f *ast.Field) bool { return ofEvent(f.Type) }) {
				look(n.Body)
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, ofEvent) {
				for _, statement := range n.Body {
					look(statement)
				}
			}
		}
		return true
	})
	return found
}

// isError reports whether a call makes an error.
func isError(call *ast.CallExpr) bool {
	of, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (of.Sel.Name == "Errorf" || of.Sel.Name == "Refuse" || of.Sel.Name == "New")
}

// ofEvent reports whether an expression is the payload of an event, the name of its type, or an
// entry of a transcript.
func ofEvent(e ast.Expr) bool {
	of, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := of.X.(*ast.Ident)
	return ok && (from.Name == "transcript" || from.Name == "event" && payloads[strings.TrimPrefix(of.Sel.Name, "Type")])
}

// payloads are the names of all structs: those of the types, without the dot.
var payloads = func() map[string]bool {
	names := map[string]bool{}
	for _, typ := range event.Types() {
		name := ""
		for word := range strings.SplitSeq(string(typ), ".") {
			if word == "scm" {
				word = "SCM"
			}
			name += strings.ToUpper(word[:1]) + word[1:]
		}
		names[name] = true
	}
	return names
}()
