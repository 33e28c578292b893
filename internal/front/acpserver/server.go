package acpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/remote"
)

// What one client may have open.
const (
	maxRequests = 64 // requests that are not answered
	maxSessions = 64 // sessions: loops that it watches, and those that have no prompt yet
)

// Server serves one client.
type Server struct {
	// Distant are the loops of other machines, which session/list shows; nil without any source.
	Distant *remote.Watch

	env  *cli.Env
	base client.Start
	out  writer

	starting sync.Mutex     // held while a loop is started
	working  sync.WaitGroup // what was asked for and is not done: jobs, and sessions being entered

	mu       sync.Mutex // for what follows
	client   peer
	open     map[string]call // requests that are not answered, by their ids
	sessions map[string]*session
	asked    map[string]*asking // requests to the client that are not answered, by their ids
	requests int                // requests to the client so far; numbers their ids
}

// peer is what the client said of itself in initialize.
type peer struct {
	version int  // of the protocol; 0 before initialize
	forms   bool // it shows forms
	notices bool // it shows notices beside the conversation
}

// New returns a server that writes to out. start runs ralph, and holds what each new loop is
// started with; its folder and its prompt come from the client.
func New(e *cli.Env, start client.Start, out io.Writer) *Server {
	return &Server{
		env: e, base: start, out: writer{out: out},
		open: map[string]call{}, sessions: map[string]*session{}, asked: map[string]*asking{},
	}
}

// Serve answers what it reads, until in ends, which is no error. The loops live on.
func (s *Server) Serve(ctx context.Context, in io.Reader) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer s.Distant.Close()
	lines := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for {
		next, err := readLine(lines, line)
		switch {
		case errors.Is(err, errTooLong):
			err = s.refuseLine(&problem{Code: codeRequest, Message: errTooLong.Error()})
		case errors.Is(err, io.EOF):
			s.finish()
			return nil
		case err == nil:
			line = next
			err = s.take(ctx, line)
		}
		if err != nil {
			return err
		}
	}
}

// lastWords is how long what a client asked for in its last lines may take: a loop is started, a
// prompt is sent on, a journal is replayed. A client that has closed its output and does not read
// delays the end of its own server by no more than that. Tests shorten it.
var lastWords = 20 * time.Second

// finish does what was asked for, and does not wait for the ends of turns.
func (s *Server) finish() {
	done := make(chan struct{})
	go func() { s.working.Wait(); close(done) }()
	late := time.NewTimer(lastWords)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
}

// refuseLine answers a line that has no id to answer to.
func (s *Server) refuseLine(p *problem) error {
	return s.out.write(object{"id": nil, "error": p})
}

// take takes one line. The error is that of the output.
func (s *Server) take(ctx context.Context, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	m, problem := parse(line)
	switch {
	case problem != nil && m.ID == nil:
		return s.refuseLine(problem)
	case problem != nil:
		return s.out.write(object{"id": m.ID, "error": problem})
	case m.Method == "":
		s.answered(m)
	case m.ID == nil:
		s.notified(m)
	default:
		s.requested(ctx, m)
	}
	return nil
}

// notified takes a notification. One that is not known is ignored, as JSON-RPC says.
func (s *Server) notified(m message) {
	switch m.Method {
	case "session/cancel":
		if x := s.sessionOf(m.Params); x != nil {
			x.cancel()
		}
	case "$/cancel_request":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) != nil {
			return
		}
		s.mu.Lock()
		c, open := s.open[string(p.ID)]
		s.mu.Unlock()
		if open { // the loop lives on: session/cancel is what stops it
			c.fail(&problem{Code: codeCancelled, Message: "the request was cancelled; the loop goes on"})
		}
	}
}

// requested takes a request.
func (s *Server) requested(ctx context.Context, m message) {
	c := call{id: bytes.Clone(m.ID), s: s, once: new(sync.Once)}
	s.mu.Lock()
	_, twice := s.open[string(c.id)]
	full, greeted := len(s.open) >= maxRequests, s.client.version != 0
	if !twice && !full {
		s.open[string(c.id)] = c
	}
	s.mu.Unlock()
	switch {
	case twice || full:
		why := "too many requests are not answered yet"
		if twice {
			why = "a request with this id is not answered yet"
		}
		_ = s.out.write(object{"id": c.id, "error": &problem{Code: codeRequest, Message: why}})
	case m.Method == "initialize":
		c.finish(s.initialize(m.Params))
	case !greeted:
		c.fail(&problem{Code: codeRequest, Message: "initialize has to come first"})
	default:
		s.dispatch(ctx, c, m)
	}
}

func (s *Server) dispatch(ctx context.Context, c call, m message) {
	params := bytes.Clone(m.Params)
	switch m.Method {
	case "session/new":
		c.finish(s.newSession(ctx, params))
	case "session/list":
		c.finish(s.listSessions(ctx, params))
	case "session/load", "session/resume":
		s.working.Add(1)
		c.answered = s.working.Done
		s.enter(ctx, c, params, m.Method == "session/load")
	case "session/close":
		c.finish(s.closeSession(params))
	case "session/prompt":
		s.prompted(c, params)
	default:
		c.fail(&problem{Code: codeMethod, Message: "ralph has no method " + quoted(m.Method)})
	}
}

// done forgets a request that is being answered.
func (s *Server) done(c call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, string(c.id))
}

// speaks returns what the client said of itself.
func (s *Server) speaks() peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}
