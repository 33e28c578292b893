//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Programs that the soak runs beside ralph. They are this test binary under other
// names, so that each is a process that can be killed.

// The files in which agents of the soak record that they run.
const (
	aloneFile    = "alone.lock"   // held by the one agent
	agentsFile   = "agents.log"   // a line for each start: pid and start time
	togetherFile = "together.log" // a line for each agent that was not alone
)

// soloAgent is an agent that must be the only one in its folder: 'solo-agent rehearse FILE'
// plays a scenario, 'solo-agent text' prints.
func soloAgent() int {
	alone, err := os.OpenFile(aloneFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		// The kernel gives the lock back when this process is gone, and not before.
		err = syscall.Flock(int(alone.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	start, _ := process.StartTime(os.Getpid())
	if err != nil {
		note(togetherFile, fmt.Sprintf("%d %d %v\n", os.Getpid(), start, err))
		return 9
	}
	wait := leaveSlowly()
	defer wait()
	note(agentsFile, fmt.Sprintf("%d %d\n", os.Getpid(), start))
	if os.Args[1] == "text" {
		return printingAgent()
	}
	scenario, err := player.Load("", os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return player.Run(context.Background(), player.Options{
		Scenario: scenario, Dir: ".", LoopDir: os.Getenv("RALPH_LOOP_DIR"), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}

// leaveSlowly lets every third agent end late after TERM, as real ones do: then another one could
// be started too early. wait keeps an agent that got TERM from ending by itself meanwhile.
func leaveSlowly() (wait func()) {
	if os.Getpid()%3 != 0 {
		return func() {}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	asked := make(chan struct{})
	go func() {
		<-signals
		close(asked)
		time.Sleep(400 * time.Millisecond)
		os.Exit(143)
	}()
	return func() {
		if isClosed(asked) {
			select {}
		}
	}
}

// note appends a line in one write, which the kernel does not mix with others.
func note(file, line string) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(8)
	}
	f.Close()
}

// printingAgent prints fast, leaves a process running in a session of its own and, in every other
// iteration, prints half a line.
func printingAgent() int {
	_, _ = io.Copy(io.Discard, os.Stdin)
	stray := exec.Command("sleep", "300")
	stray.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = stray.Start()
	iteration, _ := strconv.Atoi(os.Getenv("RALPH_ITERATION"))
	out := bufio.NewWriterSize(os.Stdout, 512)
	for i := range 300 {
		fmt.Fprintf(out, "iteration %d says its line %d, with \x00 and \xff in it\n", iteration, i)
	}
	if iteration%2 == 0 {
		fmt.Fprint(out, "half a li")
	}
	out.Flush()
	time.Sleep(30 * time.Millisecond) // time to be killed in
	return 0
}

// follower follows the journal from its first event as another program would: with package journal.
func follower() int {
	out := bufio.NewWriter(os.Stdout)
	opt := journal.FollowOptions{Idle: func(journal.Position) { out.Flush() }}
	if from, err := event.ParseSeq(os.Args[2]); err == nil {
		opt.FromSeq = from
	}
	for e, err := range journal.Follow(context.Background(), filepath.Clean(os.Args[1]), opt) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "ralph: error:", strings.TrimSpace(err.Error()))
			return 3
		}
		_, _ = out.Write(e.Line())
		if err := out.WriteByte('\n'); err != nil {
			return 1
		}
	}
	return 0
}
