package effect

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/guardrail"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// What the guardrails consist of, and the files of settings, are sealed before an agent is let at them, and held against the seal when
// the agent is gone. Where no check could look (a limit cut the agent off, or the runner died), the seal
// goes on to hold: what was changed then is still the agent's doing.

// seal remembers the guardrails' files before an iteration, and tells of them where they are not those of the seal before.
func (h *Hands) seal(p promptPlan, cause uint64) error {
	if p.sealed.Held {
		return h.reopen(p.sealed)
	}
	seal, err := guardrail.NewSeal(h.cfg.Project, h.cfg.Guardrails)
	if err == nil {
		// Before the event, which must not name what is not there.
		err = seal.Keep(h.cfg.Dir, Records(p.sealed.Files))
	}
	if err != nil {
		return fmt.Errorf("look at the guardrails' files: %w", err)
	}
	h.sealed = seal
	if files := sealedFiles(seal); !slices.Equal(files, p.sealed.Files) {
		h.deliver(event.GuardrailSealed{Files: files}, p.do.Iteration, cause)
	}
	return nil
}

// reopen takes up the seal of a runner that is gone. The copies are read now, before another agent is let at them.
func (h *Hands) reopen(sealed policy.Seal) error {
	if h.sealed != nil || len(sealed.Files) == 0 {
		return nil
	}
	seal, err := guardrail.Reopen(h.cfg.Project, h.cfg.Dir, Records(sealed.Files), h.cfg.Guardrails)
	if err != nil {
		return fmt.Errorf("look at the guardrails' files: %w", err)
	}
	h.sealed = seal
	return nil
}

// sealedFiles are a seal's records as the journal has them.
func sealedFiles(seal *guardrail.Seal) []event.SealedFile {
	var files []event.SealedFile
	for _, r := range seal.Records() {
		files = append(files, event.SealedFile{
			Path: r.Path, Role: string(r.Role), Kind: r.Kind, SHA256: r.SHA256, Bytes: r.Size,
			Mode: uint32(r.Mode), Target: r.Target, Protected: r.Protected,
		})
	}
	return files
}

// Records are the journal's words for a seal as [guardrail.Reopen] takes them.
func Records(files []event.SealedFile) []guardrail.Record {
	var records []guardrail.Record
	for _, f := range files {
		records = append(records, guardrail.Record{
			Path: f.Path, Role: guardrail.Role(f.Role), Kind: f.Kind, SHA256: f.SHA256, Size: f.Bytes,
			Mode: fs.FileMode(f.Mode).Perm(), Target: f.Target, Protected: f.Protected,
		})
	}
	return records
}

// unseal tells which files of the guardrails and settings were changed, and puts back those that are protected.
func (h *Hands) unseal(iteration int, sealed policy.Seal, cause uint64) error {
	if err := h.reopen(sealed); err != nil || h.sealed == nil {
		return err
	}
	h.found = nil
	return h.compare(iteration, cause, false)
}

// compare holds the files against the seal. While guardrails ran, one of them, the agent's code that they ran, or what it left
// running may have changed what they consist of: that is looked at where it is protected, and settings are in any case.
func (h *Hands) compare(iteration int, cause uint64, during bool) error {
	changes, err := h.sealed.Changed()
	if err != nil {
		return fmt.Errorf("look at the guardrails' files: %w", err)
	}
	changes = slices.DeleteFunc(guardrail.Defining(changes), func(c guardrail.Change) bool {
		same := func(was guardrail.Change) bool { return was.Path == c.Path && was.Is == c.Is }
		return during && (!c.Protected && c.Role != guardrail.Settings || slices.ContainsFunc(h.found, same))
	})
	var unrestored []string
	for _, c := range changes {
		if !c.Protected {
			h.found = append(h.found, c)
		}
		edited := event.GuardrailEdited{Path: c.Path, How: string(c.Kind), Role: string(c.Role), Is: c.Is, Guardrails: c.Of, During: during}
		if c.Protected {
			if err := h.sealed.Restore([]guardrail.Change{c}); err != nil {
				edited.Why = err.Error()
				unrestored = append(unrestored, edited.Why)
			} else {
				edited.Restored = true
			}
		}
		h.deliver(edited, iteration, cause)
	}
	if len(unrestored) > 0 {
		// Nothing that passes says anything now, in this iteration or in another, until a person has looked.
		return &promptError{errors.New("put the guardrails' files back: " + strings.Join(unrestored, "; "))}
	}
	return nil
}
