package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes(spec Spec) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: spec.ParentDeath}
}

// awaitExit returns when the child has ended, and leaves it unreaped.
func awaitExit(cmd *exec.Cmd) error {
	pid := cmd.Process.Pid
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return os.NewSyscallError("waitid", err)
		}
	}
}

func enableSubreaper() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// widen asks for a larger pipe. The kernel refuses once all pipes of the user exceed pipe-user-pages-soft; then it stays small.
func widen(pipe *os.File) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
}

func snapshot() (table, error) {
	pids, err := listed()
	if err != nil {
		return nil, err
	}
	return lookAt(pids), nil
}

// listed returns the pids of /proc. A process that is there from before the call until after it is among them.
func listed() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func lookAt(pids []int) table {
	all := make(table, 0, len(pids))
	for _, pid := range pids {
		if m, ok := look(pid); ok { // else it has ended since, or is hidden from us (hidepid)
			all = append(all, m)
		}
	}
	return all
}

func look(pid int) (member, bool) {
	var space [1024]byte
	stat, err := slurp(pid, "stat", space[:0], len(space))
	if err != nil {
		return member{}, false
	}
	return parseStat(stat)
}

// parseStat reads proc_pid_stat(5): "pid (comm) state ppid pgrp session …", the start time in field 22. The name may contain
// spaces and parentheses, so the fields are counted from the last closing one.
func parseStat(stat []byte) (m member, ok bool) {
	opening, closing := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if opening < 1 || closing < opening {
		return m, false
	}
	number := func(field []byte) uint64 {
		n, err := strconv.ParseUint(string(field), 10, 64)
		ok = ok && err == nil
		return n
	}
	ok = true
	m.pid = int(number(bytes.TrimSpace(stat[:opening])))
	field := 3
	for text := range bytes.FieldsSeq(stat[closing+1:]) {
		switch field {
		case 3:
			m.state = text[0]
		case 4:
			m.ppid = int(number(text))
		case 5:
			m.pgid = int(number(text))
		case 6:
			m.sid = int(number(text))
		case 20:
			m.threads = int(number(text))
		case 22:
			m.start = number(text)
			return m, ok
		}
		field++
	}
	return m, false
}

// environOf returns the environment that a process of this user was started with, each entry closed by a NUL; nil where it cannot
// be read.
func environOf(pid int) []byte {
	file, err := open(pid, "environ")
	if err != nil {
		return nil
	}
	defer unix.Close(file)
	var stat unix.Stat_t
	if unix.Fstat(file, &stat) != nil || int(stat.Uid) != os.Getuid() {
		return nil
	}
	environ, err := drain(file, make([]byte, 0, 16<<10), maxEnviron)
	if err != nil {
		return nil
	}
	return environ
}

func commandLine(pid int) string {
	line, err := slurp(pid, "cmdline", nil, maxCommand)
	if line = bytes.TrimRight(line, "\x00"); err == nil && len(line) > 0 {
		return strings.ToValidUTF8(strings.ReplaceAll(string(line), "\x00", " "), "�")
	}
	name, err := slurp(pid, "comm", nil, maxCommand)
	if err != nil {
		return ""
	}
	return "[" + strings.ToValidUTF8(strings.TrimSpace(string(name)), "�") + "]"
}

// The files of /proc are read without package os: its poller and finalizers would triple the cost of a look.

func open(pid int, name string) (int, error) {
	return unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

func slurp(pid int, name string, into []byte, limit int) ([]byte, error) {
	file, err := open(pid, name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(file)
	return drain(file, into, limit)
}

// drain appends to into until the end of the file, or until limit bytes are there.
func drain(file int, into []byte, limit int) ([]byte, error) {
	for len(into) < limit {
		if len(into) == cap(into) {
			into = append(into, 0)[:len(into)]
		}
		n, err := unix.Read(file, into[len(into):min(cap(into), limit)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return into, err
		}
		into = into[:len(into)+n]
	}
	return into, nil
}
