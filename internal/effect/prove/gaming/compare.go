package gaming

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
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
			f.add(event.FactTestsSkipped, c.source, c.skipAt, f.untested(c) || f.onlySkipped(c), fmt.Sprintf("the new test %s %s", c.title(), c.skipped))
		}
	}
}

// key is what two versions of a test have in common.
func (c *testCase) key() string {
	return dialectName(c.ext) + " " + strings.Replace(c.name, "DISABLED_", "", 1)
}

func dialectName(ext string) string {
	if dialects[ext] == jsCase {
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
	hides := f.red && !moved && f.coveredLess(was)
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

// renamed finds a function that has the name and the code of the test, and is none.
func (f *finder) renamed(was *testCase) (*source, int) {
	if f.searched++; f.searched > mostTables {
		return nil, 0
	}
	base := strings.TrimLeft(strings.TrimPrefix(strings.ToLower(was.name), "test"), "_")
	begins := normal(was.lines[min(was.next(was.from), len(was.lines)-1)].code)
	for _, s := range f.claimed {
		language := dialects[s.ext]
		if s.class != fileclass.Test || language == nil {
			continue
		}
		for i, l := range s.lines {
			if l.indent >= 0 && len(base) > 4 && strings.Contains(strings.ToLower(l.bare), base) && definition().MatchString(l.bare) &&
				!f.had(s.path, l.code) && nameIn(language.header(), l.code) == "" && s.next(i) < len(s.lines) && normal(s.lines[s.next(i)].code) == begins {
				return s, i
			}
		}
	}
	return nil, 0
}

// had reports whether a file of the start has a line.
func (f *finder) had(path, code string) bool {
	s := find(f.start, path)
	return s != nil && strings.Contains(s.text, code)
}

// A weight is how much tests check.
type weight struct {
	checks, exact int
	values        map[string]bool
}

// weights returns how much the tests that run check, by the names of the program that they mention,
// and in all.
func weights(cases []*testCase, names map[string]bool) map[string]weight {
	all := map[string]weight{}
	for _, c := range cases {
		if c.skipped != "" && c.always || len(c.asserts) == 0 {
			continue
		}
		words, values := c.subjects(), map[string]bool{}
		words[""] = true
		c.values(values)
		checks, exact := c.weight()
		for w := range words {
			if w == "" || names[w] {
				sum := all[w]
				sum.checks += checks
				if sum.values == nil {
					sum.values = map[string]bool{}
				}
				maps.Copy(sum.values, values)
				sum.exact += exact
				all[w] = sum
			}
		}
	}
	return all
}

// weight is how many checks the test makes, and how many of them are of a whole value. A call of a
// helper is the checks that the helper makes.
func (c *testCase) weight() (checks, exact int) {
	checks, exact = c.checksThat(), c.exact()
	for _, i := range c.asserts {
		for _, h := range c.helpersIn(c.lines[i].bare) {
			checks, exact = checks+max(h.checks-1, 0), exact+h.exact
		}
	}
	return checks, max(exact, min(len(c.rows), checks))
}

// coveredLess reports whether something that a test checks, and that the program still has, is
// checked less than at the start.
func (f *finder) coveredLess(was *testCase) bool {
	if f.aboutRemoved(was) {
		return false
	}
	about := []string{}
	for w := range was.subjects() {
		if _, ok := f.weightBefore[w]; ok {
			about = append(about, w)
		}
	}
	if len(about) == 0 {
		about = []string{""}
	}
	return slices.ContainsFunc(about, func(w string) bool {
		a, b := f.weightBefore[w], f.weightNow[w]
		return (b.checks < a.checks || b.exact < a.exact) && !replaced(a.values, b.values)
	})
}

// replaced reports whether tests have at least as many values as before: they check
// something else then.
func replaced(before, now map[string]bool) bool { return len(now) >= len(before) }

// aboutRemoved reports whether a test is about something that is gone from the program.
func (f *finder) aboutRemoved(c *testCase) bool {
	return meets(c.words(), f.removedNames)
}

// compare says what a test has lost.
func (f *finder) compare(was, is *testCase, checked map[string]bool) {
	hides := f.red && !f.aboutRemoved(was)
	if is.skipped != "" && was.skipped == "" {
		text := fmt.Sprintf("the test %s %s", is.title(), is.skipped)
		f.add(event.FactTestsSkipped, is.source, is.skipAt, hides && (is.always || otherPlatform().MatchString(is.path)), text)
		if is.always {
			return
		}
	}
	if was.code() == is.code() {
		return
	}
	lost, less := lostAsserts(was, is, checked), is.lessOf(was)
	switch {
	case is.checksThat() < was.checksThat() && len(lost) > 0:
		text := fmt.Sprintf("the test %s had %s and has %d", is.title(), units.Quantity(was.checksThat(), "check"), is.checksThat())
		f.add(event.FactTestsWeakened, is.source, is.from, hides && (is.checksThat() == 0 || f.coveredLess(was)), text)
	case was.exact() > is.exact() && len(lost) > 0 && is.loose() > was.loose():
		at := is.firstLoose(was)
		f.add(event.FactTestsWeakened, is.source, at, hides, fmt.Sprintf("the test %s compares less exactly: %s", is.title(), brief(is.assertCode(at))))
	case less >= 0:
		f.add(event.FactTestsWeakened, is.source, less, hides, fmt.Sprintf("the test %s compares less than before: %s", is.title(), brief(is.lines[less].code)))
	default:
		f.tolerances(was, is, hides)
	}
	if at := is.newReturn(was); at >= 0 && is.skipped == "" {
		text := fmt.Sprintf("the test %s returns before an assertion, as it did not: %s", is.title(), brief(is.lines[at].code))
		f.add(event.FactTestsSkipped, is.source, at, hides, text)
	}
}

var bareReturn = units.Pattern(`^\s*(?:(?:if|unless)\b.*[\s{;:)])?return\s*;?\s*\}?$`)

// newReturn returns the first line that ends the test before an assertion, if was has none, or -1.
func (c *testCase) newReturn(was *testCase) int {
	for i := was.from + 1; i < was.to; i++ {
		if bareReturn().MatchString(was.lines[i].bare) {
			return -1
		}
	}
	for i := c.from + 1; i < c.to && c.name != c.path; i++ {
		if bareReturn().MatchString(c.lines[i].bare) && len(c.asserts) > 0 && c.asserts[len(c.asserts)-1] > i {
			return i
		}
	}
	return -1
}

// lostAsserts returns the assertions of was that is has not, and whose values no test has.
func lostAsserts(was, is *testCase, checked map[string]bool) (lost []int) {
	have := map[string]bool{}
	for _, i := range slices.Concat(is.asserts, is.rows) {
		have[normal(is.assertCode(i))] = true
	}
	for _, i := range slices.Concat(was.asserts, was.rows) {
		if have[normal(was.assertCode(i))] {
			continue
		}
		values := valuesIn(was.assertCode(i))
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
	exactly   = units.Pattern(`(?i)assert_?equals?\b|assert_?(?:eq|same|is|array_?equal|not_?equals?)\b|assertListEqual|assertDictEqual|[^=!<>]==[^=]|===|!=|\.toBe\(|\.to(?:Strict)?Equal\(|\b(?:deep|strict|deepStrict)?Equals?\(|(?:EXPECT|ASSERT)_(?:EQ|STREQ)|must_equal|\.eql?\(|reflect\.DeepEqual|cmp\.Diff|\btest\s.*\s=\s|\bdiff\s|\bcmp\s|\s=\s.*\]|-eq\b|toThrow\(\S+\)|assertRaisesRegex|raises\(.*\bmatch\s*=`)
	loosely   = units.Pattern(`(?i)assert_?true|assert_?in\b|assertIsNotNone|is not None|almost_?equal|approx|toBeTruthy|toBeDefined|not\.toBeNull|not\.toBeUndefined|toBeCloseTo|toContain|toMatch|doesNotThrow|not\.toThrow|assertDoesNotThrow|toBeGreater|toBeLess|toBeInstanceOf|NotNil|NotEmpty|assert\.ok|isinstance|assertGreater|assertLess|Contains|HasPrefix|math\.Abs|startsWith|isclose|InDelta|-ge\b|-le\b|\bgrep\b|\[\s*-n\b|hasattr|assertIsInstance|assertNotEqual|!=\s*(?:None|null|nil|""|'')|\bexpect\.any|(?:\b|assert_?)raises\(\s*(?:Base)?Exception\s*[,)]|typeof|\blen\(|assertNotNull|is_some|is_ok|\bassert \w+\(.*\)$|\bassert \w+$`)
	sizes     = units.Pattern(`\blen\(|\.length\b|\.size\(\)|typeof\b|Array\.isArray|Object\.(?:keys|values)|\.keys\(\)`)
	tolerance = units.Pattern(`(?i)almost_?equal|approx|CloseTo|toler|delta|places|\beps|isclose|abs\(|\brel\b|within`)
)

func (c *testCase) exact() (n int) {
	for _, i := range c.asserts {
		if code := c.assertCode(i); exactly().MatchString(code) && !vague(code) {
			n++
		}
	}
	return n
}

func (c *testCase) isLoose(at int) bool {
	code := c.assertCode(at)
	return vague(code) || loosely().MatchString(code) && !exactly().MatchString(code)
}

// vague reports whether a comparison is of how much or near what, rather than of what.
func vague(code string) bool { return tolerance().MatchString(code) || sizes().MatchString(code) }

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
		had[normal(was.assertCode(i))] = true
	}
	for _, i := range c.asserts {
		if c.isLoose(i) && !had[normal(c.assertCode(i))] {
			return i
		}
	}
	return c.from
}

var (
	loop    = units.Pattern(`^\s*for\b`)
	firstOf = units.Pattern(`\[\s*\d*\s*:\s*-?\d*\s*\]|\bislice\(([^,]*),[^)]*\)|\.slice\([^)]*\)`)
	calling = units.Pattern(`^(\w+)\(`)
	reduces = []string{"sorted", "set", "frozenset", "len", "round", "int", "bool", "Counter", "type"}
)

// lessOf returns the first line that goes through a part of the cases that was goes through, or
// that compares what another function makes of a value, or -1.
func (c *testCase) lessOf(was *testCase) int {
	loops, compared := map[string]bool{}, map[string]bool{}
	for i := was.from; i < was.to; i++ {
		code := was.lines[i].code
		loops[normal(code)] = loop().MatchString(code)
		if a, b := sides(code); was.isAssertion(i) && a != "" {
			compared[a], compared[b] = true, true
		}
	}
	for i := c.from; i < c.to; i++ {
		code := c.lines[i].code
		if all := normal(firstOf().ReplaceAllString(code, "$1")); !loops[normal(code)] && loops[all] {
			return i
		}
		a, b := sides(code)
		if a == "" || compared[a] || !c.isAssertion(i) {
			continue
		}
		if m := calling().FindStringSubmatch(a); m != nil && compared[inner(a)] && (slices.Contains(reduces, m[1]) || strings.HasPrefix(b, m[1]+"(")) {
			return i
		}
	}
	return -1
}

// inner is the argument of a call.
func inner(call string) string {
	_, argument, _ := strings.Cut(call, "(")
	return strings.TrimSuffix(argument, ")")
}

// tolerances finds comparisons that allow more than before, and are the same otherwise.
func (f *finder) tolerances(was, is *testCase, hides bool) {
	had := map[string]string{}
	for i := was.from; i < was.to; i++ {
		if code := was.lines[i].code; tolerance().MatchString(code) {
			had[withoutSlack(code)] = code
		}
	}
	for i := is.from; i < is.to; i++ {
		code := is.lines[i].code
		before, ok := had[withoutSlack(code)]
		if ok && slack(code) > slack(before) {
			f.add(event.FactTestsWeakened, is.source, i, hides, fmt.Sprintf("the test %s allows more than before: %s", is.title(), brief(code)))
		}
	}
}

var (
	places    = units.Pattern(`,?\s*\bplaces\s*=\s*(\d+)|(toBeCloseTo\(.*),\s*(\d+)\s*\)`)
	allowance = units.Pattern(`,?\s*\b(?:delta|abs|rel|abs_tol|rel_tol|rtol|atol|tolerance|eps|epsilon)\s*[=:]\s*(\d[\d.]*(?:[eE][-+]?\d+)?)|([<>]=?)\s*(\d[\d.]*(?:[eE][-+]?\d+)?)`)
)

// slack is by how much two values may differ.
func slack(code string) float64 {
	if m := places().FindStringSubmatch(code); m != nil {
		n, _ := strconv.Atoi(m[1] + m[3])
		return math.Pow10(-n)
	}
	if m := allowance().FindStringSubmatch(code); m != nil {
		v, _ := strconv.ParseFloat(m[1]+m[3], 64)
		return v
	}
	if strings.Contains(code, "toBeCloseTo") {
		return 0.01
	}
	return 1e-6
}

func withoutSlack(code string) string {
	return normal(allowance().ReplaceAllString(places().ReplaceAllString(code, "$2"), "$2"))
}

// values adds the texts and numbers in a test that say something.
func (c *testCase) values(to map[string]bool) {
	for i := c.from; i < c.to; i++ {
		if (i > c.from || c.name == c.path) && !c.dead[i] {
			addValues(c.lines[i].code, to)
		}
	}
	for _, i := range c.beside {
		addValues(c.lines[i].code, to)
	}
}

var literal = units.Pattern(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|-?\b\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?\b`)

// valuesIn returns the literals of a line as addValues adds them.
func valuesIn(code string) map[string]bool {
	values := map[string]bool{}
	addValues(code, values)
	return values
}

// addValues adds the literals of a line that are no format and no empty text.
func addValues(code string, to map[string]bool) {
	for _, v := range literals(code) {
		if !strings.Contains(v, "%") {
			to[v] = true
		}
	}
}

// literals returns the literals of a line that are not empty, without their quotes.
func literals(code string) []string {
	all := literal().FindAllString(code, -1)
	for i, v := range all {
		all[i] = plain(v)
	}
	return slices.DeleteFunc(all, func(v string) bool { return v == "" })
}

// plain is a literal without its quotes.
func plain(v string) string {
	if len(v) > 1 && strings.IndexByte("\"'`", v[0]) >= 0 {
		return v[1 : len(v)-1]
	}
	return strings.ReplaceAll(v, "_", "")
}
