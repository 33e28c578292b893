package takeover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/registry"
)

// project is where the loop is brought to.
func (t *taking) project() string {
	return filepath.Join(t.record.Into, filepath.FromSlash(t.files.Inside))
}

func (t *taking) folder() string { return filepath.Join(t.project(), client.Folder, t.files.Name) }

// here reports whether the loop is on the disk under the epoch of the last claim.
func (t *taking) here() bool {
	m, err := membership.Read(t.folder())
	return err == nil && m.Epoch == t.log.Claim.Epoch && m.Host == t.Host
}

// bring imports the loop, unless an earlier call has.
func (t *taking) bring(ctx context.Context) error {
	t.Taken.Project = t.project()
	if t.Into != "" {
		if into, err := filepath.Abs(t.Into); err != nil || into != t.record.Into {
			t.say("it goes to %s, as the call said that began the take-over", t.record.Into)
		}
	}
	if !t.here() {
		if err := t.unpack(ctx); err != nil {
			return err
		}
	}
	t.record.Imported = true
	return t.record.write()
}

func (t *taking) unpack(ctx context.Context) error {
	if err := moveAside(t.record.Into, t.say); err != nil {
		return err
	}
	file := filepath.Join(t.scratch, "loop.ralph")
	t.say("making a work tree in %s", t.record.Into)
	if err := pack(filepath.Join(t.scratch, "files"), file); err != nil {
		return fmt.Errorf("write the file of an export: %w", err)
	}
	command := exec.CommandContext(ctx, program.Ralph(), "import", file, "--into", t.record.Into,
		"--epoch", strconv.FormatUint(t.Taken.Epoch, 10), "--host="+t.Host, "--from="+t.Taken.From, // a name may begin with -
		"--loop", t.Taken.Loop)
	command.Stderr = t.Stderr
	command.ExtraFiles = []*os.File{t.lock} // it may outlive this process
	if err := command.Run(); err != nil {
		return fmt.Errorf("ralph import: %w: the claim is in the log, and the same command tries the import again", err)
	}
	if _, err := program.Run(ctx, "journal", "verify", t.files.Name, "--project", t.project()); err != nil {
		return err
	}
	_, err := program.Run(ctx, "journal", "rebuild", t.files.Name, "--project", t.project())
	return err
}

// moveAside renames what an import has left that was killed.
func moveAside(into string, say func(string, ...any)) error {
	entries, err := os.ReadDir(into)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	for n := 1; err == nil; n++ {
		aside := fmt.Sprintf("%s.unfinished-%d", into, n)
		if _, there := os.Lstat(aside); errors.Is(there, fs.ErrNotExist) {
			say("an import was killed here: what it has left is %s now, and may be removed", aside)
			return os.Rename(into, aside)
		}
	}
	return err
}

// start resumes the loop.
func (t *taking) start(ctx context.Context) error {
	live, err := registry.Probe(t.folder())
	if err != nil || live.Alive {
		t.Running = live.Alive
		return err
	}
	if ended := t.view.Ended; ended != nil {
		t.say("it has ended meanwhile (%s), and is not resumed: its folder is %s", ended.Reason, t.folder())
		return nil
	}
	args := []string{"start", t.files.Name, "--resume", "--detach", "--project", t.project()}
	if t.Trust {
		args = append(args, "--trust")
	}
	t.say("resuming it")
	command := exec.CommandContext(ctx, program.Ralph(), args...)
	command.Stdin, command.Stdout, command.Stderr = t.Stdin, t.Stderr, t.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("it is this host's now, in %s, and does not run: %w: the same command tries to resume it again", t.project(), err)
	}
	t.Running = true
	return nil
}
