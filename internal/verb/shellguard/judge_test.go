package shellguard

import (
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

const project = "/home/ada/project"

func testContext() Context {
	return Context{Dir: project, Project: project, Home: "/home/ada", Protected: []string{project + "/scripts/check.sh"}}
}

type row struct {
	line     int
	decision Decision
	category Category
	command  string
}

// table reads testdata/commands.txt.
func table(t testing.TB) []row {
	data, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verdict, command, ok := strings.Cut(line, " | ")
		words := strings.Fields(verdict)
		if !ok || len(words) == 0 {
			t.Fatalf("line %d is no row: %s", i+1, line)
		}
		r := row{line: i + 1, decision: Decision(words[0]), command: strings.ReplaceAll(command, "⏎", "\n")}
		if len(words) > 1 {
			r.category = Category(words[1])
		}
		rows = append(rows, r)
	}
	return rows
}

func TestCommands(t *testing.T) {
	for _, r := range table(t) {
		v := Judge(r.command, testContext())
		if v.Decision != r.decision || v.Category != r.category {
			t.Errorf("line %d: %s\n\tis %s %s (%s: %s), want %s %s", r.line, r.command, v.Decision, v.Category, v.Command, v.Reason, r.decision, r.category)
		}
		if v.Decision != Allow && (len(v.Reason) < 20 || !strings.HasSuffix(v.Reason, ".")) {
			t.Errorf("line %d: the reason is no sentence: %q", r.line, v.Reason)
		}
	}
}

// What puts files back is allowed where each of them is committed.
func TestCleanTreeLosesNothing(t *testing.T) {
	for _, command := range []string{
		"git reset --hard", "git reset --hard HEAD~1", "git checkout -- .", "git restore .", "git checkout -f main", "git switch --discard-changes main",
		"sh -c 'git reset --hard'", "git -C inside reset --hard", "cd inside && git checkout .",
	} {
		for want, clean := range map[Decision]bool{Allow: true, Ask: false} {
			in := testContext()
			in.Clean = func(dir string) bool { return clean && (dir == project || dir == project+"/inside") }
			if v := Judge(command, in); v.Decision != want {
				t.Errorf("%s where clean is %v: %s %s", command, clean, v.Decision, v.Category)
			}
		}
	}
	in := testContext()
	in.Clean = func(dir string) bool { return dir == project }
	for _, command := range []string{"git -C ../other reset --hard", `cd "$X" && git reset --hard`, "git stash clear", "git clean -fdx",
		"git --git-dir=/o/.git --work-tree /o reset --hard", "GIT_WORK_TREE=/o git reset --hard", "export GIT_DIR=/o/.git; git reset --hard",
		"git -c core.worktree=/o checkout -f main", "git stash pop && git reset --hard"} {
		if v := Judge(command, in); v.Decision == Allow {
			t.Errorf("%s is allowed", command)
		}
	}
}

// wrappings are the forms in which every command of the table keeps its decision.
var wrappings = []struct {
	name     string
	wrap     func(quoted, plain string) string
	denyOnly bool
}{
	{name: "sh -c", wrap: func(q, _ string) string { return "sh -c " + q }},
	{name: "bash -lc", wrap: func(q, _ string) string { return "/bin/bash -lc " + q }},
	{name: "env", wrap: func(q, _ string) string { return "env A=1 bash -c " + q }},
	{name: "xargs", wrap: func(q, _ string) string { return "echo x | xargs -I@@ sh -c " + q }},
	{name: "subshell", wrap: func(_, p string) string { return "(\n" + p + "\n)" }},
	{name: "substitution", wrap: func(_, p string) string { return "echo \"$(\n" + p + "\n)\"" }},
	{name: "here-document", wrap: func(_, p string) string { return "bash <<'END_OF_TEXT'\n" + p + "\nEND_OF_TEXT" }},
	{name: "eval", wrap: func(q, _ string) string { return "eval " + q }},
	{name: "function", wrap: func(_, p string) string { return "wrapped() {\n" + p + "\n}; wrapped" }},
	{name: "timeout", wrap: func(q, _ string) string { return "timeout 60 nice -n 5 sh -c " + q }},
	{name: "branch", wrap: func(_, p string) string { return "if true; then\n" + p + "\nfi" }},
	{name: "ssh", wrap: func(q, _ string) string { return "ssh localhost bash -c " + q }, denyOnly: true},
	{name: "sudo", wrap: func(q, _ string) string { return "sudo bash -c " + q }, denyOnly: true},
}

// wraps reports whether a command can be put into other text: it has to be complete.
func wraps(r row) bool {
	_, err := parse(r.command)
	return err == nil
}

func TestWrappingsKeepTheDecision(t *testing.T) {
	wrapped := 0
	for _, r := range table(t) {
		quoted, err := syntax.Quote(r.command, syntax.LangBash)
		if err != nil || !wraps(r) {
			continue
		}
		for _, w := range wrappings {
			if w.denyOnly && r.decision != Deny || w.name == "ssh" {
				continue
			}
			wrapped++
			text := w.wrap(quoted, r.command)
			if v := Judge(text, testContext()); v.Decision != r.decision {
				t.Errorf("line %d in %s is %s %s (%s: %s), want %s: %s", r.line, w.name, v.Decision, v.Category, v.Command, v.Reason, r.decision, text)
			}
		}
	}
	if wrapped < 4000 {
		t.Errorf("%d wrapped commands only", wrapped)
	}
}

func TestEachCategoryIsCovered(t *testing.T) {
	rows := table(t)
	denied, allowed := map[Category]int{}, 0
	seen := map[string]int{}
	for _, r := range rows {
		if before := seen[r.command]; before != 0 {
			t.Errorf("line %d is line %d again", r.line, before)
		}
		seen[r.command] = r.line
		switch r.decision {
		case Deny:
			denied[r.category]++
		case Allow:
			allowed++
		}
	}
	for _, c := range Categories() {
		if denied[c] < 8 {
			t.Errorf("%s: %d denied commands, want 8", c, denied[c])
		}
		if c.Meaning() == "" {
			t.Errorf("%s has no meaning", c)
		}
	}
	if len(rows) < 400 || allowed < 150 {
		t.Errorf("%d commands, %d of them allowed; want 400 and 150", len(rows), allowed)
	}
}

func TestHarmlessNeighboursChangeNothing(t *testing.T) {
	harmless := []string{"true", "echo hi", "ls -l", "X=1", "cd .", "test -f go.mod", "echo \"$(date)\"", "for i in 1 2; do echo $i; done"}
	for i, r := range table(t) {
		if r.decision == Allow || !wraps(r) {
			continue
		}
		other := harmless[i%len(harmless)]
		for _, text := range []string{other + "; " + r.command, other + " && " + r.command, other + "\n" + r.command, r.command + "\n" + other, "{ " + other + "; }; " + r.command} {
			v := Judge(text, testContext())
			if v.Decision.rank() > r.decision.rank() {
				t.Errorf("line %d is %s with a neighbour, want %s: %s", r.line, v.Decision, r.decision, text)
			}
		}
	}
}
