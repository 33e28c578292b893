package inbox

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// BenchmarkWake measures from the rename into the inbox to the wake-up in the runner's hands, and
// interleaves it with a bare fsnotify watch on the same folder. The ratio carries over to other
// machines.
func BenchmarkWake(b *testing.B) {
	box := mustOpen(b, b.TempDir())
	wake := box.Watch(b.Context())
	<-wake
	bare, err := fsnotify.NewWatcher()
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()

	d, err := openDir(box.loopDir, Folder)
	if err != nil {
		b.Fatal(err)
	}
	defer d.close()
	ids := monotonicIDs(rand.Reader)
	rename := func(in *dir) (string, time.Time) {
		id, err := ids(time.UnixMilli(1_800_000_000_000))
		if err != nil {
			b.Fatal(err)
		}
		f, err := in.root.Create(tempPrefix + id)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
		began := time.Now()
		if err := in.moveTo(tempPrefix+id, in, id+droppedSuffix); err != nil {
			b.Fatal(err)
		}
		return id, began
	}
	bareDir, err := makeDir(b.TempDir(), Folder)
	if err != nil {
		b.Fatal(err)
	}
	defer bareDir.close()
	if err := bare.Add(bareDir.root.Name()); err != nil {
		b.Fatal(err)
	}
	seen := make(chan struct{}, 1)
	go func() { // ends when bare is closed
		for e := range bare.Events {
			if e.Has(fsnotify.Create) && strings.HasSuffix(e.Name, droppedSuffix) {
				seen <- struct{}{}
			}
		}
	}()
	var ours, theirs []time.Duration
	for b.Loop() {
		id, began := rename(d)
		<-wake
		ours = append(ours, time.Since(began))
		if err := d.root.Remove(id + droppedSuffix); err != nil {
			b.Fatal(err)
		}
		_, began = rename(bareDir)
		<-seen
		theirs = append(theirs, time.Since(began))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(float64(ours[len(ours)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(ours[len(ours)*99/100].Nanoseconds())/1e3, "p99-µs")
	b.ReportMetric(float64(ours[len(ours)/2])/float64(theirs[len(theirs)/2]), "x/fsnotify")
}
