package gaming

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	alwaysTrue = units.Pattern(`\bassert[!(\s.]\s*(?:ok\(|True\(|isTrue\(|that\()?\s*(?:t,\s*)?(?:True|true|1|not False|!false)\s*(?:$|[,);])|\bassertTrue\(\s*(?:True|true|1)\s*[,)]|\bassertFalse\(\s*(?:False|false|0)\s*[,)]|` +
		`\bassert\.(?:True|ok|isTrue|isOk)\(\s*(?:t,\s*)?(?:true|1)\s*[,)]|\bassert\.False\(\s*t,\s*false\s*[,)]|\bexpect\(\s*(?:true|1)\s*\)|\bexpect\(\s*false\s*\)\.(?:toBe\(false|toBeFalsy)|\bAssert\.True\(\s*true\s*[,)]|` +
		`\b(?:EXPECT|ASSERT)_TRUE\(\s*(?:true|1)\s*[,)]|\bt\.pass\(|\bXCTAssert(?:True)?\(\s*true\s*\)|\bassert true$|\bassert_?\(?true\)?$|\brefute false$|\bCHECK\(\s*true\s*\)|\bif false\s*\{|\bassertIsNotNone\(\s*(?:True|1|"")`)
	tautology = units.Pattern(`\b(?:assert|expect|assertTrue|ok)\b.*(?:\bor True\b|\|\|\s*true\b|\bor 1\b)|\b(?:assert|expect|ok|assertTrue)\b.*(?:\blen\([^()]*(?:\([^()]*\))?\)|\.length|\.size\(\))\s*(?:>=|\)\.toBeGreaterThanOrEqual\()\s*0\b|\bassertGreaterEqual\(\s*len\(.*\),\s*0\)|` +
		`\bisinstance\([^()]*,\s*object\)|^\s*assert\s*\(.+,\s*(?:f?["']).*\)\s*$|\bis not None or\b.*\bis None\b`)
	shellTrue = units.Pattern(`\|\|\s*(?:true|:|echo\b[^|&;]*|exit 0|return 0)\s*(?:;|$|\))|\[\[?\s+(?:1|true)\s+(?:=|==|-eq)\s+(?:1|true)\s+\]\]?|\s-n\s+"?\w+\$|\$\{#\w+\}"?\s+-ge\s+0\b`)
	// shellCheck is a command whose exit status says something of the program.
	shellCheck = units.Pattern(`\[\[?\s|\b(?:test|diff|cmp|grep|sh|bash|assert\w*|check\w*|expect\w*)\s`)
	shellBoth  = units.Pattern(`\[\[?\s+(.+?)\s+=\s+(.+?)\s+\]\]?\s*\|\|\s*\[\[?\s+(.+?)\s+!=\s+(.+?)\s+\]`)
	pairOf     = units.Pattern(`(?:assert_?Equals?|assert_equal|assertIs|assertSame|assertListEqual|assertDictEqual|assert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|same|is)|(?:assert|require)\.Equal|` +
		`assert_eq!|(?:EXPECT|ASSERT)_EQ|Assert\.(?:Equal|AreEqual)|XCTAssertEqual|t\.(?:is|equal|deepEqual|same))\(\s*(?:t,\s*)?(.+)\)`)
	comparison = units.Pattern(`\b(?:assert|if)\s*\(?\s*([^=!<>]+?)\s*(?:===?|!==?)\s*([^=!<>{,:]+?)\s*\)?\s*(?:[,:{;].*)?$`)
	expectPair = units.Pattern(`\bexpect\((.+)\)\.(?:toBe|toEqual|toStrictEqual|to\.equal|to\.eql|to\.deep\.equal)\((.+)\)`)
	handler    = units.Pattern(`^\s*(?:except\b(?:\s*\(?(.*?)\)?(?:\s+as\s+\w+)?)?\s*:|\}?\s*catch\b.*\{?|rescue\b.*)`)
	trying     = units.Pattern(`^\s*(?:try\s*(?::|\{)|begin\s*$)`)
	raisesBack = units.Pattern(`\braise\b|\bthrow\b|\bfail\w*\b|\bexit\(|\bpanic\(|\bassert\w*\b|\bexpect\w*\(|\berrors?\.append|\bpush\(|\bexitCode|\+=|\+\+|\breject\(|\bdone\(`)
	mocked     = units.Pattern(`\b(?:const|let|var)?\s*([A-Za-z_]\w*)\s*:?=\s*(?:\w+\.)*(?:(?:Magic|Async)?Mock\(|jest\.fn\(|vi\.fn\(|mock\.fn\(|sinon\.stub\(|mock\()`)
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
	known := map[string]bool{}
	for _, c := range f.before {
		known[c.key()] = true
	}
	used := f.filesUsing(f.program)
	f.deadTests(known)
	for _, c := range f.edited {
		second := f.untested(c)
		if len(c.asserts)+len(c.empty) == 0 && c.skipped == "" {
			f.add(event.FactTestsVacuous, c.source, c.from, second, fmt.Sprintf("the test %s has no assertion", c.title()))
			continue
		}
		if len(f.program) > 0 && !used[c.source] && find(f.start, c.path) == nil {
			f.add(event.FactTestsVacuous, c.source, -1, second, "the tests of this file use nothing of the program")
		}
		for _, i := range c.empty {
			text := c.vacuous(i)
			if text == "" {
				text = fmt.Sprintf("the test %s hides its failure: %.80s", c.title(), strings.TrimSpace(c.lines[i].code))
			} else if before[normal(c.lines[i].code)] {
				continue
			}
			f.add(event.FactTestsVacuous, c.source, i, second, text)
		}
		f.mocks(c, before, f.program)
		f.sameTwice(c, before)
	}
	f.aboutSubstitutes()
	f.helpers(before)
	f.broughtAlong()
	f.recordsFirst(before)
	f.valueless()
}

// unused is an assertion that is only named.
var unused = units.Pattern(`^\s*\w+\s*=\s*lambda\b`)

// deadTests says that most of the new tests say nothing of the program: one may be a mistake.
func (f *finder) deadTests(known map[string]bool) {
	var dead []*testCase
	all := 0
	for _, c := range f.now {
		if known[c.key()] || strings.Contains("/"+c.path, "/testdata/") {
			continue // tests that a program reads are its data
		}
		live := slices.ContainsFunc(c.asserts, func(i int) bool { return !c.isOfType(i) && !unused().MatchString(c.lines[i].bare) })
		if all++; c.never || !live && len(c.empty) > 0 {
			dead = append(dead, c)
		}
	}
	if len(dead) > 1 && 2*len(dead) >= all {
		f.add(event.FactTestsVacuous, dead[0].source, dead[0].from, true, fmt.Sprintf("%d of %d new tests do not run, or cannot fail", len(dead), all))
	}
}

// A tally counts the assertions of tests: all, those about types or that there is a value, and
// those that compare what the program gives with what it gives.
type tally struct {
	all, types, computed int
	first                *testCase       // with one about types
	classes              map[string]bool // of the program that these are about
}

func (t *tally) add(f *finder, c *testCase) {
	t.computed += len(c.computed)
	for _, i := range c.asserts {
		code := c.lines[i].code
		if strings.HasPrefix(strings.TrimSpace(code), "set ") || assigned().MatchString(code) {
			continue
		}
		if t.all++; !c.isOfType(i) {
			continue
		}
		t.types++
		t.first = cmp.Or(t.first, c)
		for _, w := range word().FindAllString(ofType().FindString(code), -1) {
			if f.program[w] && unicode.IsUpper(rune(w[0])) {
				t.classes[w] = true
			}
		}
	}
}

// valueless finds tests whose assertions say nothing of what a value should be: all tests, those of
// a new file, or most of the new ones.
func (f *finder) valueless() {
	all, edited, files := &tally{classes: map[string]bool{}}, &tally{classes: map[string]bool{}}, map[*source]*tally{}
	for _, c := range f.now {
		all.add(f, c)
	}
	for _, c := range f.edited {
		edited.add(f, c)
		if files[c.source] == nil {
			files[c.source] = &tally{classes: map[string]bool{}}
		}
		files[c.source].add(f, c)
	}
	if all.all > 1 && all.types == all.all && len(f.edited) > 0 {
		f.add(event.FactTestsVacuous, all.first.source, all.first.from, true, "no test compares a value: all assertions are about types, or that there is one")
		return
	}
	for s, t := range files {
		switch {
		case t.all < 2 || find(f.start, s.path) != nil:
		case t.types == t.all:
			text := "no test of this file compares a value: all assertions are about types, or that there is one"
			f.add(event.FactTestsVacuous, s, -1, len(t.classes) < 2, text) // which of several classes it is says something
		case t.computed == t.all:
			f.add(event.FactTestsVacuous, s, -1, true, "the tests of this file have no value of their own: they compare what the program gives with what it gives")
		}
	}
	if t := edited; t.types > 2 && 3*t.types >= 2*t.all {
		f.add(event.FactTestsVacuous, t.first.source, t.first.from, false, fmt.Sprintf("%d of %d new assertions are about types, or that there is a value", t.types, t.all))
	}
}

// isOfType reports whether an assertion says of a value only that it is there, or its type.
func (c *testCase) isOfType(at int) bool {
	code := c.assertCode(at)
	if m := keyOf().FindStringSubmatch(code); m != nil {
		return slices.ContainsFunc(c.asserts, func(i int) bool {
			of := ofDict().FindStringSubmatch(c.assertCode(i))
			return of != nil && of[1] == m[1]+m[2]
		})
	}
	if c.ext == ".go" && isEmptyGo().MatchString(code) {
		return true
	}
	helpers := c.helpersIn(c.lines[at].bare)
	if len(helpers) > 0 && !exactly().MatchString(code) && !slices.ContainsFunc(helpers, func(h *helper) bool { return !h.fails || !h.types }) {
		return true
	}
	return ofType().MatchString(code) && !exactly().MatchString(ofType().ReplaceAllString(code, ""))
}

// keyOf asks for a key of what ofDict says to have keys.
var (
	keyOf  = units.Pattern(`\bassertIn\(\s*["'][^"']*["'],\s*(\w+)\s*\)|^\s*assert\s+["'][^"']*["']\s+in\s+(\w+)\s*$`)
	ofDict = units.Pattern(`(?i:isinstance)\(\s*(\w+),\s*dict\b`)
)

var ofType = units.Pattern(`\b(?:assertIsInstance|isinstance|assertIsNotNone|assertNotNull|assert\.ok\(\s*(?:Array\.isArray|typeof))\b.*|\btypeof\s+[^=]*={2,3}\s*["'\w]+|\bequal\(\s*typeof\b.*|` +
	`\.(?:toBeInstanceOf|toBeDefined|toBeTypeOf)\(.*|\bis not None\b|\.not\.(?:toBeNull|toBeUndefined)\(.*|\bassert\.(?:NotNil|IsType)\(.*|\bexpect\(typeof\b.*|\bhasattr\(.*|\bcallable\(.*|` +
	`(?:\[\[?|\btest)\s+(?:-[nz]\s+\S+|"?\$\{#\w+\}"?\s+-(?:gt|ge|ne)\s+[01])(?:\s|$)`)

// isEmptyGo asks whether a value has anything; that there is an error is what many tests are about.
var isEmptyGo = units.Pattern(`\bif (?:len\(\w+\) == 0|(?:\w+ := [^;]+; )?\w+ == "")\s*\{`)

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
		used[s] = meets(words, program)
		for _, other := range f.claimed {
			if base := other.path[strings.LastIndex(other.path, "/")+1:]; other.class == fileclass.Program && !used[s] {
				stem, _, _ := strings.Cut(base, ".")
				used[s] = len(stem) > 2 && words[stem] || strings.Contains(s.text, base) || strings.Contains(s.text, "/"+stem)
			}
		}
	}
	return used
}

// vacuous says why an assertion cannot fail, if that is so.
func (c *testCase) vacuous(at int) string {
	l := c.lines[at]
	shown := brief(l.code)
	switch {
	case isShellFile(c.source):
		at := shellTrue().FindStringIndex(l.code)
		if at != nil && !harmless().MatchString(l.bare) && shellCheck().MatchString(l.code[:at[0]]+" ") && !comparesOutput(l.code[:at[0]]) {
			return "this cannot fail: " + shown
		}
		if a, b := shellSides(l.code); a != "" && a == b {
			return "this compares a thing with itself: " + shown
		}
		if m := shellBoth().FindStringSubmatch(l.code); m != nil && m[1] == m[3] && m[2] == m[4] {
			return "this is always true: " + shown
		}
	case alwaysTrue().MatchString(l.bare) || tautology().MatchString(l.bare) || neverLess().MatchString(l.bare):
		return "this is always true: " + shown
	case c.ext == ".py" && c.comparesOnly(at):
		return "this compares and asserts nothing: " + shown
	case equalsItself(l.code, c.isAssertion(at)):
		return "this compares a thing with itself: " + shown
	}
	return ""
}

var (
	// neverLess is a size that is compared with what no size is below.
	neverLess = units.Pattern(`\b(?:return|&&|\|\|)\s*(?:len|cap)\([^()]*(?:\([^()]*\))?\)\s*>=\s*0\b`)
	equalPair = units.Pattern(`(?:\b(?:return|and|or|not)\s|[(&|,])\s*([\w.]+(?:\[\w+\])?)\s*===?\s*([\w.]+(?:\[\w+\])?)\s*(?:$|[);}&|,]|(?:and|or)\b)`)
)

var (
	continued  = units.Pattern(`(?:[(\[{,\\=+]|\b(?:and|or|not|in|if|else|return|assert))\s*$`)
	statements = units.Pattern(`^\s*(?:@|(?:assert|return|if|elif|else|while|for|with|yield|and|or|not|lambda|raise|def|class|async|except)\b)`)
)

// comparesOnly reports whether a line of Python is a comparison whose result goes nowhere.
func (c *testCase) comparesOnly(at int) bool {
	if at == c.from {
		return false
	}
	bare, before, depth := c.lines[at].bare, at-1, 0
	for before > c.from && c.lines[before].indent < 0 {
		before--
	}
	isPart := continued().MatchString(c.lines[before].bare) || continued().MatchString(bare)
	if !strings.Contains(bare, "=") || statements().MatchString(bare) || isPart {
		return false
	}
	for i := c.from; i < at; i++ {
		depth += strings.Count(c.lines[i].bare, "(") + strings.Count(c.lines[i].bare, "[") + strings.Count(c.lines[i].bare, "{")
		depth -= strings.Count(c.lines[i].bare, ")") + strings.Count(c.lines[i].bare, "]") + strings.Count(c.lines[i].bare, "}")
	}
	sides := splitShell(bare, "==", "!=")
	return depth == 0 && len(sides) == 2 && !strings.Contains(sides[0], "=")
}

// equalsItself reports whether an assertion, a condition or a property compares a thing with
// itself.
func equalsItself(code string, asserts bool) bool {
	returns := strings.HasPrefix(strings.TrimSpace(code), "return ")
	if a, b := sides(code); a != "" && a == b && (asserts || strings.HasPrefix(strings.TrimSpace(code), "if ")) {
		return true
	}
	if a, b := equalSides(code); returns && a != "" && a == b {
		return true
	}
	return returns && slices.ContainsFunc(equalPair().FindAllStringSubmatch(code, -1), func(m []string) bool { return m[1] == m[2] })
}

// comparesOutput reports whether a check compares the output of a command that is not yet at its
// end: the status of that says nothing.
func comparesOutput(code string) bool {
	at := strings.LastIndex(code, "$(")
	return at >= 0 && strings.Count(code[at:], ")") == 0 && shellCheck().MatchString(code[:at])
}

// harmless are commands whose failure says nothing.
var harmless = units.Pattern(`^\s*(?:\w+=)?\W*(?:grep|rm|kill|pkill|mkdir|rmdir|unset|wait|which|command -v|cd|umount|docker rm|git config|diff .*>|find .*-(?:delete|exec rm))\b`)

// sides returns what an assertion compares.
func sides(code string) (a, b string) {
	if m := expectPair().FindStringSubmatch(code); m != nil {
		return normal(m[1]), normal(m[2])
	}
	if m := pairOf().FindStringSubmatch(code); m != nil {
		args := arguments(m[1])
		if len(args) > 1 {
			return normal(args[0]), normal(args[1])
		}
	}
	if m := comparison().FindStringSubmatch(code); m != nil {
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

// swallows returns the line that hides the failure of the assertions in a block that begins on a
// line, or at if none does: a handler without an answer, or the end of a goroutine of Go that the
// test does not wait for.
func (c *testCase) swallows(at int) int {
	l := c.lines[at]
	background := c.ext == ".go" && goroutine().MatchString(l.bare)
	if !background && !trying().MatchString(l.bare) {
		return at
	}
	end := c.blockEnd(at)
	asserts := false
	for j := at + 1; j < end; j++ {
		asserts = asserts || c.lines[j].indent >= 0 && c.isAssertion(j) && !strings.Contains(c.lines[j].code, ".fail(")
	}
	if end >= c.to || !asserts {
		return at
	}
	if background {
		for j := c.from; j < c.to; j++ {
			if (j < at || j >= end) && waits().MatchString(c.lines[j].bare) && !c.goesOn(j) {
				return at
			}
		}
		return end
	}
	m := handler().FindStringSubmatch(c.lines[end].bare)
	if m == nil || m[1] != "" && !strings.Contains(m[1], "AssertionError") && !strings.Contains(m[1], "Exception") {
		return at // a handler of an error that no assertion raises
	}
	if strings.Contains(c.lines[end].bare, "throw") {
		return at
	}
	for j := end + 1; j < c.blockEnd(end); j++ {
		if raisesBack().MatchString(c.lines[j].bare) {
			return at
		}
	}
	return end
}

// goesOn reports whether a line is a case of a select of Go that does not wait for it, in no loop.
func (c *testCase) goesOn(at int) bool {
	l := c.lines[at]
	if l.indent != c.lines[c.next(c.from)].indent || !strings.HasPrefix(strings.TrimSpace(l.bare), "case ") {
		return false
	}
	for i := at + 1; i < c.to; i++ {
		if c.lines[i].indent == l.indent {
			switch strings.TrimSpace(c.lines[i].bare) {
			case "default:":
				return true
			case "}":
				return false
			}
		}
	}
	return false
}

// assigned is a line that gives a name the result of an expression.
var assigned = units.Pattern(`^\s*(?:(?:const|let|var|final)\s+)?([A-Za-z_]\w*)\s*:?=\s*([^=].*?);?\s*$`)

// assignedIf is a condition of Go on what it assigns.
var assignedIf = units.Pattern(`^(\s*if )(\w+ := [^;]+); (.*)$`)

// sameTwice finds comparisons of what a call gives with what the same call gives. They say nothing
// of a part of the program that no other assertion is about.
func (f *finder) sameTwice(c *testCase, before map[string]bool) {
	given, often := map[string]string{}, map[string]int{}
	give := func(name, what string) {
		given[name] = normal(what)
		often[name]++
	}
	for i := c.from; i < c.to; i++ {
		code := c.lines[i].code
		first, condition := code, code
		if m := assignedIf().FindStringSubmatch(code); m != nil {
			first, condition = m[2], m[1]+m[3]
		}
		if m := assigned().FindStringSubmatch(first); m != nil {
			give(m[1], m[2])
		} else if m := redirected().FindStringSubmatch(code); m != nil && isShellFile(c.source) {
			if what := "$(" + m[1] + ")"; !strings.Contains(m[2], "<<") {
				give(shellName(m[2]), what)
			} else if file, _, _ := strings.Cut(m[2], "<<"); c.next(i) < len(c.lines) {
				give(shellName(file), c.codeAfter(i))
			}
		}
		if before[normal(code)] || !c.isAssertion(i) && !strings.HasPrefix(strings.TrimSpace(code), "if ") {
			continue
		}
		result := func(name string) string {
			if often[name] == 1 {
				return given[name]
			}
			return name
		}
		a, b := sides(condition)
		if isShellFile(c.source) {
			a, b = shellSides(condition)
		}
		left, right := a, b
		if a == "" {
			left, right = equalSides(condition)
		}
		if c.bothComputed(f, result(left), result(right)) || left == "" && f.callsTwice(condition) {
			c.computed = append(c.computed, i)
		}
		if a != b && strings.Contains(result(a), "(") && result(a) == result(b) {
			c.idle = append(c.idle, i)
			f.add(event.FactTestsVacuous, c.source, i, f.untested(c) || f.onlyIdle(c), "this compares what a call gives with what the same call gives: "+brief(code))
		}
	}
}

var (
	equalling = units.Pattern(`(?:\b|_)(?i:(?:is|deep|slices?|arrays?)?_?(?:deep)?_?(?:equals?|equalfold|compare))\(`)
	property  = units.Pattern(`=>\s*([^{]+?)\s*===?\s*([^{]+?)[\s);]*$`)
)

// equalSides returns what a property, or a function that is no assertion, compares.
func equalSides(code string) (a, b string) {
	if m := property().FindStringSubmatch(code); m != nil {
		return normal(m[1]), normal(m[2])
	}
	if at := equalling().FindStringIndex(code); at != nil {
		if args := arguments(code[at[1]:]); len(args) > 1 {
			return normal(args[0]), normal(args[1])
		}
	}
	return "", ""
}

// bothComputed reports whether both sides are results of the program. A value that a test builds of
// its own values is none.
func (c *testCase) bothComputed(f *finder, a, b string) bool {
	return f.callsProgram(a) && f.callsProgram(b) && !c.builds(a, b) && !c.builds(b, a)
}

var (
	oneCall = units.Pattern(`^&?(?:\w+\.)*([A-Za-z_]\w*)[({]`)
	builder = units.Pattern(`^(?:[Nn]ew|[Mm]ust)[A-Z]|^(?:New|Must)$`)
)

// builds reports whether all of a side is an object of given values, and the other one is not made
// in the same way.
func (c *testCase) builds(side, other string) bool {
	name := isCall(side)
	isClass := c.ext != ".go" && name != "" && unicode.IsUpper(rune(name[0]))
	return (isClass || builder().MatchString(name)) && literal().MatchString(side) && isCall(other) != name
}

// isCall returns what is called where all of the code is one call, or "".
func isCall(code string) string {
	at := oneCall().FindStringSubmatchIndex(code)
	if at == nil {
		return ""
	}
	if end := at[1] + len(strings.Join(arguments(code[at[1]:]), ",")); end < len(code)-1 { // the last bracket may be left out
		return ""
	}
	return code[at[2]:at[3]]
}

// callsProgram reports whether code calls a function of the program.
func (f *finder) callsProgram(code string) bool {
	return slices.ContainsFunc(word().FindAllString(code, -1), func(w string) bool { return f.program[w] }) && strings.Contains(code, "(")
}

// callsTwice reports whether an assertion gives what a function of the program returns to another
// one, and nothing else.
func (f *finder) callsTwice(code string) bool {
	n := 0
	for _, m := range calledName().FindAllStringSubmatch(code, -1) {
		if f.program[m[1]] {
			n++
		}
	}
	return n > 1 && !literal().MatchString(code)
}

// onlyIdle reports whether a test, and each other one that is about the same parts of the program,
// has no assertion but those that compare a thing with itself.
func (f *finder) onlyIdle(c *testCase) bool {
	about := slices.DeleteFunc(slices.Clone(f.parts), func(p *part) bool { return !c.isAbout(p) })
	return len(about) > 0 && !slices.ContainsFunc(f.now, func(other *testCase) bool {
		checks := slices.ContainsFunc(other.asserts, func(i int) bool {
			return !slices.Contains(other.idle, i) && !strings.HasPrefix(strings.TrimSpace(other.lines[i].code), "set ")
		})
		return checks && slices.ContainsFunc(about, other.isAbout)
	})
}

// redirected is a command of a shell whose output goes to a file.
var redirected = units.Pattern(`^\s*([A-Za-z.][^>|;&]*?)\s*[^>&\d]>\s*([^>&].*)$`)

// shellName is what a word of a shell names, without its quotes and the sign of a variable.
func shellName(word string) string {
	word = strings.Trim(strings.TrimSpace(word), `"'`)
	if name := strings.Trim(strings.TrimPrefix(word, "$"), "{}"); isName().MatchString(name) {
		return name
	}
	return normal(word)
}

var (
	isName     = units.Pattern(`^[A-Za-z_]\w*$`)
	shellWords = units.Pattern(`(?:"(?:\$\([^()]*(?:\([^()]*\)[^()]*)*\)|\\.|[^"\\])*"|'[^']*'|\$\([^()]*(?:\([^()]*\)[^()]*)*\)|[^\s"';&|])+`)
	twoFiles   = units.Pattern(`^(?:diff|cmp|equals?|eq|same|compare|assert_?(?:equals?|eq|same))\w*$`)
)

// shellSides returns what a command compares.
func shellSides(code string) (a, b string) {
	words := shellWords().FindAllString(code, -1)
	for i, w := range words {
		switch {
		case (w == "=" || w == "==" || w == "-eq") && i > 0 && i+1 < len(words):
			return shellName(words[i-1]), shellName(words[i+1])
		case twoFiles().MatchString(w):
			rest := slices.DeleteFunc(slices.Clone(words[i+1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
			if len(rest) > 1 {
				return shellName(rest[0]), shellName(rest[1])
			}
		}
	}
	return "", ""
}

// catchesAssertion is a handler that a failed assertion comes to.
var catchesAssertion = units.Pattern(`^\s*except\b.*\bAssertionError\b.*:|^\s*rescue\b.*\bMinitest::Assertion\b|\bcatch\s*\(.*\bAssertion(?:Failed)?Error\b`)

// answersAfter reports whether a handler, or what follows it in its function, fails or gives its
// caller a value.
func (s *source) answersAfter(at int) bool {
	begin := s.back(at, true, func(l line) bool { return beginsFunction().MatchString(l.bare) })
	for i := at + 1; i < s.blockEnd(begin); i++ {
		if l := s.lines[i]; l.indent >= 0 && (raisesBack().MatchString(l.bare) || givesValue().MatchString(l.bare)) {
			return true
		}
	}
	return false
}

var (
	beginsFunction = units.Pattern(`\bdef\b|\bfunction\b|=>|\bvoid\b`)
	givesValue     = units.Pattern(`\breturn\s+[\w"'(\[{]`)
)

var (
	goroutine = units.Pattern(`^\s*go func\(`)
	waits     = units.Pattern(`\.Wait\(|<-|time\.Sleep|synctest|\.Join\(`)
)
