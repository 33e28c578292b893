package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	defaultTimeout = time.Minute
	grace          = 2 * time.Second
	maxOutput      = 8 << 20  // bytes of one answer
	maxTail        = 16 << 10 // bytes of output that an error carries
)

// Place says where the programs run.
type Place struct {
	Dir string   // a folder in the work tree
	Env []string // "NAME=value"; nil means this process's own
	// Remotes are the addresses of the repository's remotes, the preferred one first. They decide
	// whether it is on GitHub or on GitLab.
	Remotes []string
	Timeout time.Duration // of each call; 0 means one minute
}

// program is one of the two programs.
type program string

const (
	gh   program = "gh"
	glab program = "glab"
)

// quiet are the variables with which the programs ask nothing, colour nothing and look for no
// update.
var quiet = []string{
	"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_NO_EXTENSION_UPDATE_NOTIFIER=1", "GH_SPINNER_DISABLED=1", "GH_PAGER=cat",
	"NO_PROMPT=1", "GLAB_CHECK_UPDATE=false", "GLAB_SEND_TELEMETRY=false", "GLAB_PAGER=cat", "PAGER=cat",
	"NO_COLOR=1", "GIT_TERMINAL_PROMPT=0",
}

// misleading are the variables that change what the programs print, or with which git uses another
// repository than that of the folder.
var misleading = []string{
	"GH_FORCE_TTY", "GH_DEBUG", "DEBUG", "CLICOLOR_FORCE", "GLAB_DEBUG_HTTP",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
}

func (at Place) environment() []string {
	env := at.Env
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(misleading, name)
	})
	return append(env, quiet...)
}

// variable returns the value of a variable of the environment.
func (at Place) variable(name string) string {
	value := ""
	for _, entry := range at.environment() {
		if key, v, ok := strings.Cut(entry, "="); ok && key == name {
			value = v
		}
	}
	return value
}

// run runs a program and returns what it prints on its standard output.
func (at Place) run(ctx context.Context, stdin string, name program, args ...string) ([]byte, error) {
	limit := at.Timeout
	if limit == 0 {
		limit = defaultTimeout
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer after %s: %w", units.Plain(limit), context.DeadlineExceeded))
	defer cancel()
	out, errs := process.Head{Max: maxOutput, Fail: true}, process.Tail{Max: maxTail}
	exit, err := process.Run(limited, process.Command{
		Argv: append([]string{string(name)}, args...), Dir: at.Dir, Env: at.environment(), Stdin: []byte(stdin),
		Stdout: &out, Stderr: &errs, Grace: grace, Session: true,
	})
	if err == nil {
		err = exit.Failure()
	}
	doing := string(name) + " " + strings.Join(args[:min(2, len(args))], " ")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, &Error{Doing: doing, Err: fmt.Errorf("%s: %w", name, ErrNotInstalled), hint: notInstalled(name)}
	case out.Over:
		return nil, &Error{Doing: doing, Err: fmt.Errorf("%w: %s", ErrTooMuch, units.Bytes(maxOutput)), hint: "hide or remove very long comments there"}
	case err != nil:
		said := errs.String()
		if said == "" {
			said = units.Prefix(strings.TrimSpace(string(out.Bytes())), maxTail)
		}
		return nil, diagnose(name, doing, said, exit.Code, err)
	}
	return out.Bytes(), nil
}

// read runs a program and decodes the JSON that it prints.
func (at Place) read(ctx context.Context, into any, name program, args ...string) error {
	out, err := at.run(ctx, "", name, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		doing := string(name) + " " + strings.Join(args[:min(2, len(args))], " ")
		return &Error{Doing: doing, Output: string(units.Prefix(out, 400)),
			Err: fmt.Errorf("its answer is not what ralph expects: %w", err), hint: "update " + string(name)}
	}
	return nil
}

// installed reports whether a program is on the PATH of this process.
func installed(name program) bool {
	_, err := exec.LookPath(string(name))
	return err == nil
}
