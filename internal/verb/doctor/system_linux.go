package doctor

import (
	"os"
	"strconv"
	"strings"
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
