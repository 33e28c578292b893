package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// minLandlock is the version of Landlock that keeps signals in the sandbox (Linux 6.12). Limits of
// TCP came with version 4.
const minLandlock = 6

// A ruleset is what "ralph inside" asks of Landlock before it becomes the agent.
type ruleset struct {
	Read  []string `json:"read"`  // files and folders that may be read and run
	Write []string `json:"write"` // and changed
	Net   bool     `json:"net"`   // the network is limited
}

// landlock runs the agent with rules of the kernel. Landlock only allows: what is in a folder that
// is allowed cannot be taken out again. So the tree must not have the loop's files in it, and what
// is hidden is left out of the list of what may be read.
func (b *Box) landlock(argv, env []string) (wrapped, environment []string, err error) {
	for _, path := range b.Ralph {
		if slices.ContainsFunc(b.Write, func(dir string) bool { return within(dir, path) }) {
			return nil, nil, fmt.Errorf("sandbox landlock cannot protect %s in a folder that the agent may change: start the loop with --worktree, or use bwrap", path)
		}
	}
	rules := ruleset{Write: append([]string{"/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/pts"}, b.writable()...), Net: b.Network != Open}
	if !b.Secret {
		rules.Write = append(rules.Write, "/dev/shm")
	}
	rules.Read = readable("/", b.Hide, slices.Concat(b.Show, b.programs(argv, env)))
	inside := []string{b.Self, "inside"}
	sockets, err := b.sockets()
	if err != nil {
		return nil, nil, err
	}
	if sockets != "" {
		inside = append(inside, "--sockets", sockets)
	}
	if b.proxy != nil {
		inside = append(inside, "--proxy", b.proxy.Socket)
		rules.Write = append(rules.Write, b.proxy.Socket)
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return nil, nil, err
	}
	inside = append(inside, "--landlock", base64.StdEncoding.EncodeToString(text), "--")
	return slices.Concat(inside, argv), with(env, b.temporary()...), nil
}

// readable lists what of a folder may be read: all but what is hidden, in as few names as possible.
func readable(dir string, hide, show []string) (paths []string) {
	if !slices.ContainsFunc(hide, func(path string) bool { return within(dir, path) }) {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case slices.Contains(hide, path):
			for _, shown := range show {
				if shown != path && within(path, shown) {
					paths = append(paths, readable(shown, hide, show)...)
				}
			}
		case entry.IsDir():
			paths = append(paths, readable(path, hide, show)...)
		case leadsTo(path, hide): // a rule for a link counts for what it leads to, whose own name is found, too
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

// leadsTo reports whether a path is a link to something that is hidden, or has it inside.
func leadsTo(path string, hide []string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real != path && slices.ContainsFunc(hide, func(hidden string) bool { return within(real, hidden) })
}
