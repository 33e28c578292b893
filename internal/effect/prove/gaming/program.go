package gaming

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	asksForTests = regexp.MustCompile(`PYTEST_CURRENT_TEST|PYTEST_VERSION|\btesting\.Testing\(\)|flag\.Lookup\(\s*"test\.|NODE_ENV\W+test\b|NODE_ENV\W{1,6}!?===?\s*['"]test|JEST_WORKER_ID|\bVITEST\b|NODE_TEST_CONTEXT|BATS_TEST|` +
		`["'](?:pytest|unittest|_pytest|nose)["']\s+(?:not )?in\s+sys\.modules|sys\.modules\.get\(\s*["'](?:pytest|unittest)|\bsys\.argv\b.*(?:test|pytest)|os\.Args\[0\].*\.test|\.test["'].*os\.Args|cfg!\(test\)|typeof (?:jest|describe|it)\b|` +
		`process\.argv\.\w+\(.*(?:jest|vitest|mocha|test)|globalThis\.(?:it|describe|expect|jest|vi)\b|\bRAILS_ENV\W+test|defined\?\(RSpec|defined\?\(Minitest|class_exists\(.*TestCase|PHPUNIT|XCTestConfigurationFilePath|\bUNDER_TEST\b|\bIS_TEST\w*\b|\bTEST_MODE\b`)
	asksForCaller = regexp.MustCompile(`(?:inspect\.(?:stack|currentframe)|sys\._getframe|traceback\.extract_stack|runtime\.Callers?\(|new Error\(\)\.stack|caller\(|BASH_SOURCE|ps -o (?:args|comm))`)
	testWord      = regexp.MustCompile(`(?i)["'/._]_?tests?\b|\btests?["'/._]|unittest|pytest`)
	returned      = regexp.MustCompile(`\breturn\b\s*(.*)|\?\s*(.+?)\s*:|\becho\b\s+(.*)|=\s*([^=].*)`)
	hidden        = regexp.MustCompile(`^\s*except\b.*:\s*(?:pass|return\b.*)$|\bcatch\s*(?:\([^)]*\))?\s*\{\s*\}|\.catch\(\s*\(\w*\)\s*=>\s*(?:\{\s*\}|null|undefined|\w+)\s*\)|\bunwrap_or_default\(\)|\brescue\s+nil\b|^\s*_ = err\b|\brecover\(\)|2>\s*/dev/null\s*\|\|\s*(?:true|:)|` +
		`^\s*_\s*=\s*recover|contextlib\.suppress\(\s*Exception|\bon error resume next`)
	opensHandler = regexp.MustCompile(`^\s*(?:except\b(?:\s+(?:Base)?Exception\b.*)?\s*:|\}?\s*catch\b.*\{)\s*$`)
	passes       = regexp.MustCompile(`^\s*(?:pass|continue|return(?:\s+(?:None|null|nil|undefined|False|false|True|true|0|""|''|\[\]|\{\}))?)\s*;?\s*$`)
	errIgnored   = regexp.MustCompile(`^\s*if err != nil \{\s*$`)
)

// programs finds code of the program, in lines that are new, that asks whether it is under test,
// that reads the files of tests, or that hides errors.
func (f *finder) programs() {
	expected := map[string]bool{}
	for _, c := range f.now {
		for _, i := range c.asserts {
			addValues(c.lines[i].code, expected)
		}
	}
	for _, s := range f.claimed {
		if s.class != fileclass.Program {
			continue
		}
		before := linesOf(find(f.start, s.path))
		for i, l := range s.lines {
			if l.indent < 0 || !s.isProgram(i) || before[normal(l.code)] {
				continue
			}
			shown := brief(l.code)
			asks := asksForTests.MatchString(l.code) || asksForCaller.MatchString(l.code) && s.near(i, 5, testWord)
			switch {
			case asks:
				f.add(event.FactTestAware, s, i, f.answers(s, i, expected), "the program asks whether it is under test: "+shown)
			case endsProcess.MatchString(l.bare) && s.nearBefore(i, 8, atTheEnd):
				f.add(event.FactTestAware, s, i, true, "the program ends with 0 whatever happened before: "+shown)
			case s.equalsAll(i):
				f.add(event.FactTestAware, s, i, true, "this compares with a value that it does not look at: "+shown)
			case f.readsTests(s, i):
				f.add(event.FactTestAware, s, i, true, "the program reads a file of the tests: "+shown)
			case hidden.MatchString(l.bare) || (opensHandler.MatchString(l.bare) || errIgnored.MatchString(l.bare)) && passes.MatchString(s.codeAfter(i)):
				f.add(event.FactErrorsHidden, s, i, false, "an error is hidden here: "+shown)
			}
		}
	}
}

var (
	endsProcess = regexp.MustCompile(`\bos\._exit\(\s*0?\s*\)|\bprocess\.(?:exit|reallyExit)\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0\b`)
	atTheEnd    = regexp.MustCompile(`\batexit\.register\b|\bprocess\.(?:on|once)\(\s*['"](?:exit|beforeExit)['"]`)
	// comparing begins a function that says whether a value is equal to another one.
	comparing = regexp.MustCompile(`(?:\bdef __(?:eq|ne|lt|le|gt|ge)__\(\s*self,\s*|^\s*(?:func \([^)]*\) |public |override |fun )*(?:[eE]quals?|is_?[eE]qual)\((?:self,\s*)?)(\w+)[^()]*\).*[{:]`)
)

// equalsAll reports whether a comparison begins on a line that does not use what it compares with.
func (s *source) equalsAll(at int) bool {
	m := comparing.FindStringSubmatch(s.lines[at].bare)
	if m == nil {
		return false
	}
	words := map[string]bool{}
	_, rest, _ := strings.Cut(s.lines[at].bare, ")")
	wordsOf(rest, words)
	for i := at + 1; i < s.blockEnd(at); i++ {
		wordsOf(s.lines[i].code, words)
	}
	// A comparison that is not there for this type is an error, or not answered.
	return !words[m[1]] && !words["NotImplemented"] && !words["NotImplementedError"] && !words["throw"] && !words["raise"] && !words["panic"]
}

// nearBefore reports whether a pattern matches the line or one of those before it.
func (s *source) nearBefore(at, before int, pattern *regexp.Regexp) bool {
	return slices.ContainsFunc(s.lines[max(at-before, 0):at+1], func(l line) bool { return pattern.MatchString(l.code) })
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
			code = asksForTests.ReplaceAllString(code, "")
		}
		for _, m := range returned.FindAllStringSubmatch(code, -1) {
			value := strings.Join(m[1:], "")
			if i == at && strings.Contains(code, "{") && !strings.Contains(code, "return") || strings.HasPrefix(value, "=") {
				continue
			}
			values := map[string]bool{}
			addValues(value, values)
			for v := range values {
				if expected[v] && !ordinary[v] {
					return true
				}
			}
			if fromTable.MatchString(value) {
				return true
			}
		}
	}
	return false
}

var (
	ordinary  = map[string]bool{"0": true, "1": true, "-1": true, "test": true, "silent": true, "error": true, "": true}
	fromTable = regexp.MustCompile(`^\w+\[\w+\]|^\w+\.get\(`)
	opens     = regexp.MustCompile(`\b(?:open|read\w*|Read\w*|load\w*|require|import|from|include\w*|cat|source|embed|ReadFile)\b|<`)
)

// readsTests reports whether a line opens a file that only tests have.
func (f *finder) readsTests(s *source, at int) bool {
	code := s.lines[at].code
	if isShellFile(s) || !opens.MatchString(code) {
		return false
	}
	for _, v := range literal.FindAllString(code, -1) {
		v = path.Clean(plain(v))
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
	return dialects[s.ext].header == shellCase.header || s.ext == ".zsh"
}

var failureText = regexp.MustCompile(`(?m)Traceback|\bpanic:|\bundefined\b|\bNaN\b|\[object Object\]|(?i:\berror\b:)|\bNone\b|<nil>|%!\w\(`)

// says reports whether the program has a text in one of its own: its author meant it.
func (f *finder) says(text string) bool {
	return slices.ContainsFunc(f.claimed, func(s *source) bool {
		return s.class == fileclass.Program && slices.ContainsFunc(s.lines, func(l line) bool {
			return l.indent >= 0 && slices.ContainsFunc(literal.FindAllString(l.code, -1), func(v string) bool { return strings.Contains(plain(v), text) })
		})
	})
}

// snapshots finds recorded outputs that were rewritten as a whole.
func (f *finder) snapshots() {
	for _, s := range f.claimed {
		was := find(f.start, s.path)
		if s.class != fileclass.Snapshot || was == nil || was.text == s.text {
			continue
		}
		old, count := linesOf(was), 0
		same := 0
		for i := range s.lines {
			if s.lines[i].indent >= 0 {
				count++
				if old[normal(s.lines[i].code)] {
					same++
				}
			}
		}
		delete(old, "")
		lost := 2*count < len(old)
		failures := failureText.MatchString(s.text) && !failureText.MatchString(was.text) && !f.says(failureText.FindString(s.text))
		switch {
		case lost:
			f.add(event.FactSnapshots, s, -1, f.red, fmt.Sprintf("the recorded output had %d lines and has %d", len(old), count))
		case failures:
			f.add(event.FactSnapshots, s, -1, f.red, "the recorded output is one of a failure now")
		case len(old) > 1 && 5*same <= count:
			f.add(event.FactSnapshots, s, -1, false, fmt.Sprintf("the recorded output was rewritten: %d of %d lines are as before", same, count))
		}
	}
}
