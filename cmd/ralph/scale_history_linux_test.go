package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/registry"
)

// hasEnded reports whether no runner has the loop.
func hasEnded(dir string) bool {
	live, err := registry.Probe(dir)
	return err == nil && !live.Alive
}

// judgeBoard prints what the board of all loops takes.
func (s *scaled) judgeBoard() {
	s.Helper()
	var first []time.Duration
	var used spent
	for range 5 {
		cmd := s.command("list", "--watch")
		cmd.Env = screenEnviron(cmd.Env)
		session, err := terminaltest.Start(cmd, terminaltest.Options{Columns: 120, Rows: 40, Marks: true})
		s.must(err)
		first = append(first, s.sees(session, "loop-0").Sub(session.Began))
		used = spentBy(s.T, cmd.Process.Pid)
		session.End()
	}
	row("`list --watch` in a terminal, first screen", "%.1f ms | %.1f ms | %.0f MB | ", quantile(first, 0.5).Seconds()*1e3, used.cpu.Seconds()*1e3, used.resident)
}

// judgeWeb prints how fast the list of the loops is served.
func (s *scaled) judgeWeb(loops int) {
	s.Helper()
	cmd := s.command("web", "--port", "0")
	out, err := cmd.StdoutPipe()
	s.must(err)
	s.must(cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	link, err := bufio.NewReader(out).ReadString('\n')
	s.must(err)
	base, token, _ := strings.Cut(strings.TrimSpace(link), "/?token=")
	ask := func(path, until string) {
		request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, base+path, nil)
		s.must(err)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		s.must(err)
		defer answer.Body.Close()
		if !readUntil(answer.Body, until) || answer.StatusCode != http.StatusOK {
			s.Fatalf("%s: %s, without %q", path, answer.Status, until)
		}
	}
	before := spentBy(s.T, cmd.Process.Pid)
	const times = 20
	var took []time.Duration
	for range times {
		began := time.Now()
		ask("/api/loops", fmt.Sprintf("loop-%04d", loops-1))
		took = append(took, time.Since(began))
	}
	used := spentBy(s.T, cmd.Process.Pid).since(before)
	row("`web`, GET /api/loops", "%.1f ms | %.1f ms | %.0f MB | ", quantile(took, 0.5).Seconds()*1e3, used.cpu.Seconds()*1e3/times, used.resident)
}

// shown is what the agent says in the iteration that lasts.
const shown = "I wait for the morning."

// TestScaleHistory compares a loop with a long history and one with a short one, written by runners
// as fast as their agents talk. What a person waits for may not depend on the history.
func TestScaleHistory(t *testing.T) {
	if *scaleIterations == 0 {
		t.Skip("a long journal: make scale")
	}
	s := newScaled(t, *scaleJournal<<20+4<<30, 2<<30)
	perIteration := *scaleJournal << 20 / int64(*scaleIterations)
	s.must(os.WriteFile(s.path+".rehearsal", []byte(fmt.Sprintf("iteration *\n  say Iteration {iteration}.\n"+
		"  tool bash {\"command\":\"ls\"} -> ok: files\n  talk %dB\n  use in=10 out=20 usd=0.001\n", perIteration/journalPerByte)), 0o600))
	s.must(os.WriteFile(s.path+".last", []byte("iteration *\n  say "+shown+"\n  sleep 2h\n"), 0o600))
	fmt.Printf("\n| a loop of %d iterations | of the first tenth | of the last tenth |\n|---|---|---|\n", *scaleIterations)
	s.talks("short", 1)
	s.talks("long", *scaleIterations)
	fmt.Printf("\n| | journal | time | processor | memory | read |\n|---|---|---|---|---|---|\n")
	for _, v := range []struct {
		until string
		live  bool
		args  []string
	}{
		{"", false, []string{"journal", "verify", "NAME"}},
		{"", false, []string{"journal", "rebuild", "NAME"}},
		{"", false, []string{"replay", "NAME", "--plain", "--speed", "max"}},
		{"", false, []string{"replay", "NAME", "--verify"}},
		{"", false, []string{"report", "NAME", "-o", s.home + "/NAME.html", "--force"}},
		{"", false, []string{"export", "NAME", "-o", s.home + "/NAME.ralph"}},
		{"", true, []string{"status", "NAME"}},
		{shown, true, []string{"attach", "NAME"}},
		{shown, true, []string{"logs", "NAME", "-f", "-n", "20"}},
		{"", true, []string{"logs", "NAME", "-n", "20"}},
		{"", true, []string{"logs", "NAME", "-i", "1", "--json"}},
		{"", true, []string{"logs", "NAME", "-i", "LAST", "--json"}},
		{"", true, []string{"why", "NAME"}},
		{"", true, []string{"report", "NAME", "-i", "1", "-o", s.home + "/NAME-1.html", "--force"}},
		{"", true, []string{"logs", "NAME", "--grep", shown}},
	} {
		for _, name := range []string{"short", "long"} {
			if v.live && hasEnded(s.dir(name)) {
				s.resumes(name)
			}
			args := slices.Clone(v.args)
			last := map[string]string{"short": "1", "long": fmt.Sprint(*scaleIterations)}[name]
			for i := range args {
				args[i] = strings.NewReplacer("NAME", name, "LAST", last).Replace(args[i])
			}
			row("`"+strings.ReplaceAll(strings.Join(v.args, " "), s.home+"/", "")+"`", "%s | %s", name, s.measure(v.until, args...))
		}
	}
}

// journalPerByte is how many bytes of the journal a byte of talk in small pieces becomes.
const journalPerByte = 43

// talks runs a loop to its end, and prints what its first and its last iterations took.
func (s *scaled) talks(name string, iterations int) {
	s.Helper()
	var started struct{ PID int }
	jsonOf(s, s.command(s.scaleArgs(name, ".rehearsal", iterations, "-p", "talk")...), &started)
	type mark struct {
		at     time.Time
		cpu    time.Duration
		memory float64
	}
	marks := map[int]mark{}
	for !hasEnded(s.dir(name)) {
		time.Sleep(20 * time.Millisecond)
		state, err := loopstate.Open(s.dir(name))
		if err != nil {
			continue // before the first iteration
		}
		n := state.Lifecycle.Iteration
		if _, had := marks[n]; !had && !hasEnded(s.dir(name)) {
			marks[n] = mark{time.Now(), spentBy(s.T, started.PID).cpu, procNumber(s.T, fmt.Sprintf("/proc/%d/status", started.PID), "VmHWM") / 1024}
		}
		s.tell("%s: iteration %d of %d", name, n, iterations)
	}
	segments, err := journal.Segments(s.dir(name))
	s.must(err)
	var size int64
	for _, segment := range segments {
		size += segment.Size
	}
	if tenth := iterations / 10; tenth > 1 {
		at := func(n int) mark { // the poll may have missed one, also the last
			for marks[n].at.IsZero() && n < iterations {
				n++
			}
			for marks[n].at.IsZero() && n > 1 {
				n--
			}
			return marks[n]
		}
		a, b, c, d := at(1), at(tenth), at(iterations-tenth), at(iterations)
		row("an iteration", "%.0f ms | %.0f ms", b.at.Sub(a.at).Seconds()*1e3/float64(tenth), d.at.Sub(c.at).Seconds()*1e3/float64(tenth))
		row("processor time of the runner for it", "%.0f ms | %.0f ms", (b.cpu-a.cpu).Seconds()*1e3/float64(tenth), (d.cpu-c.cpu).Seconds()*1e3/float64(tenth))
		row("most memory of the runner until then", "%.0f MB | %.0f MB", b.memory, d.memory)
		row("journal, compressed, and its segments", "%d MB | %d", size>>20, len(segments))
	}
}

func (s *scaled) scaleArgs(name, scenario string, iterations int, more ...string) []string {
	return append([]string{
		"start", name, "--detach", "--json", "-m", fmt.Sprint(iterations), "--agent", s.path + " rehearse " + s.path + scenario, "--protocol", "rehearsal",
		"--no-stream-agent-output", "--allow-shared-worktree", "--set", "breaker.noProgress=0", "--set", "restart.delay=5ms", "--set", "limits.idle=2h",
	}, more...)
}

// resumes resumes a loop, kills its runner, and prints what the resume after that took.
func (s *scaled) resumes(name string) {
	s.Helper()
	resume := s.scaleArgs(name, ".last", *scaleIterations+3, "--resume")
	var started struct{ PID int }
	jsonOf(s, s.command(resume...), &started)
	s.must(syscall.Kill(started.PID, syscall.SIGKILL))
	if !becomes(func() bool { return hasEnded(s.dir(name)) }) {
		s.Fatal("the runner lives on")
	}
	began := time.Now()
	jsonOf(s, s.command(resume...), &started)
	took := time.Since(began)
	proc := fmt.Sprintf("/proc/%d/", started.PID)
	row("resume after `kill -9`, the runner until its agent runs", "%s | %.1f ms | %.1f ms | %.0f MB | %.2f MB", name, took.Seconds()*1e3,
		spentBy(s.T, started.PID).cpu.Seconds()*1e3, procNumber(s.T, proc+"status", "VmHWM")/1024, procNumber(s.T, proc+"io", "rchar")/1e6)
	if !becomes(func() bool {
		text, err := os.ReadFile(filepath.Join(s.project, cli.RalphFolder, name, loopstate.StateFile))
		return err == nil && strings.Contains(string(text), shown)
	}) {
		s.Fatalf("the agent of %s says nothing", name)
	}
}
