package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

func texts(problems []event.StoryProblem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

func TestParseReadsAll(t *testing.T) {
	l, problems := Parse([]byte(three))
	if len(problems) > 0 {
		t.Fatal(texts(problems))
	}
	if l.Project != "p" || l.BranchName != "ralph/x" || strings.Join(l.VerifyCommands, ",") != "make test" {
		t.Errorf("header: %+v", l)
	}
	one, two, last := l.Stories[0], l.Stories[1], l.Stories[2]
	if !one.Passes || one.ReviewStatus != event.StoryApproved || one.ReviewCount != 1 || one.Notes != "did it" {
		t.Errorf("first: %+v", one)
	}
	if two.Priority != 2.5 || two.ReviewStatus != "" || two.AcceptanceCriteria[0] != "a" {
		t.Errorf("second: %+v", two)
	}
	if strings.Join(last.DependsOn, ",") != "US-002" || l.Find("US-003").Title != "three" || l.Find("US-004") != nil {
		t.Errorf("third: %+v", last)
	}
}

// one is a field of the first story of three.
const one = `"title": "one"`

// formCases change one thing of three, so that a problem names a story and a field.
var formCases = []struct{ name, old, changed, story, field, text string }{
	{"no project", `"project":"p",`, ``, "", "project", "missing"},
	{"no branch", `"branchName": "ralph/x",`, ``, "", "branchName", "missing"},
	{"no description", `"description": "",`, ``, "", "description", "missing"},
	{"project is a number", `"project":"p"`, `"project": 12`, "", "project", "a number (12), but must be a string"},
	{"commands are a text", `["make test"]`, `"make test"`, "", "verifyCommands", `a string ("make test"), but must be an array of strings`},
	{"a command is a number", `["make test"]`, `["make", 5]`, "", "verifyCommands", "entry 2 is a number (5)"},
	{"a command is empty", `["make test"]`, `[" "]`, "", "verifyCommands", "entry 1 is empty"},
	{"field twice", `"project":"p"`, `"project":"p","project":"q"`, "", "project", "twice"},
	{"unknown field twice", `"extra": {`, `"extra": 1, "extra": {`, "", "extra", "twice"},

	{"no id", `"id": "US-001", `, ``, "", "id", "the story at place 1 of userStories, field id: the field is missing"},
	{"id is a number", `"US-001"`, `1`, "", "id", "a number (1), but must be a string"},
	{"id is empty", `"US-001"`, `""`, "", "id", "empty"},
	{"id has a line break", `"US-001"`, `"US\n1"`, "", "id", "cannot be printed"},
	{"id has a blank around", `"US-001"`, `"US-001 "`, "", "id", "blank"},
	{"id is long", `"US-001"`, `"` + strings.Repeat("x", 101) + `"`, "", "id", "100 characters"},
	{"same id", `"US-002"`, `"US-001"`, "US-001", "id", "places 1 and 2"},
	{"story is a text", `"userStories": [`, `"userStories": ["x",`, "", "", "place 1 of userStories: it is a string"},
	{"story is null", `"userStories": [`, `"userStories": [null,`, "", "", "it is null, but must be an object"},
	{"story has a field twice", one, one + `, "passes": false`, "US-001", "passes", "story US-001, field passes: the field is there twice"},
	{"field twice by escapes", one, one + `, "p\u0061sses": false`, "US-001", "passes", "twice"},

	{"no title", one + `, `, ``, "US-001", "title", "missing"},
	{"title is empty", one, `"title": ""`, "US-001", "title", "empty"},
	{"title is null", one, `"title": null`, "US-001", "title", "it is null, but must be a string"},
	{"description is a list", one, one + `, "description": []`, "US-001", "description", "an array"},
	{"no criteria", `"acceptanceCriteria": ["a"], `, ``, "US-001", "acceptanceCriteria", "missing"},
	{"criteria are empty", `["a"]`, `[]`, "US-001", "acceptanceCriteria", "empty"},
	{"criteria are a text", `["a"]`, `"a"`, "US-001", "acceptanceCriteria", "array of strings"},
	{"no priority", `"priority": 1, `, ``, "US-001", "priority", "missing"},
	{"priority is a text", `"priority": 1`, `"priority": "high"`, "US-001", "priority", `a string ("high"), but must be a number`},
	{"priority is too large", `"priority": 1`, `"priority": 1e999`, "US-001", "priority", "must be a number"},
	{"no passes", ` "passes": true,`, ``, "US-001", "passes", "missing"},
	{"passes is a text", `"passes": true`, `"passes": "yes"`, "US-001", "passes", "true or false"},
	{"passes is a number", `"passes": true`, `"passes": 1`, "US-001", "passes", "true or false"},
	{"passes without notes", `"notes": "did it"`, `"notes": " \n"`, "US-001", "notes", "write what was done"},
	{"passes without a field notes", `, "notes": "did it"`, ``, "US-001", "notes", "write what was done"},
	{"notes are a list", `"notes": "did it"`, `"notes": ["did it"]`, "US-001", "notes", "an array, but must be a string"},
	{"no status", `"reviewStatus": "approved", `, ``, "US-001", "reviewStatus", "missing"},
	{"unknown status", `"approved"`, `"done"`, "US-001", "reviewStatus", `a string ("done"), but must be null, "needs_review"`},
	{"status is false", `"approved"`, `false`, "US-001", "reviewStatus", "a boolean (false)"},
	{"status is true", `"approved"`, `true`, "US-001", "reviewStatus", "a boolean (true)"},
	{"no count", `"reviewCount": 1, `, ``, "US-001", "reviewCount", "missing"},
	{"negative count", `"reviewCount": 1`, `"reviewCount": -1`, "US-001", "reviewCount", "a number (-1), but must be an integer from 0"},
	{"count has a fraction", `"reviewCount": 1`, `"reviewCount": 1.5`, "US-001", "reviewCount", "integer"},
	{"count is too large", `"reviewCount": 1`, `"reviewCount": 99999999999999999999`, "US-001", "reviewCount", "integer"},
	{"no feedback", `"reviewFeedback": "", `, ``, "US-001", "reviewFeedback", "missing"},
	{"feedback is null", `"reviewFeedback": ""`, `"reviewFeedback": null`, "US-001", "reviewFeedback", "it is null"},

	{"depends on a text", `["US-002"]`, `"US-002"`, "US-003", "dependsOn", "array of strings"},
	{"depends on an unknown story", `["US-002"]`, `["US-009"]`, "US-003", "dependsOn", `no story "US-009"`},
	{"depends on itself", `["US-002"]`, `["US-003"]`, "US-003", "dependsOn", "US-003 → US-003"},
	{"a cycle", `"color": "red"`, `"dependsOn": ["US-003"]`, "US-002", "dependsOn", "wait for each other: US-002 → US-003 → US-002"},
}

func TestParseNamesStoryAndField(t *testing.T) {
	for _, c := range formCases {
		t.Run(c.name, func(t *testing.T) {
			l, problems := Parse([]byte(edited(t, three, c.old, c.changed)))
			if l == nil || len(problems) == 0 {
				t.Fatalf("list %v, problems %v", l, problems)
			}
			p := problems[0]
			// A story without its id is another one for those that depend on it.
			if len(problems) > 1 && c.field != "id" && c.field != "" {
				t.Errorf("more problems: %s", texts(problems))
			}
			if p.Story != c.story || p.Field != c.field || !strings.Contains(p.Text, c.text) || p.Undone {
				t.Errorf("got %+v", p)
			}
			if !strings.Contains(p.Text, c.story) || !strings.Contains(p.Text, c.field) {
				t.Errorf("%q does not name %q and %q", p.Text, c.story, c.field)
			}
		})
	}
}

// TestParseNamesOnlyCycle has a story that waits for a cycle and is not part of it.
func TestParseNamesOnlyCycle(t *testing.T) {
	_, problems := Parse([]byte(edited(t, three, `"title": "one"`, `"title": "one", "dependsOn": ["US-003"]`, `["US-002"]`, `["US-003"]`)))
	if len(problems) != 1 || problems[0].Story != "US-003" || !strings.HasSuffix(problems[0].Text, "other: US-003 → US-003") {
		t.Error(texts(problems))
	}
}

func TestParseRefusesTexts(t *testing.T) {
	for _, c := range []struct{ name, data, text string }{
		{"nothing", "", "empty"},
		{"white space", " \n\t", "empty"},
		{"an array", " [1]", "has an array where an object is needed"},
		{"a number", "12", "has a number"},
		{"no list", `{"project": "p"}`, "userStories: the list is missing"},
		{"list is an object", `{"userStories": {}}`, "an object, but must be an array of stories"},
		{"list is null", `{"userStories": null}`, "null, but must be"},
		{"byte order mark", "\xef\xbb\xbf{}", "byte order mark"},
		{"a bracket is missing", "{\n  \"a\": [1, 2\n}", "line 3, column 1: invalid character '}'"},
		{"it ends early", "{\n  \"ä\": \"ü\"", "line 2, column 11: unexpected end"},
		{"a trailing comma", "{\n\"ä\": 1, }", "line 2, column 9: invalid character '}'"},
		{"two values", "{}\n {}", "line 2, column 2: invalid character '{' after"},
		{"a comment", "{ // no\n}", "line 1, column 3"},
		{"bytes that are no text", "{\n\"a\": \"\xff\"}", "line 2, column 7: a character is not valid UTF-8"},
		{"a terminal's code", "{\x1b[2J}", "line 1, column 2"},
		{"conflict marks", "{\n<<<<<<< HEAD\n", "line 2, column 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, problems := Parse([]byte(c.data))
			if l != nil || len(problems) != 1 || !strings.Contains(problems[0].Text, c.text) {
				t.Errorf("list %v, problems %v", l, problems)
			}
			if strings.ContainsFunc(texts(problems), unprintable) {
				t.Errorf("%q", texts(problems))
			}
		})
	}
}

func TestParseAcceptsLimits(t *testing.T) {
	data := edited(t, three, `"US-001"`, `"`+strings.Repeat("ü", maxID)+`"`, `["a"]`, `["a"`+strings.Repeat(`,"a"`, maxItems-1)+"]",
		`"reviewCount": 1`, `"reviewCount": 1000000`)
	if _, problems := Parse([]byte(data)); len(problems) > 0 {
		t.Error(texts(problems))
	}
}

func TestParseFindsEmptyList(t *testing.T) {
	l, problems := Parse([]byte(`{"project": "", "branchName": "", "description": "", "userStories": []}`))
	if l == nil || len(problems) != 1 || problems[0].Field != "userStories" || l.Done(rules) {
		t.Errorf("list %v, problems %v", l, problems)
	}
}

// listOf is a valid list of n stories, each of which depends on the one before.
func listOf(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"project": "p", "branchName": "b", "description": "d", "userStories": [`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n"+`{"id": "%d", "title": "t", "acceptanceCriteria": ["a"], "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "dependsOn": [`, i)
		if i > 0 {
			fmt.Fprintf(&b, `"%d"`, i-1)
		}
		b.WriteString("]}")
	}
	b.WriteString("]}")
	return []byte(b.String())
}

func TestParseIsBounded(t *testing.T) {
	if l, problems := Parse(listOf(MaxStories)); len(problems) > 0 || len(l.Stories) != MaxStories {
		t.Errorf("the longest list: %v", problems)
	}
	header := `{"project": "p", "branchName": "b", "description": "d", "userStories": `
	for _, c := range []struct {
		name, data, text string
		list             bool
	}{
		{"stories", string(listOf(MaxStories + 1)), "more than the 10000 stories", false},
		{"a hundred thousand", header + "[{}" + strings.Repeat(",{}", 99_999) + "]}", "more than the 10000 stories", false},
		{"50 MB", header + `"` + strings.Repeat("x", 50<<20) + `"}`, "more than the 4.2 MB", false},
		{"depth", header + strings.Repeat("[", 100_000), "depth", false},
		{"depth in an unknown field", header + `[{"id": "a", "x": ` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}]}", "title", true},
		{"problems", header + "[{}" + strings.Repeat(",{}", 9_999) + "]}", "tasks.json has 79980 more problems", true},
		{"entries", strings.Replace(three, `["a"]`, `["a"`+strings.Repeat(`,"a"`, maxItems)+"]", 1), "more than 1000 entries", true},
		{"criteria", header + `[{"acceptanceCriteria": ["a"` + strings.Repeat(`,"a"`, 100_000) + "]}]}", "", true},
		{"fields", header + `[{` + strings.Repeat(`"x": 0,`, 100_000) + `"id": "a"}]}`, "twice", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, problems := Parse([]byte(c.data))
			if (l != nil) != c.list || len(problems) == 0 || len(problems) > maxProblems+1 || len(texts(problems)) > 8000 {
				t.Fatalf("list %v, %d problems", l != nil, len(problems))
			}
			if !strings.Contains(texts(problems), c.text) {
				t.Error(texts(problems))
			}
		})
	}
}
