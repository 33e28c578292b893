package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A machine is what a virtual machine was made with.
type machine struct {
	Create  []string `json:"create"`
	Network []string `json:"network,omitempty"`
	Program string   `json:"program,omitempty"` // the digest of ralph in it
}

const (
	machineFile = "machine.json"
	shareFolder = "share"
	// ralphInVM is where the program ralph is in a machine.
	ralphInVM = "/usr/local/bin/ralph"
	// createTime bounds the making of a machine, which may load an image.
	createTime = 10 * time.Minute
	// joinTime bounds the wait for another loop that prepares the machine.
	joinTime = createTime + time.Minute
	// joinWait is the time between two looks at a lock.
	joinWait = 100 * time.Millisecond
)

// MachineOf returns the name of the machine of a folder, and the folder in ralph's home with what
// ralph knows of it.
func MachineOf(home, tree string) (name, dir string) {
	sum := sha256.Sum256([]byte(tree))
	name = "ralph-" + strings.ReplaceAll(registration.SlugName(filepath.Base(tree)), "_", "-") + "-" + hex.EncodeToString(sum[:6])
	return name, filepath.Join(home, machinesFolder, name)
}

const machinesFolder = "machines" // in ralph's home

// prepareVM makes the machine, or stops it so that it sees the files as they are, or joins the
// loops that use it.
func (b *Box) prepareVM(ctx context.Context) error {
	if err := b.prepareState(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	for {
		lock, alone, err := lockMachine(b.Machine)
		if lock != nil && err == nil {
			err = os.MkdirAll(b.LoopDir(), 0o700)
		}
		switch {
		case err != nil:
			return err
		case alone:
			if err := b.readyVM(ctx); err != nil {
				return errors.Join(err, lock.Close())
			}
			if shared, err := filelock.TryShared(lock); err != nil || !shared { // another one was quicker
				if err := errors.Join(err, lock.Close()); err != nil {
					return err
				}
				continue
			}
			b.lock = lock
			return nil
		case lock != nil:
			b.lock = lock
			b.used.Store(true) // perhaps by a dead runner of this loop
			return b.joinVM(ctx)
		}
		select { // another loop prepares it
		case <-ctx.Done():
			return fmt.Errorf("wait for the machine %s: %w", b.Name, context.Cause(ctx))
		case <-time.After(joinWait):
		}
	}
}

// lockMachine locks a machine, for this loop alone if no other uses it. It returns no file if
// another loop has it alone. A file that was removed meanwhile is no lock.
func lockMachine(dir string) (lock *os.File, alone bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, err
	}
	path := filepath.Join(dir, "lock")
	lock, err = safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	locked := false
	if alone, err = filelock.TryExclusive(lock); err == nil && !alone {
		locked, err = filelock.TryShared(lock)
	}
	if alone || locked {
		mine, failed := lock.Stat()
		now, gone := os.Stat(path)
		if failed == nil && gone == nil && os.SameFile(mine, now) {
			return lock, alone, nil
		}
	}
	return nil, false, errors.Join(err, lock.Close())
}

// joinVM checks that the machine which other loops use is the one that this loop needs.
func (b *Box) joinVM(ctx context.Context) error {
	have := b.recorded()
	if !have.same(b.wanted()) {
		return &vmError{
			fmt.Errorf("sandbox %s: the machine %s is in use by another loop, and was made with other folders or another network (sandbox.network) than this loop needs", DockerSandbox, b.Name),
			"wait until that loop has ended, or start this one with --worktree, which has a machine of its own",
		}
	}
	return b.installRalph(ctx, have)
}

// same reports whether a machine has the folders and the network of another one.
func (m machine) same(other machine) bool {
	m.Program, other.Program = "", ""
	return reflect.DeepEqual(m, other)
}

// wanted is the machine that the policy needs.
func (b *Box) wanted() machine {
	m := machine{Create: slices.Concat([]string{"sandbox", "create", "--name", b.Name, "claude", b.Tree}, b.readOnly(),
		b.gitFolders(), []string{filepath.Join(b.Machine, shareFolder), b.State})}
	if b.Network == Closed || b.Network == Listed {
		m.Network = []string{"sandbox", "network", "proxy", b.Name, "--policy", "deny"}
		for _, host := range b.Hosts {
			m.Network = append(m.Network, "--allow-host", host)
		}
	}
	return m
}

// readOnly are the folders of ralph's in the tree, which the machine may only read.
func (b *Box) readOnly() (args []string) {
	for _, path := range b.Ralph {
		info, err := os.Lstat(path)
		inner := slices.ContainsFunc(b.Ralph, func(other string) bool { return other != path && within(other, path) })
		if err == nil && info.IsDir() && within(b.Tree, path) && !inner {
			args = append(args, path+":ro")
		}
	}
	return args
}

// gitFolders are the folders of git's that are not in the tree, as those of a linked work tree: the
// repository to be read, and what a commit writes.
func (b *Box) gitFolders() (args []string) {
	if b.Git.Common == "" || within(b.Tree, b.Git.Common) {
		return nil
	}
	write, _ := b.Git.access()
	return append([]string{b.Git.Common + ":ro"}, write...)
}

func (b *Box) recorded() (m machine) {
	if text, err := safefile.Read(filepath.Join(b.Machine, machineFile), 1<<20); err == nil {
		_ = json.Unmarshal(text, &m) // else the machine is made again
	}
	return m
}

func (b *Box) record(m machine) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = safefile.WriteFile(filepath.Join(b.Machine, machineFile), append(text, '\n'), 0o600)
	}
	return err
}

// RemoveVM removes the machine of a folder, and what ralph knows of it, unless a loop uses it. One
// that is not there is no error.
func RemoveVM(ctx context.Context, home, tree string) error {
	name, dir := MachineOf(home, tree)
	if _, err := os.Lstat(dir); err != nil {
		return nil //nolint:nilerr // there is none
	}
	lock, alone, err := lockMachine(dir)
	if err != nil || lock == nil {
		return err
	}
	defer lock.Close()
	if !alone {
		return nil
	}
	list, err := call(ctx, DockerSandbox.program(), "sandbox", "ls")
	if err != nil {
		return nil //nolint:nilerr // without Docker Desktop the machine stays, and keeps no loop from being removed
	}
	if slices.Contains(strings.Fields(list), name) {
		if _, err := call(ctx, DockerSandbox.program(), "sandbox", "rm", name); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
