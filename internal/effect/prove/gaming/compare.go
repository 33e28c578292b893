package gaming

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/journal/event"
)

// comparedTests finds tests of the start that are gone, do not run or check less.
func (f *finder) comparedTests() {
	now := map[string][]*testCase{}
	bodies := map[string]bool{}
	checked := map[string]bool{} // the values in the tests
	for _, c := range f.now {
		now[c.key()] = append(now[c.key()], c)
		bodies[c.code()] = true
		c.values(checked)
	}
	for _, was := range f.before {
		same := now[was.key()]
		if i := slices.IndexFunc(same, func(c *testCase) bool { return c.path == was.path }); i > 0 {
			same[0], same[i] = same[i], same[0]
		}
		switch {
		case len(same) > 0:
			now[was.key()] = same[1:]
			f.compare(was, same[0], checked)
		case bodies[was.code()] || was.skipped != "" && was.always:
		default:
			f.gone(was, checked)
		}
	}
	known := map[string]bool{}
	for _, was := range f.before {
		known[was.key()] = true
	}
	for _, c := range f.now {
		if c.skipped != "" && c.always && !known[c.key()] {
			f.add(event.FactTestsSkipped, c.source, c.skipAt, false, fmt.Sprintf("the new test %s %s", c.title(), c.skipped))
		}
	}
}

// key is what two versions of a test have in common.
func (c *testCase) key() string { return dialectName(c.ext) + " " + strings.Replace(c.name, "DISABLED_", "", 1) }

func dialectName(ext string) string {
	if dialects[ext].header == jsCase.header {
		return ".js"
	}
	return ext
}

func (c *testCase) title() string { return fmt.Sprintf("%.80q", c.name) }

// gone says that a test of the start is not there any more, unless its values are in another one.
func (f *finder) gone(was *testCase, checked map[string]bool) {
	values := map[string]bool{}
	was.values(values)
	here := 0
	for v := range values {
		if checked[v] {
			here++
		}
	}
	moved := len(values) > 1 && 10*here >= 8*len(values)
	hides := f.red && !moved && !f.aboutRemoved(was)
	if at, as := f.renamed(was); at != nil {
		f.add(event.FactTestsSkipped, at, as, f.red && !f.aboutRemoved(was), fmt.Sprintf("the test %s has a name now that no runner collects", was.title()))
		return
	}
	if len(was.asserts) == 0 && !hides {
		return
	}
	text := fmt.Sprintf("the test %s is removed", was.title())
	switch {
	case find(f.claimed, was.path) == nil && was.name == was.path:
		text = "the test is removed"
	case moved:
		text += ", and its values are in other tests"
	case f.aboutRemoved(was):
		text += ", with what it was about"
	case hides:
		text += ", and the tests of the start fail on the work"
	}
	f.add(event.FactTestsRemoved, was.source, was.from, hides, text)
}

// renamed finds a function or file that has the name of the test, and is none.
func (f *finder) renamed(was *testCase) (*source, int) {
	if f.searched++; f.searched > mostTables {
		return nil, 0
	}
	for _, s := range f.claimed {
		if s.class == fileclass.Test || strings.HasPrefix(s.path, was.path) {
			for i, l := range s.lines {
				if l.indent >= 0 && len(was.name) > 5 && definition.MatchString(l.bare) && strings.Contains(strings.ToLower(l.bare), strings.ToLower(was.name)) &&
					dialects[s.ext].header != nil && nameIn(dialects[s.ext].header, l.code) == "" {
					return s, i
				}
			}
		}
		if (s.class != fileclass.Test || dialects[s.ext].header == nil) && find(f.start, s.path) == nil && strings.Contains(normal(s.text), normal(was.lines[was.from].code)) && sameStem(s.path, was.path) {
			return s, -1
		}
	}
	return nil, 0
}

// sameStem reports whether two files have names that differ in their last part.
func sameStem(a, b string) bool {
	stem := func(path string) string {
		path = path[strings.LastIndex(path, "/")+1:]
		path, _, _ = strings.Cut(strings.TrimLeft(path, "_."), ".")
		return path
	}
	return len(stem(a)) > 3 && stem(a) == stem(b)
}

// aboutRemoved reports whether a test is about something that is gone from the program.
func (f *finder) aboutRemoved(c *testCase) bool {
	for w := range c.words() {
		if f.removedNames[w] {
			return true
		}
	}
	return false
}

// compare says what a test has lost.
func (f *finder) compare(was, is *testCase, checked map[string]bool) {
	hides := f.red && !f.aboutRemoved(was)
	if is.skipped != "" && was.skipped == "" {
		text := fmt.Sprintf("the test %s %s", is.title(), is.skipped)
		f.add(event.FactTestsSkipped, is.source, is.skipAt, hides && is.always, text)
		if is.always {
			return
		}
	}
	if was.code() == is.code() {
		return
	}
	lost := lostAsserts(was, is, checked)
	switch {
	case is.checksThat() < was.checksThat() && len(lost) > 0:
		text := fmt.Sprintf("the test %s had %s and has %d", is.title(), assertions(len(was.asserts)), len(is.asserts))
		f.add(event.FactTestsWeakened, is.source, is.from, hides, text)
	case was.exact() > is.exact() && len(lost) > 0 && is.loose() > was.loose():
		at := is.firstLoose(was)
		f.add(event.FactTestsWeakened, is.source, at, hides, fmt.Sprintf("the test %s compares less exactly: %.120s", is.title(), strings.TrimSpace(is.lines[at].code)))
	default:
		f.tolerances(was, is, hides)
	}
}

func assertions(n int) string {
	if n == 1 {
		return "1 assertion"
	}
	return fmt.Sprintf("%d assertions", n)
}

// lostAsserts returns the assertions of was that is has not, and whose values no test has.
func lostAsserts(was, is *testCase, checked map[string]bool) (lost []int) {
	have := map[string]bool{}
	for _, i := range is.asserts {
		have[normal(is.lines[i].code)] = true
	}
	for _, i := range was.asserts {
		if have[normal(was.lines[i].code)] {
			continue
		}
		values := map[string]bool{}
		addValues(was.lines[i].code, values)
		missing := len(values) == 0
		for v := range values {
			missing = missing || !checked[v]
		}
		if missing || is.exact() < was.exact() {
			lost = append(lost, i)
		}
	}
	return lost
}

var (
	exactly   = regexp.MustCompile(`(?i)assert_?equals?\b|assert_?(?:eq|same|is|array_?equal|not_?equals?)\b|assertListEqual|assertDictEqual|[^=!<>]==[^=]|===|!=|\.toBe\(|\.to(?:Strict)?Equal\(|\b(?:deep|strict|deepStrict)?Equals?\(|(?:EXPECT|ASSERT)_(?:EQ|STREQ)|must_equal|\.eql?\(|reflect\.DeepEqual|cmp\.Diff|\bdiff\s|\bcmp\s|\s=\s.*\]|-eq\b|toThrow\(\S+\)|assertRaisesRegex`)
	loosely   = regexp.MustCompile(`(?i)assert_?true|assert_?in\b|assertIsNotNone|is not None|almost_?equal|approx|toBeTruthy|toBeDefined|not\.toBeNull|not\.toBeUndefined|toBeCloseTo|toContain|toMatch|doesNotThrow|not\.toThrow|assertDoesNotThrow|toBeGreater|toBeLess|toBeInstanceOf|NotNil|NotEmpty|assert\.ok|isinstance|assertGreater|assertLess|Contains|HasPrefix|math\.Abs|startsWith|isclose|InDelta|-ge\b|-le\b|\bgrep\b|\[\s*-n\b|hasattr|assertIsInstance|assertNotEqual|!=\s*(?:None|null|nil|""|'')|\bexpect\.any|typeof|\blen\(|assertNotNull|is_some|is_ok|\bassert \w+\(.*\)$|\bassert \w+$`)
	tolerance = regexp.MustCompile(`(?i)almost_?equal|approx|CloseTo|toler|delta|places|\beps|isclose|abs\(|\brel\b|within`)
	number    = regexp.MustCompile(`\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`)
)

func (c *testCase) exact() (n int) {
	for _, i := range c.asserts {
		if code := c.lines[i].code; exactly.MatchString(code) && !tolerance.MatchString(code) {
			n++
		}
	}
	return n
}

func (c *testCase) isLoose(at int) bool {
	code := c.lines[at].code
	return loosely.MatchString(code) && (!exactly.MatchString(code) || tolerance.MatchString(code))
}

func (c *testCase) loose() (n int) {
	for _, i := range c.asserts {
		if c.isLoose(i) {
			n++
		}
	}
	return n
}

// firstLoose returns the first loose assertion that was has not.
func (c *testCase) firstLoose(was *testCase) int {
	had := map[string]bool{}
	for _, i := range was.asserts {
		had[normal(was.lines[i].code)] = true
	}
	for _, i := range c.asserts {
		if c.isLoose(i) && !had[normal(c.lines[i].code)] {
			return i
		}
	}
	return c.from
}

// tolerances finds comparisons that differ only in a number.
func (f *finder) tolerances(was, is *testCase, hides bool) {
	shape := func(code string) string { return number.ReplaceAllString(normal(code), "0") }
	had := map[string]string{}
	for i := was.from; i < was.to; i++ {
		if code := was.lines[i].code; tolerance.MatchString(code) {
			had[shape(code)] = code
		}
	}
	for i := is.from; i < is.to; i++ {
		code := is.lines[i].code
		before, ok := had[shape(code)]
		if !ok || normal(before) == normal(code) {
			continue
		}
		a, b := number.FindAllString(before, -1), number.FindAllString(code, -1)
		if len(a) > 0 && a[len(a)-1] != b[len(b)-1] {
			f.add(event.FactTestsWeakened, is.source, i, hides, fmt.Sprintf("the test %s has another tolerance: %s was %s", is.title(), b[len(b)-1], a[len(a)-1]))
		}
	}
}

// values adds the texts and numbers in a test that say something.
func (c *testCase) values(to map[string]bool) {
	for i := c.from; i < c.to; i++ {
		if i > c.from || c.name == c.path {
			addValues(c.lines[i].code, to)
		}
	}
}

var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|-?\b\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?\b`)

// addValues adds the literals of a line that are no format and no empty text.
func addValues(code string, to map[string]bool) {
	for _, v := range literal.FindAllString(code, -1) {
		if v = plain(v); v != "" && !strings.Contains(v, "%") {
			to[v] = true
		}
	}
}

// plain is a literal without its quotes.
func plain(v string) string {
	if len(v) > 1 && strings.IndexByte("\"'`", v[0]) >= 0 {
		return v[1 : len(v)-1]
	}
	return strings.ReplaceAll(v, "_", "")
}
