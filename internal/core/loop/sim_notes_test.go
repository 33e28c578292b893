package loop_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// The notes of the second edition: more counts from reading the journal.

// clock notes how long the loop worked: the sum of the times between its events.
type clock struct {
	last    time.Time
	ran     time.Duration
	back    time.Duration // by how much the wall clock was set back in total
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
	case event.TypeLoopWaiting:
		reason := as[event.LoopWaiting](e).For
		c.resting = c.resting || reason == event.WaitPerson || reason == event.WaitHeld
	case event.TypeLoopUnpaused, event.TypeLoopWaited, event.TypeLoopResumed, event.TypeIterationStarted:
		c.resting = c.resting && !resumed(e) && (e.Type != event.TypeLoopWaited || as[event.LoopWaited](e).For != event.WaitHeld)
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

// resumed reports whether an event lets the loop go on that a person or a runner asked for.
func resumed(e event.Event) bool {
	return e.Type != event.TypeLoopWaited || as[event.LoopWaited](e).For == event.WaitPerson
}

// limit notes the limit that blocks the agent.
type limit struct {
	kind, until string // of the open turn
	last        string // the kind that ended the last iteration
	stated      bool   // its end was stated
	notBefore   time.Time
	since, at   time.Time // waits in a row without a stated end, and the last of them
}

func (l *limit) read(e event.Event) {
	switch e.Type {
	case event.TypeLoopResumed:
		*l = limit{}
	case event.TypeLoopUnpaused, event.TypeLoopWaited:
		if resumed(e) {
			l.since = time.Time{}
		}
	case event.TypeClockJumped:
		if !l.since.IsZero() {
			l.since = l.since.Add(time.Duration(as[event.ClockJumped](e).By) * time.Millisecond)
		}
	case event.TypeIterationStarted, event.TypeAgentSaid, event.TypeToolCalled:
		l.kind, l.until = "", ""
	case event.TypeAgentLimited:
		p := as[event.AgentLimited](e)
		l.kind, l.until = string(p.Kind), p.Until
	case event.TypeAgentFinished:
		p := as[event.AgentFinished](e)
		if p.Outcome == "ok" || p.Kind == event.KindRefusal || p.Kind == event.KindContext {
			l.kind, l.until = "", ""
		} else if l.kind == "" && p.Kind != "other" {
			l.kind = string(p.Kind)
		}
	case event.TypeIterationEnded:
		switch as[event.IterationEnded](e).Outcome {
		case event.OutcomeLimited, event.OutcomeUnauthorized:
			l.wait(e.At)
		case event.OutcomeDone, event.OutcomeFailed:
			*l = limit{}
		}
	}
}

func (l *limit) blocks() bool {
	return slices.Contains([]event.FaultKind{event.KindRate, event.KindOverload, event.KindNetwork, event.KindQuota, event.KindAuth}, event.FaultKind(l.kind))
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
		return l.last == string(event.KindAuth)
	case event.ReasonQuota:
		return l.last == string(event.KindQuota) && !l.stated
	}
	// The next wait would be at most five minutes and a tenth of them.
	longest := l.at.Sub(l.since) + 330*time.Second
	return !l.stated && rules.Limits.MaxOutage > 0 && longest > rules.Limits.MaxOutage.Std()
}

// person notes waits for a person.
type person struct {
	waits, blocked, paused, opening bool
	wait                            event.Wait // what loop.waiting says, until its end
	asked                           bool       // a message asked for one in the open iteration
}

func (p *person) read(e event.Event, t *counts) {
	var kind event.CommandKind
	switch e.Type {
	case event.TypeLoopUnpaused, event.TypeLoopWaited, event.TypeLoopResumed:
		if p.wait = ""; resumed(e) {
			*p = person{opening: p.opening}
		}
	case event.TypeLoopPaused:
		p.paused = true
	case event.TypeLoopWaiting:
		p.wait = as[event.LoopWaiting](e).For
	case event.TypeAgentExited:
		exit := as[event.AgentExited](e)
		p.waits = p.waits || t.rules.Restart.WaitExitCode != 0 && exit.Code == t.rules.Restart.WaitExitCode && exit.Signal == ""
	case event.TypeFolderInspected:
		// A file from before the iteration was answered by the resume.
		p.waits = p.waits || as[event.FolderInspected](e).Wait && !p.opening
	case event.TypeDecided:
		p.opening = p.opening || as[event.Decided](e).Do == event.DoBegin
	case event.TypeIterationStarted, event.TypeEffectFailed:
		p.opening = false
		p.asked = p.asked && e.Type != event.TypeIterationStarted
	case event.TypeCommandReceived:
		asked := as[event.CommandReceived](e).Kind
		p.asked = p.asked || asked == event.CommandWait || asked == event.CommandBlocked
	case event.TypeCommandDelivered:
		// Not before: an earlier resume does not take it back.
		kind = t.kinds[as[event.CommandDelivered](e).ID]
	}
	p.waits = p.waits || kind == event.CommandWait
	p.blocked = p.blocked || kind == event.CommandBlocked
}

// verificationModel notes what the last check found.
type verificationModel struct {
	guards, failed int
	loose          int  // changed files of guardrails
	checked        bool // the check is over
	folder         event.FolderInspected
}

func (g *verificationModel) read(e event.Event) {
	switch e.Type {
	case event.TypeIterationStarted:
		*g = verificationModel{}
	case event.TypeLoopResumed:
		*g = verificationModel{}
	case event.TypeDecided:
		switch as[event.Decided](e).Do {
		case event.DoBegin:
			g.checked = false
		case event.DoCheck:
			*g = verificationModel{folder: g.folder}
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
	case event.TypeFolderInspected:
		g.folder = as[event.FolderInspected](e)
	case event.TypeIterationChecked:
		g.checked = true
	}
}

func (g *verificationModel) passed(rules event.Rules) bool {
	return rules.Guardrails == 0 || g.checked && g.failed+g.loose == 0 && g.guards >= rules.Guardrails
}

// words notes what the agent says in its last message, and what it does.
type words struct {
	message  string
	text     string
	all      string // of the iteration
	tools    int
	blocked  bool
	claimed  event.Claim
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
		if p := as[event.CommandReceived](e); p.Kind.IsMessage() {
			n.unread[p.ID] = true
		}
	case event.TypeCommandDelivered:
		delete(n.unread, as[event.CommandDelivered](e).ID)
	case event.TypeCommandRefused:
		delete(n.unread, as[event.CommandRefused](e).ID)
	case event.TypeCommandWithdrawn:
		delete(n.unread, as[event.CommandWithdrawn](e).ID)
	case event.TypeIterationChecked:
		n.same = n.text != "" && n.text == n.lastText
		n.lastText = n.text
	}
}

// claim reports whether the agent claims in this way.
func (n *words) claim(how event.Claim, rules event.Rules) bool {
	marker := map[event.Claim]string{event.ClaimPromise: "<promise>COMPLETE</promise>", event.ClaimResponse: "<response>done</response>"}[how]
	if rules.Completion.Match == "anywhere" {
		return strings.Contains(n.all, marker)
	}
	return strings.HasSuffix(strings.TrimSpace(n.text), marker)
}

// progressModel notes the states of the files.
type progressModel struct {
	// what of the stories was put back in this iteration, and in those right before
	refused, refusedBefore []string
	opening, shown, moved  bool
	began, place           string
	seen                   []string
	stuck, errors          int
	problem                string
	stop                   *event.BreakerTripped
	blind                  bool // some repository could not be read in the open iteration
}

func (s *progressModel) read(e event.Event, g *verificationModel, n *words) {
	switch e.Type {
	case event.TypeLoopResumed:
		*s = progressModel{moved: s.moved}
	case event.TypeRepoInspected:
		p := as[event.RepoInspected](e)
		s.add(fmt.Sprintf("%s at %s with %s;", p.Root, p.Head, p.Fingerprint))
	case event.TypeRepoUnreadable:
		s.blind = true
	case event.TypeFolderInspected:
		if p := as[event.FolderInspected](e); p.Boxes > 0 {
			s.add(fmt.Sprintf("%d of %d boxes;", p.Ticked, p.Boxes))
		}
	case event.TypeDecided:
		switch as[event.Decided](e).Do {
		case event.DoBegin:
			s.opening, s.began, s.place, s.blind = true, "", "", false
		case event.DoCheck:
			s.place = ""
		}
	case event.TypeIterationStarted:
		s.opening, s.refused = false, nil
	case event.TypeEffectFailed:
		s.opening = false
	case event.TypeStoriesJudged:
		for _, problem := range as[event.StoriesJudged](e).Problems {
			if problem.Story != "" || problem.Undone {
				text := problem.Text
				if problem.Field == "" {
					text = ""
				}
				s.refused = append(s.refused, problem.Story+" "+problem.Field+" "+withoutNumbers(text))
			}
		}
	case event.TypeReviewUndone:
		s.refused = append(s.refused, as[event.ReviewUndone](e).Story+"  ")
	case event.TypeIterationEnded:
		p := as[event.IterationEnded](e)
		s.iterationEnded(p)
		if !p.Refunded {
			if s.refusedBefore = append(s.refusedBefore, s.refused...); s.refused == nil {
				s.refusedBefore = nil
			}
		}
	case event.TypeBreakerTripped:
		if p := as[event.BreakerTripped](e); p.Step == policy.StepStop {
			s.stop = &p
		}
	}
}

func (s *progressModel) add(where string) {
	if s.opening {
		s.began += where
		return
	}
	s.shown = true
	s.place += where
}

func (s *progressModel) iterationEnded(p event.IterationEnded) {
	switch p.Outcome {
	case event.OutcomeAborted, event.OutcomeInterrupted, event.OutcomeLimited, event.OutcomeUnauthorized, event.OutcomeEmpty:
		return
	}
	fresh := s.place != "" && !s.blind && !slices.Contains(s.seen, s.place)
	s.moved = s.moved || fresh && s.shown && s.place != s.began // also if a claim was refused
	if fresh {
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
	case s.errors > 0 && withoutNumbers(s.problem) == withoutNumbers(p.Error):
		s.errors++
	default:
		s.errors, s.problem = 1, p.Error
	}
}

// withoutNumbers drops the words that differ between two errors of the same kind.
func withoutNumbers(problem string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(problem), func(word string) bool { return strings.ContainsAny(word, "0123456789") }), " ")
}

// progress says what the files show of the open iteration.
func (s *progressModel) progress(g *verificationModel, n *words, p *processNote, tools int) string {
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

func (s *progressModel) stopped(rules event.Rules) bool {
	if s.stop == nil {
		return false
	}
	if s.stop.Rule == policy.RuleSameError {
		return s.errors >= rules.Breaker.SameError
	}
	return s.stuck >= rules.Breaker.NoProgress
}

// processNote holds facts about the agent's process.
type processNote struct {
	alive, resting, tools, costs, uncounted, refused, heard bool
	// a word or a tool; of an agent that shows no tools also a thought or a token
	spoke bool
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
		n.spoke = n.spoke || speaks(e, n.tools)
	case event.TypeAgentParked:
		n.resting = n.alive
	case event.TypeAgentExited:
		p := as[event.AgentExited](e)
		atOnce := p.Took < 10_000 // what it left running may go on much longer
		n.refused = !n.resting && !n.heard && p.Code > 0 && atOnce && strings.Contains(p.Stderr, "unknown option")
		n.alive, n.resting = false, false
	}
}

// speaks reports whether a line of the agent is an answer of its model.
func speaks(e event.Event, tools bool) bool {
	switch e.Type {
	case event.TypeAgentFinished:
		return false
	case event.TypeAgentSaid:
		return strings.TrimSpace(as[event.AgentSaid](e).Text.String()) != ""
	case event.TypeAgentThought:
		return !tools
	case event.TypeAgentUsed:
		p := as[event.AgentUsed](e)
		return !tools && (p.In+p.Out+p.CacheRead+p.CacheWrite > 0 || p.USD != nil && *p.USD > 0)
	}
	return true
}
