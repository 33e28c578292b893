package registry

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
)

// After a loss of power an entry is the old one, the new one or absent, never half of one.
func TestEntrySurvivesLossOfPower(t *testing.T) {
	e := Entry{Name: "a", Dir: "/p/.ralph/a", Project: "/p", Started: time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)}
	for _, before := range []bool{false, true} {
		for crash := 1; crash <= 6; crash++ {
			for seed := range uint64(30) {
				disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
				folder, err := disk.Folder(".")
				if e.Version = "old"; before {
					err = errors.Join(err, put(folder, e), folder.Sync())
				}
				if err != nil {
					t.Fatal(err)
				}
				disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
				e.Version = "new"
				done := put(folder, e)
				text, err := disk.Crash(simfs.PowerLostAnyOrder).ReadFile(e.File())
				if !before && errors.Is(err, fs.ErrNotExist) {
					continue
				}
				var left Entry
				if failed := json.Unmarshal(text, &left); err != nil || failed != nil || left != e && left.Version != "old" {
					t.Fatalf("change %d, seed %d (%v): left is %q, %v", crash, seed, done, text, errors.Join(err, failed))
				}
			}
		}
	}
}
