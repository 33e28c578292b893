package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
)

// BenchmarkBoard measures 'ralph list --watch' with 1,000 loops, half of them dead: until the loops
// are on the screen, the median of five starts; from a key to the screen; and what it uses and
// writes while nothing happens.
func BenchmarkBoard(b *testing.B) {
	const idle, keys, late = 5 * time.Second, 40, 20 * time.Second
	p := newBinary(b)
	p.manyLoops(b, 1000)
	var cmd *exec.Cmd
	begin := func() (*terminaltest.Session, float64) {
		cmd = p.command("list", "--watch")
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
		s, err := terminaltest.Start(cmd, terminaltest.Options{Columns: 120, Rows: 40, Marks: true})
		if err != nil {
			b.Fatal(err)
		}
		shown, err := s.Sees("needs you  ", late)
		if err != nil {
			b.Fatal(err)
		}
		return s, float64(shown.Sub(s.Began).Microseconds()) / 1000
	}
	for b.Loop() {
		var first []float64
		for range 4 {
			s, ms := begin()
			first = append(first, ms)
			s.End()
		}
		s, ms := begin()
		b.ReportMetric(median(append(first, ms)), "ms-first")
		var took []time.Duration
		for range keys {
			before := chosenRow(s.Text())
			at, err := s.Type("j")
			if err != nil {
				b.Fatal(err)
			}
			drawn, err := s.Await(late, func(e *terminaltest.Emulator) bool { return chosenRow(e.Text()) != before })
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, drawn.Sub(at))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[keys/2].Microseconds())/1000, "ms-key")
		b.ReportMetric(float64(took[keys-1].Microseconds())/1000, "ms-key-max")
		time.Sleep(2 * time.Second) // what the last key has changed is on the screen
		used, at := spentBy(b, cmd.Process.Pid), time.Now()
		time.Sleep(idle)
		spent := spentBy(b, cmd.Process.Pid).since(used)
		b.ReportMetric(100*spent.cpu.Seconds()/idle.Seconds(), "%core")
		b.ReportMetric(spent.resident, "MB")
		b.ReportMetric(float64(s.Bytes(at)), "B-idle")
		s.Look(func(e *terminaltest.Emulator) { b.ReportMetric(float64(e.Unmarked), "unmarked") })
		s.End()
	}
	b.ReportMetric(0, "ns/op")
}

// chosenRow is the row of the chosen loop.
func chosenRow(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "> ") {
			return line
		}
	}
	return ""
}
