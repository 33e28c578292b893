//go:build !race

package redact

import "testing"

// The race detector makes sync.Pool, in which regular expressions keep their memory, drop values.
func TestMaskDoesNotAllocate(t *testing.T) {
	m := New(testEnv)
	for name, text := range corpora() {
		if n := testing.AllocsPerRun(3, func() { m.Mask(text) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
