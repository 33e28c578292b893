package fleet

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// A Listing is what other programs need to work through tasks as a fleet does: a pool, whose loops
// are on several hosts.
type Listing struct {
	Tasks []Listed `json:"tasks"` // each after those that it depends on
	// Guardrails is the setting of that name with the commands of a plan; absent if it has none.
	Guardrails string `json:"guardrails,omitempty"`
}

// A Listed task is one that is not done.
type Listed struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Prompt    string   `json:"prompt"`
	DependsOn []string `json:"dependsOn,omitempty"` // of those in the listing
}

// List reads the tasks of a folder, or without one the stories of ralph/tasks.json.
func List(e *cli.Env, folder string) (l Listing, err error) {
	if folder != "" {
		folder = e.Abs(folder)
	}
	tasks, err := ReadTasks(e.Root(), folder)
	if err != nil {
		return l, cli.Refuse("give a folder of task files with --from DIR, or write ralph/tasks.json: 'ralph plan' does that with your agent", "%w", err)
	}
	l.Tasks, l.Guardrails = []Listed{}, tasks.guardrails(e, e.Root())
	about := aboutPlan(e.Root(), folder)
	done := map[string]bool{}
	for _, t := range tasks.List {
		done[t.ID] = t.Done
	}
	listed := map[string]bool{}
	ready := func(t Task) bool {
		return !t.Done && !listed[t.ID] && !slices.ContainsFunc(t.DependsOn, func(on string) bool { return !done[on] && !listed[on] })
	}
	for at := slices.IndexFunc(tasks.List, ready); at >= 0; at = slices.IndexFunc(tasks.List, ready) {
		t := tasks.List[at]
		listed[t.ID] = true
		l.Tasks = append(l.Tasks, Listed{
			ID: t.ID, Title: t.Title, Prompt: fmt.Sprintf(alonePrompt, t.Text, about),
			DependsOn: slices.DeleteFunc(slices.Clone(t.DependsOn), func(on string) bool { return done[on] }),
		})
	}
	return l, nil
}

// alonePrompt is the prompt of a loop that shares no disk with the others of its fleet.
const alonePrompt = `%s%s

You work on this task alone; other loops work on other tasks of the same project at the same time, on other machines. What
this task depends on is in your branch. Commit your work when it is done. Do not push it: that is done for you.
`
