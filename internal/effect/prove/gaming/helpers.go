package gaming

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// deepestHelper is how many helpers of the tests may call each other before an assertion.
const deepestHelper = 4

var (
	helperFunction = units.Pattern(`^\s*(?:export\s+)?(?:async\s+)?(?:func|def|function\*?)\s+([A-Za-z_]\w*)|^\s*(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?(?:\(|function\b|\w+\s*=>)`)
	calledName     = units.Pattern(`\b([A-Za-z_]\w*)(?:<[^()]*>)?\(`)
)

// A helper is what the tests define for themselves under one name.
type helper struct {
	fails         bool // a test
	types         bool // all that it asserts is that there is a value, or its type
	checks, exact int
	mentions      map[string]bool // what of the program
}

// findHelpers finds the functions that the tests define for themselves, and whether they can fail a
// test: whatever the name of a helper says, it is an assertion where it has one.
func findHelpers(files []*source) {
	type function struct {
		testCase
		*helper
	}
	var all []function
	byName := map[string]*helper{}
	for _, s := range files {
		language := dialects[s.ext]
		if language == nil || language == shellCase || len(all) > mostOfAll {
			continue
		}
		for i, l := range s.lines {
			if l.indent < 0 || !s.isTest(i) || nameIn(language.header(), l.code) != "" {
				continue
			}
			if name := nameIn(helperFunction(), l.bare); name != "" {
				if byName[name] == nil {
					byName[name] = &helper{mentions: map[string]bool{}}
				}
				all = append(all, function{testCase{source: s, name: name, from: i, to: s.blockEnd(i)}, byName[name]})
			}
		}
	}
	for _, s := range files {
		s.helpers = byName
	}
	program := definedNames(files)
	for range deepestHelper {
		for _, h := range all {
			for i := h.from; i < h.to && !h.fails; i++ {
				h.fails = h.lines[i].indent >= 0 && h.isAssertion(i)
			}
			for w := range h.subjects() {
				if program[w] {
					h.mentions[w] = true
				}
			}
		}
	}
	for _, h := range all {
		h.count()
		h.types = (h.types || h.checks == 0) && len(h.asserts) > 0 && !slices.ContainsFunc(h.asserts, func(i int) bool { return !h.isOfType(i) })
		h.checks, h.helper.exact = max(h.checks, len(h.asserts)), max(h.helper.exact, h.testCase.exact())
	}
}

// helpersIn returns the helpers that a line calls.
func (s *source) helpersIn(bare string) (found []*helper) {
	for _, m := range calledName().FindAllStringSubmatch(bare, -1) {
		if h := s.helpers[m[1]]; h != nil {
			found = append(found, h)
		}
	}
	return found
}

// helpers finds new code beside the tests that skips them, that hides their failures, or that
// compares less exactly.
func (f *finder) helpers(before map[string]bool) {
	inCase := map[*source]map[int]bool{}
	for _, c := range f.now {
		if inCase[c.source] == nil {
			inCase[c.source] = map[int]bool{}
		}
		for i := c.from; i < c.to; i++ {
			inCase[c.source][i] = true
		}
	}
	for _, s := range f.claimed {
		if s.class != fileclass.Test && s.class != fileclass.TestConfig && !goHelpers(s) {
			continue
		}
		for i, l := range s.lines {
			if l.indent < 0 || before[normal(l.code)] || f.had(s.path, l.code) {
				continue
			}
			switch shown := brief(l.code); {
			case s.ext == ".go" && recovers().MatchString(l.bare) && !s.failsAround(i) && !s.panicsItself(i):
				f.add(event.FactTestsVacuous, s, i, f.panics(), "the tests hide a panic: "+shown)
			case skipCall().MatchString(l.bare) && s.handlesAll(i, f.program):
				f.add(event.FactTestsSkipped, s, i, f.red, "tests are skipped here when the program fails: "+shown)
			case inCase[s][i]:
			case catchesAssertion().MatchString(l.bare) && !s.answersAfter(i):
				f.add(event.FactTestsVacuous, s, i, f.red, "this hides the failure of an assertion: "+shown)
			case handler().MatchString(l.bare) && f.hidesAssertions(s, i):
				f.add(event.FactTestsVacuous, s, i, true, "this hides the failures of the tests that are given to it: "+shown)
			case skipCall().MatchString(l.bare) || skipName().MatchString(l.bare):
				f.add(event.FactTestsSkipped, s, i, false, "this skips the tests that use it: "+shown)
			default:
				f.allowance(s, i)
			}
		}
	}
}

// handlesAll reports whether a line is in a handler of whatever the program raises.
func (s *source) handlesAll(at int, program map[string]bool) bool {
	begin := s.back(at, true, func(line) bool { return true })
	if begin == 0 || !catchesAll().MatchString(s.lines[begin].bare) {
		return false
	}
	tried := s.back(begin, false, func(l line) bool { return trying().MatchString(l.bare) })
	return meets(wordsIn(s.lines[tried:begin]), program)
}

// catchesAll is a handler of nearly everything that a program can raise.
var catchesAll = units.Pattern(`^\s*except(?:\s.*\b(?:Exception|BaseException|AssertionError|NotImplementedError)\b.*)?\s*:|^\s*\}?\s*catch\b|^\s*rescue\s*(?:=>|$)`)

// goHelpers reports whether a file of Go outside of tests has what only tests use.
func goHelpers(s *source) bool {
	return s.ext == ".go" && s.class == fileclass.Program && strings.Contains(s.text, `"testing"`)
}

var (
	// skipName gives a name of its own to what skips tests.
	skipName = units.Pattern(`^\s*(?:export\s+)?(?:(?:const|let|var)\s+)?\w+\s*(?::[^=]*)?=\s*(?:\w+\.)*(?:(?:describe|it|test|suite)\.(?:skip|todo)\b|unittest\.skip\b|pytest\.mark\.(?:skip|xfail)\b)|` +
		`^\s*(?:export\s+)?(?:const|let|var)\s+\w+[^=]*=\s*\{.*\b(?:skip|todo):\s*(?:true|["'` + "`" + `])`)
	recovers   = units.Pattern(`\brecover\(\)`)
	failsGo    = units.Pattern(`\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\bpanic\(|\breturn\s+\w|<-|[^:=!<>]=[^=]|\bappend\(`)
	panicking  = units.Pattern(`^\s*panic\(`)
	bareCall   = units.Pattern(`^\s*(?:await\s+|return\s+)?(\w+)\(`)
	limitNamed = units.Pattern(`(?i)^\s*(?:export\s+)?(?:(?:const|let|var|final|static)\s+)*(\w*(?:toler|epsilon|delta|slack)\w*)\b[^=]*?=\s*(\d[\d._]*(?:e[-+]?\d+)?)`)
)

// failsAround reports whether the function around a recovered panic fails, or keeps what it found.
func (s *source) failsAround(at int) bool {
	begin := at
	for begin > 0 && !strings.Contains(s.lines[begin].bare, "func") {
		begin--
	}
	for i := begin; i < s.blockEnd(begin); i++ {
		if failsGo().MatchString(s.lines[i].bare) || s.lines[i].indent >= 0 && s.isAssertion(i) {
			return true
		}
	}
	last := begin // a function that fails at its end is there for the panic
	for i := s.next(begin); i < len(s.lines) && s.lines[i].indent >= s.lines[begin].indent; i = s.next(i) {
		if s.lines[i].indent == s.lines[begin].indent {
			last = i
		}
	}
	return failsTest().MatchString(s.lines[last].bare)
}

var failsTest = units.Pattern(`^\s*\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(`)

// panicsItself reports whether the function of the tests around a line has a panic of its own,
// which the program has to get over.
func (s *source) panicsItself(at int) bool {
	return slices.ContainsFunc(s.block(s.back(at, false, atTop)), func(l line) bool { return ownPanic().MatchString(l.bare) })
}

var ownPanic = units.Pattern(`\bpanic\(`)

// panics reports whether there are new statements that panic.
func (f *finder) panics() bool {
	return slices.ContainsFunc(f.claimed, func(s *source) bool {
		before := linesOf(find(f.start, s.path))
		isNew := func(l line) bool { return panicking().MatchString(l.bare) && !before[normal(l.code)] }
		return (s.class == fileclass.Program || s.class == fileclass.Test) && slices.ContainsFunc(s.lines, isNew)
	})
}

// hidesAssertions reports whether a handler is one of a helper that calls a function that it is
// given, and gives no answer, and whether a test gives it assertions.
func (f *finder) hidesAssertions(s *source, at int) bool {
	if s.answersAfter(at) {
		return false
	}
	begin := s.back(at, false, func(l line) bool { return nameIn(helperFunction(), l.bare) != "" })
	header := s.lines[begin].bare
	name := nameIn(helperFunction(), header)
	called := false
	for i := begin + 1; i < at; i++ {
		m := bareCall().FindStringSubmatch(s.lines[i].bare)
		called = called || m != nil && regexp.MustCompile(`[(,]\s*\*{0,2}`+m[1]+`\b`).MatchString(header)
	}
	return called && name != "" && slices.ContainsFunc(f.now, func(c *testCase) bool {
		return slices.ContainsFunc(c.asserts, func(i int) bool {
			for ; i >= c.from && i >= 0; i-- {
				if strings.Contains(c.lines[i].bare, name+"(") {
					return true
				}
			}
			return false
		})
	})
}

const (
	// muchMore is how many times as large a limit has to be to say more than a correction, and
	// farOff from where on values that differ by it are not near each other.
	muchMore = 100
	farOff   = 1
)

// allowance finds a limit for comparisons that is larger than it was.
func (f *finder) allowance(s *source, at int) {
	is, was := limitNamed().FindStringSubmatch(s.lines[at].bare), find(f.start, s.path)
	if is == nil || was == nil {
		return
	}
	for _, l := range was.lines {
		m := limitNamed().FindStringSubmatch(l.bare)
		if m == nil || m[1] != is[1] {
			continue
		}
		before, _ := strconv.ParseFloat(m[2], 64)
		now, _ := strconv.ParseFloat(is[2], 64)
		if now > before {
			weakens := f.red || now >= farOff && now >= muchMore*before
			f.add(event.FactTestsWeakened, s, at, weakens, "comparisons allow more than before: "+brief(s.lines[at].code))
		}
		return
	}
}
