package journal

import (
	"context"
	"errors"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listener hears the rings of one bell. It reads inotify itself where fsnotify
// would need a goroutine between: the hand-over costs a follower as much time as
// the kernel needs to wake it.
type listener struct {
	events *os.File
	cancel func() bool
	buf    [4096]byte
}

const (
	ringMask = unix.IN_MODIFY | unix.IN_ATTRIB
	goneMask = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_UNMOUNT | unix.IN_IGNORED
)

// listen begins to hear the bell at path, until ctx ends or close.
func listen(ctx context.Context, path string) (*listener, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	_, err = unix.InotifyAddWatch(fd, path, ringMask|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_DONT_FOLLOW)
	if err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("inotify_add_watch", err)
	}
	l := &listener{events: os.NewFile(uintptr(fd), "inotify")}
	l.cancel = context.AfterFunc(ctx, func() {
		_ = l.events.SetReadDeadline(time.Unix(1, 0))
	})
	return l, nil
}

// wait returns when the bell rings, or d has passed, or ctx has ended.
func (l *listener) wait(ctx context.Context, d time.Duration) heard {
	if err := l.events.SetReadDeadline(time.Now().Add(d)); err != nil {
		return bellGone
	}
	// When ctx ended before that, its deadline has just been overwritten.
	if ctx.Err() != nil {
		return nothing
	}
	n, err := l.events.Read(l.buf[:])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nothing
	case err != nil:
		return bellGone
	}
	for at := 0; at+unix.SizeofInotifyEvent <= n; {
		e := (*unix.InotifyEvent)(unsafe.Pointer(&l.buf[at]))
		if e.Mask&goneMask != 0 {
			return bellGone
		}
		at += unix.SizeofInotifyEvent + int(e.Len)
	}
	return ring // or too many to tell, which is one
}

func (l *listener) close() {
	l.cancel()
	_ = l.events.Close()
}
