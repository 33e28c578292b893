package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Failure is an error with the exit code and the next step.
type Failure struct {
	Err      error
	Code     int
	NextStep string
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

func (f *Failure) Hint() string { return f.NextStep }

// Refusal is the error of the program that was run for a verb, with its next step and exit code.
func Refusal(err error) error {
	if said, ok := errors.AsType[*client.ProgramError](err); ok {
		return &Failure{Err: said, Code: said.Code, NextStep: said.Hint}
	}
	return err
}

// Exit ends the program with a code and without a message.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Refuse is a usage error with its next step.
func Refuse(hint, format string, args ...any) error {
	return &Failure{Err: fmt.Errorf(format, args...), Code: event.ExitUsage, NextStep: hint}
}

// RefuseHinted is a usage error with the hint that an error has of its own.
func RefuseHinted(err interface {
	error
	Hint() string
}) error {
	return &Failure{Err: err, Code: event.ExitUsage, NextStep: err.Hint()}
}

// Failed is an error that is not about usage, with its next step.
func Failed(hint, format string, args ...any) error {
	return &Failure{Err: fmt.Errorf(format, args...), Code: event.ExitFailed, NextStep: hint}
}

// Report prints an error and returns the exit code.
func Report(w io.Writer, err error) int {
	if err == nil {
		return event.ExitCompleted
	}
	if silent, ok := errors.AsType[Exit](err); ok {
		return int(silent)
	}
	Tell(w, "error: %v", err)
	if step := nextStep(err); step != "" {
		Tell(w, "hint: %s", step)
	}
	return ExitCode(err)
}

// nextStep is the hint of an error. A full disk has one of its own, whatever was being done; a
// folder that cannot be written or is missing has one where the error has none.
func nextStep(err error) string {
	var hinted interface{ Hint() string }
	is := func(causes ...error) bool {
		return slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
	}
	switch {
	case is(syscall.ENOSPC, syscall.EDQUOT):
		return "the disk is full, or your quota is: free some space there, then do it again"
	case errors.As(err, &hinted) && hinted.Hint() != "":
		return hinted.Hint()
	case is(syscall.EROFS):
		return "that file system is read-only: name another folder, or mount it writable"
	case is(fs.ErrNotExist, syscall.ENOTDIR):
		return "name a file or a folder that is there"
	case is(fs.ErrPermission):
		return "you may not do that there: change the permissions, or name another place"
	}
	return ""
}

// Tell prints a message on stderr. It may contain an agent's last words, a project's settings or
// names of files: control characters are removed, and lines after the first are indented, so that
// none of them looks like a message of ralph's. A detached runner's stderr is a file, so secrets
// are masked.
func Tell(w io.Writer, format string, args ...any) {
	text, _ := ownSecrets().Text(fmt.Appendf(nil, format, args...))
	lines := strings.Split(Clean(string(text)), "\n")
	for i, line := range lines[1:] {
		if line != "" && line[0] != ' ' {
			lines[i+1] = "  " + line
		}
	}
	fmt.Fprintf(w, "ralph: %s\n", strings.Join(lines, "\n"))
}

// ownSecrets are those of this process's environment.
var ownSecrets = sync.OnceValue(func() *redact.Redactor { return redact.New(os.Environ()) })

// Clean returns foreign text for a terminal, with the lines that it has.
func Clean(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = render.Clean(line)
	}
	return strings.Join(lines, "\n")
}

// ExitCode of an error: that of its failure; 2 if a person has to change a file or the command
// line; else 3.
func ExitCode(err error) int {
	if f, ok := errors.AsType[*Failure](err); ok && f.Code != 0 {
		return f.Code
	}
	if usageError(err) {
		return event.ExitUsage
	}
	return event.ExitFailed
}

// usageError reports whether a person has to change something to get further.
func usageError(err error) bool {
	for _, kind := range []any{new(*config.Error), new(*registry.NameError), new(interface{ Usage() })} {
		if errors.As(err, kind) {
			return true
		}
	}
	return false
}

// AsTyped writes a command line as one would type it. It is complete, for a person who wonders how
// an agent was started.
func AsTyped(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\$`*?;&|<>(){}[]#~") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
