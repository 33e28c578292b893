package blaming

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A patch is what a commit changed in one file.
type patch struct {
	path    string // of the file after it
	id      string // the same for the same change, wherever it is in the file
	reverse string // the id of the change that takes it back
	added   []int  // the numbers of the lines that it added, in the file after it
	removed []int  // and of those that it removed, in the file before it
	texts   []string
	gone    []string // the texts that it removed
	was     string   // the path before it
	pair    int      // of the compared trees, in their order from 0
}

// parsePatches reads the output of git diff-tree with its hunks, one patch for each file. Where
// several pairs of trees were compared, a line with their names comes before each.
func parsePatches(text string) (all []patch) {
	var p *patch
	pair := -1
	var same, back strings.Builder
	inHunk, before, after := false, 0, 0
	finish := func() {
		if p != nil && (len(p.added) > 0 || len(p.removed) > 0) {
			p.id, p.reverse = sum(same.String()), sum(back.String())
			p.pair = max(pair, 0)
			all = append(all, *p)
		}
		p, inHunk = nil, false
		same.Reset()
		back.Reset()
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case isPair(line):
			finish()
			pair++
		case strings.HasPrefix(line, "diff --git "):
			finish()
			p = &patch{}
		case p == nil:
		case strings.HasPrefix(line, "@@ "):
			before, after = hunkStart(line)
			inHunk = true
			same.WriteString("@@\n")
			back.WriteString("@@\n")
		case !inHunk && strings.HasPrefix(line, "--- "):
			p.was = pathOf(line[4:], "a/")
		case !inHunk && strings.HasPrefix(line, "+++ "):
			p.path = pathOf(line[4:], "b/")
		case !inHunk || line == "":
		case line[0] == '+':
			p.added, p.texts = append(p.added, after), append(p.texts, line[1:])
			after++
			same.WriteString(line + "\n")
			back.WriteString("-" + line[1:] + "\n")
		case line[0] == '-':
			p.removed, p.gone = append(p.removed, before), append(p.gone, line[1:])
			before++
			same.WriteString(line + "\n")
			back.WriteString("+" + line[1:] + "\n")
		case line[0] == ' ':
			before++
			after++
			same.WriteString(line + "\n")
			back.WriteString(line + "\n")
		}
	}
	finish()
	return all
}

// isPair reports whether a line names two trees. In a hunk no line begins so.
func isPair(line string) bool {
	a, b, ok := strings.Cut(line, " ")
	return ok && isName(a) && isName(b)
}

// sum identifies the hunks of a patch. In the reverse of a hunk git prints what is removed before
// what is added, so both are ordered here.
func sum(hunks string) string {
	var removed, added, ordered []string
	flush := func() {
		ordered = append(append(ordered, removed...), added...)
		removed, added = nil, nil
	}
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '-':
			removed = append(removed, line)
		case '+':
			added = append(added, line)
		default:
			flush()
			ordered = append(ordered, line)
		}
	}
	flush()
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(ordered, ""))))
}

// hunkStart returns the numbers of a hunk's first lines.
func hunkStart(line string) (before, after int) {
	words := strings.Fields(line)
	first := func(word string) int {
		number, _, _ := strings.Cut(strings.TrimLeft(word, "-+"), ",")
		n, _ := strconv.Atoi(number)
		return n
	}
	return first(words[1]), first(words[2])
}

// pathOf reads a path of a patch, which git quotes as C does where it has to.
func pathOf(text, prefix string) string {
	text = strings.TrimSuffix(text, "\t")
	if strings.HasPrefix(text, `"`) {
		if plain, err := strconv.Unquote(text); err == nil {
			text = plain
		}
	}
	return strings.TrimPrefix(text, prefix)
}

// leastLetters is how many letters and digits a run of lines needs to be no chance: as many as git
// asks for before it calls lines moved.
const leastLetters = 20

func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// numbered is a line of a file.
type numbered struct {
	path string
	line int
	text string
}

// number numbers the lines of one file.
func number(lines []string) []numbered {
	all := make([]numbered, len(lines))
	for at, text := range lines {
		all[at] = numbered{line: at + 1, text: text}
	}
	return all
}

// follows reports whether a line comes right after another one.
func (n numbered) follows(other numbered) bool {
	return n.path == other.path && n.line == other.line+1
}

// match is where the run through a line is that says most.
type match struct {
	said   int   // letters
	places []int // of the line in the other lines; several if several runs say as much
	shared bool  // more lines than there are places have them
}

// mostMatches is how many places of a line are kept.
const mostMatches = 8

// longestRuns returns for the lines of a, by their places, where b has the runs of the same lines,
// one after the other, that say most: the letters of those lines that counts says count. Lines
// without such a run are absent, and those with places that a longer run has.
func longestRuns(a, b []numbered, counts func(at int) bool) map[int]match {
	best := map[int]match{}
	texts := map[string][]int{}
	for i, line := range a {
		if counts(i) && letters(line.text) > 0 {
			texts[line.text] = append(texts[line.text], i)
		}
	}
	inRow := func(i, j int) bool { // as the lines before them
		return i > 0 && j > 0 && i < len(a) && j < len(b) && a[i].text == b[j].text && a[i-1].text == b[j-1].text &&
			a[i].follows(a[i-1]) && b[j].follows(b[j-1])
	}
	ends := map[int]int{} // of the last run with this distance between a and b, in b
	for j, line := range b {
		for _, i := range texts[line.text] {
			if j < ends[j-i] {
				continue
			}
			from, to, said := i, i+1, 0
			for inRow(from, from+j-i) {
				from--
			}
			for inRow(to, to+j-i) {
				to++
			}
			for at := from; at < to; at++ {
				if counts(at) {
					said += letters(a[at].text)
				}
			}
			ends[j-i] = j - i + to
			for at := from; at < to; at++ {
				switch m := best[at]; {
				case said > m.said:
					best[at] = match{said: said, places: []int{j - i + at}}
				case said == m.said && len(m.places) < mostMatches:
					best[at] = match{said: said, places: append(m.places, j-i+at)}
				}
			}
		}
	}
	type claim struct{ said, lines int }
	claims := map[int]claim{}
	for _, m := range best {
		for _, place := range m.places {
			switch c := claims[place]; {
			case m.said > c.said:
				claims[place] = claim{m.said, 1}
			case m.said == c.said:
				claims[place] = claim{c.said, c.lines + 1}
			}
		}
	}
	for at, m := range best {
		m.places = slices.DeleteFunc(m.places, func(place int) bool { return claims[place].said > m.said })
		if len(m.places) == 0 {
			delete(best, at)
			continue
		}
		m.shared = slices.ContainsFunc(m.places, func(place int) bool { return claims[place].lines > len(m.places) })
		best[at] = m
	}
	return best
}
