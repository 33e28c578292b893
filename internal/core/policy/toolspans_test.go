package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// The trace has reviews, one in each paragraph: "3s TYPE" is an event after so much time,
// "change PATH 4s" a change found then, "foreign" one in a commit of another author. The line that
// begins with "=" is what the changes come to.
func TestReviewChangesTrace(t *testing.T) {
	const file = "testdata/toolspans.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		out.WriteString(playReview(t, paragraph) + "\n")
	}
	golden.Check(t, file, strings.TrimSuffix(out.String(), "\n"))
}

// playReview returns a paragraph with its last line written again.
func playReview(t *testing.T, paragraph string) string {
	t.Helper()
	begin := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	var spans policy.ToolSpans
	var changes []policy.TreeChange
	var out strings.Builder
	for line := range strings.SplitSeq(paragraph, "\n") {
		words := strings.Fields(line)
		if words[0] == "=" {
			continue
		}
		out.WriteString(line + "\n")
		switch words[0] {
		case "#":
		case "change", "foreign":
			after, err := time.ParseDuration(words[2])
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, policy.TreeChange{Path: words[1], At: begin.Add(after), Foreign: words[0] == "foreign"})
		default:
			after, err := time.ParseDuration(words[0])
			if err != nil {
				t.Fatal(err)
			}
			var p event.Payload
			switch event.Type(words[1]) {
			case event.TypeStoriesRead:
				p = event.StoriesRead{Mode: event.StoryMode(words[2])}
			case event.TypeAgentStarted:
				p = event.AgentStarted{Tools: words[2] == "tools"}
			case event.TypeToolCalled:
				p = event.ToolCalled{}
			case event.TypeToolReturned:
				p = event.ToolReturned{}
			case event.TypeAgentFinished:
				p = event.AgentFinished{}
			case event.TypeAgentExited:
				p = event.AgentExited{}
			default:
				t.Fatalf("%q", line)
			}
			spans.Apply(begin.Add(after), p, &policy.Lifecycle{})
			again := policy.ToolSpans{}
			if data, err := json.Marshal(spans); err != nil || json.Unmarshal(data, &again) != nil || !cmp.Equal(again, spans) {
				t.Errorf("%s: a checkpoint loses something: %s", line, data)
			}
		}
	}
	c := spans.Sort(changes)
	fmt.Fprintf(&out, "= reviewer %v, others %v, doubt %v\n", c.Reviewer, c.Others, c.Doubt)
	return out.String()
}

// However many tools run, a checkpoint stays small, and what is not known is in doubt.
func TestToolSpansAreBounded(t *testing.T) {
	at := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	var spans policy.ToolSpans
	spans.Apply(at, event.StoriesRead{Mode: event.ModeReview}, &policy.Lifecycle{})
	spans.Apply(at, event.AgentStarted{Tools: true}, &policy.Lifecycle{})
	for range 1000 {
		spans.Apply(at, event.ToolCalled{}, &policy.Lifecycle{})
		spans.Apply(at.Add(time.Second), event.ToolReturned{}, &policy.Lifecycle{})
		at = at.Add(time.Minute)
	}
	if len(spans.Spans) > 100 {
		t.Errorf("%d spans", len(spans.Spans))
	}
	if c := spans.Sort([]policy.TreeChange{{Path: "a", At: at.Add(-time.Minute)}}); !c.Doubt || len(c.Reviewer) > 0 {
		t.Errorf("%+v", c)
	}
	spans.Apply(at, event.StoriesRead{Mode: event.ModeImplement}, &policy.Lifecycle{})
	spans.Apply(at, event.ToolCalled{}, &policy.Lifecycle{})
	if !cmp.Equal(spans, policy.ToolSpans{}) {
		t.Errorf("kept of other work: %+v", spans)
	}
}
