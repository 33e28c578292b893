package gaming

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// patched puts a substitute in place of a function of a module.
var patched = units.Pattern(`\bpatch\(\s*["'][\w.]*?(\w+\.\w+)["']|\bpatch\.object\(\s*(\w+,\s*["']\w+)["']`)

// callOf reports whether a line calls a function of a module.
func callOf(bare, name string) bool {
	name = strings.NewReplacer(",", ".", " ", "", `"`, "", "'", "").Replace(name)
	return regexp.MustCompile(`(?:^|[^\w.])` + regexp.QuoteMeta(name) + `\(`).MatchString(bare)
}

// mocks finds assertions on what a substitute was made to return.
func (f *finder) mocks(c *testCase, before, program map[string]bool) {
	mocks, replaced := map[string]bool{}, ""
	installed := c.installed(program)
	for i := c.marks; i < c.to; i++ {
		l := c.lines[i]
		if m := patched().FindStringSubmatch(l.code); m != nil && l.indent >= 0 {
			replaced = m[1] + m[2]
			continue
		}
		if l.indent >= 0 && replaced != "" && i > c.from && !before[normal(l.code)] && callOf(l.bare, replaced) {
			f.callsSubstitute(c, i, lastName(replaced), program)
		}
		for _, name := range installed {
			if l.indent >= 0 && i > c.from && c.isAssertion(i) && callOf(l.bare, name) {
				f.callsSubstitute(c, i, lastName(name), program)
			}
		}
		if m := mocked().FindStringSubmatch(l.bare); m != nil {
			mocks[m[1]] = true
		}
		if l.indent < 0 || before[normal(l.code)] || !c.isAssertion(i) {
			continue
		}
		for name := range mocks {
			called := regexp.MustCompile(`[(\s=]` + regexp.QuoteMeta(name) + `(?:\.\w+)?\(`)
			if called.MatchString(l.bare) && !strings.Contains(l.bare, name+".assert") {
				f.add(event.FactTestsVacuous, c.source, i, f.untested(c), "this checks what a substitute was made to return: "+brief(l.code))
			}
		}
	}
}

// callsSubstitute adds a line that calls what a substitute is in place of.
func (f *finder) callsSubstitute(c *testCase, at int, name string, program map[string]bool) {
	weakens := f.untested(c) || c.callsOnly(name, program)
	f.add(event.FactTestsVacuous, c.source, at, weakens, "this calls what a substitute is in place of: "+brief(c.lines[at].code))
}

// lastName is that of a function without its module.
func lastName(name string) string {
	return strings.Trim(name[strings.LastIndexAny(name, ".,")+1:], ` "'`)
}

// callsOnly reports whether a test calls one function of the program and no other.
func (c *testCase) callsOnly(name string, program map[string]bool) bool {
	for i := c.from + 1; i < c.to; i++ {
		for _, m := range calledName().FindAllStringSubmatch(c.lines[i].bare, -1) {
			if m[1] != name && program[m[1]] && !strings.HasSuffix(m[1], "Error") {
				return false
			}
		}
	}
	return program[name]
}

var (
	madeToReturn = units.Pattern(`\b(?:return_value|side_effect)\s*=\s*([^=].*)`)
	wasCalled    = units.Pattern(`\.(?:called|call_count|await_count)\b|\.assert_(?:called|called_once|not_called|awaited|awaited_once)\(\s*\)`)
	calledOften  = units.Pattern(`\.(?:call|await)_count\b.*[^\d.](?:[2-9]|\d{2,})\b`)
	isTrue       = units.Pattern(`\bassertTrue\(|^\s*assert\s+[^=<>]*$`)
)

// onlySubstitutes reports whether all assertions of a test are that substitutes were called, or
// compare with what these were made to return.
func (c *testCase) onlySubstitutes() bool {
	given, called := map[string]bool{}, 0
	for i := c.marks; i < c.to; i++ {
		if m := madeToReturn().FindStringSubmatch(c.lines[i].code); m != nil {
			given[normal(arguments(m[1])[0])] = true
		}
	}
	for _, i := range c.asserts {
		code := c.lines[i].code
		a, b := sides(code)
		switch {
		case calledOften().MatchString(code):
			return false
		case wasCalled().MatchString(code):
			called++
		case !given[a] && !given[b] && !(given["True"] && isTrue().MatchString(code)):
			return false
		}
	}
	return called > 0
}

// aboutSubstitutes finds tests that ask only about substitutes. When they are half of the new ones,
// nothing of the program is tested that they replace; one may be a mistake.
func (f *finder) aboutSubstitutes() {
	var all []*testCase
	for _, c := range f.edited {
		if c.onlySubstitutes() {
			all = append(all, c)
		}
	}
	weakens := len(all) > 1 && 2*len(all) >= len(f.edited)
	for _, c := range all {
		f.add(event.FactTestsVacuous, c.source, c.from, weakens, fmt.Sprintf("the test %s asks only whether substitutes were called, and what they were made to return", c.title()))
	}
}

var (
	installs = units.Pattern(`\bsetattr\(\s*([A-Za-z_]\w*)\s*,\s*(?:["'](\w+)["']|(\w+))\s*,|^\s*([a-z_]\w*)\.(\w+)\s*=\s*[^=]`)
	goesOver = units.Pattern(`\bfor\s+(\w+)`)
)

// installed returns the functions of the program that the file of a test of Python replaces by its
// own, outside of the tests.
func (c *testCase) installed(program map[string]bool) (names []string) {
	if c.ext != ".py" {
		return nil
	}
	loop, given, end := "", map[string]bool{}, 0
	for i, l := range c.lines {
		if l.indent >= 0 && i >= end && nameIn(pythonCase.header(), l.code) != "" {
			end = c.blockEnd(i)
		}
		if l.indent < 0 || i < end || !strings.ContainsAny(l.bare, "=(") {
			continue
		}
		if m := goesOver().FindStringSubmatch(l.bare); m != nil {
			loop, given = m[1], valuesIn(l.code)
		}
		m := installs().FindStringSubmatch(l.code)
		switch {
		case m == nil || m[1] == "self" || m[4] == "self":
		case m[3] != "" && m[3] == loop:
			for name := range given {
				if program[name] {
					names = append(names, m[1]+"."+name)
				}
			}
		case program[m[2]+m[5]]:
			names = append(names, m[1]+m[4]+"."+m[2]+m[5])
		}
	}
	slices.Sort(names)
	return names[:min(len(names), mostTables)]
}

var (
	putsFunction = units.Pattern(`^\s*(\w+)\s*=\s*func\(`)
	forAllTests  = units.Pattern(`^func (?:init\(\)|TestMain\()`)
)

var (
	packageCall = units.Pattern(`\b([a-z]\w*)\.[A-Z]\w*\(`)
	// computing are the packages of Go that reach nothing outside of the program.
	computing = []string{"errors", "fmt", "strings", "bytes", "strconv", "sort", "slices", "maps", "math", "unicode", "utf8", "regexp"}
)

// reachesOut reports whether a block calls what a test has reason to replace: the clock, the disk,
// another machine.
func (s *source) reachesOut(at int) bool {
	for i := at; i < s.blockEnd(at); i++ {
		for _, m := range packageCall().FindAllStringSubmatch(s.lines[i].bare, -1) {
			if !slices.Contains(computing, m[1]) {
				return true
			}
		}
	}
	return false
}

// isNewBlock reports whether the start has no such block in the file.
func (f *finder) isNewBlock(s *source, at int) bool {
	was := find(f.start, s.path)
	if was == nil {
		return true
	}
	codeOf := func(lines []line) string {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(normal(l.code))
		}
		return b.String()
	}
	return !strings.Contains(codeOf(was.lines), codeOf(s.lines[at:s.blockEnd(at)]))
}

// broughtAlong finds a function that tests of Go put in the place of one of the program for all of
// them, and that does more than that.
func (f *finder) broughtAlong() {
	for _, s := range f.claimed {
		for i, l := range s.lines {
			m := putsFunction().FindStringSubmatch(l.bare)
			if s.ext != ".go" || m == nil || !s.isTest(i) {
				continue
			}
			if !forAllTests().MatchString(s.lines[s.back(i, false, atTop)].bare) {
				continue
			}
			own := regexp.MustCompile(`^(?:var )?\s*` + m[1] + `\s*=\s*func\(`)
			for _, program := range f.claimed {
				for at, line := range program.lines {
					isNew := func() bool { return f.isNewBlock(s, i) || f.isNewBlock(program, at) }
					if program.isProgram(at) && own.MatchString(line.bare) && s.blockEnd(i)-i > program.blockEnd(at)-at && !program.reachesOut(at) && isNew() {
						f.add(event.FactTestsVacuous, s, i, true, "the tests bring more than the program has here: "+brief(l.code))
					}
				}
			}
		}
	}
}
