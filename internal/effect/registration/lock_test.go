//go:build unix

package registration

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/registry"
)

// The test binary plays other processes: with RALPH_TEST_ROLE set it does one thing, says so on a
// line, and lives until its stdin ends.
func TestMain(m *testing.M) {
	switch role := os.Getenv("RALPH_TEST_ROLE"); role {
	case "":
		os.Exit(m.Run())
	case "hold", "hold-with-child":
		playHolder(role == "hold-with-child")
	case "linger":
		fmt.Println("lingering")
		io.Copy(io.Discard, os.Stdin)
	}
}

func playHolder(withChild bool) {
	lock, err := Acquire(os.Getenv("RALPH_TEST_DIR"))
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	child := 0
	if withChild {
		c := role("linger", "")
		c.Stdin = os.Stdin
		out, err := c.StdoutPipe()
		if err != nil || c.Start() != nil {
			fmt.Println("no child")
			return
		}
		bufio.NewReader(out).ReadString('\n') // it has been through exec
		child = c.Process.Pid
	}
	fmt.Println("held", child)
	io.Copy(io.Discard, os.Stdin)
	if err := lock.Release(); err != nil {
		fmt.Println("release:", err)
		return
	}
	fmt.Println("released")
}

func role(name, dir string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "RALPH_TEST_ROLE="+name, "RALPH_TEST_DIR="+dir)
	c.Stderr = os.Stderr
	return c
}

// other is a process in a role. end lets it finish; said gives its next line.
type other struct {
	cmd  *exec.Cmd
	said func() string
	end  func()
}

func start(t *testing.T, name, dir string) *other {
	t.Helper()
	c := role(name, dir)
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Process.Kill()
		c.Wait()
	})
	lines := bufio.NewReader(out)
	return &other{c, func() string {
		line, _ := lines.ReadString('\n')
		return strings.TrimSpace(line)
	}, func() { in.Close() }}
}

func TestAcquireNamesTheOtherRunner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fix")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Add(-time.Second)
	first := start(t, "hold", dir)
	if said := first.said(); said != "held 0" {
		t.Fatal(said)
	}
	_, err := Acquire(dir)
	held, ok := errors.AsType[*HeldError](err)
	if !ok {
		t.Fatalf("got %v, want a *HeldError", err)
	}
	host, _ := os.Hostname()
	if held.Loop != "fix" || held.PID != first.cmd.Process.Pid || held.Host != host || held.Since.Before(began) || held.Since.After(time.Now()) {
		t.Errorf("got %+v", held)
	}
	want := fmt.Sprintf("loop fix is already run by pid %d on %s since %s", held.PID, host, held.Since.Format(time.RFC3339))
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	live, err := registry.Probe(dir)
	if err != nil || !live.Alive || live.PID != held.PID {
		t.Errorf("probe: %+v, %v", live, err)
	}
	if start, ok := process.StartTime(live.PID); ok && start != live.StartTicks {
		t.Errorf("its start is %d, and it wrote %d", start, live.StartTicks)
	}

	first.end()
	if said := first.said(); said != "released" {
		t.Fatal(said)
	}
	if live, err = registry.Probe(dir); err != nil || live != (registry.Liveness{}) {
		t.Errorf("after its release: %+v, %v", live, err)
	}
	lock, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestKilledRunnerIsDead(t *testing.T) {
	dir := t.TempDir()
	runner := start(t, "hold-with-child", dir)
	word, pid, _ := strings.Cut(runner.said(), " ")
	child, err := strconv.Atoi(pid)
	if word != "held" || err != nil || child == 0 {
		t.Fatal(word, pid)
	}
	if live, err := registry.Probe(dir); err != nil || !live.Alive {
		t.Fatalf("before: %+v, %v", live, err)
	}
	if err := runner.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	runner.cmd.Process.Wait()

	live, err := registry.Probe(dir)
	if err != nil || live.Alive || live.PID != runner.cmd.Process.Pid {
		t.Errorf("after kill -9: %+v, %v, want dead, with the facts it left", live, err)
	}
	if err := syscall.Kill(child, 0); err != nil {
		t.Fatalf("the child is not there, so this shows nothing: %v", err)
	}
	lock, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestOneProcessGetsTheLoop(t *testing.T) {
	dir := t.TempDir()
	var others []*other
	for range 4 {
		others = append(others, start(t, "hold", dir))
	}
	held, refused := 0, 0
	for _, o := range others {
		switch said := o.said(); {
		case said == "held 0":
			held++
		case strings.HasPrefix(said, "refused: loop "):
			refused++
		default:
			t.Error(said)
		}
	}
	if held != 1 || refused != 3 {
		t.Errorf("%d hold it, %d were refused", held, refused)
	}
}

func TestProbesDoNotBlockRunners(t *testing.T) {
	dir := t.TempDir()
	lock, err := Acquire(dir) // creates run.lock
	if err != nil {
		t.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		done atomic.Bool
	)
	defer wg.Wait()
	defer done.Store(true)
	for range 4 {
		wg.Go(func() {
			for !done.Load() {
				if _, err := registry.Probe(dir); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 100 {
		if live, err := registry.Probe(dir); err != nil || !live.Alive {
			t.Fatalf("held, and probed %+v, %v", live, err)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		if lock, err = Acquire(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestLockFileStaysTheSame(t *testing.T) {
	dir := t.TempDir()
	var last fs.FileInfo
	for range 3 {
		lock, err := Acquire(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, registry.LockFile))
		if err != nil || info.Mode() != 0o600 || info.Size() != 0 {
			t.Fatalf("%v, %v", info, err)
		}
		if last != nil && !os.SameFile(last, info) {
			t.Fatal("another file has its name")
		}
		last = info
	}
}

func TestProbeCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, dir := range []string{dir, filepath.Join(dir, "absent")} {
		if live, err := registry.Probe(dir); err != nil || live != (registry.Liveness{}) {
			t.Errorf("%+v, %v", live, err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
}

func TestAcquireRefusesOtherFiles(t *testing.T) {
	for _, tt := range []struct {
		title string
		make  func(t *testing.T, path string) error
	}{
		{"a link to a file elsewhere", func(t *testing.T, path string) error {
			target := filepath.Join(t.TempDir(), "victim")
			if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
				return err
			}
			t.Cleanup(func() {
				if b, _ := os.ReadFile(target); string(b) != "precious" {
					t.Errorf("the target now holds %q", b)
				}
			})
			return os.Symlink(target, path)
		}},
		{"a link to nowhere", func(t *testing.T, path string) error { return os.Symlink(path+"-absent", path) }},
		{"a folder", func(t *testing.T, path string) error { return os.Mkdir(path, 0o700) }},
		{"a FIFO, without waiting for its other end", func(t *testing.T, path string) error { return syscall.Mkfifo(path, 0o600) }},
	} {
		t.Run(tt.title, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.make(t, filepath.Join(dir, registry.LockFile)); err != nil {
				t.Fatal(err)
			}
			if _, err := registry.Probe(dir); err == nil {
				t.Error("probed")
			}
			if _, err := Acquire(dir); err == nil {
				t.Error("acquired")
			}
			if _, err := os.Lstat(filepath.Join(dir, registry.LockFile) + "-absent"); !errors.Is(err, fs.ErrNotExist) {
				t.Error("the link's target was created")
			}
		})
	}
}

func TestProbeWithoutReadableFacts(t *testing.T) {
	for _, content := range []string{"\n", "garbage", `{"pid":47`, `{"pid":"x"}`} {
		dir := t.TempDir()
		lock, err := Acquire(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, registry.LockFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if live, err := registry.Probe(dir); err != nil || live != (registry.Liveness{Alive: true}) {
			t.Errorf("%q: %+v, %v", content, live, err)
		}
		_, err = Acquire(dir)
		if held, ok := errors.AsType[*HeldError](err); !ok || held.PID != 0 || !strings.HasSuffix(err.Error(), "by another process") {
			t.Errorf("%q: %v", content, err)
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestAcquireNeedsTheFolder(t *testing.T) {
	if _, err := Acquire(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
