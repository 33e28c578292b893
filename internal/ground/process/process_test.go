//go:build linux || darwin

package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExit(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		code   int
		signal string
	}{
		"a normal end is code 0":                 {"exit 0", 0, ""},
		"an exit status is passed on":            {"exit 42", 42, ""},
		"a signal has a name and no code":        {"kill -9 $$", -1, "SIGKILL"},
		"a caught signal is what the agent says": {"trap 'exit 143' TERM; kill -TERM $$; sleep 10", 143, ""},
	} {
		t.Run(name, func(t *testing.T) {
			exit := start(t, shell(test.script)).ended()
			if exit.Code != test.code || exit.Signal != test.signal || exit.Err != nil || exit.Took <= 0 {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

func TestOutput(t *testing.T) {
	for name, test := range map[string]struct {
		script, stdout, stderr string
	}{
		"complete lines":              {`printf 'one\ntwo\n\nfour\n'`, "one|two||four|", ""},
		"a last line without newline": {`printf 'one\nha'; sleep 0.01; printf lf`, "one|half|", ""},
		"nothing":                     {`true`, "", ""},
		"both streams, each marked as what it is": {`echo out; echo err >&2`, "out|", "err|"},
		"bytes that are no UTF-8":                 {`printf 'a\377\376\nb\200'`, "a\xff\xfe|b\x80|", ""},
		"a carriage return and a NUL stay":        {`printf 'a\r\n\000b\n'`, "a\r|\x00b|", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t, shell(test.script))
			a.ended()
			if got := a.output(Stdout); got != test.stdout {
				t.Errorf("stdout: got %q", got)
			}
			if got := a.output(Stderr); got != test.stderr {
				t.Errorf("stderr: got %q", got)
			}
			ends := 0
			for _, c := range a.chunks {
				if c.End {
					ends++
				}
			}
			if ends != 2 {
				t.Errorf("%d chunks were marked as a stream's last, want one for each stream", ends)
			}
		})
	}
}

func TestLongLineIsDelivered(t *testing.T) {
	const length = 20 << 20
	a := start(t, actor("long line", "20971520"))
	if line := a.line(); len(line) != length || strings.Trim(line, "x") != "" {
		t.Errorf("got %d bytes", len(line))
	}
	if line := a.line(); line != "after" {
		t.Errorf("then got %q", line)
	}
}

func TestOverlongLineIsSplit(t *testing.T) {
	spec := actor("long line", "100000")
	spec.maxLine = 4 << 10
	a := start(t, spec)
	a.ended()
	if got, want := a.output(Stdout), strings.Repeat("x", 100_000)+"|after|"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
	for _, c := range a.chunks {
		for _, line := range c.Lines {
			if len(line) > 4<<10 {
				t.Errorf("a piece has %d bytes", len(line))
			}
		}
	}
}

func TestRawDeliversUnfinishedLine(t *testing.T) {
	spec := shell(`printf 'name? '; read name; echo "hello $name"`)
	spec.Raw, spec.KeepStdin = true, true
	a := start(t, spec)
	if got := a.line(); got != "name? " {
		t.Fatalf("got %q", got)
	}
	if err := a.Write([]byte("bob\n")); err != nil {
		t.Fatal(err)
	}
	a.ended()
	if got := a.output(Stdout); got != "name? hello bob|" {
		t.Errorf("got %q", got)
	}
}

func TestSlowOutputLosesNothing(t *testing.T) {
	// The agent has ended and its drain is over before Output lets go of its first chunk; a hidden
	// daemon keeps the pipe open.
	withoutAdoption(t)
	release := make(chan struct{})
	var got bytes.Buffer
	spec := shell(`printf '%100000d\n' 7; printf '%400000d\n' 8; exec "` + self() + `"`)
	spec.Env = append(os.Environ(), roleVariable+"=hidden daemon")
	spec.Output = func(c Chunk) {
		if c.Stream != Stdout {
			return
		}
		<-release
		for _, line := range c.Lines {
			got.Write(line)
			got.WriteByte('|')
		}
	}
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, p.PID())
	time.AfterFunc(2*drainTime, func() { close(release) })
	exit := p.Wait()
	if exit.Err != nil {
		t.Error(exit.Err)
	}
	parts := strings.Split(got.String(), "|")
	holder, err := strconv.Atoi(parts[len(parts)-2])
	if err != nil {
		t.Fatal(err)
	}
	killAndReap(t, holder)
	if len(parts) != 4 || len(parts[0]) != 100_000 || len(parts[1]) != 400_000 {
		t.Errorf("got %d bytes in %d parts", got.Len(), len(parts)-1)
	}
}

func TestStdin(t *testing.T) {
	t.Run("without a pipe the agent reads the null device", func(t *testing.T) {
		a := start(t, Spec{Argv: []string{"cat"}})
		if exit := a.ended(); exit.Code != 0 || a.output(Stdout) != "" {
			t.Errorf("got %+v, %q", exit, a.output(Stdout))
		}
	})
	t.Run("writes arrive in order until it is closed", func(t *testing.T) {
		a := start(t, Spec{Argv: []string{"cat"}, KeepStdin: true})
		for _, text := range []string{"1\n", "2\n"} {
			if err := a.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		a.CloseStdin()
		if err := a.Write([]byte("3\n")); !errors.Is(err, ErrStdinClosed) {
			t.Errorf("a write after the close: %v", err)
		}
		if exit := a.ended(); exit.Code != 0 || a.output(Stdout) != "1|2|" {
			t.Errorf("got %+v, %q", exit, a.output(Stdout))
		}
	})
	t.Run("an agent that never reads fills the queue and delays no caller", func(t *testing.T) {
		spec := actor("sit")
		spec.KeepStdin = true
		a := start(t, spec)
		block, accepted := make([]byte, 1<<20), 0
		var err error
		for err == nil && accepted <= 64 {
			if err = a.Write(block); err == nil {
				accepted++
			}
		}
		if !errors.Is(err, ErrStdinFull) || accepted != 16 {
			t.Errorf("after %d MiB: %v", accepted, err)
		}
		if report := a.terminated(t.Context(), deadline); !report.Gone || report.Exit.Signal != "SIGTERM" {
			t.Errorf("got %+v", report)
		}
	})
	t.Run("a closed reader is an error, not our death", func(t *testing.T) {
		spec := shell(`exec 0<&-; echo closed; exec sleep 1000`)
		spec.KeepStdin = true
		a := start(t, spec)
		a.line()
		var err error
		for limit := time.Now().Add(deadline); err == nil && time.Now().Before(limit); runtime.Gosched() {
			err = a.Write([]byte("x"))
		}
		if !errors.Is(err, syscall.EPIPE) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAgentLeadsItsSession(t *testing.T) {
	a := start(t, actor("sit"))
	who, ok := inspect(a.pidLine())
	if !ok || who.pid != a.PID() || who.pgid != who.pid || who.sid != who.pid || who.ppid != os.Getpid() {
		t.Errorf("got %+v", who)
	}
}

func TestAgentEnvironment(t *testing.T) {
	dir := t.TempDir()
	spec := shell(`echo "$RALPH_RUN $PWD $KEPT"`)
	spec.Dir, spec.Mark = dir, mark(t)
	spec.Env = []string{"PATH=" + os.Getenv("PATH"), "RALPH_RUN=outer", "PWD=/elsewhere", "KEPT=yes"}
	a := start(t, spec)
	if got, want := a.line(), mark(t)+" "+dir+" yes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "#!/bin/sh\n", 0o600)
	for name, test := range map[string]struct {
		spec  Spec
		is    error
		names string
	}{
		"a name that is not in PATH":         {Spec{Argv: []string{"no-such-agent-anywhere"}}, exec.ErrNotFound, "no-such-agent-anywhere"},
		"a path that leads nowhere":          {Spec{Argv: []string{"/no/such/agent"}}, exec.ErrNotFound, "/no/such/agent"},
		"a relative path that leads nowhere": {Spec{Argv: []string{"./agent"}, Dir: dir}, exec.ErrNotFound, "./agent"},
		"a file that is not executable":      {Spec{Argv: []string{plain}}, fs.ErrPermission, plain},
		"a folder":                           {Spec{Argv: []string{dir}}, fs.ErrPermission, dir},
		"a missing interpreter":              {Spec{Argv: []string{write("script", "#!/no/such/sh\n", 0o700)}}, fs.ErrNotExist, "interpreter"},
		"no program at all":                  {Spec{Argv: []string{write("text", "hello\n", 0o700)}}, syscall.ENOEXEC, "#!"},
		"a missing working directory":        {Spec{Argv: []string{"true"}, Dir: dir + "/gone"}, fs.ErrNotExist, dir + "/gone"},
		"a working directory that is a file": {Spec{Argv: []string{"true"}, Dir: plain}, syscall.ENOTDIR, plain},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(test.spec)
			if err == nil {
				t.Fatalf("it was started: %+v", p.Wait())
			}
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.names) {
				t.Errorf("got %q", err)
			}
			if path := test.spec.Argv[0]; errors.Is(test.is, exec.ErrNotFound) && strings.Contains(err.Error(), "PATH") == strings.Contains(path, "/") {
				t.Errorf("%q: a wrong error about PATH: %v", path, err)
			}
			if _, missing := errors.AsType[*exec.Error](err); !errors.Is(test.is, exec.ErrNotFound) && missing {
				t.Errorf("got %q, which blames the program's name", err)
			}
		})
	}
	if _, err := Start(Spec{}); err == nil {
		t.Error("an empty Argv was started")
	}
}

func TestFailedStartLeaksNothing(t *testing.T) {
	attempt := func() {
		if _, err := Start(Spec{Argv: []string{"/no/such/agent"}, KeepStdin: true}); err == nil {
			t.Fatal("it was started")
		}
	}
	attempt() // what the runtime opens once is open now
	before := descriptors(t)
	for range 20 {
		attempt()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestExitLeaksNoDescriptors(t *testing.T) {
	run := func() {
		spec := shell("cat; echo done")
		spec.KeepStdin = true
		a := start(t, spec)
		a.CloseStdin()
		a.ended()
	}
	run()
	before := descriptors(t)
	for range 5 {
		run()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

func TestAgentOutlivesStartingThread(t *testing.T) {
	spec := Spec{Argv: []string{"cat"}, KeepStdin: true, ParentDeath: syscall.SIGKILL}
	started := make(chan *agent)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread dies with this goroutine
		started <- start(t, spec)
	}()
	a := <-started
	if err := a.Write([]byte("still here\n")); err != nil {
		t.Fatal(err)
	}
	if got := a.line(); got != "still here" {
		t.Errorf("got %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	base := []string{"PATH=/bin", "CLAUDECODE=1", "CLAUDE_CODE_MAX_RETRIES=3", "KEY=secret", "A=1", "RALPH_RUN=outer", "A=2"}
	got := Environment(base, []string{"KEY", "B"}, []string{"B=3", "PATH=/opt"})
	want := []string{"CLAUDE_CODE_MAX_RETRIES=3", "A=2", "B=3", "PATH=/opt"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q, want %q", got, want)
	}
	if base[1] != "CLAUDECODE=1" {
		t.Error("the base was changed")
	}
}
