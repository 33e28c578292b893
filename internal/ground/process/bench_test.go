//go:build linux || darwin

package process

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

const floodSize = 256 << 20

// BenchmarkIngest reads 256 MiB of JSON lines from a process and cuts them, against "cat" reading
// the same into nothing. The metric ×cat is cat's time over ours: 1 is as fast as cat.
func BenchmarkIngest(b *testing.B) {
	b.SetBytes(floodSize)
	var ours, cat time.Duration
	for b.Loop() {
		cat += timeCat(b)
		ours += timeIngest(b)
	}
	b.ReportMetric(cat.Seconds()/ours.Seconds(), "×cat")
	b.ReportMetric(float64(b.N)*floodSize/1e6/ours.Seconds(), "ingest-MB/s")
}

func timeCat(b *testing.B) time.Duration {
	b.Helper()
	source := exec.Command(self(), strconv.Itoa(floodSize))
	source.Env = append(os.Environ(), roleVariable+"=flood")
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	enlargePipe(r)
	source.Stdout = w
	cat := exec.Command("cat")
	cat.Stdin = r // its output is the null device
	began := time.Now()
	if err := source.Start(); err != nil {
		b.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		b.Fatal(err)
	}
	r.Close()
	w.Close()
	if err := cat.Wait(); err != nil {
		b.Error(err)
	}
	took := time.Since(began)
	if err := source.Wait(); err != nil {
		b.Error(err)
	}
	return took
}

func timeIngest(b *testing.B) time.Duration {
	b.Helper()
	spec := actor("flood", strconv.Itoa(floodSize))
	var size, lines int
	spec.Output = func(c Chunk) {
		for _, line := range c.Lines {
			size += len(line) + 1
		}
		lines += len(c.Lines)
	}
	began := time.Now()
	p, err := Start(spec)
	if err != nil {
		b.Fatal(err)
	}
	exit := p.Wait()
	took := time.Since(began)
	if size < floodSize || lines < 1000 || exit.Code != 0 {
		b.Fatalf("%d bytes in %d lines, %+v", size, lines, exit)
	}
	return took
}

// BenchmarkStartToExit covers all of a run: fork, exec, exit, the scan for strays, reaping. The
// metric ×exec compares it with os/exec running the same with its output in pipes.
func BenchmarkStartToExit(b *testing.B) {
	var ours, plain time.Duration
	for b.Loop() {
		began := time.Now()
		command := exec.Command("true")
		command.Stdout, command.Stderr = struct{ io.Writer }{io.Discard}, struct{ io.Writer }{io.Discard}
		if err := command.Run(); err != nil {
			b.Fatal(err)
		}
		plain += time.Since(began)
		began = time.Now()
		p, err := Start(Spec{Argv: []string{"true"}, Mark: mark(b)})
		if err != nil {
			b.Fatal(err)
		}
		p.Wait()
		ours += time.Since(began)
	}
	b.ReportMetric(ours.Seconds()/plain.Seconds(), "×exec")
}

func BenchmarkSweepNothing(b *testing.B) {
	all, err := listProcesses(0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if strays, err := Sweep(b.Context(), "no process carries this", time.Second); err != nil || len(strays) > 0 {
			b.Fatal(strays, err)
		}
	}
	b.ReportMetric(float64(len(all)), "processes")
}
