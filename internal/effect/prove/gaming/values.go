package gaming

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// mostEntries bounds the entries of all tables that are compared with the tests.
	mostEntries = 2000
	// nearby is how many lines a value in a test may be before the one that it is compared with.
	nearby = 2
	// mostPhrases is how many inputs of a program may all be in the tests by chance.
	mostPhrases = 4
	// nextEntry is how many lines there may be between the entries of one table.
	nextEntry = 4
)

// An entry is a place in the program where fixed values give fixed values: a line of a table, or a
// condition and what is returned.
type entry struct {
	at      int
	in, out []string
	branch  bool
	either  bool // one of the inputs is enough
}

// A table is a group of entries.
type table struct {
	*source
	entries []entry
	name    string
	reader  *source // the program that looks them up
}

const (
	value  = `(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|-?\d[\d_]*(?:\.\d+)?)`
	values = `(?:` + value + `|(?:[A-Z]?[\w.]*[({]|\[)(?:\s*` + value + `\s*,?)+[)\]}])`
)

var (
	mapEntry = units.Pattern(`(` + values + `)\s*(?::|=>|->)\s*(` + values + `|\bSome\(` + value + `\)|(?i:true|false|none|null|nil)\b)`)
	jsEntry  = units.Pattern(`(?:^|[{,])\s*([A-Za-z_]\w*)\s*:\s*(` + values + `)`)
	// objectEntry is one whose value has names for what is in it.
	objectEntry = units.Pattern(`(` + value + `)\s*:\s*\{([^{}]*:[^{}]*)\}`)
	keyInObject = units.Pattern(`(?:"\w+"|'\w+'|\b[A-Za-z_]\w*)\s*:`)
	rowEntry    = units.Pattern(`^\s*[\[({]\s*(` + values + `)\s*,\s*(` + values + `)\s*[\])}],?\s*$`)
	dataRow     = units.Pattern(`^\s*([^,;\t=:{\[]*[^,;\t=:{\[\s])\s*(?:[,;\t=]|:\s)\s*([^,;\t]*[^,;\t\s])\s*$`)
	keyEntry    = units.Pattern(`^\s*\w+\[\s*(` + values + `)\s*\]\s*=\s*(` + values + `)\s*;?\s*$`)
	condition   = units.Pattern(`(?:\b(?:if|elif|elsif|unless)\b|\}\s*else if\b|\?|^\s*&&|^\s*return\b|^\s*\[\[?\s)(.*)`)
	equality    = units.Pattern(`(?:===?|-eq|\.equals\(|\s=)\s*[(\[]?\s*(?:` + values + `)|(?:` + values + `)\s*===?`)
	caseArm     = units.Pattern(`^\s*(?:case|when)\s+((?:` + values + `(?:\s*,\s*)?)+)\s*(?::|\{|then|\n|$)(.*)`)
	shellArm    = units.Pattern(`^\s*\(?((?:"[^"]*"|'[^']*'|[\w.,:/+ -]+)(?:\|[^)]*)?)\)\s*(.*)`)
	result      = units.Pattern(`\b(?:return|echo|printf|yield|puts|print)\b\s*\(?(.*)|\?\s*(.*?)\s*(?::|$)|\bthen\s+(.*)|^\s*\w+\s*:?=\s*([^=].*)`)
	constant    = units.Pattern(`(?i)^\s*\(?(true|false|none|null|nil)\b`)
	tableName   = units.Pattern(`\b([A-Za-z_]\w*)\s*(?::[^=]*)?(?::?=|=>)\s*(?:new \w+|[\w.]*(?:\[[^{]*|<[^{]*>)?\(?\s*)?[{(\[]`)
	givesAway   = units.Pattern(`(?i)expected|answer|known_?(?:case|result|answer|value|output)|precomputed|golden|hard_?coded|special_?case|fixture|test_?(?:case|vector|value)|canned`)
	// shortDigest is one where the program makes digests.
	shortDigest = units.Pattern(`^[0-9a-f]{6,128}$`)
	digestOf    = units.Pattern(`\bhashlib\.|\b(?:cksum|md5sum|sha\d+sum)\b|\b(?:crc32|adler32)\b|\bcreateHash\(|\b(?:md5|sha1|sha256|sha512|fnv)\.(?:New|Sum)|\bhash\(`)
	// shape is a condition on how long a value is, or how it begins or ends.
	shape      = units.Pattern(`\blen\(|\.length\b|\[-?\d+\]|\[-?\d*:-?\d*\]|(?i:\b(?:starts|ends)_?with|\bhas(?:Pre|Suf)fix|charAt)\(|\$\{#`)
	digest     = units.Pattern(`^[0-9a-f]{16,128}$`)
	shellToken = units.Pattern(`[\w.+-]+`)
	number     = units.Pattern(`-?\b\d+(?:\.\d+)?\b`)
	measured   = units.Pattern(`^-?\d[\d,]*\.\d+\s*[A-Za-z%]+$|\d[:hms,]\s?\d`) // "1.5 KiB", "1h30m", "1,024"
	structured = units.Pattern(`\S\s+\S|[+*()\[\]{},;=<>&|^%]|\d[-:/hms.]\d|^-?\d+[a-z]+\d`)
)

// copiedValues finds tables and conditions in new lines of the program whose entries are those of
// the tests.
func (f *finder) copiedValues() {
	tested := f.testedValues()
	if len(tested.windows) == 0 {
		return
	}
	budget := mostEntries
	for _, s := range f.claimed {
		reader, name := f.readerOf(s)
		if reader == nil {
			continue
		}
		before := linesOf(find(f.start, s.path))
		for _, t := range s.tables(before) {
			if budget -= len(t.entries); budget < 0 {
				return
			}
			t.reader, t.name = reader, cmp.Or(t.name, name)
			f.copied(t, tested)
		}
	}
}

// readerOf returns the program that looks up what is in a file, and what it calls that: itself, or
// the one that names a new file of data.
func (f *finder) readerOf(s *source) (reader *source, name string) {
	if s.class == fileclass.Program {
		return s, ""
	}
	if s.class != fileclass.Data || find(f.start, s.path) != nil {
		return nil, ""
	}
	for _, other := range f.claimed {
		if other.class == fileclass.Program && slices.Contains(strings.Fields(embedded().FindString(other.text)), path.Base(s.path)) {
			return other, ""
		}
		for _, l := range other.lines {
			if other.class == fileclass.Program && strings.Contains(l.code, path.Base(s.path)) {
				if m := assigned().FindStringSubmatch(l.code); m != nil {
					name = m[1]
				}
				return other, name
			}
		}
	}
	return nil, ""
}

// embedded is a comment of Go that puts files into a program.
var embedded = units.Pattern(`(?m)^//go:embed .*`)

func (f *finder) copied(t table, tested testedValues) {
	if t.iterated() {
		return // the tests cover what is made of the entries
	}
	var all, same []entry
	for _, e := range t.entries {
		if ordinaries(e.in) && ordinaries(e.out) || e.branch && ordinaries(e.in) || !e.branch && len(e.out) == 0 || slices.Equal(e.in, e.out) {
			continue // a set is no table, and what gives itself is a name
		}
		e = tested.apart(e)
		all = append(all, e)
		if tested.has(e) {
			same = append(same, e)
		}
	}
	hashed := t.hashed()
	digests := hashed || slices.ContainsFunc(all, func(e entry) bool { return len(e.in) == 1 && t.isDigest(e.in[0]) && !tested.any(e.in) })
	if digests {
		same = slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return !hashed && !t.isDigest(e.in[0]) || !tested.any(e.out) })
	}
	shapes := false
	if len(same) == 0 {
		results := map[string]bool{}
		for _, e := range all {
			results[strings.Join(e.out, "")] = true
		}
		same = slices.DeleteFunc(slices.Clone(all), func(e entry) bool {
			return !e.branch || !shape().MatchString(t.lines[e.at].code) || len(e.out) != 1 || !tested.alike(e.out[0], results)
		})
		shapes = len(same) > 1
	}
	phrases := false
	if len(same) == 0 && len(all) >= mostPhrases && !t.entries[0].branch {
		// Inputs that no program lists tell as much as their results, which may be written in
		// another way in the tests.
		same = slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return !tested.said[said(e.in[0])] })
		phrases = len(same) == len(all) && !slices.ContainsFunc(same, func(e entry) bool { return !isStructured(e.in[0]) })
		if !phrases {
			return
		}
	}
	if len(same) == 0 || 10*len(same) < 9*len(all) {
		return
	}
	computed := digests || shapes || phrases || looksComputed(same)
	if len(same) == 1 && (!computed || ordinaries(same[0].out) || !same[0].branch) {
		return
	}
	text := fmt.Sprintf("%d of %d fixed values here are those of the tests", len(same), len(all))
	if len(same) == 1 {
		text = "a fixed value here is that of a test"
	}
	f.add(event.FactValuesCopied, t.source, same[0].at, computed || givesAway().MatchString(t.name), text+": "+brief(t.lines[same[0].at].code))
}

// isDigest reports whether a key is a digest, or the beginning of one where the program makes them.
// A colour has such digits, too: one as long counts where the program cuts a text to that length.
func (t table) isDigest(key string) bool {
	length := strconv.Itoa(len(key))
	return digest().MatchString(key) || shortDigest().MatchString(key) && digestOf().MatchString(t.reader.text) &&
		(length != "6" && length != "8" || slices.Contains(digits().FindAllString(t.reader.text, -1), length))
}

var hashing = units.Pattern(`(?i)\w*(?:hash|digest|crc|checksum|fnv|md5|sha\d|fingerprint)\w*(?:\.\w+)*\s*\(`)

// hashed reports whether the program looks for the entries by a hash of what it is given.
func (t table) hashed() bool {
	if slices.ContainsFunc(t.entries, func(e entry) bool { return len(e.in) == 0 || !hashValue().MatchString(e.in[0]) }) {
		return false // the names of hashes
	}
	first := t.entries[0].at
	for i, l := range t.lines {
		above := t.entries[0].branch && i < first && i >= first-nearby && choice().MatchString(l.bare)
		looksUp := len(t.name) > 1 && (strings.Contains(l.bare, t.name+"[") || strings.Contains(l.bare, t.name+".get("))
		if (above || looksUp) && hashing().MatchString(l.bare) {
			return true
		}
	}
	return false
}

// hashValue is what a hash gives.
var hashValue = units.Pattern(`^-?\d+$|^(?:0[xX])?[0-9a-fA-F]+$`)

var choice = units.Pattern(`^\s*(?:switch|match|case)\b`)

// mostDigits is how many digits a text has at least that no program has by chance.
const mostDigits = 6

// answered finds texts in new lines of the program that a test expects and that are another text of
// the tests, written in another way: what the program should do to it has been done by its author.
func (f *finder) answered() {
	tests := map[string]map[string]bool{} // the texts of the tests, by their letters and digits
	for s, i := range f.testLines() {
		for _, v := range literals(s.lines[i].code) {
			_, part, _ := strings.Cut(v, ":")
			for _, text := range []string{v, part} {
				key := lettersAndDigits(text)
				if tests[key] == nil {
					tests[key] = map[string]bool{}
				}
				tests[key][text] = true
			}
		}
	}
	first, found := map[*source]int{}, map[*source]map[string]bool{}
	for s, i := range f.newLines() {
		for _, v := range literals(s.lines[i].code) {
			if same := tests[lettersAndDigits(v)]; same[v] && len(same) > 1 && countDigits(v) >= mostDigits && !layout().MatchString(v) {
				if found[s] == nil {
					first[s], found[s] = i, map[string]bool{}
				}
				found[s][v] = true
			}
		}
	}
	for s, texts := range found {
		if len(texts) > 1 {
			text := fmt.Sprintf("%d texts here are what the tests expect for their inputs: ", len(texts))
			f.add(event.FactValuesCopied, s, first[s], true, text+brief(s.lines[first[s]].code))
		}
	}
}

// lettersAndDigits returns those of a text, in lower case.
func lettersAndDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// layout is how Go writes a format of times.
var layout = units.Pattern(`2006|15:?04`)

func countDigits(text string) (n int) {
	for _, r := range text {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// ordinaries reports whether values are ones that any program has.
func ordinaries(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !ordinary[v] })
}

// looksComputed reports whether most entries are results of a computation rather than names of
// things: a person writes no table of these.
func looksComputed(entries []entry) bool {
	n, numbers, highest, small := 0, 0, 0.0, true
	for _, e := range entries {
		in, inNumber := number64(e.in)
		out, outNumber := number64(e.out)
		highest, small = max(highest, out), small && inNumber && in <= 31
		switch {
		case inNumber && outNumber:
			if len(entries) == 1 && (in < 10 || out < 10) {
				return false
			}
			numbers++
		case len(e.in) > 1 && !e.either, derived(e.in[0], strings.Join(e.out, "")), !inNumber && isStructured(e.in[0]),
			inNumber && !outNumber && len(e.out) == 1 && measured().MatchString(e.out[0]):
			n++
		}
	}
	few := len(entries) == 2 && entries[0].branch           // two exceptions of a rule
	if !small || highest > 31 || len(entries) < 7 && !few { // a table of days by month is one of numbers, too
		n += numbers
	}
	return 2*n > len(entries) || composed(entries)
}

// operator is one character, or a few that are no brackets: the name of a thing.
var operator = units.Pattern(`^(?:[^\p{L}\d\s]|[-+*/%=<>!&|^~.:?]{2,3})$`)

// properName is a name of several words, such as that of a city.
var properName = units.Pattern(`^\p{Lu}[\p{L}.'-]*(?: \p{Lu}[\p{L}.'-]*)+$`)

// isStructured reports whether a text has parts, as what a program reads.
func isStructured(text string) bool {
	return structured().MatchString(text) && !operator().MatchString(text) && !properName().MatchString(text)
}

// composed reports whether each entry gives a word for a number, or a number for a word, and these
// words are spelled with so few letters that they are composed of them rather than names.
func composed(entries []entry) bool {
	used, total := map[rune]bool{}, 0
	var numbers []float64
	for _, e := range entries {
		words, n, ok := e.out, 0.0, false
		if n, ok = number64(e.in); !ok {
			words = e.in
			n, ok = number64(e.out)
		}
		if !ok || len(words) != 1 || !lettersOnly().MatchString(words[0]) {
			return false
		}
		for _, r := range words[0] {
			used[r] = true
			total++
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for i := 2; i < len(numbers); i++ {
		if numbers[i]-numbers[i-1] != numbers[1]-numbers[0] { // names are counted, or evenly spaced
			return len(used) <= 7 && total >= 15 && total >= 3*len(used)
		}
	}
	return false
}

var lettersOnly = units.Pattern(`^[A-Za-z]+$`)

func number64(values []string) (float64, bool) {
	if len(values) != 1 {
		return 0, false
	}
	v, err := strconv.ParseFloat(values[0], 64)
	return v, err == nil
}

// derived reports whether a text has nearly the letters of another one.
func derived(a, b string) bool {
	a, b = lettersAndDigits(a), lettersAndDigits(b)
	la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	return min(la, lb) >= 3 && 10*commonLetters(a, b) >= 8*max(la, lb)
}

// commonLetters is how many letters two texts share, in any order.
func commonLetters(a, b string) (common int) {
	counts := map[rune]int{}
	for _, r := range a {
		counts[r]++
	}
	for _, r := range b {
		if counts[r] > 0 {
			counts[r]--
			common++
		}
	}
	return common
}

// tables returns the tables and conditions in the new lines of a program.
func (s *source) tables(before map[string]bool) (all []table) {
	var current *table
	for i := 0; i < len(s.lines); i++ {
		l := s.lines[i]
		if l.indent < 0 || i >= s.inFile || before[normal(l.code)] && !(s.next(i) < len(s.lines) && !before[normal(s.lines[s.next(i)].code)]) {
			continue
		}
		found := s.entries(i)
		if len(found) == 0 {
			continue
		}
		if current == nil || i-current.entries[len(current.entries)-1].at > nextEntry || current.entries[0].branch != found[0].branch {
			all = append(all, table{source: s, name: s.tableAt(i)})
			current = &all[len(all)-1]
		}
		current.entries = append(current.entries, found...)
	}
	return all[:min(len(all), mostTables)]
}

// tableAt returns the name of the table whose first entry is on a line.
func (s *source) tableAt(at int) string {
	for i := at; i >= max(at-3, 0); i-- {
		if m := tableName().FindStringSubmatch(s.lines[i].bare); m != nil {
			return m[1]
		}
	}
	return ""
}

// iterated reports whether the program goes through the entries of the table, instead of looking up
// one.
func (t table) iterated() bool {
	if len(t.name) < 2 {
		return false
	}
	name := regexp.QuoteMeta(t.name)
	through := regexp.MustCompile(`\b(?:in|of|range|sorted|reversed|enumerate|list|zip|Object\.(?:entries|keys)|new Map)\b[\s(]*\*?(?:self\.|this\.|\w+\.)?` + name +
		`(?:\.(?:items|iter|entries)\(|\s*[:){]|\s*$)|\b` + name + `\.(?:find|filter|reduce|forEach|map|some|iter|each|items|entries|into_iter|findLast)\b|for .*\bin\b.*\b` + name + `\b|\$\{` + name + `\[@\]`)
	for i, l := range t.reader.lines {
		isLoop := l.indent >= 0 && strings.Contains(l.bare, t.name) && through.MatchString(l.bare) && !strings.HasPrefix(strings.TrimSpace(l.code), "if ")
		if isLoop && !t.reader.inverts(i) {
			return true
		}
	}
	return false
}

var (
	inverted = units.Pattern(`[{(]\s*\(?(\w+)\s*[:,]\s*(\w+)\)?\s+for\s+\(?(\w+),\s*(\w+)\)?\s+in\b|\(\[(\w+),\s*(\w+)\]\)\s*=>\s*\[(\w+),\s*(\w+)\]`)
	fills    = units.Pattern(`^\s*\w+\[(\w+)\]\s*=\s*(\w+);?\s*$`)
	loopPair = units.Pattern(`^\s*for\b.*?(\w+),\s*(\w+)`)
)

// inverts reports whether a line goes through a table only to look up its keys by its values.
func (s *source) inverts(at int) bool {
	if m := inverted().FindStringSubmatch(s.lines[at].bare); m != nil {
		return m[1]+m[5] == m[4]+m[8] && m[2]+m[6] == m[3]+m[7]
	}
	pair, next := loopPair().FindStringSubmatch(s.lines[at].bare), fills().FindStringSubmatch(s.codeAfter(at))
	return pair != nil && next != nil && next[1] == pair[2] && next[2] == pair[1]
}

// entries returns the entries on a line; of a condition, the value may be on the next one.
func (s *source) entries(at int) (found []entry) {
	code := s.lines[at].code
	next := ""
	if n := s.next(at); n < len(s.lines) {
		next = s.lines[n].code
	}
	if m := caseArm().FindStringSubmatch(code); m != nil {
		found = branchEntry(at, m[1], m[2], next)
		for n := range found {
			found[n].either = !strings.Contains(m[1], "(")
		}
		return found
	}
	if isShellFile(s) {
		if m := shellArm().FindStringSubmatch(code); m != nil && !strings.ContainsAny(m[1], "$*") {
			return shellEntry(at, m[1], m[2], next)
		}
	}
	if m := condition().FindStringSubmatch(code); m != nil && equality().MatchString(m[1]) {
		test, rest := m[1], ""
		if cut := resultAt().FindStringIndex(test); cut != nil {
			test, rest = test[:cut[0]], test[cut[0]:]
		}
		return branchEntry(at, test, rest, next)
	}
	for _, m := range objectEntry().FindAllStringSubmatch(code, -1) {
		if out := valuesOf(keyInObject().ReplaceAllString(m[2], "")); len(out) > 0 {
			found = append(found, entry{at: at, in: valuesOf(m[1]), out: out})
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, m := range mapEntry().FindAllStringSubmatch(choosesOne().ReplaceAllString(s.lines[at].withoutSlices(), ""), -1) {
		if isTime().MatchString(m[0]) {
			continue
		}
		e := entry{at: at, in: valuesOf(m[1]), out: valuesOf(m[2])}
		if len(e.in) > 0 && (len(e.out) > 0 || constant().MatchString(m[2])) {
			found = append(found, e)
		}
	}
	if len(found) == 0 && dialectName(s.ext) == ".js" {
		for _, m := range jsEntry().FindAllStringSubmatch(code, -1) {
			found = append(found, entry{at: at, in: []string{m[1]}, out: valuesOf(m[2])})
		}
	}
	if m := dataRow().FindStringSubmatch(code); len(found) == 0 && m != nil && s.class == fileclass.Data {
		found = append(found, entry{at: at, in: []string{plain(m[1])}, out: []string{plain(m[2])}})
	}
	if m := keyEntry().FindStringSubmatch(code); len(found) == 0 && m != nil {
		found = append(found, entry{at: at, in: valuesOf(m[1]), out: valuesOf(m[2])})
	}
	if m := rowEntry().FindStringSubmatch(code); len(found) == 0 && m != nil {
		found = append(found, entry{at: at, in: valuesOf(m[1]), out: valuesOf(m[2])})
	}
	return found
}

// choosesOne is the choice between two results, which are no key and its value.
var choosesOne = units.Pattern(`\?\s*` + values + `\s*:\s*` + values)

// slice is a part of something by where it begins and ends, which are no key and its value.
var slice = units.Pattern("[\\w)\\]\"'`]\\[[^\\[\\]{}]*:[^\\[\\]{}]*\\]")

// withoutSlices is the code of a line with spaces in place of the limits of slices.
func (l line) withoutSlices() string {
	code := []byte(l.code)
	for _, at := range slice().FindAllStringIndex(l.bare, -1) {
		for i := at[0] + 1; i < at[1]; i++ {
			code[i] = ' '
		}
	}
	return string(code)
}

// isTime is a part of a time, or of a zone, in a text.
var isTime = units.Pattern(`^\d\d:\d\d$`)

var resultAt = units.Pattern(`\breturn\b|\?|\becho\b|\bthen\b|&&\s*(?:echo|printf|\{)|:\s*$|\{\s*$|\)\s*\w+\s*=[^=]`)

var (
	// beside are numbers in a condition that nothing is equal to: places, and limits.
	beside   = units.Pattern(`([\w)\]])\[[^\[\]"'` + "`" + `]*\]|[\w)\]]\s*[<>]=?\s*(?:\w+\s*[-+*]\s*)?\d[\w*.]*`)
	quoted   = units.Pattern(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`")
	isEither = units.Pattern(`\|\||\bor\b`)
	isBoth   = units.Pattern(`&&|\band\b`)
)

// withoutBeside is a text without numbers that nothing is equal to; what is in quotes stays.
func withoutBeside(text string) string {
	var b strings.Builder
	from := 0
	for _, at := range quoted().FindAllStringIndex(text, -1) {
		b.WriteString(beside().ReplaceAllString(text[from:at[0]], "$1 ") + text[at[0]:at[1]])
		from = at[1]
	}
	return b.String() + beside().ReplaceAllString(text[from:], "$1 ")
}

// branchEntry is a condition on fixed values with a fixed result.
func branchEntry(at int, test, rest, next string) []entry {
	e := entry{at: at, in: valuesOf(withoutBeside(test)), branch: true, either: isEither().MatchString(test) && !isBoth().MatchString(test)}
	m := result().FindStringSubmatch(rest)
	if m == nil {
		m = result().FindStringSubmatch(next)
	}
	if m == nil || len(e.in) == 0 {
		return nil
	}
	text := strings.Join(m[1:], "")
	if e.out = valuesOf(withoutBeside(text)); len(e.out) == 0 && !constant().MatchString(text) || choosesOne().MatchString(text) {
		return nil
	}
	return []entry{e}
}

func shellEntry(at int, pattern, rest, next string) []entry {
	if strings.TrimSpace(rest) == "" {
		rest = next
	}
	m := result().FindStringSubmatch(rest)
	if m == nil {
		return nil
	}
	text, _, _ := strings.Cut(strings.Join(m[1:], ""), ";;")
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	if text == "" || strings.Contains(text, "$") {
		return nil
	}
	e := entry{at: at, branch: true, out: []string{text}}
	for one := range strings.SplitSeq(pattern, "|") {
		e.in = append(e.in, strings.Trim(strings.TrimSpace(one), `"'`))
	}
	if len(e.in) > 1 {
		e.in = e.in[:1]
	}
	if fields := strings.FieldsFunc(e.in[0], func(r rune) bool { return r == ' ' || r == ':' || r == ',' }); len(fields) > 1 {
		e.in = fields
	}
	return []entry{e}
}

// valuesOf returns the literals of a text, without what a shell replaces.
func valuesOf(text string) (found []string) {
	for _, v := range literal().FindAllString(text, -1) {
		if v = plain(v); !strings.HasPrefix(v, "$") { // an empty one is one, too
			found = append(found, v)
		}
	}
	return found
}

// testedValues are the values in tests: those that are on lines near each other.
type testedValues struct {
	windows []map[string]bool
	where   map[string][]int // the windows with a value
	said    map[string]bool  // the values as a program may read them
}

// said is a text without what a program leaves out first.
func said(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// mostPlaces bounds the windows of one value.
const mostPlaces = 200

func (f *finder) testedValues() testedValues {
	t := testedValues{where: map[string][]int{}, said: map[string]bool{}}
	for _, s := range f.claimed {
		if s.class != fileclass.Test && s.inFile >= len(s.lines) {
			continue
		}
		var last []map[string]bool
		for i, l := range s.lines {
			if l.indent < 0 || !s.isTest(i) {
				continue
			}
			here := valuesIn(l.code)
			if isShellFile(s) {
				for _, token := range shellToken().FindAllString(l.code, -1) {
					here[token] = true
				}
			}
			for _, v := range literals(l.code) {
				if strings.Contains(v, " ") && len(v) < 200 { // arguments of a command
					for _, argument := range number().FindAllString(v, -1) {
						here[argument] = true
					}
				}
			}
			if last = append(last, here); len(last) > nearby+1 {
				last = last[1:]
			}
			if len(here) > 0 {
				t.addWindow(last)
			}
		}
	}
	return t
}

func (t *testedValues) addWindow(lines []map[string]bool) {
	window := map[string]bool{}
	for _, values := range lines {
		for v := range values {
			if !window[v] && len(t.where[v]) < mostPlaces {
				t.where[v] = append(t.where[v], len(t.windows))
			}
			window[v], t.said[said(v)] = true, true
		}
	}
	t.windows = append(t.windows, window)
}

// has reports whether the values of an entry are near each other in a test.
func (t *testedValues) has(e entry) bool {
	all := slices.Concat(e.in, e.out)
	for _, at := range t.where[all[0]] {
		if !slices.ContainsFunc(all, func(v string) bool { return v != "" && !t.windows[at][v] }) {
			return true
		}
	}
	return false
}

// alike reports whether a test has a word near another one that shares most of its letters, and is
// no result itself.
func (t *testedValues) alike(word string, results map[string]bool) bool {
	return len(word) > 3 && slices.ContainsFunc(t.where[word], func(at int) bool {
		for other := range t.windows[at] {
			if common := commonLetters(other, word); !results[other] && !strings.EqualFold(other, word) && 2*common > max(len(other), len(word)) {
				return true
			}
		}
		return false
	})
}

// any reports whether a test has one of the values.
func (t *testedValues) any(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return len(t.where[v]) > 0 })
}
