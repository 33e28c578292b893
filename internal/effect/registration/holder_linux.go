package registration

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// holderOf asks the kernel who has a lock: the process in which a descriptor of that very file
// holds it (proc_pid_fdinfo(5), "lock:"). The process that the lock's content names is checked
// first, but like any other. A process whose descriptors may not be read is not found.
func holderOf(path string, named int) (int, error) {
	lock, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	if named > 0 && holds(strconv.Itoa(named), lock) {
		return named, nil
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && holds(name, lock) {
			return pid, nil
		}
	}
	return 0, ErrNoHolder
}

// holds reports whether a process holds a flock on a file.
func holds(pid string, lock fs.FileInfo) bool {
	proc := filepath.Join("/proc", pid)
	open, err := os.Open(filepath.Join(proc, "fd"))
	if err != nil {
		return false
	}
	defer open.Close()
	names, _ := open.Readdirnames(-1) // a process that ended meanwhile holds nothing
	for _, fd := range names {
		info, err := os.Stat(filepath.Join(proc, "fd", fd))
		if err != nil || !os.SameFile(info, lock) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(proc, "fdinfo", fd))
		if err == nil && holdsExclusive(text) {
			return true
		}
	}
	return false
}

// holdsExclusive reads lines such as "lock:	1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF".
func holdsExclusive(fdinfo []byte) bool {
	for line := range bytes.Lines(fdinfo) {
		fields := bytes.Fields(line)
		if len(fields) > 4 && string(fields[0]) == "lock:" && string(fields[2]) == "FLOCK" && string(fields[4]) == "WRITE" {
			return true
		}
	}
	return false
}
