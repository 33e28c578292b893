package journaltool

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/frame"
	"github.com/ralph-loop/ralph/journal/event"
)

// exported is an event as it is in a journal.
func exported(t *testing.T, p event.Payload) event.Event {
	t.Helper()
	draft := event.Encode(p, "agent:pi")
	draft.Iter = 3
	line, _ := frame.Append(nil, frame.Stamp{Seq: 7, ID: [26]byte([]byte("01JD0000000000000000000000"))}, draft, 0)
	e, err := event.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCSVHasNoFormula(t *testing.T) {
	for _, hostile := range []string{
		`=HYPERLINK("http://x")`, "+1", "-1+1", "@SUM(A1)", "\t=1", " =1", "\r\n=1", "a;=1", `a;"=1`, "＝1", "a;\n+1",
	} {
		e := exported(t, event.AgentNoticed{What: hostile, Text: hostile})
		text := string(appendCSV(nil, hostile, e))
		rows, err := csv.NewReader(strings.NewReader(csvHead + text)).ReadAll()
		if err != nil {
			t.Fatalf("%q: %v", hostile, err)
		}
		if len(rows) != 2 || len(rows[0]) != len(rows[1]) {
			t.Fatalf("%q: %d rows, %d cells, want %d", hostile, len(rows), len(rows[1]), len(rows[0]))
		}
		for _, separator := range []string{",", ";", "\t"} { // as the spreadsheet of a country may split
			for _, cell := range strings.Split(strings.Join(rows[1], ","), separator) {
				if separator != "," && begins(cell) {
					t.Errorf("%q: a cell begins as a formula: %q", hostile, cell)
				}
			}
		}
		for _, cell := range rows[1] {
			if begins(cell) {
				t.Errorf("%q: a cell begins as a formula: %q", hostile, cell)
			}
		}
		var data struct{ Text string }
		if err := json.Unmarshal([]byte(rows[1][len(rows[1])-1]), &data); err != nil || data.Text != hostile {
			t.Errorf("data has %q, %v; want %q", data.Text, err, hostile)
		}
	}
}

func TestCloudEventKeepsToFormat(t *testing.T) {
	e := exported(t, event.AgentNoticed{What: "x", Text: "a\u009b\"b"})
	var got map[string]any
	line := appendCloudEvent(nil, "a/b", e)
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for key, want := range map[string]any{
		"specversion": "1.0", "source": "/ralph/loop/a%2Fb", "type": "io.github.ralph-loop.agent.noticed",
		"subject": "iteration/3", "actor": "agent:pi", "datacontenttype": "application/json",
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	for key := range got { // names of attributes are lower-case letters and digits
		if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || got[key] == "" {
			t.Errorf("attribute %q is %q", key, got[key])
		}
	}
	if data := got["data"].(map[string]any); data["text"] != "a\u009b\"b" {
		t.Errorf("data is %v", data)
	}
}
