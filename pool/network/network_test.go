//go:build linux

package network

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/pool/takeover"
	"github.com/ralph-loop/ralph/pool/trust"
	"github.com/ralph-loop/ralph/registry"
)

var (
	rounds = flag.Int("network.rounds", 1, "how many hosts are cut off, one after the other")
	seed   = flag.Uint64("network.seed", 1, "what the faults are drawn from")
)

func TestMain(m *testing.M) {
	var err error
	if role := os.Getenv(firstProcess); role != "" {
		_ = os.Unsetenv(firstProcess)
		err = playMachine(role)
	} else if how := os.Getenv(observing); how != "" {
		err = observe(context.Background(), how == "ever")
	} else {
		pooltest.Main(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A scene is the machines, and the loops that they run.
type scene struct {
	*testing.T
	rand     *rand.Rand
	wire     *wire
	well     *machine // has the store
	hosts    []*machine
	loops    []*looped
	mirrors  map[*machine]*process
	observer *process

	commands         map[string]bool // by text, those that the store has
	sent             int
	takes, failed    int
	slowest, slowRun time.Duration
}

// A looped is a loop, and where it runs.
type looped struct {
	name, id string
	world    string // what its agents note
	host     *machine
	folder   string
	epoch    uint64
}

// agent notes on which host it works, and when.
const agent = `
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	echo "$(cat /proc/sys/kernel/hostname) $(date +%%s%%N) $RALPH_ITERATION" >>%s/$RALPH_LOOP
	sleep 0.3
done
echo $RALPH_ITERATION >>work.txt
`

// until waits until something is so.
func (s *scene) until(what string, is func() bool) {
	s.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.After(pooltest.Deadline)
	for !is() {
		select {
		case <-tick.C:
		case <-end:
			s.Fatalf("after %v: %s", pooltest.Deadline, what)
		}
	}
}

func (s *scene) boot(name string, number byte) *machine {
	s.Helper()
	m, err := boot(s.T, s.wire, name, number)
	switch {
	case err == nil:
	case testing.Short():
		s.Skipf("skipped: a machine cannot be made here: %v (it needs /dev/net/tun, and the right to make namespaces)", err)
	default:
		s.Fatalf("make a machine: %v (it needs /dev/net/tun, and root or a kernel that lets users make namespaces)", err)
	}
	m.Run(m.Dir, "git", "config", "--global", "user.name", name)
	m.Run(m.Dir, "git", "config", "--global", "user.email", name+"@localhost")
	return m
}

// begin has two loops run on hosts of a pool.
func begin(t *testing.T) *scene {
	s := &scene{T: t, rand: rand.New(rand.NewPCG(*seed, 0)), wire: newWire(*seed), commands: map[string]bool{}, mirrors: map[*machine]*process{}}
	s.well = s.boot("well", 1)
	for i, name := range []string{"mill", "kiln", "oven"} {
		s.hosts = append(s.hosts, s.boot(name, byte(2+i)))
	}
	server := s.well.start("ralph-pool", "serve", "--json", "--listen", s.well.address.String()+":4222", "--dir", filepath.Join(s.well.Dir, "pool"))
	var served struct{ Join string }
	s.until("the server has not started", func() bool {
		out, _ := server.printed()
		return json.Unmarshal([]byte(out), &served) == nil
	})
	key, err := trust.Own(s.hosts[0].Home)
	if err != nil {
		t.Fatal(err)
	}
	s.well.must("ralph-pool", "join", served.Join)
	s.observer = s.well.start("env", observing+"=ever", os.Args[0])
	for _, h := range s.hosts {
		h.must("ralph-pool", "join", served.Join)
		if err := trust.Add(h.Home, fmt.Sprintf("%x", key.Public().(ed25519.PublicKey)), "ada"); err != nil {
			t.Fatal(err)
		}
		s.mirrors[h] = h.start("ralph-pool", "mirror", "--json")
	}
	world := t.TempDir()
	repository := s.well.Repository(fmt.Sprintf(agent, world))
	for _, h := range s.hosts {
		h.start("ralph-pool", "worker", "-n", "1")
	}
	for _, name := range []string{"red", "blue"} {
		out := s.hosts[0].must("ralph-pool", "submit", "--name", name, "--repository", repository, "--branch", "main", "-p", "do it", "-a", "./agent.sh", "-m", "5000", "--json")
		var submitted []struct{ ID string }
		if err := json.Unmarshal([]byte(out), &submitted); err != nil || len(submitted) != 1 {
			t.Fatalf("submit: %v: %s", err, out)
		}
		s.loops = append(s.loops, &looped{name: name, id: submitted[0].ID, world: filepath.Join(world, name), epoch: 1})
	}
	for _, l := range s.loops {
		s.until("the pool has no files of loop "+l.name, func() bool {
			for _, c := range s.chunks(s.observer.out) {
				if c.Header.Tree > 0 && c.Header.Loop == l.id {
					return true
				}
			}
			return false
		})
		for _, h := range s.hosts {
			if h.name == l.lines(s)[0].host {
				l.host, l.folder = h, h.folderOf(s, l.name)
			}
		}
	}
	return s
}

// folderOf returns the folder of a loop that runs.
func (m *machine) folderOf(s *scene, name string) string {
	s.Helper()
	all, err := registry.Survey(m.Home, nil)
	if err != nil {
		s.Fatal(err)
	}
	for _, status := range all {
		if status.Name == name && status.Live.Alive {
			return status.Dir
		}
	}
	s.Fatalf("no loop %s runs on %s: %+v", name, m.name, all)
	return ""
}

// A sign is what an agent has noted.
type sign struct {
	host      string
	at        time.Time
	iteration int
}

// lines returns all that the agents of a loop have noted, on all hosts.
func (l *looped) lines(s *scene) (all []sign) {
	s.Helper()
	text, err := os.ReadFile(l.world)
	if err != nil && !os.IsNotExist(err) {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var one sign
		var at int64
		if n, err := fmt.Sscanf(line, "%s %d %d", &one.host, &at, &one.iteration); err == nil && n == 3 && strings.HasSuffix(line, "\n") {
			one.at = time.Unix(0, at)
			all = append(all, one)
		}
	}
	return all
}

// works waits until the agent on a host has noted more, and returns all notes.
func (s *scene) works(l *looped, h *machine, more int) []sign {
	s.Helper()
	count := func(all []sign) (n int) {
		for _, one := range all {
			if one.host == h.name {
				n++
			}
		}
		return n
	}
	before := count(l.lines(s))
	s.until(fmt.Sprintf("the agent of loop %s does not work on host %s", l.name, h.name), func() bool { return count(l.lines(s)) >= before+more })
	return l.lines(s)
}

// command sends a command from a host. What becomes of it may not be known.
func (s *scene) command(l *looped, from *machine, wait string) (outcome string) {
	s.sent++
	text := fmt.Sprintf("word-%d.", s.sent)
	_, out, _ := from.start("ralph-pool", "steer", l.name, text, "--any", "--json", "--wait", wait).wait()
	var got struct{ Outcome string }
	if json.Unmarshal([]byte(out), &got) == nil && (got.Outcome == "received" || got.Outcome == "waits") {
		s.commands[text] = true
	}
	return got.Outcome
}

// draw draws a weather that is bad, and not too bad to work in.
func (s *scene) draw() weather {
	return weather{loss: s.rand.Float64() * 0.03, delay: time.Duration(s.rand.IntN(20)) * time.Millisecond, jitter: time.Duration(s.rand.IntN(40)) * time.Millisecond}
}

// round cuts the host of a loop off, has another one take the loop over, and heals the network.
func (s *scene) round(n int) {
	l := s.loops[s.rand.IntN(len(s.loops))]
	from := l.host
	others := []*machine{}
	for _, h := range s.hosts {
		s.wire.set(h.line, s.draw(), s.draw())
		if h != from {
			others = append(others, h)
		}
	}
	to := others[s.rand.IntN(len(others))]
	out, in := s.draw(), s.draw()
	kind := []string{"entirely", "from the store", "to the store", "nearly"}[(n+int(*seed))%4]
	switch kind {
	case "entirely":
		out.cut, in.cut = true, true
	case "from the store":
		in.cut = true
	case "to the store":
		out.cut = true
	default:
		out.loss, in.loss, out.delay, in.jitter = 0.4, 0.4, 200*time.Millisecond, 400*time.Millisecond
	}
	s.command(l, others[0], "1s")
	s.wire.set(from.line, out, in)
	s.works(l, from, 1+s.rand.IntN(8))
	s.command(l, to, "1s")
	taken := s.take(l, to, n)
	if !taken.Running || taken.Epoch != l.epoch+1 {
		s.Fatalf("round %d: taken: %+v, after epoch %d", n, taken, l.epoch)
	}
	s.works(l, to, 1)
	old := l.folder
	l.host, l.folder, l.epoch = to, filepath.Join(taken.Project, ".ralph", l.name), taken.Epoch
	s.wire.set(from.line, s.draw(), s.draw())
	healed := time.Now()
	s.fenced(l, from, old, healed)
	s.Logf("round %d: host %s was cut off %s; host %s has loop %s under epoch %d; the agent ended %.1f s after the network healed",
		n, from.name, kind, to.name, l.name, l.epoch, s.slowRun.Seconds())
}

// take takes a loop over; the network of the host that does it may fail, too.
func (s *scene) take(l *looped, to *machine, n int) (taken takeover.Taken) {
	s.Helper()
	into := filepath.Join(to.Dir, l.name+strconv.Itoa(n))
	for attempt := range 20 {
		s.takes++
		p := to.start("ralph-pool", "take", l.name, "--now", "--trust", "--json", "--into", into)
		if attempt == 0 && s.rand.IntN(2) == 0 {
			s.until("nothing is taken over", func() bool {
				_, errs := p.printed()
				return strings.Contains(errs, "reading the log") || len(p.code) > 0
			})
			s.wire.set(to.line, weather{cut: true}, weather{cut: true})
			s.works(l, l.host, 1+s.rand.IntN(10))
			s.wire.set(to.line, s.draw(), s.draw())
		}
		code, out, errs := p.wait()
		if code == 0 {
			if err := json.Unmarshal([]byte(out), &taken); err != nil {
				s.Fatalf("%v in %s", err, out)
			}
			return taken
		}
		s.failed++
		s.Logf("round %d: a take-over failed, and is tried again: %s", n, errs[strings.LastIndexByte(strings.TrimSpace(errs), '\n')+1:])
	}
	s.Fatalf("loop %s cannot be taken over", l.name)
	return taken
}

// fenced waits until a host has ended its loop, and fails if its agent works afterwards.
func (s *scene) fenced(l *looped, from *machine, old string, healed time.Time) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), pooltest.Deadline)
	defer stop()
	found := false
	for e, err := range journal.Follow(ctx, old, journal.FollowOptions{}) {
		if err != nil {
			s.Fatal(err)
		}
		if found = e.Type == event.TypeLoopFenced; found {
			break
		}
	}
	if !found {
		_, errs := s.mirrors[from].printed()
		s.Fatalf("host %s does not fence loop %s: %s", from.name, l.name, errs)
	}
	s.until("its runner lives", func() bool { live, err := registry.Probe(old); return err == nil && !live.Alive })
	all := l.lines(s)
	s.slowRun = 0
	for _, one := range all {
		if one.host == from.name {
			s.slowRun = max(0, one.at.Sub(healed))
		}
	}
	s.slowest = max(s.slowest, s.slowRun)
	for _, one := range s.works(l, l.host, 4)[len(all):] {
		if one.host != l.host.name {
			s.Errorf("the agent of loop %s works on %s after host %s has fenced it", l.name, one.host, from.name)
		}
	}
}

// TestCutHostIsFenced plays rounds, and compares what is left.
func TestCutHostIsFenced(t *testing.T) {
	s := begin(t)
	for n := range *rounds {
		s.round(n)
		if t.Failed() {
			t.Fatalf("repeat it with: make test-network ROUNDS=%d SEED=%d", *rounds, *seed)
		}
	}
	s.end()
	s.judge()
}

// end stops all loops, and has all of them mirrored.
func (s *scene) end() {
	for _, h := range s.hosts {
		s.wire.set(h.line, weather{}, weather{})
	}
	for _, l := range s.loops {
		if got := s.command(l, s.hosts[0], pooltest.Deadline.String()); got != "received" {
			s.Errorf("the last command of loop %s: %s", l.name, got)
		}
		s.hosts[0].must("ralph-pool", "stop", l.name, "--now", "--wait", "2m")
		ctx, stop := context.WithTimeout(s.Context(), pooltest.Deadline)
		for _, err := range journal.Follow(ctx, l.folder, journal.FollowOptions{UntilEnded: true}) {
			if err != nil {
				s.Fatal(err)
			}
		}
		stop()
	}
	for _, h := range s.hosts {
		s.mirrors[h].signal(syscall.SIGTERM)
		s.mirrors[h].wait()
		h.must("ralph-pool", "mirror", "--once")
		h.must("ralph-pool", "check", "--json")
	}
	s.observer.signal(syscall.SIGKILL)
	s.observer.wait()
}

// chunks reads what an observer has printed.
func (s *scene) chunks(path string) (all []seen) {
	s.Helper()
	f, err := os.Open(path)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var one seen
		if err := json.Unmarshal(lines.Bytes(), &one); err == nil { // it was killed within the last one
			all = append(all, one)
		}
	}
	return all
}

// judge compares the logs with what was read before, with the journals, and with the commands.
func (s *scene) judge() {
	once := s.well.start("env", observing+"=once", os.Args[0])
	if code, _, errs := once.wait(); code != 0 {
		s.Fatal(errs)
	}
	final := s.chunks(once.out)
	now, log, owner := map[string]string{}, map[string][]string{}, map[string]string{}
	for _, c := range final {
		now[c.Key] = c.Hash
		if c.Header.Last > 0 { // the first chunk has the specification
			log[c.Header.Loop] = append(log[c.Header.Loop], slices.Collect(strings.Lines(c.Lines))...)
		}
		key := fmt.Sprint(c.Header.Loop, " under epoch ", c.Header.Epoch)
		if owner[key] != "" && owner[key] != c.Header.Host {
			s.Errorf("chunks of loop %s are of %s and of %s", key, owner[key], c.Header.Host)
		}
		owner[key] = c.Header.Host
	}
	read := s.chunks(s.observer.out)
	for _, c := range read {
		if now[c.Key] != c.Hash {
			s.Errorf("chunk %s was read from the store, and is another one, or gone", c.Key)
		}
	}
	compared := 0
	for _, h := range s.hosts {
		compared += s.compare(h, log)
	}
	events := 0
	receipts := map[string]int{}
	for _, lines := range log {
		events += len(lines)
		for _, line := range lines {
			if _, after, found := strings.Cut(line, `"text":"word-`); found && strings.Contains(line, `"command.received"`) {
				receipts["word-"+after[:strings.IndexByte(after, '"')]]++
			}
		}
	}
	for n := range s.sent {
		text := fmt.Sprintf("word-%d.", n+1)
		if got := receipts[text]; got > 1 || got == 0 && s.commands[text] {
			s.Errorf("command %s was received %d times; the store has it: %v", text, got, s.commands[text])
		}
	}
	lost, passed := s.wire.packets()
	s.Logf("seed %d: %d take-overs, %d of them tried again; 0 forks; %d chunks read while it ran, all there at the end; %d events in the logs, %d lines of journals compared; "+
		"%d commands sent, %d stored, each received once; %d packets lost of %d; the slowest agent ended after %.1f s",
		*seed, s.takes-s.failed, s.failed, len(read), events, compared, s.sent, len(s.commands), lost, lost+passed, s.slowest.Seconds())
	if len(read) == 0 || compared == 0 || events == 0 {
		s.Error("this compared nothing")
	}
}

// compare compares the journals of a host with the logs: a loop that it has now with all of the
// log, one that it had with what it has sealed. It returns how many lines are the same.
func (s *scene) compare(h *machine, log map[string][]string) (same int) {
	s.Helper()
	all, err := registry.Survey(h.Home, nil)
	if err != nil {
		s.Fatal(err)
	}
	for _, status := range all {
		want := log[status.ID]
		lines := []string{}
		for e, err := range journal.Read(status.Dir, journal.ReadOptions{}) {
			if err != nil {
				s.Fatal(err)
			}
			lines = append(lines, string(e.Line())+"\n")
		}
		equal := 0
		for equal < min(len(lines), len(want)) && lines[equal] == want[equal] {
			equal++
		}
		same += equal
		if current := s.current(status.Dir); current && (equal != len(want) || equal != len(lines)) {
			s.Errorf("%s has loop %s, with %d events; the log has %d, of which %d are the same", h.name, status.Name, len(lines), len(want), equal)
		} else if stored := sealedBy(want, lines); !current && equal < stored {
			s.Errorf("%s had loop %s, and %d of its events are in the log, of which %d are where they were", h.name, status.Name, stored, equal)
		}
	}
	return same
}

func (s *scene) current(folder string) bool {
	for _, l := range s.loops {
		if l.folder == folder {
			return true
		}
	}
	return false
}

// sealedBy counts the lines of a journal that are in the log.
func sealedBy(log, lines []string) (n int) {
	in := map[string]bool{}
	for _, line := range log {
		in[line] = true
	}
	for _, line := range lines {
		if in[line] {
			n++
		}
	}
	return n
}
