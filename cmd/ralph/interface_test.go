//go:build unix

package main

import (
	"flag"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
)

// The proofs of what the guide promises about the full screen: the built program in a
// pseudo-terminal. They need an otherwise idle machine and minutes, so they run with 'make
// interface' only.
var (
	interfaceProofs  = flag.Bool("interface", false, "run the proofs of the full screen")
	interfaceJournal = flag.Int64("interface.journal", 1<<10, "the journal of the proofs about long loops, in MB")
)

// Keys, besides those of the other tests.
const (
	ctrlF    = "\x06"
	ctrlHome = "\x1b[1;5H"
	ctrlEnd  = "\x1b[1;5F"
	pageUp   = "\x1b[5~"
	pageDown = "\x1b[6~"
)

// leaveToInterface skips a test that takes seconds, with -short: 'make interface' runs it.
func leaveToInterface(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds: make interface")
	}
}

// stage is the built program, with a home and a project of its own.
type stage struct {
	*testing.T
	*binary
	others float64 // how busy the machine was before
}

func newStage(t *testing.T) *stage {
	t.Helper()
	if !*interfaceProofs {
		t.Skip("a proof of the full screen: make interface")
	}
	return &stage{T: t, binary: newBinary(t)}
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// modern is a terminal as most people have one.
var modern = terminaltest.Options{Columns: 100, Rows: 30, Marks: true, Clusters: true}

// show runs ralph in a terminal until the test ends.
func (s *stage) show(o terminaltest.Options, environ []string, args ...string) *terminaltest.Session {
	s.Helper()
	return s.run(o, environ, s.command(args...))
}

func (s *stage) run(o terminaltest.Options, environ []string, cmd *exec.Cmd) *terminaltest.Session {
	s.Helper()
	cmd.Env = append(screenEnviron(cmd.Env), environ...)
	session, err := terminaltest.Start(cmd, o)
	s.must(err)
	s.Cleanup(session.End)
	return session
}

// screenEnviron is an environment in which nothing but the given variables describes the terminal.
func screenEnviron(environ []string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"TERM", "COLORTERM", "NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "SSH_TTY", "TMUX", "TERM_PROGRAM", "CI", "COLORFGBG", "WT_SESSION", "LANG", "LC_ALL"}, name)
	})
	return append(environ, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC")
}

// sees waits for a text on the screen.
func (s *stage) sees(session *terminaltest.Session, text string) time.Time {
	s.Helper()
	at, err := session.Sees(text, patience)
	s.must(err)
	return at
}

// presses types keys and waits for a text.
func (s *stage) presses(session *terminaltest.Session, keys, text string) time.Duration {
	s.Helper()
	began, err := session.Type(keys)
	s.must(err)
	return s.sees(session, text).Sub(began)
}

// quantile returns a quantile of durations, which it sorts.
func quantile(durations []time.Duration, q float64) time.Duration {
	slices.Sort(durations)
	return durations[min(int(q*float64(len(durations))), len(durations)-1)].Round(100 * time.Microsecond)
}
