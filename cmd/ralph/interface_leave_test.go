//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/testkit/terminaltest"
)

// screen runs a verb of ralph in a terminal that nothing but environ describes.
func (p *place) screen(o terminaltest.Options, environ []string, args ...string) *watched {
	p.Helper()
	cmd := p.command(args...)
	cmd.Env = append(screenEnviron(cmd.Env), environ...)
	return p.start(o, cmd)
}

// start runs a command in a terminal.
func (p *place) start(o terminaltest.Options, cmd *exec.Cmd) *watched {
	p.Helper()
	session, err := terminaltest.Start(cmd, o)
	p.must(err)
	p.Cleanup(session.End)
	return &watched{p, session}
}

// sane fails the test unless the terminal is as a shell needs it.
func (w *watched) sane() {
	w.Helper()
	w.Look(func(e *terminaltest.Emulator) {
		var on []string
		for mode, set := range e.Modes {
			if set != slices.Contains([]string{"?25", "?7"}, mode) {
				on = append(on, mode)
			}
		}
		if slices.Sort(on); len(on) > 0 || e.Keyboard() != 0 {
			w.Errorf("modes that were not restored: %v, keyboard %d", on, e.Keyboard())
		}
	})
}

// A connection is lost, or the program is ended: the loop continues, and the terminal is restored.
func TestFullScreenIsEnded(t *testing.T) {
	leaveToInterface(t)
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	for _, args := range [][]string{{"attach", "one"}, {"attach", "one", "--inline"}, {"list", "--watch"}} {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
			w := p.shellOn("trap : INT HUP TERM; stty -g > before\n" + ralphWithPid + strings.Join(args, " ") + "'\n" +
				"stty -g > after; cmp before after && echo the same modes")
			w.sees("one")
			p.must(syscall.Kill(p.pid("pid"), signal))
			w.sees("the same modes")
			w.sane()
		}
		w := p.screen(modern, nil, args...)
		w.sees("one")
		p.must(w.Disconnect())
		_, err := w.Ended(patience)
		p.must(err)
	}
	if p.dead("one") || p.status("one") != "running" {
		t.Error("the loop has ended with a terminal")
	}
	p.fine("stop", "one", "--now")
}

// Ctrl-z and SIGSTOP leave the screen to the shell; fg takes it again and draws all of it.
func TestFullScreenIsSuspended(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.rehearsed("one")
	for _, verb := range []string{"attach one", "list --watch"} {
		never := p.screen(modern, nil, strings.Fields(verb)...)
		never.sees("one", "running")
		w := p.shellOn("set -m; stty -g > before\n" + ralphWithPid + verb + "'\n" +
			"stty sane; printf '\\033[Hgarbage of the shell'; read wait; fg\n" +
			"stty -g > after; cmp before after && echo the same modes; read wait; fg\n" +
			"stty -g > after; cmp before after && echo over")
		w.sees("one", "running")
		w.takes(0) // else what it asks for at its beginning comes after SIGCONT, and is taken for the rest
		p.must(syscall.Kill(p.pid("pid"), syscall.SIGSTOP))
		w.sees("garbage of the shell")
		w.retakes(never)
		w.types("\x1a")
		w.sees("the same modes")
		w.sane()
		w.retakes(never)
		w.types(ctrlC)
		if verb == "attach one" {
			w.sees("leave it running")
			w.types("l")
		}
		w.sees("over")
		w.sane()
	}
	p.fine("stop", "one", "--now")
}

// ralphWithPid begins a command that writes its process id, up to its last quote.
const ralphWithPid = "sh -c 'echo $$ > pid; exec ralph "

// shellOn runs a script of the shell in a terminal.
func (p *place) shellOn(script string) *watched {
	p.Helper()
	_ = os.Remove(filepath.Join(p.dir, "pid"))
	cmd := p.command()
	cmd.Path, cmd.Err, cmd.Env = "/bin/sh", nil, screenEnviron(cmd.Env)
	cmd.Args = []string{"sh", "-c", script}
	return p.start(modern, cmd)
}

// retakes continues a program whose shell waits for enter, and waits until it has the terminal
// again and shows what the same program in another terminal does. What it shows is not enough: keys
// that come before it has the terminal are the shell's.
func (w *watched) retakes(other *watched) {
	w.Helper()
	var before int
	w.Look(func(e *terminaltest.Emulator) { before = asked(e) })
	w.types(enter)
	w.takes(before)
	if _, err := w.Await(patience, (*terminaltest.Emulator).Alternate); err != nil {
		w.Fatal(err)
	}
	if !alike(w.Text, other.Text) {
		w.Errorf("it shows\n%s\nnot\n%s", w.Text(), other.Text())
	}
}

// takes waits until a program has asked the terminal for all that it asks for, more often than
// before.
func (w *watched) takes(before int) {
	w.Helper()
	if _, err := w.Await(patience, func(e *terminaltest.Emulator) bool { return asked(e) > before }); err != nil {
		w.Fatal(err)
	}
}

// asked counts the last of what a program asks for.
func asked(e *terminaltest.Emulator) int { return e.Seen["CSI ?1007h"] }

// alike waits until two screens are the same, but for what depends on the time.
func alike(one, other func() string) bool {
	return becomes(func() bool { return steady(one()) == steady(other()) })
}

// steady is a screen without what depends on the time, and without the width of that in a table.
func steady(text string) string {
	return spaces().ReplaceAllString(durations().ReplaceAllString(text, "0s"), " ")
}

var (
	durations = units.Pattern(`(\b|<)\d+(\.\d+)?(ms|s|m|h)( \d+s)?\b`)
	spaces    = units.Pattern(` +`)
)

// pid reads a process id that a script has written.
func (p *place) pid(file string) int {
	p.Helper()
	p.written(file)
	text, err := os.ReadFile(filepath.Join(p.dir, file))
	p.must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	p.must(err)
	return pid
}
