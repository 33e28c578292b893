package policy

import (
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// Seal says what the guardrails consisted of before an agent was let at it, and whose doing it is
// when that is otherwise now. From the moment when an agent is to be started until a check has
// looked, it is the agent's, however many iterations, runners and crashes lie between. Once a check has
// looked, what changes before the next agent starts was changed by a person, and is sealed anew.
// A person who changes a file while the agent's doing is not looked at yet has to say so when
// the loop is resumed. What an agent changed and was not put back stays named until a person accepts it, by
// saying so or by changing the file again, or until it is what it was.
type Seal struct {
	Files []event.SealedFile `json:"files,omitempty"`
	// Held says that an agent may have been at work since a check looked last.
	Held bool `json:"held,omitempty"`
	// Edits are what agents changed and no person has accepted.
	Edits []Edit `json:"edits,omitempty"`
}

// Edit is a file that an agent changed.
type Edit struct {
	event.EditedFile
	Was string `json:"was,omitempty"` // what stood there before, in the words of event.GuardrailEdited.Is
	Is  string `json:"is,omitempty"`  // what the agent left there; empty also where an older journal does not say
}

// sealedMost bounds what a checkpoint holds: far more than guardrails that a person has written down
// consist of.
const sealedMost = 256

// commandsMost bounds how many guardrails an edit names.
const commandsMost = 3

// Apply folds one event.
func (s *Seal) Apply(e event.Event) error {
	switch e.Type {
	case event.TypeLoopStarted:
		*s = Seal{}
	case event.TypeLoopResumed:
		p, err := event.As[event.LoopResumed](e)
		if err != nil {
			return err
		}
		switch {
		case p.Resealed:
			*s = Seal{}
		case !s.Held:
			*s = Seal{Edits: s.Edits}
		}
	case event.TypeGuardrailSealed:
		p, err := event.As[event.GuardrailSealed](e)
		if err != nil {
			return err
		}
		s.Files = p.Files[:min(len(p.Files), sealedMost)]
		s.overtaken()
	case event.TypeGuardrailEdited:
		p, err := event.As[event.GuardrailEdited](e)
		if err != nil {
			return err
		}
		s.edited(p, e.Iter)
	case event.TypeDecided:
		if string(e.Field("do")) == `"`+event.DoStart+`"` {
			s.Held = len(s.Files) > 0
		}
	case event.TypeIterationChecked:
		s.Held = false
	}
	return nil
}

// edited takes down what an agent changed.
func (s *Seal) edited(p event.GuardrailEdited, iteration int) {
	if p.Restored {
		return
	}
	at := slices.IndexFunc(s.Edits, func(e Edit) bool { return e.Path == p.Path })
	if at >= 0 {
		s.Edits = slices.Clone(s.Edits)
		s.Edits[at].Is, s.Edits[at].How = p.Is, p.How
		if known(p) && p.Is == s.Edits[at].Was {
			s.forget(func(e Edit) bool { return e.Path == p.Path }) // as it was before
		}
		return
	}
	if len(s.Edits) >= editedMost {
		return
	}
	edit := Edit{EditedFile: event.EditedFile{Path: p.Path, How: p.How, Role: p.Role, Iteration: iteration}, Is: p.Is}
	for _, command := range p.Guardrails[:min(len(p.Guardrails), commandsMost)] {
		edit.Guardrails = append(edit.Guardrails, firstBytes(command, 200))
	}
	if file, ok := s.file(p.Path); ok {
		edit.Was, edit.Role = standing(file), orElse(p.Role, file.Role)
	}
	s.Edits = append(slices.Clip(s.Edits), edit)
}

// overtaken forgets the edits of files that are sealed as something else than the agent left there: a person has changed
// them since.
func (s *Seal) overtaken() {
	s.forget(func(e Edit) bool {
		file, ok := s.file(e.Path)
		return ok && (e.Is != "" || e.How == "vanished") && standing(file) != e.Is
	})
}

func (s *Seal) forget(which func(Edit) bool) {
	if s.Edits = slices.DeleteFunc(slices.Clone(s.Edits), which); len(s.Edits) == 0 {
		s.Edits = nil
	}
}

func (s *Seal) file(path string) (event.SealedFile, bool) {
	at := slices.IndexFunc(s.Files, func(f event.SealedFile) bool { return f.Path == path })
	if at < 0 {
		return event.SealedFile{}, false
	}
	return s.Files[at], true
}

// known reports whether the event says what was found: older ones do not.
func known(p event.GuardrailEdited) bool { return p.Is != "" || p.How == "vanished" }

// standing says what was sealed in the words of event.GuardrailEdited.Is.
func standing(f event.SealedFile) string {
	switch f.Kind {
	case "link":
		return "link to " + f.Target
	case "":
		return ""
	}
	return f.SHA256
}

// Unaccepted returns the edits that no person has accepted.
func (s *Seal) Unaccepted() []event.EditedFile {
	var files []event.EditedFile
	for _, e := range s.Edits {
		files = append(files, e.EditedFile)
	}
	return files
}
