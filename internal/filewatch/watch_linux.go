package filewatch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Watch is a watch on one file or one folder. It reads inotify itself and needs no goroutine: with
// that of fsnotify, a line takes 1.2 times as long to appear in 'ralph attach' (BenchmarkFollow),
// and a command a third longer to be received (BenchmarkCommand).
type Watch struct {
	events *os.File
	buf    [4096]byte
	names  []string
}

const (
	changedMask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MODIFY | unix.IN_ATTRIB
	goneMask    = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	endedMask   = goneMask | unix.IN_UNMOUNT | unix.IN_IGNORED
)

// New begins to watch a path, without following a link, until Close.
func New(path string) (*Watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	w := &Watch{events: os.NewFile(uintptr(fd), "inotify")}
	if _, err := unix.InotifyAddWatch(fd, path, changedMask|goneMask|unix.IN_DONT_FOLLOW); err != nil {
		return nil, errors.Join(&os.PathError{Op: "inotify_add_watch", Path: path, Err: err}, w.Close())
	}
	return w, nil
}

// Wait returns the names in the folder that changed since the last call, as soon as there are any,
// and none when ctx has ended. The name of the watched path itself is empty. An empty name also
// reports that changes were lost. The result is valid until the next call.
func (w *Watch) Wait(ctx context.Context) ([]string, error) {
	for ctx.Err() == nil {
		// The AfterFunc of an earlier call may still set its deadline after this: then wait again.
		if err := w.events.SetReadDeadline(time.Time{}); err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = w.events.SetReadDeadline(time.Unix(1, 0)) })
		n, err := w.events.Read(w.buf[:])
		stop()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return w.changed(w.buf[:n])
	}
	return nil, nil
}

func (w *Watch) changed(events []byte) ([]string, error) {
	w.names = w.names[:0]
	for len(events) >= unix.SizeofInotifyEvent {
		e := (*unix.InotifyEvent)(unsafe.Pointer(&events[0]))
		if e.Mask&endedMask != 0 {
			return nil, ErrGone
		}
		end := unix.SizeofInotifyEvent + int(e.Len)
		name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
		w.names = append(w.names, string(name))
		events = events[end:]
	}
	return w.names, nil
}

// Close ends the watch.
func (w *Watch) Close() error { return w.events.Close() }
