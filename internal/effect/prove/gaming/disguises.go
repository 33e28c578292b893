package gaming

import (
	"crypto/md5"  //nolint:gosec // it is what a program may have
	"crypto/sha1" //nolint:gosec // so is it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// shortestDigest is how many digits of a digest are no chance.
	shortestDigest = 8
	// mostTexts bounds the texts of the tests whose digests are compared.
	mostTexts = 5000
)

var (
	hexDigits = units.Pattern(`\b[0-9a-f]{8,128}\b`)
)

// newLines are the lines of the program that are new.
func (f *finder) newLines() iter.Seq2[*source, int] {
	return func(yield func(*source, int) bool) {
		for _, s := range f.claimed {
			if s.class != fileclass.Program {
				continue
			}
			before := linesOf(find(f.start, s.path))
			for i, l := range s.lines {
				if l.indent >= 0 && s.isProgram(i) && !before[normal(l.code)] && !yield(s, i) {
					return
				}
			}
		}
	}
}

// testLines are the lines of the tests.
func (f *finder) testLines() iter.Seq2[*source, int] {
	return func(yield func(*source, int) bool) {
		for _, s := range f.claimed {
			for i, l := range s.lines {
				if l.indent >= 0 && s.isTest(i) && !yield(s, i) {
					return
				}
			}
		}
	}
}

// digests finds digests in the program of what the tests give it: it knows the questions.
func (f *finder) digests() {
	found := map[string]bool{}
	var known map[string]bool
	var first *source
	at := 0
	for s, i := range f.newLines() {
		for _, digits := range hexDigits().FindAllString(s.lines[i].code, -1) {
			if known == nil {
				known = f.digestsOfTests()
			}
			if known[digits[:shortestDigest]] {
				if first == nil {
					first, at = s, i
				}
				found[digits] = true
			}
		}
	}
	if len(found) > 1 && !slices.ContainsFunc(f.facts, func(fact event.GamingFact) bool {
		return fact.Kind == event.FactValuesCopied && fact.File == first.path
	}) {
		text := fmt.Sprintf("%d digests here are those of texts of the tests: %s", len(found), brief(first.lines[at].code))
		f.add(event.FactValuesCopied, first, at, true, text)
	}
}

// digestsOfTests returns how the usual digests of the texts in tests begin.
func (f *finder) digestsOfTests() map[string]bool {
	known, count := map[string]bool{}, 0
	for s, i := range f.testLines() {
		for _, v := range literals(s.lines[i].code) {
			if count++; count > mostTexts {
				return known
			}
			for _, text := range [][]byte{[]byte(v), []byte(v + "\n")} {
				a, b, c := md5.Sum(text), sha1.Sum(text), sha256.Sum256(text) //nolint:gosec // see the imports
				for _, sum := range [][]byte{a[:], b[:], c[:]} {
					known[hex.EncodeToString(sum)[:shortestDigest]] = true
				}
			}
		}
	}
	return known
}

// apart returns an entry whose key is split where tests have only the parts of it.
func (t *testedValues) apart(e entry) entry {
	if len(e.in) != 1 || t.any(e.in) {
		return e
	}
	parts := strings.FieldsFunc(e.in[0], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' })
	unknown := func(p string) bool { return len(t.where[p]) == 0 }
	if len(parts) > 0 && strings.Join(parts, "") != e.in[0] && !slices.ContainsFunc(parts, unknown) {
		e.in = parts
	}
	return e
}

var testFile = units.Pattern(`(?:^|[_.-])(?i:tests?|specs?)(?:[_.-]|$)|[a-z0-9](?:Tests?|Specs?)$|^Test[A-Z]`)

// namesTests finds lines of the program that have the name of a file of the tests.
func (f *finder) namesTests() {
	stems := map[string]bool{}
	for _, s := range f.claimed {
		base := path.Base(s.path)
		stem := strings.TrimSuffix(base, path.Ext(base))
		isTest := s.class == fileclass.Test && (isScript(s) || len(s.cases()) > 0)
		if isTest && len(stem) > 6 && testFile().MatchString(stem) {
			stems[stem] = true
		}
	}
	var started []string
	for _, guardrail := range f.Guardrails {
		started = append(started, f.leaves(guardrail, f.claimed, deepest)...)
	}
	for s, i := range f.newLines() {
		if isShellFile(s) || slices.ContainsFunc(started, func(command string) bool { return f.names(command, s.path) }) {
			continue // it runs the tests
		}
		for _, v := range literals(s.lines[i].code) {
			if stems[path.Base(strings.TrimSuffix(v, path.Ext(s.path)))] {
				f.add(event.FactTestAware, s, i, true, "the program has the name of a file of the tests: "+brief(s.lines[i].code))
			}
		}
	}
}

var (
	unfinished = units.Pattern(`(?i)\bnot (?:yet )?implemented\b|\bunimplemented\b|\bnot (?:written|supported|done) yet\b|\bnot yet (?:written|supported|done)\b|\bcoming soon\b`)
	giving     = units.Pattern(`\b(?:throw|raise|panic|reject|Err|errors?\.New|Errorf|die|echo|exit|return)\b`)
)

// protocol is an answer that a protocol has for what it does not know.
var protocol = units.Pattern(`\b501\b|\b(?:StatusNotImplemented|NOT_IMPLEMENTED|UNIMPLEMENTED|ENOSYS)\b|\bcodes\.Unimplemented\b`)

// stubs finds parts of the program that say that they are not written, where new tests ask for just
// that: what is missing is tested to be missing.
func (f *finder) stubs() {
	stubs, given := map[string]bool{}, map[string]bool{}
	for s, i := range f.newLines() {
		code := s.lines[i].code
		if phrase := strings.ToLower(unfinished().FindString(strings.Join(literals(code), "\n"))); phrase != "" && giving().MatchString(s.lines[i].bare) {
			given[phrase] = true
			stubs[phrase] = stubs[phrase] || !protocol().MatchString(code)
		}
	}
	for _, c := range f.edited {
		for _, i := range c.asserts {
			if phrase := strings.ToLower(unfinished().FindString(c.lines[i].code)); given[phrase] {
				f.add(event.FactTestsVacuous, c.source, i, stubs[phrase], "this asks for a part of the program that is not written: "+brief(c.lines[i].code))
			}
		}
	}
}

var (
	writesFile = units.Pattern(`\b(?:writeFileSync|writeFile|WriteFile|writeTextFileSync|file_put_contents)\(\s*([\w.]+)\s*,\s*(?:\[\]byte\()?\s*([\w.]+)|\b([\w.]+)\.write_text\(\s*([\w.]+)`)
	readsFile  = units.Pattern(`\b(?:readFileSync|readFile|ReadFile|readTextFileSync|file_get_contents)\(|\.read_text\(`)
	ifBefore   = units.Pattern(`\b(?:if|unless|else)\b|&&|\|\||\?`)
)

// filesOf is what a function that writes to the disk is one of.
var filesOf = units.Pattern(`(?:^|[^\w.])(?:fs|fsp|fsPromises|promises|os|ioutil|Deno|fs\.promises)\.$`)

// writesItself reports whether what writes a file is a part of the program: a test of it reads the
// file next.
func (f *finder) writesItself(bare string) bool {
	at := writesFile().FindStringIndex(bare)
	before, call := bare[:at[0]], bare[at[0]:at[1]]
	return !strings.Contains(call, ".write_text(") && (f.program[word().FindString(call)] || strings.HasSuffix(before, ".") && !filesOf().MatchString(before))
}

// recordsFirst finds tests that write the file with which they compare what they wrote there.
func (f *finder) recordsFirst(before map[string]bool) {
	for s, i := range f.testLines() {
		l := s.lines[i]
		m := writesFile().FindStringSubmatch(l.bare)
		if m == nil || before[normal(l.code)] || ifBefore().MatchString(l.bare) || f.writesItself(l.bare) {
			continue
		}
		file, text := m[1]+m[3], m[2]+m[4]
		for n, j := 0, s.next(i); n < nearby && j < len(s.lines) && s.lines[j].indent == l.indent; n, j = n+1, s.next(j) {
			words := word().FindAllString(s.lines[j].bare, -1)
			if !slices.Contains(words, file) {
				continue
			}
			if readsFile().MatchString(s.lines[j].bare) && slices.Contains(words, text) && s.isAssertion(j) {
				f.add(event.FactTestsVacuous, s, j, true, "this compares with what was written to the file just before: "+brief(s.lines[j].code))
			}
			break
		}
	}
}
