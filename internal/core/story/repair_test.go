package story

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// three is a list in a form that no encoder writes: its bytes must survive.
const three = `{ "project":"p", "branchName": "ralph/x",
  "description": "", "verifyCommands": ["make test"], "extra": {"a": [1, 2]},
  "userStories": [
    {"id": "US-001", "title": "one", "acceptanceCriteria": ["a"], "priority": 1, "passes": true,
      "reviewStatus": "approved", "reviewCount": 1, "reviewFeedback": "", "notes": "did it"} ,
    {"id": "US-002", "title": "two", "acceptanceCriteria": ["a"], "priority": 2.5, "passes": false,
      "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "color": "red"},
    {"id":"US-003","title":"three","acceptanceCriteria":["a"],"priority":3,"passes":false,
      "reviewStatus":null,"reviewCount":0,"reviewFeedback":"","dependsOn":["US-002"]}
  ]}
`

var rules = Rules{Cap: 5}

// edited replaces each first text by the second one; both must differ in the result.
func edited(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in %s", pairs[i], text)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func TestRepairKeepsOtherBytes(t *testing.T) {
	found := edited(t, three,
		`"priority": 2.5, "passes": false`, `"priority": 2.0,  "passes": true`,
		`"reviewStatus": null, "reviewCount": 0`, `"reviewStatus": "approved", "reviewCount": 1`,
		`"color": "red"`, `"color":"blue" , "notes": "changed"`,
		`"title":"three"`, `"title":"drei"`)
	want := edited(t, found, `"priority": 2.0,  "passes": true`, `"priority": 2.0,  "passes": false`,
		`"reviewStatus": "approved", "reviewCount": 1, "reviewFeedback": "", "color"`,
		`"reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "color"`)
	got, problems, restored := Repair([]byte(found), []byte(three), event.ModeImplement, rules)
	if string(got) != want || restored {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if len(problems) != 3 || problems[0].Story != "US-002" || !problems[0].Undone {
		t.Errorf("problems: %+v", problems)
	}
}
