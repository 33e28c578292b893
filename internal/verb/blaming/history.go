package blaming

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// limit bounds one call of git: the history of a file may be long.
const limit = 10 * time.Minute

// A commit is what git knows about one.
type commit struct {
	sha, tree   string
	parents     []string
	written     int64 // seconds; a rebase keeps it
	at          int64 // seconds
	name, email string
	subject     string
	body        string
}

// A history is that of a repository, with the work trees of loops as commits that no ref names.
type history struct {
	memory
	git     repo.Git // what it writes goes to the folder objects
	root    string
	objects string
	head    string // empty before the first commit
	loops   []*provenance.Loop
	since   int64                            // when the first of them began, in seconds; no earlier commit is of a loop
	chains  map[string]*chain                // by the root of the work tree
	made    map[string]*provenance.Iteration // by commit
	// noted are the loops whose journals are not here: only notes tell of them.
	noted map[*provenance.Loop]bool
	// disputed are commits whose notes name several iterations.
	disputed map[string]bool
	shallow  map[string]bool // commits whose parents a shallow clone does not have
	// doubtful are pairs of a kept work tree and a commit that may have the work of a loop.
	doubtful [][2]string
	sources  map[string]source   // of the commits that were made here
	parents  map[string][]string // likewise
	bounds   map[string][]string // of some of them: where it does not matter who is to blame
	virtual  map[string]map[int]string
	traces   map[string][]traceRecord // by revision
}

// memory is what git has answered.
type memory struct {
	commits   map[string]*commit
	blames    map[string]map[int]blamed
	files     map[string][]string
	removed   map[string]map[string][]blamed
	older     map[string]bool
	graph     *graph
	reflogs   map[string]map[string]string
	patches   map[string][]loopPatch // by path
	changes   map[string][]patch
	moves     map[string]map[blamed]moved
	runs      map[string]map[int]match
	absorbs   map[string]bool
	counts    map[string]map[string]int
	elsewhere map[string]map[string]bool
}

// open returns the history of the repository around dir; close removes what it wrote.
func open(ctx context.Context, dir string, env []string) (*history, error) {
	plain := repo.In(dir, env...)
	at, err := plain.Locate(ctx)
	if err != nil {
		return nil, err
	}
	h := newHistory(at.Root)
	if h.git, err = plain.In(at.Root).WithoutFilters(ctx); err != nil {
		return nil, err
	}
	if h.head, err = h.git.Head(ctx); err != nil {
		return nil, err
	}
	if h.objects, err = os.MkdirTemp("", "ralph-blame-"); err != nil {
		return nil, fmt.Errorf("make a folder for git's objects: %w", err)
	}
	shared := filepath.Join(repo.SharedDir(at.GitDir), "objects")
	err = os.Mkdir(filepath.Join(h.objects, "info"), 0o700)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(h.objects, "info", "alternates"), []byte(shared+"\n"), 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	if err := h.readShallow(repo.SharedDir(at.GitDir)); err != nil {
		return nil, errors.Join(err, h.close())
	}
	h.git = h.git.WithOwnIdentity()
	h.git.Env = append(h.git.Env, "GIT_OBJECT_DIRECTORY="+h.objects, "GIT_NO_REPLACE_OBJECTS=1")
	h.git.Limit = limit
	return h, nil
}

// mostShallow bounds the file that names the first commits of a shallow clone.
const mostShallow = 8 << 20

func (h *history) readShallow(gitDir string) error {
	list, err := safefile.Read(filepath.Join(gitDir, "shallow"), mostShallow)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range strings.Lines(string(list)) {
		h.shallow[strings.TrimSpace(line)] = true
	}
	return nil
}

func newHistory(root string) *history {
	return &history{
		root: root, chains: map[string]*chain{}, made: map[string]*provenance.Iteration{}, noted: map[*provenance.Loop]bool{},
		disputed: map[string]bool{}, shallow: map[string]bool{},
		sources: map[string]source{}, parents: map[string][]string{}, bounds: map[string][]string{}, virtual: map[string]map[int]string{},
		memory: memory{
			commits: map[string]*commit{}, blames: map[string]map[int]blamed{}, files: map[string][]string{}, older: map[string]bool{},
			removed: map[string]map[string][]blamed{}, reflogs: map[string]map[string]string{},
			patches: map[string][]loopPatch{}, changes: map[string][]patch{}, moves: map[string]map[blamed]moved{},
			runs: map[string]map[int]match{}, absorbs: map[string]bool{}, counts: map[string]map[string]int{}, elsewhere: map[string]map[string]bool{},
		},
	}
}

func (h *history) close() error { return os.RemoveAll(h.objects) }

// use takes the loops whose commits or work trees the repository has, and their notes.
func (h *history) use(ctx context.Context, loops []*provenance.Loop, notes map[string][]provenance.Note, alive func(*provenance.Loop) bool) error {
	var wanted []string
	for _, l := range loops {
		for _, i := range l.Iterations {
			wanted = append(wanted, i.Before.Commit, i.After.Commit)
			for _, c := range i.Commits {
				wanted = append(wanted, c.SHA)
			}
		}
	}
	wanted = slices.AppendSeq(wanted, maps.Keys(notes))
	if err := h.read(ctx, wanted); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, l := range loops {
		known[l.ID] = true
	}
	for _, l := range loops {
		if h.take(l) {
			h.loops = append(h.loops, l)
		}
		if l.ForkOf != nil && !known[l.ForkOf.ID] && h.take(l.ForkOf) {
			known[l.ForkOf.ID] = true
			h.loops = append(h.loops, l.ForkOf)
		}
	}
	more, err := h.fromNotes(ctx, notes, known)
	if err != nil {
		return err
	}
	h.loops = append(h.loops, more...)
	if err := h.read(ctx, h.heads()); err != nil {
		return err
	}
	h.since = math.MaxInt64
	byRoot := map[string][]*provenance.Iteration{}
	for _, l := range h.loops {
		root := l.Root
		if root == "" {
			root = "loop " + l.ID
		}
		byRoot[root] = append(byRoot[root], l.Iterations...)
		for _, i := range l.Iterations {
			if !i.Began.IsZero() {
				h.since = min(h.since, i.Began.Unix())
			}
			for _, c := range i.Commits {
				h.since = min(h.since, h.commits[c.SHA].at)
			}
		}
	}
	for root, all := range byRoot {
		h.chains[root] = newChain(root, all, alive)
	}
	return h.findDoubtful(ctx)
}

// take forgets what the repository does not have of a loop. It reports whether anything is left.
func (h *history) take(l *provenance.Loop) (any bool) {
	if real, err := filepath.EvalSymlinks(l.Root); err == nil {
		l.Root = real
	}
	for _, i := range l.Iterations {
		for _, t := range []*provenance.Tree{&i.Before, &i.After} {
			if h.commits[t.Commit] == nil {
				*t = provenance.Tree{}
			}
			any = any || t.Commit != ""
		}
		i.Commits = slices.DeleteFunc(i.Commits, func(c provenance.Commit) bool { return h.commits[c.SHA] == nil })
		for _, c := range i.Commits {
			any = true
			h.made[c.SHA] = i
		}
	}
	return any
}

// fromNotes makes loops of the notes about loops whose journals are not here.
func (h *history) fromNotes(ctx context.Context, notes map[string][]provenance.Note, known map[string]bool) ([]*provenance.Loop, error) {
	loops := map[string]*provenance.Loop{}
	iterations := map[string]*provenance.Iteration{}
	for _, sha := range slices.Sorted(maps.Keys(notes)) {
		about := h.commits[sha]
		if about != nil && h.made[sha] == nil && severalSay(notes[sha], known) {
			h.disputed[sha] = true
		}
		if about == nil || len(notes[sha]) != 1 || known[notes[sha][0].Loop] {
			continue
		}
		n := notes[sha][0]
		l := loops[n.Loop]
		if l == nil {
			l = &provenance.Loop{ID: n.Loop, Name: n.Name}
			loops[n.Loop], h.noted[l] = l, true
		}
		key := fmt.Sprint(n.Loop, " ", n.Iteration)
		i := iterations[key]
		if i == nil {
			i = &provenance.Iteration{Loop: l, N: n.Iteration, Seq: n.Seq, Agent: n.Agent, Models: n.Models, USD: n.USD, Checks: n.Checks}
			iterations[key] = i
			l.Iterations = append(l.Iterations, i)
		}
		i.Ended = later(i.Ended, time.Unix(about.at, 0))
		i.Commits = append(i.Commits, provenance.Commit{SHA: sha, Seq: n.Seq, At: time.Unix(about.at, 0)})
		h.made[sha] = i
	}
	var all []*provenance.Loop
	for _, id := range slices.Sorted(maps.Keys(loops)) {
		l := loops[id]
		slices.SortFunc(l.Iterations, func(a, b *provenance.Iteration) int { return a.N - b.N })
		if err := h.keptOf(ctx, l); err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// severalSay reports whether notes name several iterations, of loops whose journals are not here:
// git joined them, as those of commits that became one.
func severalSay(all []provenance.Note, known map[string]bool) bool {
	return len(all) > 1 && slices.ContainsFunc(all, func(n provenance.Note) bool { return !known[n.Loop] })
}

// keptOf gives the iterations of a loop that only notes tell of the work trees that refs keep. Git
// counts in seconds: what followed in the same one is put after it.
func (h *history) keptOf(ctx context.Context, l *provenance.Loop) error {
	if _, err := h.git.Read(ctx, "check-ref-format", "refs/ralph/"+l.ID); err != nil {
		return nil
	}
	var last time.Time
	next := func(at time.Time) time.Time {
		if at.Unix() == last.Unix() {
			at = last.Add(1)
		}
		last = at
		return at
	}
	kept := func(name string) (t provenance.Tree, err error) {
		sha, err := h.git.Line(ctx, "rev-parse", "--verify", "--quiet", "refs/ralph/"+l.ID+"/"+name+"^{commit}")
		if err != nil {
			return t, nil // it is not kept
		}
		if err := h.read(ctx, []string{sha}); err != nil {
			return t, err
		}
		return provenance.Tree{Commit: sha, At: next(time.Unix(h.commits[sha].at, 0))}, nil
	}
	for _, i := range l.Iterations {
		var err error
		if i.Before, err = kept("iteration-" + strconv.Itoa(i.N)); err != nil {
			return err
		}
		i.Began = i.Before.At
		slices.SortFunc(i.Commits, func(a, b provenance.Commit) int { return a.At.Compare(b.At) })
		for n := range i.Commits {
			i.Commits[n].At = next(i.Commits[n].At)
		}
		if i.After, err = kept("iteration-" + strconv.Itoa(i.N) + "-end"); err != nil {
			return err
		}
	}
	return nil
}

// read reads commits. Those that the repository does not have are left out.
func (h *history) read(ctx context.Context, wanted []string) error {
	slices.Sort(wanted)
	wanted = slices.DeleteFunc(slices.Compact(wanted), func(sha string) bool { return sha == "" || h.commits[sha] != nil || !isName(sha) })
	if len(wanted) == 0 {
		return nil
	}
	out, err := h.git.Feed(ctx, []byte(strings.Join(wanted, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return err
	}
	var there bytes.Buffer
	for line := range strings.Lines(string(out)) {
		if sha, isCommit := strings.CutSuffix(strings.TrimSpace(line), " commit"); isCommit {
			fmt.Fprintln(&there, sha)
		}
	}
	if there.Len() == 0 {
		return nil
	}
	out, err = h.git.Feed(ctx, there.Bytes(), "log", "--no-walk=unsorted", "--stdin", "--no-patch", "--no-notes", "-z", "--encoding=UTF-8",
		"--format=%H%n%T%n%P%n%at%n%ct%n%an%n%ae%n%s%n%b")
	if err != nil {
		return err
	}
	for record := range strings.SplitSeq(string(out), "\x00") {
		fields := strings.SplitN(record, "\n", 9)
		if len(fields) < 9 {
			continue
		}
		c := &commit{sha: fields[0], tree: fields[1], parents: strings.Fields(fields[2])}
		c.name, c.email, c.subject, c.body = fields[5], fields[6], fields[7], fields[8]
		c.written, _ = strconv.ParseInt(fields[3], 10, 64)
		c.at, _ = strconv.ParseInt(fields[4], 10, 64)
		h.commits[c.sha] = c
	}
	return nil
}

// isName reports whether a text is the full name of an object.
func isName(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// about returns what git knows about a commit that it has named.
func (h *history) about(ctx context.Context, sha string) (*commit, error) {
	if h.commits[sha] == nil {
		if err := h.read(ctx, []string{sha}); err != nil {
			return nil, err
		}
	}
	if c := h.commits[sha]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("git has no commit %.12s", sha)
}

// headOf returns the commit that HEAD named when a tree was kept.
func (h *history) headOf(t provenance.Tree) string {
	if t.Head {
		return t.Commit
	}
	if c := h.commits[t.Commit]; c != nil && len(c.parents) > 1 { // HEAD and the index
		return c.parents[0]
	}
	return ""
}

// heads are the commits that HEAD named when trees were kept, and the parents of the commits of
// loops.
func (h *history) heads() (all []string) {
	for _, l := range h.loops {
		for _, i := range l.Iterations {
			all = append(all, h.headOf(i.Before), h.headOf(i.After))
			for _, c := range i.Commits {
				all = append(all, h.commits[c.SHA].parents...)
			}
		}
	}
	return all
}

// stepCommit returns the commit of a step of a chain, whose parents are HEAD as it was then and the
// step before.
func (h *history) stepCommit(ctx context.Context, c *chain, at int) (string, error) {
	if h.virtual[c.root] == nil {
		h.virtual[c.root] = map[int]string{}
	}
	before := ""
	for k := 0; k <= at; k++ {
		if done := h.virtual[c.root][k]; done != "" {
			before = done
			continue
		}
		s := c.steps[k]
		sha, err := h.join(ctx, h.commits[s.tree.Commit].tree, s.source, h.headOf(s.tree), before)
		if err != nil {
			return "", err
		}
		h.virtual[c.root][k], before = sha, sha
	}
	return before, nil
}

// join makes a commit of a tree that has changed since other commits. The lines that none of them
// has are from the source.
func (h *history) join(ctx context.Context, tree string, from source, parents ...string) (string, error) {
	var args []string
	for _, p := range parents {
		if p != "" && !slices.Contains(args, p) {
			args = append(args, "-p", p)
		}
	}
	sha, err := h.git.CommitTree(ctx, tree, fmt.Sprintf("step %d", len(h.sources)), args...)
	if err == nil {
		h.sources[sha] = from
		h.parents[sha] = slices.DeleteFunc(args, func(word string) bool { return word == "-p" })
	}
	return sha, err
}

// blamed is a line of a file with the commit that git blames for it.
type blamed struct {
	commit, path string
	line         int // in the file of that commit
}

// mostSpans is how many ranges git blame is asked for at once.
const mostSpans = 200

// blame returns whom git blames for lines of a file in a commit, by their numbers: at least for the
// wanted ones, or for all. git follows renames of files, and nothing else: with -M and -C a line
// that was copied would be of who wrote the original. [origins.ofMove] follows what was moved.
func (h *history) blame(ctx context.Context, rev, path string, wanted ...int) (map[int]blamed, error) {
	key := rev + ":" + path
	known := h.blames[key]
	if known == nil {
		known = map[int]blamed{}
		h.blames[key] = known
	}
	count := len(h.lines(ctx, rev, path))
	missing := slices.DeleteFunc(slices.Clone(wanted), func(n int) bool { return n < 1 || n > count || known[n].commit != "" })
	if len(wanted) > 0 && len(missing) == 0 || len(known) == count {
		return known, nil
	}
	// What a person's settings say about blame is for their eyes: commits that are passed over, and
	// programs that print another text with other lines.
	args := append([]string{"blame", "--no-ignore-revs-file", "--no-textconv", "--incremental"}, spans(missing)...)
	args = append(args, rev)
	for _, sha := range h.bounds[rev] {
		args = append(args, "^"+sha)
	}
	out, err := h.git.Read(ctx, append(args, "--", path)...)
	if err != nil {
		return nil, err
	}
	var b blamed
	at, lines := 0, 0
	for row := range strings.Lines(string(out)) {
		row = strings.TrimSuffix(row, "\n")
		if name, last := strings.CutPrefix(row, "filename "); last {
			b.path = pathOf(name, "")
			for n := range lines {
				known[at+n] = blamed{b.commit, b.path, b.line + n}
			}
			b = blamed{}
		} else if words := strings.Fields(row); b.commit == "" && len(words) == 4 && isName(words[0]) {
			b.commit = words[0]
			b.line, _ = strconv.Atoi(words[1])
			at, _ = strconv.Atoi(words[2])
			lines, _ = strconv.Atoi(words[3])
		}
	}
	return known, nil
}

// spans are the options of git blame for some lines of a file; none for all.
func spans(numbers []int) (args []string) {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for at := 0; at < len(numbers); {
		end := at + 1
		for end < len(numbers) && numbers[end] == numbers[end-1]+1 {
			end++
		}
		args = append(args, fmt.Sprintf("-L%d,%d", numbers[at], numbers[end-1]))
		at = end
	}
	if len(args) > mostSpans {
		return []string{fmt.Sprintf("-L%d,%d", numbers[0], numbers[len(numbers)-1])}
	}
	return args
}

// lines returns the lines of a file in a commit; nil if it has none.
func (h *history) lines(ctx context.Context, rev, path string) []string {
	key := rev + ":" + path
	if done, ok := h.files[key]; ok {
		return done
	}
	out, err := h.git.Read(ctx, "cat-file", "blob", rev+":"+path)
	if err != nil {
		out = nil
	}
	h.files[key] = split(out)
	return h.files[key]
}

// split returns the lines of a file.
func split(content []byte) []string {
	if len(content) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}
