package claude

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/journal/event"
)

// What a confined agent asks about is denied, and the answer names what the model can do instead. A
// person's own flags decide it all.
func TestPermissionsAnswerRequests(t *testing.T) {
	const asked = `{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"x"}}}`
	for name, row := range map[string]struct {
		spec agent.Spec
		want string
	}{
		"as root":       {agent.Spec{Root: true}, "allow"},
		"workspace":     {agent.Spec{Permissions: agent.PermitWorkspace}, "deny"},
		"ask":           {agent.Spec{Permissions: agent.PermitAsk}, "deny"},
		"a user's flag": {agent.Spec{Permissions: agent.PermitAsk, Flags: []string{"--permission-prompt-tool", "stdio"}}, "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(nil)
			row.spec.Command = []string{"claude"}
			if _, err := d.Command(row.spec); err != nil {
				t.Fatal(err)
			}
			d.Open(agent.Prompt{Text: "go", Iteration: 1})
			var out agent.Decoded
			d.Decode([]byte(asked), agent.Stdout, &out)
			answers := only[event.AgentAsked](out.Facts)
			if len(answers) != 1 || answers[0].Answer != row.want || len(out.Reply) != 1 {
				t.Fatalf("%+v, replies %q", answers, out.Reply)
			}
			if reply := string(out.Reply[0]); !strings.Contains(reply, `"behavior":"`+row.want+`"`) || strings.Contains(reply, "<blocked>") != (row.want == "deny") {
				t.Error(reply)
			}
		})
	}
}
