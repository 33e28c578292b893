package launch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// complete adds what a runner.Config does not carry from a starter to its runner.
func complete(cfg *runner.Config, environ []string) (err error) {
	cfg.Env = environ
	cfg.Settings, _, err = config.Thaw(cfg.Frozen)
	return err
}

// readiness is the line by which a runner reports that its loop runs, or why it does not.
type readiness struct {
	PID   int              `json:"pid"`
	Ended *event.LoopEnded `json:"ended,omitempty"`
	Error string           `json:"error,omitempty"`
	Hint  string           `json:"hint,omitempty"`
	Code  int              `json:"code,omitempty"`
}

// startRunner starts a runner in a session of its own and waits until its loop runs, which is when
// the agent is started. One fork is enough: a runner is no job of a shell and holds no terminal.
func startRunner(e *cli.Env, cfg runner.Config) (readiness, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return readiness{}, err
	}
	cmd, err := runnerCommand(cfg.Name)
	if err != nil {
		return readiness{}, err
	}
	ready, toReady, err := os.Pipe()
	if err != nil {
		return readiness{}, fmt.Errorf("start the runner: %w", err)
	}
	defer ready.Close()
	cmd.Dir, cmd.Env = e.Cwd, e.Environ
	cmd.Stdin = bytes.NewReader(text)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // until it has opened its log
	cmd.ExtraFiles = []*os.File{toReady}          // its descriptor 3
	err = cmd.Start()
	toReady.Close()
	if err != nil {
		return readiness{}, fmt.Errorf("start the runner: %w", err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }() // reaps it if it ends while this process waits
	began, err := awaitReady(e, cfg, ready, startTime)
	if began.Ended != nil || began.Error != "" { // what it said is true once it has written its last state
		select {
		case <-exited:
		case <-time.After(endTime):
		}
	}
	return began, err
}

// endTime is how long a starter waits for a runner that has reported how its loop ended. It may
// send notifications after its last state.
const endTime = 3 * time.Second

// runnerCommand is the command of a runner, in a session of its own.
func runnerCommand(name string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find ralph's own program: %w", err)
	}
	cmd := exec.Command(self, "runner", name)
	cmd.Args[0] = "ralph"
	process.Detach(cmd)
	return cmd, nil
}

// startTime is how long a starter waits until the loop runs. Disks may be slow, and the runner
// waits some ten seconds for processes that a dead runner's agent left.
const startTime = time.Minute

// awaitReady reads the runner's line. It prints a message if that takes long, and gives up after
// the patience.
func awaitReady(e *cli.Env, cfg runner.Config, from *os.File, patience time.Duration) (readiness, error) {
	const slow = time.Second
	in := bufio.NewReader(from)
	// Where a pipe supports no deadline, this waits without one.
	_ = from.SetReadDeadline(time.Now().Add(min(slow, patience)))
	line, err := in.ReadBytes('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) && patience > slow {
		cli.Tell(e.Stderr, "loop %s is starting …", cfg.Name)
		_ = from.SetReadDeadline(time.Now().Add(patience - slow))
		var rest []byte
		rest, err = in.ReadBytes('\n')
		line = append(line, rest...)
	}
	var r readiness
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	log := logOf(cfg.Dir)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		hint := fmt.Sprintf("'ralph attach %s' shows it once it runs, 'ralph kill %s' ends it; its own output is in %s", cfg.Name, cfg.Name, e.Short(log))
		return r, cli.Failed(hint,
			"loop %s has not begun after %s; its runner goes on trying", cfg.Name, units.Plain(patience))
	case err != nil:
		return r, cli.Failed("see "+e.Short(log), "the runner of loop %s ended before its loop began%s", cfg.Name, lastLine(log))
	case r.Error != "":
		return r, &cli.Failure{Err: errors.New(r.Error), NextStep: r.Hint, Code: r.Code}
	case r.Ended != nil && r.Ended.Reason.ExitCode() != event.ExitCompleted:
		return r, &cli.Failure{Err: fmt.Errorf("loop %s did not start: %s", cfg.Name, r.Ended.Why), NextStep: r.Hint, Code: r.Ended.Reason.ExitCode()}
	}
	return r, nil
}

// lastLine returns the last line of a log for an error message, or of its last 4 KiB.
func lastLine(name string) string {
	const most = 4 << 10
	log, err := safefile.Open(name)
	if err != nil {
		return ""
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(io.NewSectionReader(log, max(info.Size()-most, 0), most))
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "")), "\n")
	if last := lines[len(lines)-1]; err == nil && last != "" {
		return ": " + last
	}
	return ""
}

// Announce prints what was started, or that nothing had to be.
func Announce(e *cli.Env, name, dir string, r readiness, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(e.Stdout, struct {
			Name  string           `json:"name"`
			Dir   string           `json:"dir"`
			PID   int              `json:"pid"`
			Ended *event.LoopEnded `json:"ended,omitempty"`
		}{name, dir, r.PID, r.Ended}, "")
	}
	if r.Ended != nil {
		fmt.Fprintf(e.Stdout, "loop %s is %s: %s\n", name, r.Ended.Status, cli.Clean(r.Ended.Explained()))
		return nil
	}
	fmt.Fprintf(e.Stdout, "loop %s is running (pid %d)\n", name, r.PID)
	cli.Tell(e.Stderr, "'ralph attach %s' shows it, 'ralph stop %s' ends it", name, name)
	return nil
}

// runLoop runs a loop in this process. Errors that a person can resolve get a hint.
func runLoop(cfg runner.Config) (event.LoopEnded, error) {
	ended, err := runner.Run(context.Background(), cfg)
	if exists, ok := errors.AsType[*runner.ExistsError](err); ok {
		err = cli.RefuseHinted(exists)
	} else if held, ok := errors.AsType[*registration.HeldError](err); ok {
		err = heldError(cfg.Name, registry.Liveness{PID: held.PID, Host: held.Host, Since: held.Since})
	} else if shared, ok := errors.AsType[*runner.SharedTreeError](err); ok {
		err = cli.RefuseHinted(shared)
	} else if nested, ok := errors.AsType[*runner.NestingError](err); ok {
		err = cli.RefuseHinted(nested)
	} else if boxed, ok := errors.AsType[*runner.SandboxError](err); ok {
		err = cli.RefuseHinted(boxed)
	} else if errors.Is(err, runner.ErrNothingToResume) {
		err = cli.Refuse(fmt.Sprintf("'ralph start %s' begins it", cfg.Name), "%w", err)
	} else if errors.Is(err, journal.ErrBusy) {
		err = BusyError(err, cfg.Name)
	} else if errors.Is(err, registration.ErrNoFolder) {
		err = ChangedMeanwhile(cfg.Name)
	}
	return ended, err
}
