package agenttest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// roleVariable says which agent this binary plays.
const roleVariable = "RALPH_AGENTTEST_ROLE"

// The roles. All but the first speak as the fake does.
const (
	roleDead     = "dead"     // exits with 3 before it has read anything
	roleHonest   = "honest"   // leaves when its stdin ends
	roleQuits    = "quits"    // leaves as soon as its turn has begun
	roleHalf     = "half"     // likewise, in the middle of a line
	roleStays    = "stays"    // does not see that its stdin ends
	roleStubborn = "stubborn" // nor TERM
	roleParent   = "parent"   // starts a process in a session of its own with each turn
	roleOrphan   = "orphan"   // is that process
	roleLauncher = "launcher" // has the honest one as a child, as npx and version managers do
)

// halfLine is what roleHalf prints last.
const halfLine = `{"half":"a li`

const deadWords = "agenttest: dead on arrival"

func playRole(role string, fake Fake) int {
	switch role {
	case roleDead:
		fmt.Fprintln(os.Stderr, deadWords)
		return 3
	case roleOrphan:
		sit()
	case roleLauncher:
		return launch()
	case roleStubborn:
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	print := func(lines [][]byte) {
		for _, line := range lines {
			os.Stdout.Write(append(bytes.Clone(line), '\n'))
		}
	}
	hear := func(line []byte) (left bool) {
		begins := isPrompt(string(line))
		lines := fake(line)
		if begins && role == roleParent {
			last := max(len(lines)-1, 0)
			print(lines[:last])
			if lines = lines[last:]; last > 0 {
				awaitSign()
			}
			startOrphan()
		}
		print(lines)
		if begins && role == roleHalf {
			os.Stdout.WriteString(halfLine)
		}
		return begins && (role == roleQuits || role == roleHalf)
	}
	print(fake(nil))
	for _, arg := range os.Args[1:] {
		if isPrompt(arg) && hear([]byte(arg)) {
			return 0
		}
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 && hear(line) {
			return 0
		}
		if err != nil {
			break
		}
	}
	if role == roleStays || role == roleStubborn {
		sit()
	}
	return 0
}

func isPrompt(text string) bool {
	return slices.ContainsFunc([]string{Finish, Wait}, func(words string) bool { return strings.Contains(text, words) })
}

// sit waits for a signal. A timer has to run: with nothing left to happen the Go
// runtime would end the process.
func sit() {
	for {
		time.Sleep(time.Hour)
	}
}

// sign is the file by which the test says that it has seen the turn begin: an agent's tools come
// after that.
const sign = "seen"

func awaitSign() {
	for begun := time.Now(); time.Since(begun) < deadline; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(sign); err == nil {
			return
		}
	}
}

func launch() int {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"="+roleHonest)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		panic(err)
	}
	return cmd.ProcessState.ExitCode()
}

func startOrphan() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+roleOrphan)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	go cmd.Wait() // so that it is no zombie where its parent lives on
}
