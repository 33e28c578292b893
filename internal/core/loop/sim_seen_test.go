package loop_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/testkit/simfs"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Ten thousand runs must reach each of these cases at least once, else they do not test it.

var simTable = flag.String("sim.table", "", "a file for the table of what TestSimulation has met")

// The parts of the table.
const (
	rules   = "rules of Next"
	classes = "classes of faults"
	disks   = "what happens to the disk"
	endings = "endings"
	repairs = "repairs of the journal"
)

// seen counts how often each case was reached, by part and name.
type seen map[[2]string]int

func (s seen) saw(part, name string) { s[[2]string{part, name}]++ }

func (s seen) add(other seen) {
	for what, n := range other {
		s[what] += n
	}
}

// wanted returns the cases that have to be reached, in the order of the table.
func wanted(t *testing.T) (list [][2]string) {
	t.Helper()
	for part, names := range map[string][]string{
		rules:   loop.Rules(),
		endings: endingsOnPage(t),
		waits:   waitCases(),
		sizes:   sizeCases(),
		repeats: repeatCases(),
		classes: {
			string(event.ClassMissing), string(event.ClassPermission), string(event.ClassConfig), string(event.ClassDisk), string(event.ClassTransient),
			string(event.KindRate), string(event.KindOverload), string(event.KindNetwork), string(event.KindQuota), string(event.KindAuth), string(event.KindContext), string(event.KindRefusal),
		},
		disks: {
			"killed between two", "killed in a change", "power lost between two", "power lost in a change",
			"power lost, in any order between two", "power lost, in any order in a change",
			"read-only", "sync: EIO", "sync: ENOSPC", "sync: EDQUOT", "write: EIO", "write: ENOSPC", "write: EDQUOT",
		},
		// Two more are in journal/repair.go: a last segment without a complete line, which this
		// writer never leaves (journal's TestTornTailIsCut), and a compressed last segment, which
		// only a person can cause by removing the next one (TestACompressedLastSegment).
		repairs: {
			"no journal", "no segment", "a file that was being made is removed", "an unfinished line is cut off",
			"a loss of before is found again", "a sealed segment is followed", "an open segment is followed",
		},
	} {
		for _, name := range names {
			list = append(list, [2]string{part, name})
		}
	}
	slices.SortStableFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// endingsOnPage returns the reasons in docs/concepts/ending.md. Runs can end for each of them.
func endingsOnPage(t *testing.T) (reasons []string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/concepts/ending.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); len(cells) > 4 && strings.HasPrefix(line, "| `") {
			if status := strings.TrimSpace(cells[2]); status == "completed" || status == "stopped" || status == "failed" {
				reasons = append(reasons, strings.Trim(cells[1], " `"))
			}
		}
	}
	if len(reasons) < 20 {
		t.Fatalf("only %d endings on the page", len(reasons))
	}
	return reasons
}

// read counts the cases in a run's journal.
func (s seen) read(events []event.Event) {
	s.readWaits(events)
	s.readSizes(events)
	s.readPrompts(events)
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopEnded:
			s.saw(endings, string(as[event.LoopEnded](e).Reason))
		case event.TypeEffectFailed:
			s.saw(classes, string(as[event.EffectFailed](e).Class))
		case event.TypeFaultRaised:
			s.saw(classes, string(as[event.FaultRaised](e).Class))
		case event.TypeAgentLimited:
			s.saw(classes, string(as[event.AgentLimited](e).Kind))
		case event.TypeAgentFinished:
			if kind := as[event.AgentFinished](e).Kind; kind == event.KindRefusal {
				s.saw(classes, string(kind)) // others are counted as limits
			}
		}
	}
}

// failure counts what the disk refused.
func (s seen) failure(err error) {
	if errors.Is(err, syscall.EROFS) {
		s.saw(disks, "read-only")
		return
	}
	for name, is := range map[string]error{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT} {
		if failed, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, is) {
			s.saw(disks, failed.Op+": "+name)
		}
	}
}

// segmentNames returns the names in the folder of segments; nil if there is none.
func segmentNames(disk *simfs.FS) []string {
	names, err := disk.List(segmentsDir)
	if err == nil && names == nil {
		names = []string{}
	}
	return names
}

// recovery counts what journal.Recover did, from the files before and after it.
func (s seen) recovery(before, after []string, rec journal.Recovery) {
	torn := func(names []string) (n int) {
		for _, name := range names {
			if strings.Contains(name, ".torn-") {
				n++
			}
		}
		return n
	}
	unfinished := func(name string) bool { return strings.HasSuffix(name, ".tmp") }
	switch {
	case before == nil:
		s.saw(repairs, "no journal")
	case rec.Segment == "":
		s.saw(repairs, "no segment")
	case rec.Sealed:
		s.saw(repairs, "a sealed segment is followed")
	default:
		s.saw(repairs, "an open segment is followed")
	}
	if slices.ContainsFunc(before, unfinished) && !slices.ContainsFunc(after, unfinished) {
		s.saw(repairs, "a file that was being made is removed")
	}
	switch {
	case torn(after) > torn(before):
		s.saw(repairs, "an unfinished line is cut off")
	case rec.Lost != nil:
		s.saw(repairs, "a loss of before is found again")
	}
}

// table returns how often each case of a list was reached, the cases that never were, and the
// reached cases that are not in the list.
func (s seen) table(list [][2]string) (text string, never, unlisted [][2]string) {
	var b strings.Builder
	part := ""
	for _, what := range list {
		if what[0] != part {
			part = what[0]
			fmt.Fprintf(&b, "\n%s\n", part)
		}
		fmt.Fprintf(&b, "%9d  %s\n", s[what], what[1])
		if s[what] == 0 {
			never = append(never, what)
		}
	}
	for what := range maps.Keys(s) {
		// There are more faults than classes that decisions depend on.
		if what[0] != classes && !slices.Contains(list, what) {
			unlisted = append(unlisted, what)
		}
	}
	return b.String(), never, unlisted
}

func TestSimulationNamesUnmetCases(t *testing.T) {
	s := seen{}
	s.saw(endings, "stop")
	s.add(seen{{endings, "stop"}: 2, {endings, "odd"}: 1, {classes, "other"}: 1})
	text, never, unlisted := s.table([][2]string{{endings, "stop"}, {endings, "kill"}, {rules, "paused"}})
	if want := "\nendings\n        3  stop\n        0  kill\n\nrules of Next\n        0  paused\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if want := [][2]string{{endings, "kill"}, {rules, "paused"}}; !slices.Equal(never, want) {
		t.Errorf("never met are %q, want %q", never, want)
	}
	if want := [][2]string{{endings, "odd"}}; !slices.Equal(unlisted, want) {
		t.Errorf("not listed are %q, want %q", unlisted, want)
	}
}

// report prints the table. If all is set, a case that was never reached is an error.
func (s seen) report(t *testing.T, all bool) {
	text, never, unlisted := s.table(wanted(t))
	for _, what := range never {
		if all {
			t.Errorf("%d runs, and never %q of the %s", seeds(1), what[1], what[0])
		}
	}
	for _, what := range unlisted {
		t.Errorf("%q of the %s was met and is in no table", what[1], what[0])
	}
	t.Log(text)
	if *simTable != "" {
		if err := os.WriteFile(*simTable, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}
