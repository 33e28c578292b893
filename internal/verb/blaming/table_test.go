package blaming

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/provenance"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestMain(m *testing.M) { testgit.Main(m) }

// world is a repository in which people, bots and loops work, and which knows who wrote each line.
// A block is two lines that no other line is the same as, with one between them that many are.
type world struct {
	testgit.Tree
	dice     *rand.Rand
	authors  map[string]string // by the text of a line
	between  map[string]string // who wrote the line after the one with this text
	copied   map[string]string // who copied the block after the line with this text
	pinned   map[string]bool   // the first lines of blocks that were copied
	number   int
	loops    []string // the folders of the loops whose journals are here
	gone     map[string]bool
	commits  int
	counts   map[string]int
	branches int
	// dropped are the ordinary lines of blocks that were removed last. With one of them in another
	// block at the same place, nothing shows that it is another line.
	dropped []string
}

var ordinary = []string{"}", "return nil", "\tend", "", "x++"}

func (w *world) text() string {
	w.number++
	if w.dice.IntN(3) == 0 {
		return fmt.Sprintf("\tx%d--", w.number)
	}
	return fmt.Sprintf("\tvalue%d := prepare(%d, input) // of the step", w.number, w.number)
}

func (w *world) block(author string) []string {
	first, last := w.text(), w.text()
	w.authors[first], w.authors[last], w.between[first] = author, author, author
	middle := ordinary[w.dice.IntN(len(ordinary))]
	for slices.Contains(w.dropped, middle) {
		middle = ordinary[w.dice.IntN(len(ordinary))]
	}
	return []string{first, middle, last}
}

func (w *world) files(dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	testfile.Must(w.T, err)
	for i, name := range names {
		names[i] = filepath.Base(name)
	}
	return names
}

// edit changes some files of a work tree as an author does.
func (w *world) edit(dir, author string, times int) {
	at := testgit.Tree{T: w.T, Dir: dir}
	for range times {
		files := w.files(dir)
		if len(files) < 3 || w.dice.IntN(12) == 0 {
			at.Write(fmt.Sprintf("f%d.txt", w.number), strings.Join(slices.Concat(w.block(author), w.block(author)), "\n")+"\n")
			continue
		}
		name := files[w.dice.IntN(len(files))]
		if w.dice.IntN(15) == 0 {
			renamed := fmt.Sprintf("r%d.txt", w.number)
			w.number++
			testfile.Must(w.T, os.Rename(filepath.Join(dir, name), filepath.Join(dir, renamed)))
			name = renamed
		}
		lines := strings.Split(strings.TrimSuffix(at.Content(name), "\n"), "\n")
		i := w.dice.IntN(len(lines))
		for w.between[lines[i]] == "" && i > 0 { // to the beginning of a block
			i--
		}
		if i > 0 && w.copied[lines[i-1]] != "" || w.pinned[lines[i]] { // no one changes a copy or its original, or it is a move
			lines = append(lines, w.block(author)...)
			at.Write(name, strings.Join(lines, "\n")+"\n")
			continue
		}
		switch w.dice.IntN(7) {
		case 0, 1, 2:
			lines = slices.Insert(lines, i, w.block(author)...)
		case 3:
			text := w.text()
			w.authors[text] = author
			if was := w.between[lines[i]]; was != "" {
				w.between[text] = was
			}
			lines[i] = text
		case 4:
			if len(lines) > 9 && i+3 <= len(lines) {
				w.dropped = append(w.dropped[max(len(w.dropped)-2, 0):], lines[i+1])
				lines = slices.Delete(lines, i, i+3)
			}
		case 5, 6: // a block of this file goes to another one, as a copy or not
			if len(lines) > 9 && i+3 <= len(lines) && letters(lines[i]+lines[i+2]) >= leastLetters {
				lines = w.carry(at, author, name, lines, i, files)
			}
		}
		at.Write(name, strings.Join(lines, "\n")+"\n")
	}
}

// carry copies or moves a block to the end of another file, and returns the lines of this one. A
// block after a line of the author is whose the line is.
func (w *world) carry(at testgit.Tree, author, name string, lines []string, i int, files []string) []string {
	other := files[w.dice.IntN(len(files))]
	if other == name || !slices.Contains(w.files(at.Dir), other) {
		return lines
	}
	block := slices.Clone(lines[i : i+3])
	if w.dice.IntN(2) == 0 {
		w.did("move of a block")
		lines = slices.Delete(lines, i, i+3)
	} else {
		w.did("copy of a block")
		w.number++
		mark := fmt.Sprintf("\tcopied%d := again(%d, input) // from another file", w.number, w.number)
		w.authors[mark], w.copied[mark], w.pinned[block[0]] = author, author, true
		block = append([]string{mark}, block...)
	}
	at.Write(other, at.Content(other)+strings.Join(block, "\n")+"\n")
	return lines
}

func (w *world) did(what string) { w.counts[what]++ }

// person commits what is there as another person.
func (w *world) person(dir, who string, args ...string) {
	at := testgit.Tree{T: w.T, Dir: dir}
	at.Git("add", "-A")
	if at.Git("status", "--porcelain") == "" {
		return
	}
	at.Git(slices.Concat([]string{"-c", "user.name=" + who, "-c", "user.email=" + who + "@example.com", "commit", "-qm", "Work of " + who,
		"--author=" + who + " <" + who + "@example.com>"}, args)...)
	w.commits++
}

// recorder writes the journal of a loop.
type recorder struct {
	*world
	*journal.Writer
	dir, id, name string
}

func (r *recorder) record(iter int, by string, p event.Payload) event.Seq {
	d := event.Encode(p, by)
	d.Iter = iter
	all, err := r.Append([]event.Draft{d})
	testfile.Must(r.T, err)
	return all[len(all)-1].Seq
}

// How an iteration leaves its work.
const (
	leaves      = iota // uncommitted
	loopCommits        // the loop commits all
	agentCommits
	agentCommitsSome
	manners
	cutOff // uncommitted, and its end is not kept
)

// loop lets a loop work in a folder. gone says that its journal is lost, and it commits all.
func (w *world) loop(dir string, gone bool) {
	ctx := context.Background()
	id := fmt.Sprintf("01LOOP%020d", len(w.loops)+len(w.gone))
	r := recorder{world: w, dir: filepath.Join(w.T.TempDir(), "loop"), id: id, name: "loop" + id[20:]}
	testfile.Must(w.T, os.MkdirAll(r.dir, 0o755))
	rec, err := journal.Recover(r.dir, journal.Options{})
	testfile.Must(w.T, err)
	r.Writer, _, err = journal.Create(r.dir, rec, 0, nil, journal.Options{})
	testfile.Must(w.T, err)
	r.record(0, "loop", event.LoopStarted{Name: r.name, ID: id, Project: dir, Agent: event.Agent{Protocol: "text"}})
	for n := 1; n <= 1+w.dice.IntN(3); n++ {
		manner := w.dice.IntN(manners)
		switch {
		case gone:
			manner = loopCommits
		case w.dice.IntN(15) == 0:
			manner = cutOff
		}
		r.iteration(ctx, dir, n, manner)
		w.did(fmt.Sprintf("iteration that leaves its work in way %d", manner))
		if !gone && w.dice.IntN(4) == 0 {
			w.edit(dir, "Bea", 1) // between iterations
		}
	}
	r.record(0, "loop", event.LoopEnded{Status: event.StatusCompleted})
	testfile.Must(w.T, r.Close())
	if gone {
		w.gone[r.name] = true
	} else {
		w.loops = append(w.loops, r.dir)
	}
}

func (r *recorder) iteration(ctx context.Context, dir string, n, manner int) {
	author := fmt.Sprintf("%s/%d", r.name, n)
	began := time.Now()
	before, err := repo.TakeSnapshot(ctx, dir)
	testfile.Must(r.T, err)
	r.record(n, "loop", event.RepoInspected{Root: ".", When: event.MomentBegin, Head: before.Head, Dirty: before.Dirty})
	snapshot, err := keep.BeforeIteration(ctx, dir, r.id, n, 20)
	testfile.Must(r.T, err)
	r.record(n, "loop", event.IterationStarted{N: n, Prompt: event.Blob{Text: "do the work"}, Snapshot: snapshot})
	r.edit(dir, author, 2)
	if manner == agentCommits || manner == agentCommitsSome {
		r.person(dir, "Ada") // an agent has the person's name
		r.edit(dir, author, 1)
		if manner == agentCommits {
			r.person(dir, "Ada")
		}
	}
	if manner == cutOff {
		r.record(n, "loop", event.IterationEnded{N: n, Outcome: event.OutcomeInterrupted})
		return
	}
	after, err := repo.TakeSnapshot(ctx, dir)
	testfile.Must(r.T, err)
	made, err := repo.Made(ctx, dir, before.Head, after.Head, began, time.Now())
	testfile.Must(r.T, err)
	cause := r.record(n, "loop", event.RepoInspected{Root: ".", When: event.MomentEnd, Head: after.Head, Dirty: after.Dirty, Made: made})
	checked := event.IterationChecked{}
	if after.Dirty {
		checked.Snapshot, err = keep.AfterIteration(ctx, dir, r.id, n)
		testfile.Must(r.T, err)
	}
	r.record(n, "loop", checked)
	if manner == loopCommits && after.Dirty {
		done, err := repo.Run(ctx, repo.Config{Dir: dir, Tasks: []string{"commit"}, AddUntracked: true, Message: "Work of " + author})
		testfile.Must(r.T, err)
		cause = r.record(n, "loop", event.RepoCommitted{SHA: done.SHA})
		made = append(made, done.SHA)
		r.commits++
	}
	if len(made) > 0 {
		note := provenance.Note{Loop: r.id, Name: r.name, Iteration: n, Seq: cause}
		testfile.Must(r.T, provenance.Write(ctx, dir, note, made))
	}
	r.record(n, "loop", event.IterationEnded{N: n, Outcome: event.OutcomeDone})
}

// worktree lets a loop work on a branch, lets people work on main meanwhile, and brings the branch
// to main.
func (w *world) worktree() {
	w.branches++
	branch := fmt.Sprintf("b%d", w.branches)
	side := filepath.Join(filepath.Dir(w.Dir), branch)
	w.Git("worktree", "add", "-q", "-b", branch, side)
	at := testgit.Tree{T: w.T, Dir: side}
	base := w.Head()
	w.loop(side, false)
	if w.dice.IntN(2) == 0 {
		w.edit(side, "Bea", 1)
	}
	w.person(side, "Bea")
	if w.dice.IntN(2) == 0 {
		w.edit(w.Dir, "Cid", 2)
		w.person(w.Dir, "Cid")
	}
	way := []string{"merge", "squash", "rebase", "cherry-pick", "amended rebase"}[w.dice.IntN(5)]
	var err error
	switch way {
	case "merge":
		if _, err = w.Try("merge", "-q", "--no-ff", "-m", "Merge "+branch, branch); err != nil {
			w.Git("merge", "--abort")
		}
	case "squash":
		if _, err = w.Try("merge", "-q", "--squash", branch); err != nil {
			w.Git("reset", "-q", "--hard")
		} else {
			w.person(w.Dir, "Bea")
		}
	case "rebase", "amended rebase":
		if _, err = at.Try("rebase", "-q", "main"); err != nil {
			at.Git("rebase", "--abort")
			break
		}
		if way != "rebase" {
			w.edit(side, "Bea", 1)
			at.Git("add", "-A")
			at.Git("commit", "-q", "--amend", "--no-edit")
		}
		w.Git("merge", "-q", "--ff-only", branch)
	case "cherry-pick":
		if base == at.Head() {
			return
		}
		if _, err = w.Try("cherry-pick", base+".."+branch); err != nil {
			_, _ = w.Try("cherry-pick", "--abort")
		}
	}
	if err != nil {
		way += " with a conflict, which was given up"
	}
	w.did(way)
}

func (w *world) step() {
	switch w.dice.IntN(12) {
	case 0, 1:
		w.edit(w.Dir, "Bea", 1+w.dice.IntN(3))
		w.person(w.Dir, "Bea")
		w.did("commit of a person")
	case 2:
		w.edit(w.Dir, "dependabot", 1)
		w.person(w.Dir, "dependabot")
		w.did("commit of a bot")
	case 3, 4, 5:
		if w.dice.IntN(2) == 0 {
			w.edit(w.Dir, "Bea", 1) // not committed when the loop begins
			w.did("change that is not committed when a loop begins")
		}
		w.loop(w.Dir, false)
		switch w.dice.IntN(3) {
		case 0:
			w.person(w.Dir, "Bea") // commits what the loop left
			w.did("commit of a person with what a loop left")
		case 1:
			w.edit(w.Dir, "Bea", 1)
			w.person(w.Dir, "Bea")
			w.did("commit of a person with what a loop left and more")
		}
	case 6, 7, 8:
		w.person(w.Dir, "Bea")
		w.worktree()
	case 9:
		w.person(w.Dir, "Bea")
		w.edit(w.Dir, "Bea", 1)
		w.Git("add", "-A")
		w.Git("-c", "user.name=Bea", "commit", "-q", "--amend", "--no-edit", "--allow-empty")
		w.did("amend")
	case 10:
		w.person(w.Dir, "Bea")
		if _, err := w.Try("revert", "--no-edit", "HEAD"); err != nil {
			_, _ = w.Try("revert", "--abort")
			return
		}
		w.commits++
		w.did("revert")
		if w.dice.IntN(2) == 0 {
			w.Git("revert", "--no-edit", "HEAD")
			w.commits++
			w.did("revert of a revert")
		}
	case 11:
		w.person(w.Dir, "Bea")
		w.loop(w.Dir, true)
		w.did("loop whose journal is lost")
	}
}

// check blames each line of each file, and counts the answers. unknown are those of work that was
// not cut off.
func (w *world) check() (lines, unknown, wrong int) {
	ctx := context.Background()
	h, err := open(ctx, w.Dir, os.Environ())
	testfile.Must(w.T, err)
	defer h.close()
	var loops []*provenance.Loop
	for _, dir := range w.loops {
		l, err := provenance.Read(dir)
		testfile.Must(w.T, err)
		loops = append(loops, l)
	}
	notes, err := provenance.Notes(ctx, w.Dir)
	testfile.Must(w.T, err)
	testfile.Must(w.T, h.use(ctx, loops, notes, func(*provenance.Loop) bool { return false }))
	reasons := map[string]int{}
	for _, name := range w.files(w.Dir) {
		a, texts, err := h.answer(ctx, name, []byte(w.Content(name)), 1, 0)
		testfile.Must(w.T, err)
		for _, r := range a.Ranges {
			for at := r.From; at <= r.To; at++ {
				lines++
				want, known := w.authors[texts[at-1]]
				if !known && at > 1 {
					want, known = w.between[texts[at-2]]
				}
				if !known {
					w.T.Fatalf("nobody wrote %s:%d: %q", name, at, texts[at-1])
				}
				for back := 2; back <= 4 && at >= back; back++ {
					if by := w.copied[texts[at-back]]; by != "" {
						want = by
					}
				}
				got := "unknown"
				switch {
				case r.By == byUnknown:
					unknown++
					reasons[r.Why]++
					continue
				case r.Loop != nil:
					got = fmt.Sprintf("%s/%d", r.Loop.Name, r.Loop.Iteration)
				case r.By == byPerson:
					got = "a person"
				}
				if strings.HasPrefix(want, "loop") != (r.Loop != nil) || r.Loop != nil && got != want {
					wrong++
					if wrong < 20 {
						w.T.Errorf("%s:%d %q: %s wrote it, and blame says %s (%s, %s), verified %v, in %+v", name, at, texts[at-1], want, got, r.How, r.Why, r.Verified, r.Commit)
					}
				}
				if name, _, _ := strings.Cut(want, "/"); (r.By == byNote) != w.gone[name] && r.Loop != nil {
					w.T.Errorf("%s:%d: %s, but the journal of %s is lost: %v", name, at, r.By, name, w.gone[name])
				}
			}
		}
	}
	for reason, n := range reasons {
		w.T.Logf("unknown: %4d written %s", n, reason)
		if strings.HasSuffix(reason, "whose end is not kept") { // which nothing can know
			unknown -= n
		}
	}
	return lines, unknown, wrong
}

// A table of commits by people, bots and loops: no answer is wrong, and few are unknown.
func TestBlameOfManyCommits(t *testing.T) {
	commits, seeds := 200, []uint64{1, 2}
	if testing.Short() {
		commits, seeds = 40, []uint64{4}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := world{Tree: testgit.Born(t), dice: rand.New(rand.NewPCG(seed, 28)), authors: map[string]string{}, between: map[string]string{},
				copied: map[string]string{}, pinned: map[string]bool{}, gone: map[string]bool{}, counts: map[string]int{}}
			for w.commits < commits {
				w.step()
			}
			lines, unknown, wrong := w.check()
			t.Logf("%s commits, %d loops, %v", w.Git("rev-list", "--count", "--all"), len(w.loops), w.counts)
			t.Logf("%d lines: %d wrong, %d unknown", lines, wrong, unknown)
			if unknown*10 > lines || wrong > 0 {
				t.Errorf("%d of %d lines are unknown", unknown, lines)
			}
		})
	}
}
