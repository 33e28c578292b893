package plan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

var values = plan.Values{Project: "demo", Branch: "ralph/search", Date: "2025-06-15"}

// Part 4 of the specification's verification plan: everything is created, with its values.
func TestLayOutMakesAllFiles(t *testing.T) {
	dir := t.TempDir()
	made, err := plan.LayOut(dir, values)
	if err != nil {
		t.Fatal(err)
	}
	want := []plan.Made{{plan.PRD, true}, {plan.Tasks, true}, {plan.Progress, true}, {plan.Prompt, true}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	for _, name := range plan.Names {
		if got := text(t, plan.Path(dir, name)); strings.Contains(got, "{{") || got == "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := text(t, plan.Path(dir, plan.Progress)); !strings.HasPrefix(got, "# Ralph Progress Log\nStarted: 2025-06-15\nPRD: demo\n\n## Codebase Patterns\n") || !strings.HasSuffix(got, "\n---\n") {
		t.Errorf("%q", got)
	}
	var list map[string]any
	if err := json.Unmarshal([]byte(text(t, plan.Path(dir, plan.Tasks))), &list); err != nil {
		t.Fatal(err)
	}
	story := map[string]any{
		"id": "US-001", "title": "", "description": "", "acceptanceCriteria": []any{}, "priority": 1.0, "passes": false,
		"reviewStatus": nil, "reviewCount": 0.0, "reviewFeedback": "", "notes": "", "dependsOn": []any{},
	}
	if diff := cmp.Diff(map[string]any{
		"project": "demo", "branchName": "ralph/search", "description": "", "verifyCommands": []any{}, "userStories": []any{story},
	}, list); diff != "" {
		t.Error(diff)
	}
}

func TestLayOutOverwritesNothing(t *testing.T) {
	dir := project(t)
	testfile.Write(t, plan.Path(dir, plan.PRD), "mine")
	testfile.Write(t, plan.Path(dir, plan.Tasks), "")
	made, err := plan.LayOut(dir, values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]plan.Made{{plan.PRD, false}, {plan.Tasks, false}, {plan.Progress, true}, {plan.Prompt, true}}, made); diff != "" {
		t.Error(diff)
	}
	if got := text(t, plan.Path(dir, plan.PRD)) + text(t, plan.Path(dir, plan.Tasks)); got != "mine" {
		t.Errorf("%q", got)
	}
	testfile.Write(t, plan.Path(dir, plan.Prompt), "mine as well")
	if made, err = plan.LayOut(dir, values); err != nil || made[3].Created || text(t, plan.Path(dir, plan.Prompt)) != "mine as well" {
		t.Errorf("%v, %v", made, err)
	}
}

func TestLayOutRefusesOtherKinds(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, plan.Folder), "a program of that name")
	if _, err := plan.LayOut(dir, values); err == nil || text(t, filepath.Join(dir, plan.Folder)) != "a program of that name" {
		t.Errorf("a file in the place of the folder: %v", err)
	}
	dir = project(t)
	if err := os.Mkdir(plan.Path(dir, plan.Prompt), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.LayOut(dir, values); err == nil || plan.Exists(dir) {
		t.Errorf("a folder in the place of a file: %v, and others were made: %v", err, plan.Exists(dir))
	}
}

func TestTemplatesTakeAnyValue(t *testing.T) {
	odd := plan.Values{Project: "a\"b\\c\nd --> <&>\u2028", Branch: "ralph/\"x", Date: "x"}
	var list struct{ Project, BranchName string }
	if err := json.Unmarshal(plan.Template(plan.Tasks, odd), &list); err != nil || list.Project != odd.Project || list.BranchName != odd.Branch {
		t.Errorf("%+v, %v", list, err)
	}
	if !bytes.Contains(plan.Template(plan.PRD, odd), []byte("# PRD: a\"b\\c d ->")) {
		t.Error("a name has added lines to prd.md")
	}
}

func TestPRDWithoutContent(t *testing.T) {
	fresh := string(plan.Template(plan.PRD, values))
	for name, row := range map[string]struct {
		prd  string
		want bool
	}{
		"the template":              {fresh, true},
		"with Windows lines":        {"\ufeff" + strings.ReplaceAll(fresh, "\n", "\r\n"), true},
		"without comments":          {"# PRD: demo\n\n## 1. Summary\n\n## 3. Goals\n", true},
		"empty":                     {"", true},
		"another title":             {"# Search\n\n## 1. Summary\n", true},
		"a sentence":                {strings.Replace(fresh, "## 2.", "A search for people.\n\n## 2.", 1), false},
		"a row of a table":          {fresh + "\n| a | b | c | d |\n", false},
		"a heading of its own":      {"# PRD: demo\n\n## The search\n", false},
		"two titles":                {"# PRD: demo\n\n# Search\n", false},
		"a comment that never ends": {"# PRD\n<!-- open\n", false},
	} {
		if got := plan.IsTemplate([]byte(row.prd)); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A person's prompt.md adds nothing until something is written in it.
func TestPromptTemplateAddsNothing(t *testing.T) {
	if got := plan.Additions(string(plan.Template(plan.Prompt, values)), 1, 15); got != "" {
		t.Errorf("%q", got)
	}
}

// The sections of prd.md, and their tiers.
func TestPRDTemplateHasAllSections(t *testing.T) {
	prd := string(plan.Template(plan.PRD, values))
	for _, title := range []string{
		"## 1. Summary", "## 2. Problem Statement", "## 3. Goals", "## 4. Non-Goals", "## 5. Background & Context",
		"## 6. Technical Design", "### 6a. Database Changes", "### 6b. API Contracts", "### 6c. Core Logic Changes", "### 6d. Frontend Changes",
		"### 6e. Infrastructure / Config Changes", "## 7. Constraints", "## 8. Edge Cases & Error Handling", "## 9. Risks & Mitigations", "## 10. Open Questions",
	} {
		_, after, found := strings.Cut(prd, title+"\n")
		if next := strings.TrimSpace(after); !found || !strings.HasPrefix(next, "<!--") {
			t.Errorf("%s has no comment", title)
		}
	}
}
