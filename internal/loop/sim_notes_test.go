package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// The notes of the second edition: what the person with a pencil writes down besides.

// clock notes how long the loop was at work, by adding up what passed between its events.
type clock struct {
	last    time.Time
	ran     time.Duration
	back    time.Duration // by how much the wall clock was ever set back
	resting bool
}

func (c *clock) read(e event.Event) {
	if e.Type == event.TypeSegmentOpened || e.Type == event.TypeSegmentSealed {
		return
	}
	passed := e.At.Sub(c.last)
	c.last = e.At
	switch {
	case e.Type == event.TypeLoopStarted:
		*c = clock{last: e.At}
		return
	case passed < 0:
		c.back -= passed
	case e.Type == event.TypeLoopResumed:
	case !c.resting:
		c.ran += passed
	}
	switch e.Type {
	case event.TypeLoopPaused:
		c.resting = true
	case event.TypeLoopUnpaused, event.TypeLoopResumed, event.TypeIterationStarted:
		c.resting = false
	case event.TypeDecided:
		c.resting = c.resting && as[event.Decided](e).Do != event.DoBegin
	case event.TypeIterationEnded:
		c.resting = c.resting || as[event.IterationEnded](e).Outcome == event.OutcomeLimited
	case event.TypeClockJumped:
		if !c.resting {
			c.ran -= time.Duration(as[event.ClockJumped](e).By) * time.Millisecond
		}
	}
}

// limit notes what stands in the way of the agent.
type limit struct {
	kind, until string // of the open turn
	last        string // the kind that the last iteration ended by
	stated      bool   // its end was
	notBefore   time.Time
	since, at   time.Time // waits in a row without a stated end, and the last of them
}

func (l *limit) read(e event.Event) {
	switch e.Type {
	case event.TypeLoopResumed:
		*l = limit{}
	case event.TypeLoopUnpaused:
		l.since = time.Time{}
	case event.TypeClockJumped:
		if !l.since.IsZero() {
			l.since = l.since.Add(time.Duration(as[event.ClockJumped](e).By) * time.Millisecond)
		}
	case event.TypeIterationStarted, event.TypeAgentSaid, event.TypeToolCalled:
		l.kind, l.until = "", ""
	case event.TypeAgentLimited:
		p := as[event.AgentLimited](e)
		l.kind, l.until = p.Kind, p.Until
	case event.TypeAgentFinished:
		p := as[event.AgentFinished](e)
		if p.Outcome == "ok" || p.Kind == policy.KindRefusal || p.Kind == policy.KindContext {
			l.kind, l.until = "", ""
		} else if l.kind == "" && p.Kind != "other" {
			l.kind = p.Kind
		}
	case event.TypeIterationEnded:
		switch as[event.IterationEnded](e).Outcome {
		case event.OutcomeLimited:
			l.wait(e.At)
		case event.OutcomeDone, event.OutcomeFailed:
			*l = limit{}
		}
	}
}

func (l *limit) stands() bool {
	return slices.Contains([]string{policy.KindRate, policy.KindOverload, policy.KindNetwork, policy.KindQuota, policy.KindAuth}, l.kind)
}

func (l *limit) wait(at time.Time) {
	until, err := time.Parse(time.RFC3339, l.until)
	l.stated = err == nil && until.After(at) && until.Sub(at) < 8*24*time.Hour
	l.last, l.at, l.notBefore = l.kind, at, time.Time{}
	switch {
	case l.stated:
		l.notBefore, l.since = until, time.Time{}
	case l.since.IsZero():
		l.since = at
	}
}

func (l *limit) bearsOut(r event.Reason, rules event.Rules) bool {
	switch r {
	case event.ReasonAuth:
		return l.last == policy.KindAuth
	case event.ReasonQuota:
		return l.last == policy.KindQuota && !l.stated
	}
	// The wait that it would have been next is at most five minutes and a tenth of them.
	longest := l.at.Sub(l.since) + 330*time.Second
	return !l.stated && rules.OutageLimit > 0 && longest.Milliseconds() > rules.OutageLimit
}

// person notes who is waited for.
type person struct {
	waits, blocked, paused, opening bool
	asked                           bool // a message asked for one in the open iteration
}

func (p *person) read(e event.Event, t *tally) {
	kind := ""
	switch e.Type {
	case event.TypeLoopUnpaused, event.TypeLoopResumed:
		*p = person{}
	case event.TypeLoopPaused:
		p.paused = true
	case event.TypeAgentExited:
		exit := as[event.AgentExited](e)
		p.waits = p.waits || t.rules.WaitExitCode != 0 && exit.Code == t.rules.WaitExitCode && exit.Signal == ""
	case event.TypeFolderSeen:
		// One that lies there when an iteration begins was answered by whoever let it begin.
		p.waits = p.waits || as[event.FolderSeen](e).Wait && !p.opening
	case event.TypeDecided:
		p.opening = p.opening || as[event.Decided](e).Do == event.DoBegin
	case event.TypeIterationStarted, event.TypeEffectFailed:
		p.opening = false
		p.asked = p.asked && e.Type != event.TypeIterationStarted
	case event.TypeCommandReceived:
		asked := as[event.CommandReceived](e).Kind
		p.asked = p.asked || asked == policy.Wait || asked == policy.Blocked
	case event.TypeCommandDelivered:
		// Not before: a resume that came earlier does not take it back.
		kind = t.kinds[as[event.CommandDelivered](e).ID]
	}
	p.waits = p.waits || kind == policy.Wait
	p.blocked = p.blocked || kind == policy.Blocked
}

// gate notes what the last check found.
type gate struct {
	guards, failed int
	loose          int  // files of guardrails that are not what they were
	checked        bool // the check is over
	folder         event.FolderSeen
}

func (g *gate) read(e event.Event) {
	switch e.Type {
	case event.TypeIterationStarted:
		*g = gate{}
	case event.TypeLoopResumed:
		*g = gate{}
	case event.TypeDecided:
		switch as[event.Decided](e).Do {
		case event.DoBegin:
			g.checked = false
		case event.DoCheck:
			*g = gate{folder: g.folder}
		}
	case event.TypeGuardrailEnded:
		g.guards++
		if !as[event.GuardrailEnded](e).OK {
			g.failed++
		}
	case event.TypeGuardrailEdited:
		if !as[event.GuardrailEdited](e).Restored {
			g.loose++
		}
	case event.TypeFolderSeen:
		g.folder = as[event.FolderSeen](e)
	case event.TypeIterationChecked:
		g.checked = true
	}
}

func (g *gate) passed(rules event.Rules) bool {
	return rules.Guardrails == 0 || g.checked && g.failed+g.loose == 0 && g.guards >= rules.Guardrails
}

// words notes what the agent says in its last message, and what it does.
type words struct {
	message  string
	text     string
	all      string // of the iteration
	tools    int
	blocked  bool
	claimed  string
	unread   map[string]bool
	lastText string
	same     bool
}

func (n *words) read(e event.Event, rules event.Rules) {
	switch e.Type {
	case event.TypeLoopStarted:
		*n = words{unread: map[string]bool{}}
	case event.TypeLoopResumed:
		*n = words{unread: n.unread}
	case event.TypeIterationStarted:
		tools := 0
		if rules.Context == "same" {
			tools = n.tools
		}
		*n = words{unread: n.unread, tools: tools, lastText: n.lastText}
	case event.TypeAgentSaid:
		p := as[event.AgentSaid](e)
		if message, _, _ := strings.Cut(p.Block, "."); message != n.message {
			n.message, n.text = message, ""
		}
		n.text += p.Text.String()
		n.all += p.Text.String()
		if p.Final {
			n.text += "\n"
		}
		n.blocked = strings.Contains(n.text, "\n<blocked>") && strings.Contains(n.text, "</blocked>")
	case event.TypeToolCalled:
		n.tools++
		n.message, n.text, n.blocked = "", "", false
	case event.TypeCommandReceived:
		if p := as[event.CommandReceived](e); p.Kind == policy.Steer || p.Kind == policy.FollowUp {
			n.unread[p.ID] = true
		}
	case event.TypeCommandDelivered:
		delete(n.unread, as[event.CommandDelivered](e).ID)
	case event.TypeCommandRefused:
		delete(n.unread, as[event.CommandRefused](e).ID)
	case event.TypeIterationChecked:
		n.same = n.text != "" && n.text == n.lastText
		n.lastText = n.text
	}
}

// claim says how the agent claims to be done.
func (n *words) claim(how string, rules event.Rules) bool {
	marker := map[string]string{policy.ByPromise: "<promise>COMPLETE</promise>", policy.ByResponse: "<response>done</response>"}[how]
	if rules.CompletionMatch == "anywhere" {
		return strings.Contains(n.all, marker)
	}
	return strings.HasSuffix(strings.TrimSpace(n.text), marker)
}

// sights notes where the files stand.
type sights struct {
	opening, shown, moved bool
	began, place          string
	seen                  []string
	stuck, errors         int
	problem               string
	stop                  *event.BreakerTripped
	blind                 bool // some repository could not be looked at in the open iteration
}

func (s *sights) read(e event.Event, g *gate, n *words) {
	switch e.Type {
	case event.TypeLoopResumed:
		*s = sights{moved: s.moved}
	case event.TypeRepoSeen:
		p := as[event.RepoSeen](e)
		s.stand(fmt.Sprintf("%s at %s with %s;", p.Root, p.Head, p.Fingerprint))
	case event.TypeRepoUnseen:
		s.blind = true
	case event.TypeFolderSeen:
		if p := as[event.FolderSeen](e); p.Boxes > 0 {
			s.stand(fmt.Sprintf("%d of %d boxes;", p.Ticked, p.Boxes))
		}
	case event.TypeDecided:
		switch as[event.Decided](e).Do {
		case event.DoBegin:
			s.opening, s.began, s.place, s.blind = true, "", "", false
		case event.DoCheck:
			s.place = ""
		}
	case event.TypeIterationStarted, event.TypeEffectFailed:
		s.opening = false
	case event.TypeIterationEnded:
		s.iterationEnded(as[event.IterationEnded](e))
	case event.TypeBreakerTripped:
		if p := as[event.BreakerTripped](e); p.Step == policy.StepStop {
			s.stop = &p
		}
	}
}

func (s *sights) stand(where string) {
	if s.opening {
		s.began += where
		return
	}
	s.shown = true
	s.place += where
}

func (s *sights) iterationEnded(p event.IterationEnded) {
	switch p.Outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeEmpty:
		return
	}
	if s.place != "" && !s.blind && !slices.Contains(s.seen, s.place) {
		s.seen = append(s.seen, s.place)
		s.seen = s.seen[max(0, len(s.seen)-8):]
	}
	switch p.Progress {
	case "yes":
		s.stuck, s.moved = 0, true
	case "no":
		s.stuck++
	case "":
		if !s.blind {
			s.stuck = 0
		}
	}
	switch {
	case p.Outcome != event.OutcomeFailed || p.Progress == "yes":
		s.errors, s.problem = 0, ""
	case s.errors > 0 && s.problem == p.Error:
		s.errors++
	default:
		s.errors, s.problem = 1, p.Error
	}
}

// progress says what the files show of the open iteration.
func (s *sights) progress(g *gate, n *words, p *processNote, tools int) string {
	switch {
	case !g.checked, s.blind:
		return ""
	case s.shown && s.place != "":
		if s.place == s.began || slices.Contains(s.seen, s.place) {
			return "no"
		}
		return "yes"
	case p.tools && tools == 0, n.same:
		return "no"
	}
	return ""
}

func (s *sights) stopped(rules event.Rules) bool {
	if s.stop == nil {
		return false
	}
	if s.stop.Rule == policy.RuleSameError {
		return s.errors >= rules.SameError
	}
	return s.stuck >= rules.NoProgress
}

// processNote notes what the agent's process is.
type processNote struct {
	alive, resting, tools, costs, uncounted, refused, heard bool
	spoke                                                   bool // a word, a thought, a token or a tool
}

func (n *processNote) read(e event.Event) {
	switch e.Type {
	case event.TypeLoopResumed, event.TypeLoopStarted:
		*n = processNote{}
	case event.TypeIterationStarted:
		n.refused = false
	case event.TypeAgentStarted:
		p := as[event.AgentStarted](e)
		*n = processNote{alive: n.alive || !p.Reused, tools: p.Tools, costs: p.Costs, uncounted: p.Uncounted}
	case event.TypeAgentSaid, event.TypeAgentThought, event.TypeAgentUsed, event.TypeToolCalled, event.TypeAgentFinished:
		n.heard = true
		n.spoke = n.spoke || speaks(e)
	case event.TypeAgentRested:
		n.resting = n.alive
	case event.TypeAgentExited:
		p := as[event.AgentExited](e)
		n.refused = !n.resting && !n.heard && p.Code > 0 && strings.Contains(p.Stderr, "unknown option")
		n.alive, n.resting = false, false
	}
}

// speaks says of a line of the agent that its model has a part in it.
func speaks(e event.Event) bool {
	switch e.Type {
	case event.TypeAgentFinished:
		return false
	case event.TypeAgentSaid:
		return strings.TrimSpace(as[event.AgentSaid](e).Text.String()) != ""
	case event.TypeAgentUsed:
		p := as[event.AgentUsed](e)
		return p.In+p.Out+p.CacheRead+p.CacheWrite > 0 || p.USD != nil && *p.USD > 0
	}
	return true
}
