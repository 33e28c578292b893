package phrase

import "github.com/ralph-loop/ralph/journal/event"

// News are the phrases for a reader who follows a loop: what the reader knows already is not said
// again. It belongs to one goroutine.
type News struct {
	boxes [2]int            // ticked and all, as last seen
	repos map[string]string // where each repository was last seen
}

// Resume sets how many boxes of task.md were ticked before the first event.
func (n *News) Resume(ticked, boxes int) { n.boxes = [2]int{ticked, boxes} }

// Of returns the phrase of an event. It is quiet if it is no news.
func (n *News) Of(p event.Payload, k Known) Phrase {
	switch p := p.(type) {
	case event.FolderInspected:
		boxes := [2]int{p.Ticked, p.Boxes}
		if boxes == n.boxes {
			p.Boxes = 0
		}
		n.boxes = boxes
		return Of(p, k)
	case event.RepoInspected:
		return n.repoInspected(p, k)
	case event.RepoUnreadable:
		said := Of(p, k)
		if n.repos[p.Root] == p.Error {
			said.Tone = ToneQuiet // while the cause is the same
		}
		n.remember(p.Root, p.Error)
		return said
	case event.BreakerTripped:
		if p.Rule != "sameError" {
			return Of(p, k)
		}
		p.Evidence = "" // it is the error right above
		said := Of(p, k)
		if p.Count < 2 {
			said.Tone = ToneQuiet
		}
		return said
	}
	return Of(p, k)
}

// repoInspected says what an iteration changed, and once that it left the branch. The state at its
// beginning is only remembered.
func (n *News) repoInspected(p event.RepoInspected, k Known) Phrase {
	state := p.Head + " " + p.Fingerprint
	before, known := n.repos[p.Root]
	n.remember(p.Root, state)
	if p.When == event.MomentBegin || known && before == state {
		p.Commits, p.Files = 0, 0
	}
	away, branch := p.Away(), "branch of "+p.Root
	switch {
	case away == n.repos[branch]:
		p.Left = ""
	case away == "":
		k.Back = p.Branch
	}
	n.remember(branch, away)
	return Of(p, k)
}

// reposKept is how many repositories are remembered.
const reposKept = 256

func (n *News) remember(root, state string) {
	if n.repos == nil || len(n.repos) >= 2*reposKept {
		n.repos = map[string]string{}
	}
	n.repos[root] = state
}
