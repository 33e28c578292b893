package planning

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// planned is a project with a plan of these files.
func planned(t *testing.T, prd, tasks, progress string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{plan.PRD: prd, plan.Tasks: tasks, plan.Progress: progress} {
		put(t, plan.Path(dir, name), text)
	}
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	testfile.Write(t, path, text)
}

const goodPRD = "# PRD: demo\n\n## 1. Summary\n\nA search.\n"

const goodTasks = `{
  "project": "demo", "branchName": "ralph/search", "description": "A search", "verifyCommands": ["make test"],
  "userStories": [
    {"id": "US-001", "title": "Index", "description": "An index of all notes. It is kept in memory.", "acceptanceCriteria": ["index.go has Build, which returns one entry for each word"],
     "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []},
    {"id": "US-002", "title": "Box", "description": "A search box above the list.", "acceptanceCriteria": ["Typing filters the list while it is typed"],
     "priority": 2, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": ["US-001"]}
  ]
}`

func TestCheckOfGoodPlan(t *testing.T) {
	c := Check(planned(t, goodPRD, goodTasks, ""))
	if diff := cmp.Diff([]Finding{}, c.Findings); diff != "" {
		t.Error(diff)
	}
	if c.Stories != 2 || c.Done != 0 || c.Least != 4 || c.Likely < c.Least {
		t.Errorf("%+v", c)
	}
}

// Each row changes one thing of a good plan, and names the one finding that follows.
func TestCheckFindsEachProblem(t *testing.T) {
	replaced := func(old, text string) string {
		if !strings.Contains(goodTasks, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(goodTasks, old, text, 1)
	}
	for name, row := range map[string]struct {
		tasks string
		error bool
		want  string // of the text
	}{
		"no JSON":            {"{", true, "tasks.json"},
		"no stories":         {`{"project": "x", "branchName": "x", "description": "x", "verifyCommands": ["x"], "userStories": []}`, true, "the list is empty"},
		"the template":       {string(plan.Template(plan.Tasks, plan.Values{})), true, "nothing but the template's"},
		"a schema error":     {replaced(`"title": "Index"`, `"title": 7`), true, "story US-001, field title"},
		"an unknown id":      {replaced(`["US-001"]`, `["US-009"]`), true, "US-009"},
		"no checks":          {replaced(`["make test"]`, `[]`), false, "field verifyCommands: it is empty"},
		"no description":     {replaced("A search box above the list.", " "), false, "story US-002, field description: it is empty"},
		"many sentences":     {replaced("above the list.", "above the list. It filters. It sorts! Is it fast? It has 1.5 colors."), false, "more than 4 sentences"},
		"a list of changes":  {replaced("above the list.", `above:\n- a\n- b\n- c\n- d\n- e`), false, "more than 4 sentences"},
		"a long text":        {replaced("above the list.", strings.Repeat("and more ", 80)), false, "more than 4 sentences"},
		"many criteria":      {replaced(`"Typing filters the list while it is typed"`, strings.Repeat(`"A row is shown",`, 8)+`"A row is shown"`), false, "with 9 of them"},
		"a vague criterion":  {replaced("Typing filters the list while it is typed", "The search works correctly"), false, `"The search works correctly" cannot be checked, because of "works correctly"`},
		"a short criterion":  {replaced("Typing filters the list while it is typed", "Fast"), false, `"Fast" is too short`},
		"a wrong order":      {replaced(`"priority": 2`, `"priority": 0.5`), false, "it is 0.5, and the story depends on US-001 with priority 1"},
		"the same title":     {replaced(`"title": "Box"`, `"title": "index"`), false, "story US-001 has the same one"},
		"begins in review":   {replaced(`"reviewStatus": null`, `"reviewStatus": "needs_review"`), false, "story US-001, field reviewStatus: no iteration"},
		"begins reviewed":    {replaced(`"reviewCount": 0`, `"reviewCount": 2`), false, "story US-001, field reviewCount: no iteration"},
		"begins with advice": {replaced(`"reviewFeedback": ""`, `"reviewFeedback": "x"`), false, "story US-001, field reviewFeedback: no iteration"},
		"begins done":        {replaced(`"passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": ""`, `"passes": true, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "x"`), false, "field passes: no iteration"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Check(planned(t, goodPRD, row.tasks, ""))
			if len(c.Findings) != 1 || !strings.Contains(c.Findings[0].Text, row.want) || c.Findings[0].Error != row.error || c.Errors() != row.error {
				t.Errorf("%+v", c.Findings)
			}
		})
	}
}

func TestCheckOfRequirements(t *testing.T) {
	for name, row := range map[string]struct{ prd, want string }{
		"the template": {string(plan.Template(plan.PRD, plan.Values{Project: "demo"})), "no content yet"},
		"empty":        {"", "no content yet"},
	} {
		c := Check(planned(t, row.prd, goodTasks, ""))
		if len(c.Findings) != 1 || c.Errors() || !strings.Contains(c.Findings[0].Text, row.want) {
			t.Errorf("%s: %+v", name, c.Findings)
		}
	}
	dir := planned(t, goodPRD, goodTasks, "")
	if err := os.Remove(plan.Path(dir, plan.PRD)); err != nil {
		t.Fatal(err)
	}
	if c := Check(dir); len(c.Findings) != 1 || c.Errors() || !strings.Contains(c.Findings[0].Text, "there is no prd.md") {
		t.Errorf("%+v", c.Findings)
	}
	if c := Check(t.TempDir()); !c.Errors() || c.Stories != 0 {
		t.Errorf("%+v", c)
	}
}

// A file that an agent has filled with nonsense does not fill the terminal, and takes no time.
func TestCheckIsBounded(t *testing.T) {
	var tasks strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&tasks, `,{"id": "US-%d", "title": "x%d", "description": "", "acceptanceCriteria": [%s"works well"], "priority": %d, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "dependsOn": [%s]}`,
			n, n, strings.Repeat(`"works well",`, 10), -n, strings.TrimPrefix(strings.Repeat(`,"US-0"`, min(n, 1)), ","))
	}
	c := Check(planned(t, goodPRD, `{"project": "x", "branchName": "x", "description": "x", "userStories": [`+tasks.String()[1:]+`]}`, ""))
	if last := c.Findings[len(c.Findings)-1].Text; len(c.Findings) != maxFindings+1 || !strings.HasSuffix(last, " more warnings are left out") || c.Errors() {
		t.Errorf("%d findings, the last is %s", len(c.Findings), last)
	}
}

// While a loop works, stories have other values than at the beginning, and what is done does not
// have to be small.
func TestCheckOfWorkedPlan(t *testing.T) {
	tasks := strings.Replace(goodTasks, `"reviewStatus": null, "reviewCount": 0, "reviewFeedback": ""`, `"reviewStatus": "changes_requested", "reviewCount": 1, "reviewFeedback": "x"`, 1)
	fresh := string(plan.Template(plan.Progress, plan.Values{}))
	if c := Check(planned(t, goodPRD, tasks, fresh)); len(c.Findings) != 1 {
		t.Errorf("%+v", c.Findings)
	}
	if c := Check(planned(t, goodPRD, tasks, fresh+"\n## Iteration 1\n")); len(c.Findings) != 0 {
		t.Errorf("%+v", c.Findings)
	}
	done := strings.NewReplacer(`"passes": false, "reviewStatus": null, "reviewCount": 0`, `"passes": true, "reviewStatus": "approved", "reviewCount": 1`,
		`"notes": ""`, `"notes": "x"`, "A search box above the list.", "", "Index", "").Replace(goodTasks)
	done = strings.Replace(done, `"title": ""`, `"title": "x"`, 1)
	if c := Check(planned(t, goodPRD, done, "")); len(c.Findings) != 0 || c.Done != 2 || c.Likely != 0 {
		t.Errorf("%+v", c)
	}
}

func TestVagueCriteria(t *testing.T) {
	for text, want := range map[string]string{
		"Filter works correctly":                               "works correctly",
		"The page works as expected":                           "works as expected",
		"Errors are handled gracefully":                        "gracefully",
		"The list is very fast":                                "is very fast",
		"The interface is intuitive":                           "is intuitive",
		"Sorts by name, date, etc.":                            " etc",
		"Retries if needed":                                    "if needed",
		"Limits are TBD":                                       "TBD",
		"Has good performance":                                 "good performance",
		"Follows best practices":                               "best practices",
		"The list is fast: under 200 ms for 1000 rows":         "",
		"Filter dropdown has options: All, Active, Done":       "",
		"`parse(\"\")` is correct: it returns an empty list":   "",
		"The TODO list shows one row for each entry":           "",
		"/etc/app.conf is read before the environment":         "",
		"The quick search box is above the list":               "",
		"Fields that are marked as required show a red border": "",
		"make test passes":                                     "",
	} {
		if got := vague(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
