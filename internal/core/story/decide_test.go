package story

import (
	"strings"
	"testing"
)

const undecided = `{
  "project": "p", "branchName": "", "description": "d", "verifyCommands": [],
  "userStories": [
    {"id": "US-1", "title": "t", "description": "", "acceptanceCriteria": ["c"], "priority": 1, "passes": false, "reviewStatus": "needs_review", "reviewCount": 1, "reviewFeedback": "", "notes": "NOTES", "dependsOn": []}
  ]
}
`

// The result of a round is written into the file, which stays valid, and nothing else changes.
func TestDecideWritesResult(t *testing.T) {
	for name, row := range map[string]struct {
		approved bool
		notes    string
		count    int
		want     string
	}{
		"approved":               {true, "done", 2, `"passes": true, "reviewStatus": "approved", "reviewCount": 2, "reviewFeedback": "ann: no", "notes": "done"`},
		"approved without notes": {true, "", 2, `"passes": true, "reviewStatus": "approved", "reviewCount": 2, "reviewFeedback": "ann: no", "notes": "a note"`},
		"changes":                {false, "", 2, `"passes": false, "reviewStatus": "changes_requested", "reviewCount": 2, "reviewFeedback": "ann: no", "notes": ""`},
		"changes at the cap":     {false, "", 3, `"passes": true, "reviewStatus": "approved", "reviewCount": 3, "reviewFeedback": "[AUTO-APPROVED AT CAP] ann: no", "notes": "a note"`},
	} {
		data := []byte(strings.Replace(undecided, "NOTES", row.notes, 1))
		got, err := Decide(data, "US-1", row.approved, "ann: no", row.count, "a note", Rules{Cap: 3})
		if err != nil || !strings.Contains(string(got), row.want) {
			t.Errorf("%s: %v\n%s\nwant %s", name, err, got, row.want)
		}
		if list, problems := Parse(got); list == nil || len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if _, err := Decide([]byte(undecided), "US-9", true, "", 1, "", Rules{Cap: 3}); err == nil {
		t.Error("a story that is not there was decided on")
	}
}
