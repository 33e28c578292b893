//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// send has a process of its own send a command, and remembers its report.
func (s *soak) send(random *rand.Rand) {
	linger(random, 80*time.Millisecond)
	c := s.command(random)
	argv := []string{"ralph", string(c.Kind), "--json", "--wait", fmt.Sprintf("%dms", random.IntN(100))}
	switch c.Kind {
	case inbox.Steer, inbox.FollowUp:
		argv = append(argv, "--loop", "soak", c.Text)
	case inbox.Set:
		argv = append(argv, "--loop", "soak", c.Key+"="+c.Value)
	case inbox.StopNow:
		argv[1] = "stop"
		argv = append(argv, "--now", "soak")
	default:
		argv = append(argv, "soak")
	}
	out, errs, err := s.child("sender", argv...)
	if killed(err) {
		return
	}
	var f struct {
		client.Receipt
		How string `json:"how"`
	}
	switch parsed := json.Unmarshal([]byte(out), &f) == nil; {
	case parsed && f.ID != "":
		s.mu.Lock()
		if s.reports[f.ID] = f.Receipt; f.Outcome != "withdrawn" {
			s.dropped[f.ID] = c.Text
		}
		s.mu.Unlock()
	case parsed && f.How == "left": // there was no runner to send it to
	case !saysWhy(errs):
		s.Errorf("%v: %v\n%s%s", argv, err, out, errs)
	}
	if c.Kind == inbox.Pause {
		if _, err := inbox.Drop(s.dir, inbox.Command{Kind: inbox.Resume}); err != nil {
			s.Errorf("drop: %v", err)
		}
	}
}

// saysWhy reports whether the sender of a command without an answer got a reason and a next step.
func saysWhy(stderr string) bool {
	for _, why := range []string{"is not running", "is withdrawn", "which has not reported the outcome", "take back the command", "has no runner", "is already run by"} {
		if strings.Contains(stderr, why) {
			return true
		}
	}
	return false
}

// follow watches the loop until its end, by one process after another, since they are killed.
func (s *soak) follow(random *rand.Rand, n int, ended <-chan struct{}) {
	var last event.Seq
	for round := 0; ; round++ {
		if isClosed(ended) {
			return
		}
		argv := [][]string{
			{"ralph", "attach", "soak", "--json"},
			{"ralph", "logs", "soak", "--json", "--follow"},
			{"follower", s.dir, fmt.Sprint(last + 1)},
		}[(n+round)%3]
		last = max(last, s.followOnce(argv, ended))
		linger(random, 20*time.Millisecond)
	}
}

// followOnce runs one follower and remembers every complete line that it printed.
func (s *soak) followOnce(argv []string, ended <-chan struct{}) (last event.Seq) {
	var errs strings.Builder
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.project, s.env, &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = s.launch("follower", cmd)
	}
	if err != nil {
		s.Error(err)
		return 0
	}
	defer s.gone("follower", cmd)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-ended: // package journal follows without end
			_ = cmd.Process.Kill()
		case <-over:
		}
	}()
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.Errorf("read a follower: %v", err)
			}
			break
		}
		seq := s.shown(argv[0], line[:len(line)-1])
		if last != 0 && seq != last+1 {
			s.Errorf("%v showed event %d after %d", argv, seq, last)
		}
		last = seq
	}
	err = cmd.Wait()
	if said := errs.String(); !killed(err) && strings.Contains(said, "ralph: error") && !strings.Contains(said, "the runner of loop soak died") {
		s.Errorf("%v: %v\n%s", argv, err, said)
	}
	return last
}

// shown remembers a line, and compares it with what others were shown.
func (s *soak) shown(who string, line []byte) (seq event.Seq) {
	seq = sequence(line)
	if seq == 0 {
		s.Errorf("%s showed a line that is no event: %.200q", who, line)
	}
	sum := maphash.Bytes(s.hash, line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, again := s.seen[seq]; again && before != sum {
		s.Errorf("event %d was shown in two ways, now as %s", seq, line)
	}
	s.seen[seq] = sum
	return seq
}

// sequence reads the seq of a journal line, whose keys are in a fixed order.
func sequence(line []byte) (seq event.Seq) {
	_, _ = fmt.Sscanf(string(line[:min(len(line), 40)]), `{"v":1,"seq":%d,`, &seq)
	return seq
}

// end brings the loop to its end, with every command taken.
func (s *soak) end() {
	random := s.random(99)
	if !becomes(func() bool {
		s.resume(random)
		return len(s.waiting()) == 0
	}) {
		s.Fatalf("commands still wait in the inbox: %v", s.waiting())
	}
	var errs string
	var err error
	if !becomes(func() bool {
		s.resume(random)
		_, errs, err = s.child("", "ralph", "stop", "soak")
		if strings.Contains(errs, "the runner does not answer") {
			s.Errorf("stop: %v\n%s", err, errs)
		}
		return err == nil
	}) {
		s.Fatalf("stop: %v\n%s", err, errs)
	}
	if !becomes(func() bool {
		live, err := registry.Probe(s.dir)
		s.must(err)
		return !live.Alive
	}) {
		s.Fatal("the loop does not stop")
	}
}

// waiting returns the commands in the inbox.
func (s *soak) waiting() (names []string) {
	files, err := os.ReadDir(filepath.Join(s.dir, "inbox"))
	s.must(err)
	for _, f := range files {
		// A killed sender leaves an unfinished drop, which is no command.
		if !f.IsDir() && !strings.HasPrefix(f.Name(), ".") {
			names = append(names, f.Name())
		}
	}
	return names
}

// check compares the files with everything that was promised.
func (s *soak) check() {
	if err := journal.Verify(s.dir, func(journal.SegmentReport) {}); err != nil {
		s.Errorf("verify: %v", err)
	}
	folded := s.checkEvents()
	s.checkState(folded)
	if folded.Lifecycle.Ended == nil {
		s.Errorf("the loop has not ended: %s", folded.Status())
	}
	if left := s.waiting(); len(left) > 0 {
		s.Errorf("left in the inbox: %v", left)
	}
	if rejected, err := os.ReadDir(filepath.Join(s.dir, "inbox", "rejected")); err == nil && len(rejected) > 0 {
		s.Errorf("rejected: %v", rejected)
	}
	for _, mark := range process.LoopMarks(s.home, folded.Lifecycle.ID) {
		if strays, err := process.Sweep(s.Context(), mark, 0); err != nil || len(strays) > 0 {
			s.Errorf("alive after the end: %v %v", strays, err)
		}
	}
	if together, err := os.ReadFile(filepath.Join(s.project, togetherFile)); err == nil {
		s.Errorf("agents that were not alone:\n%s", together)
	}
	log, err := os.ReadFile(filepath.Join(s.dir, "runner.log"))
	if rest := complaints(string(log)); len(rest) > 0 || err != nil {
		s.Errorf("runner.log: %v\n%s", err, rest)
	}
}

// complaints returns the lines that runners should not have written.
func complaints(log string) (found []string) {
	for line := range strings.Lines(log) {
		switch {
		case strings.HasPrefix(line, "ralph: hint"):
		case strings.Contains(line, "is already run by"): // two resumed at once
		case strings.Contains(line, "read the job: EOF"): // its starter was killed
		default:
			found = append(found, line)
		}
	}
	return found
}

// checkEvents compares the journal with what followers and senders printed, and folds it.
func (s *soak) checkEvents() (folded loopstate.State) {
	onDisk, err := os.ReadFile(filepath.Join(s.dir, loopstate.StateFile))
	s.must(err)
	var file loopstate.File
	s.must(json.Unmarshal(onDisk, &file))
	received, answered := map[string]int{}, map[string]string{}
	texts := map[string]string{}
	missing := len(s.seen)
	for e, err := range journal.Read(s.dir, journal.ReadOptions{}) {
		if err != nil {
			s.Errorf("read: %v", err)
			return folded
		}
		s.events++
		if sum, shown := s.seen[e.Seq]; shown {
			missing--
			if sum != maphash.Bytes(s.hash, e.Line()) {
				s.Errorf("event %d is not what was shown: %s", e.Seq, e.Line())
			}
		}
		if err := folded.Fold(e); err != nil {
			s.Errorf("fold event %d: %v", e.Seq, err)
		}
		if e.Seq == file.Seq && !bytes.Equal(onDisk, loopstate.Encode(&folded)) {
			s.Errorf("state.json is not what the journal says at event %d:\n%s\nwant\n%s", e.Seq, onDisk, loopstate.Encode(&folded))
		}
		switch e.Type {
		case event.TypeCommandReceived:
			p, err := event.As[event.CommandReceived](e)
			s.must(err)
			received[p.ID]++
			texts[p.ID] = p.Text
		case event.TypeCommandDelivered, event.TypeCommandRefused:
			var f client.Receipt
			f.ID = answeredID(e)
			f.Apply(e)
			if received[f.ID] == 0 || answered[f.ID] != "" {
				s.Errorf("command %s (received %d times) was answered by event %d, and before: %q", f.ID, received[f.ID], e.Seq, answered[f.ID])
			}
			answered[f.ID] = string(f.Outcome)
		}
	}
	if file.Seq != folded.Seq {
		s.Errorf("state.json of the ended loop is at event %d of %d", file.Seq, folded.Seq)
	}
	if missing > 0 {
		s.Errorf("%d events that were shown are not in the journal", missing)
	}
	for id, n := range received {
		if n != 1 || answered[id] == "" {
			s.Errorf("command %s was received %d times and answered %q", id, n, answered[id])
		}
	}
	for id, text := range s.dropped {
		if received[id] != 1 || texts[id] != text {
			s.Errorf("command %s (%q) was received %d times (%q)", id, text, received[id], texts[id])
		}
	}
	for id, f := range s.reports {
		switch f.Outcome {
		case "withdrawn":
			if received[id] > 0 {
				s.Errorf("command %s was withdrawn, and received", id)
			}
		case "delivered", "refused":
			if answered[id] != string(f.Outcome) {
				s.Errorf("command %s was said to be %s, and is %q", id, f.Outcome, answered[id])
			}
		}
	}
	return folded
}

func answeredID(e event.Event) string {
	var p struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(e.Data(), &p)
	return p.ID
}

// checkState compares three ways to read the state.
func (s *soak) checkState(folded loopstate.State) {
	opened, err := loopstate.Open(s.dir)
	s.must(err)
	rebuilt, err := loopstate.Rebuild(s.dir)
	s.must(err)
	want := loopstate.Encode(&folded)
	for way, got := range map[string][]byte{"opened": loopstate.Encode(&opened), "rebuilt": loopstate.Encode(&rebuilt)} {
		if !bytes.Equal(got, want) {
			s.Errorf("the state %s is not what the journal says:\n%s\nwant\n%s", way, got, want)
		}
	}
	if out, errs, err := s.child("", "ralph", "journal", "rebuild", "--check", "soak"); err != nil {
		s.Errorf("rebuild --check: %v\n%s%s", err, out, errs)
	}
}
