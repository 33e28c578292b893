//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/ralph-loop/ralph/registry"
)

// spans are those that a collector got: their content by id.
type spans struct {
	sync.Mutex
	byID     map[string]string
	changed  []string // came again with another content
	requests int
}

// take reads a request in either encoding.
func (s *spans) take(traces ptrace.Traces) {
	s.Lock()
	defer s.Unlock()
	s.requests++
	list := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i := range list.Len() {
		span := list.At(i)
		id := span.SpanID().String()
		content := fmt.Sprint(span.TraceID(), span.ParentSpanID(), span.Name(), span.StartTimestamp(), span.EndTimestamp(), span.Attributes().AsRaw())
		if before, again := s.byID[id]; again && before != content {
			s.changed = append(s.changed, before+"\n"+content)
		}
		s.byID[id] = content
	}
}

func (s *spans) count() (different, requests int) {
	s.Lock()
	defer s.Unlock()
	return len(s.byID), s.requests
}

// The runner is killed twice while it sends spans. In the end the collector has the trace that an
// export of the journal has, span by span.
func TestTraceOutlivesKilledRunner(t *testing.T) {
	t.Parallel()
	got := &spans{byID: map[string]string{}}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the runner died meanwhile
		}
		traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(body)
		if err != nil {
			t.Errorf("%s: %v", r.URL, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		got.take(traces)
	}))
	defer collector.Close()
	p := newPlace(t)
	p.must(os.WriteFile(filepath.Join(p.dir, "w.rehearsal"), []byte("iteration *\n  say I work.\n  write a.txt {iteration}\n  run sleep 0.05\n  append b.txt {iteration}\n"), 0o600))
	p.fine("start", "demo", "--detach", "-p", "Work.", "-a", "ralph rehearse w.rehearsal", "-m", "100000", "--telemetry.otlp.endpoint", collector.URL)
	for range 2 {
		before, _ := got.count()
		p.until("more spans at the collector", func() bool { n, _ := got.count(); return n > before })
		live, err := registry.Probe(p.loop("demo"))
		p.must(err)
		p.must(syscall.Kill(live.PID, syscall.SIGKILL))
		p.until("the end of the runner", func() bool { return p.dead("demo") })
		p.fine("start", "demo", "--resume", "--detach")
	}
	before, _ := got.count()
	p.until("spans of the last runner", func() bool { n, _ := got.count(); return n > before })
	p.fine("stop", "demo", "--now", "--wait", "20s")
	p.until("the end of the loop", func() bool { return p.dead("demo") })

	p.fine("journal", "export", "demo", "--otlp", "-o", "trace.json")
	want := &spans{byID: map[string]string{}}
	text, err := os.ReadFile(filepath.Join(p.dir, "trace.json"))
	p.must(err)
	for line := range bytes.Lines(text) {
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		p.must(err)
		want.take(traces)
	}
	got.Lock()
	defer got.Unlock()
	if len(got.changed) > 0 {
		t.Errorf("%d spans came again with another content:\n%s", len(got.changed), got.changed[0])
	}
	if len(want.byID) < 10 || !maps.Equal(got.byID, want.byID) {
		t.Errorf("the collector has %d spans, and the journal %d", len(got.byID), len(want.byID))
	}
}
