package rollback

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/render"
)

// Diff compares two work trees of a loop.
type Diff struct {
	Words []string // [NAME] [N..M] [FILE]
	Stat  bool     // how many lines of each file, instead of the lines
	Names bool     // the names of the files alone
	JSON  bool
}

// Changes is what --json prints.
type Changes struct {
	Name  string    `json:"name"`
	From  string    `json:"from"` // a commit
	To    string    `json:"to"`   // a commit, or a tree of the files as they are
	Files []Changed `json:"files"`
}

// Changed is one file.
type Changed struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`   // lines; 0 for a binary file
	Removed int    `json:"removed"` // likewise
	Binary  bool   `json:"binary,omitempty"`
}

// span is N, N.., ..M or N..M.
var span = units.Pattern(`^(\d*)(\.\.)?(\d*)$`)

// Run prints the difference.
func (d Diff) Run(ctx context.Context, e *cli.Env) error {
	name, text, paths, err := d.split()
	if err != nil {
		return err
	}
	t, err := find(ctx, e, name)
	if err != nil {
		return err
	}
	from, to, note, err := t.ends(ctx, text)
	if err != nil {
		return err
	}
	if note != "" {
		cli.Tell(e.Stderr, "%s", note)
	}
	if d.JSON || len(paths) > 0 {
		files, err := t.changed(ctx, from, to, paths)
		switch {
		case err != nil:
			return err
		case len(files) == 0 && len(paths) > 0:
			return cli.Refuse("a range is written as 2..5; 'ralph diff "+t.Name+" --name-only' lists the files",
				"%q is no range of iterations and no file that changed", paths[0])
		case d.JSON:
			return cli.PrintJSON(e.Stdout, Changes{t.Name, from, to, files}, "")
		}
	}
	options := []string{"--find-renames"}
	switch {
	case d.Names:
		options = append(options, "--name-only")
	case d.Stat:
		options = append(options, "--stat="+strconv.Itoa(statWidth))
	}
	out, err := repo.Diff(ctx, t.dir, from, to, options, paths, t.env...)
	if err != nil {
		return err
	}
	if e.IsTerminal() {
		out = forTerminal(out, e.Drawable() && e.Variable("NO_COLOR") == "")
	}
	_, err = e.Stdout.Write(out)
	return err
}

// colors are those of lines, by their beginnings; the first that fits counts.
var colors = []struct{ prefix, color string }{
	{"diff ", "1"}, {"+++", "1"}, {"---", "1"}, {"@@", "36"}, {"+", "32"}, {"-", "31"},
}

// forTerminal makes a difference safe for a terminal: the files may have sequences that control it.
func forTerminal(out []byte, colored bool) []byte {
	var to bytes.Buffer
	for line := range strings.Lines(string(out)) {
		text := string(render.CleanText(strings.TrimSuffix(line, "\n")))
		for _, c := range colors {
			if colored && strings.HasPrefix(text, c.prefix) {
				text = "\x1b[" + c.color + "m" + text + "\x1b[0m"
				break
			}
		}
		to.WriteString(text + "\n")
	}
	return to.Bytes()
}

// statWidth is how many columns --stat uses.
const statWidth = 80

// split takes the name, the range and the file from the arguments.
func (d Diff) split() (name, text string, paths []string, err error) {
	words := d.Words
	if len(words) > 0 && !span().MatchString(words[0]) {
		name, words = words[0], words[1:]
	}
	if len(words) > 0 && span().MatchString(words[0]) {
		text, words = words[0], words[1:]
	}
	if len(words) > 1 {
		return "", "", nil, cli.Refuse("write it as 'ralph diff NAME 2..5 FILE'", "%q is no range of iterations", words[0])
	}
	return name, text, words, nil
}

// ends returns the two work trees of a range: those before its iterations. Of one number alone it
// is what that iteration changed. N.. is up to the work tree as it is now; after the last iteration
// it is that at the end of the loop, where that is kept. note says what a person has to know of it.
func (t trees) ends(ctx context.Context, text string) (from, to, note string, err error) {
	parts := span().FindStringSubmatch(text)
	first, last := t.all[0].N, 0 // 0 is the end
	if parts[1] != "" {
		first, _ = strconv.Atoi(parts[1])
	}
	switch {
	case parts[3] != "":
		last, _ = strconv.Atoi(parts[3])
	case parts[1] != "" && parts[2] == "" && first < t.state.Lifecycle.Iteration:
		last = first + 1
	}
	start, err := t.at(first)
	if err != nil {
		return "", "", "", err
	}
	if last > 0 {
		end, err := t.at(last)
		return start.Commit, end.Commit, "", err
	}
	if to, err = keep.FilesNow(ctx, t.dir, t.env...); err != nil || parts[2] != "" || t.Live.Alive {
		return start.Commit, to, "", err
	}
	end := t.end(ctx)
	if end == "" {
		return start.Commit, to, "compared with the files as they are now: how they were at the end of the loop is not known", nil
	}
	since, err := t.changed(ctx, end, to, nil)
	if len(since) > 0 {
		note = fmt.Sprintf("compared with the files at the end of the loop; %s changed since, and 'ralph diff %s %d..' compares with now",
			units.Quantity(len(since), "file"), t.Name, first)
	}
	return start.Commit, end, note, err
}

func (t trees) changed(ctx context.Context, from, to string, paths []string) ([]Changed, error) {
	out, err := repo.Diff(ctx, t.dir, from, to, []string{"--numstat", "-z", "--no-renames"}, paths, t.env...)
	if err != nil {
		return nil, err
	}
	files := []Changed{}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		added, rest, _ := strings.Cut(record, "\t")
		removed, path, ok := strings.Cut(rest, "\t")
		if !ok {
			continue
		}
		c := Changed{Path: path, Binary: added == "-"}
		c.Added, _ = strconv.Atoi(added) // "-" of a binary file is 0
		c.Removed, _ = strconv.Atoi(removed)
		files = append(files, c)
	}
	return files, nil
}
