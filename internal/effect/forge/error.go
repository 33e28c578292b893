package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

var (
	// ErrNotInstalled: the program is not on the PATH.
	ErrNotInstalled = errors.New("it is not installed")
	// ErrLogin: the program has no login, or one that the server does not accept.
	ErrLogin = errors.New("it is not logged in")
	// ErrNotFound: there is no such issue, pull request or repository, or the login may not see
	// it.
	ErrNotFound = errors.New("not found")
	// ErrNoRemote: no remote of the repository is on GitHub or GitLab.
	ErrNoRemote = errors.New("no remote of this repository is on GitHub or GitLab")
	// ErrRateLimited: the server takes no more requests for a time.
	ErrRateLimited = errors.New("the server takes no more requests for now")
	// ErrUnreachable: the server could not be reached, or did not answer in time.
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrTooMuch: the program prints more than is read.
	ErrTooMuch = errors.New("more was printed than is read")
	// ErrNoChanges: the branch has no commit that its base does not have.
	ErrNoChanges = errors.New("the branch has no commits of its own")
	// ErrSameBranch: the branch is the one that it would be merged into.
	ErrSameBranch = errors.New("the branch is the one that it would be merged into")
	// ErrReference: a text names no issue.
	ErrReference = errors.New("neither the number nor the address of an issue")
)

// An Error is a call of gh or glab that failed, or that was not made for the reason in Err.
type Error struct {
	Doing  string // such as "gh issue view"
	Output string // the end of what the program printed, which may be foreign text; at most 16 KiB
	Err    error

	hint string
}

func (e *Error) Error() string {
	text := e.Doing + ": " + e.Err.Error()
	if last := units.Cut(line(lastLine(e.Output)), maxShown); last != "" {
		text += ": " + last
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Hint is the next step, if one is known.
func (e *Error) Hint() string { return e.hint }

const maxShown = 200 // characters of a line inside an error

// lastLine returns the line that says what was wrong, which is the first one that gh prints and
// the last one that glab prints. Advice is in the lines around it.
func lastLine(output string) string {
	var lines []string
	for l := range strings.Lines(output) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	for _, l := range lines {
		for _, mark := range []string{"GraphQL:", "HTTP 4", "HTTP 5", "ERROR", "error", "failed", "no ", "not "} {
			if strings.Contains(l, mark) {
				return l
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// ghNoLogin is the exit status of gh without a login (internal/ghcmd/cmd.go there, exitAuth).
const ghNoLogin = 4

// symptoms are texts of gh and glab, and what they mean. The first that is found counts.
var symptoms = []struct {
	in   []string // in lower case
	kind error
	hint string // %s is the program
}{
	{[]string{"none of the git remotes", "no git remotes found", "not a git repository", "remotes are not configured", "no remotes found"}, ErrNoRemote,
		"give the address of the issue, or add a remote; '%s auth login' makes a host of your own known"},
	{[]string{"rate limit", "http 429", "429 too many", "secondary rate", "abuse detection"}, ErrRateLimited, "try again later"},
	{[]string{"http 401", "401 unauthorized", "401 {", "bad credentials", "auth login", "authentication required",
		"token is expired", "token was revoked", "no token"}, ErrLogin,
		"say '%s auth login' in a terminal, then try again"},
	{[]string{"no commits between", "must have at least one commit"}, ErrNoChanges, "commit first"},
	{[]string{"is the same as base branch", "must be on a different branch"}, ErrSameBranch, "work on a branch of its own: 'git switch -c NAME'"},
	{[]string{"could not resolve to a", "http 404", "404 not found", "404 {", "404 project not found"}, ErrNotFound,
		"check the number and the repository; a private one needs a login that may read it: '%s auth status'"},
	{[]string{"error connecting to", "dial tcp", "no such host", "connection refused", "i/o timeout", "tls handshake",
		"http 502", "http 503", "502 bad gateway", "503 service"}, ErrUnreachable,
		"try again once the server can be reached"},
	{[]string{"unknown flag", "unknown command", "unknown json field", "unknown shorthand"}, nil, "update %s: this version does not know what ralph asks"},
}

// diagnose makes an error of what a program printed.
func diagnose(name program, doing, said string, code int, err error) error {
	e := &Error{Doing: doing, Output: said, Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Err, e.hint = fmt.Errorf("%w: %w", ErrUnreachable, err), "try again once the server can be reached"
		return e
	}
	text := strings.ToLower(said)
	if name == gh && code == ghNoLogin {
		text = "auth login"
	}
	for _, s := range symptoms {
		for _, in := range s.in {
			if !strings.Contains(text, in) {
				continue
			}
			if s.kind != nil {
				e.Err = fmt.Errorf("%w (%w)", s.kind, err)
			}
			e.hint = strings.ReplaceAll(s.hint, "%s", string(name))
			return e
		}
	}
	return e
}

// RefuseBranch is the error of a branch that a pull request cannot be made of, because it is the
// one that others begin from.
func RefuseBranch(branch string) error {
	return &Error{Doing: "make a pull request", Err: fmt.Errorf("%w: %.100s", ErrSameBranch, branch), hint: "work on a branch of its own: 'git switch -c NAME'"}
}

// Installed reports whether one of the two programs is on the PATH of this process.
func Installed() bool { return installed(gh) || installed(glab) }

func notInstalled(name program) string {
	if name == gh {
		return "install GitHub's program gh, then say 'gh auth login'"
	}
	return "install GitLab's program glab, then say 'glab auth login'"
}
