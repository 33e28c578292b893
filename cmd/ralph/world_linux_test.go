package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// smallFileSystem puts .ralph on a file system of 2 MB and 400 files.
func smallFileSystem(t *testing.T, p *place) (start func(...string) *exec.Cmd, room func()) {
	at := filepath.Join(p.dir, cli.RalphFolder)
	p.must(exec.Command("mkdir", at).Run())
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size=2m,nr_inodes=400"); err != nil {
		t.Skipf("this user may not mount a file system (the limit on files is tried in any case): %v", err)
	}
	t.Cleanup(func() {
		endRunners(p.home)
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return p.command, func() { p.must(syscall.Mount("tmpfs", at, "tmpfs", syscall.MS_REMOUNT, "size=64m,nr_inodes=4000")) }
}

// Where a user's inotify instances are used up, a start says so and names the limit. The loop
// works, and commands reach it.
func TestStartWithoutFileEvents(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	agent := p.script("agent.sh", "cat > /dev/null\nexec sleep 300\n")
	begin := p.command("start", "one", "--detach", "-p", "x", "--agent", agent, "--protocol", "text")
	start := begin.Args
	begin.Path, begin.Err = "/bin/sh", nil
	begin.Args = append([]string{"sh", "-c", `echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"`, "sh"}, start...)
	begin.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER, // its limits are its own
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := begin.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "ralph: ") {
		t.Skipf("this user may not make a user namespace: %v: %s", err, out)
	}
	if err != nil || !strings.Contains(string(out), "fs.inotify.max_user_instances") {
		t.Fatalf("%v: %s", err, out)
	}
	p.fine("stop", "one", "--now")
	p.until("the loop to end", func() bool { return p.dead("one") })
}
