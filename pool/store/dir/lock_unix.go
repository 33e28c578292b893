//go:build unix

package dir

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// lock waits for the lock of a key. The kernel gives it back when a process dies. It is asked for
// again and again, because a caller whose context ends could not leave a call that waits.
func (s *Store) lock(ctx context.Context, key string) (unlock func(), err error) {
	hash := fnv.New32a()
	hash.Write([]byte(key))
	name := path.Join(lockFiles, fmt.Sprint(hash.Sum32()%64))
	f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o660)
	if err != nil {
		return nil, err
	}
	const longest = 20 * time.Millisecond
	for wait := time.Millisecond; ; wait = min(2*wait, longest) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(os.NewSyscallError("flock", err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for the lock %s: %w", name, ctx.Err()), f.Close())
		case <-time.After(wait):
		}
	}
}
