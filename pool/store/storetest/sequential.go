package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/pool/store"
)

// sequential has what one client at a time can see.
func sequential() []promise {
	return []promise{
		{"PutIfAbsent", putIfAbsent},
		{"CompareAndSwap", compareAndSwap},
		{"RevisionsNameWrites", revisionsNameWrites},
		{"Values", values},
		{"Keys", keyForms},
		{"List", list},
		{"EndedContext", endedContext},
		{"Close", closeOne},
	}
}

// expect returns an error if a call did not end with the error that it should.
func expect(what string, got, want error) error {
	if want == nil && got == nil || want != nil && errors.Is(got, want) {
		return nil
	}
	return fmt.Errorf("%s: got the error %v, want %v", what, got, want)
}

// holds returns an error if a key has not this value.
func holds(ctx context.Context, c store.Store, key string, want []byte) error {
	entry, err := c.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("Get of what was written: %w", err)
	}
	if !bytes.Equal(entry.Value, want) {
		return fmt.Errorf("Get: got %d bytes, %.60q, want %d, %.60q", len(entry.Value), entry.Value, len(want), want)
	}
	return nil
}

func putIfAbsent(ctx context.Context, s *suite) error {
	one, other, key := s.client(0), s.client(1), s.prefix+"loops/L/log/000000000000"
	_, absent := one.Get(ctx, key)
	_, put := one.PutIfAbsent(ctx, key, []byte("one"))
	_, again := one.PutIfAbsent(ctx, key, []byte("one"))
	_, second := other.PutIfAbsent(ctx, key, []byte("another"))
	_, folder := other.Get(ctx, s.prefix+"loops/L/log")
	return errors.Join(
		expect("Get before the key exists", absent, store.ErrNotFound),
		expect("PutIfAbsent of a key that does not exist", put, nil),
		expect("PutIfAbsent of the same value again", again, store.ErrExists),
		expect("PutIfAbsent of a key that exists", second, store.ErrExists),
		expect("Get of what only begins a key", folder, store.ErrNotFound),
		holds(ctx, one, key, []byte("one")),
		holds(ctx, other, key, []byte("one")),
	)
}

func compareAndSwap(ctx context.Context, s *suite) error {
	one, other, key := s.client(0), s.client(1), s.prefix+"accounts/a"
	first, created := one.CompareAndSwap(ctx, key, "", []byte("first"))
	_, exists := other.CompareAndSwap(ctx, key, "", []byte("not written"))
	second, swapped := other.CompareAndSwap(ctx, key, first, []byte("second"))
	_, stale := one.CompareAndSwap(ctx, key, first, []byte("not written"))
	after := holds(ctx, one, key, []byte("second"))
	_, absent := one.CompareAndSwap(ctx, s.prefix+"accounts/absent", second, []byte("not written"))
	_, notMade := one.Get(ctx, s.prefix+"accounts/absent")
	put, err := one.PutIfAbsent(ctx, s.prefix+"accounts/b", []byte("put"))
	_, swappedPut := other.CompareAndSwap(ctx, s.prefix+"accounts/b", put, []byte("swapped"))
	_, exchanged := other.CompareAndSwap(ctx, s.prefix+"accounts/b", second, []byte("not written"))
	return errors.Join(
		expect("CompareAndSwap without a revision, of a key that does not exist", created, nil),
		expect("CompareAndSwap without a revision, of a key that exists", exists, store.ErrChanged),
		expect("CompareAndSwap with the revision", swapped, nil),
		expect("CompareAndSwap with the revision before", stale, store.ErrChanged),
		after,
		expect("CompareAndSwap with a revision, of a key that does not exist", absent, store.ErrChanged),
		expect("Get of the key that CompareAndSwap did not write", notMade, store.ErrNotFound),
		expect("PutIfAbsent", err, nil),
		expect("CompareAndSwap with the revision of PutIfAbsent", swappedPut, nil),
		expect("CompareAndSwap with the revision of another key", exchanged, store.ErrChanged),
		holds(ctx, one, s.prefix+"accounts/b", []byte("swapped")),
	)
}

// revisionsNameWrites writes equal values: a value that comes back is another write.
func revisionsNameWrites(ctx context.Context, s *suite) error {
	c, key := s.client(0), s.prefix+"accounts/a"
	var revision store.Revision
	before := map[store.Revision]int{}
	for i, value := range []string{"a", "b", "a", "a", ""} {
		next, err := c.CompareAndSwap(ctx, key, revision, []byte(value))
		if err != nil {
			return fmt.Errorf("write %d: %w", i, err)
		}
		if earlier, known := before[next]; known || next == "" {
			return fmt.Errorf("write %d has the revision %q, as write %d", i, next, earlier)
		}
		entry, err := c.Get(ctx, key)
		if err != nil || entry.Revision != next {
			return fmt.Errorf("write %d returned the revision %q, and Get %q, %v", i, next, entry.Revision, err)
		}
		for old, earlier := range before {
			if _, err := c.CompareAndSwap(ctx, key, old, []byte("stale")); !errors.Is(err, store.ErrChanged) {
				return fmt.Errorf("CompareAndSwap with the revision of write %d after write %d: got the error %v, want %v", earlier, i, err, store.ErrChanged)
			}
		}
		before[next], revision = i, next
	}
	return nil
}

func values(ctx context.Context, s *suite) error {
	c := s.client(0)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	long := bytes.Repeat(all, store.MaxValue/len(all))
	for i, value := range [][]byte{nil, {0}, []byte("\n"), all, []byte("text\r\n\r\n"), long} {
		key := fmt.Sprint(s.prefix, "value/", i)
		given := bytes.Clone(value)
		if _, err := c.PutIfAbsent(ctx, key, given); err != nil {
			return fmt.Errorf("PutIfAbsent of %d bytes: %w", len(value), err)
		}
		clear(given) // is the caller's again
		if err := holds(ctx, c, key, value); err != nil {
			return err
		}
	}
	key := s.prefix + "value/too-long"
	if _, err := c.PutIfAbsent(ctx, key, append(long, 0)); err == nil || errors.Is(err, store.ErrExists) {
		return fmt.Errorf("PutIfAbsent of a value that is too long: got the error %v, want one that says so", err)
	}
	if _, err := c.CompareAndSwap(ctx, key, "", append(long, 0)); err == nil || errors.Is(err, store.ErrChanged) {
		return fmt.Errorf("CompareAndSwap with a value that is too long: got the error %v, want one that says so", err)
	}
	_, err := c.Get(ctx, key)
	return expect("Get of what was too long", err, store.ErrNotFound)
}

func keyForms(ctx context.Context, s *suite) error {
	c := s.client(0)
	longest := s.prefix
	for len(longest) < 512 {
		longest += strings.Repeat("k", min(200, 512-len(longest))) + "/"
	}
	good := []string{"a", "A", "0", "a.b", "a-b_c=d", "Z9/y8/x7", "a=/b", longest[len(s.prefix):512]}
	for _, key := range good {
		if _, err := c.PutIfAbsent(ctx, s.prefix+key, []byte(key)); err != nil {
			return fmt.Errorf("PutIfAbsent of the key %q: %w", key, err)
		}
	}
	for _, key := range good {
		if err := holds(ctx, c, s.prefix+key, []byte(key)); err != nil {
			return fmt.Errorf("the key %q: %w", key, err)
		}
	}
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "a/../b", ".a", "a/.b", "a.", "a./b", "a..b", "a b", "a*", "a>", "é", "a\x00", "a\nb", `a\b`,
		"a%2f", strings.Repeat("k", 201), strings.Repeat("k/", 256) + "k",
	} {
		_, put := c.PutIfAbsent(ctx, key, []byte("value"))
		_, swap := c.CompareAndSwap(ctx, key, "", []byte("value"))
		_, get := c.Get(ctx, key)
		for _, err := range []error{put, swap, get} {
			if err == nil || errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrChanged) || errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("the key %.40q is none: got the error %v, want one that says so", key, err)
			}
		}
	}
	return nil
}

// listed returns all keys of a list.
func listed(ctx context.Context, c store.Store, prefix, after string) (keys []string, err error) {
	for key, err := range c.List(ctx, prefix, after) {
		if err != nil {
			return keys, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func list(ctx context.Context, s *suite) error {
	var keys []string
	for i := range s.engine.Keys {
		keys = append(keys, fmt.Sprintf("%sloops/L/log/%012d", s.prefix, i))
	}
	for _, key := range []string{"loops/L-1/view", "loops/L.1/view", "loops/L/view", "loops/L0", "loops/l/view", "loops/M", "queue/1/b", "queue/10"} {
		keys = append(keys, s.prefix+key)
	}
	shuffled := slices.Clone(keys)
	slices.Reverse(shuffled)
	err := s.each(clients, func(i int, c store.Store) error {
		for n := i; n < len(shuffled); n += clients {
			if _, err := c.PutIfAbsent(ctx, shuffled[n], nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(keys)
	for _, c := range []struct{ prefix, after string }{
		{"", ""}, {"loops/", ""}, {"loops/L", ""}, {"loops/L/", ""}, {"loops/L/log/", ""}, {"loops/L/log/00", ""}, {"loops/L0", ""},
		{"loops/L/log", ""}, {"queue/1", ""}, {"queue/2", ""}, {"absent/", ""},
		{"", "loops/L/log/000000000004"}, {"loops/L/log/", "loops/L/log/000000000004"}, {"loops/L/log/", "loops/L/log/000000000004/"},
		{"loops/L/log/", "loops/L"}, {"loops/L/log/", "loops/L/view"}, {"queue/", "loops/M"}, {"loops/", "loops/L-"}, {"", "queue/10"},
	} {
		after := c.after
		if after != "" {
			after = s.prefix + after
		}
		var want []string
		for _, key := range keys {
			if strings.HasPrefix(key, s.prefix+c.prefix) && key > after {
				want = append(want, key)
			}
		}
		got, err := listed(ctx, s.client(0), s.prefix+c.prefix, after)
		if err != nil || !slices.Equal(got, want) {
			return fmt.Errorf("List of %q after %q: got %d keys, %.300q, %v, want %d, %.300q", c.prefix, c.after, len(got), got, err, len(want), want)
		}
	}
	for key := range s.client(0).List(ctx, s.prefix, "") {
		if key != keys[0] {
			return fmt.Errorf("List: the first key is %q, want %q", key, keys[0])
		}
		break // has to be possible
	}
	return nil
}

func endedContext(ctx context.Context, s *suite) error {
	c, key := s.client(0), s.prefix+"accounts/a"
	ended, end := context.WithCancel(ctx)
	end()
	_, put := c.PutIfAbsent(ended, key, nil)
	_, swap := c.CompareAndSwap(ended, key, "", nil)
	_, get := c.Get(ended, key)
	_, list := listed(ended, c, s.prefix, "")
	_, after := c.Get(ctx, key)
	for range c.Watch(ended, s.prefix) {
		// It ends, and may say why.
	}
	return errors.Join(
		expect("PutIfAbsent with a context that has ended", put, context.Canceled),
		expect("CompareAndSwap with a context that has ended", swap, context.Canceled),
		expect("Get with a context that has ended", get, context.Canceled),
		expect("List with a context that has ended", list, context.Canceled),
		expect("Get afterwards", after, store.ErrNotFound),
	)
}

func closeOne(ctx context.Context, s *suite) error {
	c, key := s.engine.Open(s.t), s.prefix+"accounts/a"
	if _, err := c.PutIfAbsent(ctx, key, []byte("value")); err != nil {
		return err
	}
	if err := c.Close(); err != nil {
		return err
	}
	return holds(ctx, s.client(0), key, []byte("value"))
}
