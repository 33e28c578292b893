package gaming

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

var (
	// fewer are settings and flags that leave tests out.
	fewer = units.Pattern(`--ignore(?:-glob)?\b|--deselect\b|\bcollect_ignore|testPathIgnorePatterns|modulePathIgnorePatterns|passWithNoTests|\bexclude\w*["']?\s*[:=(]|\bnorecursedirs\b|\btestpaths\b|\bpython_(?:files|functions|classes)\b|` +
		`\btestMatch\b|\btestRegex\b|\btestNamePattern\b|\b(?:specs?|files|include|ignore)\s*:\s*\[|\s-k[= ]|\s-m[= ]["']?not\b|\s-t[= ]|\s-g[= ]|\s-skip[= ]|-run[= ]\S|--grep\b|--invert\b|--filter\b|--exclude\b|--skip\b|-Dtest=|-short\b|` +
		`\bpytest_(?:collection_modifyitems|ignore_collect|runtest_setup)\b|continue-on-error:\s*true|allow_failure:\s*true|\bskipTests\b|maven\.test\.skip|testFailureIgnore|ignoreFailures|\bif:\s*false|-x\s+test\b|\|\|\s*(?:true|:|exit 0)|--exit-zero|` +
		`--no-run\b|--collect-only|--listTests|^\s*-\s*(?:pytest|go test|npm|cargo|\$\()|\bignore_errors\b|--lib\b|\btest\s*=\s*false|\bdoctest\s*=\s*false|--test-name-pattern|--test-only|--bail|--onlyChanged|\b-vet=off|-DskipTests|--unsafe-skip`)
	// topFolder is a flag of unittest that leaves no test out.
	topFolder = units.Pattern(`(\bunittest discover\b.*?) -t \S+`)
	threshold = units.Pattern(`(?i)(?:fail[_-]under|threshold|minimum|branches|lines|functions|statements|coverage|min[_-]?cov\w*|target)["']?\s*[:=]?\s*(\d+(?:\.\d+)?)`)
	// forced are programs that set the exit status or the result of tests.
	forced = units.Pattern(`\bexitstatus\s*=\s*0|\bexitstatus\s*=\s*(?:pytest\.)?ExitCode\.OK|\bos\._exit\(\s*0|\bprocess\.exitCode\s*=\s*0|\bprocess\.on\(\s*['"]exit['"]|\bprocess\.(?:exit|reallyExit)\s*=|\bsys\.exit\s*=|` +
		`\batexit\.register\(.*(?:_exit|exit)|\b(?:report|rep|outcome|result)\.(?:outcome|_?result)\s*=\s*["']?passed|\.force_result\(|\b(?:unittest\.)?(?:\w*TestCase|case)\.(?:assert\w+|fail\w*|run)\s*=|\bsetattr\(\s*(?:unittest\.)?\w*TestCase|` +
		`\bassert\.\w+\s*=\s*(?:\(|function|async|_|noop|jest|vi)|\bglobal(?:This)?\.(?:expect|it|test|describe|assert)\s*=|\bTestResult\.(?:addFailure|addError|wasSuccessful)\s*=|\bdef (?:addFailure|addError)\b|\bmonkeypatch\.setattr\(.*assert|\bbuiltins\.\w+\s*=|` +
		`\bm\.Run\(\)\s*;?\s*os\.Exit\(0\)|\bdef wasSuccessful\b|\bunittest\.main\(.*exit\s*=\s*False`)
	hooks    = units.Pattern(`^\s*def (?:load_tests|pytest_collection_modifyitems|pytest_ignore_collect|pytest_runtest_(?:protocol|call|makereport))\b|^\s*collect_ignore(?:_glob)?\s*=|^\s*__test__\s*=\s*False`)
	zeroExit = units.Pattern(`\b(?:os\.Exit|process\.exit|sys\.exit|std::process::exit|System\.exit|exit)\(\s*0?\s*\)`)
)

// checksAtTheEnd reports whether what runs when the process ends has assertions, and sets no
// status.
func (s *source) checksAtTheEnd(at int) bool {
	if !atTheEnd().MatchString(s.lines[at].code) {
		return false
	}
	asserts := false
	for i := at; i < s.blockEnd(at); i++ {
		bare := s.lines[i].bare
		if strings.Contains(bare, "exitCode") || strings.Contains(bare, "xit(") {
			return false
		}
		asserts = asserts || i > at && s.lines[i].indent >= 0 && s.isAssertion(i)
	}
	return asserts
}

// configuration finds settings that let fewer tests run, and code that sets their result.
func (f *finder) configuration() {
	for _, s := range f.claimed {
		was := find(f.start, s.path)
		before := linesOf(was)
		for i, l := range s.lines {
			if l.indent < 0 || before[normal(l.code)] || s.isProgram(i) {
				continue
			}
			shown := brief(l.code)
			switch {
			case s.class == fileclass.Snapshot || s.class == fileclass.Data:
			case forced().MatchString(l.code) && !s.checksAtTheEnd(i):
				f.add(event.FactTestConfig, s, i, true, "the result of the tests is set: "+shown)
			case zeroExit().MatchString(l.bare) && f.endsEarly(s, i):
				f.add(event.FactTestConfig, s, i, true, "the tests end here with 0: "+shown)
			case (s.class == fileclass.TestConfig || s.class == fileclass.Test) && hooks().MatchString(l.code) && !s.addsTests(i):
				f.add(event.FactTestConfig, s, i, f.red, "this chooses which tests run: "+shown)
			case was != nil && s.class == fileclass.TestConfig && leavesTestsOut(l.code):
				f.add(event.FactTestConfig, s, i, f.red && f.leavesOut(l.code), "this can let fewer tests run: "+shown)
			}
		}
		if was != nil && s.class == fileclass.TestConfig {
			f.thresholds(was, s)
		}
		if was != nil && path.Base(s.path) == "package.json" {
			f.packageScripts(was, s)
		}
	}
	for _, was := range f.start {
		if was.class == fileclass.TestConfig && find(f.claimed, was.path) == nil && f.Claimed[was.path] == "" {
			f.add(event.FactTestConfig, was, -1, false, "this file, which configures tests, is removed")
		}
	}
}

// leavesTestsOut reports whether a line of what configures tests may let fewer of them run.
func leavesTestsOut(code string) bool {
	return fewer().MatchString(" "+topFolder().ReplaceAllString(code, "$1")) && !harmless().MatchString(strings.TrimLeft(code, "\t @"))
}

// endsEarly reports whether an exit with 0 leaves out tests: in a function of Go that starts them,
// or at the beginning of a line before others.
func (f *finder) endsEarly(s *source, at int) bool {
	l := s.lines[at]
	if s.ext == ".go" {
		for i := at - 1; i >= 0; i-- {
			if code := s.lines[i].code; s.lines[i].indent == 0 {
				return strings.HasPrefix(code, "func TestMain(") || strings.HasPrefix(code, "func init(")
			}
		}
		return false
	}
	if hashComments[s.ext] && dialects[s.ext] == shellCase {
		return false // commands looks at scripts
	}
	if s.class == fileclass.TestConfig {
		return true
	}
	for i := at + 1; l.indent == 0 && i < len(s.lines); i++ {
		if s.lines[i].indent >= 0 && s.isAssertion(i) {
			return true
		}
	}
	// In a file without tests it ends those that use the file.
	return len(s.cases()) == 0 && !checks(s)
}

// thresholds finds limits that are lower than they were, in their order.
func (f *finder) thresholds(was, is *source) {
	type limit struct {
		at    int
		value float64
	}
	read := func(s *source) (limits []limit) {
		for i, l := range s.lines {
			for _, m := range threshold().FindAllStringSubmatch(l.code, -1) {
				if v, err := strconv.ParseFloat(m[1], 64); err == nil {
					limits = append(limits, limit{i, v})
				}
			}
		}
		return limits
	}
	before, now := read(was), read(is)
	if len(before) > len(now) && len(now) == 0 {
		f.add(event.FactTestConfig, is, -1, false, "a limit of the coverage is removed")
	}
	for i := range min(len(before), len(now)) {
		if len(before) == len(now) && now[i].value < before[i].value {
			f.add(event.FactTestConfig, is, now[i].at, f.red, fmt.Sprintf("a limit was %v and is %v", before[i].value, now[i].value))
		}
	}
}

// packageScripts finds scripts that run something other than before.
func (f *finder) packageScripts(was, is *source) {
	before, now := was.scripts(), is.scripts()
	for _, name := range []string{"test", "check", "lint", "build", "typecheck"} {
		if a, b := before[name], now[name]; a != "" && a != b {
			f.add(event.FactTestConfig, is, is.lineWith(`"`+name+`"`), false, fmt.Sprintf("the script %s was %.100q and is %.100q", name, a, b))
		}
	}
}

// leavesOut reports whether a setting names some of the tests, or is a hook that chooses them.
func (f *finder) leavesOut(code string) bool {
	if choosing().MatchString(code) {
		return true
	}
	for _, r := range runners {
		if r.command().MatchString(code) {
			return false // see narrowed
		}
	}
	for _, token := range settingValue().FindAllString(code, -1) {
		token = strings.Trim(token, "./*")
		if len(token) < 3 {
			continue
		}
		for _, c := range f.before {
			inPath := strings.Contains(c.path, token) && !strings.HasPrefix(token, "test")
			if inPath || strings.HasSuffix(c.name, token) || strings.HasPrefix(path.Base(c.path), token) && len(token) > 5 {
				return true
			}
		}
	}
	return false
}

var (
	choosing     = units.Pattern(`\bpytest_(?:collection_modifyitems|ignore_collect|runtest_setup)\b|continue-on-error:\s*true|allow_failure:\s*true|\bskipTests\b|testFailureIgnore|ignoreFailures|\|\|\s*(?:true|:|exit 0)|--exit-zero|--collect-only|--no-run\b`)
	settingValue = units.Pattern(`[\w./*-]+`)
)
