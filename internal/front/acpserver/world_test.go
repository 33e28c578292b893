package acpserver

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

func init() { lookEvery = 20 * time.Millisecond }

const demoID = "01JD0000000000000000000000"

// world is a home with loops that this process runs.
type world struct {
	t    *testing.T
	home string
	// program is run in place of ralph.
	program string
}

// testLoop is one of them.
type testLoop struct {
	t       *testing.T
	dir     string
	project string
	writer  *journal.Writer
	lock    io.Closer
}

type releaser func()

func (r releaser) Close() error { r(); return nil }

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, home: t.TempDir(), program: "/no/such/program"}
}

// loop begins a loop.
func (w *world) loop(name, id string) *testLoop {
	w.t.Helper()
	return w.loopIn(filepath.Join(w.t.TempDir(), "mill"), name, id)
}

// loopIn begins a loop in a project.
func (w *world) loopIn(project, name, id string) *testLoop {
	w.t.Helper()
	l := &testLoop{t: w.t, project: project}
	l.dir = filepath.Join(l.project, ".ralph", name)
	must(w.t, os.MkdirAll(l.dir, 0o700))
	must(w.t, registry.Put(w.home, registry.Entry{Name: name, Dir: l.dir, Project: l.project, ID: id, Agent: "pi", Started: time.Now()}))
	lock, err := registration.Acquire(l.dir)
	must(w.t, err)
	l.lock = releaser(func() { _ = lock.Release() })
	w.t.Cleanup(func() { _ = l.lock.Close() })
	rec, err := journal.Recover(l.dir, journal.Options{})
	must(w.t, err)
	l.writer, _, err = journal.Create(l.dir, rec, 0, nil, journal.Options{Notify: true})
	must(w.t, err)
	w.t.Cleanup(func() { _ = l.writer.Close() })
	task := event.Blob{Text: "build the mill", Bytes: 14}
	l.happen(event.LoopStarted{Name: name, Project: l.project, ID: id, Agent: event.Agent{Protocol: "pi"}, Rules: event.Rules{MaximumIterations: 5}, Task: event.Source{Text: &task}})
	return l
}

// happen appends events to the journal.
func (l *testLoop) happen(payloads ...event.Payload) (last event.Seq) {
	l.t.Helper()
	for _, p := range payloads {
		events, err := l.writer.Append([]event.Draft{event.Encode(p, "loop")})
		must(l.t, err)
		last = events[0].Seq
	}
	return last
}

// commands returns what is in the inbox.
func (l *testLoop) commands() []inbox.Command {
	l.t.Helper()
	box, err := inbox.Open(l.dir)
	must(l.t, err)
	items, err := box.Pending()
	must(l.t, err)
	var all []inbox.Command
	for _, item := range items {
		if item.Command != nil {
			all = append(all, *item.Command)
			must(l.t, box.Done(item.Command.ID))
		}
	}
	return all
}

// testClient speaks with a server of its own.
type testClient struct {
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Reader
	n     int
	ended chan struct{} // closed when Serve has returned
	err   error         // what it returned
	seen  []got         // all updates
}

// got is a message of the server.
type got struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *problem        `json:"error"`
	Params struct {
		Session string          `json:"sessionId"`
		Request string          `json:"requestId"`
		Options json.RawMessage `json:"options"`
		Schema  json.RawMessage `json:"requestedSchema"`
		Message string          `json:"message"`
		Update  struct {
			Kind       string          `json:"sessionUpdate"`
			Message    string          `json:"messageId"`
			Status     string          `json:"status"`
			Title      string          `json:"title"`
			State      string          `json:"state"`
			StopReason string          `json:"stopReason"`
			Content    json.RawMessage `json:"content"`
			Input      json.RawMessage `json:"rawInput"`
		} `json:"update"`
	} `json:"params"`
}

// text is the text of an update.
func (g got) text() string {
	var block struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(g.Params.Update.Content, &block)
	return block.Text
}

// client connects a client, and greets the server.
func (w *world) client(params string, environ ...string) *testClient {
	w.t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	e := &cli.Env{Home: w.home, Cwd: w.home, Now: time.Now, Stderr: io.Discard, Stdin: strings.NewReader(""), Environ: environ}
	c := &testClient{t: w.t, in: in, out: bufio.NewReader(out), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.err = New(e, client.Start{Program: w.program, Flags: []string{"--protocol=text"}}, toClient).Serve(w.t.Context(), fromClient)
		_ = toClient.Close()
	}()
	// The server does what it was asked for, and so writes to inboxes, until it has ended.
	w.t.Cleanup(func() { _ = in.Close(); _ = out.Close(); <-c.ended })
	if g := c.request("initialize", params); g.Error != nil {
		w.t.Fatalf("initialize: %v", g.Error)
	}
	return c
}

const (
	plainClient = `{"protocolVersion":1}`
	formClient  = `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}`
	draftClient = `{"protocolVersion":2,"info":{"name":"t","version":"1"}}`
)

// end returns what the server returned. It reads the rest: the server waits for a client.
func (c *testClient) end() error {
	_, _ = io.Copy(io.Discard, c.out)
	<-c.ended
	return c.err
}

func (c *testClient) write(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	must(c.t, err)
}

// send sends a request and returns its id.
func (c *testClient) send(method, params string) string {
	c.t.Helper()
	c.n++
	id, err := json.Marshal(c.n)
	must(c.t, err)
	c.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"method":"` + method + `","params":` + params + `}`)
	return string(id)
}

// next returns the next message.
func (c *testClient) next() got {
	c.t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("the server has ended: %v; after %v", err, c.words())
	}
	var g got
	must(c.t, json.Unmarshal(line, &g))
	if g.Method == "session/update" {
		c.seen = append(c.seen, g)
	}
	return g
}

// until reads to the first message that is wanted.
func (c *testClient) until(wanted func(got) bool) got {
	c.t.Helper()
	for {
		if g := c.next(); wanted(g) {
			return g
		}
	}
}

// answer reads to the answer to a request.
func (c *testClient) answer(id string) got {
	c.t.Helper()
	return c.until(func(g got) bool { return g.Method == "" && string(g.ID) == id })
}

func (c *testClient) request(method, params string) got {
	c.t.Helper()
	return c.answer(c.send(method, params))
}

// words are all texts that were sent, in their order.
func (c *testClient) words() string {
	var text strings.Builder
	for _, g := range c.seen {
		text.WriteString(g.text())
	}
	return text.String()
}

func (c *testClient) load(id string) got {
	c.t.Helper()
	return c.request("session/load", `{"sessionId":"`+id+`","cwd":"/","mcpServers":[]}`)
}

// settle waits until a session has done what it was asked for. It does one thing after the other.
func (c *testClient) settle(id string) {
	c.t.Helper()
	if g := c.answer(c.prompt(id, "/status")); g.Error != nil {
		c.t.Fatalf("/status: %+v", g.Error)
	}
}

// prompt sends a prompt and returns the id of the request.
func (c *testClient) prompt(id, text string) string {
	c.t.Helper()
	words, err := json.Marshal(text)
	must(c.t, err)
	return c.send("session/prompt", `{"sessionId":"`+id+`","prompt":[{"type":"text","text":`+string(words)+`}]}`)
}

var must = testfile.Must
