package gaming

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// LargestFile is how many bytes of a file are read: a person writes no larger one.
	LargestFile = 256 << 10
	// MostFacts is how many facts there are at most.
	MostFacts = 60
	// mostOfAKind bounds the facts of one kind, those that weaken first.
	mostOfAKind = 12
	// mostCases and mostTables bound what is compared: of one file, and of all.
	mostCases, mostOfAll = 500, 3000
	mostTables           = 100
	// mostCommands bounds the commands that start each other.
	mostCommands = 1000
)

// Input is what facts are found in.
type Input struct {
	// Start and Claimed are the text files by path from the root of the repository: all that
	// differ, all tests, and what configures and starts them.
	Start, Claimed map[string]string
	Guardrails     []string // the commands, without those that are held out
	Dir            string   // where they run, from the root of the repository
	// Tests is the trial of the tests of the start over the claimed program; nil if there was none.
	Tests *event.ProofTried
	// Mutants are those that were tried and that build.
	Mutants []Mutant
}

// Find returns what looks like gaming, what weakens first.
func Find(in Input) []event.GamingFact {
	f := finder{Input: in, start: read(in.Start), claimed: read(in.Claimed), seen: map[event.GamingFact]bool{}}
	f.scripts()
	f.red = in.Tests != nil && len(in.Tests.Failed) > 0 && !in.Tests.Invalid && in.Tests.Error == ""
	findHelpers(f.start)
	findHelpers(f.claimed)
	f.before, f.now = casesOf(f.start), casesOf(f.claimed)
	f.neverRun(f.start, f.before)
	f.neverRun(f.claimed, f.now)
	f.program, f.removedNames = definedNames(f.claimed), removedNames(f.start, f.claimed)
	f.conditions()
	names := definedNames(f.start)
	f.weightBefore, f.weightNow = weights(f.before, names), weights(f.now, names)
	f.edited, f.parts = f.editedCases(), f.partsTried()
	f.comparedTests()
	f.vacuousTests()
	f.unnoticed()
	f.commands()
	f.configuration()
	f.narrowed()
	f.unlisted()
	f.copiedValues()
	f.answered()
	f.encoded()
	f.digests()
	f.programs()
	f.namesTests()
	f.stubs()
	f.snapshots()
	return f.bounded()
}

// A finder finds the facts of one Input.
type finder struct {
	Input
	start, claimed []*source // by path
	before, now    []*testCase
	edited         []*testCase // of now, those that are new or changed
	parts          []*part
	red            bool            // the tests of the start fail over the claimed program
	program        map[string]bool // what it defines
	removedNames   map[string]bool // that the program defined and has no more
	searched       int             // tests that were searched for under another name
	started        int             // commands that were looked into
	// How much the tests check, by what of the program they mention.
	weightBefore, weightNow map[string]weight
	facts                   []event.GamingFact
	seen                    map[event.GamingFact]bool
}

func (f *finder) add(kind event.FactKind, s *source, line int, weakens bool, text string) {
	fact := event.GamingFact{Kind: kind, Text: text, Weakens: weakens}
	if s != nil {
		fact.File = s.path
		if line >= 0 {
			fact.Line = line + 1
		}
	}
	if !f.seen[fact] {
		f.seen[fact] = true
		f.facts = append(f.facts, fact)
	}
}

// bounded returns the first facts of each kind, those that weaken before the others.
func (f *finder) bounded() []event.GamingFact {
	slices.SortStableFunc(f.facts, func(a, b event.GamingFact) int {
		switch {
		case a.Weakens == b.Weakens:
			return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line)
		case a.Weakens:
			return -1
		}
		return 1
	})
	kinds := map[event.FactKind]int{}
	var facts []event.GamingFact
	for _, fact := range f.facts {
		if kinds[fact.Kind]++; kinds[fact.Kind] <= mostOfAKind && len(facts) < MostFacts {
			facts = append(facts, fact)
		}
	}
	return facts
}

// read returns the files that a person or an agent writes.
func read(files map[string]string) (all []*source) {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		if len(text) > LargestFile || strings.IndexByte(text, 0) >= 0 {
			continue
		}
		switch class := fileclass.Classify(path, []byte(text[:min(len(text), fileclass.Beginning)])); class {
		case fileclass.Docs, fileclass.Generated, fileclass.Vendored, fileclass.Lock, fileclass.Binary:
		default:
			all = append(all, newSource(path, text, class))
		}
	}
	return all
}

// scripts makes the programs that a guardrail starts by name tests: their exit status is the
// verdict.
func (f *finder) scripts() {
	for _, files := range [][]*source{f.start, f.claimed} {
		for _, s := range files {
			if s.class == fileclass.Program && slices.ContainsFunc(f.Guardrails, func(command string) bool { return f.names(command, s.path) && checks(s) }) {
				s.class = fileclass.Test
			}
		}
	}
}

func find(files []*source, path string) *source {
	at, ok := slices.BinarySearchFunc(files, path, func(s *source, path string) int { return cmp.Compare(s.path, path) })
	if !ok {
		return nil
	}
	return files[at]
}
