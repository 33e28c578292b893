package nats_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/serve"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/nats"
	"github.com/ralph-loop/ralph/pool/store/storetest"
)

// The test binary is the server as well: as another process, which can be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("NATS_TEST_FOLDER"); dir != "" {
		if err := runServer(dir, os.Getenv("NATS_TEST_LISTEN")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func runServer(dir, listen string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := serve.Start(ctx, serve.Options{Listen: listen, Dir: dir, Print: func(line string) { fmt.Fprintln(os.Stderr, "server:", line) }})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode([]connect.Pool{s.Host, s.Reader}); err != nil {
		return err
	}
	return errors.Join(s.Wait(ctx), s.Stop())
}

// A server is a process.
type server struct {
	dir          string
	host, reader connect.Pool
	command      *exec.Cmd
	out          *bufio.Reader
}

func startServer(t testing.TB) *server {
	s := &server{dir: t.TempDir()}
	s.start(t, "127.0.0.1:0")
	t.Cleanup(func() { s.kill(t) })
	return s
}

func (s *server) address() string { return strings.TrimPrefix(s.host.URL, "nats://") }

func (s *server) start(t testing.TB, listen string) {
	s.command = exec.Command(os.Args[0])
	s.command.Env = append(os.Environ(), "NATS_TEST_FOLDER="+s.dir, "NATS_TEST_LISTEN="+listen)
	s.command.Stderr = os.Stderr
	out, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	var pools []connect.Pool
	s.out = bufio.NewReader(out)
	if err := json.NewDecoder(s.out).Decode(&pools); err != nil {
		t.Fatalf("the server has not started: %v", err)
	}
	s.host, s.reader = pools[0], pools[1]
}

func (s *server) kill(t testing.TB) {
	if err := s.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	_ = s.command.Wait()
}

// restart starts the server again where it was.
func (s *server) restart(t testing.TB) {
	s.start(t, s.address())
}

// open returns a client of a pool, which may be at another address.
func open(ctx context.Context, p connect.Pool, address string) (*nats.Store, error) {
	return nats.Open(ctx, &url.URL{Scheme: "nats", Host: address}, nats.Options{Token: p.Token, Fingerprint: p.Fingerprint, Reader: p.Reader})
}

func (s *server) open(t testing.TB, p connect.Pool) *nats.Store {
	t.Helper()
	c, err := open(t.Context(), p, s.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestContract(t *testing.T) {
	s := startServer(t)
	storetest.Run(t, storetest.Engine{
		Open:    func(t testing.TB) store.Store { return s.open(t, s.host) },
		Keys:    1100,
		Address: s.address(),
		OpenAt:  func(ctx context.Context, address string) (store.Store, error) { return open(ctx, s.host, address) },
		Kill: func(t testing.TB) {
			s.kill(t)
			s.restart(t)
		},
	})
}

func TestReaderCannotWrite(t *testing.T) {
	s := startServer(t)
	host, reader := s.open(t, s.host), s.open(t, s.reader)
	if _, err := host.PutIfAbsent(t.Context(), "loops/L/view", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if entry, err := reader.Get(t.Context(), "loops/L/view"); err != nil || string(entry.Value) != "text" {
		t.Errorf("Get: %q, %v", entry.Value, err)
	}
	if _, err := reader.PutIfAbsent(t.Context(), "loops/M/view", nil); err == nil || !strings.Contains(err.Error(), "reader") {
		t.Errorf("PutIfAbsent of a reader: %v", err)
	}
	// The server refuses one that says nothing of it.
	liar := s.reader
	liar.Reader = false
	c := s.open(t, liar)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := c.PutIfAbsent(ctx, "loops/M/view", nil); err == nil || errors.Is(err, store.ErrExists) {
		t.Errorf("PutIfAbsent with the token of a reader: %v", err)
	}
	if _, err := host.Get(t.Context(), "loops/M/view"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the key of a reader: %v", err)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	s := startServer(t)
	for name, c := range map[string]struct {
		change func(*connect.Pool)
		want   string
	}{
		"without a token":         {func(p *connect.Pool) { p.Token = "" }, "refuses the token"},
		"with another token":      {func(p *connect.Pool) { p.Token = strings.Repeat("A", 26) }, "refuses the token"},
		"another certificate":     {func(p *connect.Pool) { p.Fingerprint = strings.Repeat("0", 64) }, "another than the one that was joined"},
		"a certificate of nobody": {func(p *connect.Pool) { p.Fingerprint = "" }, "certificate"},
	} {
		p := s.host
		c.change(&p)
		client, err := open(t.Context(), p, s.address())
		if err == nil {
			client.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestWatchSurvivesServer writes while the watcher has no connection.
func TestWatchSurvivesServer(t *testing.T) {
	s := startServer(t)
	watcher, writer := s.open(t, s.host), s.open(t, s.host)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := make(chan string, 100)
	var watching sync.WaitGroup
	watching.Go(func() {
		for key, err := range watcher.Watch(ctx, "hosts/h/") {
			if err != nil {
				t.Errorf("Watch: %v", err)
				return
			}
			told <- key
		}
	})
	await := func(want ...string) {
		t.Helper()
		for {
			select {
			case key := <-told:
				if slices.Contains(want, key) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("the watch has not told of %q", want)
			}
		}
	}
	await("")
	var revision store.Revision
	for range 3 {
		var err error
		if revision, err = writer.CompareAndSwap(ctx, "hosts/h/wake", revision, nil); err != nil {
			t.Fatal(err)
		}
		await("hosts/h/wake")
		s.kill(t)
		s.restart(t)
		await("")
	}
	cancel()
	watching.Wait()
}

func TestServerGoneIsAnError(t *testing.T) {
	s := startServer(t)
	c := s.open(t, s.host)
	s.kill(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, put := c.PutIfAbsent(ctx, "accounts/a", nil)
	_, get := c.Get(ctx, "accounts/a")
	for _, err := range []error{put, get} {
		if err == nil || errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("without a server: %v", err)
		}
	}
	if _, err := open(t.Context(), s.host, s.address()); err == nil || !strings.Contains(err.Error(), "connect to the server") {
		t.Errorf("Open: %v", err)
	}
}

func BenchmarkServer(b *testing.B) {
	s := startServer(b)
	storetest.Bench(b, s.open(b, s.host))
}
