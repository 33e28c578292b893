package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What is over within a second says nothing; what takes longer says so in one line that is gone at
// the end.
func TestBusyAfterASecond(t *testing.T) {
	for took, want := range map[time.Duration]string{
		900 * time.Millisecond:  "",
		2500 * time.Millisecond: "\r\x1b[Kralph: reading loop big, 1s\r\x1b[Kralph: reading loop big, 2s\r\x1b[K",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			done := busy(&out, "reading loop big", 80)
			time.Sleep(took)
			done()
			done()
			if out.String() != want {
				t.Errorf("after %v: %q", took, out.String())
			}
		})
	}
}
