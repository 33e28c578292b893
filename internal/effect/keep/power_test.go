package keep

import (
	"math/rand/v2"
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
)

// Kept copies are there after a loss of power, also in a folder that was not durable before.
func TestCopiesSurvivePowerLoss(t *testing.T) {
	for seed := range uint64(40) {
		disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
		loop, err := disk.Folder(".")
		if err != nil {
			t.Fatal(err)
		}
		if err := loop.Mkdir("copies"); err != nil {
			t.Fatal(err)
		}
		kept, err := disk.Folder("copies")
		if err != nil {
			t.Fatal(err)
		}
		copies := map[string][]byte{"a": []byte("#!/bin/sh"), "b": []byte("make test")}
		if seed%2 == 0 { // or a process wrote them that was killed before it had synced their names
			for name, body := range copies {
				if err := safefile.Replace(kept, name, body, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			copies = nil
		}
		if err := put(loop, kept, copies); err != nil {
			t.Fatal(err)
		}
		disk = disk.Crash(simfs.PowerLostAnyOrder)
		for name, want := range map[string]string{"a": "#!/bin/sh", "b": "make test"} {
			if got, err := disk.ReadFile("copies/" + name); err != nil || string(got) != want {
				t.Fatalf("seed %d: %s holds %q, %v", seed, name, got, err)
			}
		}
	}
}
