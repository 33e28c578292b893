package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// dirtyBytes is how much may be unsynced before the goroutine syncs early: an ext4 commit of 50 MB
// held up a write for 12 ms.
const dirtyBytes = 8 << 20

// syncer makes the segment durable, on request and by itself. mu is held for a few instructions
// only, turn for as long as a sync takes.
type syncer struct {
	broken  atomic.Pointer[error] // sticky
	mu      sync.Mutex
	target  file      // the segment
	segment string    // its name
	size    int64     // bytes written to it
	dirty   int64     // of those, not synced
	since   time.Time // the oldest unsynced byte
	next    time.Time // the oldest byte that a running sync does not reach
	syncing bool
	unsure  bool // a sync failed, and another one would say nothing about what it had to reach

	turn   sync.Mutex // one sync at a time, and no change of file during one
	hash   hash.Hash
	hashed int64
	block  []byte

	wake chan struct{} // first dirty byte, or too many; nil without the goroutine
	done chan struct{}
	wait sync.WaitGroup
}

func (s *syncer) failure() error {
	if err := s.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// fail makes err the result of every later call, unless one has failed before, and returns that
// result.
func (s *syncer) fail(err error) error {
	if err == ErrClosed {
		s.broken.Store(&err)
	} else {
		s.broken.CompareAndSwap(nil, &err)
	}
	return s.failure()
}

// wrote counts n more bytes.
func (s *syncer) wrote(n int, at time.Time) {
	s.mu.Lock()
	first := s.since.IsZero()
	if first {
		s.since = at
	} else if s.syncing && s.next.IsZero() {
		s.next = at
	}
	before := s.dirty
	s.dirty += int64(n)
	s.size += int64(n)
	wake := s.wake != nil && (first || before < dirtyBytes && s.dirty >= dirtyBytes)
	s.mu.Unlock()
	if wake {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// Dirty returns since when the oldest unsynced event has been waiting, and false if all are synced.
func (w *Writer) Dirty() (since time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.since, !w.since.IsZero()
}

// Sync returns when every event appended so far is durable, and the segment that contains them is
// still there for readers: a *[VanishedError] reports that it was removed or replaced, a
// *[CorruptError] that it was cut. Where all events are durable already it takes microseconds. An
// error is final: see [Writer].
func (w *Writer) Sync() error {
	return w.syncer.sync()
}

func (s *syncer) sync() error {
	s.turn.Lock()
	defer s.turn.Unlock()
	if err := s.failure(); err != nil {
		return err
	}
	s.mu.Lock()
	size := s.size
	if s.since.IsZero() {
		s.mu.Unlock()
		if err := s.intact(size); err != nil {
			return s.fail(fmt.Errorf("sync journal: %w", err))
		}
		return nil
	}
	reached := s.dirty
	s.syncing = true
	s.mu.Unlock()

	err := s.target.Sync()
	if err == nil {
		err = s.intact(size)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.syncing = false
	if err != nil {
		s.unsure = true
		return s.fail(fmt.Errorf("sync journal: %w", err))
	}
	s.dirty -= reached
	s.since, s.next = s.next, time.Time{}
	return s.failure()
}

// syncRest makes durable, as far as it can, what was written before a write failed: a full disk
// does not prevent it. The error of that write is the writer's.
func (s *syncer) syncRest() {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	rest := !s.unsure && !s.since.IsZero()
	s.mu.Unlock()
	if rest {
		_ = s.target.Sync()
	}
}

// intact returns an error if another process removed the segment or cut it to less than the written
// bytes: what is synced to it is lost. The caller holds turn.
func (s *syncer) intact(written int64) error {
	if f, ok := s.target.(placeChecker); ok {
		if err := f.inPlace(); err != nil {
			return err
		}
	}
	size, err := s.target.Size()
	if err == nil && size < written {
		err = &CorruptError{Segment: s.segment, Offset: size, Code: SegmentCut,
			Problem: fmt.Sprintf("it was cut to %d bytes while it was being written, and had %d", size, written)}
	}
	return err
}

// setSegment makes f, which has size bytes and is durable, the segment being written.
func (w *Writer) setSegment(f file, name string, size int64) {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mu.Lock()
	old := w.file
	w.file, w.target, w.segment = f, f, name
	w.size, w.dirty, w.since, w.next = size, 0, time.Time{}, time.Time{}
	w.mu.Unlock()
	if w.hash == nil {
		w.hash = sha256.New()
	}
	w.hash.Reset()
	w.hashed = 0
	if old != nil {
		_ = old.Close() // it is sealed and synced: nothing is left to fail
	}
}

// sum returns the SHA-256 of the segment's first n bytes.
func (w *Writer) sum(n int64) (string, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	err := w.intact(n)
	if err == nil {
		err = w.hashTo(n)
	}
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(w.hash.Sum(nil)), nil
}

// hashTo reads back and hashes what has been written since the last call. Hashing a line of 500
// bytes while appending would take a third as long as writing it, and reading it from the page
// cache takes little. So the syncing goroutine hashes before each sync, at most 8 MiB, and the seal
// what is left.
func (s *syncer) hashTo(n int64) error {
	if s.block == nil {
		s.block = make([]byte, readBytes)
	}
	for s.hashed < n {
		part := s.block[:min(int64(len(s.block)), n-s.hashed)]
		got, err := s.target.ReadAt(part, s.hashed)
		s.hash.Write(part[:got])
		s.hashed += int64(got)
		if got == 0 {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func (w *Writer) startSyncer() {
	if w.opt.SyncEvery <= 0 {
		return
	}
	w.done = make(chan struct{})
	w.mu.Lock()
	w.wake = make(chan struct{}, 1)
	w.mu.Unlock()
	w.wait.Go(func() { w.syncEvery(w.opt.SyncEvery) })
}

func (w *Writer) stopSyncer() {
	if w.done != nil {
		close(w.done)
		w.wait.Wait()
	}
}

// syncEvery sleeps while nothing is dirty. The caller of the writer gets its errors through the
// sticky error.
func (w *Writer) syncEvery(every time.Duration) {
	timer := time.NewTimer(every)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-w.wake:
			w.mu.Lock()
			many := w.dirty >= dirtyBytes
			w.mu.Unlock()
			if !many {
				timer.Reset(every)
				continue
			}
		case <-timer.C:
		}
		w.hashSome()
		if w.sync() != nil {
			return
		}
		if _, dirty := w.Dirty(); dirty {
			timer.Reset(every)
		}
	}
}

// hashSome hashes what has been written. What cannot be read now is read again for the seal.
func (w *Writer) hashSome() {
	w.turn.Lock()
	defer w.turn.Unlock()
	w.mu.Lock()
	n := w.size
	w.mu.Unlock()
	_ = w.hashTo(n)
}
