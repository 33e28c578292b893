//go:build unix

package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/registry"
)

// BenchmarkSurvey surveys 1,000 and 10,000 loops, half of them dead, and interleaves that with
// reading the names of the registry folder alone and with the usual way (ReadDir, ReadFile, json,
// pid check). Absolute times hold for one machine; the ratios carry over.
func BenchmarkSurvey(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("loops=%d", n), func(b *testing.B) {
			home := manyLoops(b, n)
			var survey, names, naive time.Duration
			timed := func(total *time.Duration, f func() int) {
				began := time.Now()
				if got := f(); got != n {
					b.Fatalf("%d of %d loops", got, n)
				}
				*total += time.Since(began)
			}
			b.ReportAllocs()
			for b.Loop() {
				timed(&survey, func() int {
					statuses, err := registry.Survey(home, nil)
					if err != nil || !statuses[0].Live.Alive || !statuses[1].Died {
						b.Fatal(statuses[:2], err)
					}
					return len(statuses)
				})
				b.StopTimer()
				timed(&names, func() int {
					f, err := os.Open(registry.Folder(home))
					if err != nil {
						b.Fatal(err)
					}
					defer f.Close()
					names, _ := f.Readdirnames(-1)
					return len(names)
				})
				timed(&naive, func() int { return naiveSurvey(b, home) })
				b.StartTimer()
			}
			b.ReportMetric(float64(survey)/float64(names), "x/getdents")
			b.ReportMetric(float64(survey)/float64(naive), "x/naive")
			b.ReportMetric(float64(survey.Milliseconds())/float64(b.N), "ms/survey")
		})
	}
}

func naiveSurvey(b *testing.B, home string) (seen int) {
	files, err := os.ReadDir(registry.Folder(home))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		var e registry.Entry
		line, err := os.ReadFile(filepath.Join(registry.Folder(home), file.Name()))
		if err := errors.Join(err, json.Unmarshal(line, &e)); err != nil {
			b.Fatal(err)
		}
		if syscall.Kill(os.Getpid(), 0) == nil {
			process.StartTime(os.Getpid())
		}
		var state struct{ Status string }
		line, err = os.ReadFile(filepath.Join(e.Dir, "state.json"))
		if err := errors.Join(err, json.Unmarshal(line, &state)); err != nil {
			b.Fatal(err)
		}
		seen++
	}
	return seen
}

// manyLoops creates n loops whose state is running; this process holds the locks of the even ones.
func manyLoops(b *testing.B, n int) (home string) {
	home = b.TempDir()
	project := b.TempDir()
	state := []byte(strings.TrimSuffix(headLine, "}") + `,"rest":"` + strings.Repeat("x", 3500) + `"}`)
	facts := []byte(`{"pid":4711,"host":"mill","since":"2026-11-21T01:52:28.123456Z","startTicks":815}` + "\n")
	if err := os.MkdirAll(registry.Folder(home), 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		e := entryOf(fmt.Sprintf("loop-%05d", i), project)
		line, err := json.Marshal(e)
		if err := errors.Join(err, os.MkdirAll(e.Dir, 0o700),
			os.WriteFile(filepath.Join(registry.Folder(home), e.File()), append(line, '\n'), 0o600),
			os.WriteFile(filepath.Join(e.Dir, registry.LockFile), facts, 0o600),
			os.WriteFile(filepath.Join(e.Dir, "state.json"), state, 0o600)); err != nil {
			b.Fatal(err)
		}
		if i%2 == 1 {
			continue
		}
		f, err := os.Open(filepath.Join(e.Dir, registry.LockFile))
		if err := errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
	}
	return home
}
