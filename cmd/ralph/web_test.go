//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// The link that is printed lets a browser in, until ctrl-c.
func TestWebServesUntilInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := p.command("web")
	out, err := cmd.StdoutPipe()
	p.must(err)
	p.must(cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	link, err := lines.ReadString('\n')
	p.must(err)
	link = strings.TrimSpace(link)
	if !strings.HasPrefix(link, "http://127.0.0.1:") {
		t.Fatalf("the link is %q", link)
	}
	base, token, _ := strings.Cut(link, "/?token=")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/loops", nil)
	p.must(err)
	for _, c := range []struct {
		token string
		want  int
	}{{"", http.StatusUnauthorized}, {token, http.StatusOK}} {
		request.Header.Set("Authorization", "Bearer "+c.token)
		answer, err := http.DefaultClient.Do(request)
		p.must(err)
		text, err := io.ReadAll(answer.Body)
		p.must(err)
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("with the token %q: %d %s", c.token, answer.StatusCode, text)
		}
	}
	p.must(cmd.Process.Signal(syscall.SIGINT))
	if err := cmd.Wait(); err != nil {
		t.Errorf("after ctrl-c: %v", err)
	}
}
