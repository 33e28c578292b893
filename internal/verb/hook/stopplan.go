package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// ownPlan returns the project and the marker of the loop that runs this session, by the loop's
// folder; false if the loop does not work on a plan.
func ownPlan(e Env, in Input, dir string) (project string, m plan.Marker, ok bool, err error) {
	for project := range projects(e, in) {
		m, err := plan.ReadMarker(project)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", m, false, err
		case sameFolder(m.Dir, dir), e.Variable("RALPH_MACHINE") != "" && m.Loop != "" && m.Loop == e.Variable("RALPH_LOOP"): // a machine has the loop's folder elsewhere
			return project, m, true, nil
		}
	}
	return "", m, false, nil
}

// stopPlan judges a stop of an agent whose loop works on a plan. Sessions of other people and of
// other loops are not its business.
func stopPlan(ctx context.Context, e Env, in Input) (Reply, error) {
	dir, ok := ownLoop(e)
	if !ok {
		return Reply{}, nil
	}
	project, m, ok, err := ownPlan(e, in, dir)
	if !ok {
		return Reply{}, err
	}
	found, note := planProblems(ctx, project, m)
	if len(found) == 0 {
		return Reply{Note: note}, forgetHeld(e, in.Session)
	}
	text := strings.Join(found, "\n\n")
	hold, err := countHeld(e, in, text)
	if !hold {
		return Reply{Note: "ralph: the agent stops although the plan is not in order; the loop judges it now"}, err
	}
	return Reply{Block: "ralph: this iteration cannot end yet.\n\n" + text + "\n\nCorrect this, then stop again.", Note: note}, err
}

// planProblems makes the checks in their order, each with what is wrong and what to do. The note is
// for the person.
func planProblems(ctx context.Context, project string, m plan.Marker) (found []string, note string) {
	list, text := checkForm(project)
	if text != "" {
		found = append(found, text)
	} else if text, note = checkReview(list, m); text != "" {
		found = append(found, text)
	}
	if text := checkCommitted(ctx, project, m.IterationMode); text != "" {
		found = append(found, text)
	}
	return found, note
}

// checkForm is check 1: tasks.json has the form that a loop needs. The list is nil if the file
// cannot be read as one.
func checkForm(project string) (*story.List, string) {
	data, err := plan.ReadTasks(project)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "ralph/tasks.json is gone. Write it again, for example with 'git checkout -- ralph/tasks.json'."
	}
	if err != nil {
		return nil, "ralph/tasks.json cannot be read: " + err.Error()
	}
	list, problems := story.Parse(data)
	return list, describe("ralph/tasks.json is not valid:", problems)
}

// checkReview is check 2, the fields of a story do not contradict each other, and check 2.5, they
// changed only as an iteration of this mode may change them. Without a snapshot only check 2 is
// made, and the note says so.
func checkReview(list *story.List, m plan.Marker) (text, note string) {
	before, mode := m.States(), m.IterationMode
	if before == nil || mode == "" {
		before, mode = nil, ""
		if !m.SkipReview {
			note = "ralph: " + plan.Active + " has no snapshot of the stories, so what this iteration may change was not checked"
		}
	}
	problems := story.Judge(before, list, mode, story.Rules{SkipReview: m.SkipReview, Cap: max(1, m.ReviewCap)})
	return describe("ralph/tasks.json is not as this iteration may leave it:", problems), note
}

const mostShown = 20 // problems, or files, in a message

// describe lists problems under a heading; "" if there are none.
func describe(heading string, problems []event.StoryProblem) string {
	var lines []string
	for i, p := range problems {
		if i == mostShown {
			lines = append(lines, fmt.Sprintf("- and %d more", len(problems)-i))
			break
		}
		lines = append(lines, "- "+units.Cut(p.Text, 500))
	}
	if len(lines) == 0 {
		return ""
	}
	return heading + "\n" + strings.Join(lines, "\n")
}

// checkCommitted is check 3: everything is committed. A project without version control, or one
// that git cannot read, has nothing to commit.
func checkCommitted(ctx context.Context, project string, mode event.StoryMode) string {
	paths, err := repo.Changed(ctx, project)
	if err != nil {
		return ""
	}
	var shown []string
	count := 0
	for _, path := range paths {
		if path == plan.Active || strings.HasSuffix(path, "/"+plan.Active) {
			continue
		}
		if count++; count <= mostShown {
			shown = append(shown, units.Cut(fmt.Sprintf("%q", path), 200))
		}
	}
	if count == 0 {
		return ""
	}
	text := fmt.Sprintf("%s with uncommitted changes: %s", units.Quantity(count, "file"), strings.Join(shown, ", "))
	if count > len(shown) {
		text += ", …"
	}
	text += ".\n1. Write into ralph/progress.txt what this iteration did and learned.\n" +
		"2. If something will be true after this loop too, add it to CLAUDE.md, .claude/rules/ or AGENTS.md.\n"
	if mode == event.ModeReview {
		return text + "3. A review changes no code: undo changes of code. Commit the rest, with progress.txt and tasks.json."
	}
	return text + "3. Commit all changes, with progress.txt and tasks.json."
}

// Bounds of how often one session is held. The runner of the loop judges what an agent leaves, so
// an agent that cannot correct it must be able to stop. Claude Code allows 8 in a row by itself,
// Codex any number.
const (
	mostHeld    = 8  // in a row, for the same problems
	mostHeldAll = 24 // in a row, whatever the problems
)

// countHeld reports whether the session may be held once more, and counts it.
func countHeld(e Env, in Input, problems string) (hold bool, err error) {
	all, err := openRecords(e)
	if err == nil {
		defer all.Close()
		err = all.change(in.Session, func(r *record) {
			if name := nameOf(problems); name != r.Problems {
				r.Problems, r.Held = name, 0
			}
			if hold = r.Held < mostHeld && r.HeldAll < mostHeldAll; hold {
				r.Held++
				r.HeldAll++
			}
		})
	}
	if err != nil { // without a count, once must be enough
		return !in.StopHookActive, err
	}
	return hold, nil
}

// forgetHeld ends the count when a stop was in order.
func forgetHeld(e Env, session string) error {
	all, err := openRecords(e)
	if err != nil {
		return err
	}
	defer all.Close()
	if all.read(session).HeldAll == 0 {
		return nil
	}
	return all.change(session, func(r *record) { r.Problems, r.Held, r.HeldAll = "", 0, 0 })
}
