package gaming

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// judging is how many mutants of a part say that nothing looks at it, and seconding how many
	// do where something else in its tests says so, too.
	judging, seconding = 3, 2
)

// A Mutant is a change of the program that was tried, and that builds.
type Mutant struct {
	File    string
	Line    int // from 1
	Noticed bool
}

// A part is a function of the program with mutants, or what is in no function of a file.
type part struct {
	*source
	name           string // "" for what is in no function
	tried, noticed int
}

// functionHeader begins a function, a method or a function of a shell.
var functionHeader = units.Pattern(`^\s*(?:export\s+)?(?:default\s+)?(?:pub\s+)?(?:async\s+)?(?:func(?: \([^)]*\))?|def|function\*?|fn|fun|sub)\s+([A-Za-z_]\w*)|` +
	`^\s*(?:export\s+)?(?:const|let|var)\s+(\w+)\b[^=]*=\s*(?:async\s*)?(?:function\b|\(.*=>|\w+\s*=>|\($)|^([A-Za-z_][\w-]*)\s*\(\)\s*\{|` +
	`^\s+(?:(?:public|private|protected|static|async|get|set|override)\s+)*\*?([A-Za-z_]\w*)\([^;]*\{\s*$`)

var notFunctions = []string{"if", "for", "while", "switch", "catch", "function", "with", "return"}

// functionAt returns the name of the outermost function around a line, or "".
func (s *source) functionAt(at int) (name string) {
	indent := longestLine
	for i := at; i >= 0 && indent > 0; i-- {
		l := s.lines[i]
		if l.indent < 0 || l.indent >= indent {
			continue
		}
		if indent = l.indent; i == at {
			indent++ // a function may begin on the line, or beside it
		}
		if found := nameIn(functionHeader(), l.bare); found != "" && !slices.Contains(notFunctions, found) {
			name = found
		}
	}
	return name
}

// partsTried returns the parts of the program that have mutants, in the order of these.
func (f *finder) partsTried() (all []*part) {
	for _, m := range f.Mutants {
		s := find(f.claimed, m.File)
		if s == nil || m.Line < 1 || m.Line > len(s.lines) {
			continue
		}
		name := s.functionAt(m.Line - 1)
		i := slices.IndexFunc(all, func(p *part) bool { return p.source == s && p.name == name })
		if i < 0 {
			i, all = len(all), append(all, &part{source: s, name: name})
		}
		all[i].tried++
		if m.Noticed {
			all[i].noticed++
		}
	}
	return all
}

// isAbout reports whether a test calls a part of the program by its name, or starts its file.
func (c *testCase) isAbout(p *part) bool { return c.calls(p) || c.startsFile(p) }

// startsFile reports whether a test has the name of the file of a part.
func (c *testCase) startsFile(p *part) bool {
	base := p.path[strings.LastIndex(p.path, "/")+1:]
	for i := c.from; i < c.to; i++ {
		if strings.Contains(c.lines[i].code, base) && !importing().MatchString(c.lines[i].bare) {
			return true
		}
	}
	return false
}

// starts reports whether a test calls a part, or starts its file and says which part of it: such a
// test is not about all that is in the file.
func (c *testCase) starts(p *part) bool {
	what := p.name[strings.LastIndex(p.name, "_")+1:]
	says := func(l line) bool { return slices.Contains(word().FindAllString(l.code, -1), what) }
	return c.calls(p) || c.startsFile(p) && slices.ContainsFunc(c.lines[c.from:c.to], says)
}

// calls reports whether a test has the name of a part.
func (c *testCase) calls(p *part) bool {
	if p.name == "" {
		return false
	}
	for i := c.from; i < c.to; i++ {
		code := c.lines[i].bare
		if isShellFile(c.source) {
			code = c.lines[i].code // a shell computes in its strings
		}
		if slices.Contains(word().FindAllString(logging().ReplaceAllString(code, ""), -1), p.name) {
			return true
		}
	}
	return false
}

// logging calls no function of the program, which may have one of the name.
var logging = units.Pattern(`\bconsole\.\w+`)

// importing is a line that makes functions of another file known.
var importing = units.Pattern(`^\s*(?:import\b|from\b|source\s|\.\s|export\b.*\bfrom\b|\}\s*from\b)|\b(?:require|import)\(`)

// untested reports whether no mutant was noticed of what a test is about: what speaks against the
// test is no chance then.
func (f *finder) untested(c *testCase) bool {
	tried := 0
	for _, p := range f.parts {
		if c.isAbout(p) {
			if tried += p.tried; p.noticed > 0 {
				return false
			}
		}
	}
	return tried >= seconding
}

// onlySkipped reports whether a test that does not run is the only one of a function, and no
// guardrail noticed a mutant of that function.
func (f *finder) onlySkipped(c *testCase) bool {
	return len(c.asserts) > 0 && slices.ContainsFunc(f.parts, func(p *part) bool {
		return p.name != "" && p.noticed == 0 && c.isAbout(p) && !slices.ContainsFunc(f.now, func(other *testCase) bool {
			return other.skipped == "" && other.isAbout(p)
		})
	})
}

// unnoticed finds functions and files whose mutants no guardrail noticed. Their new or changed
// tests are vacuous, whatever they look like; other tests may be good.
func (f *finder) unnoticed() {
	tried, noticed := map[*source]int{}, map[*source]int{}
	for _, p := range f.parts {
		hasFunctions := slices.ContainsFunc(f.parts, func(other *part) bool { return other.source == p.source && other.name != "" })
		if noticed[p.source] += p.noticed; p.name != "" || !hasFunctions { // rows of a table are not all tested
			tried[p.source] += p.tried
		}
	}
	for _, p := range f.parts {
		count, what, isAbout := p.tried, p.name, (*testCase).starts
		if noticed[p.source] == 0 || what == "" {
			count, what, isAbout = tried[p.source], p.path, (*testCase).isAbout
		}
		if p.noticed > 0 || noticed[p.source] > 0 && p.name == "" || count < judging {
			continue
		}
		if at := slices.IndexFunc(f.edited, func(c *testCase) bool { return isAbout(c, p) }); at >= 0 {
			c := f.edited[at]
			f.add(event.FactTestsVacuous, c.source, c.from, true, fmt.Sprintf("the test %s notices none of %d changes of %s", c.title(), count, what))
		}
	}
}
