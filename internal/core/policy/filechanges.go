package policy

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// FileChanges holds the snapshot of the guardrail files before an agent ran, and says who made a
// change since. From the start of an agent until a check, a change is the agent's, however many
// iterations, runners and crashes come between. After the check, a change before the next start is
// a person's, and the next snapshot includes it. A person who changes a file before the check has
// to say so when the loop is resumed. An agent's change that was not restored stays listed until a
// person accepts it, explicitly or by changing the file again, or until it is undone.
type FileChanges struct {
	Files []event.SnapshotFile `json:"files,omitempty"`
	// AgentRan says that an agent may have worked since the last check.
	AgentRan bool `json:"agentRan,omitempty"`
	// Edits are what agents changed and no person has accepted.
	Edits []FileEdit `json:"edits,omitempty"`
	// Aside is what was in the way of files that were put back, and has a new name.
	Aside []SetAside `json:"aside,omitempty"`
}

// SetAside is a file or a folder, which a person may have made.
type SetAside struct {
	Name string     `json:"name"`           // the new one
	Role event.Role `json:"role,omitempty"` // settings are in the project, all else where the loop works
}

// FileEdit is a file that an agent changed.
type FileEdit struct {
	event.EditedFile
	// what was there before, in the form of event.GuardrailEdited.Is
	Was string `json:"was,omitempty"`
	// what the agent left there; also empty if an older journal does not say
	Is string `json:"is,omitempty"`
}

// filesMost bounds what a checkpoint holds, far above the files of real guardrails.
const filesMost = 256

// commandsMost bounds how many guardrails an edit names.
const commandsMost = 3

// Apply folds one event of an iteration.
func (s *FileChanges) Apply(iteration int, p event.Payload) {
	switch p := p.(type) {
	case event.LoopStarted:
		*s = FileChanges{}
	case event.LoopResumed:
		switch {
		case p.AcceptedChanges:
			*s = FileChanges{Aside: s.Aside}
		case !s.AgentRan:
			*s = FileChanges{Edits: s.Edits, Aside: s.Aside}
		}
	case event.GuardrailSnapshotted:
		s.Files = p.Files[:min(len(p.Files), filesMost)]
		s.dropAccepted()
	case event.GuardrailEdited:
		s.edited(p, iteration)
	case event.Decided:
		if p.Do == event.DoStart {
			s.AgentRan = len(s.Files) > 0
		}
	case event.IterationChecked:
		s.AgentRan = false
	}
}

// edited records what an agent changed.
func (s *FileChanges) edited(p event.GuardrailEdited, iteration int) {
	for _, name := range p.Aside {
		if aside := (SetAside{name, p.Role}); !slices.Contains(s.Aside, aside) {
			s.Aside = append(slices.Clip(s.Aside), aside)
			s.Aside = s.Aside[max(0, len(s.Aside)-editedMost):]
		}
	}
	if p.Restored {
		return
	}
	at := slices.IndexFunc(s.Edits, func(e FileEdit) bool { return e.Path == p.Path })
	if at >= 0 {
		s.Edits = slices.Clone(s.Edits)
		s.Edits[at].Is, s.Edits[at].How = p.Is, p.How
		if known(p) && p.Is == s.Edits[at].Was {
			s.forget(func(e FileEdit) bool { return e.Path == p.Path }) // as it was before
		}
		return
	}
	if len(s.Edits) >= editedMost {
		return
	}
	edit := FileEdit{EditedFile: event.EditedFile{Path: p.Path, How: p.How, Role: p.Role, Iteration: iteration}, Is: p.Is}
	for _, command := range p.Guardrails[:min(len(p.Guardrails), commandsMost)] {
		edit.Guardrails = append(edit.Guardrails, firstBytes(command, 200))
	}
	if file, ok := s.file(p.Path); ok {
		edit.Was, edit.Role = contentOf(file), cmp.Or(p.Role, file.Role)
	}
	s.Edits = append(slices.Clip(s.Edits), edit)
}

// dropAccepted forgets the edits of files whose new snapshot differs from what the agent left: a
// person has changed them since.
func (s *FileChanges) dropAccepted() {
	s.forget(func(e FileEdit) bool {
		file, ok := s.file(e.Path)
		return ok && (e.Is != "" || e.How == "vanished") && contentOf(file) != e.Is
	})
}

func (s *FileChanges) forget(which func(FileEdit) bool) {
	if s.Edits = slices.DeleteFunc(slices.Clone(s.Edits), which); len(s.Edits) == 0 {
		s.Edits = nil
	}
}

func (s *FileChanges) file(path string) (event.SnapshotFile, bool) {
	at := slices.IndexFunc(s.Files, func(f event.SnapshotFile) bool { return f.Path == path })
	if at < 0 {
		return event.SnapshotFile{}, false
	}
	return s.Files[at], true
}

// known reports whether the event says what was found; older events do not.
func known(p event.GuardrailEdited) bool { return p.Is != "" || p.How == "vanished" }

// contentOf returns a snapshotted file in the form of event.GuardrailEdited.Is.
func contentOf(f event.SnapshotFile) string {
	switch f.Kind {
	case "link":
		return "link to " + f.Target
	case "":
		return ""
	}
	return f.SHA256
}

// Unaccepted returns the edits that no person has accepted.
func (s *FileChanges) Unaccepted() []event.EditedFile {
	var files []event.EditedFile
	for _, e := range s.Edits {
		files = append(files, e.EditedFile)
	}
	return files
}
