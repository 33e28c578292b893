package journal

import (
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// Abandon leaves the writer as a killed process would: nothing is sealed.
func (w *Writer) Abandon() {
	if w.failure() == ErrClosed {
		return
	}
	_ = w.fail(ErrClosed)
	w.stopSyncer()
	w.house.stop()
	w.bell.stop()
	_ = w.file.Close()
	unlock(w.lock)
	_ = w.folder.Close()
}

// OSFolder opens a folder of the operating system.
func OSFolder(path string) (Folder, error) { return osFS{}.OpenFolder(path) }

func VerifyFS(fsys FS, src string, report func(SegmentReport)) error {
	return verify(fsys, src, report)
}

func LastFS(fsys FS, loopDir string, n int) ([]event.Event, Position, error) {
	return last(fsys, loopDir, n)
}

// Tidied waits until the housekeeper has done what it was asked for. The writer
// must not rotate afterwards.
func (w *Writer) Tidied() {
	close(w.house.work)
	w.house.wait.Wait()
	w.house.compress = false
}

// Pack compresses what lies behind the segment being written, in the caller's goroutine.
func (w *Writer) Pack() {
	(&housekeeper{folder: w.folder, compress: true, done: make(chan struct{})}).tidy(SegmentInfo{Ordinal: w.ordinal})
}

// PackForTest compresses one segment, as the housekeeper does with those that lie
// behind.
func PackForTest(t *testing.T, dir, segment string) {
	t.Helper()
	folder, err := osFS{}.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	h := &housekeeper{folder: folder, done: make(chan struct{})}
	s, _ := parseSegmentName(segment)
	s.path = segmentsDir + "/" + segment
	if err := h.pack(s); err != nil {
		t.Fatal(err)
	}
}
