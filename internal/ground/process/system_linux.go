package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/sys/unix"
)

func deathSignal(attributes *syscall.SysProcAttr, sig syscall.Signal) { attributes.Pdeathsig = sig }

// awaitExit returns when the child has ended, and leaves it unreaped.
func awaitExit(cmd *exec.Cmd) error {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return os.NewSyscallError("waitid", err)
		}
	}
}

// AwaitExit returns a channel that is closed when the process with this pid and start time ends. It
// is nil if there is no such process or the kernel cannot report its end. The channel is not closed
// after ctx has ended.
func AwaitExit(ctx context.Context, pid int, start uint64) <-chan struct{} {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	handle := os.NewFile(uintptr(fd), "pidfd")
	conn, err := handle.SyscallConn()
	// Read after the descriptor was opened, which keeps the pid from naming another process.
	if began, ok := StartTime(pid); err != nil || !ok || began != start {
		_ = handle.Close()
		return nil
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { _ = handle.Close() })
	go func() {
		defer stop()
		if conn.Read(hasEnded) != nil {
			return
		}
		_ = handle.Close()
		if ctx.Err() == nil { // the descriptor may be closed later than the process ends
			close(ended)
		}
	}()
	return ended
}

// hasEnded reports whether the process of a pidfd has ended.
func hasEnded(pidfd uintptr) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return n > 0 && err == nil
}

func enableSubreaper() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// enlargePipe asks for a larger pipe. The kernel refuses once all pipes of the user exceed
// pipe-user-pages-soft; then it stays small.
func enlargePipe(pipe *os.File) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
}

// listProcesses lists the processes of a group, or all if it is 0. What runs from before the call
// until after it is in the list.
func listProcesses(group int) (table, error) {
	pids, err := listPIDs(group)
	return inspectAll(pids), err
}

// listPIDs reads /proc. Asking for the group of each process takes a tenth of the time of
// inspecting all.
func listPIDs(group int) (pids []int, err error) {
	names, err := os.ReadDir("/proc")
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		if of, err := unix.Getpgid(pid); group == 0 || err == nil && of == group {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

func inspectAll(pids []int) (all table) {
	for _, pid := range pids {
		if m, ok := inspect(pid); ok { // else it has ended since, or is hidden from us (hidepid)
			all = append(all, m)
		}
	}
	return all
}

func procFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func inspect(pid int) (info, bool) {
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return info{}, false
	}
	return parseStat(stat)
}

// parseStat reads proc_pid_stat(5): "pid (comm) state ppid pgrp session …", the start time in field
// 22. The name may contain spaces and parentheses, so the fields are counted from the last closing
// one.
func parseStat(stat []byte) (m info, ok bool) {
	opening, closing := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if opening < 1 || closing < opening {
		return m, false
	}
	fields := bytes.Fields(stat[closing+1:])
	// the number of the field at fields[0], and of the last that is read
	const first, needed = 3, 22
	if len(fields) <= needed-first {
		return m, false
	}
	ok = true
	number := func(field []byte, bits int) uint64 {
		n, err := strconv.ParseUint(string(field), 10, bits)
		ok = ok && err == nil
		return n
	}
	const pidBits = 31 // pid_t is a signed 32-bit integer, and none of those read here is negative
	pid := func(field []byte) int { return int(number(field, pidBits)) }
	m.pid = pid(bytes.TrimSpace(stat[:opening]))
	m.state = fields[3-first][0]
	ok = ok && unicode.IsLetter(rune(m.state))
	m.ppid, m.pgid, m.sid = pid(fields[4-first]), pid(fields[5-first]), pid(fields[6-first])
	m.threads, m.start = pid(fields[20-first]), number(fields[22-first], 64)
	const exits = 0x4 // PF_EXITING, in the flags of the first thread: others may still run
	m.exiting = number(fields[9-first], 32)&exits != 0 && m.threads <= 1
	// A pending KILL ends all threads, but one that waits for a device takes it only after that.
	const pending, kill = 31, 1 << (syscall.SIGKILL - 1)
	if len(fields) > pending-first && m.state != 'D' {
		m.exiting = m.exiting || number(fields[pending-first], 64)&kill != 0
	}
	return m, ok
}

// environOf returns the environment that a process of this user was started with, each entry closed
// by a NUL; nil if it cannot be read.
func environOf(pid int) []byte {
	file, err := os.Open(procFile(pid, "environ"))
	if err != nil {
		return nil
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil || int(stat.Sys().(*syscall.Stat_t).Uid) != os.Getuid() {
		return nil
	}
	environ, err := io.ReadAll(io.LimitReader(file, maxEnviron))
	if err != nil {
		return nil
	}
	return environ
}

func commandLine(pid int) string {
	line, err := os.ReadFile(procFile(pid, "cmdline"))
	if line = bytes.TrimRight(line[:min(len(line), maxCommand)], "\x00"); err == nil && len(line) > 0 {
		return strings.ToValidUTF8(strings.ReplaceAll(string(line), "\x00", " "), "\ufffd")
	}
	name, err := os.ReadFile(procFile(pid, "comm"))
	if err != nil {
		return ""
	}
	return "[" + strings.ToValidUTF8(strings.TrimSpace(string(name)), "\ufffd") + "]"
}
