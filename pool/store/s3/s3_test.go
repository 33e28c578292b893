package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/s3"
	"github.com/ralph-loop/ralph/pool/store/storetest"
)

// open returns a client of a server at this address.
func open(address, parameters string) (*s3.Store, error) {
	u, err := url.Parse("s3://bucket/some/prefix?insecure=true&poll=20ms&endpoint=" + address + parameters)
	if err != nil {
		return nil, err
	}
	return s3.Open(u)
}

// A server is an S3 server in memory, after a proxy.
type server struct {
	*httptest.Server
	// inside answers as the S3 server does.
	inside http.Handler
	// proxy may answer a request itself; then it returns true.
	proxy atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
	puts  atomic.Int32 // of the client
}

func newServer(t testing.TB) *server {
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "something")
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	s := &server{inside: gofakes3.New(backend).Server()}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			s.puts.Add(1)
		}
		if proxy := s.proxy.Load(); proxy == nil || !(*proxy)(w, r) {
			s.inside.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) address() string { return s.Listener.Addr().String() }

func (s *server) open(t testing.TB) *s3.Store {
	t.Helper()
	c, err := open(s.address(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// disturb sets what the proxy does from now on.
func (s *server) disturb(proxy func(w http.ResponseWriter, r *http.Request) bool) {
	s.puts.Store(0)
	s.proxy.Store(&proxy)
}

func TestContract(t *testing.T) {
	server := newServer(t)
	storetest.Run(t, storetest.Engine{
		Open:    func(t testing.TB) store.Store { return server.open(t) },
		Keys:    1100,
		Address: server.address(),
		OpenAt:  func(_ context.Context, address string) (store.Store, error) { return open(address, "") },
	})
}

// refuse answers as a server that is too busy.
func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	if code != "" {
		fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code></Error>`, code)
	}
}

// first tells of the first n requests with a method.
func first(n int32, method string) func(*http.Request) bool {
	var seen atomic.Int32
	return func(r *http.Request) bool { return r.Method == method && seen.Add(1) <= n }
}

// twice lets the server answer a request, and forgets the answer.
func twice(inside http.Handler, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	inside.ServeHTTP(httptest.NewRecorder(), r.Clone(context.WithoutCancel(r.Context())))
	r.Body = io.NopCloser(bytes.NewReader(body))
}

func TestOwnSuccessIsNoRefusal(t *testing.T) {
	server := newServer(t)
	c := server.open(t)
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"delivered twice": func(http.ResponseWriter, *http.Request) bool { return false },
		"delivered, and the proxy says that it is busy": func(w http.ResponseWriter, _ *http.Request) bool {
			refuse(w, http.StatusServiceUnavailable, "")
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer server.proxy.Store(nil)
			key := fmt.Sprint("accounts/", len(name))
			faulty := func() func(http.ResponseWriter, *http.Request) bool {
				disturbed := first(1, http.MethodPut)
				return func(w http.ResponseWriter, r *http.Request) bool {
					if !disturbed(r) {
						return false
					}
					twice(server.inside, r)
					return answer(w, r)
				}
			}
			server.disturb(faulty())
			revision, err := c.PutIfAbsent(t.Context(), key, []byte("value"))
			if err != nil {
				t.Fatalf("PutIfAbsent: %v", err)
			}
			server.disturb(faulty())
			if revision, err = c.CompareAndSwap(t.Context(), key, revision, []byte("next")); err != nil {
				t.Fatalf("CompareAndSwap: %v", err)
			}
			if entry, err := c.Get(t.Context(), key); err != nil || entry.Revision != revision || string(entry.Value) != "next" {
				t.Errorf("Get: %q, %v", entry.Value, err)
			}
		})
	}
}

func TestBusyServerIsWaitedFor(t *testing.T) {
	server := newServer(t)
	c := server.open(t)
	for i, busy := range []struct {
		status int
		code   string
	}{{503, "SlowDown"}, {429, ""}, {409, "ConditionalRequestConflict"}, {503, ""}} {
		key := fmt.Sprint("accounts/", i)
		put, get := first(1, http.MethodPut), first(1, http.MethodGet)
		server.disturb(func(w http.ResponseWriter, r *http.Request) bool {
			if put(r) || get(r) {
				refuse(w, busy.status, busy.code)
				return true
			}
			return false
		})
		if _, err := c.PutIfAbsent(t.Context(), key, []byte("value")); err != nil {
			t.Errorf("%v: PutIfAbsent: %v", busy, err)
		}
		if entry, err := c.Get(t.Context(), key); err != nil || string(entry.Value) != "value" {
			t.Errorf("%v: Get: %q, %v", busy, entry.Value, err)
		}
		for key, err := range c.List(t.Context(), "accounts/", "") {
			if err != nil {
				t.Errorf("%v: List: %q, %v", busy, key, err)
			}
		}
		// A refusal after an attempt that the server itself has refused is certain.
		again := first(1, http.MethodPut)
		server.disturb(func(w http.ResponseWriter, r *http.Request) bool {
			if again(r) {
				refuse(w, busy.status, busy.code)
				return true
			}
			return false
		})
		_, err := c.PutIfAbsent(t.Context(), key, []byte("another"))
		if certain := busy.code != ""; err == nil || errors.Is(err, store.ErrExists) != certain {
			t.Errorf("%v: PutIfAbsent of a key that exists: %v, want certain: %t", busy, err, certain)
		}
	}
}

func TestWaitingEndsWithContext(t *testing.T) {
	server := newServer(t)
	c := server.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	server.disturb(func(w http.ResponseWriter, _ *http.Request) bool {
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
		cancel()
		return true
	})
	_, err := c.PutIfAbsent(ctx, "accounts/a", nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("PutIfAbsent: %v", err)
	}
}

func TestUnknownOutcomeIsNotHidden(t *testing.T) {
	server := newServer(t)
	c := server.open(t)
	for i, answer := range []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { refuse(w, http.StatusInternalServerError, "InternalError") },
		func(w http.ResponseWriter) { refuse(w, http.StatusGatewayTimeout, "") },
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, // cuts the connection
	} {
		key := fmt.Sprint("accounts/", i)
		server.disturb(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			twice(server.inside, r)
			answer(w)
			return true
		})
		_, put := c.PutIfAbsent(t.Context(), key, []byte("value"))
		_, swap := c.CompareAndSwap(t.Context(), key, "", []byte("value"))
		for _, err := range []error{put, swap} {
			if err == nil || errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrChanged) {
				t.Errorf("answer %d: %v, want an error that says nothing of the outcome", i, err)
			}
		}
		if n := server.puts.Load(); n != 2 {
			t.Errorf("answer %d: %d requests for 2 writes", i, n)
		}
		if entry, err := c.Get(t.Context(), key); err != nil || string(entry.Value) != "value" {
			t.Errorf("answer %d: Get: %q, %v", i, entry.Value, err)
		}
	}
}

func TestTruncatedBodiesAreErrors(t *testing.T) {
	server := newServer(t)
	c := server.open(t)
	value := bytes.Repeat([]byte("value"), 10_000)
	server.disturb(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			r.Body = io.NopCloser(io.LimitReader(r.Body, 20_000))
		}
		return false
	})
	if _, err := c.PutIfAbsent(t.Context(), "accounts/a", value); err == nil || errors.Is(err, store.ErrExists) {
		t.Errorf("PutIfAbsent: %v", err)
	}
	if _, err := c.Get(t.Context(), "accounts/a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of half a value: %v", err)
	}
	server.disturb(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		recorder := httptest.NewRecorder()
		server.inside.ServeHTTP(recorder, r)
		for name, values := range recorder.Header() {
			w.Header()[name] = values
		}
		_, _ = w.Write(recorder.Body.Bytes()[:recorder.Body.Len()/2])
		return true
	})
	if _, err := c.PutIfAbsent(t.Context(), "accounts/a", value); err != nil {
		t.Fatal(err)
	}
	if entry, err := c.Get(t.Context(), "accounts/a"); err == nil {
		t.Errorf("Get: %d bytes of %d and no error", len(entry.Value), len(value))
	}
}

func TestForeignObjectsAreRefused(t *testing.T) {
	server := newServer(t)
	c := server.open(t)
	for i, object := range []string{"", "text", strings.Repeat("x", 26), strings.Repeat("x", 26) + "\n" + strings.Repeat("x", store.MaxValue+1)} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprint(server.URL, "/bucket/some/prefix/accounts/", i), strings.NewReader(object))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if _, err := c.Get(t.Context(), fmt.Sprint("accounts/", i)); err == nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get of %.40q: %v", object, err)
		}
	}
}

func TestProbeRefusesIgnoredConditions(t *testing.T) {
	for _, headers := range [][]string{{"If-None-Match"}, {"If-Match"}, {"If-None-Match", "If-Match"}} {
		server := newServer(t)
		server.disturb(func(_ http.ResponseWriter, r *http.Request) bool {
			for _, name := range headers {
				r.Header.Del(name)
			}
			return false
		})
		if err := store.Probe(t.Context(), server.open(t)); err == nil || !strings.Contains(err.Error(), "does not keep conditions") {
			t.Errorf("%s ignored: %v", headers, err)
		}
	}
	if err := store.Probe(t.Context(), newServer(t).open(t)); err != nil {
		t.Errorf("conditions kept: %v", err)
	}
}

func TestMissingBucketIsNamed(t *testing.T) {
	server := newServer(t)
	u := &url.URL{Scheme: "s3", Host: "absent-bucket", RawQuery: "insecure=true&endpoint=" + server.address()}
	c, err := s3.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, get := c.Get(t.Context(), "accounts/a")
	_, put := c.PutIfAbsent(t.Context(), "accounts/a", nil)
	for _, err := range []error{get, put} {
		if err == nil || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "bucket") {
			t.Errorf("without a bucket: %v", err)
		}
	}
}

func TestWrongAddressesAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"s3://bucket/../x":                "prefix",
		"s3://bucket/p?endpont=localhost": "no such parameter",
		"s3://bucket/p?poll=often":        "poll",
		"s3://bucket/p?endpoint=http://h": "endpoint",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s3.Open(u); err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestServerGoneIsAnError(t *testing.T) {
	server := newServer(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	server.Close()
	c, err := open(address, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.PutIfAbsent(t.Context(), "accounts/a", nil); err == nil || errors.Is(err, store.ErrExists) {
		t.Errorf("PutIfAbsent: %v", err)
	}
}

func BenchmarkMemory(b *testing.B) {
	storetest.Bench(b, newServer(b).open(b))
}
