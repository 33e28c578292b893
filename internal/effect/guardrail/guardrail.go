package guardrail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Guardrail is a command that must exit with 0.
type Guardrail struct {
	// Command is run by sh -c, on Windows by cmd /c.
	Command string
	// FailAction is where Result.Message goes in the next prompt; see internal/effect/prompt. It is
	// passed on unchanged.
	FailAction string
	// Hint is a part of Result.Message, unchanged.
	Hint string
	// Timeout ends the command after this time; 0 lets it run.
	Timeout time.Duration
	// Independent lets it run at the same time as its independent neighbors in the list.
	Independent bool
	// Protect: changed files that define it are to be restored. A snapshot keeps their content.
	Protect bool
}

// Config says what to run, where.
type Config struct {
	// Dir is the working directory of the commands. PWD is set to it.
	Dir string
	// LoopDir is an existing folder for the logs.
	LoopDir string
	// Iteration is the number in the logs' names.
	Iteration int
	// Env is the complete environment; nil means the caller's. It should not contain the mark of an
	// agent: when that agent ends, so do all processes with its mark.
	Env []string
	// Mark makes all that a command leaves running the command's: see process.Command.
	Mark string
	// Wrap runs the commands in a sandbox; nil runs them as they are.
	Wrap process.Wrap
	// TruncateChars is how many characters of a failed command's output are in the message.
	TruncateChars int
	Guardrails    []Guardrail
	// Parallel bounds how many independent ones run at a time; 0 means the number of processors.
	Parallel int
	// Grace is the time between TERM and KILL; 0 means 2 s.
	Grace time.Duration
	// Redact returns a Redactor for one text, such as a command or its output. It keeps secrets out
	// of logs, their names and messages. nil redacts nothing.
	Redact func() Redactor

	// Started is called before a command is started, and then Ended once, when its result is known,
	// both with its place in Guardrails. Calls never overlap; those of independent guardrails come
	// as they start and end. Both may be nil.
	Started func(i int, g Guardrail)
	Ended   func(i int, r Result)
}

// A Redactor hides the secrets of a text that is written in pieces. It withholds what may be a part
// of a secret until more is written.
type Redactor interface {
	Write(piece []byte) []byte
	Flush() []byte // the text has ended
}

// unredacted is the Redactor that hides nothing.
type unredacted struct{}

func (unredacted) Write(piece []byte) []byte { return piece }
func (unredacted) Flush() []byte             { return nil }

// redact returns a complete text without its secrets.
func (c *Config) redact(text string) string {
	r := c.Redact()
	out := string(r.Write([]byte(text)))
	return out + string(r.Flush())
}

// Result is the result of one guardrail.
type Result struct {
	Guardrail Guardrail
	// OK: it exited with 0 in time.
	OK bool
	// Code is the exit status, or -1 when a signal ended the shell or there is none. A command that
	// the shell cannot find or run is a failure like others (127, 126), with Unable.
	Code int
	// Signal names the signal that ended the shell, such as "SIGKILL", or is empty.
	Signal string
	// TimedOut: it was ended because its Timeout was over. OK is then false whatever the exit
	// status.
	TimedOut bool
	// Took is the time from start to the shell's end.
	Took time.Duration
	// Log is the name of the log in the loop's folder; empty when none could be made.
	Log string
	// Message is for the agent when the guardrail failed; empty when it passed and when there is no
	// verdict.
	Message string
	// Unable is the line in which a command that failed says that it cannot run at all: there is no
	// such program, target, script or package. It is empty for any other result.
	Unable string
	// Err is why there is no verdict: the shell could not be started, ErrInterrupted with the
	// context's cause, or a log that could not be created. It satisfies errors.Is with
	// exec.ErrNotFound when there is no shell, and with fs.ErrNotExist when the working directory
	// is missing.
	Err error
	// Warning is an error of ralph's own that does not change the verdict: an incomplete log,
	// processes that outlived KILL.
	Warning error
}

// ErrInterrupted says that the context ended before the guardrail did.
var ErrInterrupted = errors.New("interrupted")

var errTimedOut = errors.New("timed out")

// Run runs the guardrails in their order, also after one that failed. Independent neighbors run at
// the same time; the next dependent one waits for all before it. The results are in the order of
// the guardrails.
//
// The error joins the errors of guardrails without a verdict (see Result.Err). No further guardrail
// is started after such an error, so the results are then those of the first ones only. Run may be
// called again for the same iteration: logs get new names.
func Run(ctx context.Context, c Config) ([]Result, error) {
	loop, err := os.OpenRoot(c.LoopDir)
	if err != nil {
		return nil, fmt.Errorf("open the loop's folder for guardrail logs: %w", err)
	}
	defer loop.Close()
	if c.Parallel <= 0 {
		c.Parallel = runtime.GOMAXPROCS(0)
	}
	if c.Redact == nil {
		c.Redact = func() Redactor { return unredacted{} }
	}
	r := &runState{Config: c, loop: loop, results: make([]Result, len(c.Guardrails))}
	for r.started < len(c.Guardrails) && r.failed() == nil {
		r.runBatch(ctx, runEnd(c.Guardrails, r.started))
	}
	return r.results[:r.started], r.failed()
}

// runEnd returns the end of the group of guardrails that may run at the same time, from index from.
func runEnd(all []Guardrail, from int) int {
	end := from + 1
	for all[from].Independent && end < len(all) && all[end].Independent {
		end++
	}
	return end
}

// runState is one Run.
type runState struct {
	Config
	loop    *os.Root
	started int // how many have been started; used by Run's goroutine only

	mu      sync.Mutex // guards what follows, and is held while a callback runs
	results []Result
	errs    []error
}

func (r *runState) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.errs...)
}

// runBatch starts the remaining guardrails before end, and returns when all started ones have
// ended.
func (r *runState) runBatch(ctx context.Context, end int) {
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, r.Parallel)
	for r.started < end {
		free <- struct{}{}
		if r.failed() != nil {
			return
		}
		i := r.started
		r.started++
		// The logs are made here, so that their names follow the order of the guardrails.
		log, err := r.begin(ctx, i)
		if err != nil {
			r.record(i, Result{Guardrail: r.Guardrails[i], Code: -1, Err: err}, nil)
			return
		}
		running.Go(func() {
			r.record(i, r.run(ctx, r.Guardrails[i], log), r.Ended)
			<-free
		})
	}
}

// begin makes the log of a guardrail and reports that it starts.
func (r *runState) begin(ctx context.Context, i int) (*os.File, error) {
	g := r.Guardrails[i]
	if ctx.Err() != nil {
		return nil, fmt.Errorf("guardrail %q: %w before it started: %w", g.Command, ErrInterrupted, context.Cause(ctx))
	}
	log, err := createLog(r.loop, r.Iteration, Slug(r.redact(g.Command)))
	if err != nil {
		return nil, fmt.Errorf("make the log of guardrail %q: %w", g.Command, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Started != nil {
		r.Started(i, g)
	}
	return log, nil
}

func (r *runState) record(i int, result Result, notify func(int, Result)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[i] = result
	if result.Err != nil {
		r.errs = append(r.errs, result.Err)
	}
	if notify != nil {
		notify(i, result)
	}
}

func (r *runState) run(ctx context.Context, g Guardrail, log *os.File) Result {
	result := Result{Guardrail: g, Code: -1, Log: filepath.Base(log.Name())}
	out := newOutput(log, r.Redact(), r.TruncateChars)
	if g.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.Timeout, errTimedOut)
		defer cancel()
	}
	exit, err := process.Run(ctx, process.Command{
		Shell: g.Command, Dir: r.Dir, Env: r.Env, Mark: r.Mark, Wrap: r.Wrap, Stdout: out, Stderr: out, Grace: r.Grace,
	})
	out.end()
	closeErr := log.Close()
	result.Code, result.Signal, result.Took = exit.Code, exit.Signal, exit.Took
	result.TimedOut = errors.Is(err, errTimedOut)
	switch {
	case result.TimedOut, err == nil:
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		result.Err = fmt.Errorf("guardrail %q: %w after %s: %w", g.Command, ErrInterrupted, units.Took(exit.Took), err)
	default:
		result.Err = fmt.Errorf("start guardrail %q: %w", g.Command, err)
		return result
	}
	result.Warning = errors.Join(out.err, closeErr, exit.Err)
	result.OK = err == nil && exit.Code == 0
	if !result.OK && result.Err == nil {
		shown := r.shown(result.Log)
		if out.err != nil {
			shown += " (its beginning only)"
		}
		printed := out.text(r.TruncateChars)
		result.Message = r.redact(message(result, shown, printed))
		if !result.TimedOut && result.Signal == "" {
			result.Unable = unable(g.Command, result.Code, printed)
		}
	}
	return result
}

// shown returns a log's path for the agent: relative if it is below the working directory, else
// absolute.
func (r *runState) shown(log string) string {
	path := filepath.Join(r.LoopDir, log)
	dir, dirErr := filepath.Abs(r.Dir)
	abs, err := filepath.Abs(path)
	if err != nil || dirErr != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return abs
}
