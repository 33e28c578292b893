package live_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/ralph-loop/ralph/pool/live"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

// highest is what anyone can write who may write into the store.
const highest = `{"epoch":18446744073709551615,"host":"evil"}`

func TestOnlyTheLogProvesEpochs(t *testing.T) {
	over := func(answer bool) func(context.Context) (bool, error) {
		return func(context.Context) (bool, error) { return answer, nil }
	}
	for name, c := range map[string]struct {
		superseded func(context.Context) (bool, error)
		want       string
	}{
		"of a host":            {nil, "mill"},
		"without a claim":      {over(false), "mill"},
		"of the host that has": {over(true), "evil"},
	} {
		s, err := dir.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		cell := live.Cell{Key: "hosts/mill/beat", Superseded: c.superseded}
		put := func() {
			t.Helper()
			if err := cell.Put(t.Context(), s, 1, map[string]string{"host": "mill"}); err != nil {
				t.Fatal(err)
			}
		}
		put()
		entry := get(t, s)
		if _, err := s.CompareAndSwap(t.Context(), cell.Key, entry.Revision, []byte(highest)); err != nil {
			t.Fatal(err)
		}
		for range 2 { // a value that was left alone once stays so
			put()
			var now struct{ Host string }
			if err := json.Unmarshal(get(t, s).Value, &now); err != nil || now.Host != c.want {
				t.Errorf("%s: %+v, %v", name, now, err)
			}
		}
	}
}

func get(t *testing.T, s store.Store) store.Entry {
	t.Helper()
	entry, err := s.Get(t.Context(), "hosts/mill/beat")
	if err != nil {
		t.Fatal(err)
	}
	return entry
}
