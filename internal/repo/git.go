package repo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
)

const (
	// lookTime is how long one look may take, all of its calls together.
	lookTime = time.Minute
	// lookGrace is how long a git that only looks has between TERM and KILL.
	lookGrace = 500 * time.Millisecond
	// maxOutput bounds in bytes what one call may print: the names of a million files.
	maxOutput = 64 << 20
	// maxFilters bounds the filters that are switched off, each by its name.
	maxFilters = 256
)

// A git is the user's git in one folder, asked for facts. What it is asked can come from a repository that somebody else has
// made or an agent has changed, so it starts no program that the repository names and reaches for nothing outside.
// [command] runs what is done for the user, with all of the user's own settings.
type git struct {
	words []string // what every command begins with
	env   []string
	dir   string
	limit time.Duration // of one call; lookTime where zero
}

// here is the git that is asked for facts, with an environment or with this process's.
func here(dir string, env ...string) git {
	return git{words: []string{"git"}, env: environment(env), dir: dir}
}

func (g git) in(dir string) git {
	g.dir = dir
	return g
}

// inert are the settings under which git starts no program for a question. They stand before the command, so they
// count more than what any file says. --no-ext-diff and --no-textconv stand with the commands that compare; filters
// are switched off in [git.withoutFilters].
var inert = []string{
	"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.askPass=",
	"-c", "core.sshCommand=false", "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "log.showSignature=false",
}

// inertEnv is the part of it that stands in the environment. A lock that another git would miss is not taken; objects that a partial
// clone lacks are not fetched, in a git before 2.44 because no protocol is allowed; and git answers in English, because some
// answers can be told apart by their words only.
var inertEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_SSH_COMMAND=false", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
	"LC_ALL=C",
}

// read returns what a git command prints.
func (g git) read(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := bounded(ctx, cmp.Or(g.limit, lookTime))
	defer cancel()
	out, errs := capped{most: maxOutput}, tail{}
	err := command{
		argv: slices.Concat(g.words, inert, args), dir: g.dir, out: &out, errs: &errs, patience: lookGrace, alone: true,
		env: append(slices.Clip(g.env), inertEnv...),
	}.run(ctx)
	if out.over {
		err = ErrTooMuch
	}
	if err != nil {
		return nil, readError(strings.Join(append(slices.Clone(g.words), args[0]), " "), errs.String(), err)
	}
	return out.kept.Bytes(), nil
}

// bounded gives a look its time.
func bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %s: %w", units.Plain(limit), context.DeadlineExceeded))
}

// line is read for answers of one line.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.read(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// withoutFilters returns a git that takes files as they lie on the disk, also where a filter is set for them
// (gitattributes(5), "filter"). Without that a comparison would run the filter's program. A file that has a filter, and of which the
// index does not know by size and times that it is the same, is taken for changed: only the program could tell.
// git 2.31 or later; an earlier one runs them, within the look's time.
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
	g.env = slices.Clone(g.env)
	for _, name := range names {
		g.env = configured(g.env, "filter."+name+".process", "")
		g.env = configured(g.env, "filter."+name+".clean", "")
		g.env = configured(g.env, "filter."+name+".required", "false")
	}
	return g, nil
}

// configured adds a setting to an environment, where its name may hold any character (git-config(1), GIT_CONFIG_COUNT).
func configured(env []string, key, value string) []string {
	const countOf = "GIT_CONFIG_COUNT="
	n := 0
	for _, entry := range env {
		if count, ok := strings.CutPrefix(entry, countOf); ok {
			n, _ = strconv.Atoi(count) // what is no number git refuses itself
		}
	}
	at := strconv.Itoa(n)
	env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, countOf) })
	return append(env, "GIT_CONFIG_KEY_"+at+"="+key, "GIT_CONFIG_VALUE_"+at+"="+value, countOf+strconv.Itoa(n+1))
}

// capped keeps what is written to it up to a size.
type capped struct {
	kept bytes.Buffer
	most int
	over bool
}

var errFull = errors.New("the room for it is used up")

func (c *capped) Write(p []byte) (int, error) {
	if c.kept.Len()+len(p) > c.most {
		c.over = true
		return 0, errFull // its writer is told by a closed pipe
	}
	return c.kept.Write(p)
}
