package loop_test

import (
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal/event"
)

// scenario holds the parameters of a run.
type scenario struct {
	rules        event.Rules
	able         abilities
	segmentBytes int64
	inlineBytes  int
	keep         int // iterations whose segments are kept; 0 means all
	wordy        int // how often the prompt repeats itself

	commands int           // number of people's commands
	pace     time.Duration // the longest time between two of these
	claims   int           // percent of turns that end with something like a claim
	trouble  int           // percent of turns that do not end well
	hopeless bool          // each agent fails at once, with the same error
	resumes  int           // how often an ended loop is resumed
	skews    bool          // the wall clock is set now and then

	effectTakes time.Duration // the longest that an effect takes to begin
	startFailed int           // permille of starts
	beginFails  int           // permille of prompts

	// What follows is of the second edition. Runs of the first have nothing of it: those in
	// testdata/sim must not change.
	edition int

	repo        bool // the project is a git repository
	task        bool // there is a task.md
	works       int  // percent of things done that change a file
	ticks       int  // percent of these that tick a box
	pendulum    bool // an iteration undoes the previous one's work
	leaves      int  // percent of turns that leave a file DONE or WAIT_WITHOUT_RESTART
	edits       int  // percent of turns that change a file of a guardrail
	passes      int  // percent of guardrails' runs that pass
	guardTime   time.Duration
	effectFails int // permille of checks, commits and cancellations
	commits     int // percent of commits that are made

	limits    int               // percent of turns that a limit ends
	droughts  int               // how many of these may state when they end
	kinds     []event.FaultKind // of limits
	outage    time.Duration     // when an outage of all agents begins; 0 means never
	outageFor time.Duration
	asks      int           // percent of turns that ask for a person
	wordily   bool          // all texts are long
	refuses   bool          // the agent does not know one of its flags
	lingers   bool          // what the agent starts may outlive it
	silences  int           // percent of tools that take long
	naps      time.Duration // the longest time between two sleeps; 0 means three hours
	sleeps    bool          // the machine sleeps now and then, and its processes are stopped
	patient   bool          // users only resume what is paused

	// What follows is of the third edition.
	agents   []member // the agents, in order of preference; empty if there is only one
	protects bool     // the guardrails' file is restored
	mends    int      // percent of runners before which a person edits it
	// percent of an agent's edits that also change the copies in the loop's folder
	tampers int

	// What follows is of the fourth edition.
	background int  // percent of things done that put work into the background
	together   uint // which guardrails are independent, by their bits
	parallel   int  // how many of these run at a time
	breaks     int  // percent of guardrails that cannot be run
	impatient  int  // percent of guardrails that a person does not want to wait for

	// What follows is of the fifth edition.
	unordered bool // a disk without power keeps no order of names

	// What follows is of the sixth edition.
	// percent of inspections of repositories that hang until they are cancelled
	hangs int

	// What follows is of the seventh edition.
	stories  int // of tasks.json; 0 is a loop that does not work on stories
	swindles int // percent of an agent's changes of tasks.json that it may not make
	obeys    int // percent of the others that are made
	abrupt   int // percent of judgements after which the runner dies before it writes the file

	// What follows is of the eighth edition.
	questions int // percent of things done before which the agent asks
	blocking  int // percent of these that block
	replies   int // percent of people's commands that are answers

	// What follows is of the ninth edition.
	regrets int // percent of people's commands that take a message back

	// What follows is of the tenth edition.
	schedule  bool          // iterations may have to wait for their turn
	startsIn  time.Duration // until the time of the start; 0 for none
	otherEnds time.Duration // until the end of the loop that has to end first; 0 for none
	otherDies int           // percent of those whose runner dies before
	quotaLeft float64       // percent that have to be left at the start
	unnoticed int           // not 0: changes wake no runner

	// What follows is of the eleventh edition.
	heldOutPass int // percent of held-out guardrails' runs that pass

	// What follows is of the twelfth edition.
	proves int // percent of mutants that the guardrails notice; 0 for none, and no proof

	// What follows is of the fourteenth edition.
	fences  int // percent of people's commands that are fences
	claimed int // percent of runners before which their host took the loop over

	// What follows is of the fifteenth edition.
	proofStops int // percent of trials of a proof during which a person stops the loop

	disasters int // runners with a faulty disk
	powerCuts int // percent of deaths that are the machine's
	// crashAt is the change during which the first and the second runner die, and
	// deaths is how; 0 leaves both to chance.
	crashAt [2]int
	deaths  [2]simfs.Loss
}

// newScenario draws a scenario.
func newScenario(seed uint64) scenario {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	minutes := func(n int) event.Duration { return event.Duration(n) * event.Duration(time.Minute) }
	s := scenario{
		rules: event.Rules{
			MaximumIterations:  pick(1, 2, 4, 10),
			Completion:         event.CompletionRules{Promise: "COMPLETE", Match: "final", MinToolCalls: r.IntN(2), OnPromiseNoWork: "reject"},
			CompletionResponse: "DONE",
			Limits:             event.LimitRules{Idle: minutes(pick(0, 2, 10)), Iteration: minutes(pick(10, 60, 120)), ExitGrace: event.Duration(pick(5, 30)) * event.Duration(time.Second)},
			Breaker:            event.BreakerRules{Environment: 3},
			Restart:            event.RestartRules{Max: pick(0, 1, 3, 5), Delay: event.Duration(pick(1, 1000, 60_000)) * event.Duration(time.Millisecond)},
		},
		able:         abilities{live: r.IntN(3) > 0, costs: r.IntN(2) > 0, tools: r.IntN(4) > 0, exitEnds: r.IntN(4) == 0},
		segmentBytes: int64(pick(3_000, 8_000, 8_000, 64_000)),
		inlineBytes:  pick(20, 16_000),
		keep:         pick(0, 0, 0, 1),
		wordy:        pick(0, 0, 3, 100),
		commands:     pick(0, 3, 10, 10, 30),
		pace:         time.Duration(pick(10, 60, 300, 1200)) * time.Second,
		claims:       pick(0, 10, 40),
		trouble:      pick(0, 10, 20, 60, 100),
		hopeless:     r.IntN(15) == 0,
		resumes:      pick(0, 0, 0, 1),
		skews:        r.IntN(8) == 0,
		effectTakes:  time.Duration(pick(1, 50, 3000)) * time.Millisecond,
		startFailed:  pick(0, 0, 50, 300),
		beginFails:   pick(0, 0, 20),
		disasters:    pick(0, 1, 2, 4),
		powerCuts:    pick(0, 50, 100),
	}
	if s.able.exitEnds {
		s.able.live = false
	} else {
		s.able.reset = r.IntN(4) > 0
	}
	if r.IntN(6) == 0 {
		s.rules.Completion.Match = "anywhere"
	}
	switch r.IntN(10) {
	case 0:
		s.rules.Limits.Cost = 0.2
	case 1:
		s.rules.Limits.Tokens = 5_000
	case 2:
		s.rules.Limits.Duration = minutes(30)
	}
	return s
}

// second draws a scenario of the second edition: a run with everything that can happen to a loop.
func second(seed uint64) scenario {
	s := newScenario(seed)
	r := rand.New(rand.NewPCG(seed, 4))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	minutes := func(n int) event.Duration { return event.Duration(n) * event.Duration(time.Minute) }
	s.edition = 2
	s.repo, s.task = r.IntN(3) > 0, r.IntN(3) > 0
	s.works, s.ticks = pick(0, 20, 60), pick(0, 10, 50)
	s.pendulum = r.IntN(8) == 0
	s.leaves, s.edits = pick(0, 0, 10, 40), pick(0, 0, 20)
	s.passes, s.guardTime = pick(0, 50, 90, 100, 100), time.Duration(pick(1, 60, 1200))*time.Second
	s.effectFails, s.commits = pick(0, 0, 0, 30), pick(50, 100)
	s.sleeps, s.wordily, s.lingers = r.IntN(6) == 0, r.IntN(20) == 0, r.IntN(3) == 0
	s.silences = pick(0, 0, 20)
	s.patient = r.IntN(2) == 0
	s.refuses = r.IntN(60) == 0

	s.rules.Guardrails, s.rules.SCM = pick(0, 0, 1, 2, 3), s.repo && r.IntN(2) == 0
	s.rules.Completion.DoneFile, s.rules.Completion.Checklist = r.IntN(3) > 0, s.task && r.IntN(2) == 0
	s.rules.Restart.WaitExitCode, s.rules.WaitEnds = pick(0, 42, 42), r.IntN(5) == 0
	s.rules.Limits.MaxOutage = minutes(pick(1, 10, 60, 600))
	s.rules.Limits.Tool = minutes(pick(0, 3, 30))
	s.rules.Breaker.NoProgress, s.rules.Breaker.SameError = pick(0, 2, 3, 5), pick(0, 2, 3, 5)
	s.rules.Reflect.Every = pick(0, 0, 2, 3)
	s.rules.Completion.MinToolCalls = pick(0, 1, 1, 3)
	s.rules.Completion.OnPromiseNoWork = []string{"reject", "reject", "warn", "accept"}[r.IntN(4)]
	switch r.IntN(8) {
	case 0:
		s.rules.Limits.IterationCost = 0.1
	case 1:
		s.rules.Limits.IterationTokens = 2_000
	case 2:
		s.rules.Limits.Cost = 0.5
	case 3:
		s.rules.Limits.Tokens = 20_000
	}
	if !s.able.exitEnds && r.IntN(4) == 0 {
		s.rules.Context, s.able.same = "same", r.IntN(3) > 0
	}
	if r.IntN(3) == 0 {
		s.limits, s.droughts = pick(10, 50, 100), pick(0, 1, 3)
		all := []event.FaultKind{event.KindRate, event.KindOverload, event.KindNetwork, event.KindContext, event.KindRate, event.KindOverload, event.KindQuota, event.KindAuth}
		s.kinds = all[:pick(1, 4, len(all))]
	}
	if r.IntN(8) == 0 {
		s.outage, s.outageFor = time.Duration(1+r.IntN(120))*time.Minute, time.Duration(pick(5, 60, 1200))*time.Minute
	}
	if r.IntN(6) == 0 {
		s.asks = pick(10, 50)
	}
	return s
}

// third draws a scenario of the third edition: a crash may come between an agent's edit of the
// guardrails and the check, and several agents may take turns.
func third(seed uint64) scenario {
	s := second(seed)
	r := rand.New(rand.NewPCG(seed, 5))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	s.edition = 3
	s.protects, s.mends, s.tampers = r.IntN(2) == 0, pick(0, 30, 60), pick(0, 0, 20)
	agentList(r, &s)
	return s
}

// fourth draws a scenario of the fourth edition: agents put work into the background, and
// guardrails run at the same time.
func fourth(seed uint64) scenario {
	s := third(seed)
	r := rand.New(rand.NewPCG(seed, 6))
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	s.edition = 4
	s.background = pick(0, 0, 5, 20)
	if s.rules.Guardrails > 0 {
		s.rules.Guardrails = pick(1, 2, 3, 5)
		s.together, s.parallel = []uint{0, eachOne, r.UintN(eachOne)}[r.IntN(3)], pick(1, 2, 4)
		s.breaks, s.impatient = pick(0, 0, 0, 10), pick(0, 0, 0, 10)
	}
	return s
}

// fifth draws a scenario of the fifth edition: after a loss of power, any of the unsynced names may
// remain.
func fifth(seed uint64) scenario {
	s := fourth(seed)
	r := rand.New(rand.NewPCG(seed, 7))
	s.edition = 5
	s.unordered = r.IntN(2) == 0
	return s
}

// sixth draws a scenario of the sixth edition: inspections of the repositories hang, before and
// after an iteration.
func sixth(seed uint64) scenario {
	s := fifth(seed)
	r := rand.New(rand.NewPCG(seed, 8))
	s.edition = 6
	s.hangs = []int{0, 5, 30}[r.IntN(3)]
	return s
}

// eachOne has the bits of all guardrails.
const eachOne = 1<<8 - 1

// ninth draws a scenario of the ninth edition: people take messages back that were received.
func ninth(seed uint64) scenario {
	s := eighth(seed)
	r := rand.New(rand.NewPCG(seed, 11))
	s.edition, s.regrets = 9, []int{0, 10, 30}[r.IntN(3)]
	return s
}

// editions draw the runs of each edition. An edition's runs must not change, because of
// testdata/sim: something new needs a new edition, with a random source of its own.
var editions = []func(seed uint64) scenario{newScenario, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, proving, sized, fencing, stopping}

// startFails returns the class of a failing start; empty if it does not fail.
func (s *scenario) startFails(w *world, place int) event.Class {
	switch m := s.member(place); {
	case m.absent:
		return event.ClassMissing
	case !m.clumsy:
		return ""
	}
	if w.rng.IntN(1000) >= s.startFailed {
		return ""
	}
	classes := []event.Class{event.ClassTransient, event.ClassTransient, event.ClassTransient, event.ClassMissing, event.ClassPermission, event.ClassConfig, event.ClassDisk}
	return classes[w.rng.IntN(len(classes))]
}

// disaster returns the faults of the next runner's disk.
func (s *scenario) disaster(w *world) (p simfs.Plan) {
	if w.runs <= len(s.crashAt) && s.crashAt[w.runs-1] > 0 {
		return simfs.Plan{CrashAt: s.crashAt[w.runs-1]}
	}
	if w.runs > s.disasters {
		return p
	}
	errs := []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT}
	switch roll := w.rng.IntN(100); {
	case roll < 40:
		p.CrashAt = 1 + w.rng.IntN(1+w.rng.IntN(150))
	case roll < 52:
		p.FailSync, p.Err = 1+w.rng.IntN(30), errs[w.rng.IntN(3)]
	case roll < 64:
		p.FailWrite, p.Err = 1+w.rng.IntN(60), errs[w.rng.IntN(3)]
	case roll < 72:
		p.Space = int64(1 + w.rng.IntN(60_000))
	case roll < 74:
		p.ReadOnly = true
	}
	return p
}

// kill returns whether and when the next runner is killed between two changes.
func (s *scenario) kill(r *rand.Rand, runs int) (time.Duration, bool) {
	if runs > s.disasters || r.IntN(3) > 0 {
		return 0, false
	}
	return time.Duration(r.Int64N(int64(20 * time.Minute))), true
}

// loss returns how a process dies.
func (s *scenario) loss(r *rand.Rand, runs int) simfs.Loss {
	if runs <= len(s.crashAt) && s.crashAt[runs-1] > 0 {
		return s.deaths[runs-1]
	}
	if r.IntN(100) < s.powerCuts {
		if s.unordered {
			return simfs.PowerLostAnyOrder
		}
		return simfs.PowerLost
	}
	return simfs.Killed
}
