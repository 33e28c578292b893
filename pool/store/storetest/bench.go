package storetest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/ralph-loop/ralph/pool/store"
)

// Bench measures what a host does all day: it writes a chunk of 64 KiB, reads it, wakes another,
// and is refused.
func Bench(b *testing.B, s store.Store) {
	value := make([]byte, 64<<10)
	if _, err := rand.Read(value); err != nil {
		b.Fatal(err)
	}
	prefix := "storetest/" + rand.Text()
	key := func(n int) string { return fmt.Sprintf("%s/loops/L/log/%012d", prefix, n) }
	written := 0
	b.Run("Put64KiB", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.PutIfAbsent(b.Context(), key(written), value); err != nil {
				b.Fatal(err)
			}
			written++
		}
	})
	b.Run("Get64KiB", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Get(b.Context(), key(0)); err != nil {
				b.Fatal(err)
			}
		}
	})
	benchMany(b, s, prefix, value[:4<<10])
	b.Run("PutRefused", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.PutIfAbsent(b.Context(), key(0), value); !errors.Is(err, store.ErrExists) {
				b.Fatal(err)
			}
		}
	})
	var revision store.Revision
	b.Run("Swap", func(b *testing.B) {
		for b.Loop() {
			var err error
			if revision, err = s.CompareAndSwap(b.Context(), prefix+"/hosts/h/wake", revision, []byte("rings")); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("List1000", func(b *testing.B) {
		for ; written < 1000; written++ {
			if _, err := s.PutIfAbsent(b.Context(), key(written), nil); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			n := 0
			for _, err := range s.List(b.Context(), prefix+"/loops/L/log/", key(max(0, written-1001))) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != 1000 && n != 999 {
				b.Fatalf("%d keys", n)
			}
		}
	})
}

// benchMany measures what many hosts do at once, and one that lists all loops.
func benchMany(b *testing.B, s store.Store, prefix string, value []byte) {
	var at atomic.Int64
	b.Run("Put4KiB16AtOnce", func(b *testing.B) {
		b.SetParallelism((16 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
		b.RunParallel(func(each *testing.PB) {
			for each.Next() {
				if _, err := s.PutIfAbsent(b.Context(), fmt.Sprintf("%s/loops/M/log/%012d", prefix, at.Add(1)), value); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("GetAll1000", func(b *testing.B) {
		all := make([]string, 1000)
		for i := range all {
			all[i] = fmt.Sprintf("%s/loops/M/log/%012d", prefix, 1+i%int(max(at.Load(), 1)))
		}
		for b.Loop() {
			if _, err := store.GetAll(b.Context(), s, all); err != nil {
				b.Fatal(err)
			}
		}
	})
}
