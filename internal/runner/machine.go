package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/ground/filewatch"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A virtual machine does not have the loop's folder, in which the journal and the settings are. Its
// agent has another one, with what it may write: the working memory and the marks, which are
// brought there before a process of the agent and fetched after its turn, and a part of the inbox,
// from which commands are fetched as they come. The agent may put anything there, so all of it is
// opened without links.

// memory are the files of that folder that a person may write, too, and marks those that only the
// agent does.
var (
	memory = []string{task.TaskFile, task.ReflectFile}
	marks  = []string{task.DoneFile, task.WaitFile, task.PullRequestFile}
)

// An exchange is what runner and agent of a virtual machine share.
type exchange struct {
	brought map[string][]byte // the memory as the agent got it
	unsaved map[string]bool   // what could not be written, so that only the agent's folder has it
	mu      sync.Mutex        // of what fetches commands
	cancel  context.CancelFunc
	ended   chan struct{}
}

// beginExchange fetches commands of the agent until endExchange.
func (r *runner) beginExchange() error {
	dir := filepath.Join(r.sandbox.LoopDir(), inbox.AgentFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	watch, err := filewatch.New(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.exchange = &exchange{brought: map[string][]byte{}, unsaved: map[string]bool{}, cancel: cancel, ended: make(chan struct{})}
	r.fetchFiles(marks) // which a dead runner has not seen
	go func() {
		defer close(r.exchange.ended)
		defer watch.Close()
		for {
			r.warnOf(r.fetchCommands())
			if _, err := watch.Wait(ctx); err != nil || ctx.Err() != nil {
				return // a watch that ended leaves what comes to fetchFiles
			}
		}
	}()
	return nil
}

func (r *runner) endExchange() {
	if r.exchange != nil {
		r.exchange.cancel()
		<-r.exchange.ended
		r.warnOf(r.fetchCommands())
		r.warnOf(r.forgetFiles())
		r.exchange = nil
	}
}

func (r *runner) warnOf(err error) {
	if err != nil {
		r.warn(fmt.Errorf("fetch what the agent left in its machine: %w", err))
	}
}

// forgetFiles removes what was fetched, so that what is there later was left by a dead runner.
func (r *runner) forgetFiles() error {
	from, err := folderOfAgent(r.sandbox.LoopDir())
	if err != nil {
		return err
	}
	defer from.Close()
	for _, name := range slices.Concat(memory, marks) {
		if r.exchange.unsaved[name] {
			continue
		}
		if failed := from.Remove(name); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// bringFiles writes the working memory into the machine, and removes marks that were read.
func (r *runner) bringFiles(ctx context.Context) error {
	dir := r.sandbox.LoopDir()
	var old []string
	for _, name := range marks {
		old = append(old, filepath.Join(dir, name))
	}
	from, err := folderOfAgent(dir)
	if err == nil {
		defer from.Close()
		err = r.sandbox.Drop(ctx, old...)
	}
	if err != nil {
		return err
	}
	for _, name := range memory {
		content, err := safefile.Read(filepath.Join(r.Dir, name), task.MaxTask)
		left, absent := safefile.ReadIn(from, name, task.MaxTask)
		if _, known := r.exchange.brought[name]; (!known || r.exchange.unsaved[name]) && absent == nil && !bytes.Equal(left, content) {
			kept, err := r.keep(name, left)
			if err != nil {
				return fmt.Errorf("keep what the agent wrote into %s: %w", name, err)
			}
			r.warn(fmt.Errorf("the agent had changed %s, and that was not fetched; it is %s", name, kept))
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = r.sandbox.PutText(ctx, filepath.Join(dir, name), content)
		}
		if err != nil {
			return fmt.Errorf("bring %s into the sandbox: %w", name, err)
		}
		r.exchange.brought[name] = content
		delete(r.exchange.unsaved, name)
	}
	return nil
}

// keep writes a text of the agent where 'ralph status' names it, and returns its path.
func (r *runner) keep(name string, content []byte) (string, error) {
	kept, err := keep.CopyFound(r.Dir, name, content)
	return filepath.Join(r.Dir, kept), err
}

// fetchFiles takes over what the agent wrote. What a person wrote meanwhile stays, and the agent's
// is kept beside it. It returns what a person should know.
func (r *runner) fetchFiles(names []string) (notes []string) {
	r.warnOf(r.fetchCommands())
	from, err := folderOfAgent(r.sandbox.LoopDir())
	if err != nil {
		r.warnOf(err)
		return nil
	}
	defer from.Close()
	for _, name := range names {
		content, err := safefile.ReadIn(from, name, task.MaxTask)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				r.warnOf(err)
			}
			continue
		}
		brought, known := r.exchange.brought[name]
		if known && bytes.Equal(content, brought) {
			continue
		}
		path := filepath.Join(r.Dir, name)
		if now, failed := safefile.Read(path, task.MaxTask); known && failed == nil && !bytes.Equal(now, brought) {
			if path, err = r.keep(name, content); err == nil {
				notes = append(notes, fmt.Sprintf("kept %s, which changed while the agent worked; the agent's is %s", name, path))
			}
		} else {
			err = safefile.WriteFile(path, content, 0o600)
		}
		if r.warnOf(err); err != nil {
			r.exchange.unsaved[name] = true
			continue
		}
		delete(r.exchange.unsaved, name)
		if known {
			r.exchange.brought[name] = content
		}
	}
	return notes
}

// folderOfAgent opens the folder of the agent, which is not a link.
func folderOfAgent(dir string) (*os.Root, error) {
	share, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer share.Close()
	return safefile.FolderIn(share, filepath.Base(dir))
}

// commandName is that of a command in an inbox.
var commandName = units.Pattern(`^[0-9A-Z]{26}\.json$`)

// fetchCommands moves commands of the agent into its part of the loop's inbox, where the runner
// finds them.
func (r *runner) fetchCommands() error {
	r.exchange.mu.Lock()
	defer r.exchange.mu.Unlock()
	loop, err := folderOfAgent(r.sandbox.LoopDir())
	if err != nil {
		return err
	}
	defer loop.Close()
	from, err := safefile.FolderIn(loop, inbox.AgentFolder)
	if err != nil {
		return err
	}
	defer from.Close()
	listed, err := from.Open(".")
	if err != nil {
		return err
	}
	defer listed.Close()
	entries, err := listed.ReadDir(inbox.PassLimit)
	if errors.Is(err, io.EOF) {
		return nil
	}
	for _, entry := range entries {
		if !commandName().MatchString(entry.Name()) {
			continue
		}
		content, failed := safefile.ReadIn(from, entry.Name(), inbox.MaxSize)
		_, unfit := errors.AsType[*safefile.Error](failed)
		if failed == nil {
			failed = safefile.WriteFile(filepath.Join(r.Dir, inbox.AgentFolder, entry.Name()), content, 0o600)
		}
		if err = errors.Join(err, failed); failed == nil || unfit { // else it is the only copy
			err = errors.Join(err, from.Remove(entry.Name()))
		}
	}
	return err
}
