package rehearsal_test

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
)

// playVariable makes this binary play the scenario that its last argument names.
const playVariable = "REHEARSAL_TEST_PLAY"

func playScenario() int {
	s, err := player.Load(os.Args[len(os.Args)-1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return player.Run(context.Background(), player.Options{
		Scenario: s, LoopDir: os.Getenv("RALPH_LOOP_DIR"), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}
