package agenttest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/ground/process"
)

// MainPlaying runs the tests, or plays a rehearsal if a test has started this binary with the words
// of `ralph rehearse FILE`. Call it from TestMain.
func MainPlaying(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "rehearse" {
		os.Exit(play(os.Args[2]))
	}
	// As a runner does, so that this process reaps what a killed agent leaves.
	_ = process.EnableSubreaper()
	os.Exit(m.Run())
}

func play(file string) int {
	scenario, err := player.Load("", file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return player.Run(context.Background(), player.Options{
		Scenario: scenario, Dir: ".", LoopDir: ".", In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}
