package worker_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/worker"
)

// A forger is a store that says of each claim that it is of another specification.
type forger struct {
	store.Store
	from, to string
}

func (f *forger) Get(ctx context.Context, key string) (store.Entry, error) {
	entry, err := f.Store.Get(ctx, key)
	if err != nil || !strings.HasSuffix(key, "/log/000000000000") {
		return entry, err
	}
	h, lines, err := chunk.Decode(entry.Value)
	if err == nil {
		entry.Value, err = chunk.Encode(h, bytes.ReplaceAll(lines, []byte(f.from), []byte(f.to)))
	}
	return entry, err
}

func TestReplacedClaimRunsNothingElse(t *testing.T) {
	w := newWorld(t, "")
	w.submit("one", nil)
	evil := filepath.Join(t.TempDir(), "evil")
	o := w.options(w.host("mill"), "mill")
	o.Store = &forger{w.store, "ralph rehearse work.rehearsal", "touch " + evil}
	if err := worker.New(o).Run(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(evil); err == nil {
		t.Error("what nobody has signed was run")
	}
	w.eachOnce()
}
