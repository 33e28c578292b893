package playground

import (
	"fmt"

	"github.com/ralph-loop/ralph/journal/event"
)

// The project's guardrail, and the file that it consists of.
const (
	guardrail     = "make test"
	guardrailFile = "parser_test.go"
	guardrailText = "package parser\n\nfunc TestCounts(t *testing.T) { … }\n"
)

// boxes are the checklist of task.md.
var boxes = []string{"count lines", "count words", "count bytes", "read several files", "print a total"}

// project is what the agent works on. It outlives runners, and its disk does not fail.
type project struct {
	w       *Run
	done    int  // boxes whose work is done
	ticked  int  // boxes that the agent ticked
	wrong   bool // the tests fail
	gamed   bool // the agent changed the guardrail's file
	flaky   bool // the next run of the guardrail fails, whatever the work is
	changed int  // lines that are not committed
	edits   int
	commits int
	head    string
}

func (p *project) begin(w *Run) {
	p.w = w
	p.commit()
	p.commits = 0
}

// work is one edit of the agent: it completes a box, or repairs what is wrong. Now and then it
// makes a mistake.
func (p *project) work() string {
	p.edits++
	p.changed += 8 + p.w.rng.IntN(30)
	switch {
	case p.wrong:
		p.wrong = false
		p.ticked = p.done
		return "parser.go: correct what the test found"
	case p.ticked > p.done:
		p.ticked = p.done
		return "task.md: untick what is not done"
	case p.done == len(boxes):
		return "parser.go: tidy up"
	}
	p.wrong = p.w.chance(20)
	p.done++
	p.ticked = p.done
	return "parser.go: " + boxes[p.done-1]
}

// game makes the project look done: it changes the test and ticks all boxes.
func (p *project) game() {
	p.gamed, p.wrong, p.ticked = true, true, len(boxes)
	p.edits++
	p.changed += 3
}

func (p *project) commit() {
	p.commits++
	p.changed, p.head = 0, sum(fmt.Sprint(p.w.rng.Uint64()))[:40]
}

// repo is the state of the repository.
func (p *project) repo(when event.Moment) event.RepoInspected {
	seen := event.RepoInspected{Root: ".", When: when, Head: p.head, Branch: "ralph/parser"}
	if p.changed > 0 {
		seen.Dirty, seen.Files, seen.Insertions = true, 2, p.changed
		seen.Fingerprint = fmt.Sprint("edit", p.edits)
	}
	return seen
}

// folder is the checklist of task.md.
func (p *project) folder() event.FolderInspected {
	return event.FolderInspected{Boxes: len(boxes), Ticked: p.ticked, Open: boxes[p.ticked:], SHA256: sum(fmt.Sprint("task.md", p.ticked))}
}

// verdict is the result of the guardrail, whose file is as the person wrote it.
func (p *project) verdict() event.GuardrailEnded {
	ended := event.GuardrailEnded{Name: guardrail, OK: !p.wrong && !p.flaky, Log: "guardrails/1.log"}
	if ended.OK {
		return ended
	}
	text := "The guardrail 'make test' failed.\n" + event.OutputFollows + "--- FAIL: TestCounts\n    parser_test.go:31: got 3 words, want 4"
	if p.flaky {
		p.flaky = false
		text = "The guardrail 'make test' failed.\n" + event.OutputFollows + "dial tcp 127.0.0.1:5432: connection refused"
	}
	ended.Code, ended.Action = 2, "APPEND"
	ended.Message = &event.Blob{Text: text, Bytes: len(text)}
	return ended
}

// truth is how far the work is, which the loop knows only from what it checks.
func (p *project) truth() string {
	text := fmt.Sprintf("%d of %d boxes are done, %d ticked", p.done, len(boxes), p.ticked)
	if p.wrong {
		text += "; the tests fail"
	}
	return text
}
