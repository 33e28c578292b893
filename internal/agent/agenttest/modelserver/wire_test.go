package modelserver

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestAnswersOfEveryFormat(t *testing.T) {
	finishes := map[Format]struct{ stop, tools, truncated string }{
		Chat:      {"stop", "tool_calls", "length"},
		Responses: {"completed", "completed", "incomplete"},
		Messages:  {"end_turn", "tool_use", "max_tokens"},
	}
	usage := Usage{In: 100, Out: 20, CacheRead: 40, CacheWrite: 5}
	calls := []ToolCall{{Name: "bash", Args: map[string]string{"command": `echo "hi"`}}, {Name: "write"}}
	wanted := func(d dialect) []replyCall {
		prefix := ""
		if d.format == Messages {
			prefix = "toolu_"
		}
		return []replyCall{{prefix + "call_1_0", "bash", `{"command":"echo \"hi\""}`}, {prefix + "call_1_1", "write", "{}"}}
	}
	for _, d := range dialects {
		cases := []struct {
			name string
			step Step
			want reply
		}{
			{"text comes in the pieces asked for", Step{Text: "größer", Chunks: 3}, reply{Pieces: []string{"gr", "öß", "er"}, Finish: finishes[d.format].stop}},
			{"more pieces than characters are as many as characters", Step{Text: "ab", Chunks: 9}, reply{Pieces: []string{"a", "b"}, Finish: finishes[d.format].stop}},
			{"an empty answer ends normally", Step{}, reply{Finish: finishes[d.format].stop}},
			{
				"text, calls and usage come in one answer",
				Step{Text: "I look.\n\nNow.", Tools: calls, Usage: usage},
				reply{Pieces: []string{"I look.\n\nNow."}, Calls: wanted(d), Usage: replyUsage(usage), Finish: finishes[d.format].tools},
			},
			{"a truncated answer says so", Step{Text: "I wou", Truncated: true}, reply{Pieces: []string{"I wou"}, Finish: finishes[d.format].truncated}},
		}
		for _, c := range cases {
			t.Run(string(d.format)+"/"+c.name, func(t *testing.T) {
				srv := Start(t, Sequence(c.step))
				got, err := d.ask(t, srv)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %+v\nwant %+v", got, c.want)
				}
			})
		}
		t.Run(string(d.format)+"/a request for no stream gets the same answer whole", func(t *testing.T) {
			srv := Start(t, Sequence(Step{Text: "I look.", Chunks: 3, Tools: calls, Usage: usage}))
			response, err := d.post(t.Context(), srv, d.bodies["unstreamed"])
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.whole(body)
			if err != nil {
				t.Fatal(err)
			}
			want := reply{Pieces: []string{"I look."}, Calls: wanted(d), Usage: replyUsage(usage), Finish: finishes[d.format].tools}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestConversationsOfEveryFormat(t *testing.T) {
	want := []Message{
		{Role: System, Text: "be brief"},
		{Role: User, Text: "first\nsecond"},
		{Role: Assistant, Text: "looking", Calls: []Call{{Name: "bash", Args: map[string]any{"command": `echo "hi"`}}}},
		{Role: ToolOutput, Text: "hi"},
		{Role: System, Text: "hurry"},
		{Role: User, Text: "steer"},
		{Role: Assistant, Calls: []Call{{Name: "bash", Args: "{broken"}}},
	}
	for _, d := range dialects {
		t.Run(string(d.format), func(t *testing.T) {
			srv := Start(t, Sequence(Step{}))
			response, err := d.post(t.Context(), srv, d.bodies["conversation"])
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			r := srv.Requests()[0]
			if r.N != 1 || r.Format != d.format || r.Path != d.path || r.Model != "m" || !r.Stream || string(r.Body) != d.bodies["conversation"] {
				t.Errorf("the request is recorded as %d %s %s model %q stream %v", r.N, r.Format, r.Path, r.Model, r.Stream)
			}
			if !reflect.DeepEqual(r.Messages, want) {
				t.Errorf("got  %+v\nwant %+v", r.Messages, want)
			}
			if got := r.Text(System, ToolOutput); got != "be brief\nhi\nhurry" {
				t.Errorf("text of system and tools: %q", got)
			}
			for text, held := range map[string]bool{`echo "hi"`: true, "steer": true, "{broken": true, "farewell": false, "command": false} {
				if r.Holds(text) != held {
					t.Errorf("holds %q: %v", text, !held)
				}
			}
		})
	}
}

func TestToolOutputsStayInOrder(t *testing.T) {
	var r Request
	err := messagesWire{}.read([]byte(`{"messages":[{"role":"user","content":[
		{"type":"text","text":"before"},{"type":"tool_result","content":"out"},{"type":"tool_result"},{"type":"text","text":"after"}]},
		{"role":"user","content":[{"type":"image"}]}]}`), &r)
	if err != nil {
		t.Fatal(err)
	}
	want := []Message{{Role: User, Text: "before"}, {Role: ToolOutput, Text: "out"}, {Role: ToolOutput}, {Role: User, Text: "after"}, {Role: User}}
	if !reflect.DeepEqual(r.Messages, want) {
		t.Errorf("got  %+v\nwant %+v", r.Messages, want)
	}
}

func TestShellCallFollowsDeclaredTool(t *testing.T) {
	tools := func(name, properties string) []Tool {
		return []Tool{{Name: "read", Schema: []byte(`{}`)}, {Name: name, Schema: []byte(`{"properties":` + properties + `}`)}}
	}
	cases := []struct {
		name  string
		tools []Tool
		want  ToolCall
	}{
		{"pi wants a command", tools("bash", `{"command":{"type":"string"},"timeout":{"type":"number"}}`),
			ToolCall{Name: "bash", Args: map[string]any{"command": "ls"}}},
		{"Claude Code wants a description as well", tools("Bash", `{"command":{"type":"string"},"description":{"type":"string"}}`),
			ToolCall{Name: "Bash", Args: map[string]any{"command": "ls", "description": "run a command"}}},
		{"Codex calls it cmd", tools("exec_command", `{"cmd":{"type":"string"}}`),
			ToolCall{Name: "exec_command", Args: map[string]any{"cmd": "ls"}}},
		{"a list is run by a shell", tools("shell", `{"command":{"type":"array"}}`),
			ToolCall{Name: "shell", Args: map[string]any{"command": []string{"bash", "-lc", "ls"}}}},
		{"a type may be a list of types", tools("bash", `{"command":{"type":["string","null"]}}`),
			ToolCall{Name: "bash", Args: map[string]any{"command": "ls"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := shellCall(Request{Tools: c.tools}, "ls")
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
	if _, err := shellCall(Request{Tools: tools("grep", "{}")}, "ls"); err == nil || !strings.Contains(err.Error(), "declares none of the tools bash") {
		t.Errorf("without a shell tool: %v", err)
	}
}

func TestFailuresOfEveryFormat(t *testing.T) {
	kinds := map[Format]map[int]string{
		Chat:      {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 529: "server_error"},
		Responses: {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 529: "server_error"},
		Messages:  {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"},
	}
	for _, d := range dialects {
		for status, kind := range kinds[d.format] {
			t.Run(string(d.format)+"/"+http.StatusText(status), func(t *testing.T) {
				srv := Start(t, Sequence(Failed(status)))
				got, body := answerOf(t, d, srv)
				if got.StatusCode != status || !strings.Contains(body, `"type":"`+kind+`"`) || !strings.Contains(body, `"message":"scripted failure`) {
					t.Errorf("status %d, body %s; want type %s", got.StatusCode, body, kind)
				}
			})
		}
	}
}

// answerOf returns a response with its body read.
func answerOf(t *testing.T, d dialect, srv *Server) (*http.Response, string) {
	t.Helper()
	response, err := d.post(t.Context(), srv, d.bodies["plain"])
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func FuzzRead(f *testing.F) {
	for _, d := range dialects {
		for _, body := range d.bodies {
			f.Add([]byte(body))
		}
	}
	f.Add([]byte(`{"messages":[null],"input":[null],"tools":[null],"system":[null]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, w := range []wire{chatWire{}, responsesWire{}, messagesWire{}} {
			var r Request
			if err := w.read(body, &r); err != nil {
				continue
			}
			// Whatever was read must be answerable, and the answer must be JSON.
			r.N = 1
			a, err := prepare(r, Step{Text: string(body), Chunks: 7, Tools: []ToolCall{{Name: "bash"}}})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range w.stream(a) {
				if err := writeEvent(io.Discard, e); err != nil {
					t.Fatal(err)
				}
			}
			r.Holds("hm")
		}
	})
}
