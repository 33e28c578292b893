package modelserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// forEach runs a test in every format.
func forEach(t *testing.T, test func(t *testing.T, d dialect)) {
	for _, d := range dialects {
		t.Run(string(d.format), func(t *testing.T) { test(t, d) })
	}
}

// within ends a wait that would hang the test run.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func outcomeIs(want Outcome) func([]Request) bool {
	return func(rs []Request) bool { return len(rs) > 0 && rs[len(rs)-1].Outcome == want }
}

func waitFor(t *testing.T, srv *Server, want Outcome) {
	t.Helper()
	if err := srv.Wait(within(t), outcomeIs(want)); err != nil {
		t.Fatalf("wait for outcome %q: %v; requests: %+v", want, err, srv.Requests())
	}
}

func TestStatusCarriesBodyAndHeaders(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		srv := Start(t, Sequence(
			Limited(90*time.Second),
			Step{Status: 503, Body: "<h1>busy</h1>", Header: map[string]string{"Content-Type": "text/html"}},
			Step{Text: "hi", Header: map[string]string{"Anthropic-Ratelimit-Unified-Status": "allowed"}},
		))
		response, _ := answerOf(t, d, srv)
		if response.StatusCode != 429 || response.Header.Get("Retry-After") != "90" {
			t.Errorf("limited: status %d, retry-after %q", response.StatusCode, response.Header.Get("Retry-After"))
		}
		response, body := answerOf(t, d, srv)
		if response.StatusCode != 503 || body != "<h1>busy</h1>" || response.Header.Get("Content-Type") != "text/html" {
			t.Errorf("own body: status %d, %q, %v", response.StatusCode, body, response.Header)
		}
		response, _ = answerOf(t, d, srv)
		if response.StatusCode != 200 || response.Header.Get("Anthropic-Ratelimit-Unified-Status") != "allowed" {
			t.Errorf("a good answer: status %d, %v", response.StatusCode, response.Header)
		}
		waitFor(t, srv, Answered)
	})
}

func TestDropFollowsContent(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		srv := Start(t, Sequence(Step{Text: "half an ans", Chunks: 2, Drop: true}))
		got, err := d.ask(t, srv)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the stream ended with %v", err)
		}
		if got.text() != "half an ans" || got.Finish != "" {
			t.Errorf("before the cut came %+v", got)
		}
		waitFor(t, srv, Dropped)
	})
}

func TestDropWithoutContentSendsNothing(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		srv := Start(t, Sequence(Step{Drop: true}))
		if response, err := d.post(t.Context(), srv, d.bodies["plain"]); err == nil {
			response.Body.Close()
			t.Errorf("got status %d", response.StatusCode)
		}
		waitFor(t, srv, Dropped)
	})
}

// readUntil returns what came up to and including a text.
func readUntil(t *testing.T, body io.Reader, text string) string {
	t.Helper()
	var got bytes.Buffer
	buffer := make([]byte, 4096)
	for !strings.Contains(got.String(), text) {
		n, err := body.Read(buffer)
		got.Write(buffer[:n])
		if err != nil {
			t.Fatalf("wait for %q: %v after %q", text, err, got.String())
		}
	}
	return got.String()
}

func TestUntilAndUntilEndHold(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		begin, finish := make(chan struct{}), make(chan struct{})
		srv := Start(t, Sequence(Step{Text: "streamed", Until: begin, UntilEnd: finish}))

		arrived := make(chan *http.Response, 1)
		go func() {
			response, err := d.post(within(t), srv, d.bodies["plain"])
			if err != nil {
				t.Error(err)
			}
			arrived <- response
		}()
		waitFor(t, srv, Answering)
		select {
		case <-arrived:
			t.Fatal("an answer came before it was let go")
		default:
		}
		close(begin)
		response := <-arrived
		if response == nil {
			return
		}
		defer response.Body.Close()

		first := readUntil(t, response.Body, "streamed")
		if got := srv.Requests()[0].Outcome; got != Answering {
			t.Errorf("outcome %q while the end is held", got)
		}
		close(finish)
		got, err := d.read(io.MultiReader(strings.NewReader(first), response.Body))
		if err != nil || got.text() != "streamed" || got.Finish == "" {
			t.Errorf("in the end: %+v, %v", got, err)
		}
		waitFor(t, srv, Answered)
	})
}

func TestDelayPassesBeforeEachPiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a, err := prepare(Request{N: 1}, Step{Text: "abc", Chunks: 3})
		if err != nil {
			t.Fatal(err)
		}
		out := &discard{header: http.Header{}}
		if err := send(t.Context(), out, Step{Delay: time.Minute}, messagesWire{}.stream(a)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 3*time.Minute {
			t.Errorf("three pieces took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := pause(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an interrupted delay: %v", err)
		}
	})
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) FlushError() error           { return nil }

func TestPerContextBeginsAgain(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		srv := Start(t, PerContext(Step{Text: "zero"}, Step{Text: "one"}, Step{Text: "two"}))
		for _, want := range []string{"zero", "zero"} {
			if got, err := d.ask(t, srv); err != nil || got.text() != want {
				t.Errorf("got %+v, %v; want %s", got, err, want)
			}
		}
		response, err := d.post(t.Context(), srv, d.bodies["conversation"])
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if got, err := d.read(response.Body); err != nil || got.text() != "two" {
			t.Errorf("after two answers: got %+v, %v", got, err)
		}
	})
}

func TestScriptFaultsAreReported(t *testing.T) {
	cases := []struct {
		name   string
		script func() Script
		want   string
	}{
		{"a sequence that is too short", func() Script { return Sequence() }, "request 1: the script has 0 steps, and step 1 is asked for"},
		{"a tool that is not declared", func() Script {
			return Sequence(Step{Tools: []ToolCall{{resolve: func(Request) (ToolCall, error) { return ToolCall{}, errors.New("no such tool") }}}})
		}, "request 1: no such tool"},
		{"arguments that are no JSON", func() Script { return Sequence(Step{Tools: []ToolCall{{Name: "x", Args: func() {}}}}) }, "request 1: encode the arguments of x"},
		{"a panic", func() Script { return func(Request) Step { panic("oh") } }, "request 1: the script panicked: oh"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			forEach(t, func(t *testing.T, d dialect) {
				srv, err := New(c.script())
				if err != nil {
					t.Fatal(err)
				}
				defer srv.Close()
				if err := srv.Fault(); err != nil {
					t.Errorf("a fault before any request: %v", err)
				}
				response, body := answerOf(t, d, srv)
				if response.StatusCode != 400 || !strings.Contains(body, c.want) {
					t.Errorf("status %d, body %s; want %q", response.StatusCode, body, c.want)
				}
				if err := srv.Fault(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("fault %v; want %q", err, c.want)
				}
			})
		})
	}
}

func TestUnreadableRequestIsRefused(t *testing.T) {
	forEach(t, func(t *testing.T, d dialect) {
		srv, err := New(Sequence())
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		response, err := d.post(t.Context(), srv, `{"model":`)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != 400 || srv.Fault() == nil || len(srv.Requests()) != 0 {
			t.Errorf("status %d, fault %v, requests %v", response.StatusCode, srv.Fault(), srv.Requests())
		}
	})
}

func TestStartFailsTestOnFault(t *testing.T) {
	inner := &recorder{TB: t}
	srv := Start(inner, Sequence())
	answerOf(t, dialects[0], srv)
	inner.cleanup()
	if want := "model script: request 1: the script has 0 steps"; len(inner.errors) != 1 || !strings.HasPrefix(inner.errors[0], want) {
		t.Errorf("reported: %q", inner.errors)
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	srv := Start(t, Sequence(Step{}))
	answerOf(t, dialects[0], srv)
	gone := errors.New("the test has other plans")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	err := srv.Wait(ctx, func([]Request) bool { return false })
	if !errors.Is(err, gone) || !strings.Contains(err.Error(), "1 requests so far") {
		t.Errorf("got %v", err)
	}
}

func TestRequestsAreNumbered(t *testing.T) {
	srv := Start(t, func(r Request) Step { return Step{Text: string(r.Format)} })
	for _, d := range dialects {
		if got, err := d.ask(t, srv); err != nil || got.text() != string(d.format) {
			t.Errorf("%s: got %+v, %v", d.format, got, err)
		}
	}
	for i, r := range srv.Requests() {
		if r.N != i+1 || r.Format != dialects[i].format {
			t.Errorf("request %d is number %d of format %s", i+1, r.N, r.Format)
		}
	}
}

func TestModelsAndTokenCounts(t *testing.T) {
	srv := Start(t, Sequence())
	response, err := http.Get(srv.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); !strings.Contains(string(body), `"id":"`+Model+`"`) {
		t.Errorf("models: %s", body)
	}
	response, err = http.Post(srv.URL+"/v1/messages/count_tokens?beta=true", "application/json", strings.NewReader(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); strings.TrimSpace(string(body)) != `{"input_tokens":3}` {
		t.Errorf("tokens: %s", body)
	}
	if n := len(srv.Requests()); n != 0 {
		t.Errorf("%d requests recorded", n)
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	never := make(chan struct{})
	steps := []Step{{Until: never}, {Text: "well", UntilEnd: never}, {Text: "a", Delay: time.Hour}, {}}
	srv, err := New(Sequence(steps...))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	ended := make(chan struct{})
	for range steps {
		go func() {
			defer func() { ended <- struct{}{} }()
			response, err := client.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(`{"stream":true}`))
			if err == nil {
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		}()
	}
	err = srv.Wait(within(t), func(rs []Request) bool {
		return len(rs) == len(steps) && slices.ContainsFunc(rs, func(r Request) bool { return r.Outcome == Answered })
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Close()
	if rest := serverGoroutines(); rest != "" {
		t.Errorf("still there after Close:\n%s", rest)
	}
	closed := 0
	for _, r := range srv.Requests() {
		if r.Outcome == Closed {
			closed++
		}
	}
	if closed != len(steps)-1 {
		t.Errorf("%d answers were ended by Close: %+v", closed, srv.Requests())
	}
	for range steps {
		<-ended
	}
	client.CloseIdleConnections()
	srv.Close()
}

// serverGoroutines are the stacks of those that the server started, after a while for the ones that
// have only to return.
func serverGoroutines() (stacks string) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		buffer := make([]byte, 1<<20)
		var ours []string
		for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
			if strings.Contains(stack, "net/http.(*conn).serve") || strings.Contains(stack, "net/http.(*Server).Serve") ||
				strings.Contains(stack, "net/http.(*connReader).backgroundRead") {
				ours = append(ours, stack)
			}
		}
		if stacks = strings.Join(ours, "\n\n"); stacks == "" {
			break
		}
	}
	return stacks
}

// recorder is a testing.TB that keeps what a test would report.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
func (r *recorder) cleanup() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

func TestMissingAgentsFailTest(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(AgentsEnv, folder)
	inner := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		AgentBin(inner)
	}()
	<-done
	if len(inner.errors) != 1 || !strings.Contains(inner.errors[0], "run tools/agents/install.sh, or set "+AgentsEnv) {
		t.Errorf("reported: %q", inner.errors)
	}
}

func TestHomesInheritOnlyPath(t *testing.T) {
	folder := t.TempDir()
	bin := filepath.Join(folder, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"pi", "claude"} {
		if err := os.WriteFile(filepath.Join(bin, agent), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(AgentsEnv, folder)
	t.Setenv("ANTHROPIC_API_KEY", "the user's own")
	srv := Start(t, Sequence())
	pi, flags := PiHome(t, srv)
	if want := []string{"--no-session", "--model", "chat/scripted"}; !slices.Equal(flags, want) {
		t.Errorf("flags of pi: %q", flags)
	}
	models, err := os.ReadFile(filepath.Join(value(pi, "PI_CODING_AGENT_DIR"), "models.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{srv.URL + `/v1"`, srv.URL + `"`, `"openai-responses"`, `"anthropic-messages"`} {
		if !strings.Contains(string(models), part) {
			t.Errorf("pi's models lack %s:\n%s", part, models)
		}
	}
	claude := ClaudeHome(t, srv)
	if got := value(claude, "ANTHROPIC_BASE_URL"); got != srv.URL {
		t.Errorf("Claude Code asks %s", got)
	}
	for _, env := range [][]string{pi, claude} {
		if !strings.HasPrefix(value(env, "PATH"), bin+string(os.PathListSeparator)) {
			t.Errorf("the agents are not first on PATH: %s", value(env, "PATH"))
		}
		if home := value(env, "HOME"); home == "" || home == os.Getenv("HOME") {
			t.Errorf("home is %q", home)
		}
		if strings.Contains(strings.Join(env, "\n"), "the user's own") {
			t.Errorf("a key came through: %q", env)
		}
	}
}

func value(env []string, name string) string {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}
