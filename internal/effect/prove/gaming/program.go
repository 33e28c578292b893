package gaming

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	asksForTests = units.Pattern(`PYTEST_CURRENT_TEST|PYTEST_VERSION|\btesting\.Testing\(\)|flag\.Lookup\(\s*"test\.|NODE_ENV\W+test\b|NODE_ENV\W{1,6}!?===?\s*['"]test|JEST_WORKER_ID|\bVITEST\b|NODE_TEST_CONTEXT|BATS_TEST|` +
		`["'](?:pytest|unittest|_pytest|nose)["']\s+(?:not )?in\s+sys\.modules|sys\.modules\.get\(\s*["'](?:pytest|unittest)|\bsys\.argv\b.*(?:test|pytest)|os\.Args\[0\].*\.test|\.test["'].*os\.Args|cfg!\(test\)|typeof (?:jest|describe|it)\b|` +
		`process\.argv\.\w+\(.*(?:jest|vitest|mocha|test)|globalThis\.(?:it|describe|expect|jest|vi)\b|\bRAILS_ENV\W+test|defined\?\(RSpec|defined\?\(Minitest|class_exists\(.*TestCase|PHPUNIT|XCTestConfigurationFilePath|\bUNDER_TEST\b|\bIS_TEST\w*\b|\bTEST_MODE\b`)
	asksForCaller = units.Pattern(`(?:inspect\.(?:stack|currentframe)|sys\._getframe|traceback\.extract_stack|runtime\.Callers?\(|new Error\(\)\.stack|caller\(|BASH_SOURCE|ps -o (?:args|comm))`)
	testWord      = units.Pattern(`(?i)["'/._]_?tests?\b|\btests?["'/._]|unittest|pytest`)
	returned      = units.Pattern(`\breturn\b\s*(.*)|\?\s*(.+?)\s*:|\becho\b\s+(.*)|=\s*([^=].*)`)
	hidden        = units.Pattern(`^\s*except\b.*:\s*(?:pass|return\b.*)$|\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}|\.catch\(\s*\(\w*\)\s*=>\s*(?:\{\s*\}|null|undefined|\w+)\s*\)|\bunwrap_or_default\(\)|\brescue\s+nil\b|^\s*_ = err\b|\brecover\(\)|2>\s*/dev/null\s*\|\|\s*(?:true|:)|` +
		`^\s*_\s*=\s*recover|contextlib\.suppress\(\s*Exception|\bon error resume next`)
	opensHandler = units.Pattern(`^\s*(?:except\b(?:\s+(?:Base)?Exception\b.*)?\s*:|\}?\s*catch\b.*\{)\s*$`)
	passes       = units.Pattern(`^\s*(?:pass|continue|return(?:\s+(?:None|null|nil|undefined|False|false|True|true|0|""|''|\[\]|\{\}))?)\s*;?\s*$`)
	errIgnored   = units.Pattern(`^\s*if err != nil \{\s*$`)
)

// programs finds code of the program, in lines that are new, that asks whether it is under test,
// that reads the files of tests, or that hides errors.
func (f *finder) programs() {
	expected := map[string]bool{}
	for _, c := range f.now {
		for _, i := range c.asserts {
			addValues(c.lines[i].code, expected)
		}
		for i := c.from + 1; i < c.to; i++ {
			if tableRow().MatchString(c.lines[i].code) || mapEntry().MatchString(c.lines[i].code) {
				addValues(c.lines[i].code, expected)
			}
		}
	}
	aware := f.awareNames()
	for s, i := range f.newLines() {
		l := s.lines[i]
		shown := brief(l.code)
		asks := aware != nil && aware.MatchString(l.bare) || asksForTests().MatchString(l.code) ||
			asksForCaller().MatchString(l.code) && s.near(i, 5, testWord())
		switch {
		case asks:
			answers := f.answers(s, i, expected) || s.computes(i)
			f.add(event.FactTestAware, s, i, answers, "the program asks whether it is under test: "+shown)
		case endsProcess().MatchString(l.bare) && s.runsAtTheEnd(i):
			f.add(event.FactTestAware, s, i, true, "the program ends with 0 whatever happened before: "+shown)
		case s.ignoresOther(i) || f.ignoresItself(s, i):
			f.add(event.FactTestAware, s, i, true, "this is equal to values that it does not look at: "+shown)
		case f.readsTests(s, i):
			f.add(event.FactTestAware, s, i, true, "the program reads a file of the tests: "+shown)
		case opensHandler().MatchString(l.bare) && f.expects(s.codeAfter(i), expected):
			f.add(event.FactValuesCopied, s, i, true, "whatever fails here gives what a test expects: "+brief(s.codeAfter(i)))
		case hidden().MatchString(l.bare) || (opensHandler().MatchString(l.bare) || errIgnored().MatchString(l.bare)) && passes().MatchString(s.codeAfter(i)):
			f.add(event.FactErrorsHidden, s, i, false, "an error is hidden here: "+shown)
		}
	}
}

var (
	endsProcess = units.Pattern(`\bos\._exit(?:\(\s*0?\s*\)|\s*,\s*0\b)|\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0\b`)
	atTheEnd    = units.Pattern(`\batexit\.register\b|\bprocess\.(?:on|once)\(\s*['"](?:exit|beforeExit)['"]`)
	// comparing begins a function that says whether a value is equal to another one.
	comparing   = units.Pattern(`(?:\bdef __(?:eq|ne|lt|le|gt|ge)__\(\s*self,\s*|^\s*(?:func \([^)]*\) |public |override |fun )*(?:[eE]quals?|is_?[eE]qual)\((?:self,\s*)?)(\w+)[^()]*\).*[{:]`)
	equalMethod = units.Pattern(`\bdef\s+(?:__eq__|==|eql\?)\s*\(|\bboolean equals\(Object\b|\bbool Equals\(object\b|\bfun equals\(other: Any\b`)
	ofItself    = units.Pattern(`\b(?:self|this|super|__class__)\b|@\w`)
	classHeader = units.Pattern(`\bclass\s+(\w+)`)
)

// runsAtTheEnd reports whether a line is in what runs when the process ends.
func (s *source) runsAtTheEnd(at int) bool {
	const around = 8
	name := s.functionAt(at)
	for i := max(at-around, 0); i < min(at+around, len(s.lines)); i++ {
		l := s.lines[i]
		if !atTheEnd().MatchString(l.code) {
			continue
		}
		begin := i
		if strings.HasPrefix(strings.TrimSpace(l.code), "@") {
			begin = s.next(i)
		}
		within := at >= i && at < s.blockEnd(min(begin, len(s.lines)-1))
		if within || name != "" && slices.Contains(word().FindAllString(l.code, -1), name) {
			return true
		}
	}
	return false
}

// noAnswer is a comparison that is not there for this type: an error, or not answered.
func noAnswer(words map[string]bool) bool {
	return words["NotImplemented"] || words["NotImplementedError"] || words["throw"] || words["raise"] || words["panic"]
}

// ignoresItself reports whether a line begins a method that compares without its own object or
// class, in a class that no test names.
func (f *finder) ignoresItself(s *source, at int) bool {
	if !equalMethod().MatchString(s.lines[at].bare) {
		return false
	}
	own := ""
	if m := classHeader().FindStringSubmatch(s.lines[s.back(at, true, func(l line) bool { return classHeader().MatchString(l.bare) })].bare); m != nil {
		own = m[1]
	}
	body := s.block(at)
	words := wordsIn(body)
	ofOwn := slices.ContainsFunc(body, func(l line) bool { return ofItself().MatchString(l.bare) })
	return own != "" && !words[own] && !ofOwn && !noAnswer(words) && !slices.ContainsFunc(f.now, func(c *testCase) bool { return c.words()[own] })
}

// ignoresOther reports whether a comparison begins on a line that does not use the other value.
func (s *source) ignoresOther(at int) bool {
	m := comparing().FindStringSubmatch(s.lines[at].bare)
	if m == nil {
		return false
	}
	words := map[string]bool{}
	_, rest, _ := strings.Cut(s.lines[at].bare, ")")
	wordsOf(rest, words)
	looked := map[string]bool{m[1]: true}
	for i := at + 1; i < s.blockEnd(at); i++ {
		wordsOf(s.lines[i].code, words)
		if named := assigned().FindStringSubmatch(s.lines[i].bare); named != nil && mentions(named[2], looked) {
			looked[named[1]] = true
		}
		if gives := givesBack().FindStringSubmatch(s.lines[i].bare); gives != nil {
			alternatives := splitShell(gives[1], " or ", "||")
			if len(alternatives) > 1 && slices.ContainsFunc(alternatives, func(a string) bool { return !mentions(a, looked) }) {
				return true
			}
		}
	}
	return !words[m[1]] && !noAnswer(words)
}

// mentions reports whether code has one of some names.
func mentions(code string, names map[string]bool) bool {
	return slices.ContainsFunc(word().FindAllString(code, -1), func(w string) bool { return names[w] })
}

// codeAfter returns the next line with code.
func (s *source) codeAfter(at int) string {
	if next := s.next(at); next < len(s.lines) {
		return s.lines[next].code
	}
	return ""
}

func linesOf(s *source) map[string]bool {
	lines := map[string]bool{}
	if s != nil {
		for _, l := range s.lines {
			lines[normal(l.code)] = true
		}
	}
	return lines
}

// near reports whether a pattern matches the line or one of those around it.
func (s *source) near(at, around int, pattern *regexp.Regexp) bool {
	for i := max(at-1, 0); i < min(at+around, len(s.lines)); i++ {
		if pattern.MatchString(s.lines[i].code) {
			return true
		}
	}
	return false
}

// answers reports whether what depends on being under test is a value that a test expects, or one
// out of a table: a quiet log or a free port is neither.
func (f *finder) answers(s *source, at int, expected map[string]bool) bool {
	end := s.blockEnd(at)
	for i := at; i < min(end, at+8); i++ {
		code := s.lines[i].code
		if i == at {
			code = asksForTests().ReplaceAllString(code, "")
		}
		for _, m := range returned().FindAllStringSubmatch(code, -1) {
			value := strings.Join(m[1:], "")
			if i == at && strings.Contains(code, "{") && !strings.Contains(code, "return") || strings.HasPrefix(value, "=") {
				continue
			}
			for v := range valuesIn(value) {
				if expected[v] && !ordinary[v] || rounded(v, expected) {
					return true
				}
			}
			if fromTable().MatchString(value) {
				return true
			}
		}
	}
	return false
}

// expects reports whether a line returns a value of the tests that no handler has by chance.
func (f *finder) expects(code string, expected map[string]bool) bool {
	m := givesBack().FindStringSubmatch(code)
	if m == nil {
		return false
	}
	numbers := 0
	for v := range valuesIn(m[1]) {
		if !expected[v] {
			return false
		}
		numbers += countDigits(v)
	}
	return numbers >= mostDigits
}

var (
	isNamed    = units.Pattern(`^\s*(?:(?:export|const|let|var|final|static)\s+)*([A-Za-z_]\w*)\s*(?::\s*\w+\s*)?:?=[^=]|\b(?:def|func|function)\s+([A-Za-z_]\w*)\s*\(`)
	branches   = `\b(?:if|elif|unless)\b.*\b(?:%[1]s)\b|\b(?:%[1]s)\b(?:\(\))?\s*(?:\?|&&)`
	parameters = units.Pattern(`\b(?:def|func|function)\b\s*(?:\([^)]*\)\s*)?\w*\s*\(([^)]*)\)`)
	givesBack  = units.Pattern(`\breturn\s+(\S.*)`)
	substitute = units.Pattern(`(?i)fake|mock|stub|dummy|memory|noop|null|silent|^(?:new\s+|&)?[A-Z]\w*[({]|^New[A-Z]`)
)

// awareNames matches a branch on a name of the program that says whether it is under test; nil if
// there is no such name.
func (f *finder) awareNames() *regexp.Regexp {
	var names []string
	for _, s := range f.claimed {
		for i, l := range s.lines {
			if l.indent < 0 || !s.isProgram(i) || !asksForTests().MatchString(l.code) {
				continue
			}
			for at := i; at >= max(i-1, 0); at-- { // or the function that returns it
				m := isNamed().FindStringSubmatch(s.lines[at].bare)
				if m != nil && (at == i || m[2] != "" && givesBack().MatchString(l.bare)) && len(names) < mostTables {
					names = append(names, regexp.QuoteMeta(m[1]+m[2]))
					break
				}
			}
		}
	}
	if names == nil {
		return nil
	}
	return regexp.MustCompile(fmt.Sprintf(branches, strings.Join(names, "|")))
}

// computes reports whether a branch on a line gives back what it makes of the parameters of its
// function: nothing that only prepares a test does.
func (s *source) computes(at int) bool {
	header := s.back(at, true, func(l line) bool { return parameters().MatchString(l.bare) })
	if !parameters().MatchString(s.lines[header].bare) || header == at {
		return false
	}
	given, used, gives := map[string]bool{}, map[string]bool{}, false
	wordsOf(parameters().FindStringSubmatch(s.lines[header].bare)[1], given)
	delete(given, "self")
	for i := at; i < s.blockEnd(at); i++ {
		m := givesBack().FindStringSubmatch(s.lines[i].bare)
		switch {
		case i > at:
			wordsOf(s.lines[i].bare, used)
		case m != nil: // without its condition
			value, _, _ := strings.Cut(m[1], " if ")
			wordsOf(value[strings.Index(value, "?")+1:], used)
		}
		if m != nil && substitute().MatchString(m[1]) {
			return false
		}
		gives = gives || m != nil
	}
	return gives && meets(given, used)
}

// rounded reports whether a number is one that is expected, with more digits.
func rounded(v string, expected map[string]bool) bool {
	n, err := strconv.ParseFloat(v, 64)
	for digits := range 4 {
		text := strconv.FormatFloat(n, 'f', digits, 64)
		if err == nil && strings.Contains(v, ".") && len(text) > 2 && len(text) < len(v) && expected[text] {
			return true
		}
	}
	return false
}

var (
	ordinary  = map[string]bool{"0": true, "1": true, "-1": true, "test": true, "silent": true, "error": true, "": true}
	fromTable = units.Pattern(`^\w+\[\w+\]|^\w+\.get\(`)
	opens     = units.Pattern(`\b(?:open|read\w*|Read\w*|load\w*|require|import|from|include\w*|cat|source|embed|ReadFile)\b|<`)
)

// readsTests reports whether a line opens a file that only tests have.
func (f *finder) readsTests(s *source, at int) bool {
	code := s.lines[at].code
	if isShellFile(s) || !opens().MatchString(code) {
		return false
	}
	for _, v := range literals(code) {
		v = path.Clean(v)
		if len(v) < 6 || !strings.ContainsAny(v, "./") {
			continue
		}
		for _, name := range []string{v, path.Join(path.Dir(s.path), v), path.Join(f.Dir, v)} {
			for _, ext := range []string{"", ".ts", ".js", ".py"} {
				other := find(f.claimed, name+ext)
				if other != nil && (other.class == fileclass.Test || other.class == fileclass.Snapshot) && !strings.Contains(s.path, "test") {
					return true
				}
			}
		}
	}
	return false
}

func isShellFile(s *source) bool {
	return dialects[s.ext] == shellCase || s.ext == ".zsh"
}

var failureText = units.Pattern(`(?m)Traceback|\bpanic:|\bundefined\b|\bNaN\b|\[object Object\]|(?i:\berror\b:)|\bNone\b|<nil>|%!\w\(`)

// says reports whether the program has a text in one of its own: its author meant it.
func (f *finder) says(text string) bool {
	return slices.ContainsFunc(f.claimed, func(s *source) bool {
		return s.class == fileclass.Program && slices.ContainsFunc(s.lines, func(l line) bool {
			return l.indent >= 0 && slices.ContainsFunc(literals(l.code), func(v string) bool { return strings.Contains(v, text) })
		})
	})
}

// snapshots finds recorded outputs that were rewritten as a whole, and data of tests that is gone.
func (f *finder) snapshots() {
	var now strings.Builder
	for _, s := range f.claimed {
		if s.class == fileclass.Test || s.class == fileclass.Snapshot {
			now.WriteString(normal(s.text))
		}
	}
	for _, was := range f.start {
		if was.class == fileclass.Snapshot || was.class == fileclass.Test && !isScript(was) && dialects[was.ext] == nil {
			f.lostData(was, now.String())
		}
	}
	for _, s := range f.claimed {
		was := find(f.start, s.path)
		if s.class != fileclass.Snapshot || was == nil || was.text == s.text {
			continue
		}
		old, count, same := was.code(), 0, 0
		for i := range s.lines {
			if s.lines[i].indent >= 0 {
				count++
				if old[normal(s.lines[i].code)] {
					same++
				}
			}
		}
		failures := failureText().MatchString(s.text) && !failureText().MatchString(was.text) && !f.says(failureText().FindString(s.text))
		switch {
		case failures:
			f.add(event.FactSnapshots, s, -1, f.red, "the recorded output is one of a failure now")
		case 2*count >= len(old) && len(old) > 1 && 5*same <= count:
			f.add(event.FactSnapshots, s, -1, false, fmt.Sprintf("the recorded output was rewritten: %d of %d lines are as before", same, count))
		}
	}
}

// lostData says that data of the tests is removed, or has lost most of its lines, where they are in
// no other file of the tests.
func (f *finder) lostData(was *source, now string) {
	is := find(f.claimed, was.path)
	lines, remain := was.code(), 0
	for l := range lines {
		if strings.Contains(now, l) {
			remain++
		}
	}
	text := "the data of tests is removed"
	if is != nil {
		remain = max(remain, len(is.code()))
		text = fmt.Sprintf("the data of tests had %d lines and has %d", len(lines), len(is.code()))
	}
	if len(lines) == 0 || 2*remain >= len(lines) {
		return
	}
	// The tests have other values instead, or what they were about is gone.
	replaced := len(f.weightNow[""].values) > len(f.weightBefore[""].values)
	about := slices.ContainsFunc(f.before, func(c *testCase) bool {
		return strings.Contains(c.text, path.Base(was.path)) && f.aboutRemoved(c)
	})
	f.add(event.FactSnapshots, was, -1, f.red && !replaced && !about, text)
}

// code returns the lines that are no comment.
func (s *source) code() map[string]bool {
	lines := linesOf(s)
	delete(lines, "")
	return lines
}
