package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/pool/check"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

func TestMain(m *testing.M) { pooltest.Main(m) }

const agent = `
echo "iteration $RALPH_ITERATION" >>out.txt
`

// mirrored runs a loop of some iterations on host mill, and mirrors it to a folder.
func mirrored(t *testing.T) (host *pooltest.Host, pool, loop, folder string) {
	t.Helper()
	host, pool = pooltest.NewHost(t), t.TempDir()
	host.Join(pool, "mill")
	project := host.Repository(agent)
	host.Try(project, "ralph", "run", "--name", "demo", "-m", "4", "-p", strings.Repeat("do it ", 4000), "--agent", "./agent.sh", "--protocol", "text")
	host.Run(project, "ralph-pool", "mirror", "--all", "--once")
	entries, err := os.ReadDir(filepath.Join(pool, "loops"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("the pool has %v: %v", entries, err)
	}
	return host, pool, entries[0].Name(), filepath.Join(project, ".ralph", "demo")
}

// run checks a copy of the pool, after harm was done to it.
func run(t *testing.T, pool, home string, repair bool) check.Report {
	t.Helper()
	s, err := dir.Open(pool)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := check.Check(t.Context(), check.Options{
		Store: s, Host: "mill", Home: home, Repair: repair, Say: func(string) {}, Clock: func() time.Time { return time.Unix(0, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func clone(t *testing.T, pool string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "pool")
	if err := os.CopyFS(to, os.DirFS(pool)); err != nil {
		t.Fatal(err)
	}
	return to
}

func flip(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 4
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// replaceChunk stores a chunk that is well-formed, and not what was stored.
func replaceChunk(t *testing.T, path string, change func(h *chunk.Header)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	revision, text, _ := bytes.Cut(text, []byte("\n")) // package dir
	h, lines, err := chunk.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	change(&h)
	head, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text = z.EncodeAll(slices.Concat(head, []byte("\n"), lines), nil)
	if err := os.WriteFile(path, slices.Concat(revision, []byte("\n"), text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamageIsFoundAndRepaired damages each chunk, two in a row, blobs, and the newest tree. All of
// it is found without a journal, and repaired with it; what is repaired is what the journal has.
func TestDamageIsFoundAndRepaired(t *testing.T) {
	host, pool, loop, folder := mirrored(t)
	t.Setenv("RALPH_HOME", host.Home)
	t.Setenv("HOME", host.Home)
	intact := run(t, pool, host.Home, false)
	if !intact.OK() || len(intact.Loops) != 1 || !intact.Loops[0].Verified || intact.Loops[0].Name != "demo" {
		t.Fatalf("before any damage: %+v", intact)
	}
	chunks, blobs := intact.Loops[0].Chunks, 0
	if chunks < 4 || intact.Loops[0].Blobs == 0 {
		t.Fatalf("%d chunks and %d blobs", chunks, intact.Loops[0].Blobs)
	}
	path := func(pool, key string) string { return filepath.Join(pool, filepath.FromSlash(key)) }
	harm := map[string]func(pool string){}
	for n := range chunks {
		key := keys.Chunk(loop, uint64(n))
		harm[fmt.Sprintf("chunk %d flipped", n)] = func(pool string) { flip(t, path(pool, key)) }
		if n+1 < chunks { // that the last is missing only the mirror knows, which has it
			harm[fmt.Sprintf("chunk %d removed", n)] = func(pool string) { remove(t, path(pool, key)) }
			harm[fmt.Sprintf("chunk %d replaced", n)] = func(pool string) {
				replaceChunk(t, path(pool, key), func(h *chunk.Header) { h.Nonce = "another" })
			}
		}
	}
	harm["two chunks removed"] = func(pool string) { remove(t, path(pool, keys.Chunk(loop, 1)), path(pool, keys.Chunk(loop, 2))) }
	harm["tree flipped"] = func(pool string) { flip(t, path(pool, keys.Tree(loop, intact.Loops[0].Tree-1))) }
	entries, err := os.ReadDir(path(pool, keys.Loops+loop+"/blob"))
	if err != nil {
		t.Fatal(err)
	}
	for _, blob := range entries {
		blobs++
		harm["blob removed "+blob.Name()] = func(pool string) { remove(t, path(pool, keys.Blob(loop, blob.Name()))) }
		harm["blob flipped "+blob.Name()] = func(pool string) { flip(t, path(pool, keys.Blob(loop, blob.Name()))) }
	}
	var found, repaired float64
	for what, do := range harm {
		t.Run(what, func(t *testing.T) {
			copied := clone(t, pool)
			do(copied)
			r := run(t, copied, t.TempDir(), false)
			if r.OK() {
				t.Fatal("the damage was not found")
			}
			found += r.Seconds
			if r := run(t, copied, t.TempDir(), true); r.OK() {
				t.Fatal("it was repaired without a journal")
			}
			r = run(t, copied, host.Home, true)
			repaired += r.Seconds
			if !r.OK() || !r.Loops[0].Verified {
				t.Fatalf("it was not repaired: %+v", r.Loops[0])
			}
			if strings.HasPrefix(what, "tree") {
				return // the next chunk names the new one
			}
			r = run(t, copied, t.TempDir(), false)
			if !r.OK() || r.Loops[0].Events != intact.Loops[0].Events {
				t.Fatalf("after the repair: %+v", r.Loops[0])
			}
			sameJournal(t, copied, loop, folder)
		})
	}
	t.Logf("%d damages: found in %.2f s on average, repaired in %.2f s", len(harm), found/float64(len(harm)), repaired/float64(len(harm)))
}

// sameJournal compares all files of the journal of the log with those of the host.
func sameJournal(t *testing.T, pool, loop, folder string) {
	t.Helper()
	s, err := dir.Open(pool)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	into := t.TempDir()
	r := log.Reader{Store: s, Loop: loop}
	if _, err := r.Journal(t.Context(), into); err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(os.DirFS(folder), "journal/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatalf("the host has %v: %v", names, err)
	}
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(into, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is another than on the host: %v", name, err)
		}
	}
}

func TestNewerChunkIsRefused(t *testing.T) {
	host, pool, loop, _ := mirrored(t)
	path := filepath.Join(pool, filepath.FromSlash(keys.Chunk(loop, 1)))
	replaceChunk(t, path, func(h *chunk.Header) { h.Version = 2 })
	const want = "has version 2, and this program reads 1: a newer ralph wrote it: use that ralph here, too"
	for _, args := range [][]string{{"check", "--repair"}, {"take", "demo", "--now", "--trust"}} {
		out, err := host.Try(host.Dir, "ralph-pool", args...)
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(pool, "loops", loop, "repair")); err == nil {
		t.Error("it was taken for damage, and repaired")
	}
}
