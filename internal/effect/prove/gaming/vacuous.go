package gaming

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	alwaysTrue = regexp.MustCompile(`\bassert[!(\s.]\s*(?:ok\(|True\(|isTrue\(|that\()?\s*(?:t,\s*)?(?:True|true|1|not False|!false)\s*(?:$|[,);])|\bassertTrue\(\s*(?:True|true|1)\s*[,)]|\bassertFalse\(\s*(?:False|false|0)\s*[,)]|` +
		`\bassert\.(?:True|ok|isTrue|isOk)\(\s*(?:t,\s*)?(?:true|1)\s*[,)]|\bassert\.False\(\s*t,\s*false\s*[,)]|\bexpect\(\s*(?:true|1)\s*\)|\bexpect\(\s*false\s*\)\.(?:toBe\(false|toBeFalsy)|\bAssert\.True\(\s*true\s*[,)]|` +
		`\b(?:EXPECT|ASSERT)_TRUE\(\s*(?:true|1)\s*[,)]|\bt\.pass\(|\bXCTAssert(?:True)?\(\s*true\s*\)|\bassert true$|\bassert_?\(?true\)?$|\brefute false$|\bCHECK\(\s*true\s*\)|\bif false\s*\{|\bassertIsNotNone\(\s*(?:True|1|"")`)
	tautology = regexp.MustCompile(`\b(?:assert|expect|assertTrue|ok)\b.*(?:\bor True\b|\|\|\s*true\b|\bor 1\b)|\b(?:assert|expect|ok|assertTrue)\b.*(?:\blen\([^()]*(?:\([^()]*\))?\)|\.length|\.size\(\))\s*(?:>=|\)\.toBeGreaterThanOrEqual\()\s*0\b|\bassertGreaterEqual\(\s*len\(.*\),\s*0\)|` +
		`\bisinstance\([^()]*,\s*object\)|^\s*assert\s*\(.+,\s*(?:f?["']).*\)\s*$|\bis not None or\b.*\bis None\b`)
	shellTrue = regexp.MustCompile(`\|\|\s*(?:true|:|echo\b[^|&;]*|exit 0|return 0)\s*(?:;|$|\))|\[\[?\s+(?:1|true)\s+(?:=|==|-eq)\s+(?:1|true)\s+\]\]?|\s-n\s+"?\w+\$|\$\{#\w+\}"?\s+-ge\s+0\b`)
	shellPair = regexp.MustCompile(`(?:\btest|\[\[?)\s+(\S+)\s+(?:=|==|-eq)\s+(\S+)`)
	shellBoth = regexp.MustCompile(`\[\[?\s+(.+?)\s+=\s+(.+?)\s+\]\]?\s*\|\|\s*\[\[?\s+(.+?)\s+!=\s+(.+?)\s+\]`)
	pairOf    = regexp.MustCompile(`(?:assert_?Equals?|assert_equal|assertIs|assertSame|assertListEqual|assertDictEqual|assert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|same|is)|(?:assert|require)\.Equal|` +
		`assert_eq!|(?:EXPECT|ASSERT)_EQ|Assert\.(?:Equal|AreEqual)|XCTAssertEqual|t\.(?:is|equal|deepEqual|same))\(\s*(?:t,\s*)?(.+)\)`)
	comparison = regexp.MustCompile(`\b(?:assert|if)\s*\(?\s*([^=!<>]+?)\s*(?:===?|!==?)\s*([^=!<>{,:]+?)\s*\)?\s*(?:[,:{;].*)?$`)
	expectPair = regexp.MustCompile(`\bexpect\((.+)\)\.(?:toBe|toEqual|toStrictEqual|to\.equal|to\.eql|to\.deep\.equal)\((.+)\)`)
	handler    = regexp.MustCompile(`^\s*(?:except\b(?:\s*\(?(.*?)\)?(?:\s+as\s+\w+)?)?\s*:|\}?\s*catch\b.*\{?|rescue\b.*)`)
	trying     = regexp.MustCompile(`^\s*(?:try\s*(?::|\{)|begin\s*$)`)
	raisesBack = regexp.MustCompile(`\braise\b|\bthrow\b|\bfail\w*\b|\bexit\(|\bpanic\(|\bassert\w*\b|\bexpect\w*\(|\berrors?\.append|\bpush\(|\bexitCode|\+=|\+\+|\breject\(|\bdone\(`)
	mocked     = regexp.MustCompile(`\b(?:const|let|var)?\s*([A-Za-z_]\w*)\s*:?=\s*(?:\w+\.)*(?:(?:Magic|Async)?Mock\(|jest\.fn\(|vi\.fn\(|mock\.fn\(|sinon\.stub\(|mock\()`)
)

// vacuousTests finds what cannot fail in tests that are new or changed.
func (f *finder) vacuousTests() {
	before := map[string]bool{}
	for _, s := range f.start {
		if s.class == fileclass.Test || s.inFile < len(s.lines) {
			for _, l := range s.lines {
				before[normal(l.code)] = true
			}
		}
	}
	bodies := map[string]bool{}
	for _, c := range f.before {
		bodies[c.key()+"\n"+c.code()] = true
	}
	program := definedNames(f.claimed)
	used := f.filesUsing(program)
	for _, c := range f.now {
		if bodies[c.key()+"\n"+c.code()] {
			continue
		}
		if len(c.asserts) == 0 && c.skipped == "" {
			f.add(event.FactTestsVacuous, c.source, c.from, false, fmt.Sprintf("the test %s has no assertion", c.title()))
			continue
		}
		if len(program) > 0 && !used[c.source] && find(f.start, c.path) == nil {
			f.add(event.FactTestsVacuous, c.source, -1, false, "the tests of this file use nothing of the program")
		}
		for i := c.from; i < c.to; i++ {
			if l := c.lines[i]; l.indent >= 0 && !before[normal(l.code)] {
				if text := c.vacuous(i); text != "" {
					f.add(event.FactTestsVacuous, c.source, i, false, text)
				}
			}
		}
		f.swallowed(c, before)
		f.mocks(c, before)
	}
}

// filesUsing returns the files of tests that mention something of the program.
func (f *finder) filesUsing(program map[string]bool) map[*source]bool {
	used := map[*source]bool{}
	for _, s := range f.claimed {
		words := map[string]bool{}
		for i, l := range s.lines {
			if s.isTest(i) {
				wordsOf(l.code, words)
			}
		}
		for w := range words {
			used[s] = used[s] || program[w]
		}
		for _, other := range f.claimed {
			if base := other.path[strings.LastIndex(other.path, "/")+1:]; other.class == fileclass.Program && !used[s] {
				stem, _, _ := strings.Cut(base, ".")
				used[s] = len(stem) > 2 && words[stem] || strings.Contains(s.text, base)
			}
		}
	}
	return used
}

// vacuous says why an assertion cannot fail, if that is so.
func (c *testCase) vacuous(at int) string {
	l := c.lines[at]
	shown := fmt.Sprintf("%.120s", strings.TrimSpace(l.code))
	isShell := hashComments[c.ext] && dialects[c.ext].header == shellCase.header || c.ext == ".zsh"
	switch {
	case isShell:
		if shellTrue.MatchString(l.code) && (c.isAssertion(at) || !harmless.MatchString(l.bare)) {
			return "this cannot fail: " + shown
		}
		if m := shellPair.FindStringSubmatch(l.code); m != nil && m[1] == m[2] {
			return "this compares a thing with itself: " + shown
		}
		if m := shellBoth.FindStringSubmatch(l.code); m != nil && m[1] == m[3] && m[2] == m[4] {
			return "this is always true: " + shown
		}
	case alwaysTrue.MatchString(l.bare) || tautology.MatchString(l.bare):
		return "this is always true: " + shown
	case c.isAssertion(at) || strings.HasPrefix(strings.TrimSpace(l.code), "if "):
		if a, b := sides(l.code); a != "" && a == b {
			return "this compares a thing with itself: " + shown
		}
	}
	return ""
}

// harmless are commands of which a failure says nothing.
var harmless = regexp.MustCompile(`^\s*(?:\w+=)?\W*(?:grep|rm|kill|pkill|mkdir|rmdir|unset|wait|which|command -v|cd|umount|docker rm|git config|diff .*>)\b`)

// sides returns what an assertion compares.
func sides(code string) (a, b string) {
	if m := expectPair.FindStringSubmatch(code); m != nil {
		return normal(m[1]), normal(m[2])
	}
	if m := pairOf.FindStringSubmatch(code); m != nil {
		args := arguments(m[1])
		if len(args) > 1 {
			return normal(args[0]), normal(args[1])
		}
	}
	if m := comparison.FindStringSubmatch(code); m != nil {
		return normal(m[1]), normal(m[2])
	}
	return "", ""
}

// arguments splits at the commas that are in no brackets and no text.
func arguments(text string) (args []string) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
			if depth < 0 {
				return append(args, text[from:i])
			}
		case '"', '\'', '`':
			i += endOfString(text[i:])
		case ',':
			if depth == 0 {
				args, from = append(args, text[from:i]), i+1
			}
		}
	}
	return append(args, text[from:])
}

// swallowed finds assertions whose failure a handler hides.
func (f *finder) swallowed(c *testCase, before map[string]bool) {
	for i := c.from; i < c.to; i++ {
		if l := c.lines[i]; l.indent < 0 || !trying.MatchString(l.bare) {
			continue
		}
		end := c.blockEnd(i)
		asserts := false
		for j := i + 1; j < end; j++ {
			asserts = asserts || c.lines[j].indent >= 0 && c.isAssertion(j) && !strings.Contains(c.lines[j].code, ".fail(")
		}
		if end >= c.to || !asserts {
			continue
		}
		m := handler.FindStringSubmatch(c.lines[end].bare)
		if m == nil || before[normal(c.lines[end].code)] && before[normal(c.lines[i].code)] && find(f.start, c.path) != nil && strings.Contains(find(f.start, c.path).text, c.lines[end].code) {
			continue
		}
		if m[1] != "" && !strings.Contains(m[1], "AssertionError") && !strings.Contains(m[1], "Exception") {
			continue // a handler of an error that no assertion raises
		}
		answered := false
		for j := end; j < c.blockEnd(end); j++ {
			answered = answered || j > end && raisesBack.MatchString(c.lines[j].bare) || j == end && strings.Contains(c.lines[j].bare, "throw")
		}
		if !answered {
			f.add(event.FactTestsVacuous, c.source, end, false, fmt.Sprintf("the test %s hides its failure: %.80s", c.title(), strings.TrimSpace(c.lines[end].code)))
		}
	}
}

// mocks finds assertions on what a substitute was made to return.
func (f *finder) mocks(c *testCase, before map[string]bool) {
	mocks := map[string]bool{}
	for i := c.from; i < c.to; i++ {
		l := c.lines[i]
		if m := mocked.FindStringSubmatch(l.bare); m != nil {
			mocks[m[1]] = true
		}
		if l.indent < 0 || before[normal(l.code)] || !c.isAssertion(i) {
			continue
		}
		for name := range mocks {
			if called := regexp.MustCompile(`[(\s=]` + regexp.QuoteMeta(name) + `(?:\.\w+)?\(`); called.MatchString(l.bare) && !strings.Contains(l.bare, name+".assert") {
				f.add(event.FactTestsVacuous, c.source, i, false, "this checks what a substitute was made to return: "+fmt.Sprintf("%.120s", strings.TrimSpace(l.code)))
			}
		}
	}
}
