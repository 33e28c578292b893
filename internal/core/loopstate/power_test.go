package loopstate

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
)

// A projection is the old one or the new one after a loss of power, never half of one.
func TestProjectionSurvivesPowerCut(t *testing.T) {
	var was, is State
	is.Seq = 412
	for crash := 1; crash <= 6; crash++ {
		for seed := range uint64(30) {
			disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
			folder, err := disk.Folder(".")
			if err == nil {
				err = errors.Join(safefile.Replace(folder, StateFile, Encode(&was), 0o600), folder.Sync())
			}
			if err != nil {
				t.Fatal(err)
			}
			disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
			done := safefile.Replace(folder, StateFile, Encode(&is), 0o600)
			left, err := disk.Crash(simfs.PowerLostAnyOrder).ReadFile(StateFile)
			if text := string(left); err != nil || text != string(Encode(&was)) && text != string(Encode(&is)) {
				t.Fatalf("change %d, seed %d (%v): left is %q, %v", crash, seed, done, left, err)
			}
		}
	}
}
