package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Docker Sandbox runs an agent in a virtual machine of Docker Desktop 4.58 or later:
//
//	docker sandbox create --name NAME claude TREE TREE/.ralph:ro SHARE STATE
//	docker sandbox exec -u root NAME sh -c '…'   once: where the login is, the program ralph
//	docker sandbox exec NAME sh -c '…'
//	docker sandbox exec -i -w DIR -e RALPH_LOOP=… NAME sh -c '…' ralph claude ARGUMENTS
//
// There is one machine for a folder in which agents work: that of the project for all loops that
// work there, and one for each worktree, since what a machine is given cannot be changed later. It
// stays between loops. A file that was brought into it is never brought again, so at the start of a
// loop and after a pause, in which a person may have changed files, it is stopped: it begins with
// the files as they are. While another loop uses the machine it is neither stopped nor removed.
// What ralph itself writes between iterations is written there by exec.
//
// The folder of the loop is not in the machine, or only to be read. What agent and runner exchange
// is in a folder of the machine's own, [Box.LoopDir].
//
// This way of calling was tried with programs that check each argument, not with Docker Desktop.

// LinuxProgram returns the program ralph for a machine, which runs Linux; "" if there is none.
func LinuxProgram(self, home string) string {
	if runtime.GOOS == "linux" {
		return self
	}
	path := filepath.Join(home, machinesFolder, "ralph-linux-"+runtime.GOARCH)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// An vmError says why a machine cannot be had, with the next step.
type vmError struct {
	err  error
	hint string
}

func (e *vmError) Error() string { return e.err.Error() }
func (e *vmError) Unwrap() error { return e.err }
func (e *vmError) Hint() string  { return e.hint }

// checkVM reports whether Docker Desktop answers.
func checkVM() error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if _, err := call(ctx, DockerSandbox.program(), "sandbox", "ls"); err != nil {
		return &vmError{
			fmt.Errorf("sandbox %s %w: %w", DockerSandbox, ErrUnavailable, err),
			"start Docker Desktop 4.58 or later, whose sandboxes are switched on; sandbox.mode chooses another sandbox, or none",
		}
	}
	return nil
}

// answerTime is how long Docker Desktop may take to list its machines.
const answerTime = 20 * time.Second

// LoopDir is the loop's folder as the agent of a machine has it; "" for other sandboxes, where it
// is the loop's own.
func (b *Box) LoopDir() string {
	if b == nil || b.Mode != DockerSandbox {
		return ""
	}
	return filepath.Join(b.Machine, shareFolder, b.Loop)
}

// Program returns the path of the program ralph for the agent, whose path outside is self; "" if it
// is not in the sandbox.
func (b *Box) Program(self string) string {
	switch {
	case b == nil || !b.Mode.Contained():
		return self
	case b.Mode == DockerSandbox && b.Linux != "":
		return ralphInVM
	}
	return ""
}

// readyVM makes or stops the machine, which no other loop uses.
func (b *Box) readyVM(ctx context.Context) error {
	list, err := b.engine(ctx, "sandbox", "ls")
	if err != nil {
		return fmt.Errorf("sandbox %s %w: %w", DockerSandbox, ErrUnavailable, err)
	}
	have, want := b.recorded(), b.wanted()
	if slices.Contains(strings.Fields(list), b.Name) {
		if have.same(want) {
			if err := b.restart(ctx); err != nil {
				return err
			}
			return b.installRalph(ctx, have)
		}
		if _, err := b.engine(ctx, "sandbox", "rm", b.Name); err != nil {
			return err
		}
	}
	if _, err := feed(ctx, createTime, nil, b.Mode.program(), want.Create...); err != nil {
		return fmt.Errorf("sandbox %s %w: %w", DockerSandbox, ErrUnavailable, err)
	}
	err = b.setUpVM(ctx, want)
	if err == nil {
		err = b.record(want)
	}
	if err == nil {
		err = b.installRalph(ctx, want)
	}
	if err == nil {
		return nil
	}
	if _, left := b.engine(ctx, "sandbox", "rm", b.Name); left != nil { // else the next start would take it for ready
		return fmt.Errorf("%w; it is left: %w", err, left)
	}
	return err
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

// setUpVM leads the agent's home to the login, tells git who commits and the network what is
// allowed, and checks that what is only to be read cannot be written.
func (b *Box) setUpVM(ctx context.Context, m machine) error {
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
	if m.Network != nil {
		if _, err := b.engine(ctx, m.Network...); err != nil {
			return err
		}
	}
	for _, arg := range b.readOnly() {
		if err := b.tryWrite(ctx, strings.TrimSuffix(arg, ":ro")); err != nil {
			return err
		}
	}
	return nil
}

// tryWrite returns an error if a file that root of the machine writes into a folder appears in the
// folder here. A machine that has a copy of the files writes into that, which harms nothing.
func (b *Box) tryWrite(ctx context.Context, dir string) error {
	path := filepath.Join(dir, ".try-"+b.Name)
	if _, err := b.engine(ctx, "sandbox", "exec", "-u", "root", b.Name, "sh", "-c", ": > "+quotedShell(path)); err != nil {
		return nil //nolint:nilerr // it cannot be written
	}
	for waited := time.Duration(0); waited <= settleTime; waited += joinWait {
		if os.Remove(path) == nil {
			return &vmError{
				fmt.Errorf("sandbox %s cannot keep the files of the loop from an agent that works beside them: the machine %s can write %s",
					DockerSandbox, b.Name, dir),
				"start the loop with --worktree, whose machine does not have them; sandbox.mode chooses another sandbox, or none",
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(joinWait):
		}
	}
	return nil
}

// installRalph puts this program ralph into the machine, unless it is there.
func (b *Box) installRalph(ctx context.Context, have machine) error {
	if b.Linux == "" {
		return nil
	}
	content, err := safefile.ReadLinked(b.Linux, maxProgram)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	if digest := hex.EncodeToString(sum[:]); have.Program != digest {
		install := "cat > " + ralphInVM + ".new && chmod 755 " + ralphInVM + ".new && mv " + ralphInVM + ".new " + ralphInVM
		if _, err := feed(ctx, createTime, content, b.Mode.program(), "sandbox", "exec", "-i", "-u", "root", b.Name, "sh", "-c", install); err != nil {
			return fmt.Errorf("put ralph into the sandbox: %w", err)
		}
		have.Program = digest
		return b.record(have)
	}
	return nil
}

// maxProgram bounds the program ralph, in bytes.
const maxProgram = 512 << 20

// Refresh lets the machine begin again with the files as they are, after a person may have changed
// some. It takes about ten seconds. Other sandboxes need none.
func (b *Box) Refresh(ctx context.Context) error {
	if b == nil || b.Mode != DockerSandbox {
		return nil
	}
	alone, err := filelock.TryExclusive(b.lock)
	if err != nil {
		return err
	}
	if alone {
		err = b.restart(ctx)
	} else {
		b.mu.Lock()
		b.note("did not stop the machine %s, which another loop uses: a file that was changed during the pause may be an old one in it", b.Name)
		b.mu.Unlock()
	}
	return errors.Join(err, share(ctx, b.lock))
}

// restart ends the machine with all that runs in it, and lets it begin again.
func (b *Box) restart(ctx context.Context) error {
	if _, err := b.engine(ctx, "sandbox", "stop", b.Name); err != nil {
		return err
	}
	_, err := feed(ctx, createTime, nil, b.Mode.program(), "sandbox", "run", b.Name, "--", "--version")
	return err
}

// share takes a lock that other loops may have, too. A failed try for it alone has released it.
func share(ctx context.Context, lock *os.File) error {
	for {
		shared, err := filelock.TryShared(lock)
		if err != nil || shared {
			return err
		}
		select { // another loop stops the machine
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(joinWait):
		}
	}
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
			err = b.PutText(ctx, name, content)
		}
		if err != nil {
			return fmt.Errorf("bring %s into the sandbox: %w", name, err)
		}
	}
	return nil
}

// PutText writes a file of the virtual machine.
func (b *Box) PutText(ctx context.Context, path string, content []byte) error {
	_, err := feed(ctx, sweepTime, content, b.Mode.program(), "sandbox", "exec", "-i", b.Name, "sh", "-c", "cat > "+quotedShell(path))
	return err
}

// Drop removes files of the virtual machine.
func (b *Box) Drop(ctx context.Context, paths ...string) error {
	_, err := b.engine(ctx, append([]string{"sandbox", "exec", b.Name, "rm", "-f", "--"}, paths...)...)
	return err
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

// sweepVM ends what the loop runs in the machine, which outlives its client. It has no other mark
// than its environment: a machine has several loops.
func (b *Box) sweepVM(ctx context.Context) error {
	if !b.used.Load() {
		return nil
	}
	const end = `for p in /proc/[0-9]*; do if tr '\0' '\n' < "$p/environ" 2>/dev/null | grep -qxF "$0"; then kill -9 "${p#/proc/}"; fi; done; :`
	_, err := b.engine(ctx, "sandbox", "exec", b.Name, "sh", "-c", end, "RALPH_LOOP_DIR="+b.LoopDir())
	return err
}

// inVM runs a program of the machine, with the variables of the loop. The values of keys are in the
// environment of the client, not in its arguments, which other users see.
func (b *Box) inVM(argv, env []string) (wrapped, environment []string) {
	argv = slices.Clone(argv)
	if filepath.IsAbs(argv[0]) && !within(b.Tree, argv[0]) { // the machine has its own
		argv[0] = filepath.Base(argv[0])
	}
	wrapped = []string{b.Mode.program(), "sandbox", "exec"}
	if !b.probe {
		b.used.Store(true)
		dir := b.LoopDir()
		wrapped = append(wrapped, "-i", "-w", b.Dir)
		for _, entry := range append(b.passed(env), "RALPH_LOOP_DIR="+dir, "TASK_FOLDER="+dir, "RALPH_MACHINE="+b.Name) {
			name, value, _ := strings.Cut(entry, "=")
			outside := (name == "RALPH_LOOP_DIR" || name == "TASK_FOLDER") && value != dir
			if !outside && name != "HOME" && name != "RALPH_HOME" {
				wrapped = append(wrapped, "-e", b.argument(entry))
			}
		}
	}
	wrapped = append(wrapped, b.Name, "sh", "-c", `PATH="$PATH:/home/agent/.local/bin"; export PATH; exec "$@"`, "ralph")
	if b.Linux != "" && !b.probe { // the loop lives, for what asks for it in the machine
		wrapped = append(wrapped, ralphInVM, "inside", "--hold", filepath.Join(b.LoopDir(), "run.lock"), "--")
	}
	return append(wrapped, argv...), env
}

// quotedShell writes a text as a POSIX shell reads it.
func quotedShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
