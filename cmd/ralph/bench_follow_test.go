//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// BenchmarkFollow measures the time from an append until a follower in another process has printed
// the line into a pipe, against 'tail -f' of a file, in turns. It appends two hundred lines a
// second, as agents print them, so both sides sleep in between.
func BenchmarkFollow(b *testing.B) {
	const appends, pause = 400, 5 * time.Millisecond
	if _, err := exec.LookPath("tail"); err != nil {
		b.Skip("tail, the yardstick, is not installed")
	}
	p := newBinary(b)
	w := p.liveLoop(b, "one", 0)
	file, err := os.OpenFile(filepath.Join(b.TempDir(), "file"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	ours, tails := lines(b, p.command("attach", "--json", "one")), lines(b, exec.Command("tail", "-n", "+1", "-f", file.Name()))
	line := oneLine()
	drafts := []event.Draft{line}
	for range w.Position().Seq {
		<-ours
	}
	write := func() {
		if _, err := file.Write(append(line.Data, '\n')); err != nil {
			b.Fatal(err)
		}
	}
	write()
	<-tails
	took := func(do func(), came <-chan time.Time) float64 {
		time.Sleep(pause)
		began := time.Now()
		do()
		return (<-came).Sub(began).Seconds() * 1e6
	}
	var a, z []float64
	for b.Loop() {
		for range appends {
			a = append(a, took(func() { appendTo(b, w, drafts) }, ours))
			z = append(z, took(write, tails))
		}
	}
	slices.Sort(a)
	slices.Sort(z)
	for _, at := range []int{50, 99} {
		x, y := a[len(a)*at/100], z[len(z)*at/100]
		b.ReportMetric(x, fmt.Sprintf("p%d-µs", at))
		b.ReportMetric(x/y, fmt.Sprintf("p%d-x-tail", at))
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFollowers measures what an append costs the writer while so many processes follow it,
// against an append without followers. The two alternate, fifty times a second.
func BenchmarkFollowers(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const appends, pause = 50, 20 * time.Millisecond
			p := newBinary(b)
			followed, alone := p.liveLoop(b, "followed", 0), p.liveLoop(b, "alone", 0)
			followers := make([]<-chan time.Time, n)
			for i := range followers {
				followers[i] = lines(b, p.command("attach", "--json", "followed"))
			}
			drafts := []event.Draft{oneLine()}
			for _, f := range followers {
				for range followed.Position().Seq {
					<-f
				}
			}
			took := func(w *journal.Writer) float64 {
				time.Sleep(pause)
				began := time.Now()
				appendTo(b, w, drafts)
				return time.Since(began).Seconds() * 1e6
			}
			var a, z []float64
			for b.Loop() {
				for range appends {
					z = append(z, took(alone))
					a = append(a, took(followed))
					for _, f := range followers {
						<-f // everyone gets every line
					}
				}
			}
			b.ReportMetric(median(a), "append-µs")
			b.ReportMetric(median(a)/median(z), "x-alone")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// oneLine is an event of some 500 bytes.
func oneLine() event.Draft {
	d := event.Encode(event.AgentSaid{Block: "m1", Text: event.Plain(fmt.Sprintf("%0300d", 1))}, "agent:claude")
	d.Iter = 1
	return d
}

func appendTo(b *testing.B, w *journal.Writer, drafts []event.Draft) {
	if _, err := w.Append(drafts); err != nil {
		b.Fatal(err)
	}
}
