package modelserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Model is the one model that GET /v1/models lists. Requests may name any other.
const Model = "scripted"

// maxBody is far above what an agent sends (3 MB prompts were seen) and keeps a runaway test from
// eating the machine.
const maxBody = 64 << 20

// A Server answers on a free port of the loopback interface. Its methods may be called from any
// goroutine.
type Server struct {
	URL string // without a path: "http://127.0.0.1:PORT"

	script Script
	http   *http.Server
	ctx    context.Context // of all answers; ends with errClosed
	stop   context.CancelCauseFunc
	served sync.WaitGroup // the accept loop and every connection

	mu       sync.Mutex
	requests []Request
	changed  chan struct{} // closed and replaced with every change of requests
	fault    error
}

// New starts a server. The caller must Close it.
func New(script Script) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for agents: %w", err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Server{URL: "http://" + listener.Addr().String(), script: script, ctx: ctx, stop: stop, changed: make(chan struct{})}

	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", s.handler(Chat, chatWire{}))
	mux.Handle("POST /v1/responses", s.handler(Responses, responsesWire{}))
	mux.Handle("POST /v1/messages", s.handler(Messages, messagesWire{}))
	mux.Handle("POST /v1beta/models/", s.handler(Google, googleWire{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", countTokens)
	mux.HandleFunc("GET /v1/models", listModels)

	s.http = &http.Server{
		Handler:     mux,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState:   s.count,
	}
	// always ends with an error, when Close closes the listener
	s.served.Go(func() { s.http.Serve(listener) })
	return s, nil
}

// Start is New for a test: the server is closed when the test ends, and a fault of the script fails
// the test.
func Start(tb testing.TB, script Script) *Server {
	tb.Helper()
	s, err := New(script)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		s.Close()
		if err := s.Fault(); err != nil {
			tb.Errorf("model script: %v", err)
		}
	})
	return s
}

// Close ends all answers, the held ones too, and returns when nothing of the server runs any more.
// It may be called again.
func (s *Server) Close() {
	s.stop(errClosed)
	s.http.Close()
	s.served.Wait()
}

// count makes Close wait for connections, which net/http does not. net/http calls it for a new
// connection on the goroutine that accepts, so served is above zero then.
func (s *Server) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.served.Add(1)
		if s.ctx.Err() != nil {
			// accepted while Close went through the connections: it may have missed this one
			c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.served.Done()
	}
}

// Requests are those received so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Wait returns when done says so of the requests received so far. It asks at once, and again with
// every new request and with every end of an answer. The error is that of ctx, with the number of
// requests there are.
func (s *Server) Wait(ctx context.Context, done func([]Request) bool) error {
	for {
		s.mu.Lock()
		requests, changed := slices.Clone(s.requests), s.changed
		s.mu.Unlock()
		if done(requests) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the agent, %d requests so far: %w", len(requests), context.Cause(ctx))
		}
	}
}

// Fault is the first thing that the script got wrong, or the first request that could not be read;
// or nil.
func (s *Server) Fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

func (s *Server) record(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N, r.Outcome = len(s.requests)+1, Answering
	s.requests = append(s.requests, r)
	s.announce()
	return r
}

func (s *Server) conclude(n int, outcome Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[n-1].Outcome = outcome
	s.announce()
}

// announce needs the lock.
func (s *Server) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) blame(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault = err
	}
	return err
}

func (s *Server) handler(format Format, w wire) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(out, in.Body, maxBody))
		if err != nil {
			writeJSON(out, http.StatusBadRequest, w.failure(http.StatusBadRequest, "read the body: "+err.Error()))
			return
		}
		r := Request{Format: format, Path: in.URL.RequestURI(), Header: in.Header, Body: body}
		if err := w.read(body, &r); err != nil {
			writeJSON(out, http.StatusBadRequest, w.failure(http.StatusBadRequest, s.blame(err).Error()))
			return
		}
		r = s.record(r)
		err = s.play(in.Context(), out, w, r)
		s.conclude(r.N, outcome(in.Context(), err))
		if err != nil {
			// cuts the connection, so that the agent cannot take the rest for an end
			panic(http.ErrAbortHandler)
		}
	})
}

var (
	errDropped = errors.New("dropped by the script")
	errClosed  = errors.New("the server is closed")
)

func outcome(ctx context.Context, err error) Outcome {
	switch {
	case err == nil:
		return Answered
	case errors.Is(err, errDropped):
		return Dropped
	case errors.Is(context.Cause(ctx), errClosed):
		return Closed
	}
	return Left
}

// play carries out what the script says. An error means that the answer did not come to its end.
func (s *Server) play(ctx context.Context, out http.ResponseWriter, w wire, r Request) error {
	step, a, err := s.ask(r)
	if err != nil {
		err = s.blame(fmt.Errorf("request %d: %w", r.N, err))
		writeJSON(out, http.StatusBadRequest, w.failure(http.StatusBadRequest, err.Error()))
		return nil
	}
	if err := hold(ctx, step.Until); err != nil {
		return err
	}
	for name, value := range step.Header {
		out.Header().Set(name, value)
	}
	if step.Status != 0 && step.Status != http.StatusOK {
		writeFailure(out, step, w)
		return nil
	}
	if !r.Stream {
		if err := end(ctx, step); err != nil {
			return err
		}
		writeJSON(out, http.StatusOK, w.whole(a))
		return nil
	}
	return send(ctx, out, step, w.stream(a))
}

// ask runs the script. A panic in it must not reach net/http, which would only cut the connection.
func (s *Server) ask(r Request) (step Step, a answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the script panicked: %v", p)
		}
	}()
	step = s.script(r)
	if step.fault != nil {
		return step, a, step.fault
	}
	a, err = prepare(r, step)
	return step, a, err
}

func send(ctx context.Context, out http.ResponseWriter, step Step, events []sse) error {
	last := -1 // no content: what ends the answer comes before its first byte
	for i, e := range events {
		if e.piece {
			last = i
		}
	}
	flush := http.NewResponseController(out).Flush
	for i, e := range events {
		if i == last+1 {
			if err := end(ctx, step); err != nil {
				return err
			}
		}
		if e.piece {
			if err := pause(ctx, step.Delay); err != nil {
				return err
			}
		}
		if i == 0 {
			out.Header().Set("Content-Type", "text/event-stream")
			out.WriteHeader(http.StatusOK)
		}
		if err := writeEvent(out, e); err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return nil
}

// end carries out what comes between the content of an answer and its end.
func end(ctx context.Context, step Step) error {
	if err := hold(ctx, step.UntilEnd); err != nil {
		return err
	}
	if step.Drop {
		return errDropped
	}
	return nil
}

func hold(ctx context.Context, until <-chan struct{}) error {
	if until == nil {
		return nil
	}
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// rawData is sent as it is; all other data is JSON.
type rawData string

func writeEvent(out io.Writer, e sse) error {
	data, ok := e.data.(rawData)
	if !ok {
		encoded, err := json.Marshal(e.data)
		if err != nil {
			return fmt.Errorf("encode event %s: %w", e.name, err)
		}
		data = rawData(encoded)
	}
	if e.name != "" {
		if _, err := fmt.Fprintf(out, "event: %s\n", e.name); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "data: %s\n\n", data)
	return err
}

func writeFailure(out http.ResponseWriter, step Step, w wire) {
	if step.Body == "" {
		writeJSON(out, step.Status, w.failure(step.Status, fmt.Sprintf("scripted failure %d", step.Status)))
		return
	}
	if out.Header().Get("Content-Type") == "" {
		out.Header().Set("Content-Type", "application/json")
	}
	out.WriteHeader(step.Status)
	io.WriteString(out, step.Body)
}

func writeJSON(out http.ResponseWriter, status int, value any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	json.NewEncoder(out).Encode(value)
}

// countTokens reckons four bytes to a token; agents only compare it with the size of the context.
func countTokens(out http.ResponseWriter, in *http.Request) {
	n, err := io.Copy(io.Discard, http.MaxBytesReader(out, in.Body, maxBody))
	if err != nil {
		writeJSON(out, http.StatusBadRequest, messagesWire{}.failure(http.StatusBadRequest, err.Error()))
		return
	}
	writeJSON(out, http.StatusOK, object{"input_tokens": n / 4})
}

// listModels has the fields of both vendors; each agent reads its own.
func listModels(out http.ResponseWriter, _ *http.Request) {
	writeJSON(out, http.StatusOK, object{
		"object": "list", "has_more": false, "first_id": Model, "last_id": Model,
		"data": []object{{
			"id": Model, "object": "model", "created": 0, "owned_by": "modelserver",
			"type": "model", "display_name": Model, "created_at": "1970-01-01T00:00:00Z",
		}},
	})
}
