package inbox

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
)

// simBox is an inbox on a simulated disk.
type simBox struct{ folder safefile.Folder }

func (b simBox) create(name string) (newFile, error) {
	f, err := b.folder.Create(name)
	return simFile{f}, err
}
func (b simBox) place(name, newName string) error { return b.folder.Rename(name, newName) }
func (b simBox) names() safefile.Folder           { return b.folder }
func (b simBox) close()                           {}

type simFile struct{ safefile.File }

func (simFile) Stat() (fs.FileInfo, error) { return madeAt{}, nil }

type madeAt struct{ fs.FileInfo }

func (madeAt) ModTime() time.Time { return time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC) }

// Whenever the power is lost, a command is complete or not there. After Drop has returned, it is
// there.
func TestDropSurvivesPowerLoss(t *testing.T) {
	for crash := 1; crash <= 9; crash++ {
		for seed := range uint64(30) {
			disk := simfs.New(rand.New(rand.NewPCG(seed, 0)))
			root, err := disk.Folder(".")
			if err == nil {
				err = disk.MkdirAll("loop")
			}
			if err = errors.Join(err, root.Sync()); err != nil {
				t.Fatal(err)
			}
			w := &writer{newID: func(time.Time) (string, error) { return anID, nil }, token: func() string { return "x" }}
			w.open = func(string, string) (openBox, error) {
				loop, err := disk.Folder("loop")
				if err == nil {
					err = safefile.Mkdir(loop, Folder) // as makeDir does
				}
				if err != nil {
					return nil, err
				}
				box, err := disk.Folder("loop/" + Folder)
				return simBox{box}, err
			}
			disk.Plan(simfs.Plan{CrashAt: disk.Changes() + crash})
			_, dropped := w.drop("loop", Command{Kind: Steer, Text: "leave the schema alone"})
			if crash == 9 && dropped != nil {
				t.Fatalf("no change is left to crash at, and Drop fails: %v", dropped)
			}
			content, err := disk.Crash(simfs.PowerLostAnyOrder).ReadFile("loop/" + Folder + "/" + anID + droppedSuffix)
			if dropped != nil && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if c, err := decode(file{id: anID}, content); err != nil || c.Text != "leave the schema alone" {
				t.Fatalf("change %d, seed %d (%v): left is %q, %v", crash, seed, dropped, content, err)
			}
		}
	}
}
