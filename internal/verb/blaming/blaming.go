package blaming

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Blame says who wrote the lines of a file.
type Blame struct {
	Target     string // FILE, FILE:LINE or FILE:A-B
	JSON       bool
	AgentTrace bool   // print a record of Agent Trace
	Version    string // of ralph
}

// Answer is what --json prints.
type Answer struct {
	File string `json:"file"` // from the root of the repository, with slashes
	Head string `json:"head"` // the commit that is checked out
	// Committed says that the file is as that commit has it.
	Committed bool    `json:"committed"`
	Ranges    []Range `json:"ranges"`
	Unknown   int     `json:"unknown"` // lines
	// Unread are the loops whose journals cannot be read; their lines may be unknown.
	Unread []string `json:"unread,omitempty"`
}

// Range is lines in a row with one origin.
type Range struct {
	From int `json:"from"`
	To   int `json:"to"`
	Origin
}

// Who wrote lines.
const (
	byLoop    = "loop"
	byPerson  = "person"
	byNote    = "note"  // a note says that a loop did
	byTrace   = "trace" // a record of Agent Trace says who did
	byUnknown = "unknown"
)

// Origin is who wrote lines, and how that is known.
type Origin struct {
	By string `json:"by"`
	// How it is known: commit (of a loop), snapshot (a work tree that is kept), tool (a call that
	// wrote it), patch (the same change), lines (a run of the same lines), note, trace or git.
	How string `json:"how,omitempty"`
	Why string `json:"why,omitempty"` // it is not known, or what is known besides
	// Verified says that a journal, work trees that are kept for one, or git show it. A note never
	// does: the refs of its loop say that there was such an iteration, not which commits it made.
	Verified bool        `json:"verified"`
	Commit   *CommitPart `json:"commit,omitempty"` // that has the lines; absent if none has
	Loop     *LoopPart   `json:"loop,omitempty"`
	Trace    *Trace      `json:"trace,omitempty"`
}

// CommitPart is a commit as git knows it.
type CommitPart struct {
	SHA     string    `json:"sha"`
	Author  string    `json:"author"`
	Email   string    `json:"email"`
	At      time.Time `json:"at"`
	Subject string    `json:"subject"`
}

// LoopPart is an iteration of a loop.
type LoopPart struct {
	Name      string             `json:"name"`
	ID        string             `json:"id"`
	Iteration int                `json:"iteration"`
	Seq       event.Seq          `json:"seq"` // the event with which it began; of a note, its decision
	Agent     string             `json:"agent,omitempty"`
	Models    []string           `json:"models,omitempty"`
	Prompt    string             `json:"prompt,omitempty"` // its beginning
	Blob      event.BlobRef      `json:"blob,omitempty"`   // that has all of a long prompt
	Because   []string           `json:"because,omitempty"`
	Checks    []provenance.Check `json:"checks,omitempty"`
	USD       *float64           `json:"usd"` // null if it is not known
	Journal   string             `json:"journal,omitempty"`
}

const (
	mostFile   = 32 << 20 // bytes of the file
	mostPrompt = 200      // bytes of a prompt
)

// span is the end of FILE:LINE and FILE:A-B.
var span = units.Pattern(`^(.+):(\d+)(?:-(\d+))?$`)

// Run prints who wrote the lines.
func (v Blame) Run(ctx context.Context, e *cli.Env) error {
	path, from, to, err := v.split(e)
	if err != nil {
		return err
	}
	if loop := folderOfLoop(path); loop != "" {
		return cli.Refuse("'ralph logs' shows what is in it", "%s is a file of loop %s itself: ralph wrote it, and no agent", e.Short(path), filepath.Base(loop))
	}
	content, err := safefile.Read(path, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Refuse("name a file of the work tree", "there is no file %s", e.Short(path))
	}
	if err != nil {
		return err
	}
	shown := tellIfLong(e, path)
	a, lines, err := Lines(ctx, e, path, content, from, to)
	shown()
	switch {
	case repo.Absent(err):
		return cli.Refuse("'ralph blame' needs git and a repository", "blame %s: %w", e.Short(path), err)
	case err != nil:
		return fmt.Errorf("blame %s: %w", e.Short(path), err)
	case v.AgentTrace:
		r, err := traceOf(a, lines, v.Version, e.Now())
		if err != nil {
			return cli.Refuse("commit the file first", "%s: %w", a.File, err)
		}
		return cli.PrintJSON(e.Stdout, r, "")
	case v.JSON:
		return cli.PrintJSON(e.Stdout, a, "  ")
	}
	_, err = e.Stdout.Write(a.text(lines, e.RenderOptions(), e.Now()))
	return err
}

// tellIfLong tells a person who has waited for a second what takes so long. Nothing else may print
// until what it returns was called.
func tellIfLong(e *cli.Env, path string) (end func()) {
	ended, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-time.After(time.Second):
			cli.Tell(e.Stderr, "following the lines of %s through all commits and loops; a range takes less, as in %s:12-20", e.Short(path), e.Short(path))
		case <-ended:
		}
	}()
	return func() {
		close(ended)
		<-told
	}
}

// folderOfLoop returns the folder of a loop that has a file; empty if none has. Such a folder is no
// part of the repository around it.
func folderOfLoop(path string) string {
	for dir := filepath.Dir(path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if cli.Exists(filepath.Join(dir, "journal")) && cli.Exists(filepath.Join(dir, "run.lock")) {
			return dir
		}
		if cli.Exists(filepath.Join(dir, ".git")) { // as its worktree is
			break
		}
	}
	return ""
}

// split reads the target. A file whose name ends as a range comes first.
func (v Blame) split(e *cli.Env) (path string, from, to int, err error) {
	path = e.Abs(v.Target)
	if _, err := os.Lstat(path); err == nil {
		return path, 1, 0, nil
	}
	parts := span().FindStringSubmatch(v.Target)
	if parts == nil {
		return path, 1, 0, nil
	}
	from, err = strconv.Atoi(parts[2])
	to = from
	if err == nil && parts[3] != "" {
		to, err = strconv.Atoi(parts[3])
	}
	if err != nil || from < 1 || to < from {
		return "", 0, 0, cli.Refuse("write it as FILE:12 or FILE:12-20", "%q is no range of lines", v.Target)
	}
	return e.Abs(parts[1]), from, to, nil
}

// Lines says who wrote the lines of a file from one to another; 0 is the last. It returns all lines
// of the file, too.
func Lines(ctx context.Context, e *cli.Env, path string, content []byte, from, to int) (*Answer, []string, error) {
	h, err := open(ctx, filepath.Dir(path), e.Environ)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = h.close() }()
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, nil, err
	}
	name, err := filepath.Rel(h.root, path)
	if err != nil {
		return nil, nil, err
	}
	name = filepath.ToSlash(name)
	loops, alive, unread, err := h.find(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	notes, err := provenance.Notes(ctx, h.root, e.Environ...)
	if err != nil {
		return nil, nil, err
	}
	if err := h.use(ctx, loops, notes, func(l *provenance.Loop) bool { return alive[l.ID] }); err != nil {
		return nil, nil, err
	}
	h.traces = readTraces(h.root)
	a, lines, err := h.answer(ctx, name, content, from, to)
	if a != nil {
		a.Unread = unread
	}
	return a, lines, err
}

// answer traces the lines of a file with this content.
func (h *history) answer(ctx context.Context, name string, content []byte, from, to int) (*Answer, []string, error) {
	now, err := h.worktree(ctx, name, content)
	if err != nil {
		return nil, nil, err
	}
	lines := h.lines(ctx, now, name)
	if to == 0 {
		to = len(lines)
	}
	if from > len(lines) && len(lines) > 0 || to > len(lines) {
		return nil, nil, cli.Refuse("name lines that it has", "it has %s", units.Quantity(len(lines), "line"))
	}
	var wanted []int
	for at := from; at <= to; at++ {
		wanted = append(wanted, at)
	}
	blames, err := h.blame(ctx, now, name, wanted...)
	if err != nil {
		return nil, nil, err
	}
	o := origins{history: h, calls: map[*provenance.Iteration][]call{}}
	if err := o.readAhead(ctx, blames); err != nil {
		return nil, nil, err
	}
	for _, at := range wanted {
		if path := blames[at].path; !slices.Contains(o.paths, path) {
			o.paths = append(o.paths, path)
		}
	}
	a := &Answer{File: name, Head: h.head, Ranges: []Range{}}
	if h.head != "" {
		was, err := h.git.Line(ctx, "rev-parse", "--verify", "--quiet", h.head+":"+name)
		is, failed := h.git.Line(ctx, "rev-parse", "--verify", now+":"+name)
		a.Committed = err == nil && failed == nil && was == is
	}
	var last origin
	for at := from; at <= to; at++ {
		found, err := o.of(ctx, blames[at], depth)
		if err != nil {
			return nil, nil, err
		}
		if found.unknown {
			a.Unknown++
		}
		if n := len(a.Ranges); n > 0 && found == last {
			a.Ranges[n-1].To = at
			continue
		}
		last = found
		a.Ranges = append(a.Ranges, Range{at, at, found.describe(h.noted)})
	}
	return a, lines, nil
}

// find reads the journals of the loops that may have worked in the repository.
func (h *history) find(ctx context.Context, e *cli.Env) (loops []*provenance.Loop, alive map[string]bool, unread []string, err error) {
	_ = e.Adopt() // what is registered may be enough
	all, err := client.Finder{Home: e.Home, Project: e.Root(), Cwd: e.Cwd}.Loops(true)
	if err != nil {
		return nil, nil, nil, err
	}
	refs, err := h.git.Line(ctx, "for-each-ref", "--format=%(refname)", "refs/ralph/")
	if err != nil {
		return nil, nil, nil, err
	}
	trees, err := h.git.Line(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, nil, nil, err
	}
	var roots []string
	for line := range strings.Lines(trees) {
		if root, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "worktree "); ok {
			roots = append(roots, filepath.FromSlash(root))
		}
	}
	alive = map[string]bool{}
	for _, s := range all {
		inner := ""
		if !strings.Contains(refs, "/"+cmp.Or(s.ID, "?")+"/") && !slices.ContainsFunc(roots, func(root string) bool { return cli.Within(root, s.Project) }) {
			if project, err := filepath.EvalSymlinks(s.Project); err != nil || !cli.Within(project, h.root) {
				continue
			}
			inner = h.root
		}
		l, err := provenance.ReadIn(s.Dir, inner)
		if err != nil {
			unread = append(unread, s.Name)
		}
		alive[l.ID] = isAlive(s)
		loops = append(loops, l)
	}
	return loops, alive, unread, nil
}

func isAlive(s registry.Status) bool { return s.Live.Alive }

// describe says what is known in full.
func (o origin) describe(noted map[*provenance.Loop]bool) Origin {
	d := Origin{How: o.how}
	if o.commit != nil {
		d.Commit = &CommitPart{o.commit.sha, word(o.commit.name), word(o.commit.email), time.Unix(o.commit.at, 0).UTC(), word(o.commit.subject)}
	}
	switch {
	case o.unknown:
		d.By, d.How, d.Why = byUnknown, "", o.how
	case o.trace != nil:
		d.By, d.Trace = byTrace, o.trace
	case o.by == nil:
		d.By, d.How, d.Verified = byPerson, "git", true
		if o.how != "" {
			d.How, d.Why = "snapshot", "changed "+o.how
		}
	default:
		d.By, d.Loop, d.Verified = byLoop, o.part(), true
		if o.how == "" {
			d.How = "snapshot"
		}
		if noted[o.by.Loop] {
			d.By, d.How, d.Verified = byNote, "note", false
		}
	}
	return d
}

func (o origin) part() *LoopPart {
	i := o.by
	p := &LoopPart{
		Name: word(i.Loop.Name), ID: word(i.Loop.ID), Iteration: i.N, Seq: i.Seq, Agent: word(i.Agent), Checks: i.Checks, USD: i.USD,
		Prompt: units.Cut(word(strings.Join(strings.Fields(i.Prompt.Text), " ")), mostPrompt), Blob: i.Prompt.SHA256, Journal: i.Loop.Dir,
	}
	for _, m := range i.Models {
		p.Models = append(p.Models, word(m))
	}
	for _, reason := range i.Because() {
		p.Because = append(p.Because, word(reason))
	}
	return p
}
