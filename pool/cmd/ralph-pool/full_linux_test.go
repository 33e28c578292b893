package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/store"
)

// mountVariable makes the test binary mount a small disk before it is the program.
const mountVariable = "RALPH_POOL_TEST_MOUNT"

func init() {
	dir := os.Getenv(mountVariable)
	if dir == "" {
		return
	}
	err := errors.Join(unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""), unix.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "mount:", err)
		os.Exit(1)
	}
}

// serveOnSmallDisk starts a server on a disk of 16 MB, and returns a client and the server's folder
// as this process sees it.
func serveOnSmallDisk(t *testing.T) (s *servedProcess, client store.Store, folder string) {
	dir := t.TempDir()
	prepare := func(arguments ...string) *exec.Cmd {
		c := programAt(t, t.TempDir(), arguments...)
		c.Env = append(c.Env, mountVariable+"="+dir)
		c.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		return c
	}
	if out, err := prepare("--help").CombinedOutput(); err != nil {
		t.Skipf("a process may not mount here: %v, %s", err, out)
	}
	s = serveIn(t, prepare(serveArguments(dir)...))
	pool, err := connect.ParseLine(s.Join)
	if err != nil {
		t.Fatal(err)
	}
	if client, err = connect.Open(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return s, client, filepath.Join("/proc", fmt.Sprint(s.command.Process.Pid), "root", dir)
}

// putUntilError writes as much as the store takes.
func putUntilError(t *testing.T, client store.Store) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n := 0; ; n++ {
		if _, err := client.PutIfAbsent(ctx, fmt.Sprint("loops/L/log/", n), bytes.Repeat([]byte{byte(n)}, 64<<10)); err != nil {
			return err
		}
	}
}

// TestFullDiskEndsServer fills the disk of a server by another file.
func TestFullDiskEndsServer(t *testing.T) {
	s, client, folder := serveOnSmallDisk(t)
	filler, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer filler.Close()
	for err == nil {
		_, err = filler.Write(make([]byte, 1<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := putUntilError(t, client); errors.Is(err, store.ErrExists) {
		t.Errorf("put on a full disk: %v", err)
	}
	if err := s.command.Wait(); err == nil {
		t.Error("the server has ended without an error")
	}
	wants(t, "a full disk", s.stderr.String(), "is its disk full?")
	wants(t, "a full disk", s.stderr.String(), "no space left on device")
}

// TestFullServerStillReads fills the disk by the server.
func TestFullServerStillReads(t *testing.T) {
	s, client, _ := serveOnSmallDisk(t)
	err := putUntilError(t, client)
	if errors.Is(err, store.ErrExists) {
		t.Errorf("put on a full disk: %v", err)
	}
	wants(t, "put", err.Error(), "the disk of the server at "+s.Listen+" has no more space for the pool")
	if _, err := client.Get(t.Context(), "loops/L/log/0"); err != nil {
		t.Errorf("Get: %v", err)
	}
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
