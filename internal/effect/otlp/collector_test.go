package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// collector is a collector on loopback. Its first answers are those of faults.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	faults []func(http.ResponseWriter, *http.Request)
	spans  map[string]int // how often each came
	got    chan int       // the number of different spans after each request that was taken
}

func newCollector(t *testing.T, faults ...func(http.ResponseWriter, *http.Request)) *collector {
	c := &collector{faults: faults, spans: map[string]int{}, got: make(chan int, 1000)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) > 0 {
		fault := c.faults[0]
		c.faults = c.faults[1:]
		fault(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		body, _ = io.ReadAll(unpacked)
	}
	unmarshal := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces
	if r.Header.Get("Content-Type") == "application/json" {
		unmarshal = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces
	}
	traces, err := unmarshal(body)
	if err != nil || r.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	list := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i := range list.Len() {
		c.spans[list.At(i).SpanID().String()]++
	}
	c.got <- len(c.spans)
}

// await waits until that many different spans came.
func (c *collector) await(t *testing.T, n int) {
	t.Helper()
	for got := range c.got {
		if got == n {
			return
		}
	}
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// cut breaks the connection without an answer.
func cut(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}

// hang answers when the client has given up.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.ReadAll(r.Body) // else the server does not notice that the client is gone
	<-r.Context().Done()
}

func targetOf(t *testing.T, c *collector, env ...string) *Target {
	t.Helper()
	target, err := Find(config.OTLP{}, append(env, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// writeLoop appends events to the journal of a loop, and closes it if it has ended.
func writeLoop(t *testing.T, dir string, payloads []event.Payload) {
	t.Helper()
	rec, err := journal.Recover(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := journal.Create(dir, rec, 1, nil, journal.Options{Notify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, p := range payloads {
		if _, err := w.Append([]event.Draft{event.Encode(p, "loop")}); err != nil {
			t.Fatal(err)
		}
	}
}

func follow(t *testing.T, dir string, target *Target, report func(string)) *Follower {
	t.Helper()
	f := &Follower{Dir: dir, Target: target, Now: time.Now, Report: report, every: time.Millisecond, retry: time.Millisecond}
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	return f
}

// Whatever the collector does, it has every span once in the end, and people hear of it once.
func TestOutageLosesNothing(t *testing.T) {
	c := newCollector(t, status(503), cut, status(429), status(502))
	target := targetOf(t, c, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip")
	dir := t.TempDir()
	reports := make(chan string, 100)
	f := follow(t, dir, target, func(why string) { reports <- why })
	writeLoop(t, dir, story[:18]) // its runner dies
	if failed, restored := <-reports, <-reports; failed == "" || restored != "" {
		t.Errorf("reports are %q, %q", failed, restored)
	}
	c.await(t, 5) // those that have ended
	if err := f.Finish(time.Minute); err != nil {
		t.Fatal(err)
	}
	f = follow(t, dir, target, nil) // the runner of the resume
	writeLoop(t, dir, story[18:])
	if err := f.Finish(time.Minute); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 0 {
		t.Errorf("%d more reports", len(reports))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spans) != 10 {
		t.Errorf("the collector has %d spans, want 10", len(c.spans))
	}
	for id, n := range c.spans {
		if n != 1 {
			t.Errorf("span %s came %d times", id, n)
		}
	}
}

// A collector that does not answer delays nothing for longer than the time of a request, and has
// every span once when it answers again.
func TestHangingCollectorIsLeft(t *testing.T) {
	c := newCollector(t, slices.Repeat([]func(http.ResponseWriter, *http.Request){hang}, 1000)...)
	target := targetOf(t, c)
	target.Timeout = 50 * time.Millisecond
	dir := t.TempDir()
	reports := make(chan string, 1)
	f := follow(t, dir, target, func(why string) { reports <- why })
	writeLoop(t, dir, story)
	if why := <-reports; !strings.Contains(why, "Timeout exceeded") {
		t.Errorf("the report is %q", why)
	}
	if err := f.Finish(0); err == nil {
		t.Error("nothing was left")
	}
	c.mu.Lock()
	c.faults = nil
	c.mu.Unlock()
	if err := follow(t, dir, targetOf(t, c), nil).Finish(time.Minute); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, n := range c.spans {
		if n != 1 {
			t.Errorf("span %s came %d times", id, n)
		}
	}
	if len(c.spans) != 10 {
		t.Errorf("the collector has %d spans, want 10", len(c.spans))
	}
}

// A collector that asks for time gets it, also at the end of the loop; the end waits no longer than
// its limit.
func TestEndHonoursRetryAfter(t *testing.T) {
	busy := func(seconds string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", seconds)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	for seconds, limit := range map[string]time.Duration{"1": time.Minute, "600": time.Millisecond} {
		var first, second time.Time
		c := newCollector(t, func(w http.ResponseWriter, r *http.Request) { first = time.Now(); busy(seconds)(w, r) },
			func(w http.ResponseWriter, _ *http.Request) { second = time.Now(); w.WriteHeader(http.StatusForbidden) })
		dir := t.TempDir()
		writeLoop(t, dir, story)
		asked := make(chan string, 2)
		f := follow(t, dir, targetOf(t, c), func(why string) { asked <- why })
		<-asked // the first request was answered
		if err := f.Finish(limit); err == nil {
			t.Errorf("%s: nothing was left", seconds)
		}
		c.mu.Lock()
		if limit == time.Minute && second.Sub(first) < time.Second || limit < time.Minute && !second.IsZero() {
			t.Errorf("Retry-After %s: requests at %v and %v", seconds, first, second)
		}
		c.mu.Unlock()
	}
}

// An export afterwards sends what the collector lacks, and nothing if it has all.
func TestExportCompletesTheRest(t *testing.T) {
	c := newCollector(t, status(403))
	target := targetOf(t, c, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json")
	dir := t.TempDir()
	writeLoop(t, dir, story)
	f := follow(t, dir, target, nil)
	if err := f.Finish(time.Minute); err == nil {
		t.Fatal("a refused key is no error")
	}
	for _, want := range []int64{10, 0} {
		u := Upload{Target: target, Now: time.Now, Events: journal.Read(dir, journal.ReadOptions{}), Dead: true, Dir: dir}
		sent, err := u.Send(context.Background())
		if err != nil || sent.Taken != want {
			t.Errorf("sent %d spans, %v, want %d", sent.Taken, err, want)
		}
	}
}

func TestAnswersAreJudged(t *testing.T) {
	now := time.Date(2026, 11, 24, 1, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		code   int
		header map[string]string
		body   string
		want   Answer
	}{
		"taken":             {200, nil, "", Answer{}},
		"partial, JSON":     {200, map[string]string{"Content-Type": "application/json"}, `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old"}}`, Answer{Rejected: 2, Why: "old"}},
		"partial, protobuf": {200, nil, "\x0a\x07\x08\x02\x12\x03old", Answer{Rejected: 2, Why: "old"}},
		"no message":        {200, nil, "\xff\xff\xff", Answer{}},
		"throttled":         {429, map[string]string{"Retry-After": "7"}, "", Answer{Verdict: Later, After: 7 * time.Second, Why: "HTTP 429"}},
		"until a date":      {503, map[string]string{"Retry-After": now.Add(time.Minute).Format(http.TimeFormat)}, "", Answer{Verdict: Later, After: time.Minute, Why: "HTTP 503"}},
		"for a year":        {503, map[string]string{"Retry-After": "31536000"}, "", Answer{Verdict: Later, After: waitMost, Why: "HTTP 503"}},
		"bad data":          {400, nil, "", Answer{Verdict: Refused, Why: "HTTP 400"}},
		"no key":            {401, nil, "", Answer{Verdict: Blocked, Why: "HTTP 401"}},
		"redirected":        {302, map[string]string{"Location": "http://localhost:1/"}, "", Answer{Verdict: Blocked, Why: "HTTP 302"}},
		"an error for ever": {500, nil, "", Answer{Verdict: Blocked, Why: "HTTP 500"}},
	} {
		s := &Sender{now: func() time.Time { return now }}
		r := &http.Response{StatusCode: row.code, Status: row.want.Why, Header: http.Header{}}
		if row.code != 200 {
			r.Status = row.want.Why[len("HTTP "):]
		}
		for key, value := range row.header {
			r.Header.Set(key, value)
		}
		if got := s.judge(r, []byte(row.body)); got != row.want {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}

func TestTargetIsFound(t *testing.T) {
	const key = "OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b"
	for name, row := range map[string]struct {
		settings config.OTLP
		env      []string
		want     string // URL and header, or the beginning of an error
	}{
		"nothing":           {},
		"base":              {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1/p", key}, want: "http://h:1/p/v1/traces a b"},
		"traces":            {env: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://h:1", "OTEL_EXPORTER_OTLP_ENDPOINT=http://g", key}, want: "http://h:1/ a b"},
		"settings":          {config.OTLP{Endpoint: "http://s:2"}, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1", key}, "http://s:2/v1/traces "},
		"off":               {config.OTLP{Endpoint: "none"}, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1"}, ""},
		"disabled":          {config.OTLP{Endpoint: "http://s:2"}, []string{"OTEL_SDK_DISABLED=True"}, ""},
		"no exporter":       {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1", "OTEL_TRACES_EXPORTER=none"}},
		"other exporters":   {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1", "OTEL_TRACES_EXPORTER=console"}},
		"several exporters": {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1", "OTEL_TRACES_EXPORTER=console, otlp"}, want: "http://h:1/v1/traces "},
		"password":          {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://me:se#cret@h:1"}, want: "the address of the collector is no URL: its host, port or path is wrong"},
		"grpc":              {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, want: `OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"`},
		"no address":        {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4317"}, want: "the address of the collector is no URL"},
		"secret not quoted": {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1", "OTEL_EXPORTER_OTLP_HEADERS=secret"}, want: "OTEL_EXPORTER_OTLP_HEADERS is not"},
	} {
		target, err := Find(row.settings, row.env)
		got := ""
		if err != nil {
			got = err.Error()
		} else if target != nil {
			got = target.URL + " " + target.Headers["x-key"]
		}
		if err != nil && len(got) > len(row.want) && row.want != "" {
			got = got[:len(row.want)]
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// Each variable that the guide names has its effect; the one of traces comes before that of all.
func TestVariablesHaveEffect(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1"
	find := func(env ...string) *Target {
		t.Helper()
		target, err := Find(config.OTLP{}, append(env, endpoint))
		if err != nil {
			t.Fatal(err)
		}
		return target
	}
	resource := func(target *Target) string {
		text, err := json.Marshal(target.Resource)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	plain := find()
	if plain.Encoding != Protobuf || plain.Gzip || plain.Timeout != 10*time.Second || !strings.Contains(resource(plain), `"ralph"`) {
		t.Errorf("without variables: %+v", plain)
	}
	set := find("OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_TIMEOUT=1500",
		"OTEL_SERVICE_NAME=night", "OTEL_RESOURCE_ATTRIBUTES=service.name=day,team=a%20b", "OTEL_EXPORTER_OTLP_HEADERS=x-a=1,x-b=2", "OTEL_EXPORTER_OTLP_TRACES_HEADERS=x-b=3")
	if set.Encoding != JSON || !set.Gzip || set.Timeout != 1500*time.Millisecond || set.Headers["x-a"] != "1" || set.Headers["x-b"] != "3" {
		t.Errorf("with variables: %+v", set)
	}
	if text := resource(set); !strings.Contains(text, `"night"`) || strings.Contains(text, `"day"`) || !strings.Contains(text, `"a b"`) {
		t.Errorf("whose spans they are: %s", text)
	}
	traces := find("OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=7", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=none")
	if traces.Encoding != Protobuf || traces.Gzip || traces.Timeout != 7*time.Millisecond {
		t.Errorf("with variables of traces: %+v", traces)
	}
	for _, wrong := range []string{"OTEL_EXPORTER_OTLP_TIMEOUT=soon", "OTEL_EXPORTER_OTLP_TIMEOUT=-1", "OTEL_EXPORTER_OTLP_COMPRESSION=zstd", "OTEL_RESOURCE_ATTRIBUTES=team,a=b"} {
		name, _, _ := strings.Cut(wrong, "=")
		got := find(wrong)
		if len(got.Ignored) != 1 || !strings.HasPrefix(got.Ignored[0], name) || !strings.HasSuffix(got.Ignored[0], ": it is ignored") {
			t.Errorf("%s: %q", wrong, got.Ignored)
		}
		if got.Ignored = nil; !reflect.DeepEqual(got, plain) {
			t.Errorf("%s: %+v, want %+v", wrong, got, plain)
		}
	}
}
