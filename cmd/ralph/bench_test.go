//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/registry"
)

// These benchmarks time the built program from outside. A time depends on the machine and the
// moment, so each run alternates with a yardstick, and the result is the ratio of the medians.
// Milliseconds are reported for orientation.

const programRounds = 15

// BenchmarkStart measures 'ralph start --detach', which returns when the agent runs, against 'tmux
// new-session -d', which begins a server and a session with the same command, and against a Go
// program that does nothing.
func BenchmarkStart(b *testing.B) {
	mux := newTmux(b)
	p := newBinary(b)
	nothing := p.nothing(b)
	n := 0
	ratios(b, map[string]func() time.Duration{
		"": func() time.Duration {
			n++
			return p.start(b, fmt.Sprintf("loop-%d", n))
		},
		"tmux": func() time.Duration {
			defer mux.kill()
			return timed(b, mux.command("new-session", "-d", "-s", "s", "sleep 600"))
		},
		"nothing": func() time.Duration { return timed(b, exec.Command(nothing)) },
	}, programRounds)
}

// ratios runs the ways in turns, so many rounds. It reports how many times as long as each other
// way the one named "" takes.
func ratios(b *testing.B, ways map[string]func() time.Duration, rounds int) {
	names := make([]string, 0, len(ways))
	for name := range ways {
		names = append(names, name)
	}
	slices.Sort(names)
	times := map[string][]float64{}
	for b.Loop() {
		for range rounds {
			for _, name := range names {
				times[name] = append(times[name], ways[name]().Seconds()*1e3)
			}
		}
	}
	ours := median(times[""])
	b.ReportMetric(ours, "ms")
	b.ReportMetric(0, "ns/op")
	for _, name := range names[1:] {
		yardstick := median(times[name])
		b.ReportMetric(yardstick, name+"-ms")
		b.ReportMetric(ours/yardstick, "x-"+name)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// timed runs a command to its end.
func timed(b testing.TB, cmd *exec.Cmd) time.Duration {
	b.Helper()
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		b.Fatalf("%s: %v: %s", cmd, err, out)
	}
	return took
}

// binary is ralph as 'make build' builds it, with a home and a project of its own.
type binary struct {
	path, home, project string
}

func newBinary(b testing.TB) *binary {
	b.Helper()
	dir := b.TempDir()
	p := &binary{path: filepath.Join(dir, "ralph"), home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	// With a folder for loops it is the project, whatever is above the temporary folder.
	if err := os.MkdirAll(filepath.Join(p.project, cli.RalphFolder), 0o700); err != nil {
		b.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", p.path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // a C library alone is a quarter of a start
	timed(b, build)
	b.Cleanup(func() { endRunners(p.home) })
	return p
}

func (p *binary) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Dir = p.project
	cmd.Env = append(os.Environ(), "RALPH_HOME="+p.home, "HOME="+p.home)
	return cmd
}

func (p *binary) dir(name string) string { return filepath.Join(p.project, cli.RalphFolder, name) }

// nothing builds the least program that Go makes.
func (p *binary) nothing(b testing.TB) string {
	b.Helper()
	source := filepath.Join(filepath.Dir(p.path), "nothing.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	path := strings.TrimSuffix(source, ".go")
	timed(b, exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, source))
	return path
}

// sleeper is an agent that never says anything.
var sleeper = []string{"--prompt", "work", "--agent", "sleep 600", "--protocol", "text"}

// start starts a loop whose agent sleeps, and ends both.
func (p *binary) start(b testing.TB, name string) time.Duration {
	b.Helper()
	took := timed(b, p.command(append([]string{"start", name, "--detach"}, sleeper...)...))
	p.end(b, name)
	return took
}

// end kills a loop's runner and agent and waits until the runner is gone.
func (p *binary) end(b testing.TB, name string) {
	b.Helper()
	timedOrExit(b, p.command("kill", name))
	for deadline := time.Now().Add(10 * time.Second); ; {
		live, err := registry.Probe(p.dir(name))
		if err == nil && !live.Alive {
			return
		}
		if time.Now().After(deadline) {
			b.Fatal("the runner lives on: ", live, err)
		}
	}
}

// timedOrExit runs a command that may end with any code.
func timedOrExit(b testing.TB, cmd *exec.Cmd) {
	b.Helper()
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		b.Fatalf("%s: %v: %s", cmd, err, out)
	}
}

// tmux is a server of its own, apart from the user's.
type tmux struct {
	socket string
	env    []string
}

func newTmux(b testing.TB) *tmux {
	b.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		b.Skip("tmux, the yardstick, is not installed")
	}
	// The path of a socket may not be long.
	dir, err := os.MkdirTemp("", "mux")
	if err != nil {
		b.Fatal(err)
	}
	m := &tmux{socket: filepath.Join(dir, "s"), env: append(os.Environ(), "TERM=xterm", "TMUX=")}
	b.Cleanup(func() {
		m.kill()
		os.RemoveAll(dir)
	})
	return m
}

func (m *tmux) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", m.socket, "-f", os.DevNull}, args...)...)
	cmd.Env = m.env
	return cmd
}

func (m *tmux) kill() { _ = m.command("kill-server").Run() }

// firstByte starts a command, waits for the first thing it says, and ends it.
func firstByte(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return until(b, cmd, out, began)
}

// firstByteInTerminal is firstByte with a terminal of its own.
func firstByteInTerminal(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	began := time.Now()
	out, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	return until(b, cmd, out, began)
}

func until(b *testing.B, cmd *exec.Cmd, out io.Reader, began time.Time) time.Duration {
	b.Helper()
	var first [1]byte
	_, err := out.Read(first[:])
	took := time.Since(began)
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	if err != nil {
		b.Fatalf("%s said nothing: %v", cmd, err)
	}
	return took
}

// jsonOf runs a command that prints one JSON value.
func jsonOf(b testing.TB, cmd *exec.Cmd, v any) {
	b.Helper()
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err = errors.Join(err, json.Unmarshal(out, v)); err != nil {
		b.Fatalf("%s: %v: %s", cmd, err, complaint.String())
	}
}

// lines sends the lines that a command prints, with the time at which they came, until
// it ends.
func lines(b *testing.B, cmd *exec.Cmd) <-chan time.Time {
	b.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	came := make(chan time.Time, 1024)
	go func() {
		defer close(came)
		for in := bufio.NewReader(out); ; {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			came <- time.Now()
		}
	}()
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		for range came {
		}
		_ = cmd.Wait()
	})
	return came
}
