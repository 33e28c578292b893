package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/dir"
)

func TestManyKeysAreRead(t *testing.T) {
	s, err := dir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var keys []string
	for i := range 50 {
		key := fmt.Sprint("accounts/", i)
		keys = append(keys, key)
		if i%2 == 1 {
			continue
		}
		if _, err := s.PutIfAbsent(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := store.GetAll(t.Context(), s, keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, entry := range entries {
		if i%2 == 0 && string(entry.Value) != keys[i] || i%2 == 1 && entry.Revision != "" {
			t.Errorf("%s is %q", keys[i], entry.Value)
		}
	}
	if _, err := store.GetAll(t.Context(), s, append(keys, "no//key")); err == nil || !strings.Contains(err.Error(), "read no//key") {
		t.Errorf("%v", err)
	}
}
