package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
)

// A listed store has keys, and counts its lists.
type listed struct {
	Store
	keys  []string
	lists int
}

func (l *listed) List(_ context.Context, _, after string) iter.Seq2[string, error] {
	l.lists++
	return func(yield func(string, error) bool) {
		for _, key := range l.keys {
			if key > after && !yield(key, nil) {
				return
			}
		}
	}
}

// An engine without pages reads all keys for each list.
func TestNamesNeedFewLists(t *testing.T) {
	s := &listed{}
	var want []string
	for loop := range 300 {
		name := fmt.Sprintf("L%03d", loop)
		want = append(want, name)
		chunks := 3
		if loop == 7 || loop == 299 {
			chunks = 2*passed + 5
		}
		for n := range chunks {
			s.keys = append(s.keys, fmt.Sprintf("loops/%s/log/%012d", name, n))
		}
	}
	got, err := Names(t.Context(), s, "loops/", func(name string) string { return "loops/" + name + "/zzzz" })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d names: %v", len(got), err)
	}
	if s.lists != 3 {
		t.Errorf("%d lists", s.lists)
	}
}
