//go:build unix

package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/claude"
	"github.com/ralph-loop/ralph/internal/agent/pi"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// The speed of a machine changes from second to second. So every figure is a ratio to a yardstick
// that ran in turns with it, and the median of the rounds.

const (
	streamBytes = 64 << 20
	naiveBytes  = 8 << 20
	rounds      = 5
)

// BenchmarkIngest runs a whole loop of one iteration on one core: cat plays the agent and prints a
// long stream into its pipe, and the runner decodes, checks, masks, journals, folds, syncs and
// seals it. The yardsticks are the same bytes through cat into a file (two processes on as many
// cores as there are), and the simplest loop: scan, unmarshal, marshal, write, on one core. It
// reports ratios of time and of processor time, which other programs on the machine distort less.
func BenchmarkIngest(b *testing.B) {
	const claudeStream, piStream = "../agent/claude/testdata/tool-run.jsonl", "../agent/pi/testdata/tool_run_v152/said.jsonl"
	for _, c := range []struct {
		name     string
		recorded string
		dialect  func() agent.Dialect
		compress bool
	}{
		{"claude", claudeStream, func() agent.Dialect { return claude.New(nil) }, false},
		{"pi", piStream, func() agent.Dialect { return pi.New() }, false},
		{"claude,compressed", claudeStream, func() agent.Dialect { return claude.New(nil) }, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "stream.jsonl")
			stream := agenttest.WorkStream(b, c.recorded, streamBytes)
			size := int64(len(stream))
			testfile.Write(b, file, stream)
			var toCat, toNaive, toCatCPU, toNaiveCPU []float64
			var journaled int64
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for range rounds {
					b.StopTimer()
					cat := relay(b, file)
					naive := naively(b, file)
					b.StartTimer()
					var ours cost
					ours, journaled = ingest(b, file, c.dialect, c.compress)
					part := float64(naiveBytes) / float64(size)
					toCat = append(toCat, cat.wall/ours.wall)
					toCatCPU = append(toCatCPU, cat.cpu/ours.cpu)
					toNaive = append(toNaive, naive.wall/ours.wall/part)
					toNaiveCPU = append(toNaiveCPU, naive.cpu/ours.cpu/part)
				}
			}
			b.SetBytes(size * rounds)
			b.ReportMetric(median(toCat), "x-cat")
			b.ReportMetric(median(toNaive), "x-naive")
			b.ReportMetric(median(toCatCPU), "cpu-x-cat")
			b.ReportMetric(median(toNaiveCPU), "cpu-x-naive")
			b.ReportMetric(float64(journaled)/float64(size), "journal-B/B")
		})
	}
}

// BenchmarkIngestExported compares a loop whose trace is exported with one that has no collector,
// in turns, by the times of loop.started and loop.ended in their journals.
func BenchmarkIngestExported(b *testing.B) {
	file := filepath.Join(b.TempDir(), "stream.jsonl")
	stream := agenttest.WorkStream(b, "../agent/claude/testdata/tool-run.jsonl", streamBytes)
	testfile.Write(b, file, stream)
	var requests atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		requests.Add(1)
	}))
	defer collector.Close()
	dialect := func() agent.Dialect { return claude.New(nil) }
	var ran, cpu []float64
	for b.Loop() {
		for range rounds {
			without := ingestWith(b, file, dialect, func(*config.Settings) {})
			before := requests.Load()
			with := ingestWith(b, file, dialect, func(s *config.Settings) { s.Telemetry.OTLP.Endpoint = collector.URL })
			if requests.Load() == before {
				b.Fatal("the collector got nothing")
			}
			ran, cpu = append(ran, with.ran/without.ran), append(cpu, with.took.cpu/without.took.cpu)
		}
	}
	b.ReportMetric(median(ran), "x-without")
	b.ReportMetric(median(cpu), "cpu-x-without")
	b.ReportMetric(0, "ns/op")
}

// cost is what something took, in seconds.
type cost struct{ wall, cpu float64 }

// stopwatch returns a function that returns the cost since then, of this process or of its ended
// children.
func stopwatch(b *testing.B, who int) func() cost {
	cpu := func() time.Duration {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	began, before := time.Now(), cpu()
	return func() cost { return cost{time.Since(began).Seconds(), (cpu() - before).Seconds()} }
}

// played is a dialect whose agent prints a file.
type played struct {
	agent.Dialect
	file string
}

func (p played) Command(s agent.Spec) (agent.Command, error) {
	_, err := p.Dialect.Command(s)
	return agent.Command{Argv: []string{"cat", p.file}, CloseStdin: true}, err
}

// ingest runs the loop and returns how long it took from the agent's start to the sealed
// journal, and how many bytes that has.
func ingest(b *testing.B, file string, dialect func() agent.Dialect, compress bool) (took cost, size int64) {
	r := ingestWith(b, file, dialect, func(s *config.Settings) { s.Journal.Compress = compress })
	if !compress && r.size < streamBytes/2 {
		b.Fatalf("%d bytes in the journal of a stream of %d", r.size, streamBytes)
	}
	return r.took, r.size
}

// ingested is what a loop came to.
type ingested struct {
	took cost    // from the agent's start to the end of the runner
	ran  float64 // seconds from loop.started to loop.ended
	size int64   // of the journal
}

func ingestWith(b *testing.B, file string, dialect func() agent.Dialect, change func(*config.Settings)) (r ingested) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	dir, err := os.MkdirTemp(b.TempDir(), "loop-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	dialects["played"] = func() agent.Dialect { return played{dialect(), file} }
	defer delete(dialects, "played")
	settings := agentSettings(defaults(b), config.Agent{Command: "cat", Protocol: "played"})
	settings.MaximumIterations = 1
	change(&settings)
	var since func() cost
	ended, err := Run(context.Background(), Config{
		Home: filepath.Join(dir, "home"), Name: "bench", Dir: dir, Project: dir, Settings: settings, Frozen: frozen(b, settings),
		Prompt: "work", Env: os.Environ(), Ready: func(*event.LoopEnded) { since = stopwatch(b, syscall.RUSAGE_SELF) },
	})
	r.took = since()
	if err != nil || ended.Reason != event.ReasonIterations {
		b.Fatal(ended, err)
	}
	segments, err := journal.Segments(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range segments {
		r.size += s.Size
	}
	var first time.Time
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			b.Fatal(err)
		}
		if first.IsZero() {
			first = e.At
		}
		if e.Type == event.TypeLoopEnded {
			r.ran = e.At.Sub(first).Seconds()
		}
	}
	return r
}

func frozen(b *testing.B, s config.Settings) []byte {
	text, err := config.Freeze(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func defaults(b *testing.B) config.Settings {
	b.Helper()
	loaded, err := config.Load(config.Source{HomeDir: b.TempDir(), ProjectDir: b.TempDir(), Flags: map[string]string{"agent": "cat"}})
	if err != nil {
		b.Fatal(err)
	}
	return loaded.Settings
}

// relay is the cheapest way to keep another program's output.
func relay(b *testing.B, file string) cost {
	out := filepath.Join(b.TempDir(), "copy")
	defer os.Remove(out)
	since := stopwatch(b, syscall.RUSAGE_CHILDREN)
	cmd := exec.Command("sh", "-c", `cat "$1" | cat > "$2"`, "sh", file, out)
	if said, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, said)
	}
	return since()
}

// naively keeps the first lines of the stream in the simplest way.
func naively(b *testing.B, file string) cost {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	in, err := os.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(b.TempDir(), "copy"))
	if err != nil {
		b.Fatal(err)
	}
	defer os.Remove(out.Name())
	defer out.Close()
	since := stopwatch(b, syscall.RUSAGE_SELF)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for read := 0; read < naiveBytes && lines.Scan(); read += len(lines.Bytes()) + 1 {
		var v map[string]any
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			b.Fatal(err)
		}
		line, err := json.Marshal(v)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			b.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return since()
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// BenchmarkCommand measures from the moment when a command's file appears in the inbox of a running
// loop to the moment when its receipt is durable and the runner removes the file. The yardsticks
// are a bare fsnotify watch that sees a file appear in another folder, and the same with a line
// appended to a file and synced: the least that can be done; in turns.
func BenchmarkCommand(b *testing.B) {
	const commands = 200
	dir, stop := runningLoop(b)
	defer stop()
	removed := watch(b, filepath.Join(dir, "inbox"), fsnotify.Remove)
	bareDir, spare := b.TempDir(), b.TempDir()
	appeared := watch(b, bareDir, fsnotify.Create)
	file, err := os.Create(filepath.Join(spare, "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	line := bytes.Repeat([]byte("x"), 500)
	var ours, wakes, synced []float64
	for b.Loop() {
		for range commands {
			id, err := inbox.Drop(spare, inbox.Command{Kind: inbox.Set, Key: "limits.idle", Value: "10m", From: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			ours = append(ours, moved(b, filepath.Join(spare, "inbox", id+".json"), filepath.Join(dir, "inbox", id+".json"), removed, id))
			name := filepath.Join(spare, id)
			testfile.Write(b, name, "{}")
			wake := moved(b, name, filepath.Join(bareDir, id), appeared, id)
			began := time.Now()
			_, err = file.Write(line)
			if err = errors.Join(err, file.Sync()); err != nil {
				b.Fatal(err)
			}
			wakes, synced = append(wakes, wake), append(synced, wake+time.Since(began).Seconds()*1e6)
		}
	}
	slices.Sort(ours)
	slices.Sort(wakes)
	slices.Sort(synced)
	for _, at := range []int{50, 99} {
		i := len(ours) * at / 100
		b.ReportMetric(ours[i], fmt.Sprintf("p%d-µs", at))
		b.ReportMetric(ours[i]/wakes[i], fmt.Sprintf("p%d-x-wake", at))
		b.ReportMetric(ours[i]/synced[i], fmt.Sprintf("p%d-x-wake+sync", at))
	}
	b.ReportMetric(0, "ns/op")
}

// runningLoop starts a loop whose agent sleeps.
func runningLoop(b *testing.B) (dir string, stop func()) {
	b.Helper()
	dir = b.TempDir()
	settings := agentSettings(defaults(b), config.Agent{Command: "sleep", Flags: []string{"600"}, Protocol: "text"})
	running, over := make(chan struct{}), make(chan error, 1)
	signals := make(chan os.Signal, 3)
	go func() {
		_, err := Run(context.Background(), Config{
			Home: filepath.Join(dir, "home"), Name: "bench", Dir: dir, Project: dir, Settings: settings, Frozen: frozen(b, settings),
			Prompt: "work", Env: os.Environ(), Signals: signals, Ready: func(*event.LoopEnded) { close(running) },
		})
		over <- err
	}()
	select {
	case <-running:
	case err := <-over:
		b.Fatal(err)
	}
	return dir, func() {
		for range 3 { // after the iteration, now, kill
			signals <- os.Kill
		}
		if err := <-over; err != nil {
			b.Error(err)
		}
	}
}

// watch sends the names of files with events.
func watch(b *testing.B, dir string, what fsnotify.Op) <-chan string {
	b.Helper()
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(dir)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	names := make(chan string, 64)
	go func() { // ends when w is closed
		for e := range w.Events {
			if e.Has(what) {
				names <- filepath.Base(e.Name)
			}
		}
	}()
	return names
}

// moved renames a file and waits until the watch reports the id.
func moved(b *testing.B, from, to string, seen <-chan string, id string) float64 {
	b.Helper()
	began := time.Now()
	if err := os.Rename(from, to); err != nil {
		b.Fatal(err)
	}
	for name := range seen {
		if strings.HasPrefix(name, id) {
			break
		}
	}
	return time.Since(began).Seconds() * 1e6
}
