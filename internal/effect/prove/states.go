package prove

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/prove/mutant"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// maxText bounds a file that is read, maxTexts all of them, in bytes.
	maxText, maxTexts = 512 << 10, 24 << 20
	// maxFiles bounds the changed files that are read.
	maxFiles = 2000
)

// states are the two states of the project, and what differs.
type states struct {
	start, claimed string // trees of git
	dir            string // the project's folder from the root
	commands       []string
	files          []changedFile           // in the order of git
	lines          map[string]map[int]bool // the lines of the claimed state that changed, by path
}

// changedFile is a file that differs.
type changedFile struct {
	path                  string
	startMode, startID    string // "" where there is none
	claimedMode, idNow    string
	class                 fileclass.Class
	isCheck               bool // a guardrail is to run it
	startText, textNow    string
	hasStartText, hasText bool
}

// forTests reports whether a file belongs to the tests rather than to the program.
func (f changedFile) forTests() bool { return f.class.IsForTests() || f.isCheck }

// compare finds what differs between two trees.
func (s *states) compare(ctx context.Context, git repo.Git, start, claimed string) (err error) {
	if s.start, err = git.TreeOf(ctx, start); err != nil {
		return fmt.Errorf("find the state of the start: %w", err)
	}
	if s.claimed, err = git.TreeOf(ctx, claimed); err != nil {
		return fmt.Errorf("find the claimed state: %w", err)
	}
	out, err := git.Read(ctx, "diff-tree", "-r", "-z", "--no-renames", "--raw", s.start, s.claimed)
	if err != nil {
		return fmt.Errorf("compare the states: %w", err)
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		// ":100644 100644 id id M", then the path
		words := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(words) != 5 {
			return fmt.Errorf("compare the states: git says %.80q", fields[i])
		}
		f := changedFile{path: fields[i+1], isCheck: s.isNamed(fields[i+1])}
		if strings.Trim(words[0], "0") != "" {
			f.startMode, f.startID = words[0], words[2]
		}
		if strings.Trim(words[1], "0") != "" {
			f.claimedMode, f.idNow = words[1], words[3]
		}
		s.files = append(s.files, f)
	}
	if err := s.read(ctx, git); err != nil {
		return fmt.Errorf("read what differs: %w", err)
	}
	s.lines, err = changedLines(ctx, git, s.start, s.claimed)
	return err
}

// compares is in a command that judges what a program prints, so that what it runs is no check.
var compares = units.Pattern("[|`[]|\\$\\(|\\b(?:test|diff|cmp|grep)\\b")

// isNamed reports whether a command of a guardrail is to run a file, whose exit status says all.
func (s *states) isNamed(name string) bool {
	return slices.ContainsFunc(s.commands, func(c string) bool {
		if compares().MatchString(c) {
			return false
		}
		words := strings.FieldsFunc(c, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"=<>", r) })
		return slices.ContainsFunc(words, func(w string) bool {
			return strings.Contains(w, ".") && path.Ext(w) != "" && (path.Clean(w) == name || path.Join(s.dir, w) == name)
		})
	})
}

func isRegular(mode string) bool { return strings.HasPrefix(mode, "100") }

// read reads the texts of the files that differ, and says what these are for.
func (s *states) read(ctx context.Context, git repo.Git) error {
	var ids []string
	for _, f := range s.files[:min(len(s.files), maxFiles)] {
		if isRegular(f.startMode) {
			ids = append(ids, f.startID)
		}
		if isRegular(f.claimedMode) {
			ids = append(ids, f.idNow)
		}
	}
	texts, err := blobs(ctx, git, ids)
	if err != nil {
		return err
	}
	for i := range s.files {
		f := &s.files[i]
		if isRegular(f.startMode) {
			f.startText, f.hasStartText = texts[f.startID]
		}
		if isRegular(f.claimedMode) {
			f.textNow, f.hasText = texts[f.idNow]
		}
		text := f.textNow
		if !f.hasText {
			text = f.startText
		}
		f.class = fileclass.Classify(f.path, []byte(text[:min(len(text), fileclass.Beginning)]))
	}
	return nil
}

// blobs returns the contents of blobs that are texts of a size that people write.
func blobs(ctx context.Context, git repo.Git, ids []string) (map[string]string, error) {
	texts := map[string]string{}
	if len(ids) == 0 {
		return texts, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	sizes, err := git.Feed(ctx, []byte(strings.Join(ids, "\n")+"\n"), "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	var small []string
	sum := 0
	for line := range strings.Lines(string(sizes)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue // it is missing
		}
		if size, err := strconv.Atoi(words[2]); err == nil && size <= maxText && sum+size <= maxTexts {
			sum += size
			small = append(small, words[0])
		}
	}
	if len(small) == 0 {
		return texts, nil
	}
	out, err := git.Feed(ctx, []byte(strings.Join(small, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		words := strings.Fields(string(head))
		if len(words) != 3 {
			return nil, fmt.Errorf("git says %.80q of a content", head)
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size+1 > len(rest) {
			return nil, fmt.Errorf("git says %.80q of a content", head)
		}
		if text := rest[:size]; bytes.IndexByte(text, 0) < 0 {
			texts[words[0]] = string(text)
		}
		out = rest[size+1:]
	}
	return texts, nil
}

var hunk = units.Pattern(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// changedLines returns the lines that a state has and the one before has not, by path. A file that
// was renamed has those that changed besides.
func changedLines(ctx context.Context, git repo.Git, start, claimed string) (map[string]map[int]bool, error) {
	out, err := git.Read(ctx, "-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--find-renames",
		"--unified=0", "--src-prefix=a/", "--dst-prefix=b/", start, claimed, "--")
	if err != nil {
		return nil, fmt.Errorf("compare the states: %w", err)
	}
	changed := map[string]map[int]bool{}
	var lines map[int]bool
	skip := 0
	for line := range strings.Lines(string(out)) {
		if skip > 0 && !strings.HasPrefix(line, `\`) {
			skip--
			continue
		}
		if name, ok := strings.CutPrefix(strings.TrimRight(line, "\t\n"), "+++ "); ok {
			if unquoted, err := strconv.Unquote(name); err == nil {
				name = unquoted
			}
			lines = map[int]bool{}
			changed[strings.TrimPrefix(name, "b/")] = lines
			continue
		}
		at := hunk().FindStringSubmatch(line)
		if at == nil {
			continue
		}
		from, _ := strconv.Atoi(at[2])
		added := count(at[3])
		skip = count(at[1]) + added
		for n := range added {
			lines[from+n] = true
		}
	}
	return changed, nil
}

// count is that of a hunk, where 1 is left out.
func count(text string) int {
	if text == "" {
		return 1
	}
	n, _ := strconv.Atoi(text)
	return n
}

// mutants returns those of the lines of the program that changed, by file, in its order.
func (s *states) mutants() (found [][]event.Mutant) {
	for _, f := range s.files {
		lines := s.lines[f.path]
		if f.class != fileclass.Program || f.isCheck || !f.hasText || len(lines) == 0 {
			continue
		}
		end := 1 + strings.Count(f.textNow[:fileclass.TestsBegin(f.path, []byte(f.textNow))], "\n")
		if all := mutant.Find(f.path, f.textNow, func(line int) bool { return line <= end && lines[line] }); len(all) > 0 {
			found = append(found, all)
		}
	}
	return found
}

// startWithTests returns the tree of the claimed tests over the program of the start; false if that
// is the claimed state itself.
func (s *states) startWithTests(ctx context.Context, git repo.Git) (string, bool, error) {
	changes := map[string]entry{}
	for _, f := range s.files {
		switch {
		case f.forTests(), f.class != fileclass.Program && f.class != fileclass.Generated:
			continue // what configures the program and what it depends on stays as the tests need it
		case f.hasText && f.hasStartText:
			begin, beginNow := fileclass.TestsBegin(f.path, []byte(f.startText)), fileclass.TestsBegin(f.path, []byte(f.textNow))
			if beginNow < len(f.textNow) {
				id, err := git.Feed(ctx, []byte(f.startText[:begin]+f.textNow[beginNow:]), "hash-object", "-w", "--stdin", "--no-filters")
				if err != nil {
					return "", false, err
				}
				changes[f.path] = entry{f.startMode, strings.TrimSpace(string(id))}
				continue
			}
		}
		changes[f.path] = entry{f.startMode, f.startID}
	}
	return s.tree(ctx, git, changes)
}

// claimedWithOldTests returns the tree of the tests of the start over the claimed program; false if
// the loop changed none of them.
func (s *states) claimedWithOldTests(ctx context.Context, git repo.Git) (string, bool, error) {
	changes, differs := map[string]entry{}, false
	for _, f := range s.files {
		if !f.forTests() {
			continue
		}
		differs = differs || f.startID != ""
		changes[f.path] = entry{f.startMode, f.startID}
	}
	if !differs {
		return "", false, nil
	}
	return s.tree(ctx, git, changes)
}

// entry is a file of a tree; one without an id is absent.
type entry struct{ mode, id string }

// tree makes a tree that differs from the claimed one.
func (s *states) tree(ctx context.Context, git repo.Git, changes map[string]entry) (string, bool, error) {
	if len(changes) == 0 {
		return "", false, nil
	}
	git.Env = append(slices.Clip(git.Env), "GIT_INDEX_FILE="+filepath.Join(git.Dir, ".git", "index-of-trials"))
	if _, err := git.Read(ctx, "read-tree", s.claimed); err != nil {
		return "", false, err
	}
	var removed, added strings.Builder // a file may be where a folder was
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if e := changes[name]; e.id == "" {
			fmt.Fprintf(&removed, "0 %s\t%s\x00", strings.Repeat("0", len(s.claimed)), name)
		} else {
			fmt.Fprintf(&added, "%s %s\t%s\x00", e.mode, e.id, name)
		}
	}
	if _, err := git.Feed(ctx, []byte(removed.String()+added.String()), "update-index", "-z", "--index-info"); err != nil {
		return "", false, err
	}
	made, err := git.Line(ctx, "write-tree", "--missing-ok")
	return made, made != s.claimed, err
}
