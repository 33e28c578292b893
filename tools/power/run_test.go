//go:build linux

package power

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

var (
	cuts  = flag.Int("power.cuts", 20, "how many power cuts TestPowerCuts makes")
	first = flag.Uint64("power.seed", 1, "the seed of its first run")
	keep  = flag.String("power.keep", "", "where a failed run leaves its disk, its outputs and what was done to the disk")
)

// ralph is the program under test.
var ralph string

func TestMain(m *testing.M) {
	if os.Getenv(machineRole) != "" {
		os.Exit(playMachine())
	}
	if known := os.Getenv(clientRole); known != "" {
		fmt.Fprintln(os.Stderr, playClient(known))
		os.Exit(1)
	}
	flag.Parse()
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "power-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		ralph = filepath.Join(folder, "ralph")
		build := exec.Command("go", "build", "-o", ralph, "./cmd/ralph")
		build.Dir, build.Stderr = "../..", os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build ralph:", err)
			return 1
		}
		return m.Run()
	}())
}

// cutsPerRun is the maximum of power cuts in a run; afterwards its loop is left alone. Later cuts
// act on what earlier ones left.
const cutsPerRun = 10

// TestPowerCuts lets loops run on a disk whose power is cut, resumes them on what is left, until
// they complete, and compares the end with what was observed (see loopRun.check).
func TestPowerCuts(t *testing.T) {
	needs(t)
	var mu sync.Mutex
	var done, runs, torn, holes, reported, events int
	next := *first
	var workers sync.WaitGroup
	for range min(*cuts, runtime.NumCPU()) {
		workers.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				enough := done >= *cuts || t.Failed()
				mu.Unlock()
				if enough {
					return
				}
				var n *loopRun
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
					n = newNight(t, seed)
					n.run()
				})
				mu.Lock()
				runs, done, torn, holes, reported, events = runs+1, done+n.cuts, torn+n.torn, holes+n.holes, reported+n.reported, events+n.events
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	t.Logf("%d power cuts in %d runs left %d unfinished ends of journals, %d of them with holes; %d repairs were reported; %d events",
		done, runs, torn, holes, reported, events)
	if !t.Failed() && (done == 0 || done >= 200 && (torn < done/50 || holes == 0)) {
		t.Error("the power was seldom cut in the middle of a write: this tests too little")
	}
}

// needs skips the test if the kernel permits no mounts or PID namespaces.
func needs(t *testing.T) {
	t.Helper()
	at := t.TempDir()
	m, err := mount(newDisk(rand.New(rand.NewPCG(0, 0))), at)
	if err == nil {
		err = m.unmount(at)
	}
	if err == nil {
		var b *machine
		if b, err = boot(t.TempDir()); err == nil {
			b.powerOff(func() {})
		}
	}
	if err != nil {
		t.Skipf("power: skipped: %v (it needs /dev/fuse, and the right to mount and to make PID namespaces)", err)
	}
}

// loopRun is one loop from its start to its end.
type loopRun struct {
	*testing.T
	seed uint64
	rng  *rand.Rand
	root string // of this run, on the machine that the tests run on
	disk *disk
	env  []string

	cuts, torn, reported, events int
	// of the torn ones, those with a missing block before one that survived
	holes int
	met   bool   // an operation was refused
	again string // the command that repeats it

	// What was observed outside of the disk.
	started   bool                 // ralph start said that the loop runs
	completed bool                 // ralph attach said so
	synced    map[event.Seq]string // lines of events, by seq, that a sync had covered
	// texts by id of the commands that ralph steer acknowledged
	dropped map[string]string
}

const prompt = "Do what is to be done."

// Paths on the disk.
const (
	projectPath = "work/project"
	loopPath    = projectPath + "/.ralph/one"
	homePath    = "home"
)

func newNight(t *testing.T, seed uint64) *loopRun {
	n := &loopRun{
		T: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), root: t.TempDir(),
		synced: map[event.Seq]string{}, dropped: map[string]string{}, again: fmt.Sprintf("make power SEED=%d CUTS=1", seed),
	}
	n.disk = newDisk(n.rng)
	n.disk.put(projectPath+"/main.txt", "something\n")
	n.disk.put(homePath+"/", "")
	for _, name := range []string{"mnt", "world", "said"} {
		n.must(os.Mkdir(n.on(name), 0o755))
	}
	n.must(os.WriteFile(n.on("one.rehearsal"), []byte(strings.ReplaceAll(scenario, "WORLD", n.on("world"))), 0o644))
	// The power cut may lose the loop's entry in the registry. Without RALPH_TRUST, ralph would
	// then ask about the loop as about one that came with a clone.
	n.env = []string{
		"PATH=" + filepath.Dir(ralph) + ":" + os.Getenv("PATH"), "HOME=" + n.on(""), "RALPH_HOME=" + n.on("mnt/"+homePath), "RALPH_TRUST=1",
		"NO_COLOR=1", "CI=true",
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat it with: %s", n.again)
			n.keep()
		}
	})
	return n
}

// The agent writes into files of the world which iteration it works in and what was said to it. It
// claims to be done in the fifth iteration at the earliest.
const scenario = `# Some of everything that is written down.
iteration
  run echo {iteration} >> WORLD/agent
  say This is iteration {iteration}.
  talk 3KB
  write notes.txt some notes
  use in=10 out=20 usd=0.001
  steered -> run echo {steer} >> WORLD/steered
  sleep 20ms
iteration
  run echo {iteration} >> WORLD/agent
  talk 5KB
  tool read {"path":"x"} -> error: no such file
  append notes.txt more
iteration
  run echo {iteration} >> WORLD/agent
  slow 1ms: one two three four five six seven eight nine ten
  error it did not work
iteration
  run echo {iteration} >> WORLD/agent
  talk 12KB
  steered -> run echo {steer} >> WORLD/steered
  sleep 20ms
iteration *
  run echo {iteration} >> WORLD/agent
  say Done.
  promise
`

func (n *loopRun) on(name string) string { return filepath.Join(n.root, name) }

func (n *loopRun) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

func (n *loopRun) keep() {
	if *keep == "" {
		return
	}
	to := filepath.Join(*keep, fmt.Sprint(n.seed))
	err := errors.Join(
		os.RemoveAll(to), os.CopyFS(to, os.DirFS(n.on("said"))), n.disk.save(filepath.Join(to, "disk")),
		os.WriteFile(filepath.Join(to, "trace"), []byte(strings.Join(n.disk.trace, "\n")), 0o644),
	)
	n.Logf("kept in %s: %v", to, err)
}

// run cuts the power up to cutsPerRun times, then lets the loop come to its end.
func (n *loopRun) run() {
	for n.cuts < cutsPerRun {
		// Half of the cuts come early: while the loop begins or is recovered.
		most := []int{60, 60, 400, 1000}[n.rng.IntN(4)]
		n.disk.plan = plan{cutAt: 1 + n.rng.IntN(most)}
		if n.boot() {
			break
		}
		n.cuts++
		n.checkBeforeRepair()
		if n.Failed() {
			return
		}
	}
	if n.cuts == cutsPerRun {
		n.disk.plan = plan{}
		n.boot()
	}
	n.check()
}

// boot runs one machine, and reports whether the loop came to its end.
func (n *loopRun) boot() (ended bool) {
	s := n.session()
	defer func() {
		s.end()
		if !ended {
			n.disk = n.disk.after()
		}
	}()
	return s.begin() && s.attend()
}

// session turns a machine on.
func (n *loopRun) session() *session {
	mounted, err := mount(n.disk, n.on("mnt"))
	n.must(err)
	said, err := os.MkdirTemp(n.on("said"), fmt.Sprintf("boot-%d-", n.cuts))
	n.must(err)
	m, err := boot(said)
	n.must(err)
	return &session{loopRun: n, m: m, mounted: mounted}
}

// end turns the machine off in the middle of its work, and remembers what was certain then.
func (s *session) end() {
	s.disk.mu.Lock()
	s.disk.off = true
	s.disk.mu.Unlock()
	s.m.powerOff(func() { close(s.disk.over) })
	if err := s.mounted.unmount(s.on("mnt")); err != nil {
		s.Fatalf("unmount: %v", err)
	}
	for seq, line := range s.disk.certainEvents() {
		if before, known := s.synced[seq]; known && before != line {
			s.Errorf("event %d was synced twice, as\n%.300s\nand as\n%.300s", seq, before, line)
		}
		s.synced[seq] = line
	}
}

// session is a person's work at a machine.
type session struct {
	*loopRun
	m       *machine
	mounted *mounted
}

// patience is how long anything may take before it counts as hanging.
const patience = 90 * time.Second

// wait returns the exit code of a process, or false if the power is cut before.
func (s *session) wait(p *started) (code int, ok bool) {
	select {
	case code := <-p.code:
		return code, true
	case <-s.disk.cut:
		return 0, false
	case <-time.After(patience):
		out, errs := p.said()
		s.Fatalf("a process hangs\n%.1000s%.3000s\n%s", out, errs, strings.Join(s.disk.trace[max(0, len(s.disk.trace)-20):], "\n"))
		return 0, false
	}
}

func (s *session) ralph(argv ...string) *started {
	return s.m.start(filepath.Join(s.root, "mnt", projectPath), s.env, append([]string{ralph}, argv...)...)
}

// settings of the loop. Random choices differ between runs, not within one.
func (n *loopRun) settings() []string {
	chance := rand.New(rand.NewPCG(n.seed, 1))
	set := []string{
		"-m", "60", "--anyway", "--agent", ralph + " rehearse " + n.on("one.rehearsal"),
		"--set", "restart.delay=1ms", "--set", "breaker.noProgress=0", "--set", "breaker.sameError=0", "--set", "restart.max=50",
		"--set", fmt.Sprintf(`guardrails=[{"command":"tail -n 1 %s >> %s"}]`, n.on("world/agent"), n.on("world/guardrail")),
		"--set", fmt.Sprintf("journal.compress=%v", chance.IntN(2) == 0),
		"--set", "journal.syncEvery=" + []string{"1s", "10ms"}[chance.IntN(2)],
	}
	if n.drops() {
		set = append(set, "--set", "journal.keepIterations=2")
	}
	return set
}

// drops reports whether old segments are dropped.
func (n *loopRun) drops() bool { return n.seed%4 == 0 }

// begin starts the loop, or resumes what is left of it.
func (s *session) begin() bool {
	if s.cuts > 0 {
		resume := s.ralph(append([]string{"start", "one", "--resume", "-d", "--json"}, s.settings()...)...)
		code, ok := s.wait(resume)
		if !ok {
			return false
		}
		out, errs := resume.said()
		switch {
		case code == 0:
			s.started = true
			return true
		case s.started || code != 2:
			s.Fatalf("resume: exit %d\n%s%s", code, out, errs)
		}
	}
	start := s.ralph(append([]string{"start", "one", "-d", "--json", "-p", prompt}, s.settings()...)...)
	code, ok := s.wait(start)
	if !ok {
		return false
	}
	if code != 0 {
		out, errs := start.said()
		s.Fatalf("start: exit %d\n%s%s", code, out, errs)
	}
	s.started = true
	return true
}

// attend follows the loop and steers it, until its end.
func (s *session) attend() bool {
	attached := s.ralph("attach", "one", "--json")
	over := make(chan struct{})
	var steering sync.WaitGroup
	steering.Go(func() { s.steer(over) })
	code, ok := s.wait(attached)
	close(over)
	if ok {
		out, errs := attached.said()
		if code != 0 {
			s.Errorf("attach: exit %d\n%.2000s\n%s", code, out, errs)
		}
		s.completed = code == 0
		// The runner ends after the last line: what it still writes belongs to the run.
		s.rest()
	}
	steering.Wait()
	return ok
}

// rest waits until no runner holds the loop.
func (s *session) rest() {
	for began := time.Now(); ; {
		list := s.ralph("list", "--all", "--json")
		if _, ok := s.wait(list); !ok {
			return
		}
		if out, _ := list.said(); !strings.Contains(out, `"alive":true`) {
			return
		}
		if time.Since(began) > patience {
			s.Fatal("the runner does not leave")
		}
	}
}

// steer sends commands, one after another.
func (s *session) steer(over <-chan struct{}) {
	for i := range 3 {
		text := fmt.Sprintf("word-%d-%d", s.cuts, i)
		p := s.ralph("steer", "--loop", "one", "--wait", "100ms", "--json", text)
		select {
		case <-p.code:
		case <-s.disk.cut:
			return
		case <-over:
			return
		}
		out, _ := p.said()
		var fate struct{ ID, Fate string }
		if json.Unmarshal([]byte(out), &fate) == nil && fate.ID != "" && fate.Fate != "" {
			s.dropped[fate.ID] = text
		}
	}
}
