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

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	// ReadTime bounds one snapshot, all of its calls together.
	ReadTime = time.Minute
	// readGrace is the time between TERM and KILL for a git that only reads.
	readGrace = 500 * time.Millisecond
	// maxOutput limits the output of one call, in bytes: the names of a million files.
	maxOutput = 64 << 20
	// maxFilters limits the filters that are switched off, each by its name.
	maxFilters = 256
)

// A Git asks the user's git for facts in one folder. Another person may have made the repository,
// or an agent changed it, so this git starts no program that the repository names and fetches
// nothing. [command] runs tasks for the user, with all of the user's own settings.
type Git struct {
	argv  []string // the beginning of every command
	Env   []string
	Dir   string
	Limit time.Duration // of one call; 0 means ReadTime
}

// In returns a git for facts, with the environment env or else this process's.
func In(dir string, env ...string) Git {
	return Git{argv: []string{"git"}, Env: environment(env), Dir: dir}
}

func (g Git) In(dir string) Git {
	g.Dir = dir
	return g
}

// inertOptions are the settings with which git starts no other program. They come before the
// command, so they override all files. The commands that compare get --no-ext-diff and
// --no-textconv; [Git.WithoutFilters] switches off filters.
var inertOptions = []string{
	"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.askPass=",
	"-c", "core.sshCommand=false", "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "log.showSignature=false",
}

// inertEnv are the settings in the environment. git takes no optional lock; it does not fetch
// objects that a partial clone lacks, before 2.44 because no protocol is allowed; and it answers in
// English, because some answers differ only in their words.
var inertEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_SSH_COMMAND=false", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
	"LC_ALL=C",
}

// Read returns what a git command prints.
func (g Git) Read(ctx context.Context, args ...string) ([]byte, error) {
	return g.Feed(ctx, nil, args...)
}

// ReadFailed is read for a command whose output also counts with one other exit code.
func (g Git) ReadFailed(ctx context.Context, code int, args ...string) ([]byte, error) {
	out, err := g.call(ctx, nil, args)
	if ExitCode(err) == code {
		err = nil
	}
	return out, err
}

// Feed is read for a command that reads input.
func (g Git) Feed(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	out, err := g.call(ctx, input, args)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// call runs a git command. What it printed comes with an error, too.
func (g Git) call(ctx context.Context, input []byte, args []string) ([]byte, error) {
	ctx, cancel := Bounded(ctx, cmp.Or(g.Limit, ReadTime))
	defer cancel()
	out, errs := process.Head{Max: maxOutput, Fail: true}, process.Tail{Max: maxTail}
	err := run(ctx, process.Command{
		Argv: slices.Concat(g.argv, inertOptions, args), Dir: g.Dir, Stdin: input, Stdout: &out, Stderr: &errs, Grace: readGrace,
		Env: append(slices.Clip(g.Env), inertEnv...),
	})
	if out.Over {
		err = ErrTooMuch
	}
	if err != nil {
		err = readError(strings.Join(append(slices.Clone(g.argv), args[0]), " "), errs.String(), err)
	}
	return out.Bytes(), err
}

// Bounded limits the time of one snapshot.
func Bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %s: %w", units.Plain(limit), context.DeadlineExceeded))
}

// Line returns an answer of one line.
func (g Git) Line(ctx context.Context, args ...string) (string, error) {
	out, err := g.Read(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// ownIdentity is that of commits which no branch has, and of others where git does not know a
// person.
var ownIdentity = []string{
	"GIT_AUTHOR_NAME=ralph", "GIT_AUTHOR_EMAIL=ralph@localhost", "GIT_COMMITTER_NAME=ralph", "GIT_COMMITTER_EMAIL=ralph@localhost",
}

// WithOwnIdentity returns a git whose commits are ralph's.
func (g Git) WithOwnIdentity() Git {
	g.Env = append(slices.Clip(g.Env), ownIdentity...)
	return g
}

// CommitTree makes a commit of a tree, which no branch has.
func (g Git) CommitTree(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree"}, parents...)
	out, err := g.Feed(ctx, []byte(message+"\n"), append(args, tree)...)
	return strings.TrimSpace(string(out)), err
}

// WithoutFilters returns a git that reads files as they are on the disk, even if a filter is set
// for them (gitattributes(5), "filter"), because a comparison would run the filter's program. A
// file with a filter counts as changed unless its size and times are as in the index: only the
// program knows. It needs git 2.31; an earlier one runs the filters, within the snapshot's time.
func (g Git) WithoutFilters(ctx context.Context) (Git, error) {
	names, _, err := g.Filters(ctx)
	if err != nil || len(names) == 0 {
		return g, err
	}
	var settings [][2]string
	for _, name := range names {
		filter := "filter." + name
		settings = append(settings, [2]string{filter + ".process"}, [2]string{filter + ".clean"},
			[2]string{filter + ".smudge"}, [2]string{filter + ".required", "false"})
	}
	return g.Configured(settings), nil
}

// Filters returns the names of the filters that are set, sorted. excludes says that a file with
// rules for ignored files is set too.
func (g Git) Filters(ctx context.Context) (names []string, excludes bool, err error) {
	out, err := g.Read(ctx, "config", "-z", "--name-only", "--get-regexp", `^(filter\.|core\.excludesfile$)`)
	if err != nil && ExitCode(err) != 1 {
		return nil, false, err
	}
	for key := range bytes.SplitSeq(out, []byte{0}) {
		rest, ok := strings.CutPrefix(string(key), "filter.")
		if last := strings.LastIndexByte(rest, '.'); ok && last >= 0 {
			names = append(names, rest[:last])
		}
		excludes = excludes || string(key) == "core.excludesfile"
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxFilters {
		return nil, false, &Error{Doing: "git config", Err: fmt.Errorf("%d filters are set: %w", len(names), ErrTooMuch)}
	}
	return names, excludes, nil
}

// Configured returns a git with more settings. They are in the environment, where their names may
// contain any character (git-config(1), GIT_CONFIG_COUNT).
func (g Git) Configured(settings [][2]string) Git {
	const countOf = "GIT_CONFIG_COUNT="
	n := 0
	for _, entry := range g.Env {
		if count, ok := strings.CutPrefix(entry, countOf); ok {
			n, _ = strconv.Atoi(count) // git itself refuses what is no number
		}
	}
	env := slices.DeleteFunc(slices.Clone(g.Env), func(entry string) bool { return strings.HasPrefix(entry, countOf) })
	for _, setting := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, setting[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, setting[1]))
		n++
	}
	g.Env = append(env, countOf+strconv.Itoa(n))
	return g
}
