package mirror_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/command"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/mirror"
	"github.com/ralph-loop/ralph/pool/mirror/decide"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
	"github.com/ralph-loop/ralph/pool/store/parts"
	"github.com/ralph-loop/ralph/pool/tree"
	"github.com/ralph-loop/ralph/registry"
)

func TestMain(m *testing.M) {
	if os.Getenv("MIRROR_TEST_STORE") != "" {
		os.Exit(child())
	}
	pooltest.Main(m)
}

// agent works for two iterations.
const agent = `echo "working in iteration $RALPH_ITERATION"
echo $RALPH_ITERATION >> work.txt
if [ $RALPH_ITERATION = 2 ]; then echo '<promise>COMPLETE</promise>'; fi
`

// A host is a machine with a store, and what its mirror has said.
type host struct {
	*pooltest.Host
	t     *testing.T
	store store.Store
	path  string // of the store
	mu    sync.Mutex
	said  []string
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{Host: pooltest.NewHost(t), t: t, path: t.TempDir()}
	t.Setenv("HOME", h.Home) // of the programs that a mirror runs
	t.Setenv("RALPH_HOME", h.Home)
	h.store = openDir(t, h.path)
	return h
}

func openDir(t *testing.T, path string) store.Store {
	t.Helper()
	s, err := dir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// loop runs a loop to its end, with a prompt that is a blob, and has it take part. It returns its
// folder.
func (h *host) loop(project, name string) string {
	h.t.Helper()
	h.Run(project, "ralph", "run", "--name", name, "-p", "do it "+strings.Repeat(name+" ", 8000), "--agent", "./agent.sh", "--protocol", "text",
		"--set", "restart.delay=1ms")
	return h.join(filepath.Join(project, ".ralph", name), 1)
}

func (h *host) join(folder string, epoch int) string {
	h.t.Helper()
	h.Write(filepath.Join(folder, "pool.json"), fmt.Sprintf(`{"epoch":%d,"host":"mill"}`, epoch))
	return folder
}

func (h *host) options(s store.Store) mirror.Options {
	return mirror.Options{Store: s, Host: "mill", Home: h.Home, Program: program.Ralph(), Say: func(text string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.said = append(h.said, text)
	}}
}

// mirror mirrors what is there, as a new process does.
func (h *host) mirror(change ...func(*mirror.Options)) mirror.Counts {
	h.t.Helper()
	n, err := h.try(change...)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *host) try(change ...func(*mirror.Options)) (mirror.Counts, error) {
	opt := h.options(h.store)
	for _, c := range change {
		c(&opt)
	}
	m := mirror.New(opt)
	err := m.Once(h.t.Context())
	return m.Counts(), err
}

// idOf returns the id of a loop.
func idOf(t *testing.T, folder string) string {
	t.Helper()
	for e, err := range journal.Read(folder, journal.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == event.TypeLoopStarted {
			var p event.LoopStarted
			if err := json.Unmarshal(e.Data(), &p); err != nil {
				t.Fatal(err)
			}
			return p.ID
		}
	}
	t.Fatalf("%s has no loop.started", folder)
	return ""
}

// linesOf returns all lines of a loop's journal.
func linesOf(t *testing.T, folder string) (text []byte) {
	t.Helper()
	for e, err := range journal.Read(folder, journal.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, e.Line()...), '\n')
	}
	return text
}

// logOf reads a loop's log, of which it verifies the chain.
func logOf(t *testing.T, s store.Store, id string) (tail decide.Tail, headers []chunk.Header, lines []byte) {
	t.Helper()
	tail.Loop = id
	for {
		entry, err := s.Get(t.Context(), keys.Chunk(id, tail.Next))
		if errors.Is(err, store.ErrNotFound) {
			return tail, headers, lines
		}
		if err != nil {
			t.Fatal(err)
		}
		h, text, err := chunk.Decode(entry.Value)
		if err == nil {
			tail, err = tail.Follow(h, chunk.Hash(entry.Value))
		}
		if err != nil {
			t.Fatal(err)
		}
		headers, lines = append(headers, h), append(lines, text...)
	}
}

// wantMirrored fails unless the store has all of a loop.
func (h *host) wantMirrored(folder string) []chunk.Header {
	h.t.Helper()
	id := idOf(h.t, folder)
	_, headers, lines := logOf(h.t, h.store, id)
	if want := linesOf(h.t, folder); !bytes.Equal(lines, want) {
		h.t.Fatalf("the log of %s has %d bytes in %d chunks, the journal %d", id, len(lines), len(headers), len(want))
	}
	blobs, err := os.ReadDir(filepath.Join(folder, "blobs"))
	if err != nil || len(blobs) == 0 {
		h.t.Fatalf("the loop has %d blobs: %v", len(blobs), err)
	}
	for _, blob := range blobs {
		want, _ := os.ReadFile(filepath.Join(folder, "blobs", blob.Name()))
		var got bytes.Buffer
		if _, err := parts.Get(h.t.Context(), h.store, keys.Blob(id, blob.Name()), &got); err != nil || !bytes.Equal(got.Bytes(), want) {
			h.t.Fatalf("blob %s: %d bytes, want %d: %v", blob.Name(), got.Len(), len(want), err)
		}
	}
	return headers
}

func (h *host) wantSaid(text string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.ContainsFunc(h.said, func(s string) bool { return strings.Contains(s, text) }) {
		h.t.Errorf("nothing that was said has %q: %q", text, h.said)
	}
}

func TestJournalIsMirrored(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	folder := h.loop(project, "one")
	id := idOf(t, folder)
	n := h.mirror(func(o *mirror.Options) { o.Tree = tree.Put })
	headers := h.wantMirrored(folder)
	if n.Loops != 1 || n.Chunks != len(headers) || n.Bytes == 0 {
		t.Errorf("counted %+v for %d chunks", n, len(headers))
	}
	// Each of two iterations ends a chunk, and has a tree that is there.
	trees := map[uint64]bool{}
	for _, c := range headers {
		if c.Tree > 0 {
			trees[c.Tree-1] = true
			if _, err := parts.Head(t.Context(), h.store, keys.Tree(id, c.Tree-1)); err != nil {
				t.Errorf("chunk %d names tree %d: %v", c.Number, c.Tree-1, err)
			}
		}
	}
	if len(trees) != 2 {
		t.Errorf("the chunks name the trees %v, want 2", trees)
	}
	// A view says how it ended.
	entry, err := h.store.Get(t.Context(), keys.View(id))
	if err != nil {
		t.Fatal(err)
	}
	var v live.View
	if err := json.Unmarshal(entry.Value, &v); err != nil || v.Epoch != 1 || v.Host != "mill" || v.View == nil || !v.View.Status.Ended() || v.View.Name != "one" {
		t.Errorf("the view is %s: %v", entry.Value, err)
	}
	// Another process finds nothing to do, also if it reads all of it.
	for _, verify := range []bool{false, true} {
		if n := h.mirror(func(o *mirror.Options) { o.Verify = verify }); n.Chunks != 0 {
			t.Errorf("mirrored again: %+v", n)
		}
	}
}

// A mirror that begins when four iterations have ended stores the files after the last ones, and
// delivers a command before it has written all of the backlog.
func TestBacklogHasNewestFiles(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(strings.Replace(agent, "= 2", "= 4", 1)), "one")
	id := idOf(t, folder)
	if _, err := command.Send(t.Context(), h.store, id, "mill", 1, inbox.Command{Kind: inbox.FollowUp, From: "cli:ada@kiln", Text: "look"}); err != nil {
		t.Fatal(err)
	}
	var before []int // commands in the inbox when a tree is made
	h.mirror(func(o *mirror.Options) {
		o.Tree = func(context.Context, store.Store, string, string, uint64) error {
			got, err := inbox.Dropped(folder)
			before = append(before, len(got))
			return err
		}
	})
	if !slices.Equal(before, []int{1, 1}) {
		t.Errorf("when trees were made, the inbox had %v commands, want 1 for each of two trees", before)
	}
}

func TestOnlyMembersAreMirrored(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	folder := h.loop(project, "one")
	if err := os.Remove(filepath.Join(folder, "pool.json")); err != nil {
		t.Fatal(err)
	}
	if n := h.mirror(); n.Loops != 0 || n.Chunks != 0 {
		t.Errorf("mirrored %+v", n)
	}
	if n := h.mirror(func(o *mirror.Options) { o.All = true }); n.Loops != 1 {
		t.Errorf("with all, mirrored %+v", n)
	}
	h.wantMirrored(folder)
}

// An agent can put anything in the place of pool.json: no reader waits for a FIFO.
func TestForeignMembershipIsReported(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	one, two := h.loop(project, "one"), h.loop(project, "two")
	path := filepath.Join(one, "pool.json")
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	if n := h.mirror(); n.Loops != 1 {
		t.Errorf("mirrored %+v", n)
	}
	h.wantSaid("no regular file")
	h.wantMirrored(two)
	// Nor does the agent of one loop write to the log of another.
	h.Write(filepath.Join(two, "pool.json"), `{"epoch":1,"loop":"../../hosts"}`)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	h.Write(path, `{"epoch":1,"loop":"`+idOf(t, two)+`"}`)
	if n, err := h.try(); err == nil || n.Chunks != 0 || !strings.Contains(err.Error(), "which is another") || !strings.Contains(err.Error(), "no ULID") {
		t.Errorf("%+v: %v", n, err)
	}
}

func TestSubmittedLoopHasItsID(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	const id = "01K8Z0000000000000000000AA"
	h.Write(filepath.Join(folder, "pool.json"), `{"epoch":1,"host":"mill","loop":"`+id+`"}`)
	// Its claim has the specification.
	c := decide.NewBeginning(id, "mill", "nonce", time.Now(), []byte(`{"name":"one"}`))
	c.Missing()
	if _, err := h.store.PutIfAbsent(t.Context(), keys.Chunk(id, 0), c.Next().Stored); err != nil {
		t.Fatal(err)
	}
	h.mirror()
	_, headers, lines := logOf(t, h.store, id)
	if want := linesOf(t, folder); len(headers) < 2 || !bytes.Equal(bytes.TrimPrefix(lines, []byte("{\"name\":\"one\"}\n")), want) {
		t.Errorf("%d chunks, %d bytes, want %d", len(headers), len(lines), len(want))
	}
	// A copy of the folder would write the same log.
	copied := filepath.Join(t.TempDir(), ".ralph", "one")
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	h.Run(filepath.Dir(filepath.Dir(copied)), "ralph", "list", "--all")
	if _, err := h.try(); err == nil || !strings.Contains(err.Error(), "one of them is a copy") {
		t.Errorf("a copy: %v", err)
	}
	// Nor does another loop get into the log by its file, or claim one that waits.
	other := h.loop(filepath.Dir(filepath.Dir(folder)), "two")
	for loop, want := range map[string]string{id: "which is another", "01K8Z0000000000000000000AB": "which no host has claimed"} {
		h.Write(filepath.Join(other, "pool.json"), `{"epoch":1,"host":"mill","loop":"`+loop+`"}`)
		if _, err := h.try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a loop that is not %s: %v", loop, err)
		}
	}
}

// The store is not reached for a while, and the loop has gone on.
func TestBacklogIsMirroredLater(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	gone := &cutStore{Store: h.store}
	m := mirror.New(h.options(gone))
	gone.cut(true)
	if err := m.Once(t.Context()); !errors.Is(err, errCut) {
		t.Fatalf("without a store: %v", err)
	}
	gone.cut(false)
	// An answer is lost, of each second call.
	gone.lose = true
	for range 100 {
		if m.Once(t.Context()) == nil {
			break
		}
	}
	gone.lose = false
	h.mirror()
	h.wantMirrored(folder)
}

var errCut = errors.New("cut off")

// cutStore can be cut off, and loses answers.
type cutStore struct {
	store.Store
	mu   sync.Mutex
	off  bool
	lose bool
	n    int
}

func (c *cutStore) cut(off bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = off
}

func (c *cutStore) reached() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off {
		return errCut
	}
	return nil
}

func (c *cutStore) Get(ctx context.Context, key string) (store.Entry, error) {
	if err := c.reached(); err != nil {
		return store.Entry{}, err
	}
	return c.Store.Get(ctx, key)
}

func (c *cutStore) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	if err := c.reached(); err != nil {
		return "", err
	}
	r, err := c.Store.PutIfAbsent(ctx, key, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.lose && c.n%2 == 1 {
		return "", fmt.Errorf("the answer is lost: %w", errCut)
	}
	return r, err
}

func (c *cutStore) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := c.reached(); err != nil {
			yield("", err)
			return
		}
		c.Store.List(ctx, prefix, after)(yield)
	}
}

// flip changes one byte in the middle of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at == 0 {
		at = len(text) / 2
	}
	text[at] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBitFlipsAreFound(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	one, two := h.loop(project, "one"), h.loop(project, "two")
	h.mirror()
	id := idOf(t, one)
	last := h.wantMirrored(one)
	first := filepath.Join(h.path, keys.Chunk(id, 0))
	before, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	for at := 30; at < len(before); at += len(before) / 40 {
		flip(t, first, at)
		if _, err := h.try(func(o *mirror.Options) { o.Verify = true }); err == nil || !strings.Contains(err.Error(), "is broken at chunk ") {
			t.Errorf("byte %d of chunk 0: %v", at, err)
		}
		if err := os.WriteFile(first, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flip(t, filepath.Join(h.path, keys.Chunk(id, last[len(last)-1].Number)), 0)
	if _, err := h.try(); err == nil || !strings.Contains(err.Error(), "is broken at chunk ") {
		t.Errorf("the last chunk: %v", err)
	}
	h.wantMirrored(two)
}

func TestDamagedJournalIsReported(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	one, two := h.loop(project, "one"), h.loop(project, "two")
	whole := linesOf(t, one)
	segments, err := journal.Segments(one)
	if err != nil || len(segments) < 2 {
		t.Fatalf("%d segments: %v", len(segments), err)
	}
	flip(t, filepath.Join(one, "journal", segments[1].Name), 0)
	if _, err := h.try(); err == nil || !strings.Contains(err.Error(), segments[1].Name) {
		t.Errorf("a damaged journal: %v", err)
	}
	h.wantSaid(segments[1].Name)
	_, _, lines := logOf(t, h.store, idOf(t, one))
	if len(lines) == 0 || !bytes.HasPrefix(whole, lines) {
		t.Errorf("%d bytes before the damage are mirrored", len(lines))
	}
	h.wantMirrored(two)
}

// What agents can write must not leave the host under the name of a blob.
func TestForeignBlobStaysHere(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	blobs, err := os.ReadDir(filepath.Join(folder, "blobs"))
	if err != nil || len(blobs) == 0 {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "blobs", blobs[0].Name())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h.Write(path, "another text")
	for range 2 {
		if _, err := h.try(); err == nil || !strings.Contains(err.Error(), "it is damaged") {
			t.Errorf("another text: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		secret := filepath.Join(t.TempDir(), "secret")
		h.Write(secret, string(whole))
		if err := os.Symlink(secret, path); err != nil {
			t.Fatal(err)
		}
		if _, err := h.try(); err == nil || !strings.Contains(err.Error(), "escapes") {
			t.Errorf("a link: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		h.Write(path, "another text")
	}
	if tail, _, _ := logOf(t, h.store, idOf(t, folder)); tail.Next != 0 {
		t.Errorf("%d chunks name what is not there", tail.Next)
	}
	h.Write(path, string(whole))
	h.mirror()
	h.wantMirrored(folder)
}

// A new loop in the folder of a mirrored one has a log of its own.
func TestRemovedLoopIsForgotten(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	folder := h.loop(project, "one")
	first := idOf(t, folder)
	m := mirror.New(h.options(h.store))
	if err := m.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	tail, _, _ := logOf(t, h.store, first)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	h.loop(project, "one")
	if err := m.Once(t.Context()); err == nil {
		t.Error("nothing is said of the removed loop")
	}
	h.wantSaid("removed or moved")
	if err := m.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantMirrored(folder)
	if again, _, _ := logOf(t, h.store, first); again != tail || idOf(t, folder) == first {
		t.Errorf("the log of the removed loop goes on: %+v", again)
	}
}

func TestCommandsAreDeliveredOnce(t *testing.T) {
	h := newHost(t)
	folder := h.loop(h.Repository(agent), "one")
	id := idOf(t, folder)
	h.join(folder, 1)
	send := func(epoch uint64, c inbox.Command) string {
		t.Helper()
		sent, err := command.Send(t.Context(), h.store, id, "mill", epoch, c)
		if err != nil {
			t.Fatal(err)
		}
		return sent
	}
	steer := inbox.Command{Kind: inbox.FollowUp, From: "cli:ada@kiln", Text: "look at the tests"}
	current, old := send(1, steer), send(7, steer)
	hostile := "01K8Z0000000000000000000AA"
	if _, err := h.store.PutIfAbsent(t.Context(), keys.Inbox(id)+hostile, []byte(`{"v":1,"command":{"kind":"ask","text":"a","from":"b"}}`)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		h.mirror()
	}
	got, err := inbox.Dropped(folder)
	if err != nil || len(got) != 1 || got[0].ID != current || got[0].Text != steer.Text || got[0].From != "pool:cli:ada@kiln" {
		t.Fatalf("the inbox has %+v: %v", got, err)
	}
	h.wantOutcome(id, current, "")
	h.wantOutcome(id, old, command.Rejected)
	h.wantOutcome(id, hostile, command.Rejected)
}

func (h *host) wantOutcome(loop, id string, want command.Outcome) {
	h.t.Helper()
	entry, err := h.store.Get(h.t.Context(), keys.Inbox(loop)+id)
	if err != nil {
		h.t.Fatal(err)
	}
	var c command.Command
	if err := json.Unmarshal(entry.Value, &c); err != nil || c.Outcome != want || (c.Why != "") != (want == command.Rejected) {
		h.t.Errorf("command %s: %s: %v; want %q", id, entry.Value, err, want)
	}
}

// A loop that comes back to its first host has a second folder there, which is tended, also if a
// mirror begins then; the first one stays fenced.
func TestReturnedLoopIsTended(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	folder := h.loop(project, "one")
	id := idOf(t, folder)
	m := mirror.New(h.options(h.store))
	if err := m.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, other := filepath.Join(h.Dir, "one.ralph"), filepath.Join(h.Dir, "other")
	h.Run(project, "ralph", "export", "one", "-o", file)
	h.takeOver(id, "kiln")
	if err := m.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.takeOver(id, "mill")
	h.Run(h.Dir, "ralph", "import", file, "--into", other, "--epoch", "3", "--host", "mill", "--from", "kiln")
	back := filepath.Join(other, ".ralph", "one")
	entry := registry.Entry{Name: "one", Dir: back, Project: other, ID: id, Agent: "custom", Started: time.Now().UTC().Truncate(time.Microsecond)}
	if err := registry.Put(h.Home, entry); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*mirror.Mirror{m, mirror.New(h.options(h.store))} {
		sent, err := command.Send(t.Context(), h.store, id, "mill", 3, inbox.Command{Kind: inbox.FollowUp, From: "cli:ada@kiln", Text: "look"})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Once(t.Context()); err != nil {
			t.Error(err)
		}
		if got, err := inbox.Dropped(back); err != nil || !slices.ContainsFunc(got, func(c inbox.Command) bool { return c.ID == sent }) {
			t.Errorf("the inbox has %+v: %v", got, err)
			break
		}
	}
	if _, err := os.Lstat(filepath.Join(folder, "moved.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(back, "moved.json")); err == nil {
		t.Error("the loop that came back is fenced")
	}
}

// The registry still has the loops of a folder that a person has removed.
func TestRemovedProjectIsSkipped(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent)
	h.loop(project, "one")
	if err := os.RemoveAll(project); err != nil {
		t.Fatal(err)
	}
	opt := h.options(h.store)
	opt.All = true
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if err := mirror.New(opt).Once(ctx); err != nil {
		t.Errorf("%.300v", err)
	}
}

// A refusing store takes no blob once a log has begun.
type refusing struct {
	store.Store
	first string // chunk
}

func (r refusing) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	if _, err := r.Get(ctx, r.first); err == nil && strings.Contains(key, "/blob/") {
		return "", errors.New("no space")
	}
	return r.Store.PutIfAbsent(ctx, key, value)
}

// What cannot be sealed keeps no loop from being fenced.
func TestUnsealedLoopIsFenced(t *testing.T) {
	h := newHost(t)
	project := h.Repository(agent + `seq 10000 > task.md`)
	h.Write(filepath.Join(project, "task.md"), strings.Repeat("do it ", 8000))
	h.Run(project, "ralph", "run", "--name", "one", "-f", "task.md", "--agent", "./agent.sh", "--protocol", "text", "--set", "restart.delay=1ms")
	folder := h.join(filepath.Join(project, ".ralph", "one"), 1)
	id := idOf(t, folder)
	m := mirror.New(h.options(refusing{h.store, keys.Chunk(id, 0)}))
	if err := m.Once(t.Context()); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Fatalf("all of it is in the log: %v", err)
	}
	claim := h.takeOver(id, "kiln")
	if err := m.Once(t.Context()); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Fatalf("it was sealed: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(folder, "moved.json")); err != nil {
		t.Error(err)
	}
	if tail, _, _ := logOf(t, h.store, id); tail != claim {
		t.Errorf("the log ends with %+v, and not with the claim %+v", tail, claim)
	}
}
