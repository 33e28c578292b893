package repo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/units"
)

const (
	// readTime bounds one snapshot, all of its calls together.
	readTime = time.Minute
	// readGrace is the time between TERM and KILL for a git that only reads.
	readGrace = 500 * time.Millisecond
	// maxOutput bounds in bytes what one call may print: the names of a million files.
	maxOutput = 64 << 20
	// maxFilters bounds the filters that are switched off, each by its name.
	maxFilters = 256
)

// A git is the user's git in one folder, asked for facts. What it is asked can come from a
// repository that another person has made or an agent has changed, so it starts no program that the
// repository names and reaches for nothing outside. [command] runs what is done for the user, with
// all of the user's own settings.
type git struct {
	argv  []string // what every command begins with
	env   []string
	dir   string
	limit time.Duration // of one call; readTime where zero
}

// gitIn is the git that is asked for facts, with an environment or with this process's.
func gitIn(dir string, env ...string) git {
	return git{argv: []string{"git"}, env: environment(env), dir: dir}
}

func (g git) in(dir string) git {
	g.dir = dir
	return g
}

// inertOptions are the settings under which git starts no program for a question. They stand before
// the command, so they count more than what any file says. --no-ext-diff and --no-textconv stand
// with the commands that compare; filters are switched off in [git.withoutFilters].
var inertOptions = []string{
	"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.askPass=",
	"-c", "core.sshCommand=false", "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "log.showSignature=false",
}

// inertEnv is the part of it that stands in the environment. A lock that another git would miss is
// not taken; objects that a partial clone lacks are not fetched, in a git before 2.44 because no
// protocol is allowed; and git answers in English, because some answers differ by their
// words only.
var inertEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_SSH_COMMAND=false", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
	"LC_ALL=C",
}

// read returns what a git command prints.
func (g git) read(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := bounded(ctx, cmp.Or(g.limit, readTime))
	defer cancel()
	out, errs := process.Head{Max: maxOutput, Fail: true}, process.Tail{Max: maxTail}
	err := run(ctx, process.Command{
		Argv: slices.Concat(g.argv, inertOptions, args), Dir: g.dir, Stdout: &out, Stderr: &errs, Grace: readGrace,
		Env: append(slices.Clip(g.env), inertEnv...),
	})
	if out.Over {
		err = ErrTooMuch
	}
	if err != nil {
		return nil, readError(strings.Join(append(slices.Clone(g.argv), args[0]), " "), errs.String(), err)
	}
	return out.Bytes(), nil
}

// bounded limits the time of one snapshot.
func bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %s: %w", units.Plain(limit), context.DeadlineExceeded))
}

// line is read for answers of one line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.read(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// withoutFilters returns a git that takes files as they lie on the disk, also where a filter is set
// for them (gitattributes(5), "filter"). Without that a comparison would run the filter's program.
// A file that has a filter, and of which the index does not know by size and times that it is the
// same, is taken for changed: only the program knows. git 2.31 or later; an earlier one runs
// them, within the snapshot's time.
func (g git) withoutFilters(ctx context.Context) (git, error) {
	out, err := g.read(ctx, "config", "-z", "--name-only", "--get-regexp", `^filter\.`)
	if err != nil && exitCode(err) != 1 {
		return g, err
	}
	var names []string
	for key := range bytes.SplitSeq(out, []byte{0}) {
		rest, ok := strings.CutPrefix(string(key), "filter.")
		if last := strings.LastIndexByte(rest, '.'); ok && last >= 0 {
			names = append(names, rest[:last])
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxFilters {
		return g, &Error{Doing: "git config", Err: fmt.Errorf("%d filters are set: %w", len(names), ErrTooMuch)}
	}
	if len(names) == 0 {
		return g, nil
	}
	var settings [][2]string
	for _, name := range names {
		filter := "filter." + name
		settings = append(settings, [2]string{filter + ".process"}, [2]string{filter + ".clean"}, [2]string{filter + ".required", "false"})
	}
	g.env = configured(g.env, settings)
	return g, nil
}

// configured adds settings to an environment, where their names may hold any character
// (git-config(1), GIT_CONFIG_COUNT).
func configured(env []string, settings [][2]string) []string {
	const countOf = "GIT_CONFIG_COUNT="
	n := 0
	for _, entry := range env {
		if count, ok := strings.CutPrefix(entry, countOf); ok {
			n, _ = strconv.Atoi(count) // what is no number git refuses itself
		}
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, countOf) })
	for _, setting := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, setting[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, setting[1]))
		n++
	}
	return append(env, countOf+strconv.Itoa(n))
}
