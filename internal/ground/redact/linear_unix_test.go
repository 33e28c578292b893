//go:build unix

package redact

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Text made of the beginnings of secrets takes linear time: sixteen times as much text takes about
// sixteen times as long, not 256 times, in time of the processor, whatever else it does.
func TestMaskIsLinear(t *testing.T) {
	m := New(append(slices.Clone(testEnv), "AB_TOKEN=abababababab"))
	took := func(text []byte) time.Duration {
		start := processorTime(t)
		m.Mask(text)
		m.Mask(fmt.Appendf(nil, "[%q,1]", text))
		m.Stream().Write(text)
		return processorTime(t) - start
	}
	for _, piece := range []string{"sk-ant-", "sk-ant-a1-", "-eyJ", "eyJabcdefghijklmnopqrst.", "-----BEGIN PRIVATE KEY-----", "Bearer ", "ab", `\\`,
		"-----BEGIN PRIVATE KEY-----\n" + alnum36 + "\n", "1234567890123,"} {
		short := bytes.Repeat([]byte(piece), 1<<12/len(piece))
		long := bytes.Repeat(short, 16)
		least := time.Duration(math.MaxInt64)
		for range 10 {
			once := max(took(short), time.Microsecond)
			if least = min(least, took(long)/once); least < 64 {
				break
			}
		}
		if least >= 64 {
			t.Errorf("%q: sixteen times as much takes at least %d times as long", piece, least)
		}
	}
}

// processorTime is what this process has used so far.
func processorTime(t *testing.T) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
