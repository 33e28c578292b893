package policy_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// judge returns whether a final message claims, and what the claim lacks.
func judge(t *testing.T, text string, r event.Rules) (claims bool, missing string) {
	t.Helper()
	c := hear(t, r, says("1.0", text), event.ToolCalled{ID: "t", Parent: "sub"})
	how := c.Claim(r)
	ev := policy.Evidence{ShowsTools: true, Commands: &policy.Commands{}, Verification: &policy.Verification{}}
	return how != "", strings.Join(c.Missing(how, r, ev), "; ")
}

// The first rows are what agents wrote when loops of other programs ended too early, as users
// reported; the others are their siblings.
func TestContradictedPromise(t *testing.T) {
	const m = "<promise>COMPLETE</promise>"
	for _, text := range []string{
		// a promise mentioned in a sentence about not giving it
		"I will not respond with " + m + " yet because the tests fail.",
		"I will not say COMPLETE yet because one step is left.\n\n" + m,
		"I will not output\n" + m + "\nyet",
		"Once done, I'll say\n" + m,
		"Because `fastembed` is still not installed, I did not mark the task `[x]` and I am not outputting a completion promise.\n" + m,
		"Because `fastembed` is still not installed, I am not outputting " + m,
		// a promise alone on its line, and the opposite after it
		m + "\n\nnot met: 3 tests fail",
		m + "\n\nNot met: 3 tests fail.",
		m + "\n\n**Not yet met:** the second criterion",
		"Status: not complete\n\n" + m,
		"The task is not complete.\n" + m,
		"The work isn't finished yet.\n" + m,
		"It is still incomplete.\n" + m,
		"I have not finished the parser yet.\n" + m,
		"I ran out of time, the rest must wait.\n" + m,
		"The migration is only partially done.\n" + m,
		"The acceptance criteria have not been fully met.\n" + m,
		"Not all requirements are met.\n" + m,
		"Not all tests pass.\n" + m,
		"3 tests fail\n" + m,
		"3 of 40 tests still fail.\n" + m,
		"2 unit tests are failing, but I am out of ideas.\n" + m,
		"Summary: 12 passed, 1 failed\n" + m,
		"There are 2 test failures.\n" + m,
		"The tests are still failing.\n" + m,
		"Test TestParse fails.\n" + m,
		"The build is broken.\n" + m,
		"The tests do not pass yet.\n" + m,
		"The code doesn't compile.\n" + m,
		"The login page is still missing.\n" + m,
		"4 tasks remain.\n" + m,
		"Remaining: the command line\n" + m,
		"## Remaining work:\n\n- the command line\n\n" + m,
		"TODO: error handling\n" + m,
		"I could not fix the race.\n" + m,
		"I was unable to get the tests green.\n" + m,
		"I still need to implement the parser.\n" + m,
		"I can’t emit the promise, since the build is red:\n" + m,
		"As soon as the tests pass, I will write:\n" + m,
		"Until the tests pass I must not say " + m,
		"Not emitting the completion promise: one test is red.\n" + m,
	} {
		claims, missing := judge(t, text, final)
		if claims && !strings.Contains(missing, "the same message says:") {
			t.Errorf("the claim counts:\n%s", text)
		}
	}
	r := final
	r.Completion.Match = "anywhere"
	if _, missing := judge(t, "I will not respond with "+m+" yet because the tests fail.", r); !strings.Contains(missing, "I will not respond with") {
		t.Errorf("with match anywhere it lacks %q", missing)
	}
	if _, missing := judge(t, "<response>DONE</response>\n\nnot met: 3 tests fail", final); missing != `the same message says: "not met: 3 tests fail"` {
		t.Errorf("the response lacks %q", missing)
	}
}

func TestPromiseWithoutContradiction(t *testing.T) {
	const m = "<promise>COMPLETE</promise>"
	for _, text := range []string{
		m,
		"All tests pass; nothing fails, and 0 tests are skipped.\n" + m,
		"No tests fail any more.\n" + m,
		"None of the 40 tests fail.\n" + m,
		"40 passed, 0 failed\n" + m,
		"The tests no longer fail.\n" + m,
		"The tests don't fail.\n" + m,
		"Before this change 3 tests failed; all pass now.\n" + m,
		"The 3 failing tests are fixed.\n" + m,
		"3 tests were failing, and all of them now pass.\n" + m,
		"I added tests that fail without the fix.\n" + m,
		"The loop ends after 3 failed attempts.\n" + m,
		"The breaker opens after 3 failures.\n" + m,
		"If the criteria are not met, it logs a warning.\n" + m,
		"When a test fails, its output is kept.\n" + m,
		"CI now makes the build fail on warnings.\n" + m,
		"The function does not return a promise any more.\n" + m,
		"I did not write a promise wrapper, since none is needed.\n" + m,
		"I did not touch the API. " + m,
		"- I did not write docs\n" + m,
		"I have not finished the rename, which is out of scope.\n" + m,
		"It does not crash on incomplete lines: " + m,
		"The pool ran out of connections, which is mended: " + m,
		"Remaining: none\n" + m,
		"Remaining work: nothing\n" + m,
		"TODO: nothing\n" + m,
		"I updated the remaining callers.\n" + m,
		"The rename of the old name is out of scope and not done.\n" + m,
		"2 tests fail on main too: they are pre-existing and unrelated.\n" + m,
		"The task said:\n> not met: 3 tests fail\n\nThat is fixed.\n" + m,
		"```\n3 tests fail\n```\nThat was before.\n" + m,
		"Everything is done, and all criteria are met.\n" + m,
		"I have completed the migration. It handles missing files.\n" + m,
	} {
		if claims, missing := judge(t, text, final); !claims || missing != "" {
			t.Errorf("claims %v and lacks %q:\n%s", claims, missing, text)
		}
	}
}
