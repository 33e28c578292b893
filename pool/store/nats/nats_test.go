package nats_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/keys"
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

// TestReaderSteersNothing writes each kind of key past this program, as a forger with the token of
// a reader would, and with none of the conditions of a host.
func TestReaderSteersNothing(t *testing.T) {
	s := startServer(t)
	host := s.open(t, s.host)
	refused := make(chan error, 20)
	conn, err := client.Connect(s.host.URL, client.Token(s.reader.Token), client.Secure(&tls.Config{InsecureSkipVerify: true}),
		client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const loop = "01K8Z0000000000000000000AA"
	steer := []byte(`{"v":1,"command":{"kind":"stop","from":"cli:ada@mill"}}`)
	for _, key := range []string{
		keys.Inbox(loop) + "01K8Z0000000000000000000AB", keys.Chunk(loop, 0), keys.Tree(loop, 0), keys.Blob(loop, "0a"), keys.Repair(loop, 0),
		keys.View(loop), keys.Part(keys.Tree(loop, 0), "0a"), keys.Beat("mill"), keys.Wake("mill"), keys.Worker("mill"), keys.Drain("mill"),
		keys.Schedule("nightly"), keys.Queued(5, loop), keys.Cursor, keys.Account("team"), keys.Probe("2026-01-01"),
	} {
		if err := conn.Publish("$KV.ralph."+strings.ReplaceAll(key, "/", "."), steer); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-refused:
			if !errors.Is(err, client.ErrPermissionViolation) {
				t.Errorf("%s: %v", key, err)
			}
		case <-t.Context().Done():
			t.Fatalf("a reader may write %s", key)
		}
		if _, err := host.Get(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s is there after a reader wrote it: %v", key, err)
		}
	}
}

// TestServerLimitsClients publishes what only the owner of a server may.
func TestServerLimitsClients(t *testing.T) {
	s := startServer(t)
	for _, p := range []connect.Pool{s.host, s.reader} {
		refused := make(chan error, 20)
		conn, err := client.Connect(s.host.URL, client.Token(p.Token), client.Secure(&tls.Config{InsecureSkipVerify: true}),
			client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { refused <- err }))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		subjects := []string{
			"$JS.API.STREAM.DELETE.KV_ralph", "$JS.API.STREAM.PURGE.KV_ralph", "$JS.API.STREAM.UPDATE.KV_ralph", "$JS.API.STREAM.MSG.DELETE.KV_ralph",
			"$JS.API.CONSUMER.CREATE.KV_ralph.c", "$JS.API.STREAM.CREATE.KV_other", "_INBOX.of.another", "ralph-pool.ralph.hosts.h.wake",
		}
		if p.Reader {
			subjects = append(subjects, "$KV.ralph.hosts.h.wake")
		}
		for _, subject := range subjects {
			if err := conn.Publish(subject, nil); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-refused:
				if !errors.Is(err, client.ErrPermissionViolation) {
					t.Errorf("%s: %v", subject, err)
				}
			case <-t.Context().Done():
				t.Fatalf("%s is allowed", subject)
			}
		}
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

// TestDamagedKeyIsNotAbsent changes a byte of a block while no server runs.
func TestDamagedKeyIsNotAbsent(t *testing.T) {
	s := startServer(t)
	c := s.open(t, s.host)
	for _, key := range []string{"loops/L/log/0", "loops/L/log/1"} {
		if _, err := c.PutIfAbsent(t.Context(), key, []byte("the text of "+key)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.command.Wait(); err != nil {
		t.Fatal(err)
	}
	blocks, err := filepath.Glob(filepath.Join(s.dir, "jetstream", "*", "streams", "*", "msgs", "*.blk"))
	if err != nil || len(blocks) != 1 {
		t.Fatal(blocks, err)
	}
	text, err := os.ReadFile(blocks[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(text, []byte("text of loops/L/log/0"), []byte("TEXT of loops/L/log/0"), 1)
	if err := os.WriteFile(blocks[0], damaged, 0o600); err != nil || bytes.Equal(damaged, text) {
		t.Fatal(err)
	}
	s.restart(t)
	c = s.open(t, s.host)
	if _, err := c.Get(t.Context(), "loops/L/log/0"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of a damaged key: %v", err)
	}
	if _, err := c.PutIfAbsent(t.Context(), "loops/L/log/0", nil); !errors.Is(err, store.ErrExists) {
		t.Errorf("PutIfAbsent of a damaged key: %v", err)
	}
	if entry, err := c.Get(t.Context(), "loops/L/log/1"); err != nil || string(entry.Value) != "the text of loops/L/log/1" {
		t.Errorf("Get of the other key: %q, %v", entry.Value, err)
	}
}

// TestFirstStartMayFail has what a power cut leaves of a first start: the bucket without its
// checksum. It is made again, and found by later starts; one that has messages is not taken for it.
func TestFirstStartMayFail(t *testing.T) {
	s := startServer(t)
	sums := func() string {
		s.kill(t)
		files, err := filepath.Glob(filepath.Join(s.dir, "jetstream", "*", "streams", "*", "meta.sum"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		return files[0]
	}
	if err := errors.Join(os.Remove(sums()), os.Remove(filepath.Join(s.dir, "server.json"))); err != nil {
		t.Fatal(err)
	}
	s.restart(t)
	if _, err := s.open(t, s.host).PutIfAbsent(t.Context(), "key", []byte("value")); err != nil {
		t.Fatal(err)
	}
	sum := sums()
	s.restart(t)
	if entry, err := s.open(t, s.host).Get(t.Context(), "key"); err != nil || string(entry.Value) != "value" {
		t.Errorf("after another start: %q, %v", entry.Value, err)
	}
	s.kill(t)
	if err := errors.Join(os.Remove(sum), os.Remove(filepath.Join(s.dir, "server.json"))); err != nil {
		t.Fatal(err)
	}
	if err := runServer(s.dir, "127.0.0.1:0"); err == nil || !strings.Contains(err.Error(), "has lost what the pool had stored") {
		t.Errorf("a bucket with messages and without its checksum: %v", err)
	}
	if blocks, err := filepath.Glob(filepath.Join(s.dir, "jetstream", "*", "streams", "*", "msgs", "*.blk")); err != nil || len(blocks) != 1 {
		t.Errorf("its blocks: %v, %v", blocks, err)
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
