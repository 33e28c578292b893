package guardrail

import "testing"

func TestUnableCommands(t *testing.T) {
	for _, c := range []struct {
		command string
		code    int
		output  string
		said    string // empty if the command merely failed
	}{
		// A shell, and what it runs.
		{"nosuch --all", 127, "sh: 1: nosuch: not found\n", "sh: 1: nosuch: not found"},
		{"nosuch", 127, "", "it printed nothing"},
		{"./check.sh", 127, "sh: 1: ./check.sh: not found\n", "sh: 1: ./check.sh: not found"},
		{"./check.sh", 127, "sh: ./check.sh: No such file or directory\n", "sh: ./check.sh: No such file or directory"},
		{"./check.sh", 126, "sh: 1: ./check.sh: Permission denied\n", "sh: 1: ./check.sh: Permission denied"},
		{"npm test", 127, "\n> x@1.0.0 test\n> jest\n\nsh: 1: jest: not found\n", "sh: 1: jest: not found"},
		{"make test", 2, "sh: 1: pytest: not found\nmake: *** [Makefile:2: test] Error 127\n", "make: *** [Makefile:2: test] Error 127"},
		{"sh -c 'make tset'", 2, "make: *** No rule to make target 'tset'.  Stop.\n", "make: *** No rule to make target 'tset'.  Stop."},

		// Tools that have nothing of that name.
		{"make tset", 2, "make: *** No rule to make target 'tset'.  Stop.\n", "make: *** No rule to make target 'tset'.  Stop."},
		{"make -C sub tset", 2, "make: Entering directory '/w/sub'\nmake: *** No rule to make target `tset'.  Stop.\n", "make: *** No rule to make target `tset'.  Stop."},
		{"npm run tset", 1, "npm error Missing script: \"tset\"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\n", "npm error Missing script: \"tset\""},
		{"npm tset", 1, "Unknown command: \"tset\"\n\nDid you mean this?\n    npm test # Test a package\n", "Unknown command: \"tset\""},
		{"yarn tset", 1, "yarn run v1.22.19\nerror Command \"tset\" not found.\n", "error Command \"tset\" not found."},
		{"pnpm run tset", 1, " ERR_PNPM_NO_SCRIPT  Missing script: tset\n", "ERR_PNPM_NO_SCRIPT  Missing script: tset"},
		{"go test ./nosuch", 1, "# ./nosuch\nstat /w/nosuch: directory not found\nFAIL\t./nosuch [setup failed]\nFAIL\n", "stat /w/nosuch: directory not found"},
		{"go vet nosuch/pkg", 1, "package nosuch/pkg is not in std (/usr/local/go/src/nosuch/pkg)\n", "package nosuch/pkg is not in std (/usr/local/go/src/nosuch/pkg)"},
		{"go tset ./...", 2, "go tset: unknown command\nRun 'go help' for usage.\n", "go tset: unknown command"},
		{"cargo tset", 101, "error: no such command: `tset`\n\nhelp: view all installed commands with `cargo --list`\n", "error: no such command: `tset`"},
		{"just tset", 1, "error: Justfile does not contain recipe `tset`\n", "error: Justfile does not contain recipe `tset`"},
		{"task tset", 200, "task: Task \"tset\" does not exist\n", "task: Task \"tset\" does not exist"},
		{"./gradlew tset", 1, "\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'tset' not found in root project 'x'.\n", "Task 'tset' not found in root project 'x'."},
		{"mvn tset", 1, "[INFO] Scanning for projects...\n[ERROR] Unknown lifecycle phase \"tset\". You must specify a valid phase\n", "[ERROR] Unknown lifecycle phase \"tset\". You must specify a valid phase"},
		{"rake tset", 1, "rake aborted!\nDon't know how to build task 'tset' (See the list of available tasks with `rake --tasks`)\n", "Don't know how to build task 'tset' (See the list of available tasks with `rake --tasks`)"},
		{"composer tset", 1, "\n  Command \"tset\" is not defined.  \n", "Command \"tset\" is not defined."},
		{"deno task tset", 1, "Task not found: tset\nAvailable tasks:\n", "Task not found: tset"},
		{"cargo test --test tset", 101, "error: no test target named `tset` in `x` package\n", "error: no test target named `tset` in `x` package"},
		{"python3 -m pytest -q", 1, "/usr/bin/python3: No module named pytest\n", "/usr/bin/python3: No module named pytest"},

		// Work that is not done.
		{"test -e late", 1, "", ""},
		{"sh -n greet.sh", 2, "sh: 0: cannot open greet.sh: No such file\n", ""},
		{"sh -n greet.sh", 127, "sh: greet.sh: No such file or directory\n", ""},
		{"python3 check.py", 2, "python3: can't open file '/w/check.py': [Errno 2] No such file or directory\n", ""},
		{"node check.js", 1, "node:internal/modules/cjs/loader:1228\n  throw err;\n\nError: Cannot find module '/w/check.js'\n", ""},
		{"pytest -q tests/test_new.py", 4, "ERROR: file or directory not found: tests/test_new.py\n\nno tests ran in 0.00s\n", ""},
		{"cat VERSION", 1, "cat: VERSION: No such file or directory\n", ""},
		{"diff expected out", 2, "diff: out: No such file or directory\n", ""},
		{"go test ./...", 1, "?   \texample.com/x\t[no test files]\nx_test.go:9: missing test for add\nx_test.go:12: unknown error in test\nFAIL\texample.com/x\t0.002s\nFAIL\n", ""},
		{"pytest tests/test_api.py", 1, "F\nFAILED tests/test_api.py::test_get - assert 'Not found' == 'ok'\n1 failed in 0.01s\n", ""},
		{"npm test", 1, "FAIL src/a.test.js\n  ● page test not found\n    expected: test\n", ""},
		{"make check", 2, "cc: error: missing check for nil\nmake: *** [Makefile:4: check] Error 1\n", ""},
		{"./app --selftest", 1, "selftest: user not found\n", ""},
	} {
		if said := unable(c.command, c.code, c.output); said != c.said {
			t.Errorf("%s, exit code %d, printed\n%s\tsays %q, want %q", c.command, c.code, c.output, said, c.said)
		}
	}
}
