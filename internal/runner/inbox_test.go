package runner

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/ralph-loop/ralph/inbox"
)

// A shortage that passes ends no loop. One that stays does, and so does any other error.
func TestShortageIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		lasts int
		fails bool
		reads int
	}{
		"files for a moment": {&fs.PathError{Op: "openat", Path: ".", Err: syscall.EMFILE}, 3, false, 4},
		"files for ever":     {syscall.ENFILE, 1000, true, shortageTries},
		"another error":      {fs.ErrNotExist, 1, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads := 0
				items, err := patiently(t.Context(), func() ([]inbox.Item, error) {
					if reads++; reads <= c.lasts {
						return nil, c.err
					}
					return make([]inbox.Item, 1), nil
				})
				if c.fails != errors.Is(err, c.err) || c.fails != (len(items) == 0) || reads != c.reads {
					t.Errorf("%d items after %d reads, %v", len(items), reads, err)
				}
			})
		})
	}
}
