//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
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

// --open starts the browser of the desktop with a file that leads to the link: other users can see
// the arguments of a program, but not this file.
func TestWebOpensBrowser(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("xdg-open is the browser of Linux")
	}
	p := newPlace(t)
	bin := filepath.Join(p.dir, "bin")
	p.must(os.Mkdir(bin, 0o755))
	program(t, bin, "xdg-open", "printf %s \"$*\" > opened.part; mv opened.part opened\n")
	cmd := p.command("web", "--open")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.StdoutPipe()
	p.must(err)
	p.must(cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	link, err := bufio.NewReader(out).ReadString('\n')
	p.must(err)
	_, token, _ := strings.Cut(strings.TrimSpace(link), "=")
	p.written("opened")
	opened, err := os.ReadFile(filepath.Join(p.dir, "opened"))
	p.must(err)
	path, isFile := strings.CutPrefix(string(opened), "file://")
	if !isFile || strings.Contains(path, token) {
		t.Fatalf("the browser was started with %s", opened)
	}
	info, err := os.Stat(path)
	p.must(err)
	page, err := os.ReadFile(path)
	p.must(err)
	if info.Mode().Perm() != 0o600 || !strings.Contains(string(page), token) {
		t.Errorf("mode %v: %s", info.Mode(), page)
	}
}
