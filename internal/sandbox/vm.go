package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safefile"
)

// Docker Sandbox runs an agent in a virtual machine of Docker Desktop 4.58 or later:
//
//	docker sandbox create --name NAME claude TREE STATE
//	docker sandbox exec -u root NAME sh -c '…'   once: where the login is, and who commits
//	docker sandbox exec NAME sh -c '…'
//	docker sandbox run NAME -- ARGUMENTS         the agent
//
// The machine stays between iterations. A file that was brought into it is never brought again, so
// after a pause, in which a person may have changed files, it is stopped: it begins with the files
// as they are. What ralph itself writes between iterations is written there by exec. This way of
// calling was tried with a program that checks each argument, not with Docker Desktop.

// prepareVM makes the machine, or stops it so that it sees the files as they are.
func (b *Box) prepareVM(ctx context.Context) error {
	list, err := b.engine(ctx, "sandbox", "ls")
	if err != nil {
		return fmt.Errorf("sandbox %s %w: %w", DockerSandbox, ErrUnavailable, err)
	}
	if slices.ContainsFunc(strings.Fields(list), func(word string) bool { return word == b.Name }) {
		_, err := b.engine(ctx, "sandbox", "stop", b.Name)
		return err
	}
	if err := b.prepareState(); err != nil {
		return err
	}
	create := []string{"sandbox", "create", "--name", b.Name, "claude", b.Dir, b.State}
	if _, err := b.engine(ctx, create...); err != nil {
		return err
	}
	if err := b.setUpVM(ctx); err != nil {
		_, removed := b.engine(ctx, "sandbox", "rm", b.Name) // else the next start would take it for ready
		if removed != nil {
			return fmt.Errorf("%w; it is left: %w", err, removed)
		}
		return err
	}
	return nil
}

// prepareState makes the folder of the login. An empty file in place of the settings would be an
// error of the agent.
func (b *Box) prepareState() error {
	if err := os.MkdirAll(filepath.Join(b.State, ".claude"), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(b.State, ".claude.json"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString("{}\n")
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	return err
}

// setUpVM leads the agent's home to the login, and tells git who commits and the network what is
// allowed.
func (b *Box) setUpVM(ctx context.Context) error {
	link := fmt.Sprintf("rm -rf /home/agent/.claude /home/agent/.claude.json && ln -s %s /home/agent/.claude && ln -s %s /home/agent/.claude.json && chown -h agent: /home/agent/.claude /home/agent/.claude.json",
		quotedShell(filepath.Join(b.State, ".claude")), quotedShell(filepath.Join(b.State, ".claude.json")))
	if _, err := b.engine(ctx, "sandbox", "exec", "-u", "root", b.Name, "sh", "-c", link); err != nil {
		return err
	}
	for _, key := range []string{"user.name", "user.email"} {
		value, err := call(ctx, "git", "-C", b.Dir, "config", "--get", key)
		if value = strings.TrimSpace(value); err != nil || value == "" {
			continue // git will say so, if the agent commits
		}
		if _, err := b.engine(ctx, "sandbox", "exec", b.Name, "git", "config", "--global", key, value); err != nil {
			return err
		}
	}
	switch b.Network {
	case Closed:
		_, err := b.engine(ctx, "sandbox", "network", "proxy", b.Name, "--policy", "deny")
		return err
	case Listed:
		args := []string{"sandbox", "network", "proxy", b.Name, "--policy", "deny"}
		for _, host := range b.Hosts {
			args = append(args, "--allow-host", host)
		}
		_, err := b.engine(ctx, args...)
		return err
	}
	return nil
}

// Refresh lets the machine begin again with the files as they are, after a person may have changed
// some. It takes about ten seconds. Other sandboxes need none.
func (b *Box) Refresh(ctx context.Context) error {
	if b == nil || b.Mode != DockerSandbox {
		return nil
	}
	_, err := b.engine(ctx, "sandbox", "stop", b.Name)
	return err
}

// Put writes files of this machine into the virtual machine, which would not notice that they have
// changed. One that is missing here is left out. Other sandboxes see the files themselves.
func (b *Box) Put(ctx context.Context, names ...string) error {
	if b == nil || b.Mode != DockerSandbox {
		return nil
	}
	for _, name := range names {
		content, err := safefile.Read(name, maxPut)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			_, err = feed(ctx, content, b.Mode.program(), "sandbox", "exec", "-i", b.Name, "sh", "-c", "cat > "+quotedShell(name))
		}
		if err != nil {
			return fmt.Errorf("bring %s into the sandbox: %w", name, err)
		}
	}
	return nil
}

// Settle is how long it may take, after the agent has ended, until the files of this machine are
// those of the sandbox.
func (b *Box) Settle() time.Duration {
	if b == nil || b.Mode != DockerSandbox {
		return 0
	}
	return settleTime
}

// maxPut bounds a file that is written into a machine, in bytes.
const maxPut = 32 << 20

// settleTime is that of the plan for Docker Sandbox: two to three seconds.
const settleTime = 3 * time.Second

// RemoveVM removes the virtual machine of a loop; one that is not there is no error.
func RemoveVM(ctx context.Context, id string) error {
	list, err := call(ctx, DockerSandbox.program(), "sandbox", "ls")
	if err == nil && slices.Contains(strings.Fields(list), NameOf(id)) {
		_, err = call(ctx, DockerSandbox.program(), "sandbox", "rm", NameOf(id))
	}
	return err
}

// NameOf is the name of the sandbox of a loop with that id.
func NameOf(id string) string { return "ralph-" + strings.ToLower(id) }

// inVM runs the agent of the machine, whose program the machine has. Variables do not reach it.
func (b *Box) inVM(argv, env []string) (wrapped, environment []string) {
	if b.probe {
		return slices.Concat([]string{"docker", "sandbox", "exec", b.Name}, argv), env
	}
	return slices.Concat([]string{"docker", "sandbox", "run", b.Name, "--"}, argv[min(1, len(argv)):]), env
}

// quotedShell writes a text as a POSIX shell reads it.
func quotedShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
