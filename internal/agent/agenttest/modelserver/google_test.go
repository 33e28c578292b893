package modelserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// postGoogle asks for an answer as Gemini CLI does.
func postGoogle(t *testing.T, srv *Server, method, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1beta/models/gemini-2.5-flash:"+method, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

const googleConversation = `{"systemInstruction":{"role":"user","parts":[{"text":"be brief"}]},
	"contents":[
		{"role":"user","parts":[{"text":"do it"}]},
		{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"run_shell_command","args":{"command":"ls"}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"a\nb"}}}]}],
	"tools":[{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":{"properties":{"command":{"type":"string"}}}}]}]}`

func TestAGoogleConversationIsRead(t *testing.T) {
	srv := Start(t, Sequence(Step{Text: "ok"}))
	postGoogle(t, srv, "generateContent", googleConversation)
	r := srv.Requests()[0]
	if r.Model != "gemini-2.5-flash" || r.Stream || r.Text(System) != "be brief" || r.Text(User) != "do it" || r.Text(Assistant) != "I look." ||
		r.Text(ToolOutput) != "a\nb" || !r.Holds("ls") || len(r.Messages) != 4 || len(r.Tools) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestGoogleAnswerIsStreamed(t *testing.T) {
	srv := Start(t, Sequence(Step{Text: "abcd", Chunks: 2, Tools: []ToolCall{Bash("ls")}, Usage: Usage{In: 7, Out: 2, CacheRead: 3}}))
	var parts []string
	last := ""
	lines := bufio.NewScanner(strings.NewReader(postGoogle(t, srv, "streamGenerateContent?alt=sse", googleConversation)))
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var event struct {
			Candidates []struct {
				Content struct{ Parts []json.RawMessage }
			}
			UsageMetadata json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(bytes.Join(toBytes(event.Candidates[0].Content.Parts), nil)))
		last = string(event.UsageMetadata)
	}
	want := []string{
		`{"text":"ab"}`, `{"text":"cd"}`,
		`{"functionCall":{"args":{"command":"ls"},"name":"run_shell_command"}}`, `{"text":""}`,
	}
	if strings.Join(parts, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", parts)
	}
	if last != `{"cachedContentTokenCount":3,"candidatesTokenCount":2,"promptTokenCount":10,"totalTokenCount":12}` {
		t.Error(last)
	}
}

func toBytes(parts []json.RawMessage) (all [][]byte) {
	for _, p := range parts {
		all = append(all, p)
	}
	return all
}

func TestGoogleFailureNamesStatus(t *testing.T) {
	srv := Start(t, Sequence(Failed(http.StatusUnauthorized)))
	if got := postGoogle(t, srv, "generateContent", googleConversation); !strings.Contains(got, `"status":"UNAUTHENTICATED"`) {
		t.Error(got)
	}
}
