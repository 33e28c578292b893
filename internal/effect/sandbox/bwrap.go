package sandbox

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// emptied are folders of the machine with files and sockets of other programs. In the sandbox they
// are empty, but for what is mounted into them.
var emptied = []string{"/tmp", "/var/tmp", "/run"}

// resolvers are what programs read to resolve names, where /etc/resolv.conf leads there.
var resolvers = []string{"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"}

// asRoot are the options that bubblewrap needs for root, whom it leaves every right, such as to
// unmount what protects a file or to make a device. From others it takes all rights by itself.
var asRoot = []string{"--unshare-user", "--cap-drop", "ALL"}

// kernelFiles are those of /proc that root may write even without rights.
var kernelFiles = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/fs"}

// bwrap runs the agent with bubblewrap: in a file system in which everything is read-only but what
// the policy allows, among processes of its own, and with a network of its own unless it is open.
func (b *Box) bwrap(argv, env []string) (wrapped, environment []string, err error) {
	wrapped = []string{b.Self, "inside", "--ignore-term", "--", "bwrap", "--die-with-parent", "--unshare-pid",
		"--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
	if os.Getuid() == 0 {
		wrapped = append(wrapped, asRoot...)
	}
	if b.Network != Open {
		wrapped = append(wrapped, "--unshare-net")
	}
	wrapped = append(wrapped, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	for _, m := range b.mounts(argv, env) {
		wrapped = append(wrapped, m.arguments()...)
	}
	inside := []string{b.Self, "inside", "--default-term"}
	sockets, err := b.sockets()
	if err != nil {
		return nil, nil, err
	}
	if sockets != "" {
		inside = append(inside, "--sockets", sockets)
	}
	if b.proxy != nil {
		wrapped = append(wrapped, "--bind", b.proxy.Socket, b.proxy.Socket)
		inside = append(inside, "--proxy", b.proxy.Socket)
	}
	wrapped = append(wrapped, "--chdir", b.Dir, "--")
	return slices.Concat(wrapped, inside, []string{"--"}, argv), with(env, b.caches()...), nil
}

// A mount is how a path is seen in the sandbox.
type mount struct {
	path string
	how  string // an option of bwrap
}

func (m mount) arguments() []string {
	switch m.how {
	case "--tmpfs":
		return []string{m.how, m.path}
	case "--hide-file":
		return []string{"--ro-bind", "/dev/null", m.path}
	case "--close":
		return []string{"--tmpfs", m.path, "--remount-ro", m.path}
	}
	return []string{m.how, m.path, m.path}
}

// mounts returns how paths are seen: a folder before what is in it, since a later mount hides an
// earlier one. Of two about one path the last counts: what is shown may be changed if it is in
// Write, and not if it is protected.
func (b *Box) mounts(argv, env []string) (all []mount) {
	for _, dir := range emptied {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			all = append(all, mount{dir, "--tmpfs"})
		}
	}
	for _, path := range slices.Concat(b.programs(argv, env), resolvers) {
		if slices.ContainsFunc(slices.Concat(emptied, b.Hide), func(dir string) bool { return within(dir, path) }) {
			all = append(all, mount{path, "--ro-bind-try"})
		}
	}
	for _, path := range b.Show {
		all = append(all, mount{path, "--ro-bind-try"})
	}
	for _, path := range b.writable() {
		all = append(all, mount{path, "--bind-try"})
	}
	for _, path := range b.protected() {
		all = append(all, mount{path, "--ro-bind-try"})
	}
	if os.Getuid() == 0 {
		for _, path := range kernelFiles {
			all = append(all, mount{path, "--ro-bind-try"})
		}
	}
	for _, path := range b.Hide {
		switch info, err := os.Lstat(path); {
		case err != nil:
		case b.closed(path):
			all = append(all, mount{path, "--close"}) // a file in it would be lost without an error
		case info.IsDir():
			all = append(all, mount{path, "--tmpfs"})
		case info.Mode().IsRegular():
			all = append(all, mount{path, "--hide-file"})
		}
	}
	slices.SortStableFunc(all, func(a, c mount) int { return cmp.Compare(strings.Count(a.path, "/"), strings.Count(c.path, "/")) })
	return all
}

// programs are the files and folders that the command needs and that may be in a folder which the
// sandbox empties: ralph itself, the agent's program with its packages, a script, and the folders
// of PATH.
func (b *Box) programs(argv, env []string) []string {
	paths := []string{b.Self}
	for i, word := range argv {
		if path, err := exec.LookPath(word); i == 0 && err == nil {
			word = path
		}
		found := word
		if filepath.IsAbs(word) {
			if info, err := os.Lstat(word); err == nil && info.Mode()&os.ModeSymlink != 0 {
				word = filepath.Dir(word) // where the link is
			}
			paths = append(paths, word)
			if real, err := filepath.EvalSymlinks(found); err == nil {
				paths = append(paths, real)
				if before, _, ok := strings.Cut(real, "/node_modules/"); ok {
					paths = append(paths, before+"/node_modules")
				}
			}
		}
	}
	for _, entry := range env {
		if list, ok := strings.CutPrefix(entry, "PATH="); ok {
			for _, dir := range filepath.SplitList(list) {
				if filepath.IsAbs(dir) {
					paths = append(paths, filepath.Clean(dir))
				}
			}
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(emptied, path) || slices.Contains(b.Hide, path) })
}

// within reports whether a path is in a folder, or is it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
