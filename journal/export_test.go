package journal

import (
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
