package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// The names in a loop's folder.
const (
	Folder = "worktree"
	Record = loopfolder.Worktree
	// MergeFolder is a worktree of the result of a merge. A merge that was killed leaves it.
	MergeFolder = "merging"
)

// maxRecord bounds worktree.json, in bytes.
const maxRecord = 64 << 10

// A Worktree is the one of a loop.
type Worktree struct {
	Branch string `json:"branch"`
	Base   string `json:"base"`             // the commit that the branch was at
	New    bool   `json:"new,omitempty"`    // the branch was made for the loop
	Ready  bool   `json:"ready,omitempty"`  // false while it is being made
	Merged string `json:"merged,omitempty"` // the commit that was merged last, perhaps squashed
	Inside string `json:"inside,omitempty"` // the project's place in its repository, with slashes
	// PortBase is the first of [PortsPerLoop] ports that no other loop of this user has.
	PortBase int `json:"portBase"`
	// Starter is the process that makes it and starts the runner: pid, and when that was started.
	Starter Starter `json:"starter"`

	Path string `json:"-"` // absolute
}

// A Starter identifies a process. Start is as in [process.StartTime].
type Starter struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

func thisProcess() Starter {
	start, _ := process.StartTime(os.Getpid()) // it lives
	return Starter{os.Getpid(), start}
}

// CheckStarter returns an error if another process that lives is starting the loop, or started it
// and waits for its runner. The caller holds the loop's lock, so no runner lives.
func CheckStarter(loopDir string) error {
	w, err := Read(loopDir)
	if err != nil || w == nil || w.Starter == thisProcess() {
		return err
	}
	if start, ok := process.StartTime(w.Starter.PID); ok && start == w.Starter.Start {
		return fmt.Errorf("pid %d starts the loop already", w.Starter.PID)
	}
	return nil
}

// Project is the folder of the project in the worktree.
func (w *Worktree) Project() string { return filepath.Join(w.Path, filepath.FromSlash(w.Inside)) }

// Read returns the worktree of a loop, or nil for a loop that works in the project itself.
func Read(loopDir string) (*Worktree, error) {
	text, err := safefile.Read(filepath.Join(loopDir, Record), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Lstat(filepath.Join(loopDir, Folder, ".git")); there == nil {
			return nil, fmt.Errorf("read the loop's worktree: %s is there and %s is not, which ralph writes first and an agent may have removed", filepath.Join(loopDir, Folder), Record)
		}
		return nil, nil
	}
	w := &Worktree{Path: filepath.Join(loopDir, Folder)}
	if err == nil {
		err = json.Unmarshal(text, w)
	}
	if err == nil && w.Inside != "" && !filepath.IsLocal(filepath.FromSlash(w.Inside)) {
		err = fmt.Errorf("%q is no place in it", w.Inside)
	}
	if err != nil {
		return nil, fmt.Errorf("read the loop's worktree: %w", err)
	}
	return w, nil
}

// Tree returns the project's folder in which a loop works: in its worktree if it has one, else
// project.
func Tree(loopDir, project string) (string, error) {
	w, err := Read(loopDir)
	if err != nil || w == nil {
		return project, err
	}
	return w.Project(), nil
}

func (w *Worktree) write(loopDir string) error {
	text, err := json.Marshal(w)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(loopDir, Record), append(text, '\n'), 0o600)
	}
	if err != nil {
		err = fmt.Errorf("describe the loop's worktree: %w", err)
	}
	return err
}

// A MissingError reports a worktree that was removed.
type MissingError struct{ Worktree }

func (e *MissingError) Error() string { return "the loop's worktree " + e.Path + " is gone" }

// Hint returns the next step.
func (e *MissingError) Hint() string {
	return fmt.Sprintf("'git worktree prune; git worktree add %s %s' makes it again, with what was committed", e.Path, e.Branch)
}

// Check returns a *MissingError if the worktree is gone.
func (w *Worktree) Check() error {
	if info, err := os.Lstat(filepath.Join(w.Path, ".git")); err != nil || !info.Mode().IsRegular() {
		return &MissingError{*w}
	}
	return nil
}

// A Plan says which worktree is made.
type Plan struct {
	Home    string // ralph's own
	Project string // whose repository gets the worktree
	LoopDir string // the loop's folder, which exists
	Branch  string // one that exists, or a new one at HEAD
	Free    bool   // if the branch exists, a number is added to its name
	Base    string // the commit that a new branch begins at; "" for HEAD
	Env     []string
}

// Make makes the worktree of a loop that has none, or whose worktree was not ready. The caller
// holds no lock: of two callers at once git refuses one.
func Make(ctx context.Context, p Plan) (*Worktree, error) {
	old, err := Read(p.LoopDir)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if err := old.Undo(ctx, p.Project, p.LoopDir, p.Env...); err != nil {
			return nil, err
		}
	}
	w := &Worktree{Branch: p.Branch, Path: filepath.Join(p.LoopDir, Folder), Starter: thisProcess()}
	if w.Inside, err = repo.Inside(p.Project); err != nil {
		return nil, err
	}
	if p.Free {
		if w.Branch, err = freeBranch(ctx, p); err != nil {
			return nil, err
		}
	}
	w.New = !repo.HasBranch(ctx, p.Project, w.Branch, p.Env...)
	if w.PortBase, err = freePorts(p.Home); err != nil {
		return nil, err
	}
	if w.Base, err = repo.BranchBase(ctx, p.Project, w.Branch, p.Env...); err != nil {
		return nil, err
	}
	if w.New && p.Base != "" {
		w.Base = p.Base
	}
	if err := w.write(p.LoopDir); err != nil {
		return nil, err
	}
	if err := repo.AddWorktree(ctx, p.Project, w.Path, w.Branch, w.Base, w.New, p.Env...); err != nil {
		return nil, errors.Join(err, w.Undo(ctx, p.Project, p.LoopDir, p.Env...))
	}
	return w, nil
}

// maxBranches is how many names are tried for a branch.
const maxBranches = 1000

func freeBranch(ctx context.Context, p Plan) (string, error) {
	name := p.Branch
	for n := 2; repo.HasBranch(ctx, p.Project, name, p.Env...); n++ {
		if n > maxBranches {
			return "", fmt.Errorf("the branch %s exists, and so do those with a number", p.Branch)
		}
		name = p.Branch + "-" + strconv.Itoa(n)
	}
	return name, nil
}

// Done marks a worktree in which everything is prepared.
func (w *Worktree) Done(loopDir string) error {
	w.Ready = true
	return w.write(loopDir)
}

// SetMerged records that everything up to a commit of the branch was merged.
func (w *Worktree) SetMerged(loopDir, commit string) error {
	w.Merged = commit
	return w.write(loopDir)
}

// Losses returns what the worktree has that is nowhere else.
func (w *Worktree) Losses(ctx context.Context, project string, env ...string) (keep.Losses, error) {
	return keep.FindLosses(ctx, w.Path, project, w.Merged, env...)
}

// Undo removes a worktree in which nothing has worked, and a branch that was made for it.
func (w *Worktree) Undo(ctx context.Context, project, loopDir string, env ...string) error {
	if err := keep.DropWorktree(ctx, project, w.Path, env...); err != nil {
		return err
	}
	if w.New {
		// It may not have been made yet; or an agent wrote a person's branch there, which stays.
		_ = keep.DeleteSpareBranch(ctx, project, w.Branch, w.Base, env...)
	}
	return os.Remove(filepath.Join(loopDir, Record))
}

// Remove removes the worktree with everything in it, and the branch that was made for it if another
// branch has all of its commits. The caller has asked a person about what is lost.
func (w *Worktree) Remove(ctx context.Context, project string, env ...string) error {
	work, unknown := w.Losses(ctx, project, env...)
	if err := keep.DropWorktree(ctx, project, w.Path, env...); err != nil {
		return err
	}
	if unknown == nil && work.Commits == 0 && w.New && work.Branch == w.Branch {
		return keep.DeleteBranch(ctx, project, w.Branch, work.Head, env...)
	}
	return nil
}

// Ports of loops: the range is above well-known ones, and below those that the kernel gives to
// clients.
const (
	firstPort    = 20000
	PortsPerLoop = 20
	maxLoops     = 500
)

// freePorts returns a port base that no loop in the registry has.
func freePorts(home string) (int, error) {
	loops, err := registry.Survey(home, nil)
	if err != nil {
		return 0, fmt.Errorf("choose ports: %w", err)
	}
	taken := map[int]bool{}
	for _, s := range loops {
		if w, err := Read(s.Dir); err == nil && w != nil {
			taken[w.PortBase] = true
		}
	}
	for i := range maxLoops {
		if base := firstPort + i*PortsPerLoop; !taken[base] {
			return base, nil
		}
	}
	return firstPort, nil // more loops than ports: they share
}
