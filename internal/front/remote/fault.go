package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

// A fault is why ssh could not run ralph on a host.
type fault struct {
	host, cause, next string
	passing           bool // it may be over in a while
}

func (f *fault) Error() string { return f.host + ": " + f.cause }

// Hint is the next step.
func (f *fault) Hint() string { return f.next }

// faults are what OpenSSH says, with what it means here. HOST is the host's name. The first row
// counts whose text is in the message.
var faults = []struct {
	text        string
	cause, next string
	passing     bool
}{
	{"IDENTIFICATION HAS CHANGED", "its host key is another one than before", "if that is expected, 'ssh-keygen -R HOST' forgets the old one; then 'ssh HOST' once", false},
	{"Host key verification failed", "its host key is not known here", "'ssh HOST' once: it shows the key, and asks whether it is right", false},
	{"Permission denied", "it refuses the login", "'ssh HOST true' has to work, without a terminal also without a question: 'ssh-add', or 'ssh-copy-id HOST'", false},
	{"Too many authentication failures", "it refuses the login", "name the key for it in ~/.ssh/config: IdentityFile, with IdentitiesOnly yes", false},
	{"Could not resolve hostname", "there is no host of that name", "name one that 'ssh HOST' reaches: a Host of ~/.ssh/config, or a name of the network; quotes around all of a text keep its first word from being read as one", true},
	{"Connection refused", "nothing takes connections of ssh there", "see whether sshd runs there, and on which port", true},
	{"No route to host", "there is no way to it", "see whether it is switched on, and in the same network", true},
	{"unreachable", "there is no way to it", "see whether this machine has a network, and whether the host is in it", true},
	{"timed out", "it does not answer", "see whether it is switched on, and whether a firewall lets ssh through", true},
	{"Bad configuration option", "the settings of ssh cannot be read", "'ssh HOST true' says which line it is", false},
}

// faultOf explains the exit code and the messages of ssh.
func faultOf(host string, code int, messages string) *fault {
	f := &fault{host: host, cause: "the connection ended", next: "'ssh HOST true' shows whether it can be reached", passing: true}
	for line := range strings.Lines(messages) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "ControlSocket ") { // it connects by itself then
			f.cause = strings.TrimPrefix(line, "ssh: ")
		}
	}
	for _, row := range faults {
		if strings.Contains(messages, row.text) {
			f.cause, f.next, f.passing = row.cause, row.next, row.passing
			break
		}
	}
	if code == notFound {
		f.cause, f.passing = "it has no program ralph on the PATH of a shell that is no login shell", false
		f.next = "install ralph there, or link it into a folder of that PATH, which 'ssh HOST printenv PATH' prints"
	}
	f.next = strings.ReplaceAll(f.next, "HOST", host)
	return f
}

// refused is that ralph there did not do what it was called for.
type refused struct {
	host string
	code int
	text string // what it printed to stderr
}

func (r *refused) Error() string {
	return fmt.Sprintf("%s: ralph there: %s", r.host, r.said("error: "))
}

// Hint is the next step that ralph there names.
func (r *refused) Hint() string { return r.said("hint: ") }

// said is the message of ralph there that begins so, else, for an error, all that was printed.
func (r *refused) said(begin string) string {
	for line := range strings.Lines(r.text) {
		if _, text, found := strings.Cut(line, "ralph: "+begin); found {
			return strings.TrimSpace(text)
		}
	}
	if begin != "error: " {
		return ""
	}
	if text := strings.TrimSpace(r.text); text != "" {
		return text
	}
	return fmt.Sprintf("exit code %d", r.code)
}

// differs says that the host has another version of ralph, if it has: what one knows, the other may
// not.
func (h *Host) differs(ctx context.Context) string {
	text, err := h.output(ctx, true, "version", "--json")
	var there cli.About
	if err != nil || json.Unmarshal(bytes.TrimSpace(text), &there) != nil {
		return fmt.Sprintf("%s has a ralph that does not say its version, and this is %s: it may lack what this one uses", h.Name, cli.BuildVersion())
	}
	here := cli.AboutRalph()
	if there.Version == here.Version && there.Commit == here.Commit {
		return ""
	}
	return fmt.Sprintf("%s has ralph %s, and this is %s: one may lack what the other uses", h.Name, named(there), named(here))
}

// unreadable is the error of an answer that this version cannot read.
func (h *Host) unreadable(ctx context.Context, err error) error {
	return cli.Failed(h.differs(ctx), "%s: what ralph there answers cannot be read: %w", h.Name, err)
}

func named(a cli.About) string {
	if a.Commit == "" || a.Version != "dev" {
		return a.Version
	}
	return a.Version + " (" + a.Commit[:min(len(a.Commit), 12)] + ")"
}

// explained adds to an error of ralph there that the versions differ, if that may be its cause.
func (h *Host) explained(ctx context.Context, err error) error {
	r, ok := errors.AsType[*refused](err)
	if !ok {
		return err
	}
	next := r.Hint()
	if r.code == event.ExitUsage {
		if differs := h.differs(ctx); differs != "" {
			next = strings.TrimPrefix(next+"; "+differs, "; ")
		}
	}
	return &cli.Failure{Err: r, Code: r.code, NextStep: next}
}
