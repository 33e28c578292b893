package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// landlockVersion is the version of Landlock in this kernel; 0 without it.
func landlockVersion() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// restrict limits this process, and all that it starts, for good. On a kernel that cannot limit the
// network or signals these stay as they are, which [Escape] shows.
func (r ruleset) restrict(ports []int) error {
	if landlockVersion() < minLandlock {
		return fmt.Errorf("sandbox %s %w", Landlock, ErrUnavailable)
	}
	config := landlock.V8
	if !r.Net {
		config.HandledAccessNet = 0
	}
	var rules []landlock.Rule
	for _, path := range r.Read {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			rules = append(rules, landlock.RODirs(path).IgnoreIfMissing())
		} else if err == nil { // else it is gone, or leads nowhere
			rules = append(rules, landlock.ROFiles(path).IgnoreIfMissing())
		}
	}
	for _, path := range r.Write {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		rule := landlock.RWFiles(path)
		if info.IsDir() {
			rule = landlock.RWDirs(path).WithRefer()
		}
		if filepath.Dir(path) == "/dev" {
			rule = rule.WithIoctlDev()
		}
		rules = append(rules, rule.IgnoreIfMissing())
	}
	for _, port := range ports {
		rules = append(rules, landlock.ConnectTCP(uint16(port)), landlock.BindTCP(uint16(port)))
	}
	if err := dropRights(); err != nil {
		return err
	}
	return config.BestEffort().Restrict(rules...)
}

// dropRights takes from root the rights that Landlock knows nothing of, such as to make a device or
// to load a module, and keeps the next program from getting them again. Others have none.
func dropRights() error {
	if os.Geteuid() != 0 {
		return nil
	}
	runtime.LockOSThread() // for good: rights are those of a thread, and this one starts the agent
	for right := uintptr(0); right <= unix.CAP_LAST_CAP; right++ {
		// A kernel that does not know a right answers EINVAL.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("drop the rights of root: %w", err)
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("drop the rights of root: %w", err)
	}
	return nil
}
