package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A hardWord is a word that makes comments, help and pages hard to read.
type hardWord struct {
	pattern string // Go regexp; case does not matter, a space matches any white space
	plain   string // what to write instead
	but     string // the same pattern in a use that is allowed
}

// hardWords must not occur in comments, in help, in messages, or on pages. Code in `backquotes` and quoted text
// are not checked.
var hardWords = []hardWord{
	{pattern: `anew`, plain: `again`},
	{pattern: `whoever`, plain: `anyone who, a process that`},
	{pattern: `nobody|somebody`, plain: `name the subject: a person, no process, another loop`},
	{pattern: `behind (a|an|the|it|its|them|their|this|that|these|those|each|one|every|all)`, plain: `after`},
	{pattern: `stands?|stood|standing`, plain: `is in, is written in, means, contains`, but: `standing still|stands? still|stand-ins?|standing input`},
	{pattern: `told`, plain: `X reports …; the agent reads …`, but: `told apart`},
	{pattern: `nevertheless`, plain: `still, anyway`},
	{pattern: `else than`, plain: `other than`},
	{pattern: `what (is|was|are|were) \w+ so`, plain: `name the thing that is meant`},
	{pattern: `take-?ups?`, plain: `resume`},
	{pattern: `go(es)? on with`, plain: `resume, continue`},
	{pattern: `housekeep\w*`, plain: `retention`},
	{pattern: `mail-?box(es)?`, plain: `commands, inbox`},
	{pattern: `(a|an|the|each|every|its|such|of|with|these|those) hands?`, plain: `executor, effect handler`, but: `(a|the) hand-\w+`},
	{pattern: `(the|its|a) mind`, plain: `core`},
	{pattern: `bells?`, plain: `notifier (the terminal's character is BEL)`},
	{pattern: `ears?`, plain: `listener`},
	{pattern: `imprints?`, plain: `fingerprint`},
	{pattern: `sights?`, plain: `snapshot`},
	{pattern: `farewells?`, plain: `exit wait`},
	{pattern: `glances?`, plain: `probe`},
	{pattern: `(a|an|its|each|every|of) gates?`, plain: `verification (the gate is .ci/run)`},
	{pattern: `re-?seal(s|ed|ing)?|seals? of (the )?guardrails?`, plain: `snapshot (a seal ends a segment)`},
	{pattern: `(the|its|a|each|whose|of) standing`, plain: `status, availability`},
	{pattern: `(is|are|was|were|be|not) whole|whole lines?`, plain: `complete`},
	{pattern: `at rest|rested`, plain: `parked`},
	{pattern: `bur(y|ies|ied)`, plain: `reap`},
	{pattern: `(a|the|its|agent's|whose|each) famil(y|ies)`, plain: `process tree`},
	{pattern: `nights?`, plain: `run, loop; seed in the simulation`, but: `night simulates|night\.\w+`},
	{pattern: `houses?`, plain: `project`},
	{pattern: `doors?`, plain: `name the interface`},
	{pattern: `rooms|(a|this|each|every|another|own|process) room`, plain: `package`, but: `(a|this|each|every|another|own) room (for|left)`},
	{pattern: `walls?`, plain: `rule`, but: `wall[ -](clock|time)`},
}

func TestProseUsesPlainWords(t *testing.T) {
	patterns := compileWords()
	eachText(t, func(name, text string) {
		var prose string
		if strings.HasSuffix(name, ".go") {
			prose = proseOf(t, name, text)
		} else {
			prose = withoutCode(text, fenced, inline)
		}
		for _, found := range hardWordsIn(prose, patterns) {
			t.Errorf("%s:%d: %q; write: %s", name, found.line, found.text, found.plain)
		}
	})
}

func TestProseCheckFindsWords(t *testing.T) {
	patterns := compileWords()
	for text, want := range map[string]int{
		"It is read\nanew, behind\nthe\nlast line.": 2,
		"the whole file is read":                    0,
		"what is not\nwhole, on a wall":             2,
		"by wall clock, by hand, the hand-written":  0,
		"Whoever is told that a hand acts":          3,
		"hands out lines, gateway, early, insight":  0,
	} {
		if got := hardWordsIn(text, patterns); len(got) != want {
			t.Errorf("%q: found %v, want %d", text, got, want)
		}
	}
	source := "package p\n\n// anew\nvar a = \"anew\" // `anew` and \"anew\"\n\ntype s struct {\n" +
		"\tF int `help:\"Read anew.\"`\n}\n\nfunc (s) Help() string { return \"Read it anew.\" }\n"
	if got := hardWordsIn(proseOf(t, "p.go", source), patterns); len(got) != 3 || got[0].line != 3 || got[1].line != 7 || got[2].line != 10 {
		t.Errorf("in a Go file: %v", got)
	}
	page := "anew `anew`\n```\nanew\n```\nanew\n"
	if got := hardWordsIn(withoutCode(page, fenced, inline), patterns); len(got) != 2 || got[1].line != 5 {
		t.Errorf("on a page: %v", got)
	}
}

type foundWord struct {
	line        int
	text, plain string
}

type wordPattern struct {
	word, but *regexp.Regexp
	plain     string
}

// anyHardWord matches each hard word: one pass over a text without one, instead of forty.
var anyHardWord = sync.OnceValue(func() *regexp.Regexp {
	var all []string
	for _, w := range hardWords {
		all = append(all, w.pattern)
	}
	return compileWord(strings.Join(all, "|"))
})

func compileWord(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(pattern, " ", `\s+`) + `)\b`)
}

func compileWords() []wordPattern {
	var patterns []wordPattern
	for _, w := range hardWords {
		p := wordPattern{word: compileWord(w.pattern), plain: w.plain}
		if w.but != "" {
			p.but = compileWord(w.but)
		}
		patterns = append(patterns, p)
	}
	return patterns
}

func hardWordsIn(prose string, patterns []wordPattern) []foundWord {
	if !anyHardWord().MatchString(prose) {
		return nil
	}
	var found []foundWord
	for _, p := range patterns {
		for _, at := range p.word.FindAllStringIndex(prose, -1) {
			if p.but != nil {
				if allowed := p.but.FindStringIndex(prose[at[0]:]); allowed != nil && allowed[0] == 0 {
					continue
				}
			}
			text := strings.Join(strings.Fields(prose[at[0]:at[1]]), " ")
			found = append(found, foundWord{1 + strings.Count(prose[:at[0]], "\n"), text, p.plain})
		}
	}
	return found
}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inline  = regexp.MustCompile("`[^`\n]*`")
	escaped = regexp.MustCompile(`\\[a-z"]`)
	quoted  = regexp.MustCompile(`"[^"\n]*"|'[a-z]+'`)
)

// withoutCode overwrites matches with spaces, so that line numbers stay.
func withoutCode(text string, patterns ...*regexp.Regexp) string {
	for _, pattern := range patterns {
		text = pattern.ReplaceAllStringFunc(text, blank)
	}
	return text
}

func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// proseOf returns the lines of a Go file with its comments, help texts and messages only.
func proseOf(t *testing.T, name, source string) string {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]string, 1+strings.Count(source, "\n"))
	put := func(pos token.Pos, text string) {
		at := set.Position(pos).Line - 1
		for i, line := range strings.Split(text, "\n") {
			lines[at+i] += " " + line
		}
	}
	for _, group := range tree.Comments {
		for _, c := range group.List {
			text := strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), "/*")
			put(c.Pos(), withoutCode(text, inline, quoted))
		}
	}
	for n := range ast.Preorder(tree) {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(n.Tag.Value)
			if err == nil {
				put(n.Tag.Pos(), withoutCode(reflect.StructTag(tag).Get("help"), inline))
			}
		case *ast.BasicLit:
			// A text of three words or more is a message.
			if n.Kind == token.STRING && !strings.HasSuffix(name, "_test.go") && strings.Count(n.Value, " ") > 1 {
				put(n.Pos(), withoutCode(strings.Trim(n.Value, "`\""), inline, escaped, quoted))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// eachText calls do with every Go file and every page of the repository.
func eachText(t *testing.T, do func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "testdata" || entry.Name() == "node_modules" || name == "bin" || name == "dist"):
			return filepath.SkipDir
		case entry.IsDir() || name == "CHANGELOG.md" || !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".go") && regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`).Match(text) ||
			name == "internal/archtest/words_test.go" {
			return nil
		}
		do(name, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
