package journal

import (
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// Abandon leaves the writer like a killed process: nothing is sealed.
func (w *Writer) Abandon() {
	if w.failure() == ErrClosed {
		return
	}
	_ = w.fail(ErrClosed)
	w.stopSyncer()
	w.retention.stop()
	w.notifier.stop()
	_ = w.file.Close()
	unlock(w.lock)
	_ = w.folder.Close()
}

// OSFolder opens a folder of the operating system.
func OSFolder(path string) (folder, error) { return osFS{}.OpenFolder(path) }

func VerifyFS(fsys fileSystem, src string, report func(SegmentReport)) error {
	return verify(fsys, src, report)
}

func LastFS(fsys fileSystem, loopDir string, n int) ([]event.Event, Position, error) {
	return last(fsys, loopDir, n)
}

// Tidied waits until retention has done what it was asked for. The writer must not rotate
// afterwards.
func (w *Writer) Tidied() {
	close(w.retention.requests)
	w.retention.wait.Wait()
	w.retention.compress = false
}

// Pack compresses the segments before the one being written, in the goroutine of the caller.
func (w *Writer) Pack() {
	(&retention{folder: w.folder, compress: true, done: make(chan struct{})}).apply(SegmentInfo{Ordinal: w.ordinal})
}

// PackForTest compresses one segment, as retention does.
func PackForTest(t *testing.T, dir, segment string) {
	t.Helper()
	folder, err := osFS{}.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	h := &retention{folder: folder, done: make(chan struct{})}
	s, _ := parseSegmentName(segment)
	s.path = segmentsDir + "/" + segment
	if err := h.compressSegment(s); err != nil {
		t.Fatal(err)
	}
}

// Seek returns the position before an event.
func Seek(loopDir string, seq event.Seq) (at Position, err error) {
	err = withSegments(nil, loopDir, func(s *source, list []SegmentInfo) (err error) {
		at, err = s.seek(list, seq)
		return err
	})
	return at, err
}

// Checkpoint returns the state that the last segment begins with and the position after it.
func Checkpoint(loopDir string) (state string, at Position, err error) {
	for e, err := range Read(loopDir, ReadOptions{FromCheckpoint: true}) {
		if err != nil {
			return "", Position{}, err
		}
		at, err := Seek(loopDir, e.Seq+1)
		return string(e.Field("checkpoint")), at, err
	}
	return "", Position{}, nil
}
