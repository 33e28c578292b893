package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/journal/event"
)

// The files of guardrails and settings are snapshotted before an agent runs, and compared with the
// snapshot after it has ended. If no check compared them (a limit ended the agent, or the runner
// died), the snapshot stays valid: the change is still the agent's.

// takeSnapshot snapshots the guardrails' files before an iteration, and reports them if they differ
// from the last snapshot.
func (x *Executor) takeSnapshot(p promptPlan, cause event.Seq) error {
	if p.snapshot.AgentRan {
		return x.openSnapshot(p.snapshot)
	}
	taken, err := guardrail.NewSnapshot(x.files(), x.cfg.Guardrails)
	if err == nil {
		// Before the event, which must not name a missing copy.
		err = taken.Keep(x.cfg.Dir, Records(p.snapshot.Files))
	}
	if err != nil {
		return fmt.Errorf("compare the guardrails' files: %w", err)
	}
	x.snapshot = taken
	if files := snapshotFiles(taken); !slices.Equal(files, p.snapshot.Files) {
		x.deliver(event.GuardrailSnapshotted{Files: files}, p.decision.Iteration, cause)
	}
	return nil
}

// openSnapshot opens the snapshot of an earlier runner. The copies are read now, before another
// agent can change them.
func (x *Executor) openSnapshot(last policy.FileChanges) error {
	if x.snapshot != nil || len(last.Files) == 0 {
		return nil
	}
	taken, err := guardrail.Reopen(x.files(), x.cfg.Dir, Records(last.Files), x.cfg.Guardrails)
	if err != nil {
		return fmt.Errorf("compare the guardrails' files: %w", err)
	}
	x.snapshot = taken
	return nil
}

// files says where the files of guardrails and settings are.
func (x *Executor) files() guardrail.Place {
	return guardrail.Place{Work: x.cfg.Project, Settings: x.cfg.Settings}
}

// snapshotFiles converts a snapshot's records for the journal.
func snapshotFiles(s *guardrail.FileSnapshot) []event.SnapshotFile {
	var files []event.SnapshotFile
	for _, r := range s.Records() {
		files = append(files, event.SnapshotFile{
			Path: r.Path, Role: event.Role(r.Role), Kind: r.Kind, SHA256: r.SHA256, Bytes: r.Size,
			Mode: uint32(r.Mode), Target: r.Target, Protected: r.Protected,
		})
	}
	return files
}

// Records converts the journal's record of a snapshot for [guardrail.Reopen].
func Records(files []event.SnapshotFile) []guardrail.Record {
	var records []guardrail.Record
	for _, f := range files {
		records = append(records, guardrail.Record{
			Path: f.Path, Role: guardrail.Role(f.Role), Protected: f.Protected,
			State: guardrail.State{Kind: f.Kind, SHA256: f.SHA256, Size: f.Bytes, Mode: fs.FileMode(f.Mode).Perm(), Target: f.Target},
		})
	}
	return records
}

// restoreSnapshot reports changed files of guardrails and settings, and restores protected ones.
func (x *Executor) restoreSnapshot(iteration int, last policy.FileChanges, cause event.Seq) error {
	if err := x.openSnapshot(last); err != nil || x.snapshot == nil {
		return err
	}
	x.edited = nil
	return x.compareSnapshot(iteration, cause, false)
}

// compareSnapshot compares the files with the snapshot. During a run of guardrails, one of them,
// the agent's code that they run, or a process that it left may change files as well: then
// protected files and settings are compared.
func (x *Executor) compareSnapshot(iteration int, cause event.Seq, during bool) error {
	changes, err := x.snapshot.Changed()
	if err != nil {
		return fmt.Errorf("compare the guardrails' files: %w", err)
	}
	changes = slices.DeleteFunc(changes, func(c guardrail.Change) bool {
		same := func(was guardrail.Change) bool { return was.Path == c.Path && was.Is == c.Is }
		return during && (!c.Protected && c.Role != guardrail.Settings || slices.ContainsFunc(x.edited, same))
	})
	var unrestored []string
	for _, c := range changes {
		if !c.Protected {
			x.edited = append(x.edited, c)
		}
		edited := event.GuardrailEdited{Path: c.Path, How: event.Edit(c.Kind), Role: event.Role(c.Role), Is: c.Is, Guardrails: c.Commands, During: during}
		if c.Protected {
			if edited.Kept, err = x.snapshot.KeepFound(x.cfg.Dir, c); err == nil {
				edited.Aside, err = x.snapshot.Restore([]guardrail.Change{c})
			}
			if err != nil {
				edited.Kept, edited.Why = "", err.Error()
				unrestored = append(unrestored, edited.Why)
			} else {
				edited.Restored = true
			}
		}
		x.deliver(edited, iteration, cause)
	}
	if len(unrestored) > 0 {
		// A passing guardrail proves nothing until a person has inspected these files.
		return &promptError{errors.New("restore the guardrails' files: " + strings.Join(unrestored, "; "))}
	}
	return nil
}
