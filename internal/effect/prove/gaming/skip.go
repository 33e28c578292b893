package gaming

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

var (
	// skipCall skips the test that it is in.
	skipCall = units.Pattern(`\b\w+\.(?:Skip|SkipNow|Skipf|skipTest)\(|\b(?:this|t|ctx|context)\.skip\(|\bpytest\.(?:skip|xfail)\(|\braise (?:unittest\.)?SkipTest|\bGTEST_SKIP\b|\bmarkTest(?:Skipped|Incomplete)\(|` +
		`\bthrow XCTSkip|\bAssert\.(?:Ignore|Inconclusive|Skip)\(|\bassumeTrue\(\s*false|\bassumeFalse\(\s*true|^\s*(?:skip|pending)\b(?:\s*$|[ (]['"]|\(\))`)
	// skipMark is a decorator or a header that skips a test or a group of them.
	skipMark = units.Pattern(`@(?:unittest\.)?(?:skip|expectedFailure)\b|@pytest\.mark\.(?:skip|xfail)\b|@(?:Disabled|Ignore)\b|#\[ignore|\[Ignore\b|\bSkip\s*=\s*"|@(?:module)?tag :?skip|` +
		`^\s*x(?:it|test|describe|specify|context)\b|\.(?:skip|todo|failing)(?:\.\w+)*\(|\b(?:skip|todo):\s*(?:true|["'])|\bDISABLED_|@Test\(enabled = false|\.disabled\(`)
	// conditionalMark is one that depends on where the test runs.
	conditionalMark = units.Pattern(`\bskip(?:If|Unless|if)\b|\bskipIf\(|\brunIf\(|@(?:Enabled|Disabled)(?:On|If)|\bcfg_attr\b|\bxfail\([^)]*(?:platform|version)`)
	neverMark       = units.Pattern(`\bskip[iI]f\(\s*(?:True|true|1|not False)\b|\bskipUnless\(\s*(?:False|false|0)\b|\brunIf\(\s*false`)
	group           = units.Pattern(`^\s*(?:class\s|[xf]?(?:describe|context)\b|(?:pub )?mod \w+|(?:public |internal |abstract )*class\b|@Suite)`)
	onlyMark        = units.Pattern(`\.only(?:\.\w+)*\(|^\s*f(?:it|describe|context)\(|\bonly:\s*true`)
	earlyReturn     = units.Pattern(`^\s*(?:return|exit|(?:sys|process|os)\.exit\()[\s;()\w]*$`)
	falseCondition  = units.Pattern(`^\s*(?:\}?\s*(?:el)?if\s*\(?\s*(?:false|False|0|True|true|!true)\s*\)?\s*(?:\{|:|;)|if (?:false|true)\b|while\s*\(?\s*(?:false|False)\b)`)
	// hereCondition is a condition on a platform that holds nearly everywhere.
	hereCondition = units.Pattern(`(?:GOOS|platform|system\(\))\W+!=\s*["'](?:windows|win32|plan9|js|Windows)|(?:GOOS|platform|system\(\))\W+==?=?\s*["'](?:linux|Linux)["']`)
	moduleSkip    = units.Pattern(`^pytestmark\s*=.*\b(?:skip|xfail)\b|^raise (?:unittest\.)?SkipTest|^pytest\.skip\(|^\s*__test__\s*=\s*False|^def load_tests\b|^collect_ignore|^\s*@moduletag :?skip|^describe\.skip`)
	buildTag      = units.Pattern(`^//(?:go:build|\s*\+build)\s+(.*)`)
	plainTag      = units.Pattern(`^(?:!?(?:linux|unix|darwin|windows|amd64|arm64|cgo|race|js|wasm|plan9|go1\.\d+|freebsd|aix|solaris|android|ios|purego|appengine)|\|\||&&|[()\s])+$`)
	crateCfg      = units.Pattern(`^\s*#!?\[cfg\((?:any\(\)|feature\s*=|FALSE)`)
)

// skip finds why the test does not run.
func (c *testCase) skip() {
	if c.skippedGroup() {
		return
	}
	for i := c.marks; i <= c.from; i++ {
		code := c.meaning(c.lines[i].code)
		switch {
		case c.lines[i].indent < 0:
		case neverMark().MatchString(code):
			c.skipped, c.skipAt, c.always = "is skipped", i, true
		case conditionalMark().MatchString(code):
			c.skipped, c.skipAt = "is skipped under a condition", i
		case skipMark().MatchString(code) && c.name != c.path:
			c.skipped, c.skipAt, c.always = "is skipped", i, true
		}
	}
	if c.skipped == "" {
		c.skippedInBody()
	}
}

// meaning is a decorator as the file says it: what its name was given, or what it was imported as.
func (s *source) meaning(code string) string {
	m := decorator().FindStringSubmatch(code)
	for i := 0; m != nil && i < len(s.lines); i++ {
		if given := givenName().FindStringSubmatch(s.lines[i].code); given != nil && given[1]+given[4] == m[1] {
			return "@" + given[2] + given[3]
		}
	}
	return code
}

var (
	decorator = units.Pattern(`^\s*@(\w+)`)
	givenName = units.Pattern(`^(\w+)\s*=\s*(\S.*)|^from .* import .*?\b(\w+) as (\w+)`)
)

// skippedInBody finds a skip, a return before the first assertion, and a condition that never holds
// around all assertions.
func (c *testCase) skippedInBody() {
	first, script := -1, c.name == c.path
	for i := c.from; i < c.to; i++ {
		l := c.lines[i]
		if l.indent < 0 || i == c.from && !script {
			if i == c.from && skipCall().MatchString(l.code) {
				c.skipped, c.skipAt, c.always = "is skipped", i, true
				return
			}
			continue
		}
		if first < 0 {
			first = i
		}
		atTop := l.indent <= c.lines[first].indent
		switch {
		case skipCall().MatchString(l.bare) || skipCall().MatchString(l.code) && !assertion().MatchString(l.bare):
			c.skipped, c.skipAt, c.always = "is skipped", i, atTop || c.certain(i)
			if !c.always {
				c.skipped, c.condition = "is skipped under a condition", c.around(i)
			}
			return
		case (oneLineReturn().MatchString(l.code) || earlyReturn().MatchString(l.bare) && envName().MatchString(c.around(i))) && c.assertsOnlyAfter(i):
			c.skipped, c.skipAt, c.condition = "returns under a condition before its first assertion", i, c.around(i)
			return
		case earlyReturn().MatchString(l.bare) && (atTop || c.certain(i)) && c.assertsOnlyAfter(i):
			c.skipped, c.skipAt, c.always = "returns before its first assertion", i, true
			return
		case falseCondition().MatchString(l.bare) && strings.Contains(strings.ToLower(l.bare), "false") && c.assertsOnlyAfter(i):
			c.skipped, c.skipAt, c.always = "has its assertions under a condition that never holds", i, true
			return
		}
	}
}

// assertsOnlyAfter reports whether the first assertion is after a line; what a shell is set to is
// none.
func (c *testCase) assertsOnlyAfter(at int) bool {
	for _, i := range c.asserts {
		if !strings.HasPrefix(strings.TrimSpace(c.lines[i].code), "set ") {
			return i > at
		}
	}
	return false
}

// certain reports whether the condition around a line holds nearly everywhere.
func (c *testCase) certain(at int) bool {
	code := c.around(at)
	return falseCondition().MatchString(code) || hereCondition().MatchString(code)
}

// around returns the condition around a line, which may be on it.
func (c *testCase) around(at int) string {
	for i := at; i > c.from || i == c.from && c.name == c.path; i-- {
		l := c.lines[i]
		if l.indent < 0 || i < at && l.indent >= c.lines[at].indent || i == at && !strings.Contains(l.bare, "if") {
			if i == 0 {
				break
			}
			continue
		}
		return l.code
	}
	return ""
}

var (
	oneLineReturn = units.Pattern(`^\s*if\b.*\b(?:env\b|environ|[gG]et[eE]nv).*\breturn\s*;?\s*\}?$`)
	envName       = units.Pattern(`(?:process\.env\.|environ(?:\.get)?[\[(]\s*["']|[gG]et[eE]nv\(\s*["']|\$\{?)([A-Z][A-Z0-9_]{2,})`)
	isUnset       = units.Pattern(`!\s*process\.env|\bnot\s+os\.|==\s*""|is None|===?\s*undefined|\s-z\s|!==?\s*["'](?:1|true|yes|on)`)
)

// conditions decides on the conditions of skips that depend on how the guardrails start the tests:
// a flag, and variables that nothing sets.
func (f *finder) conditions() {
	var commands strings.Builder
	for _, guardrail := range f.Guardrails {
		commands.WriteString(guardrail + "\n" + strings.Join(f.leaves(guardrail, f.claimed, deepest), "\n") + "\n")
	}
	for _, c := range f.now {
		if c.skipped == "" || c.always || c.condition == "" {
			continue
		}
		m := envName().FindStringSubmatch(c.condition)
		switch {
		case strings.Contains(c.condition, "testing.Short()"):
			c.always = strings.Contains(commands.String(), "-short")
		case m != nil && isUnset().MatchString(c.condition):
			c.always = !strings.Contains(commands.String(), m[1])
		}
	}
}

// skipsAll says why no test of the file runs, if that is so.
func (s *source) skipsAll() (why string, at int) {
	for i, l := range s.lines {
		if l.indent >= 0 && !s.addsTests(i) && (s.ext != ".go" && moduleSkip().MatchString(l.code) || s.ext == ".rs" && crateCfg().MatchString(l.code)) {
			return "is skipped with all tests of its file", i
		}
	}
	if s.ext != ".go" {
		return "", 0
	}
	for i, text := range strings.SplitN(s.text, "\n", 20) {
		if m := buildTag().FindStringSubmatch(text); m != nil && !plainTag().MatchString(m[1]) {
			return "is only built with a tag", i
		}
		if strings.HasPrefix(text, "package ") {
			break
		}
	}
	return "", 0
}

var loadsTests = units.Pattern(`^def load_tests\(\s*\w+,\s*(\w+)`)

// addsTests reports whether a hook begins on a line that gives back the tests that it is given,
// with more of them.
func (s *source) addsTests(at int) bool {
	m := loadsTests().FindStringSubmatch(s.lines[at].bare)
	if m == nil {
		return false
	}
	adds, gives := false, false
	for _, l := range s.lines[at+1 : s.blockEnd(at)] {
		adds = adds || strings.Contains(l.bare, m[1]+".addTest")
		gives = gives || strings.TrimSpace(l.bare) == "return "+m[1]
		if assigned().MatchString(l.bare) && strings.HasPrefix(strings.TrimSpace(l.bare), m[1]+" ") {
			return false
		}
	}
	return adds && gives
}

// skippedGroup finds what skips the class or group that a test is in.
func (c *testCase) skippedGroup() bool {
	inner := c.lines[c.from].indent
	for i := c.from - 1; i >= 0 && inner > 0; i-- {
		l := c.lines[i]
		if l.indent < 0 || l.indent >= inner {
			continue
		}
		inner = l.indent
		if !group().MatchString(l.code) {
			continue
		}
		for j := i; j >= 0; j-- {
			code := strings.TrimSpace(c.lines[j].code)
			if j < i && !strings.HasPrefix(code, "@") && !strings.HasPrefix(code, "#[") && !strings.HasPrefix(code, "[") {
				break
			}
			if neverMark().MatchString(code) || skipMark().MatchString(code) && !conditionalMark().MatchString(code) {
				c.skipped, c.skipAt, c.always = "is skipped with its group", j, true
				return true
			}
		}
	}
	return false
}

// only marks the tests that do not run since another one in the file is the only one.
func (s *source) only(cases []*testCase) []*testCase {
	at := -1
	for i, l := range s.lines {
		if l.indent >= 0 && dialects[s.ext] == jsCase && s.class == fileclass.Test && onlyMark().MatchString(l.bare) {
			at = i
			break
		}
	}
	if at < 0 {
		return cases
	}
	end := s.blockEnd(at)
	for _, c := range cases {
		if (c.from < at || c.from >= end) && !onlyMark().MatchString(s.lines[c.from].bare) && c.skipped == "" {
			c.skipped, c.skipAt, c.always = "does not run, as another test is the only one", at, true
		}
	}
	return cases
}
