package gaming

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

var (
	coroutine = units.Pattern(`^\s*async\s+def\b`)
	awaits    = units.Pattern(`\b(?:asyncio_mode|anyio_mode|trio_mode)\b|\bmark\.(?:asyncio|anyio|trio|twisted|tornado)\b|\bpytest_pyfunc_call\b|\b(?:gen_test|inlineCallbacks|async_test)\b`)
	plainCase = units.Pattern(`^\s*class\s+\w+\(\s*(?:unittest\.)?TestCase\s*\)`)
	bareClass = units.Pattern(`^\s*class\s+(\w+)\s*(?:\(\s*(?:object)?\s*\))?\s*:`)
	// goesThrough is a decorator of a generator that is a fixture, or a test that is run.
	goesThrough = units.Pattern(`(?i)fixture|callbacks|gen_test|coroutine|run_loop|contextmanager`)
	yields      = units.Pattern(`\byield\b`)
	// otherPlatform is in the name of a file of Go that is built on few machines.
	otherPlatform = units.Pattern(`_(?:windows|plan9|js|wasip1|wasm|aix|solaris|illumos|android|ios|dragonfly)(?:_\w+)?_test\.go$`)
	fileChoice    = units.Pattern(`\bpython_files\b|\bdiscover\b.*(?:\s-p|--pattern)`)
)

// neverRun finds tests that no runner of Python starts or comes to the end of: coroutines that
// nothing awaits, generators, tests with a name that another one has, and those in files that are
// not collected.
func (f *finder) neverRun(files []*source, cases []*testCase) {
	var how strings.Builder // tests are found and awaited
	for _, guardrail := range f.Guardrails {
		how.WriteString(strings.Join(f.leaves(guardrail, files, deepest), "\n") + "\n")
	}
	commands := how.String()
	for _, s := range files {
		if s.class == fileclass.TestConfig {
			how.WriteString(s.text)
		}
	}
	last := map[string]int{} // the line of the last test with a name in its class
	for _, c := range cases {
		if c.ext == ".py" {
			last[c.path+c.inClass()] = c.from
		}
	}
	collected := map[*source]bool{}
	for _, c := range cases {
		if c.skipped != "" && c.always || c.name == c.path {
			continue
		}
		why := ""
		if _, known := collected[c.source]; !known {
			collected[c.source] = f.collects(c.source, files, commands, how.String())
		}
		switch {
		case !collected[c.source]:
			why = "is in a file that no runner collects"
		case c.ext != ".py":
		case c.inNoCase(files, commands):
			why = "is in a class that no runner collects"
		case c.notAwaited(how.String()):
			why = "is a coroutine that is not awaited"
		case c.generates():
			why = "is a generator, and nothing goes through it"
		case last[c.path+c.inClass()] != c.from:
			why = "has the name of one below, so that it is not there"
		}
		if why != "" {
			c.skipped, c.skipAt, c.always, c.never = why, c.from, true, true
		} else if c.skipped == "" && otherPlatform().MatchString(c.path) {
			c.skipped, c.skipAt = "is in a file for another platform", c.from
		}
	}
}

// inClass is a name with the class that it is in.
func (c *testCase) inClass() string {
	if c.lines[c.from].indent == 0 {
		return "\n" + c.name
	}
	around := c.lines[c.back(c.from, true, func(line) bool { return true })]
	return strings.Join([]string{"", around.code, c.name}, "\n")
}

// inNoCase reports whether a test is in a class that is neither a case itself nor part of one.
func (c *testCase) inNoCase(files []*source, commands string) bool {
	class := strings.Split(c.inClass(), "\n")
	m := bareClass().FindStringSubmatch(class[1])
	if len(class) == 2 || m == nil || strings.Contains(commands, "pytest") && strings.HasPrefix(m[1], "Test") || !runners[1].command().MatchString(commands) {
		return false
	}
	inherits := regexp.MustCompile(`\bclass\s+\w+\(.*\b` + m[1] + `\b|\b` + m[1] + `\(\)|,\s*` + m[1] + `\b`)
	return !slices.ContainsFunc(files, func(s *source) bool { return inherits.MatchString(s.text) })
}

// notAwaited reports whether a test is a coroutine in a class, or of a project, that awaits none.
func (c *testCase) notAwaited(how string) bool {
	isDecorated := c.marks < c.from // by what may await it
	if isDecorated || !coroutine().MatchString(c.lines[c.from].bare) || awaits().MatchString(how) || awaits().MatchString(c.text) {
		return false
	}
	class := strings.Split(c.inClass(), "\n")
	return len(class) == 2 || plainCase().MatchString(class[1])
}

// generates reports whether a test itself has a yield.
func (c *testCase) generates() bool {
	if slices.ContainsFunc(c.lines[c.marks:c.from], func(l line) bool { return goesThrough().MatchString(l.code) }) {
		return false
	}
	for i := c.from + 1; i < c.to; i++ {
		if !yields().MatchString(c.lines[i].bare) {
			continue
		}
		within, inner := i, c.lines[i].indent
		for within > c.from && !(c.lines[within].indent >= 0 && c.lines[within].indent < inner && beginsFunction().MatchString(c.lines[within].bare)) {
			within--
		}
		if within == c.from {
			return true
		}
	}
	return false
}

// collects reports whether a runner comes to a file of tests: by its name, or since a command, a
// setting or another file names it. Where no runner is known, it does.
func (f *finder) collects(s *source, files []*source, commands, how string) bool {
	base := path.Base(s.path)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch s.ext {
	case ".go":
		return !strings.HasPrefix(base, "_") && !strings.HasPrefix(base, ".") && !strings.Contains("/"+s.path, "/testdata/")
	case ".py":
	default:
		return true
	}
	byName := strings.HasPrefix(base, "test") || strings.HasSuffix(stem, "_test") && strings.Contains(commands, "pytest")
	if byName || fileChoice().MatchString(how) || !runners[1].command().MatchString(commands) ||
		strings.Contains(how, stem) || strings.Contains(commands, s.path) {
		return true
	}
	named := regexp.MustCompile(`\b` + regexp.QuoteMeta(stem) + `\b`)
	return slices.ContainsFunc(files, func(other *source) bool {
		return other != s && other.ext == ".py" && slices.ContainsFunc(other.lines, func(l line) bool { return l.indent >= 0 && named.MatchString(l.code) })
	})
}
