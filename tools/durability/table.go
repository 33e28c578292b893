package main

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
)

// row is one call that makes something durable, or gives it its name.
type row struct {
	under   string // the heading of docs/reference/durability.md
	file    string
	at      string // the text with the call, once in the file
	lost    string // what is lost without it
	pkg     string // of the tests
	test    string // their names, separated by "|"
	mutants []mutant
}

// mutant is a change that the tests have to notice.
type mutant struct {
	how     string
	changes []change
}

// change replaces a text that a file holds once.
type change struct{ from, to string }

// exemption is a file whose calls have no mutant.
type exemption struct{ file, why string }

//go:embed mutants.txt
var mutants string

var exempt = []exemption{
	{"inbox/rename_darwin.go", "macOS's way to rename without replacing; that of Linux has a row"},
	{"inbox/rename_other.go", "as above, for other systems"},
	{"journal/fs_other.go", "macOS's sync, which Go makes a full one; that of Linux has a row"},
	{"internal/effect/keep/system_darwin.go", "macOS's sync of all disks; the call that leads to it has a row"},
}

const introduction = `# Durability

What a loop promises to keep is in [format.md](format.md#durability). Each sync and each rename below is there for a part
of that promise. A named test fails when the call is left out, or when it comes after what depends on it:
` + "`make mutate-durability`" + ` tries each of these mutants, and fails where one is not noticed or a call has no row. The table is
` + "`tools/durability/mutants.txt`" + `, from which ` + "`make docs`" + ` writes this page.

The tests run on a simulated disk that loses its power at a chosen change and forgets what was not synced; of
names it then has any of those that were not synced, in no order. That a sync reaches the kernel is seen where
the kernel refuses it (` + "`/proc`" + `).

Not synced, because nothing is lost that cannot be made again: names of projections, of
config.json and of task.md, run.lock, logs of guardrails, the claim and the rejection of a command, .gitignore.
`

// parse reads the rows of mutants.txt, whose first lines describe the format.
func parse(text string) ([]row, error) {
	var rows []row
	under := ""
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		heading, isHeading := strings.CutPrefix(block, "# ")
		switch {
		case isHeading:
			under = heading
		case !strings.HasPrefix(block, "//"):
			r, err := parseRow(strings.Split(block, "\n"))
			if err != nil {
				return nil, fmt.Errorf("mutants.txt: %s: %w", r.file, err)
			}
			r.under = under
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func parseRow(lines []string) (row, error) {
	r := row{file: lines[0]}
	last := byte(0) // the first byte of the line before
	for _, line := range lines[1:] {
		sign, text := line[0], line[1:]
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case key == "lost":
			r.lost = value
		case key == "test":
			r.pkg, r.test, _ = strings.Cut(value, " ")
		case key == "mutant":
			r.mutants = append(r.mutants, mutant{how: value})
		case sign != '-' && sign != '+', len(r.mutants) == 0, sign == '+' && last != '-' && last != '+':
			return r, fmt.Errorf("cannot read %q", line)
		default:
			r.mutants[len(r.mutants)-1].add(sign, text, last)
		}
		last = sign
	}
	if len(r.mutants) == 0 || len(r.mutants[0].changes) == 0 || r.test == "" {
		return r, errors.New("a row without a mutant or a test")
	}
	r.at = r.mutants[0].changes[0].from
	return r, nil
}

// add takes one line of a change: a removed line after another kind of line begins the next change.
func (m *mutant) add(sign byte, text string, last byte) {
	if sign == '-' && last != '-' {
		m.changes = append(m.changes, change{from: text})
		return
	}
	c := &m.changes[len(m.changes)-1]
	switch {
	case sign == '-':
		c.from += "\n" + text
	case last == '-':
		c.to = text
	default:
		c.to += "\n" + text
	}
}
