//go:build unix

package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

var (
	soakSeconds = flag.Int("soak.seconds", 0, "for how long TestSoak kills; 0 skips it")
	soakSeed    = flag.Uint64("soak.seed", 0, "the seed of TestSoak; 0 takes one of its own")
)

// TestSoak runs a real detached loop that writes as fast as it can, with followers and senders in
// processes of their own, and kills any of them with KILL at any moment. At the end, the files have
// to contain everything that anybody was shown, and every command once.
//
// A seed fixes what each actor does, and in which order. How the actors interleave depends on the
// machine, so a seed that fails may have to be tried more than once.
func TestSoak(t *testing.T) {
	if *soakSeconds == 0 {
		t.Skip("chance decides what it finds: make soak")
	}
	s := newSoak(t)
	s.start(s.random(0))
	stop := make(chan struct{})
	var actors, watchers sync.WaitGroup
	act := func(group *sync.WaitGroup, n uint64, do func(*rand.Rand)) {
		random := s.random(n)
		group.Go(func() {
			for !isClosed(stop) {
				do(random)
			}
		})
	}
	act(&actors, 1, s.kill)
	act(&actors, 2, s.resume)
	act(&actors, 3, s.resume) // two at a time: only one may win
	act(&actors, 4, s.drop)
	act(&actors, 5, s.drop)
	act(&actors, 6, s.send)
	act(&actors, 7, s.look)
	ended := make(chan struct{})
	for n := range uint64(3) {
		random := s.random(8 + n)
		watchers.Go(func() { s.follow(random, int(n), ended) })
	}
	time.Sleep(s.lasts)
	close(stop)
	actors.Wait()
	s.end()
	close(ended)
	watchers.Wait()
	s.check()
	t.Logf("%d kills, %d starts, %d commands, %d events seen of %d", s.kills, s.starts, len(s.dropped), len(s.seen), s.events)
}

// soak is one run of TestSoak.
type soak struct {
	*testing.T
	seed         uint64
	lasts        time.Duration
	home         string
	project, dir string
	env          []string
	hash         maphash.Seed

	mu      sync.Mutex
	victims map[string]map[*os.Process]bool // running children by kind
	seen    map[event.Seq]uint64            // what followers were shown: hash of the line by seq
	// text by id of the commands that were dropped and not withdrawn
	dropped map[string]string
	reports map[string]client.Receipt // what senders printed
	lastSeq event.Seq                 // of the state as it was last read
	kills   int
	starts  int
	sent    int
	events  int
}

func newSoak(t *testing.T) *soak {
	seed, seconds := *soakSeed, *soakSeconds
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	root := t.TempDir()
	s := &soak{
		T: t, seed: seed, lasts: time.Duration(seconds) * time.Second,
		home: filepath.Join(root, "home"), project: filepath.Join(root, "project"), hash: maphash.MakeSeed(),
		victims: map[string]map[*os.Process]bool{}, seen: map[event.Seq]uint64{}, dropped: map[string]string{}, reports: map[string]client.Receipt{},
	}
	s.dir = filepath.Join(s.project, cli.RalphFolder, "soak")
	s.env = append(os.Environ(), "RALPH_HOME="+s.home, "HOME="+root)
	t.Cleanup(func() {
		endRunners(s.home)
		if t.Failed() {
			t.Logf("repeat it with: go test ./cmd/ralph -run TestSoak -soak.seconds=%d -soak.seed=%d", seconds, seed)
			s.keep()
		}
	})
	t.Logf("seed %d", seed)
	s.must(os.MkdirAll(s.project, 0o700))
	s.must(os.WriteFile(filepath.Join(s.project, "soak.rehearsal"), []byte(soakScenario), 0o600))
	return s
}

const soakScenario = `# Writes fast, listens, leaves a process.
iteration *
  say This is iteration {iteration}.
  tool bash {"command":"ls"} 5ms -> ok: files
  talk 4KB
  orphan sleep 300
  slow 2ms: one two three four five six seven eight nine ten eleven twelve
  tool read {"path":"x"} -> error: no such file
  use in=10 out=20 usd=0.001
  talk 2KB
  sleep 20ms
  steered -> say I heard you: {steer}
`

func (s *soak) random(n uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, n)) }

func (s *soak) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// keep copies what a failed run left to $SOAK_KEEP.
func (s *soak) keep() {
	if to := os.Getenv("SOAK_KEEP"); to != "" {
		s.must(os.CopyFS(filepath.Join(to, fmt.Sprint(s.seed)), os.DirFS(s.project)))
	}
}

// linger sleeps for up to the given time: the seeds vary when things meet.
func linger(random *rand.Rand, most time.Duration) {
	time.Sleep(time.Duration(random.Int64N(int64(most))))
}

// child runs a program to its end. killChild picks its victims by kind.
func (s *soak) child(kind string, argv ...string) (stdout, stderr string, err error) {
	var out, errs strings.Builder
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.project, s.env, &out, &errs
	if err := s.launch(kind, cmd); err != nil {
		return "", "", err
	}
	err = cmd.Wait()
	s.gone(kind, cmd)
	return out.String(), errs.String(), err
}

func (s *soak) launch(kind string, cmd *exec.Cmd) error {
	// A runner inherits neither stdout nor stderr of 'ralph start', so Wait ends with the child.
	if err := cmd.Start(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.victims[kind] == nil {
		s.victims[kind] = map[*os.Process]bool{}
	}
	s.victims[kind][cmd.Process] = true
	return nil
}

func (s *soak) gone(kind string, cmd *exec.Cmd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.victims[kind], cmd.Process)
}

func killed(err error) bool {
	e, ok := errors.AsType[*exec.ExitError](err)
	return ok && e.ExitCode() == -1
}

func code(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return 0
}

// agents are the agents that the loop runs with, in turns.
var agents = [][]string{
	{"--agent", "solo-agent rehearse soak.rehearsal", "--protocol", "rehearsal"},
	{"--agent", "solo-agent text", "--protocol", "text"},
}

func (s *soak) startArgs(random *rand.Rand) []string {
	argv := []string{
		"ralph", "start", "soak", "--detach", "-m", "1000000", "--no-stream-agent-output",
		"--set", "restart.delay=5ms", "--set", "restart.max=1000000", "--set", "breaker.noProgress=0", "--set", "breaker.sameError=0",
		"--set", fmt.Sprintf("journal.compress=%v", random.IntN(2) == 0), "--set", fmt.Sprintf("journal.raw=%v", random.IntN(2) == 0),
	}
	return append(argv, agents[random.IntN(len(agents))]...)
}

func (s *soak) start(random *rand.Rand) {
	out, errs, err := s.child("starter", append(s.startArgs(random), "-p", "soak")...)
	if err != nil {
		s.Fatalf("start: %v\n%s%s", err, out, errs)
	}
}

// resume starts the loop again when its runner is gone.
func (s *soak) resume(random *rand.Rand) {
	linger(random, 30*time.Millisecond)
	live, err := registry.Probe(s.dir)
	if err != nil {
		s.Errorf("probe: %v", err)
	}
	if live.Alive {
		return
	}
	_, errs, err := s.child("starter", append(s.startArgs(random), "--resume")...)
	switch {
	case err == nil:
		s.mu.Lock()
		s.starts++
		s.mu.Unlock()
	case killed(err):
	case code(err) == 2 && strings.Contains(errs, "already run by"):
	case code(err) == 130: // a stop was waiting for it
	case code(err) == 3 && strings.Contains(errs, "ended before its loop began"): // it was killed
	default:
		s.Errorf("resume: %v\n%s", err, errs)
	}
}

// kill kills one of the processes.
func (s *soak) kill(random *rand.Rand) {
	linger(random, 200*time.Millisecond)
	did := false
	switch n := random.IntN(100); {
	case n < 40:
		if live, err := registry.Probe(s.dir); err == nil && live.Alive && live.PID > 0 {
			did = end(live.PID, live.StartTicks)
		}
	case n < 65:
		did = s.killAgent()
	default:
		did = s.killChild(random, []string{"follower", "sender", "starter"}[random.IntN(3)])
	}
	if did {
		s.mu.Lock()
		s.kills++
		s.mu.Unlock()
	}
}

// end kills the process that has this pid and was started then.
func end(pid int, started uint64) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if now, ok := process.StartTime(pid); !ok || started != 0 && now != started {
		return false
	}
	return p.Kill() == nil
}

func (s *soak) killAgent() bool {
	log, err := os.ReadFile(filepath.Join(s.project, agentsFile))
	if err != nil {
		return false
	}
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	var pid int
	var started uint64
	if n, _ := fmt.Sscan(lines[len(lines)-1], &pid, &started); n != 2 {
		return false
	}
	return end(pid, started)
}

func (s *soak) killChild(random *rand.Rand, kind string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := random.IntN(max(1, len(s.victims[kind])))
	for p := range s.victims[kind] {
		if left--; left < 0 {
			return p.Kill() == nil
		}
	}
	return false
}

// command returns a command of a random kind. A kind with a text gets a unique one.
func (s *soak) command(random *rand.Rand) inbox.Command {
	s.mu.Lock()
	s.sent++
	text := fmt.Sprintf("wish %d of the soak", s.sent)
	s.mu.Unlock()
	switch n := random.IntN(100); {
	case n < 45:
		return inbox.Command{Kind: inbox.Steer, Text: text}
	case n < 75:
		return inbox.Command{Kind: inbox.FollowUp, Text: text}
	case n < 80:
		return inbox.Command{Kind: inbox.Pause}
	case n < 88:
		return inbox.Command{Kind: inbox.Resume}
	case n < 95:
		return inbox.Command{Kind: inbox.Set, Key: "limits.idle", Value: fmt.Sprintf("%dm", 5+random.IntN(5))}
	case n < 98:
		return inbox.Command{Kind: inbox.Set, Key: "agent", Value: "refused"}
	}
	return inbox.Command{Kind: []inbox.Kind{inbox.Stop, inbox.StopNow, inbox.Kill}[random.IntN(3)]}
}

// drop puts a command into the inbox, whether the loop is run or not.
func (s *soak) drop(random *rand.Rand) {
	linger(random, 40*time.Millisecond)
	c := s.command(random)
	id, err := inbox.Drop(s.dir, c)
	if err != nil {
		s.Errorf("drop: %v", err)
		return
	}
	if random.IntN(20) == 0 {
		back, err := inbox.Withdraw(s.dir, id)
		if err != nil {
			s.Errorf("withdraw: %v", err)
		}
		if back {
			s.mu.Lock()
			s.reports[id] = client.Receipt{ID: id, Outcome: "withdrawn"}
			s.mu.Unlock()
			return
		}
	}
	s.mu.Lock()
	s.dropped[id] = c.Text
	s.mu.Unlock()
	if c.Kind == inbox.Pause { // or the soak would rest
		if _, err := inbox.Drop(s.dir, inbox.Command{Kind: inbox.Resume}); err != nil {
			s.Errorf("drop: %v", err)
		}
	}
}

// look reads the loop as list and status do. That never fails, and the state never goes back.
func (s *soak) look(random *rand.Rand) {
	linger(random, 60*time.Millisecond)
	state, err := loopstate.Open(s.dir)
	if err != nil {
		s.Errorf("open the state: %v", err)
		return
	}
	if state.Seq < s.lastSeq {
		s.Errorf("the state went back from event %d to %d", s.lastSeq, state.Seq)
	}
	s.lastSeq = state.Seq
	loops, err := registry.Survey(s.home, nil)
	if err != nil || len(loops) != 1 || loops[0].Err != nil {
		s.Errorf("survey: %v %v", loops, err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
