package plan

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
)

// The runner records that it has judged tasks.json when the file is written: what a loss of power
// leaves is the new file.
func TestTasksSurviveLossOfPower(t *testing.T) {
	for crash := 1; crash <= 6; crash++ {
		for seed := range uint64(30) {
			disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
			folder, err := disk.Folder(".")
			if err := errors.Join(err, put(folder, Tasks, []byte("old"), newMode)); err != nil {
				t.Fatal(err)
			}
			disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
			failed := put(folder, Tasks, []byte("new"), newMode)
			left, err := disk.Crash(simfs.PowerLostAnyOrder).ReadFile(Tasks)
			if text := string(left); err != nil || text != "new" && (failed == nil || text != "old") {
				t.Fatalf("change %d, seed %d (%v): left is %q, %v", crash, seed, failed, text, err)
			}
		}
	}
}
