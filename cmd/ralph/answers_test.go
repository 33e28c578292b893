//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// topics is a server of ntfy: what is published to it as JSON or to a topic, and what a topic has.
type topics struct {
	mu   sync.Mutex
	json []map[string]any
	said map[string][]string
}

func (s *topics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, list := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/json")
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Header.Get("Authorization") != "Bearer tk_secret":
		http.Error(w, "who are you?", http.StatusForbidden)
	case r.Method == http.MethodPost && name == "":
		var m map[string]any
		if err := json.Unmarshal(body, &m); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.json = append(s.json, m)
	case r.Method == http.MethodPost:
		s.said[name] = append(s.said[name], string(body))
	case list:
		fmt.Fprintln(w, `{"event":"open"}`)
		for _, text := range s.said[name] {
			_ = json.NewEncoder(w).Encode(map[string]string{"event": "message", "message": text})
		}
	}
}

// question returns the notification of a question, nil before it is there.
func (s *topics) question() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.json {
		if title, _ := m["title"].(string); strings.Contains(title, "asks") {
			return m
		}
	}
	return nil
}

// A person answers a question with the button of a notification. The first answer counts, and the
// topic is that of one question.
func TestAnswerByNotification(t *testing.T) {
	t.Parallel()
	ntfy := &topics{said: map[string][]string{}}
	server := httptest.NewServer(ntfy)
	defer server.Close()
	p := newPlace(t)
	p.must(os.WriteFile(filepath.Join(p.dir, "asks.rehearsal"), []byte("iteration\n  run ralph ask --blocks --choice postgres --choice sqlite 'Which one?'\n  promise\niteration\n  promise\n"), 0o600))
	start := p.command("start", "one", "--detach", "-p", "x", "-a", "ralph rehearse asks.rehearsal", "--set", "completion.minToolCalls=0",
		"--notify", fmt.Sprintf(`[{"kind":"ntfy","url":%q,"secret":"NTFY_TOKEN","answers":true,"on":["question"]}]`, server.URL+"/alerts"))
	start.Env = append(start.Env, "NTFY_TOKEN=tk_secret")
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.until("the question is told", func() bool { return ntfy.question() != nil })
	asked := ntfy.question()
	buttons, _ := asked["actions"].([]any)
	if asked["topic"] != "alerts" || len(buttons) != 2 {
		t.Fatalf("%v", asked)
	}
	button, _ := buttons[1].(map[string]any)
	address, _ := button["url"].(string)
	if button["label"] != "sqlite" || !strings.HasPrefix(address, server.URL+"/alerts-") || len(address) < len(server.URL)+30 {
		t.Fatalf("%v", button)
	}
	for _, answer := range []string{"sqlite", "postgres"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(answer))
		p.must(err)
		request.Header.Set("Authorization", "Bearer tk_secret")
		said, err := http.DefaultClient.Do(request)
		p.must(err)
		said.Body.Close()
	}
	p.until("the loop ends", func() bool { return p.dead("one") })
	answers := p.fine("logs", "one", "--json", "--type", "question.answered")
	if strings.Count(answers, "\n") != 1 || !strings.Contains(answers, `"text":"sqlite"`) || !strings.Contains(answers, `"from":"notify:ntfy"`) {
		t.Errorf("%s", answers)
	}
	if all := p.fine("logs", "one", "--json"); strings.Contains(all, strings.TrimPrefix(address, server.URL)) {
		t.Error("the topic of the answer is in the journal")
	}
}

// The machine is kept awake while the loop runs, and no longer.
func TestKeepAwake(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("systemd-inhibit is a program of Linux")
	}
	p := newPlace(t)
	bin := t.TempDir()
	program(t, bin, "systemd-inhibit", "echo \"$*\" > '"+bin+"/began'\ncat\necho ended > '"+bin+"/ended'\n")
	run := p.command("run", "--name", "one", "-p", "x", "-a", p.script("agent.sh", "cat > /dev/null\nuntil test -s '"+bin+"/began'; do sleep 0.01; done\n! test -e '"+bin+"/ended' && echo '<promise>COMPLETE</promise>'\n"),
		"--protocol", "text", "--set", "completion.minToolCalls=0", "-m", "1", "--set", "keepAwake=true")
	run.Env = append(run.Env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if text, err := os.ReadFile(filepath.Join(bin, "began")); err != nil || !strings.Contains(string(text), "--what=sleep:idle --who=ralph --why=loop one is running") {
		t.Errorf("%s, %v", text, err)
	}
	p.until("the machine may sleep again", func() bool {
		_, err := os.Stat(filepath.Join(bin, "ended"))
		return err == nil
	})
}
