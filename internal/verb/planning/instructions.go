package planning

import (
	_ "embed" // instructions.md
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/plan"
)

//go:embed instructions.md
var instructions string

// A briefing is what the agent of an interview has to know.
type briefing struct {
	derive   bool      // prd.md has content: the agent derives the stories from it, and does not change it
	from     string    // the file that prd.md was copied from; empty if there is none
	source   string    // foreign text that the plan is about, such as an issue; empty if there is none
	worked   []string  // ids of stories that an iteration has worked on
	findings []Finding // what was wrong after the interview before
	printed  bool      // ralph does not run the agent, so that it neither puts back nor checks anything
}

// Steps of the two modes.
const (
	fullMode = `
Together you write two files: ralph/prd.md, the requirements, and ralph/tasks.json, the stories.
`
	fullSteps = `
1. Look at the project first: what it is, how it is built, which patterns its code follows. Do not ask what you can read.
2. Ask the person questions until the requirements are clear. There is no limit: about the problem and the goal, what
   has to work, what is left out, the technical surroundings, constraints, and how success is recognized. Ask a few at a
   time, propose answers where you can, and go deeper where an answer is vague. Go on until you could implement it
   without another question.
3. Write ralph/prd.md. It has these sections now; fill in those that the work needs, delete the others and all comments:
%s
   Non-Goals and Constraints matter most: agents add what is not excluded, and every story has to keep the constraints.
4. Derive ralph/tasks.json from it.
`
	deriveMode = `
The requirements are written: ralph/prd.md. You derive the stories from them, in ralph/tasks.json. ralph/prd.md stays
exactly as it is%s.
`
	deriveSteps = `
1. Read ralph/prd.md, and those parts of the project that it is about.
2. Ask the person only where the requirements are incomplete, contradictory or can be read in two ways.
3. Derive ralph/tasks.json. Every requirement is in an acceptance criterion of a story, and no story goes beyond the
   requirements.
`
)

// text returns the instructions for the agent.
func (b briefing) text() string {
	mode, steps := fullMode, fmt.Sprintf(fullSteps, sections())
	if b.derive {
		and := ""
		if b.from != "" {
			and = fmt.Sprintf(", and so does %s, which it was copied from", b.from)
		}
		if !b.printed {
			and += ": ralph puts back what has changed"
		}
		mode, steps = fmt.Sprintf(deriveMode, and), deriveSteps
	}
	if b.source != "" {
		steps += "\nThe plan is about what is asked for below. Its checklists can become acceptance criteria.\n\n" +
			forge.Foreign("an issue", strings.TrimSpace(b.source)) + "\n"
	}
	existing := ""
	if len(b.worked) > 0 {
		existing = "- The loop has worked on " + strings.Join(b.worked, ", ") + " already. These stories stay as they are, with their ids: add new ones.\n"
	}
	if len(b.findings) > 0 {
		existing += "\n# What is wrong with the plan now\n\nThe two files exist. 'ralph plan --check' found this in them; correct it with the person:\n\n"
		for _, f := range b.findings {
			existing += "- " + f.Text + "\n"
		}
	}
	after := ": ralph checks\nthe plan once more after it"
	if b.printed {
		after = ""
	}
	return strings.NewReplacer("{{MODE}}", mode, "{{STEPS}}", steps, "{{EXISTING}}", existing, "{{AFTER}}", after).Replace(instructions)
}

// sections lists the headings of the template of prd.md.
func sections() string {
	var list strings.Builder
	for line := range strings.Lines(string(plan.Template(plan.PRD, plan.Values{}))) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			fmt.Fprintf(&list, "   - %s\n", title)
		}
	}
	return strings.TrimSuffix(list.String(), "\n")
}

// workedOn returns the ids of the stories that do not have the values that a story begins with.
func workedOn(list *story.List) (ids []string) {
	for i := range list.Stories {
		if s := &list.Stories[i]; s.Passes || s.ReviewStatus != "" || s.ReviewCount != 0 {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
