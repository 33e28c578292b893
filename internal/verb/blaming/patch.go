package blaming

import (
	"crypto/sha256"
	"fmt"
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
	was     string // the path before it
	pair    int    // of the compared trees, in their order from 0
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
			p.removed = append(p.removed, before)
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

// A run is lines that two files have in common, one after the other.
type run struct{ a, b, lines int } // where it begins in each, from 0

// longestRun returns the run through line at of a that says most of those that files a and b have
// in common: the letters of the lines that counts says count. several says that another one says
// as much.
func longestRun(a, b []string, at int, counts func(line int) bool) (best run, said int, several bool) {
	for j := range b {
		if b[j] != a[at] {
			continue
		}
		i, k := at, j
		for i > 0 && k > 0 && a[i-1] == b[k-1] {
			i, k = i-1, k-1
		}
		r := run{i, k, 0}
		n := 0
		for ; i < len(a) && k < len(b) && a[i] == b[k]; i, k = i+1, k+1 {
			if counts(i) {
				n += letters(a[i])
			}
			r.lines++
		}
		switch {
		case n > said:
			best, said, several = r, n, false
		case n == said:
			several = true
		}
	}
	return best, said, several
}
