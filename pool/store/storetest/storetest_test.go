package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/pool/store"
)

// A defect is one way in which an engine breaks the contract.
type defect string

const (
	noDefect            defect = ""
	putOverwrites       defect = "PutIfAbsent overwrites"
	putSaysDone         defect = "PutIfAbsent of a key that exists says that it was written"
	putRaces            defect = "PutIfAbsent looks and then writes"
	ownPutExists        defect = "PutIfAbsent finds what it wrote itself at a first try"
	swapIgnoresRevision defect = "CompareAndSwap ignores the revision"
	swapCreates         defect = "CompareAndSwap with a revision makes a key"
	swapRaces           defect = "CompareAndSwap looks and then writes"
	swapDropped         defect = "CompareAndSwap is acknowledged and lost"
	revisionOfContent   defect = "a revision is a hash of the value"
	answersEarly        defect = "acknowledges before it is durable"
	readsOldValue       defect = "Get reads a replica that is behind"
	readsCutOff         defect = "Get returns the beginning of a value"
	listOmitsNew        defect = "List is a replica that is behind"
	listUnordered       defect = "List has no order"
	listStopsEarly      defect = "List has one page"
	listIncludesAfter   defect = "List begins with after"
	prefixIsFolder      defect = "List takes a prefix for a folder"
	watchMissesLast     defect = "Watch takes writes for one, and tells of the first"
	watchSaysNoStart    defect = "Watch does not say that it has begun"
	keepsCallersBytes   defect = "keeps the caller's bytes"
	foldsCase           defect = "keys do not differ by case"
	takesAnyKey         defect = "takes any key"
	ignoresContext      defect = "ignores the context"
)

// memory is an engine with at most one defect. Some kinds of behaviour happen at each third
// write.
type memory struct {
	defect  defect
	mu      sync.Mutex
	keys    map[string]store.Entry
	before  map[string]store.Entry // the keys before the last write: what a replica has
	durable map[string]store.Entry
	writes  int
	changed chan struct{}
}

func newMemory(d defect) *memory {
	return &memory{defect: d, keys: map[string]store.Entry{}, before: map[string]store.Entry{}, changed: make(chan struct{})}
}

func (m *memory) engine() Engine {
	return Engine{Open: func(testing.TB) store.Store { return m }, Kill: func(testing.TB) { m.kill() }}
}

func (m *memory) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.defect == answersEarly {
		m.keys = maps.Clone(m.durable)
	}
}

func (m *memory) check(ctx context.Context, key string) error {
	if m.defect == ignoresContext {
		return store.CheckKey(key)
	}
	if m.defect == takesAnyKey {
		return ctx.Err()
	}
	if err := store.CheckKey(key); err != nil {
		return err
	}
	return ctx.Err()
}

func (m *memory) write(ctx context.Context, key string, value []byte, allowed func(store.Entry, bool) error, races bool) (store.Revision, error) {
	if err := m.check(ctx, key); err != nil {
		return "", err
	}
	if err := store.CheckValue(value); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, exists := m.keys[m.name(key)]
	err := allowed(entry, exists)
	if err == nil && races {
		m.mu.Unlock()
		<-time.After(time.Millisecond)
		m.mu.Lock()
	}
	if err != nil {
		return "", err
	}
	m.writes++
	m.before = maps.Clone(m.keys)
	if m.writes%3 == 0 {
		m.durable = maps.Clone(m.keys)
	}
	revision := store.Revision(fmt.Sprint(m.writes))
	if m.defect == revisionOfContent {
		revision = store.Revision(fmt.Sprintf("%x", sha256.Sum256(value)))
	}
	if m.defect != keepsCallersBytes {
		value = bytes.Clone(value)
	}
	if m.defect == swapDropped && exists && m.writes%3 == 0 {
		return revision, nil
	}
	m.keys[m.name(key)] = store.Entry{Value: value, Revision: revision}
	close(m.changed)
	m.changed = make(chan struct{})
	if m.defect == ownPutExists && !exists && m.writes%3 == 0 {
		return "", store.ErrExists
	}
	return revision, nil
}

func (m *memory) name(key string) string {
	if m.defect == foldsCase {
		return strings.ToLower(key)
	}
	return key
}

func (m *memory) PutIfAbsent(ctx context.Context, key string, value []byte) (store.Revision, error) {
	if _, err := m.Get(ctx, key); err == nil && m.defect == putSaysDone {
		return "done", nil
	}
	return m.write(ctx, key, value, func(_ store.Entry, exists bool) error {
		if exists && m.defect != putOverwrites {
			return store.ErrExists
		}
		return nil
	}, m.defect == putRaces)
}

func (m *memory) CompareAndSwap(ctx context.Context, key string, revision store.Revision, value []byte) (store.Revision, error) {
	return m.write(ctx, key, value, func(entry store.Entry, exists bool) error {
		if m.defect == swapIgnoresRevision || m.defect == swapCreates && !exists || entry.Revision == revision {
			return nil
		}
		return store.ErrChanged
	}, m.defect == swapRaces)
}

func (m *memory) Get(ctx context.Context, key string) (store.Entry, error) {
	if err := m.check(ctx, key); err != nil {
		return store.Entry{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, exists := m.keys[m.name(key)]
	if m.defect == readsOldValue && m.writes%3 == 0 {
		entry, exists = m.before[m.name(key)]
	}
	if !exists {
		return store.Entry{}, store.ErrNotFound
	}
	if m.defect == readsCutOff && len(entry.Value) > 2500 {
		entry.Value = entry.Value[:2500]
	}
	return entry, nil
}

func (m *memory) List(ctx context.Context, prefix, after string) iter.Seq2[string, error] {
	m.mu.Lock()
	keys := slices.Sorted(maps.Keys(m.keys))
	if m.defect == listOmitsNew {
		keys = slices.Sorted(maps.Keys(m.before))
	}
	m.mu.Unlock()
	if m.defect == listUnordered {
		slices.Reverse(keys)
	}
	return func(yield func(string, error) bool) {
		page := 0
		for _, key := range keys {
			if ctx.Err() != nil && m.defect != ignoresContext {
				yield("", ctx.Err())
				return
			}
			begins := strings.HasPrefix(key, prefix)
			if m.defect == prefixIsFolder {
				begins = strings.HasPrefix(key, strings.TrimSuffix(prefix, "/")+"/")
			}
			if !begins || key < after || key == after && m.defect != listIncludesAfter {
				continue
			}
			if page++; page > 50 && m.defect == listStopsEarly || !yield(key, nil) {
				return
			}
		}
	}
}

func (m *memory) Watch(ctx context.Context, _ string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		changed := func() chan struct{} {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.changed
		}
		c := changed()
		for more := m.defect == watchSaysNoStart || yield("", nil); more; more = yield("", nil) {
			select {
			case <-c:
			case <-ctx.Done():
				return
			}
			if m.defect == watchMissesLast {
				<-ctx.Done()
				return
			}
			c = changed()
		}
	}
}

func (m *memory) Close() error { return nil }

func TestRightEngineKeepsPromises(t *testing.T) {
	Run(t, newMemory(noDefect).engine())
}

func TestBrokenEnginesAreFound(t *testing.T) {
	for _, d := range []defect{
		putOverwrites, putSaysDone, putRaces, ownPutExists, swapIgnoresRevision, swapCreates, swapRaces, swapDropped, revisionOfContent,
		answersEarly, readsOldValue, readsCutOff, listOmitsNew, listUnordered, listStopsEarly, listIncludesAfter, prefixIsFolder,
		watchMissesLast, watchSaysNoStart, keepsCallersBytes, foldsCase, takesAnyKey, ignoresContext,
	} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			e := newMemory(d).engine()
			s := newSuite(t, e)
			if strings.HasPrefix(string(d), "Watch") { // is found by waiting in vain
				s.limit = time.Second
			}
			for _, p := range promises(e) {
				if err := s.try(p); err != nil {
					t.Logf("found by %s: %.200v", p.name, err)
					return
				}
			}
			t.Error("all promises are kept")
		})
	}
}

// TestHistoriesFindDefects leaves the simple promises out: under load, only a history shows a
// race.
func TestHistoriesFindDefects(t *testing.T) {
	for _, d := range []defect{
		putOverwrites, putSaysDone, putRaces, ownPutExists, swapIgnoresRevision, swapRaces, swapDropped, answersEarly, readsOldValue,
		readsCutOff, listOmitsNew,
	} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			e := newMemory(d).engine()
			s := newSuite(t, e)
			for _, p := range promises(e) {
				if !strings.HasPrefix(p.name, "Linearizable") {
					continue
				}
				if err := s.try(p); err != nil {
					return
				}
			}
			t.Error("all histories are linearizable")
		})
	}
}

func TestProbeRefusesBrokenStores(t *testing.T) {
	for d, refused := range map[defect]bool{
		noDefect: false, listOmitsNew: false, putOverwrites: true, putSaysDone: true, putRaces: true, swapIgnoresRevision: true,
		swapRaces: true, swapDropped: true, readsOldValue: true,
	} {
		m := newMemory(d)
		var err error
		for range 6 { // some defects show at each third write
			err = errors.Join(err, store.Probe(t.Context(), m))
		}
		if (err != nil) != refused {
			t.Errorf("%q: Probe: %v", d, err)
		}
		if err != nil && !strings.Contains(err.Error(), "does not keep conditions, so that two hosts could run one loop") {
			t.Errorf("%q: the error does not say what is wrong: %v", d, err)
		}
	}
}

func TestProbeOfManyHosts(t *testing.T) {
	m := newMemory(noDefect)
	probes := make(chan error, 20)
	for range cap(probes) {
		go func() { probes <- store.Probe(t.Context(), m) }()
	}
	for range cap(probes) {
		if err := <-probes; err != nil {
			t.Error(err)
		}
	}
	if keys, err := listed(t.Context(), m, "", ""); err != nil || len(keys) > 2 {
		t.Errorf("the probes have left %q, %v", keys, err)
	}
}

func TestProbeNamesOtherErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Probe(ctx, newMemory(noDefect)); !errors.Is(err, context.Canceled) {
		t.Errorf("Probe: %v", err)
	}
}
