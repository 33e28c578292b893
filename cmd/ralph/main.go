// Command ralph runs a coding agent again and again, each time with a fresh
// context, until the work is proved done or a limit says stop.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/secret"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// version is set when a release is built: -ldflags "-X main.version=1.0.0".
var version = ""

// The voice of ralph. Results go to stdout, everything else to stderr. Lines on
// stderr begin with "ralph: ", are lower case and end without a full stop. An
// error names the thing, the cause and, as a hint, the next step. Wherever a table
// is printed, --json prints the same as JSON. Exit codes: see event.ExitCompleted
// and its neighbours, and 'ralph --help'.

// cli is the command line: one field, one file for each verb.
type cli struct {
	Init     initVerb     `cmd:"" help:"Ask for the settings of this project and write them."`
	Trust    trustVerb    `cmd:"" help:"Show what the settings of this project would run, and let them."`
	Run      runVerb      `cmd:"" default:"withargs" help:"Run a loop in the foreground, for scripts and CI."`
	Start    startVerb    `cmd:"" help:"Start a detached loop and attach to it."`
	Attach   attachVerb   `cmd:"" help:"Show where a loop stands, then follow and steer it; leaving does not stop it."`
	Steer    steerVerb    `cmd:"" help:"Tell the agent something now, in the middle of its turn where it can be told so."`
	FollowUp followUpVerb `cmd:"" name:"follow-up" help:"Tell the agent something with its next prompt."`
	Stop     stopVerb     `cmd:"" help:"Stop a loop after its iteration, or now."`
	Pause    pauseVerb    `cmd:"" help:"Let a loop rest after its iteration."`
	Resume   resumeVerb   `cmd:"" help:"Let a paused loop go on."`
	Wait     waitVerb     `cmd:"" help:"For an agent: have the loop wait for a person after this iteration."`
	Blocked  blockedVerb  `cmd:"" help:"For an agent: end the loop after this iteration, because only a person can help."`
	Set      setVerb      `cmd:"" help:"Change a setting of a running loop."`
	Kill     killVerb     `cmd:"" help:"End a loop and its agent at once."`
	List     listVerb     `cmd:"" help:"List the loops of this project, or all on this machine."`
	Clean    cleanVerb    `cmd:"" help:"Remove loops that have ended, by name, age or status."`
	Status   statusVerb   `cmd:"" help:"Show where one loop stands."`
	Logs     logsVerb     `cmd:"" help:"Print the events of a loop."`
	Replay   replayVerb   `cmd:"" help:"Play a loop again from its journal, offline."`
	Journal  journalVerb  `cmd:"" help:"Verify, repair or rebuild what a journal holds."`
	Doctor   doctorVerb   `cmd:"" help:"Show what will work here and what will not."`
	Rehearse rehearseVerb `cmd:"" help:"For a loop: an agent without a model, to rehearse a configuration with."`
	Version  versionVerb  `cmd:"" help:"Print the version."`
	Help     helpVerb     `cmd:"" help:"Show the help of all verbs, or of one."`

	Runner runnerVerb `cmd:"" hidden:"" help:"The detached runner; started by 'ralph start'."`

	ShowVersion kong.VersionFlag `name:"version" short:"v" help:"Print the version."`
}

// env is the world as a verb sees it.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	home           string // ralph's own home
	cwd            string
	project        string // whose .ralph is meant; "" for the current folder
	chosen         bool   // somebody named the project: no other one is meant
	asked          string // how the loop was named that was looked for last; "" where it was not
	foreign        string // a .ralph around the current folder that does not count
	environ        []string
	now            func() time.Time
	// wary says that no program is run which lies in this project.
	wary bool
}

const description = `ralph runs a coding agent again and again, each time with a fresh context, until the work is proved done or a limit says stop.

Exit codes: 0 completed, 1 a limit was reached, 2 configuration or usage, 3 failed, 4 needs a person, 130 interrupted or stopped.`

func main() {
	makeRoom(false)
	os.Exit(run(os.Args[1:]))
}

// makeRoom lets the stack grow once, to the size that the verbs come to need, while there is next
// to nothing on it; in five steps, each of which copies all of it, that takes a twentieth of a
// short verb's time. The room is asked for by being here, and not used.
//
//go:noinline
func makeRoom(use bool) byte {
	if !use {
		return 0
	}
	var room [48 << 10]byte
	copy(room[:], os.Args[0])
	return room[len(os.Args)]
}

func run(args []string) int {
	e, err := newEnv()
	if err != nil {
		return report(os.Stderr, err)
	}
	if len(args) == 0 {
		return report(e.stderr, frontDoor(e))
	}
	args = settingFlags(args)
	if plain, ok := quickly(args); ok {
		return report(e.stderr, do(e, plain))
	}
	code := -1
	parser, err := newParser(grammar(args), func(n int) { code = n })
	if err != nil {
		return report(e.stderr, err)
	}
	parsed, err := parser.Parse(args)
	if code >= 0 {
		return code // --help and --version have printed what was asked for
	}
	if err != nil {
		return report(e.stderr, usage(args, err))
	}
	return report(e.stderr, do(e, parsed.Selected().Target.Addr().Interface().(verb)))
}

// do runs a verb for the project that is meant.
func do(e *env, v verb) error {
	if about, ok := v.(interface{ place(e *env) error }); ok {
		if err := about.place(e); err != nil {
			return err
		}
	}
	return v.Run(e)
}

func newEnv() (*env, error) {
	home, err := registry.Home(os.Getenv)
	if err != nil {
		return nil, refuse("set RALPH_HOME to a folder that is yours alone", "%w", err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the current folder: %w", err)
	}
	cwd = withoutLinks(cwd)
	e := &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		home: home, cwd: cwd, environ: os.Environ(), now: time.Now,
	}
	e.locate()
	return e, nil
}

// failure is an error with the exit code and the next step.
type failure struct {
	err  error
	code int
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }
func (f *failure) Hint() string  { return f.hint }

// exit ends the program with a code and no word: everything is said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// refuse is a usage error with its next step.
func refuse(hint, format string, args ...any) error {
	return &failure{err: fmt.Errorf(format, args...), code: event.ExitUsage, hint: hint}
}

// report prints an error and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return event.ExitCompleted
	}
	if silent, ok := errors.AsType[exit](err); ok {
		return int(silent)
	}
	tell(w, "error: %v", err)
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		tell(w, "hint: %s", hinted.Hint())
	}
	return exitCode(err)
}

// tell says something on stderr. An agent's last words, a project's settings and names of files may be
// part of it, and none of them has a say over the terminal, or speaks as ralph: where they have more lines
// than one, the others are set in. A detached runner speaks into a file, so secrets are hidden.
func tell(w io.Writer, format string, args ...any) {
	text, _ := ownSecrets().Text(fmt.Appendf(nil, format, args...))
	lines := strings.Split(clean(string(text)), "\n")
	for i, line := range lines[1:] {
		if line != "" && line[0] != ' ' {
			lines[i+1] = "  " + line
		}
	}
	fmt.Fprintf(w, "ralph: %s\n", strings.Join(lines, "\n"))
}

// ownSecrets are those of this process's environment.
var ownSecrets = sync.OnceValue(func() *secret.Masker { return secret.New(os.Environ()) })

// clean returns foreign text for a terminal, with the lines that it has.
func clean(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = render.Clean(line)
	}
	return strings.Join(lines, "\n")
}

// exitCode of an error: what its failure says; 2 where a person has to change
// something that stands in a file or on the command line; else 3.
func exitCode(err error) int {
	if f, ok := errors.AsType[*failure](err); ok && f.code != 0 {
		return f.code
	}
	if usageError(err) {
		return event.ExitUsage
	}
	return event.ExitFailed
}

// buildVersion is the release's version, else what the toolchain knows of the
// commit, else "dev".
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
