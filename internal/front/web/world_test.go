package web

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

const demoID = "01JD0000000000000000000000"

// world is a home with one loop, which this process runs, and a server for it.
type world struct {
	t      *testing.T
	home   string
	dir    string // of the loop
	writer *journal.Writer
	tokens Tokens
	server *Server
	http   *httptest.Server
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir()}
	project := filepath.Join(t.TempDir(), "mill")
	w.dir = filepath.Join(project, ".ralph", "demo")
	must(t, os.MkdirAll(w.dir, 0o700))
	must(t, registry.Put(w.home, registry.Entry{Name: "demo", Dir: w.dir, Project: project, ID: demoID, Agent: "pi", Started: time.Now()}))
	lock, err := registration.Acquire(w.dir)
	must(t, err)
	t.Cleanup(func() { _ = lock.Release() })
	rec, err := journal.Recover(w.dir, journal.Options{})
	must(t, err)
	w.writer, _, err = journal.Create(w.dir, rec, 0, nil, journal.Options{Notify: true})
	must(t, err)
	t.Cleanup(func() { _ = w.writer.Close() })
	w.happen(0, event.LoopStarted{Name: "demo", Project: project, ID: demoID, Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 5}})
	w.tokens, err = LoadTokens(w.home, false)
	must(t, err)
	w.serve(Options{})
	return w
}

// serve replaces the server.
func (w *world) serve(o Options) {
	if w.http != nil {
		w.server.end()
		w.http.Close()
	}
	o.Env = &cli.Env{Home: w.home, Cwd: w.home, Now: time.Now, Stderr: io.Discard}
	o.Tokens = w.tokens
	w.server = New(o)
	w.http = httptest.NewServer(w.server)
	w.t.Cleanup(func() { w.server.end(); w.http.Close() })
}

// happen appends events to the loop's journal.
func (w *world) happen(iteration int, payloads ...event.Payload) (last event.Seq) {
	w.t.Helper()
	for _, p := range payloads {
		d := event.Encode(p, "loop")
		d.Iter = iteration
		events, err := w.writer.Append([]event.Draft{d})
		must(w.t, err)
		last = events[0].Seq
	}
	return last
}

// answered is an answer that was read to its end.
type answered struct {
	status int
	body   string
	header http.Header
}

// ask sends a request. Headers are pairs; Host is a header here. Redirects are not followed.
func (w *world) ask(method, path, body string, headers ...string) answered {
	w.t.Helper()
	got := w.open(method, path, body, headers...)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	must(w.t, err)
	return answered{got.StatusCode, string(text), got.Header}
}

func (w *world) open(method, path, body string, headers ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.http.URL+path, strings.NewReader(body))
	must(w.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := w.http.Client().Transport.RoundTrip(r)
	must(w.t, err)
	return got
}

// bearer is the header of a program that has the full token.
func (w *world) bearer() []string { return []string{"Authorization", "Bearer " + w.tokens.Full} }

// browser enters by a link, and returns the path and the headers of a browser that did.
func (w *world) browser(token string) (base string, headers []string) {
	w.t.Helper()
	got := w.ask("GET", "/?token="+token, "")
	if got.status != http.StatusSeeOther {
		w.t.Fatalf("the link is answered by %d: %s", got.status, got.body)
	}
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	return strings.TrimSuffix(got.header.Get("Location"), "/"), []string{"Cookie", cookie, "Origin", w.http.URL, "Sec-Fetch-Site", "same-origin"}
}

// A message is a server-sent event.
type message struct{ name, id, data string }

// messages reads server-sent events.
type messages struct {
	t     *testing.T
	lines *bufio.Reader
	close func() error
}

func (w *world) stream(path string, headers ...string) *messages {
	w.t.Helper()
	got := w.open("GET", path, "", append([]string{"Accept", kindSSE}, headers...)...)
	if got.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(got.Body)
		w.t.Fatalf("GET %s: %d %s", path, got.StatusCode, text)
	}
	w.t.Cleanup(func() { got.Body.Close() })
	return &messages{w.t, bufio.NewReader(got.Body), got.Body.Close}
}

// next returns the next event; ok is false at the end of the stream.
func (s *messages) next() (m message, ok bool) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return m, false
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "event":
			m.name = value
		case "id":
			m.id = value
		case "data":
			m.data = value
		case "":
			if m.data != "" {
				return m, true
			}
			m = message{}
		}
	}
}

var must = testfile.Must
