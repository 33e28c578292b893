package loop_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/journal/event"
)

// The tasks.json of the seventh edition: agents work on its stories, cheat, break the file and
// delete it, and the executor judges it like internal/effect/executor.

const tasksFile = "tasks.json"

// The invariants of a loop over stories.
const (
	// No story passes without a review that approved it, whatever agents wrote and whatever
	// crashed.
	approvalsHold = "only a review approves a story"
	// The file has its form whenever an iteration begins.
	tasksReadable = "tasks.json can be read"
	// What an agent wrote is in the journal before ralph replaces it.
	bothKept = "the journal has what was put back"
	// From one reading to the next, only a judgement changes the stories, unless a person accepts
	// the file.
	judgementsHold = "stories are read as they were judged"
)

// seventh draws a scenario of the seventh edition: half of the loops work on stories.
func seventh(seed uint64) scenario {
	s := sixth(seed)
	r := rand.New(rand.NewPCG(seed, 9))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	s.edition = 7
	if s.rules.SCM {
		s.effectFails = pick(s.effectFails, 60) // a commit is rare, and now and then it has to fail
	}
	if r.IntN(2) == 0 {
		return s
	}
	s.stories, s.swindles, s.obeys = pick(1, 2, 3), pick(0, 20, 60), pick(50, 90, 100)
	s.rules.Stories = true
	s.rules.Review = event.ReviewRules{Skip: r.IntN(4) == 0, Cap: pick(1, 2, 5), Vote: "all"}
	s.rules.Completion.DoneFile, s.rules.Completion.Checklist = false, false
	s.rules.MaximumIterations = pick(4, 10, 20)
	s.abrupt = pick(0, 0, 10)
	drawReviewers(r, &s)
	return s
}

// tasks is what the world knows of tasks.json.
type tasks struct {
	mode  event.StoryMode // of the last prompt
	story string
}

// createTasks writes the file as a person did.
func (p *project) createTasks() {
	var b strings.Builder
	b.WriteString(`{"project":"p","branchName":"b","description":"d","verifyCommands":["make test"],"userStories":[`)
	for i := range p.w.scenario.stories {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(blankStory(string(rune('A' + i))))
	}
	b.WriteString("]}")
	p.dropTasks([]byte(b.String()))
}

func blankStory(id string) string {
	return `{"id":"` + id + `","title":"t","description":"","acceptanceCriteria":["c"],"priority":1,"passes":false,` +
		`"reviewStatus":null,"reviewCount":0,"reviewFeedback":"","notes":"n","dependsOn":[]}`
}

// dropTasks writes the file as another process does. An empty file is one that is gone.
func (p *project) dropTasks(data []byte) {
	if err := p.w.disk.Drop(tasksFile, data); err != nil {
		panic(err)
	}
}

func (p *project) readTasks() []byte {
	data, err := p.w.disk.ReadFile(tasksFile)
	if err != nil {
		return nil
	}
	return data
}

// workOnStories is what an agent does to the file: what its prompt asks for, or what it may not do.
func (p *project) workOnStories() {
	w := p.w
	if w.scenario.stories == 0 {
		return
	}
	data := p.readTasks()
	list, _ := story.Parse(data)
	if list == nil || len(list.Stories) == 0 {
		return // it has broken the file before
	}
	if w.chance(w.scenario.swindles) {
		w.note("the agent cheats")
		p.dropTasks(p.swindle(data, list))
		return
	}
	s := list.Find(p.tasks.story)
	if s == nil || !w.chance(w.scenario.obeys) {
		return
	}
	to := story.Review{Status: event.StoryNeedsReview, Count: s.ReviewCount}
	switch {
	case w.scenario.rules.Review.Skip:
		to = story.Review{Passes: true}
	case p.tasks.mode == event.ModeReview && w.chance(60):
		to = story.Review{Passes: true, Status: event.StoryApproved, Count: s.ReviewCount + 1}
	case p.tasks.mode == event.ModeReview:
		to = story.Review{Status: event.StoryChangesRequested, Count: s.ReviewCount + 1, Feedback: "not yet"}
	}
	if changed, err := story.SetReview(data, s.ID, to); err == nil {
		p.dropTasks(changed)
	}
}

// swindle returns the file after something that no agent may do to it.
func (p *project) swindle(data []byte, list *story.List) []byte {
	w := p.w
	victim := list.Stories[w.rng.IntN(len(list.Stories))].ID
	changed, err := data, error(nil)
	switch w.rng.IntN(8) {
	case 0, 1:
		changed, err = story.SetReview(data, victim, story.Review{Passes: true, Status: event.StoryApproved, Count: w.rng.IntN(3)})
	case 2:
		changed, err = story.SetReview(data, victim, story.Review{Passes: true})
	case 3:
		return data[:w.rng.IntN(len(data))]
	case 4:
		return nil
	case 5:
		changed = bytes.Replace(data, []byte(`"userStories":[`), []byte(`"userStories":[`+strings.Replace(blankStory("N"), "false", "true", 1)+","), 1)
	case 6:
		changed = bytes.Replace(data, []byte("make test"), []byte("true"), 1)
	case 7:
		changed = []byte(`{"project":"p","branchName":"b","description":"d","verifyCommands":["make test"],"userStories":[` + blankStory("Z") + `]}`)
	}
	if err != nil {
		return data
	}
	return changed
}

// beginStories does what executor.Executor.beginStories does, and then calls begin with the mode,
// unless it has answered.
func (h *simExecutor) beginStories(d event.Decided, j policy.Judgement, cause event.Seq, begin func(mode string), done func()) {
	s, rules := j.Stories, j.Rules
	if !rules.Stories {
		begin("work")
		return
	}
	read := func(verdicts []event.StoryReviewed) {
		data := h.r.w.project.readTasks()
		list, problems := story.Parse(data)
		accepted := h.r.w.checkJudged(list)
		if len(problems) > 0 && accepted {
			// A person accepted the file as the agent left it.
			h.fail(d, cause, event.ClassConfig, &executor.TasksError{Problems: problems})
			h.r.w.project.createTasks()
			done()
			return
		}
		if len(problems) > 0 {
			h.r.w.violate(tasksReadable, "before iteration %d: %v in %.300s", d.Iteration, problems, data)
		}
		blob, err := h.r.writer.PutBlob(data)
		if err != nil {
			h.fail(d, cause, executor.Classify(err), err)
			done()
			return
		}
		mode, next := list.Next(policy.StoryRules(rules))
		p := event.StoriesRead{Mode: mode, File: blob, Stories: list.States(), Done: next == nil && !s.Refused}
		if next != nil {
			p.Story = next.ID
		}
		p.Other = !p.Done && policy.IsForOther(rules, d.Agent, mode, verdicts)
		h.deliver(p, d.Iteration, cause)
		if p.Done || p.Other {
			done()
			return
		}
		h.tasks = data
		h.r.w.project.tasks = tasks{mode, p.Story}
		begin(string(mode))
	}
	if s.AgentRan {
		h.judge(d, j, cause, read, done)
		return
	}
	read(nil)
}

// judgementOf is what the executor takes of the state when an effect is decided.
func judgementOf(s *loopstate.State) policy.Judgement {
	return policy.Judgement{Stories: s.Stories, Rules: s.Rules, Votes: s.Votes, Voters: s.Failover.Voters(s.Rules)}
}

// judge does what executor.Executor.judge does, and then calls next; done if it fails.
func (h *simExecutor) judge(d event.Decided, j policy.Judgement, cause event.Seq, next func([]event.StoryReviewed), done func()) {
	w, s, rules := h.r.w, j.Stories, j.Rules
	before := h.tasks
	if before == nil {
		before = []byte(w.blobText(s.File))
	}
	found := w.project.readTasks()
	if len(found) == 0 {
		found = nil
	}
	data, problems, restored := story.Repair(found, before, s.Mode, policy.StoryRules(rules))
	verdicts, data, err := j.Verdicts(before, data)
	if err != nil {
		w.violate(tasksReadable, "the verdicts: %v", err)
	}
	list, wrong := story.Parse(data)
	if len(wrong) > 0 {
		w.violate(tasksReadable, "after the repair: %v", wrong)
	}
	judged := event.StoriesJudged{Mode: s.Mode, Stories: list.States(), Problems: problems, Restored: restored}
	if found != nil && !bytes.Equal(found, data) {
		blob, err := h.r.writer.PutBlob(found)
		if err != nil {
			h.fail(d, cause, executor.Classify(err), err)
			done()
			return
		}
		judged.Found = &blob
	}
	write := func() {
		if h.r.closing || h.r.dead {
			return
		}
		if w.scenario.abrupt > 0 && w.chance(w.scenario.abrupt) {
			w.crash(w.scenario.loss(w.rng, w.runs))
			return
		}
		if found == nil || judged.Found != nil {
			w.checkBothKept(found)
			if err := h.writeTasks(string(data)); err != nil {
				h.fail(d, cause, executor.Classify(err), err)
				done()
				return
			}
		}
		next(verdicts)
	}
	if w.broken.rash {
		write()
		h.deliver(judged, d.Iteration, cause)
		return
	}
	drafts := []event.Draft{event.Encode(judged, "loop")}
	for _, verdict := range verdicts {
		drafts = append(drafts, event.Encode(verdict, "loop"))
	}
	for i := range drafts {
		drafts[i].Cause, drafts[i].Iter = cause, d.Iteration
	}
	h.r.send(input{Input: loop.Input{Drafts: drafts, Release: func() { h.r.soon(0, write) }}})
}

// writeTasks replaces the file, durably.
func (h *simExecutor) writeTasks(text string) error {
	if err := h.write(tasksFile, text); err != nil {
		return err
	}
	root, err := h.r.w.disk.OpenFolder(".")
	if err != nil {
		return err
	}
	return root.SyncFolder(".")
}

// checkBothKept finds what is replaced now in the journal.
func (w *world) checkBothKept(found []byte) {
	events, err := w.journal()
	if err != nil {
		w.violate(verifies, "%v", err)
	}
	if found == nil {
		return
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == event.TypeStoriesJudged {
			if p := as[event.StoriesJudged](events[i]); p.Found != nil && w.blobText(*p.Found) == string(found) {
				return
			}
			break
		}
	}
	w.violate(bothKept, "%.200q is replaced, and the last judgement does not have it", found)
}

// checkJudged compares the stories that are read with those of their last judgement, or with those
// that were read last if nothing was judged since. accepted says that a person has accepted the
// file since; a runner that died may have recorded that.
func (w *world) checkJudged(list *story.List) (accepted bool) {
	events, err := w.journal()
	if err != nil {
		w.violate(verifies, "%v", err)
	}
	for _, e := range slices.Backward(events) {
		var last []event.StoryState
		switch e.Type {
		case event.TypeLoopResumed:
			accepted = accepted || as[event.LoopResumed](e).AcceptedChanges
			continue
		case event.TypeStoriesRead:
			last = as[event.StoriesRead](e).Stories
		case event.TypeStoriesJudged:
			last = as[event.StoriesJudged](e).Stories
		default:
			continue
		}
		if !accepted && (list == nil || !slices.Equal(last, list.States())) {
			w.violate(judgementsHold, "event %d says that the stories are %v, and they are read as %+v", e.Seq, last, list)
		}
		return accepted
	}
	return accepted
}

// blobText returns a text of the journal.
func (w *world) blobText(b event.Blob) string {
	if b.SHA256 == "" {
		return b.Text
	}
	text, err := w.disk.ReadFile(loopDir + "/blobs/" + string(b.SHA256))
	if err != nil {
		w.violate(blobsWhole, "%v", err)
	}
	return string(text)
}

// checkApprovals reads from the journal who approved each story. Only agents change the file, so a
// story passes only after a judgement of a review, or without reviews.
func (w *world) checkApprovals(events []event.Event) {
	var last []event.StoryState
	var mode event.StoryMode
	skip := w.scenario.rules.Review.Skip
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopResumed:
			if as[event.LoopResumed](e).AcceptedChanges {
				last = nil // what is there is a person's now
			}
		case event.TypeStoriesRead:
			p := as[event.StoriesRead](e)
			if list, problems := story.Parse([]byte(w.blobText(p.File))); len(problems) > 0 || !slices.Equal(list.States(), p.Stories) {
				w.violate(tasksReadable, "event %d: %v", e.Seq, problems)
			}
			last, mode = p.Stories, p.Mode
		case event.TypeStoriesJudged:
			p := as[event.StoriesJudged](e)
			approved := 0
			for _, s := range p.Stories {
				at := slices.IndexFunc(last, func(b event.StoryState) bool { return b.ID == s.ID })
				before := event.StoryState{}
				if at >= 0 {
					before = last[at]
				}
				if s.Passes && !before.Passes && !skip {
					approved++
					if mode != event.ModeReview || before.ReviewStatus != event.StoryNeedsReview || s.ReviewCount != before.ReviewCount+1 || s.ReviewStatus != event.StoryApproved {
						w.violate(approvalsHold, "event %d: %s is approved in mode %s, and was %+v", e.Seq, s.ID, mode, before)
					}
				}
			}
			if approved > 1 {
				w.violate(approvalsHold, "event %d: %d stories are approved at once", e.Seq, approved)
			}
			for _, b := range last {
				if !slices.ContainsFunc(p.Stories, func(s event.StoryState) bool { return s.ID == b.ID }) {
					w.violate(approvalsHold, "event %d: %s is gone", e.Seq, b.ID)
				}
			}
			last = p.Stories
		}
	}
}

// storied is a scenario of much cheating and many crashes.
func storied(s *scenario) {
	manyJobs(s)
	s.background, s.stories, s.swindles, s.obeys, s.works = 0, 2, 80, 100, 100
	s.rules.Stories, s.rules.Review, s.rules.Reviewers = true, event.ReviewRules{Cap: 2, Vote: "all"}, 0
	s.rules.Completion.DoneFile, s.rules.Completion.Checklist, s.rules.Guardrails, s.rules.SCM = false, false, 0, false
	s.rules.MaximumIterations = 6
	s.able.tools, s.disasters, s.powerCuts, s.hangs, s.edits, s.abrupt = true, 6, 0, 0, 0, 0
}

// forgetAfterJudgement spoils the state of each runner that comes after a judgement that no check
// followed.
func forgetAfterJudgement() func([]event.Event, *loopstate.State) {
	judged := false
	return func(events []event.Event, s *loopstate.State) {
		for _, e := range events {
			switch e.Type {
			case event.TypeStoriesRead:
				judged = false
			case event.TypeStoriesJudged:
				judged = true
			case event.TypeLoopResumed:
				s.Stories.AgentRan = s.Stories.AgentRan && !judged
			}
		}
	}
}

var wrongStories = []wrong{
	{"a dead runner's agent is believed", mutation{folded: after(event.TypeLoopResumed, func(s *loopstate.State) { s.Stories.AgentRan = false }), unfolded: true, stage: storied}, judgementsHold},
	{"the last agent is believed", mutation{folded: always(func(s *loopstate.State) { s.Stories.AgentRan = false }), unfolded: true, stage: storied}, judgementsHold},
	{"stories pass without a review", mutation{folded: always(func(s *loopstate.State) { s.Rules.Review.Skip = true }), unfolded: true, stage: storied}, approvalsHold},
	{"a judgement counts before the file is replaced", mutation{folded: forgetAfterJudgement(), unfolded: true, stage: func(s *scenario) { storied(s); s.disasters, s.abrupt = 0, 30 }}, judgementsHold},
	{"the file is replaced before that is recorded", mutation{rash: true, stage: storied}, bothKept},
	{"stories that are open are done", mutation{folded: after(event.TypeIterationChecked, func(s *loopstate.State) { s.Stories.Done = s.Stories.Total }), unfolded: true, stage: func(s *scenario) { storied(s); s.swindles = 0 }}, claimsHold},
}
