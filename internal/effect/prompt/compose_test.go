package prompt_test

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/effect/prompt"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
)

// usual is a loop as the default settings make it.
func usual() prompt.Parts {
	return prompt.Parts{
		Base: "# Task\n\nMake the login work.\n", Iteration: 3, Of: 10, LoopDir: ".ralph/login", TaskFile: ".ralph/login/task.md",
		Checklist: true, Promise: "COMPLETE", Response: "DONE", DoneFile: true, MinToolCalls: 1, Blocked: true, Ask: true,
	}
}

func with(change func(*prompt.Parts)) prompt.Parts {
	p := usual()
	change(&p)
	return p
}

func failure(action, command string) prompt.Failure {
	return prompt.Failure{Action: action, Message: "Guardrail \"" + command + "\" failed with exit code 2.\nOutput file: .ralph/login/guardrail_2_x.log\nOutput (truncated):\nFAIL\n"}
}

func bare(base string, change func(*prompt.Parts)) prompt.Parts {
	p := prompt.Parts{Base: base, Iteration: 3, Of: 10}
	change(&p)
	return p
}

// Each of these is testdata/<name>.txt, which read one after another are the specification.
var examples = map[string]prompt.Parts{
	"01-the-base-alone":          bare("make it work\n\n", func(*prompt.Parts) {}),
	"02-the-usual":               usual(),
	"03-the-iteration-counted":   bare("make it work", func(p *prompt.Parts) { p.CountInPrompt = true }),
	"04-counted-without-a-limit": bare("make it work", func(p *prompt.Parts) { p.CountInPrompt, p.Of = true, 0 }),
	"05-a-guardrail-appended":    bare("make it work", func(p *prompt.Parts) { p.Failures = []prompt.Failure{failure(prompt.Append, "make test")} }),
	"06-a-guardrail-prepended":   bare("make it work", func(p *prompt.Parts) { p.Failures = []prompt.Failure{failure(prompt.Prepend, "make test")} }),
	"07-a-guardrail-instead":     with(func(p *prompt.Parts) { p.Failures = []prompt.Failure{failure(prompt.Replace, "make test")} }),
	"08-guardrails-of-all-kinds-counted": bare("make it work", func(p *prompt.Parts) {
		p.CountInPrompt = true
		p.Failures = []prompt.Failure{
			failure(prompt.Append, "appends"), failure(prompt.Prepend, "prepends"), failure(prompt.Replace, "replaces"), failure(prompt.Replace, "replaces, too"),
		}
	}),
	"09-the-base-states-the-promise":  with(func(p *prompt.Parts) { p.Base = "Make it work. Then say <promise>COMPLETE</promise>." }),
	"10-the-base-states-the-response": with(func(p *prompt.Parts) { p.Base, p.DoneFile = "Make it work. Then say <Response>done</Response>.", false }),
	"11-a-response-alone":             with(func(p *prompt.Parts) { p.Promise, p.DoneFile, p.Checklist = "", false, false }),
	"12-a-file-alone":                 with(func(p *prompt.Parts) { p.Promise, p.Response, p.TaskFile = "", "", "" }),
	"13-many-tool-calls":              with(func(p *prompt.Parts) { p.MinToolCalls = 5 }),
	"14-a-claim-that-was-refused": bare("make it work", func(p *prompt.Parts) {
		p.Refused = []string{"no work was done", "a message has not been read yet: x"}
	}),
	"15-messages": bare("make it work", func(p *prompt.Parts) {
		p.Messages = []prompt.Message{{Text: "mind the gap"}, {From: "cli:ada@mill", Text: "then write down\nwhat you found"}}
	}),
	"16-everything": with(func(p *prompt.Parts) {
		p.CountInPrompt, p.MinToolCalls = true, 3
		p.Failures = []prompt.Failure{failure(prompt.Append, "make lint"), failure(prompt.Prepend, "make test")}
		p.Left = []string{"it was cut short: nothing was said for 10m0s", "a process of it still ran and was ended: npm run dev"}
		p.Refused = []string{"make test failed"}
		p.Hints = []string{"nothing in the project has changed for 3 iterations: choose another way, or note what blocks you"}
		p.Reflection = "Before you go on, look back."
		p.Messages = []prompt.Message{{From: "cli:ada@mill", Text: "leave the schema alone"}}
	}),
	"17-one-session-begins":     with(func(p *prompt.Parts) { p.Same = &prompt.Same{} }),
	"18-one-session-goes-on":    bare("make it work", func(p *prompt.Parts) { p.Promise, p.Same = "COMPLETE", &prompt.Same{Again: true} }),
	"19-one-session-was-cut":    bare("make it work", func(p *prompt.Parts) { p.Promise, p.Same = "COMPLETE", &prompt.Same{Again: true, Cut: true} }),
	"20-one-session-no-promise": bare("make it work", func(p *prompt.Parts) { p.Same = &prompt.Same{Again: true} }),
	"21-one-session-refused": with(func(p *prompt.Parts) {
		p.Same, p.Refused = &prompt.Same{Again: true}, []string{"no work was done: the claim came without a single use of a tool"}
		p.CountInPrompt = true
	}),
	"22-a-text-that-resembled-a-claim": bare("make it work", func(p *prompt.Parts) {
		p.Promise = "COMPLETE"
		p.Ignored = &prompt.Ignored{How: "promise", Text: "<promise>DONE</promise>", Why: `it does not say "COMPLETE"`}
	}),
	"23-a-response-within-other-words": bare("make it work", func(p *prompt.Parts) {
		p.Promise, p.Response = "COMPLETE", "DONE"
		p.Ignored = &prompt.Ignored{How: "response", Text: "<response>DONE</response>", Why: "it is within other words or in code"}
	}),
	"24-a-claim-of-a-turn-that-failed": bare("make it work", func(p *prompt.Parts) {
		p.Promise = "COMPLETE"
		p.Ignored = &prompt.Ignored{How: "promise", Why: "the turn did not end well: the agent exited with code 3"}
	}),
	"25-a-pull-request": with(func(p *prompt.Parts) { p.PullRequest = ".ralph/login/PR.md" }),
	"26-review-comments": bare("make it work", func(p *prompt.Parts) {
		p.Messages = []prompt.Message{{Text: "leave the schema alone"}}
		p.Comments = []prompt.Message{{Text: "carol on login.go:12 (https://github.com/acme/shop/pull/7#discussion_r31):\n> Check the error.\n> Please."}}
	}),
	"27-ralph-by-its-path":     with(func(p *prompt.Parts) { p.Ralph = "/opt/ralph/bin/ralph" }),
	"29-a-small-change":        with(func(p *prompt.Parts) { p.MaxDiff = 400 }),
	"30-several-pull-requests": with(func(p *prompt.Parts) { p.MaxDiff, p.PullRequest = 400, ".ralph/login/PR.md" }),
	"28-the-base-names-ralph-ask": with(func(p *prompt.Parts) {
		p.Base, p.Ralph = "Make it work. If in doubt, use ralph ask.", "/opt/ralph/bin/ralph"
	}),
}

func TestTestdataPrompts(t *testing.T) {
	for name, parts := range examples {
		t.Run(name, func(t *testing.T) {
			// A file ends with a newline, a prompt does not.
			golden.Check(t, filepath.Join("testdata", name+".txt"), prompt.Compose(parts)+"\n")
		})
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != len(examples) {
		t.Errorf("%d files for %d examples, %v", len(files), len(examples), err)
	}
}

func TestBlankPartsLeaveNoTrace(t *testing.T) {
	got := prompt.Compose(prompt.Parts{
		Base: "base", Failures: []prompt.Failure{{Action: prompt.Replace, Message: " \n"}, {Action: prompt.Append}}, Left: []string{""},
		Refused: []string{"\n"}, Hints: []string{" "}, Reflection: "\n", Messages: []prompt.Message{{From: "cli:ada@mill"}}, DoneFile: true, Checklist: true, MinToolCalls: 1,
	})
	if got != "base" {
		t.Errorf("%q", got)
	}
}

func TestUnknownActionAppends(t *testing.T) {
	got := prompt.Compose(prompt.Parts{Base: "base", Failures: []prompt.Failure{{Action: "append", Message: "failed"}}})
	if got != "base\n\nfailed" {
		t.Errorf("%q", got)
	}
}

func TestBaseNamingTheFile(t *testing.T) {
	base := "make it work, then touch .ralph/login/DONE"
	if got := prompt.Compose(prompt.Parts{Base: base, LoopDir: ".ralph/login/", DoneFile: true}); got != base {
		t.Errorf("%q", got)
	}
}

func TestCountIsNeverNegative(t *testing.T) {
	if got := prompt.Compose(prompt.Parts{CountInPrompt: true, Iteration: 12, Of: 10}); got != "Iteration 12 of 10, 0 remaining." {
		t.Errorf("%q", got)
	}
}

// words are texts of several lines, none of them blank.
var words = rapid.StringMatching(`[^\s<>]([^\r<>]|\n){0,30}[^\s<>]`)

func draw(t *rapid.T) prompt.Parts {
	texts := rapid.SliceOfN(words, 0, 3)
	maybe := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-zA-Z0-9./_-]{1,12}`))
	p := prompt.Parts{
		Base: words.Draw(t, "base"), CountInPrompt: rapid.Bool().Draw(t, "count"), Iteration: rapid.IntRange(1, 100).Draw(t, "iteration"),
		Of: rapid.IntRange(0, 100).Draw(t, "of"), LoopDir: maybe.Draw(t, "folder"), TaskFile: maybe.Draw(t, "file"),
		Checklist: rapid.Bool().Draw(t, "checklist"), Promise: maybe.Draw(t, "promise"), Response: maybe.Draw(t, "response"),
		DoneFile: rapid.Bool().Draw(t, "done"), MinToolCalls: rapid.IntRange(0, 5).Draw(t, "tools"),
		Left: texts.Draw(t, "left"), Refused: texts.Draw(t, "refused"), Hints: texts.Draw(t, "hints"),
		Reflection: rapid.OneOf(rapid.Just(""), words).Draw(t, "reflection"),
	}
	for _, message := range texts.Draw(t, "failures") {
		p.Failures = append(p.Failures, prompt.Failure{Action: rapid.SampledFrom([]string{prompt.Append, prompt.Prepend, prompt.Replace}).Draw(t, "action"), Message: message})
	}
	for _, text := range texts.Draw(t, "messages") {
		p.Messages = append(p.Messages, prompt.Message{From: maybe.Draw(t, "from"), Text: text})
	}
	if rapid.Bool().Draw(t, "same") {
		p.Same = &prompt.Same{Again: rapid.Bool().Draw(t, "again"), Cut: rapid.Bool().Draw(t, "cut")}
	}
	return p
}

func TestNoPartIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		got := prompt.Compose(p)
		replaced := false
		want := []string{p.Reflection, p.TaskFile}
		for _, failure := range p.Failures {
			want, replaced = append(want, failure.Message), replaced || failure.Action == prompt.Replace
		}
		if !replaced {
			want = append(want, p.Base)
		}
		switch {
		case p.Promise != "":
			want = append(want, "<promise>"+p.Promise+"</promise>")
		case p.Response != "":
			want = append(want, "<response>"+p.Response+"</response>")
		}
		for _, entries := range [][]string{p.Left, p.Refused, p.Hints} {
			for _, entry := range entries {
				if strings.TrimSpace(entry) != "" {
					want = append(want, indented(entry))
				}
			}
		}
		for _, message := range p.Messages {
			if strings.TrimSpace(message.Text) != "" {
				want = append(want, indented(message.Text), message.From)
			}
		}
		for _, part := range want {
			// A part of white space alone is left out: see Parts.
			if strings.TrimSpace(part) != "" && !strings.Contains(got, part) {
				t.Fatalf("%q is not in %q", part, got)
			}
		}
	})
}

func indented(entry string) string { return strings.ReplaceAll(entry, "\n", "\n  ") }

func TestBaseComesFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		p.CountInPrompt, p.Same, p.Reflection = false, nil, ""
		for i := range p.Failures {
			p.Failures[i].Action = prompt.Append
		}
		got := prompt.Compose(p)
		// What does not change from one iteration to the next comes before all that does.
		steady := p
		steady.Failures, steady.Left, steady.Refused, steady.Hints, steady.Messages, steady.Asked = nil, nil, nil, nil, nil, nil
		blank := strings.TrimSpace(p.Base) == ""
		if !blank && !strings.HasPrefix(got, p.Base) || !strings.HasPrefix(got, prompt.Compose(steady)) {
			t.Fatalf("%q", got)
		}
	})
}

func TestComposeIsDeterministicAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		got := prompt.Compose(p)
		if again := prompt.Compose(p); again != got {
			t.Fatalf("%q, and then %q", got, again)
		}
		bound := 1536 + len(p.Base) + len(p.LoopDir) + len(p.TaskFile) + 2*len(p.Promise) + 2*len(p.Response) + len(p.Reflection)
		entries := [][]string{p.Left, p.Refused, p.Hints, nil, p.Asked}
		for _, message := range p.Messages {
			bound += len(message.From)
			entries[3] = append(entries[3], message.Text)
		}
		for _, failure := range p.Failures {
			bound += len(failure.Message) + 2
		}
		for _, list := range entries {
			for _, entry := range list {
				bound += len(entry) + 2*strings.Count(entry, "\n") + 6
			}
		}
		if len(got) > bound {
			t.Fatalf("%d bytes, at most %d were expected: %q", len(got), bound, got)
		}
	})
}

// An agent that repeats its prompt line by line, or only its end, must claim nothing.
func TestPromptLinesAreNoClaim(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		for line := range strings.Lines(prompt.Compose(p)) {
			line = strings.TrimSpace(line)
			if strings.HasSuffix(line, "</promise>") || strings.HasSuffix(line, "</response>") {
				t.Fatalf("%q", line)
			}
		}
	})
}
