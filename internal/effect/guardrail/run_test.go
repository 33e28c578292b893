//go:build linux || darwin

package guardrail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// The test binary plays a daemon: a process in a session of its own that holds the output open.
const roleVariable = "GUARDRAIL_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "launch a daemon":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=daemon")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(cmd.Process.Pid)
		os.Exit(0)
	case "daemon":
		time.Sleep(10 * time.Minute)
		os.Exit(0)
	}
	if err := adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// patience bounds what takes no time: shorter than what sleeps for ten minutes.
const patience = 2 * time.Minute

// scene is a project with a loop's folder.
func scene(t *testing.T, guards ...Guardrail) Config {
	t.Helper()
	dir := t.TempDir()
	loop := filepath.Join(dir, ".ralph", "night")
	if err := os.MkdirAll(loop, 0o700); err != nil {
		t.Fatal(err)
	}
	return Config{Dir: dir, LoopDir: loop, Iteration: 3, TruncateChars: 5000, Guardrails: guards, Grace: 5 * time.Second}
}

func run1(t *testing.T, c Config) Result {
	t.Helper()
	results, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(c.Guardrails) {
		t.Fatalf("%d results", len(results))
	}
	if w := results[0].Warning; w != nil {
		t.Fatal(w)
	}
	return results[0]
}

func logOf(t *testing.T, c Config, r Result) string {
	t.Helper()
	text := testfile.Read(t, filepath.Join(c.LoopDir, r.Log))
	return string(text)
}

func TestVerdicts(t *testing.T) {
	for name, row := range map[string]struct {
		command string
		ok      bool
		code    int
		signal  string
	}{
		"0 passes":                               {"exit 0", true, 0, ""},
		"another status fails":                   {"exit 3", false, 3, ""},
		"a command that is not there fails":      {"./nowhere", false, 127, ""},
		"a command that may not be run fails":    {"./plain", false, 126, ""},
		"a shell that a signal ends fails":       {"kill -KILL $$", false, -1, "SIGKILL"},
		"a status that looks like TERM is one":   {"exit 143", false, 143, ""},
		"its input is empty and at its end":      {"test -z \"$(cat)\"", true, 0, ""},
		"it runs in the project":                 {"test -f plain && test \"$PWD\" = \"$(pwd)\"", true, 0, ""},
		"pipes and quotes are the shell's":       {"echo \"a  b\" | grep -q 'a  b'", true, 0, ""},
		"it sees the environment that was given": {"test \"$ANSWER\" = 42 && test -z \"$HOME\"", true, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := scene(t, Guardrail{Command: row.command})
			c.Env = []string{"ANSWER=42", "PATH=" + os.Getenv("PATH"), "PWD=/nowhere"}
			testfile.Write(t, filepath.Join(c.Dir, "plain"), "no program")
			r := run1(t, c)
			if r.OK != row.ok || r.Code != row.code || r.Signal != row.signal || r.TimedOut || (r.Message == "") != row.ok {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestFailureMessage(t *testing.T) {
	c := scene(t, Guardrail{Command: "echo one; echo two >&2; echo three; exit 7", Hint: "Look again."})
	c.TruncateChars = 9
	r := run1(t, c)
	want := "Guardrail \"echo one; echo two >&2; echo three; exit 7\" failed with exit code 7.\n" +
		"Hint: Look again.\n" +
		"Output file: .ralph/night/guardrail_3_echo_one_echo_two_2_echo_three_exit_7.log\n" +
		"Output (truncated):\none\ntwo\nt... [truncated]"
	if r.Message != want {
		t.Errorf("got\n%s\nwant\n%s", r.Message, want)
	}
	if got := logOf(t, c, r); got != "one\ntwo\nthree\n" {
		t.Errorf("log: %q", got)
	}
	if info, err := os.Stat(filepath.Join(c.LoopDir, r.Log)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("log: %v %v", info.Mode(), err)
	}
}

func TestOutsideLogPathIsAbsolute(t *testing.T) {
	c := scene(t, Guardrail{Command: "false"})
	c.LoopDir = t.TempDir()
	if r := run1(t, c); !strings.Contains(r.Message, "Output file: "+filepath.Join(c.LoopDir, r.Log)+"\n") {
		t.Error(r.Message)
	}
}

// Were the log itself the command's output, opening /dev/stderr would empty it.
func TestReopenedOutputKeepsTheLog(t *testing.T) {
	c := scene(t, Guardrail{Command: "echo one; echo two > /dev/stderr; echo three > /dev/stdout"})
	if got := logOf(t, c, run1(t, c)); got != "one\ntwo\nthree\n" {
		t.Errorf("log: %q", got)
	}
}

func TestLogsAreNeverOverwritten(t *testing.T) {
	c := scene(t, Guardrail{Command: "echo 1"}, Guardrail{Command: "echo-1; true"}, Guardrail{Command: "echo '1'"})
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Symlink(outside, filepath.Join(c.LoopDir, "guardrail_3_echo_1.log")); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(c.LoopDir, "guardrail_3_echo_1-2.log")
	testfile.Write(t, old, "of an attempt before\n")
	results, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Log)
	}
	if want := []string{"guardrail_3_echo_1-3.log", "guardrail_3_echo_1_true.log", "guardrail_3_echo_1-4.log"}; !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
	if text, err := os.ReadFile(old); string(text) != "of an attempt before\n" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := os.Lstat(outside); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link was followed: %v", err)
	}
}

func TestOutputInMemoryIsBounded(t *testing.T) {
	const size = 64 << 20
	c := scene(t, Guardrail{Command: fmt.Sprintf("head -c %d /dev/zero; exit 1", size)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run1(t, c)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 2<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	info, err := os.Stat(filepath.Join(c.LoopDir, r.Log))
	if err != nil || info.Size() != size {
		t.Errorf("log: %v %v", info.Size(), err)
	}
	if !strings.HasSuffix(r.Message, strings.Repeat("\uFFFD", 5000)+cutMark) {
		t.Errorf("a message of %d bytes", len(r.Message))
	}
}

// fullLog is a log whose disk is full.
func fullLog(t *testing.T) *os.File {
	t.Helper()
	log, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err == nil {
		return log
	}
	name := filepath.Join(t.TempDir(), "log") // there is no such device here; nothing can be written to what is open for reading
	testfile.Write(t, name, "")
	if log, err = os.Open(name); err != nil {
		t.Fatal(err)
	}
	return log
}

func TestFullDiskIsAWarning(t *testing.T) {
	for command, ok := range map[string]bool{"head -c 1000000 /dev/zero && echo all": true, "head -c 1000000 /dev/zero && exit 1": false} {
		c := scene(t)
		c.TruncateChars = 10
		c.Redact = func() Redactor { return unredacted{} }
		r := (&runState{Config: c}).run(t.Context(), Guardrail{Command: command}, fullLog(t))
		if r.OK != ok || r.Err != nil || r.Warning == nil || !strings.HasPrefix(r.Warning.Error(), "its log has only the first 0 bytes: ") || strings.Contains(r.Warning.Error(), "write") {
			t.Errorf("%+v", r)
		}
		reported := strings.Contains(r.Message, " (its beginning only)\n") && strings.HasSuffix(r.Message, strings.Repeat("\uFFFD", 10)+cutMark)
		if reported == ok {
			t.Errorf("the agent reads: %q", r.Message)
		}
	}
}

func TestTimeout(t *testing.T) {
	for name, row := range map[string]struct {
		command string
		pids    int
		grace   time.Duration // 0: as long as the timeout
		signal  string
		code    int
	}{
		"TERM ends what listens":                   {"echo $$; sleep 60 & echo $!; wait", 2, 2 * time.Minute, "SIGTERM", -1},
		"KILL ends what does not":                  {"trap '' TERM; echo $$; sleep 60 & echo $!; while :; do wait; done", 2, 0, "SIGKILL", -1},
		"what is stopped is woken to end":          {"echo $$; kill -STOP $$; echo $$", 1, 2 * time.Minute, "SIGTERM", -1},
		"0 in answer to TERM does not pass":        {"trap 'exit 0' TERM; echo $$; sleep 60 & echo $!; wait", 2, 2 * time.Minute, "", 0},
		"a child that will not leave is ended too": {"trap 'exit 5' TERM; echo $$; (trap '' TERM; sleep 60; sleep 60) & echo $!; wait", 2, 0, "", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The command is given more time until it has printed all, and could answer to TERM.
			var c Config
			var r Result
			for patience := 400 * time.Millisecond; patience < 2*time.Minute; patience *= 2 {
				c = scene(t, Guardrail{Command: row.command, Timeout: patience})
				c.Grace = cmp.Or(row.grace, patience)
				r = run1(t, c)
				if len(strings.Fields(logOf(t, c, r))) >= row.pids && (row.code < 0 || r.Signal == "") {
					break
				}
			}
			if r.OK || !r.TimedOut || r.Signal != row.signal || r.Code != row.code {
				t.Errorf("got %+v", r)
			}
			if !strings.Contains(r.Message, " timed out after "+units.Plain(r.Guardrail.Timeout)+".\n") {
				t.Error(r.Message)
			}
			if r.Took < r.Guardrail.Timeout*9/10 { // its clock starts after the timer
				t.Errorf("took %v", r.Took)
			}
			expectGone(t, logOf(t, c, r))
		})
	}
}

// expectGone fails for each pid in text that is a process.
func expectGone(t *testing.T, text string) {
	t.Helper()
	pids := strings.Fields(text)
	if len(pids) == 0 {
		t.Error("no pid was written")
	}
	for _, word := range pids {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("pid %d: %v", pid, err)
		}
	}
}

func TestBackgroundProcessIsEnded(t *testing.T) {
	c := scene(t, Guardrail{Command: "sleep 600 & echo $!"})
	began := time.Now()
	r := run1(t, c)
	if !r.OK || time.Since(began) > patience {
		t.Errorf("after %v: %+v", time.Since(began), r)
	}
	expectGone(t, logOf(t, c, r))
}

func TestDaemonDelaysNoResult(t *testing.T) {
	c := scene(t, Guardrail{Command: os.Args[0]})
	c.Env = append(os.Environ(), roleVariable+"=launch a daemon")
	began := time.Now()
	r := run1(t, c)
	if took := time.Since(began); !r.OK || took > patience {
		t.Errorf("after %v: %+v", took, r)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(logOf(t, c, r)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the daemon has a session of its own and should live: %v", err)
	}
	if runtime.GOOS == "linux" {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestCanceledContextGivesNoVerdict(t *testing.T) {
	c := scene(t, Guardrail{Command: "trap 'echo bye; exit 0' TERM; echo up > fifo; sleep 60 & wait"}, Guardrail{Command: "true"})
	fifo := filepath.Join(c.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("the night is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		_, err := os.ReadFile(fifo)
		cancel(errors.Join(stop, err))
	}()
	started, ended := 0, 0
	c.Started = func(int, Guardrail) { started++ }
	c.Ended = func(int, Result) { ended++ }
	results, err := Run(ctx, c)
	if !errors.Is(err, ErrInterrupted) || !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if len(results) != 1 || started != 1 || ended != 1 {
		t.Fatalf("%d started, %d ended: %+v", started, ended, results)
	}
	if r := results[0]; r.OK || r.TimedOut || r.Message != "" || !errors.Is(r.Err, stop) || logOf(t, c, r) != "bye\n" {
		t.Errorf("got %+v", r)
	}
}

func TestNothingStartsAfterCancel(t *testing.T) {
	c := scene(t, Guardrail{Command: "touch ran"})
	c.Started = func(int, Guardrail) { t.Error("started") }
	c.Ended = func(int, Result) { t.Error("ended") }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, c); !errors.Is(err, ErrInterrupted) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if logs, _ := filepath.Glob(filepath.Join(c.LoopDir, "*")); len(logs) != 0 {
		t.Errorf("left: %v", logs)
	}
}

func TestStartErrors(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(t *testing.T, c *Config)
		want  error
	}{
		"no shell":           {func(t *testing.T, c *Config) { t.Setenv("PATH", t.TempDir()) }, exec.ErrNotFound},
		"no project":         {func(t *testing.T, c *Config) { c.Dir = filepath.Join(c.Dir, "gone") }, fs.ErrNotExist},
		"NUL in the command": {func(t *testing.T, c *Config) { c.Guardrails[0].Command = "a\x00b" }, syscall.EINVAL},
	} {
		t.Run(name, func(t *testing.T) {
			c := scene(t, Guardrail{Command: "true"}, Guardrail{Command: "true"})
			row.spoil(t, &c)
			ended := 0
			c.Ended = func(int, Result) { ended++ }
			results, err := Run(t.Context(), c)
			if !errors.Is(err, row.want) || !strings.Contains(err.Error(), fmt.Sprintf("start guardrail %q", c.Guardrails[0].Command)) {
				t.Errorf("got %v", err)
			}
			if len(results) != 1 || ended != 1 || results[0].OK || results[0].Message != "" || results[0].Code != -1 {
				t.Errorf("%d ended: %+v", ended, results)
			}
		})
	}
}

func TestMissingLoopFolder(t *testing.T) {
	c := scene(t, Guardrail{Command: "true"})
	c.LoopDir += "/gone"
	if results, err := Run(t.Context(), c); !errors.Is(err, fs.ErrNotExist) || len(results) != 0 {
		t.Errorf("%v %v", results, err)
	}
}

func TestNextRunsAfterFailure(t *testing.T) {
	c := scene(t, Guardrail{Command: "exit 1"}, Guardrail{Command: "exit 0"}, Guardrail{Command: "exit 2"})
	var codes []int
	c.Ended = func(i int, r Result) { codes = append(codes, i, r.Code) }
	if _, err := Run(t.Context(), c); err != nil || !slices.Equal(codes, []int{0, 1, 1, 0, 2, 2}) {
		t.Errorf("%v %v", codes, err)
	}
}

func TestIndependentNeighborsRunConcurrently(t *testing.T) {
	c := scene(t,
		Guardrail{Command: "echo a > one; read x < two", Independent: true, Timeout: patience},
		Guardrail{Command: "read x < one; echo b > two", Independent: true, Timeout: patience},
		Guardrail{Command: "true"},
		Guardrail{Command: "true", Independent: true},
	)
	c.Parallel = 2
	for _, name := range []string{"one", "two"} {
		if err := syscall.Mkfifo(filepath.Join(c.Dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var story []string
	c.Started = func(i int, _ Guardrail) { story = append(story, fmt.Sprint("+", i)) }
	c.Ended = func(i int, r Result) { story = append(story, fmt.Sprint("-", i)) }
	results, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if !r.OK || r.Guardrail.Command != c.Guardrails[i].Command {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if !slices.Equal(story[:2], []string{"+0", "+1"}) || !slices.Equal(story[4:], []string{"+2", "-2", "+3", "-3"}) {
		t.Errorf("got %v", story)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	c := scene(t, slices.Repeat([]Guardrail{{Command: "true", Independent: true}}, 7)...)
	c.Parallel = 2
	running, most := 0, 0
	c.Started = func(int, Guardrail) { running++; most = max(most, running) }
	c.Ended = func(int, Result) { running-- }
	if results, err := Run(t.Context(), c); err != nil || len(results) != 7 || most > 2 || running != 0 {
		t.Errorf("%d at a time, %d left, %v", most, running, err)
	}
}
