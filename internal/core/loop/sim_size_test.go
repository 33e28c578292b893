package loop_test

import (
	"math/rand/v2"
	"strings"

	"github.com/ralph-loop/ralph/journal/event"
)

// The sizes of changes in the eleventh edition, which limits.diff bounds.

// sizes is the part of the table with what became of claims under limits.diff.
const sizes = "claims and limits.diff"

func sizeCases() []string {
	return []string{"a change is refused", "a commit is refused", "a change is accepted", "an unknown size is accepted"}
}

// readSizes counts the claims of a run.
func (s seen) readSizes(events []event.Event) {
	var r event.Rules
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopStarted:
			r = as[event.LoopStarted](e).Rules
		case event.TypeCompletionRefused:
			switch missing := strings.Join(as[event.CompletionRefused](e).Missing, "\n"); {
			case strings.Contains(missing, "for each commit"):
				s.saw(sizes, "a commit is refused")
			case strings.Contains(missing, "limits.diff is"):
				s.saw(sizes, "a change is refused")
			}
		case event.TypeCompletionAccepted:
			switch {
			case r.Limits.Diff == 0 || r.Stories:
			case strings.Contains(as[event.CompletionAccepted](e).Warning, "limits.diff"):
				s.saw(sizes, "an unknown size is accepted")
			default:
				s.saw(sizes, "a change is accepted")
			}
		}
	}
}

// sized draws a scenario of the thirteenth edition: a third of the loops have a limit for the size
// of their change.
func sized(seed uint64) scenario {
	s := proving(seed)
	r := rand.New(rand.NewPCG(seed, 15))
	s.edition = 13
	if r.IntN(3) == 0 {
		s.rules.Limits.Diff = []int{20, 50, 90}[r.IntN(3)]
		s.repo, s.works, s.claims, s.passes = true, 60, max(s.claims, 80), 100
		s.rules.PullRequests = s.rules.SCM
	}
	return s
}

// size returns the size of the change; nil where that is not known.
func (p *project) size() *event.Size {
	if p.w.scenario.rules.Limits.Diff == 0 || p.changes%9 == 4 {
		return nil
	}
	return &event.Size{Lines: p.changes * 37 % 100}
}

// sizeModel notes the size of the change.
type sizeModel struct {
	began, unknown bool
	before         int
	now            *event.Size
}

func (m *sizeModel) read(e event.Event) {
	if e.Type != event.TypeRepoInspected {
		return
	}
	p := as[event.RepoInspected](e)
	switch {
	case p.When == event.MomentEnd && !m.began:
		m.unknown = true
	case p.When == event.MomentEnd:
		m.now = p.Size
	case !m.began && p.Size != nil:
		m.began, m.before = true, p.Size.Lines
	default:
		m.began = true
	}
}

func (m *sizeModel) tooLarge(r event.Rules) bool {
	if r.Limits.Diff == 0 || r.Stories || !m.known() {
		return false
	}
	return m.now.Lines-m.before > r.Limits.Diff
}

func (m *sizeModel) known() bool { return m.began && !m.unknown && m.now != nil }

// checkClaimedSize checks what an acceptance says of the size.
func (w *world) checkClaimedSize(t *counts, e event.Event) {
	says := strings.Contains(as[event.CompletionAccepted](e).Warning, "limits.diff")
	if asks := t.rules.Limits.Diff > 0 && !t.rules.Stories; says != (asks && !t.size.known()) {
		w.violate(claimsHold, "event %d: the claim is accepted, and that its size is not known is said: %v", e.Seq, says)
	}
}
