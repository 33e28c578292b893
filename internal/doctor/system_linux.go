package doctor

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// watchLimits are the kernel's limits on file events for each user.
func watchLimits() (instances, watches int, ok bool) {
	read := func(name string) int {
		text, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
		if err != nil {
			return 0
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return 0
		}
		return n
	}
	instances, watches = read("max_user_instances"), read("max_user_watches")
	return instances, watches, instances > 0 && watches > 0
}

// landlockFinding asks the kernel for the version of its sandbox (Linux 5.13 and later).
func landlockFinding() finding {
	const askVersion = 1 // LANDLOCK_CREATE_RULESET_VERSION, linux/landlock.h
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, askVersion)
	if errno != 0 {
		return finding{"landlock", Works, "not in this kernel; sandbox.mode landlock needs it", ""}
	}
	return finding{"landlock", Works, fmt.Sprintf("version %d of its rules", version), ""}
}
