package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Start says which loop is started. What is left out is as the settings of the project have it.
type Start struct {
	Project string // the folder that the agent works in; empty for the current one
	Name    string // of a new loop; empty for the git branch's, or the folder's
	// Numbered lets a number follow the name where another loop has it.
	Numbered bool
	ID       string // of a new loop, as NewID makes it; empty for one that is made
	Prompt   string // of every iteration; empty with Flags that say where it is
	Agent    string // its name in the settings, or its command, such as claude
	Model    string // in the agent's own spelling
	// Iterations at most; 0 leaves the settings' number.
	Iterations int
	Set        map[string]string // other settings, such as limits.cost
	Flags      []string          // other flags of 'ralph start', such as --worktree

	// Program is the ralph that runs; empty for the one in PATH. Env is its environment; nil for
	// that of this process.
	Program string
	Env     []string
	// Notes gets what the program says besides, a line each, such as what holds the agent back.
	Notes io.Writer
}

// A ProgramError is what 'ralph' reported instead of doing what it was asked for.
type ProgramError struct {
	Code int    // its exit code: 2 for what was asked, 3 for a failure
	Text string // what it said, without its hint
	Hint string // the next step for a person; may be empty
}

func (e *ProgramError) Error() string { return e.Text }

// NewID makes an id, which no other loop has, for a loop that is started later.
func NewID(now time.Time) string { return ulid.MustNew(ulid.Timestamp(now), rand.Reader).String() }

// Start runs the program, which starts a detached runner, and returns the loop once its agent runs
// or the loop has ended. The loop lives on when this process ends. No person is asked: what needs a
// person's word, such as trust in the settings of a project, is a *ProgramError, as every refusal
// is. If ctx ends meanwhile, the loop may have been started.
func (s Start) Start(ctx context.Context) (registry.Status, error) {
	args := []string{"start", "--detach", "--json"}
	if s.Name != "" {
		args = append(args, s.Name)
	}
	if s.Numbered {
		args = append(args, "--numbered")
	}
	if s.ID != "" {
		args = append(args, "--id="+s.ID)
	}
	return s.run(ctx, append(args, s.flags()...))
}

// Resume continues a loop that has ended or whose runner died, with the prompt that it has.
// Project, Name, ID and Prompt do not count. A limit that ended the loop has to be raised by
// Iterations or Set. A loop that has nothing left to do ends at once: its Head says so.
func (s Start) Resume(ctx context.Context, loop registry.Status) (registry.Status, error) {
	s.Project, s.Prompt = loop.Project, ""
	return s.run(ctx, append([]string{"start", "--detach", "--json", "--resume", loop.Dir}, s.flags()...))
}

// flags are those of the fields. A value is in the word of its flag, so that none is taken for a
// flag itself. The prompt is on stdin: a word of a command line has a limit, and others see it.
func (s Start) flags() (flags []string) {
	if s.Prompt != "" {
		flags = append(flags, "--prompt=-")
	}
	for _, f := range []struct{ name, value string }{{"agent", s.Agent}, {"model", s.Model}} {
		if f.value != "" {
			flags = append(flags, "--"+f.name+"="+f.value)
		}
	}
	if s.Iterations > 0 {
		flags = append(flags, "--maximum-iterations="+strconv.Itoa(s.Iterations))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Set)) {
		flags = append(flags, "--set="+key+"="+s.Set[key])
	}
	return append(flags, s.Flags...)
}

// mostSaid is how much of what the program says is read.
const mostSaid = 64 << 10

// run runs the program and finds the loop that it names.
func (s Start) run(ctx context.Context, args []string) (registry.Status, error) {
	// A file, not a pipe: the runner has it too until it has opened its log. It would keep a pipe
	// open, and a closed one would end it.
	problem, err := os.CreateTemp("", "ralph-start-")
	if err != nil {
		return registry.Status{}, fmt.Errorf("keep what ralph says: %w", err)
	}
	defer problem.Close()
	defer os.Remove(problem.Name())
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, cmp.Or(s.Program, "ralph"), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Project, s.Env, &out, problem
	cmd.Args[0], cmd.Stdin = "ralph", strings.NewReader(s.Prompt)
	err = cmd.Run()
	text, unread := io.ReadAll(io.NewSectionReader(problem, 0, mostSaid))
	if unread != nil {
		return registry.Status{}, fmt.Errorf("read what ralph said: %w", unread)
	}
	said, notes := programError(string(text))
	if s.Notes != nil {
		for _, note := range notes {
			fmt.Fprintln(s.Notes, note)
		}
	}
	if err != nil {
		if exited, ok := errors.AsType[*exec.ExitError](err); ok && exited.Exited() {
			said.Code = exited.ExitCode()
			said.Text = cmp.Or(said.Text, fmt.Sprintf("ralph ended with exit code %d", said.Code))
			return registry.Status{}, said
		}
		return registry.Status{}, fmt.Errorf("run %s: %w", cmd.Path, cmp.Or(context.Cause(ctx), err))
	}
	var started struct {
		Dir   string           `json:"dir"`
		Ended *event.LoopEnded `json:"ended"`
	}
	if err := json.Unmarshal(out.Bytes(), &started); err != nil {
		return registry.Status{}, fmt.Errorf("read what %s printed: %w", cmd.Path, err)
	}
	loop, err := At(started.Dir)
	if err == nil && started.Ended != nil {
		loop.Head.Status, loop.Head.Reason = started.Ended.Status, string(started.Ended.Reason)
	}
	return loop, err
}

// programError takes what the program printed on stderr apart: the error with its hint, and notes.
func programError(text string) (e *ProgramError, notes []string) {
	e = &ProgramError{}
	failed := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if hint, ok := strings.CutPrefix(line, "ralph: hint: "); ok && failed {
			e.Hint = hint
			continue
		}
		said, first := strings.CutPrefix(line, "ralph: error: ")
		failed = failed || first
		switch {
		case first:
			e.Text = said
		case failed:
			e.Text += "\n" + said
		default:
			notes = append(notes, line)
		}
	}
	return e, notes
}
