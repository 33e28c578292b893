package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// auditArch are the machines whose calls the filter knows, as the kernel names them.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Places in the data that a filter sees (struct seccomp_data). The machines have little endian, and
// the kernel takes the lower half of these arguments.
const (
	dataCall, dataArch           = 0, 4
	dataArg0, dataArg1, dataArg2 = 16, 24, 32
	x32Calls                     = 0x40000000
	socketType                   = 0xf // without flags
)

// limitSockets lets this thread, and the program that it becomes, make only the listed sockets. The
// two ends of a socketpair are no way out, and netlink tells which addresses there are.
func limitSockets(list string) error {
	runtime.LockOSThread() // for good: this one starts the agent
	filter, err := socketFilter(list, runtime.GOARCH)
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("limit sockets: %w", err)
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); err != 0 {
		return fmt.Errorf("limit sockets: %w", err)
	}
	return nil
}

// socketFilter returns the filter. Calls of another machine, such as those of 32-bit programs, and
// io_uring, which would make sockets without a call, are answered as unknown.
func socketFilter(list, machine string) ([]unix.SockFilter, error) {
	arch, ok := auditArch[machine]
	if !ok {
		return nil, errors.New("limit sockets: that is not known for this kind of machine")
	}
	const equal, atLeast = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	var f []unix.SockFilter
	load := func(at uint32) { f = append(f, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}) }
	// answer ends with a verdict if the loaded value passes the test; otherwise, if not.
	answer := func(test uint16, value, verdict uint32) {
		f = append(f, unix.SockFilter{Code: test, Jf: 1, K: value}, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict})
	}
	otherwise := func(test uint16, value, verdict uint32) {
		f = append(f, unix.SockFilter{Code: test, Jt: 1, K: value}, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict})
	}
	const allow, unknown, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS), unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	load(dataArch)
	otherwise(equal, arch, unknown)
	load(dataCall)
	if machine == "amd64" {
		answer(atLeast, x32Calls, unknown)
	}
	answer(equal, unix.SYS_IO_URING_SETUP, unknown)
	otherwise(equal, unix.SYS_SOCKET, allow)
	load(dataArg0)
	answer(equal, unix.AF_NETLINK, allow)
	if may(list, unixSockets) {
		answer(equal, unix.AF_UNIX, allow)
	}
	if may(list, tcpSockets) {
		f = append(f, unix.SockFilter{Code: equal, Jt: 2, K: unix.AF_INET}) // past the next two
		otherwise(equal, unix.AF_INET6, refuse)
		load(dataArg1)
		f = append(f, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: socketType})
		otherwise(equal, unix.SOCK_STREAM, refuse)
		load(dataArg2) // Landlock knows nothing of other protocols, such as MPTCP
		answer(equal, 0, allow)
		answer(equal, unix.IPPROTO_TCP, allow)
	}
	return append(f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: refuse}), nil
}
