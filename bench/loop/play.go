package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Bounds of a trial, the same for all arms.
const (
	mostUSD  = 0.30
	mostTime = 45 * time.Second
)

// Ends of a trial besides those of the arm's command.
var (
	errMoney  = errors.New("money")
	errTime   = errors.New("time")
	errPerson = errors.New("person") // the loop waits for a person
)

// A play is one trial while it runs.
type play struct {
	trial
	task   *task
	script *script
	log    *trialLog
	dir    string // all of its files
	base   string // the address of its model API, by which its processes are known, too
	setup  *setup

	end    context.CancelCauseFunc
	mu     sync.Mutex
	asked  int       // requests so far
	spell  string    // the fault that lasts
	until  time.Time // when it ends
	person bool      // a person starts the arm again, at until, if it has ended without a done
	usd    float64
	seen   [sha256.Size]byte // the files that were judged last
	runner int               // the pid of ralph's runner, or of the arm's shell
	asks   sync.Mutex        // one request at a time reaches the script
}

// A setup is what all trials of a run share.
type setup struct {
	self, ralph, out string
	model            string // the address of the model API after the proxy
	key              string // the real key that the proxy sends; empty with scripted models
	agent            string // the real agent's program; empty for the scripted one
	agentModel       string
	disk             bool // file systems can be made full
}

func (p *play) project() string { return filepath.Join(p.dir, "project") }

// proxy is between the agent and the model API: it counts, judges what has changed, and fails as
// the seed says.
func (p *play) proxy(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent has gone
	}
	if err := p.observe(); err != nil {
		p.end(err)
		return
	}
	n, fault, until := p.draw()
	if err := p.log.add(entry{Type: modelAsked, N: n, Fault: fault}); err != nil {
		p.end(err)
	}
	switch fault {
	case "429", "429-reset", "529", "login":
		refuse(w, fault, until)
		return
	case "silent":
		<-r.Context().Done()
		return
	case "kill-agent", "kill-loop":
		p.kill(fault)
		return
	case "disk":
		p.fill(until)
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, p.upstream(r), bytes.NewReader(body))
	if err != nil {
		p.end(err)
		return
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding") // the answer has to be readable
	if p.setup.key != "" {
		req.Header.Del("Authorization")
		req.Header.Set("X-Api-Key", p.setup.key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway) // or the agent has gone, and reads nothing
		return
	}
	defer res.Body.Close()
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(res.StatusCode)
	u := passStream(w, readLines(res.Body), fault, r.Context().Done())
	if err := p.log.add(entry{Type: modelAnswered, N: n, In: u.in, Out: u.out, Claim: u.claim}); err != nil {
		p.end(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.usd += u.usd(); p.usd >= mostUSD {
		p.end(errMoney)
	}
}

// upstream is the address of a request at the model API: that of the scripts knows trials.
func (p *play) upstream(r *http.Request) string {
	if p.setup.key == "" {
		return p.setup.model + r.URL.RequestURI()
	}
	return p.setup.model + strings.TrimPrefix(r.URL.RequestURI(), "/t/"+strconv.Itoa(p.N))
}

func readLines(from io.Reader) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() && yield(lines.Text()) {
		}
	}
}

// draw counts a request and says what goes wrong with it, and how long.
func (p *play) draw() (n int, fault string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if time.Now().Before(p.until) && p.spell != "" {
		return p.asked, p.spell, p.until
	}
	fault = p.fault(p.asked)
	if fault == "disk" && !p.setup.disk {
		fault = ""
	}
	p.spell = ""
	if spells[fault] > 0 {
		p.spell, p.until = fault, time.Now().Add(spells[fault])
	}
	if fault == "disk" || fault == "kill-loop" {
		p.until = time.Now().Add(time.Second)
	}
	p.person = p.person || fault == "login" || fault == "kill-loop" || fault == "disk"
	return p.asked, fault, p.until
}

// observe has the project judged if it changed since the last time.
func (p *play) observe() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := sha256.New()
	for _, name := range []string{"app.sh", "tests/run.sh", "tests/cases.txt"} {
		text, _ := os.ReadFile(filepath.Join(p.project(), name)) // one that is gone counts as a change
		fmt.Fprintf(h, "%d %s", len(text), text)
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	if sum == p.seen {
		return nil
	}
	p.seen = sum
	v, err := p.task.judge(filepath.Join(p.setup.out, "judge", strconv.Itoa(p.N)), p.project())
	if err != nil {
		return err
	}
	return p.log.add(entry{Type: judged, Verdict: &v})
}

// kill ends the agent, or the loop around it, without asking.
func (p *play) kill(what string) {
	p.mu.Lock()
	runner := p.runner
	p.mu.Unlock()
	n := 0
	for pid, program := range p.processes() {
		isLoop := pid == runner || p.Arm == "once" || p.Arm == "goal"
		if what == "kill-agent" && program == "claude" || what == "kill-loop" && isLoop {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				n++
			}
		}
	}
	if err := p.log.add(entry{Type: killed, Fault: what, N: n}); err != nil {
		p.end(err)
	}
}

// processes of the trial by pid, with the names of their programs: all that have the address of its
// model API in the environment.
func (p *play) processes() map[int]string {
	found := map[int]string{}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte("ANTHROPIC_BASE_URL="+p.base+"\x00")) {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			argv, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			name, _, _ := strings.Cut(string(argv), "\x00")
			found[pid] = filepath.Base(name)
		}
	}
	return found
}

// fill makes the file system of the trial full, until a moment.
func (p *play) fill(until time.Time) {
	path := filepath.Join(p.dir, "fill")
	file, err := os.Create(path)
	if err != nil {
		p.end(err)
		return
	}
	defer file.Close()
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = file.Write(block)
		if err != nil && len(block) > 1 {
			block, err = block[:len(block)/2], nil
		}
	}
	time.AfterFunc(time.Until(until), func() { os.Remove(path) })
}

// run plays the trial to its end.
func (s *setup) run(ctx context.Context, p *play) (err error) {
	ctx, p.end = context.WithCancelCause(ctx)
	defer p.end(nil)
	p.dir = filepath.Join(s.out, "work", strconv.Itoa(p.N))
	err = p.prepare()
	defer func() { err = errors.Join(err, p.clear()) }()
	if err != nil {
		return fmt.Errorf("trial %d: %w", p.N, err)
	}
	file, err := os.Create(filepath.Join(s.out, fmt.Sprintf("%04d.jsonl", p.N)))
	if err != nil {
		return err
	}
	defer file.Close()
	p.log = &trialLog{file: file, start: time.Now()}
	if err := p.log.add(entry{Type: trialStarted, Trial: &p.trial}); err != nil {
		return err
	}
	timer := time.AfterFunc(mostTime, func() { p.end(errTime) })
	defer timer.Stop()
	why := p.command(ctx)
	if why == nil {
		why = errors.New("exit")
	}
	if err := p.observe(); err != nil {
		return err
	}
	if !errors.Is(why, errMoney) && !errors.Is(why, errTime) && !errors.Is(why, errPerson) && why.Error() != "exit" {
		return fmt.Errorf("trial %d: %w", p.N, why)
	}
	if err := p.log.add(entry{Type: trialEnded, Why: why.Error()}); err != nil {
		return err
	}
	return p.keepJournal()
}

// command runs the arm, again as often as the plan's rule lets a person start it again.
func (p *play) command(ctx context.Context) error {
	for again := false; ; again = true {
		cmd := exec.CommandContext(ctx, "sh", "-c", p.line(again))
		cmd.Dir, cmd.Env = p.project(), p.environ()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return p.stop(cmd.Process.Pid) }
		cmd.WaitDelay = 5 * time.Second
		if err := p.log.add(entry{Type: loopStarted, Person: again}); err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		watch, done := context.WithCancel(ctx)
		if p.isRalph() {
			go p.watch(watch)
		} else {
			p.mu.Lock()
			p.runner = cmd.Process.Pid
			p.mu.Unlock()
		}
		_ = cmd.Wait() // how it ended is in its exit code
		done()
		code := cmd.ProcessState.ExitCode()
		if err := p.log.add(entry{Type: loopExited, Code: &code}); err != nil {
			return err
		}
		p.mu.Lock()
		person, until := p.person, p.until
		p.person = false
		p.mu.Unlock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if code == 0 || !person {
			return nil
		}
		select {
		case <-ctx.Done(): // an agent that outlived its loop spent the rest
			return context.Cause(ctx)
		case <-time.After(time.Until(until) + 100*time.Millisecond):
		}
	}
}

// watch follows ralph's journal: it knows the runner, and when the loop waits for a person.
func (p *play) watch(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
		for e, err := range journal.Follow(ctx, p.loopDir(), journal.FollowOptions{}) {
			if err != nil {
				break // the loop has not begun
			}
			switch e.Type {
			case event.TypeLoopStarted, event.TypeLoopResumed:
				pid, err := strconv.Atoi(string(e.Field("pid")))
				if err != nil {
					p.end(fmt.Errorf("the pid of the runner: %w", err))
				}
				p.mu.Lock()
				p.runner = pid
				p.mu.Unlock()
			case event.TypeLoopWaiting:
				if wait, err := event.As[event.LoopWaiting](e); err != nil || wait.For == event.WaitPerson {
					p.end(errors.Join(err, errPerson))
				}
			}
		}
	}
}
