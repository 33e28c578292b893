//go:build linux

package power

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/journal"
)

var refusals = flag.Int("power.refusals", 1, "how many loops TestRefusedOperations runs for each kind of refusal")

// refusal is one way in which a disk fails.
type refusal struct {
	kind kind
	with syscall.Errno
	most int
}

// everyRefusal is each kind of operation, refused once or from some moment on.
func everyRefusal() (all []refusal) {
	for k := range kinds {
		for _, most := range []int{1, 0} {
			all = append(all, refusal{k, syscall.EIO, most})
			switch k {
			case create, write, resize, mkdir, rename, link, syncFile, syncFolder:
				all = append(all, refusal{k, syscall.ENOSPC, most})
			}
		}
	}
	return all
}

// TestRefusedOperations lets the disk refuse one kind of operation at a time. The loop has to end
// in time and say what is wrong; it may be completed only if its journal says so. When the disk
// works again, the loop is resumed and completes.
func TestRefusedOperations(t *testing.T) {
	needs(t)
	clean := newNight(t, 0)
	s := clean.session()
	code, said := s.foreground()
	s.end()
	if code != 0 {
		t.Fatalf("without any refusal: exit %d\n%s", code, said)
	}
	often := clean.disk.of
	loops, failed := 0, 0
	for i, r := range everyRefusal() {
		if often[r.kind] == 0 {
			continue // a loop does not do that
		}
		how := "once"
		if r.most == 0 {
			how = "on"
		}
		for round := range *refusals {
			seed := *first + uint64(i) + 1000*uint64(round)
			t.Run(fmt.Sprintf("%v,%v,%s,seed=%d", r.kind, errnoName(r.with), how, seed), func(t *testing.T) {
				n := newNight(t, seed)
				n.again = fmt.Sprintf("cd tools/power && go test -v -run '%s' -args -power.seed=%d", t.Name(), *first)
				// Loops differ in their number of operations: the last ones may not come.
				at := 1 + rand.New(rand.NewPCG(seed, 2)).IntN(max(1, often[r.kind]*9/10))
				n.disk.plan = plan{refuse: r.kind, from: at, most: r.most, with: r.with}
				if n.endsClearly() != 0 {
					failed++
				}
				if n.met {
					loops++
				}
			})
		}
	}
	t.Logf("%d loops met a refusal, %d of them ended by it and completed after it", loops, failed)
	if !t.Failed() && (loops < len(everyRefusal())/2 || failed < loops/2) {
		t.Error("too few refusals were met: this tests nothing")
	}
}

func errnoName(e syscall.Errno) string {
	if e == syscall.ENOSPC {
		return "ENOSPC"
	}
	return "EIO"
}

// foreground runs the loop in the foreground, and returns its exit code and what it said on stderr.
func (s *session) foreground() (int, string) {
	p := s.ralph(append([]string{"run", "--name", "one", "--json", "-p", prompt}, s.settings()...)...)
	code, ok := s.wait(p)
	if !ok {
		s.Fatal("the power is cut, and nobody asked for that")
	}
	_, errs := p.said()
	return code, errs
}

// detached runs the loop detached and watches it; the text is that of the process that failed.
func (s *session) detached() (int, string) {
	start := append([]string{"start", "one", "-d", "--json", "-p", prompt}, s.settings()...)
	for _, argv := range [][]string{start, {"attach", "one", "--json"}} {
		p := s.ralph(argv...)
		code, ok := s.wait(p)
		if !ok {
			s.Fatal("the power is cut, and nobody asked for that")
		}
		if _, errs := p.said(); code != 0 {
			return code, errs
		}
	}
	return 0, ""
}

// endsClearly runs a loop on the disk of a plan, then on a disk without one. It returns the first
// exit code.
func (n *loopRun) endsClearly() (code int) {
	s := n.session()
	defer s.end()
	way := s.foreground
	if rand.New(rand.NewPCG(n.seed, 3)).IntN(2) == 0 {
		way = s.detached
	}
	code, errs := way()
	if strings.Contains(errs, "panic:") || strings.Contains(errs, "goroutine ") {
		n.Errorf("it crashed:\n%s", errs)
	}
	n.disk.mu.Lock()
	refused := n.disk.refused
	n.disk.plan = plan{}
	n.disk.mu.Unlock()
	s.rest() // attach may have met a refusal that the runner did not
	n.checkEnding(code, errs)
	n.met = refused > 0
	if n.Failed() {
		n.Logf("exit %d after %d refusals\n%.3000s", code, refused, errs)
		return code
	}
	if code == 0 {
		n.completed = true
	} else {
		n.cuts = 1 // there is something to resume
		if s.begin() {
			s.attend()
		}
	}
	n.check()
	if n.Failed() {
		n.Logf("before: exit %d after %d refusals\n%.3000s", code, refused, errs)
	}
	return code
}

// checkEnding compares an exit code with the disk.
func (n *loopRun) checkEnding(code int, errs string) {
	dir := filepath.Join(n.saved(), loopPath)
	state, err := loopstate.Open(dir)
	if err != nil && code == 0 {
		n.Errorf("it completed, and the journal cannot be read: %v", err)
	}
	if state.Lifecycle.Ended != nil {
		if want := state.Lifecycle.Ended.Reason.ExitCode(); code != want && code != 3 {
			n.Errorf("the journal says that the loop %s (%s): exit %d, want %d", state.Status(), state.Lifecycle.Ended.Reason, code, want)
		}
	} else if code == 0 {
		n.Errorf("it completed, and the journal says that it is %s", state.Status())
	}
	if code == 0 {
		if err := journal.Verify(dir, nil); err != nil {
			n.Errorf("it completed, and its journal is not whole: %v", err)
		}
		return
	}
	if code < 1 || code > 4 {
		n.Errorf("exit %d is none of docs/concepts/ending.md for this", code)
	}
	// If the journal contains the loop's end, ralph shows it and says why.
	if !strings.Contains(errs, "ralph: ") && state.Lifecycle.Ended == nil {
		n.Errorf("exit %d without a word:\n%s", code, errs)
	}
}
