package worker_test

import (
	"bufio"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/worker"
	"github.com/ralph-loop/ralph/registry"
)

// A line is half of a write of a log: its call, or its return. That of a killed process has none.
type line struct {
	Call   string // of this write
	Key    string
	Value  string // the hash of the chunk
	Return bool
	Won    bool
	At     int64
}

// recording notes all writes of logs in a file.
type recording struct {
	store.Store
	file *os.File
}

func record(s store.Store, path string) store.Store {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return &recording{Store: s, file: f}
}

func (r *recording) note(l line) {
	l.At = time.Now().UnixNano()
	text, _ := json.Marshal(l)
	_, _ = r.file.Write(append(text, '\n'))
}

func (r *recording) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	if _, isChunk := keys.ChunkNumber(key); !isChunk {
		return r.Store.PutIfAbsent(ctx, key, value)
	}
	l := line{Call: crand.Text(), Key: key, Value: chunk.Hash(value)}
	r.note(l)
	revision, err := r.Store.PutIfAbsent(ctx, key, value)
	if err == nil || errors.Is(err, store.ErrExists) {
		l.Return, l.Won = true, err == nil
		r.note(l)
	}
	return revision, err
}

// once is a key that is written once: what a pool's safety depends on.
var once = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		was, call, result := state.(string), input.(line), output.(line)
		switch {
		case call.Call == "": // a read of the end
			return call.Value == was, was
		case !result.Return: // of a killed process
			if was == "" {
				was = call.Value
			}
			return true, was
		case result.Won:
			return was == "", call.Value
		}
		return was != "", was
	},
}

// judge fails unless the writes of each key are linearizable.
func (w *world) judge(history string) {
	w.t.Helper()
	f, err := os.Open(history)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	calls, returns := map[string]line{}, map[string]line{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			w.t.Fatal(err)
		}
		if l.Return {
			returns[l.Call] = l
		} else {
			calls[l.Call] = l
		}
	}
	byKey := map[string][]porcupine.Operation{}
	for id, call := range calls {
		o := porcupine.Operation{ClientId: len(byKey[call.Key]), Input: call, Output: returns[id], Call: call.At, Return: math.MaxInt64}
		if back, ok := returns[id]; ok {
			o.Return = back.At
		}
		byKey[call.Key] = append(byKey[call.Key], o)
	}
	for key, operations := range byKey {
		end := line{Key: key}
		if entry, err := w.store.Get(w.t.Context(), key); err == nil {
			end.Value = chunk.Hash(entry.Value)
		}
		operations = append(operations, porcupine.Operation{ClientId: len(operations), Input: end, Output: line{}, Call: math.MaxInt64 - 1, Return: math.MaxInt64})
		if !porcupine.CheckOperations(once, operations) {
			w.t.Errorf("the writes of %s are not linearizable: %+v", key, operations)
		}
	}
	w.t.Logf("%d writes of %d logs, %d without an answer", len(calls), len(byKey), len(calls)-len(returns))
}

// eachCompleted fails unless each loop has completed, on one host.
func (w *world) eachCompleted(hosts map[string]*pooltest.Host) {
	w.t.Helper()
	completed := map[string]int{}
	for _, h := range hosts {
		found, err := registry.Survey(h.Home, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range found {
			if s.Head.Status == event.StatusCompleted && !s.Live.Alive {
				completed[s.ID]++
			}
		}
	}
	for name, id := range w.ids {
		if completed[id] != 1 {
			w.t.Errorf("loop %s (%s) has completed on %d hosts", name, id, completed[id])
		}
	}
}

// Many loops, three workers, and kills at writes that a seed has chosen: each loop runs once.
func TestNightOfKills(t *testing.T) {
	w := newWorld(t, "")
	history := filepath.Join(t.TempDir(), "history")
	t.Setenv("TEST_WORKER_HISTORY", history)
	for i := range *loops {
		w.submit(fmt.Sprint("task-", i), nil)
	}
	names := []string{"mill", "kiln", "oven"}
	hosts := map[string]*pooltest.Host{}
	for _, name := range names {
		hosts[name] = w.host(name)
	}
	random := rand.New(rand.NewPCG(29, 10))
	killed := 0
	for range *kills { // far more than are needed, unless all loops have ended
		if killed >= *kills {
			break
		}
		var waits []func() error
		for _, name := range names {
			process, _ := w.process(hosts[name], name, 2, 1+random.IntN(30), true)
			waits = append(waits, process.Wait)
		}
		for _, wait := range waits {
			switch err := wait(); {
			case err == nil:
			case strings.Contains(err.Error(), "killed"):
				killed++
			default:
				t.Fatal(err)
			}
		}
	}
	if killed < *kills {
		t.Errorf("%d workers were killed, want %d: the loops were too few", killed, *kills)
	}
	for round := 0; round < *loops; round++ {
		waiting, err := (&queue.Reader{Store: w.store}).Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for _, item := range waiting {
			if held, err := queue.Hold(t.Context(), w.store, item.ID); err != nil || held.Epoch == 0 {
				left++
			}
		}
		var group sync.WaitGroup
		for _, name := range names {
			group.Go(func() {
				o := w.options(hosts[name], name)
				o.Store = record(w.store, history)
				if err := worker.New(o).Run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if left == 0 {
			break
		}
	}
	t.Logf("%d loops, %d workers were killed", *loops, killed)
	w.eachOnce()
	w.eachCompleted(hosts)
	w.judge(history)
}
