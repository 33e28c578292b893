package gaming

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A testCase is a function that is a test, or a whole script.
type testCase struct {
	*source
	name     string
	from, to int // its lines: the first is its header
	marks    int // the first line of its decorators
	asserts  []int
	rows     []int // of the tables in it, and of those that it mentions
	beside   []int // the lines of the latter
	empty    []int // lines with assertions that cannot fail, or with what hides a failure
	idle     []int // of asserts, those that compare a thing with itself
	computed []int // those whose sides are both of the program
	dead     map[int]bool
	// condition is the one under which the test is skipped.
	condition string
	skipped   string // why it does not run, if so
	skipAt    int
	always    bool // that does not depend on where it runs
	never     bool // no runner starts it, or comes to its end
}

// A dialect is how tests look in a language.
type dialect struct {
	header func() *regexp.Regexp // its groups hold the name
	// mark has to match one of the lines before the header, if it is not nil.
	mark func() *regexp.Regexp
}

var (
	jsCase  = &dialect{header: units.Pattern("^\\s*(?:await )?(?:[xf]?(?:it|test|specify)|Deno\\.test|bench)(?:\\.\\w+)*(?:\\((?:\\[.*\\]|\\w+)\\))?\\(\\s*(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`|(\\w+),)")}
	jvmCase = &dialect{
		header: units.Pattern(`^\s*(?:(?:public|private|internal|protected|static|final|async|suspend|override|fun|void|Task|def)\s+)+(?:[\w<>]+\s+)?(?:(\w+)|` + "`([^`]+)`" + `)\s*\(`),
		mark:   units.Pattern(`^\s*(?:@(?:Test|ParameterizedTest|RepeatedTest|Property)\b|\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b)`),
	}
	cCase      = &dialect{header: units.Pattern(`^\s*(?:TEST(?:_F|_P|_CASE)?|SCENARIO|BOOST_AUTO_TEST_CASE)\s*\(\s*(?:"([^"]*)"|(\w+(?:\s*,\s*\w+)?))|^(?:static )?(?:void|int) (test_?\w*)\s*\(`)}
	shellCase  = &dialect{header: units.Pattern(`^\s*(?:@test ["']([^"']*)["']|(?:function )?((?:test|it|check)_\w+)\s*(?:\(\))?\s*\{?\s*$)`)}
	pythonCase = &dialect{header: units.Pattern(`^\s*(?:async )?def (test\w*)\s*\(`)}
	rubyCase   = &dialect{header: units.Pattern(`^\s*(?:[xf]?(?:it|specify|test|scenario|example)\s*\(?\s*(?:'([^']*)'|"([^"]*)")|def (test_\w+))`)}
)

var dialects = map[string]*dialect{
	".go": {header: units.Pattern(`^func ((?:Test|Fuzz|Example)(?:[^a-z(]\w*)?)\(`)},
	".py": pythonCase,
	".js": jsCase, ".ts": jsCase, ".tsx": jsCase, ".jsx": jsCase, ".mjs": jsCase, ".cjs": jsCase, ".mts": jsCase, ".cts": jsCase,
	".rs":   {header: units.Pattern(`^\s*(?:pub )?(?:async )?fn (\w+)`), mark: units.Pattern(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case)\b`)},
	".java": jvmCase, ".kt": jvmCase, ".cs": jvmCase, ".scala": {header: units.Pattern(`^\s*test\("([^"]*)"`)}, ".groovy": jvmCase,
	".php":   {header: units.Pattern(`^\s*(?:public )?function (test\w*)\s*\(|^\s*(?:it|test)\(\s*'([^']*)'`)},
	".swift": {header: units.Pattern(`^\s*(?:@Test\s+)?func (test\w*)\s*\(`)},
	".rb":    rubyCase,
	".exs":   {header: units.Pattern(`^\s*test "([^"]*)"`)},
	".c":     cCase, ".cc": cCase, ".cpp": cCase, ".cxx": cCase,
	".dart": {header: units.Pattern(`^\s*(?:test|testWidgets)\(\s*'([^']*)'`)},
	".sh":   shellCase, ".bash": shellCase, ".bats": shellCase,
}

// casesOf returns the tests in the files, in their order.
func casesOf(files []*source) (all []*testCase) {
	for _, s := range files {
		if s.class != fileclass.Test && s.inFile >= len(s.lines) {
			continue
		}
		cases, tables := s.cases(), s.tablesBeside()
		if len(cases) == 0 && s.class == fileclass.Test && isScript(s) && checks(s) {
			cases = []*testCase{{source: s, name: s.path, to: len(s.lines)}}
		}
		why, at := s.skipsAll()
		for _, c := range cases[:min(len(cases), mostCases)] {
			c.count()
			c.useTables(tables)
			if c.skipped, c.skipAt, c.always = why, at, why != ""; why == "" {
				c.skip()
			}
		}
		all = append(all, s.only(cases[:min(len(cases), mostCases)])...)
	}
	return all[:min(len(all), mostOfAll)]
}

// tablesBeside returns the lines of the tables of a file that are in no function, by their names.
func (s *source) tablesBeside() map[string][]int {
	tables := map[string][]int{}
	for i, l := range s.lines {
		m := tableName().FindStringSubmatch(l.bare)
		if l.indent != 0 || m == nil || len(m[1]) < 2 || !s.isTest(i) {
			continue
		}
		for j := i; j < s.blockEnd(i); j++ {
			if s.lines[j].indent >= 0 {
				tables[m[1]] = append(tables[m[1]], j)
			}
		}
	}
	return tables
}

// useTables adds the rows of the tables that the test mentions.
func (c *testCase) useTables(tables map[string][]int) {
	if len(tables) == 0 || c.name == c.path {
		return
	}
	for w := range c.words() {
		for _, i := range tables[w] {
			c.beside = append(c.beside, i)
			if tableRow().MatchString(c.lines[i].code) {
				c.rows = append(c.rows, i)
			}
		}
	}
	slices.Sort(c.rows)
}

// editedCases returns the tests that are not as they were at the start.
func (f *finder) editedCases() (edited []*testCase) {
	bodies := map[string]bool{}
	for _, c := range f.before {
		bodies[c.key()+"\n"+c.code()] = true
	}
	for _, c := range f.now {
		if !bodies[c.key()+"\n"+c.code()] {
			edited = append(edited, c)
		}
	}
	return edited
}

// isScript reports whether a file checks by its exit status, without functions that are tests.
func isScript(s *source) bool {
	switch s.ext {
	case ".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".php", ".pl", ".lua":
		return true
	}
	return false
}

func (s *source) cases() (cases []*testCase) {
	d, ok := dialects[s.ext]
	if !ok {
		return nil
	}
	marked, marks := false, -1
	for i, l := range s.lines {
		switch trimmed := strings.TrimSpace(l.code); {
		case l.indent < 0 || !s.isTest(i):
			continue
		case trimmed[0] == '@' || strings.HasPrefix(trimmed, "#[") || trimmed[0] == '[' && s.ext == ".cs":
			if marks < 0 {
				marks = i
			}
			marked = marked || d.mark != nil && d.mark().MatchString(l.code)
			if !d.header().MatchString(l.code) {
				continue
			}
		}
		if name := nameIn(d.header(), l.code); name != "" && name != "TestMain" && (d.mark == nil || marked) {
			c := &testCase{source: s, name: name, from: i, to: s.blockEnd(i), marks: i}
			if marks >= 0 {
				c.marks = marks
			}
			cases = append(cases, c)
		}
		marked, marks = false, -1
	}
	return cases
}

func nameIn(header *regexp.Regexp, code string) string {
	for i, group := range header.FindStringSubmatch(code) {
		if i > 0 && group != "" {
			return group
		}
	}
	return ""
}

var (
	assertion = units.Pattern(`(?i)\b(?:self\.|this\.)?assert\w*(?:\.\w+)*!?\s*[\s(!\[]|\bassert\b|\brefute\w*\b|\bexpect\w*\s*[({]|\.should\b|\bshould\.|\.must_\w+|\bXCT\w+\(|\b(?:EXPECT|ASSERT|CHECK|REQUIRE)\w*\s*\(|` +
		`\b\w*(?:verify|ensure|check|must|expect|compare|equals?|same|eq|raises?|throws?)\w*[!(]|\b\w+\.(?:verify|expect|Check)\w*\(`)
	goAssertion    = units.Pattern(`\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt|c)\.\w+\(|\b\w+\((?:t|tb|b)[,)]|\bpanic\(|^func Example`)
	raising        = units.Pattern(`\braise\b|\bthrow\b|\bpanic!?\(|\bfail\w*\b|(?:sys\.|process\.|os\.|_)[eE]xit\((?:[^0)]|0\w)|\bexitCode\s*=|\bunwrap\(|\.expect\(|\bos\.Exit\(|\blog\.Fatal|\bdie\b|\bt\.(?:is|ok|true|false|same|deepEqual)\(`)
	shellAssertion = units.Pattern(`\b(?:exit|return)\s+(?:[1-9]|"?\$)|\|\|\s*(?:\{|fail|die|exit|return|bad|err)|\bfail\w*\b|\[\[?\s.*\s\]\]?|\b(?:test|diff|cmp)\s|\bgrep\s+-\w*q|\bassert\w*\b|\bcheck\w*\s|\bexpect\w*\s|\bset -\w*e|` +
		`(?:^|[;&|{(]|\b(?:then|do|else))\s*(?:equals?|eq|same|verify|must|compare|matches|refute)\w*\s`)
	tableRow = units.Pattern(`^\s*(?:\{.*\}|\(.*\)|\[.*\]),?\s*$|^\s*(?:"[^"]*"|'[^']*'|-?[\d.]+)\s*:\s*.+,\s*$|^\s*@(?:pytest\.mark\.parametrize|CsvSource|ValueSource|example|case)|^\s*\[InlineData|^\s*@case`)
)

// tableAfter ends a loop of a shell over the lines that follow.
var tableAfter = units.Pattern(`^\s*done\s*<<-?\s*["']?(\w+)`)

// isAssertion reports whether a line can make a test fail.
func (s *source) isAssertion(at int) bool { return s.asserts(s.lines[at].bare) }

// asserts reports whether code can make a test fail: by itself, or by a helper of the tests.
func (s *source) asserts(bare string) bool {
	for _, at := range calledName().FindAllStringSubmatchIndex(bare, -1) {
		name := bare[at[2]:at[3]]
		if h := s.helpers[name]; h != nil && h.fails {
			return true
		} else if h != nil && !strings.HasSuffix(bare[:at[2]], ".") {
			bare = bare[:at[2]] + strings.Repeat(" ", len(name)) + bare[at[3]:]
		}
	}
	switch s.ext {
	case ".go":
		return goAssertion().MatchString(bare)
	case ".sh", ".bash", ".bats", ".zsh":
		return shellAssertion().MatchString(bare)
	}
	return assertion().MatchString(bare) || raising().MatchString(bare)
}

// checks reports whether a script has an assertion: its exit status depends on what it finds.
func checks(s *source) bool {
	for i := range s.lines {
		if s.lines[i].indent >= 0 && s.isAssertion(i) {
			return true
		}
	}
	return false
}

// count finds the assertions of a test. One that cannot fail is none.
func (c *testCase) count() {
	c.dead = map[int]bool{}
	for i := c.from; i < c.to; i++ {
		l := c.lines[i]
		if l.indent < 0 {
			continue
		}
		if end := c.swallows(i); end > i {
			c.empty = append(c.empty, end)
			for ; i < end; i++ {
				c.dead[i] = true
			}
			continue
		}
		if m := tableAfter().FindStringSubmatch(l.code); m != nil && isShellFile(c.source) {
			for i+1 < c.to && strings.TrimSpace(c.lines[i+1].code) != m[1] {
				i++
				c.rows = append(c.rows, i)
			}
			continue
		}
		switch {
		case c.vacuous(i) != "":
			c.empty, c.dead[i] = append(c.empty, i), true
		case c.isAssertion(i) && (i > c.from || c.name == c.path || c.bodyInHeader(l.bare)):
			c.asserts = append(c.asserts, i)
		case i > c.from && tableRow().MatchString(l.code):
			c.rows = append(c.rows, i)
		}
	}
	if c.ext == ".go" && strings.HasPrefix(c.name, "Example") {
		c.asserts = append(c.asserts, c.from) // the comment with the output is its assertion
	}
}

// bodyInHeader reports whether the header of a test has an assertion after its arrow or brace.
func (s *source) bodyInHeader(bare string) bool {
	for _, opening := range []string{"=>", "{", "do:"} {
		if _, body, ok := strings.Cut(bare, opening); ok && s.asserts(body) {
			return true
		}
	}
	return false
}

// assertCode is the code of an assertion, in Go with the condition before it.
func (c *testCase) assertCode(at int) string {
	code := c.lines[at].code
	for i := at - 1; c.ext == ".go" && !strings.Contains(code, "if ") && i > max(c.from, at-3); i-- {
		if strings.Contains(c.lines[i].code, "if ") {
			return c.lines[i].code + " " + strings.TrimSpace(code)
		}
	}
	return code
}

// checksThat is how many checks the test makes: each row of a table is one.
func (c *testCase) checksThat() int {
	if len(c.asserts) == 0 {
		return 0
	}
	return max(len(c.asserts), len(c.rows))
}

// code returns the text of the test without comments and white space, and without its name.
func (c *testCase) code() string {
	var b strings.Builder
	for i := c.from; i < c.to; i++ {
		text := c.lines[i].code
		if i == c.from {
			text = strings.Replace(text, c.name, "", 1)
		}
		b.WriteString(normal(text))
		b.WriteByte('\n')
	}
	return b.String()
}

// words are the names in the test.
func (c *testCase) words() map[string]bool {
	words := map[string]bool{}
	for i := c.from; i < c.to; i++ {
		wordsOf(c.lines[i].code, words)
	}
	return words
}

// subjects are the names in the test, in what its file gave some of them outside of tests, and what
// of the program its helpers mention.
func (c *testCase) subjects() map[string]bool {
	words := c.words()
	for i := c.from; i < c.to; i++ {
		for _, h := range c.helpersIn(c.lines[i].bare) {
			maps.Copy(words, h.mentions)
		}
	}
	for _, l := range c.lines {
		if l.indent != 0 {
			continue
		}
		if m := assigned().FindStringSubmatch(l.code); m != nil && words[m[1]] {
			wordsOf(m[2], words)
		}
	}
	return words
}
