//go:build unix

package main

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/ralph-loop/ralph/internal/testkit/testseed"
)

var (
	lostSequences = flag.Int("lost.sequences", 50, "how many sequences TestNothingIsLost plays")
	lostFirst     = flag.Int("lost.first", 0, "the first of them")
)

// TestNothingIsLost plays sequences of verbs and effects that remove or replace files, on
// repositories of all kinds, with a person's actions between and during them, and with a KILL at a
// call of git. After each verb, each content that was there before it is in a file, in what git
// keeps of it for a person, or under a name that 'ralph status' or the verb itself shows.
//
// A sequence is drawn from its number. One that fails prints the command that plays it again.
func TestNothingIsLost(t *testing.T) {
	leaveToScript(t)
	var all lostTally
	t.Run("sequences", func(t *testing.T) {
		for n := range *lostSequences {
			n += *lostFirst
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				plan := rapid.Custom(drawLost).Example(n + 1)
				w := newLostWorld(t, &all, fmt.Sprintf("repeat it with: go test ./cmd/ralph -run TestNothingIsLost -args -lost.first=%d -lost.sequences=1\n%+v", n, plan))
				w.play(plan)
			})
		}
	})
	t.Logf("verbs that succeeded, and those that were killed: %v, %v", all.done, all.killed)
	if *lostSequences < 50 {
		return
	}
	for _, verb := range []string{"merge", "clean", "rollback", "fork", "export", "import", "put-back", "review"} {
		if all.done[verb] == 0 {
			t.Errorf("no %s succeeded, so nothing was tested of it", verb)
		}
	}
}

// lostTally counts verbs of all sequences.
type lostTally struct {
	mu           sync.Mutex
	done, killed map[string]int
}

func (c *lostTally) count(verb string, killed, done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done, c.killed = map[string]int{}, map[string]int{}
	}
	if killed {
		c.killed[verb]++
	} else if done {
		c.done[verb]++
	}
}

// A lostPlan is one sequence.
type lostPlan struct {
	Kind   string   // of the repository
	Has    []string // what is in it
	Loop   string   // what the loop does
	Agent  []string // what its agent does
	Kill   int      // the call of git at which its runner is ended; 0 is none
	Person []string // what a person does before the loop
	Steps  []lostStep
}

// A lostStep is a verb and what happens around it.
type lostStep struct {
	Before []string // a person's actions
	Verb   string
	// At is the call of git at which During happens; 0 is none.
	At     int
	During string // "kill", "kill after", or a person's action
}

// Actions are lines of shell that use C, a new content, and are the same for agents and persons.
var lostActions = map[string]string{
	"change a file":            `C > a.txt`,
	"change a folder's file":   `mkdir -p dir && C > dir/b.txt`,
	"make a file":              `C > new.txt`,
	"make one in a folder":     `mkdir -p fresh/deep && C > fresh/deep/n.txt`,
	"make an ignored file":     `C > secret.env`,
	"make an ignored folder":   `mkdir -p build && C > build/out`,
	"change a filtered file":   `C > pic.big`,
	"change a sparse file":     `mkdir -p sparse && C > sparse/s.txt`,
	"remove a file":            `rm -f a.txt`,
	"remove a folder":          `rm -rf dir`,
	"a folder for a file":      `rm -rf a.txt && mkdir -p a.txt && C > a.txt/inside`,
	"a file for a folder":      `rm -rf dir && C > dir`,
	"a link for a file":        `rm -rf a.txt && ln -s new.txt a.txt`,
	"a program":                `C > run.sh && chmod 755 run.sh`,
	"a private file":           `C > private && chmod 600 private`,
	"stage a file":             `C > staged.txt && git add staged.txt`,
	"stage and change":         `C > staged.txt && git add staged.txt && C > staged.txt`,
	"stage all":                `git add -A`,
	"commit":                   `C > committed.txt && git add -A && git commit -qm commit`,
	"commit an ignored file":   `C > secret.env && git add -f secret.env && git commit -qm secret`,
	"commit an ignored folder": `mkdir -p build && C > build/out && git add -f build && git commit -qm build`,
	"commit a new rule":        `echo '*.txt' >> .gitignore && C > hidden.txt && git commit -qam rule`,
	"stash":                    `C > a.txt && git stash -q`,
	"move a file":              `mv a.txt moved.txt`,
	"change inside":            `test -d inside && C > inside/i.txt`,
	"commit inside":            `test -d inside && C > inside/i.txt && git -C inside add -A && git -C inside commit -qm inside`,
	"commit in a submodule":    `test -d sub && C > sub/m.txt && git -C sub add -A && git -C sub commit -qm sub`,
	"a repository in a folder": `mkdir -p dir && C > dir/r.txt && git -C dir init -q`,
	"a repository, committed":  `mkdir -p nested && git -C nested init -q && C > nested/r.txt && git -C nested add -A && git -C nested commit -qm nested`,
	"leave a commit":           `git checkout -q --detach && C > left.txt && git add -A && git commit -qm left && git checkout -q -`,
	"another branch":           `git checkout -qb other-$$ && C > other.txt && git add other.txt && git commit -qm other`,
	"amend":                    `C > a.txt && git commit -qa --amend -m amended`,
	"merge main":               `git merge -q main`,
	"write put-back":           `rm -rf guard.sh; C > guard.sh`,
	"make the last file":       `rm -rf last.txt; C > last.txt`,
}

// Meanwhile a person only adds, or has a copy in OVER of what is overwritten: else it would not be
// known who removed it.
var lostMeanwhile = map[string]string{
	"edit a file meanwhile":   `test -f a.txt && ! test -h a.txt && cp a.txt "$OVER/1" && C > a.txt`,
	"edit another meanwhile":  `test -f dir/b.txt && ! test -h dir && cp dir/b.txt "$OVER/2" && C > dir/b.txt`,
	"make a file meanwhile":   `C > meanwhile.txt`,
	"ignored meanwhile":       `test -e meanwhile.env || C > meanwhile.env`,
	"stage meanwhile":         `C > meanwhile2.txt && git add meanwhile2.txt`,
	"commit meanwhile":        `C > meanwhile3.txt && git add meanwhile3.txt && git commit -qm meanwhile meanwhile3.txt`,
	"a new folder, meanwhile": `mkdir -p fresh/deep && test ! -e fresh/deep/m.txt && C > fresh/deep/m.txt`,
}

// sortedNames returns the names of actions.
func sortedNames(actions map[string]string) []string {
	return slices.Sorted(maps.Keys(actions))
}

// drawLost draws a sequence.
func drawLost(t *rapid.T) lostPlan {
	actions := func(label string, most int) []string {
		return rapid.SliceOfN(rapid.SampledFrom(sortedNames(lostActions)), 0, most).Draw(t, label)
	}
	p := lostPlan{
		Kind: rapid.SampledFrom([]string{"plain", "plain", "plain", "unborn", "detached", "rebase", "bare"}).Draw(t, "kind"),
		Has:  rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"submodule", "inside", "sparse", "filter", "stash", "staged", "ignored"}), 0, 5, rapid.ID).Draw(t, "has"),
		Loop: rapid.SampledFrom([]string{"worktree", "worktree", "worktree", "here", "here", "guardrail", "review"}).Draw(t, "loop"),
	}
	p.Agent = append(actions("agent", 4), rapid.SampledFrom([]string{"commit", "commit", "commit an ignored file", "commit an ignored folder", "change a file"}).Draw(t, "last"))
	p.Person = actions("person", 2)
	verbs := []string{"rollback", "rollback", "rollback kept", "clean", "fork", "export", "import"}
	if p.Loop == "worktree" {
		verbs = append(verbs, "merge", "merge", "merge", "merge --squash", "merge --no-ff", "merge --squash", "clean", "clean")
	}
	if p.Loop == "review" && rapid.Bool().Draw(t, "killed") {
		p.Kill = rapid.IntRange(30, 110).Draw(t, "kill")
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "steps") {
		s := lostStep{Before: actions("before", 2), Verb: rapid.SampledFrom(verbs).Draw(t, "verb")}
		if i == 0 && p.Loop == "worktree" && rapid.Bool().Draw(t, "merge first") {
			// Most others are refused for another reason, so less is in the way of this one.
			p.Kind, p.Person, p.Agent = "plain", nil, p.Agent[len(p.Agent)-1:]
			s.Verb, s.Before = "merge", actions("before the merge", 1)
		}
		switch rapid.IntRange(0, 3).Draw(t, "what happens") {
		case 1:
			s.During = rapid.SampledFrom(sortedNames(lostMeanwhile)).Draw(t, "during")
		case 2:
			s.During = "kill"
		case 3:
			s.During = "kill after"
		}
		if s.During != "" {
			s.At = rapid.IntRange(1, 40).Draw(t, "at")
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// A lostWorld is a machine with one project.
type lostWorld struct {
	*testing.T
	about         string
	all           *lostTally
	root, project string
	env           []string
	contents      int // made so far
	exported      string
	history       []string
	must          map[int]bool // contents that have to be somewhere
}

func newLostWorld(t *testing.T, all *lostTally, about string) *lostWorld {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &lostWorld{T: t, about: about, all: all, root: root, project: filepath.Join(root, "project"), must: map[int]bool{}}
	home := filepath.Join(root, "ralph-home")
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "RALPH_") {
			w.env = append(w.env, entry)
		}
	}
	w.env = append(w.env, "HOME="+root, "RALPH_HOME="+home, "RALPH_TRUST=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org", "EDITOR=true")
	t.Cleanup(func() { endRunners(home) })
	w.put(".gitconfig", "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[protocol \"file\"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	// A git that counts its calls, and lets something happen at one of them.
	w.put("bin/git", `#!/bin/sh
[ -n "$LOST_DIR" ] || exec `+real+` "$@"
n=0
[ ! -f "$LOST_DIR/calls" ] || read n < "$LOST_DIR/calls"
n=$((n + 1))
echo $n > "$LOST_DIR/calls"
[ "$n" = "$LOST_AT" ] || exec `+real+` "$@"
case $LOST_DURING in
kill) kill -9 $PPID; exit 1 ;;
"kill after") `+real+` "$@"; kill -9 $PPID; exit 1 ;;
*) (OVER=$LOST_DIR; export OVER; unset LOST_DIR GIT_INDEX_FILE; cd "$LOST_PROJECT" && sh "$OVER/during.sh" </dev/null >/dev/null 2>&1) ;;
esac
exec `+real+` "$@"
`)
	return w
}

// put writes a file below the root, which may be run.
func (w *lostWorld) put(name, text string) {
	w.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := writeProgram(path, strings.NewReader(text)); err != nil {
		w.Fatal(err)
	}
}

// content returns a new content, without a newline.
func (w *lostWorld) content() string {
	w.contents++
	return fmt.Sprintf("content %d", w.contents)
}

// script spells actions as a shell script, each with contents of its own.
func (w *lostWorld) script(actions []string) string {
	text := "set +e\n"
	for _, name := range actions {
		line := cmp.Or(lostActions[name], lostMeanwhile[name])
		for strings.Contains(line, "C >") {
			line = strings.Replace(line, "C >", fmt.Sprintf("echo '%s' >", w.content()), 1)
		}
		text += line + "\n"
	}
	return text + "true\n"
}

// sh runs a script in a folder. What fails in it is a person's mistake.
func (w *lostWorld) sh(dir, script string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = dir, w.env
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("%s\n%v\n%s\n%s", script, err, out, w.about)
	}
}

// make makes the repository.
func (w *lostWorld) make(p lostPlan) {
	has := func(what string) bool { return slices.Contains(p.Has, what) }
	base := `git init -q .
printf '*.env\nbuild/\n.ralph/\n' > .gitignore
mkdir -p dir sparse ralph
echo '` + w.content() + `' > a.txt
echo '` + w.content() + `' > dir/b.txt
echo '` + w.content() + `' > sparse/s.txt
printf 'true\n' > guard.sh
`
	if has("filter") {
		base += "git config filter.store.clean 'sed s/^/stored:/'\ngit config filter.store.smudge 'sed s/^stored://'\necho '*.big filter=store' > .gitattributes\necho '" + w.content() + "' > pic.big\n"
	}
	if p.Loop == "review" {
		base += "printf '%s' '" + lostTasks + "' > ralph/tasks.json\nprintf '# Progress\\n' > ralph/progress.txt\necho .ralph-active >> .gitignore\n"
	}
	commit := "git add -A && git commit -qm one\necho '" + w.content() + "' > a.txt && git commit -qam two\n"
	if err := os.MkdirAll(w.project, 0o755); err != nil {
		w.Fatal(err)
	}
	switch p.Kind {
	case "unborn":
		w.sh(w.project, base)
	case "bare":
		w.sh(w.root, "mkdir seed && cd seed\n"+base+commit+"cd .. && git clone -q --bare seed bare.git && rm -rf seed project && git -C bare.git worktree add -q ../project main")
	default:
		w.sh(w.project, base+commit)
	}
	born := p.Kind != "unborn"
	if has("submodule") && born {
		w.sh(w.root, "git init -q lib && cd lib && echo '"+w.content()+"' > m.txt && git add -A && git commit -qm lib && cd ../project && git submodule --quiet add ../lib sub && git commit -qm sub")
	}
	if has("inside") {
		w.sh(w.project, "git init -q inside && cd inside && echo '"+w.content()+"' > i.txt && git add -A && git commit -qm inside")
	}
	if has("sparse") && born {
		w.sh(w.project, "git sparse-checkout set --no-cone '/*' '!/sparse/'")
	}
	if has("stash") && born {
		w.sh(w.project, "echo '"+w.content()+"' > dir/b.txt && git stash -q")
	}
	if has("ignored") {
		w.sh(w.project, "mkdir -p build && echo '"+w.content()+"' > build/out && echo '"+w.content()+"' > secret.env")
	}
	switch p.Kind {
	case "detached":
		w.sh(w.project, "git checkout -q --detach")
	case "rebase":
		w.sh(w.project, "GIT_SEQUENCE_EDITOR=\"sed -i.bak 1s/pick/edit/\" git rebase -q -i HEAD~1 >/dev/null 2>&1; true")
	}
	if has("staged") {
		w.sh(w.project, "echo '"+w.content()+"' > staged.txt && git add staged.txt && echo '"+w.content()+"' > staged.txt")
	}
}

const lostTasks = `{"project": "p", "branchName": "", "description": "d", "verifyCommands": [], "userStories": [{"id": "US-1", "title": "t", "description": "", "acceptanceCriteria": ["c"], "priority": 1, "passes": false, "reviewStatus": "needs_review", "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": []}]}`

// ralph runs the program. killed says that it, or its runner, was ended by the step.
func (w *lostWorld) ralph(s lostStep, in string, args ...string) (out string, ok, killed bool) {
	w.Helper()
	dir, err := os.MkdirTemp(w.root, "calls")
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.Context(), "ralph", args...)
	cmd.Dir, cmd.Env = in, append(slices.Clone(w.env), "PATH="+filepath.Join(w.root, "bin")+":"+os.Getenv("PATH"))
	if s.At > 0 {
		cmd.Env = append(cmd.Env, "LOST_DIR="+dir, fmt.Sprint("LOST_AT=", s.At), "LOST_DURING="+s.During, "LOST_PROJECT="+w.project)
		if !strings.HasPrefix(s.During, "kill") {
			w.put(filepath.Base(dir)+"/during.sh", w.script([]string{s.During}))
		}
	}
	said, err := cmd.CombinedOutput()
	out = string(said)
	if strings.Contains(out, "goroutine 1 [") {
		w.Fatalf("%v: %s\n%s", args, out, w.about)
	}
	var calls int
	if text, err := os.ReadFile(filepath.Join(dir, "calls")); err == nil {
		_, _ = fmt.Sscan(string(text), &calls)
	}
	happened := s.At > 0 && calls >= s.At
	killed = happened && strings.HasPrefix(s.During, "kill")
	if happened && !killed {
		w.meanwhile(dir)
	}
	w.history = append(w.history, fmt.Sprintf("ralph %s: %v, %d calls, %s at %d\n%s", strings.Join(args, " "), err, calls, s.During, s.At, out))
	return out, err == nil, killed
}

// blobs returns the names that git gives to a content, with and without the filter.
func blobs(n int) (ids []string) {
	for _, prefix := range []string{"", "stored:", "stored:stored:"} {
		text := fmt.Sprintf("%scontent %d\n", prefix, n)
		sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
		ids = append(ids, hex.EncodeToString(sum[:]))
	}
	return ids
}

// findIDs adds the objects that git finds from names, and reports whether it knows them all.
func (w *lostWorld) findIDs(found map[string]bool, dir string, args ...string) bool {
	cmd := exec.CommandContext(w.Context(), "git", append([]string{"-C", dir, "rev-list", "--objects", "--ignore-missing"}, args...)...)
	cmd.Env = w.env
	out, err := cmd.Output()
	for line := range strings.Lines(string(out)) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[id] = true
	}
	return err == nil
}

// visible returns the objects that a person finds: in files, and in branches, tags, the stash, HEAD
// and the index of each repository. ralph's own files are none.
func (w *lostWorld) visible() map[string]bool {
	found := map[string]bool{}
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it has gone meanwhile
		}
		inside, _ := filepath.Rel(w.root, path)
		switch parts := strings.Split(inside, string(filepath.Separator)); {
		case entry.Name() == ".git" || entry.Name() == "bare.git":
			if entry.Name() == ".git" && (len(parts) < 3 || parts[len(parts)-3] != ".ralph") { // that of a loop's folder is none
				w.inRepository(found, filepath.Dir(path))
			}
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case parts[0] == "bin", strings.HasPrefix(parts[0], "calls"), parts[0] == "ralph-home":
			return filepath.SkipDir
		case entry.IsDir() && len(parts) > 2 && parts[len(parts)-3] == ".ralph" && entry.Name() != "worktree":
			return filepath.SkipDir
		case entry.Type().IsRegular():
			if text, err := os.ReadFile(path); err == nil {
				sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...))
				found[hex.EncodeToString(sum[:])] = true
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return found
}

func (w *lostWorld) inRepository(found map[string]bool, dir string) {
	names := []string{"--branches", "--tags", "--remotes", "--indexed-objects", "--glob=refs/stash"}
	if !w.findIDs(found, dir, append(names, "HEAD")...) {
		w.findIDs(found, dir, names...) // nothing was committed
	}
}

// shown adds what the names lead to that ralph shows: in what it printed, and in the state of each
// loop.
func (w *lostWorld) shown(found map[string]bool, printed string) {
	loops, _ := filepath.Glob(filepath.Join(w.project, ".ralph", "*", "journal"))
	more, _ := filepath.Glob(filepath.Join(w.root, "other*", ".ralph", "*", "journal"))
	for _, journal := range append(loops, more...) {
		name, dir := filepath.Base(filepath.Dir(journal)), filepath.Dir(filepath.Dir(filepath.Dir(journal)))
		cmd := exec.CommandContext(w.Context(), "ralph", "status", name, "--json")
		cmd.Dir, cmd.Env = dir, w.env
		out, err := cmd.Output()
		var s struct{ Kept []struct{ Name string } }
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		if err != nil {
			continue // of a loop that never began
		}
		for _, kept := range s.Kept {
			if !filepath.IsAbs(kept.Name) {
				w.findIDs(found, dir, kept.Name)
			} else if text, err := os.ReadFile(kept.Name); err == nil {
				sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...))
				found[hex.EncodeToString(sum[:])] = true
			}
		}
	}
	for _, ref := range regexp.MustCompile(`refs/ralph/[\w./-]*\w`).FindAllString(printed, -1) {
		w.findIDs(found, w.project, ref)
	}
}

// remember takes note of what is there. What a person, or an agent, has removed is forgotten.
func (w *lostWorld) remember() {
	found, all := w.visible(), false
	is := func(n int) bool {
		return slices.ContainsFunc(blobs(n), func(id string) bool { return found[id] })
	}
	for n := range w.contents + 1 {
		if w.must[n] && !is(n) && !all {
			w.shown(found, "")
			all = true
		}
		if is(n) {
			w.must[n] = true
		} else {
			delete(w.must, n)
		}
	}
}

// check fails if something is gone.
func (w *lostWorld) check(printed string) {
	w.Helper()
	found := w.visible()
	gone := func() (gone []int) {
		for n := range w.must {
			if !slices.ContainsFunc(blobs(n), func(id string) bool { return found[id] }) {
				gone = append(gone, n)
			}
		}
		return gone
	}
	if len(gone()) == 0 {
		return
	}
	w.shown(found, printed)
	if lost := gone(); len(lost) > 0 {
		slices.Sort(lost)
		w.Fatalf("contents %v are gone\n%s\n%s", lost, strings.Join(w.history, "\n"), w.about)
	}
}

// person acts in the project.
func (w *lostWorld) person(actions []string) {
	if len(actions) == 0 {
		return
	}
	w.history = append(w.history, "a person: "+strings.Join(actions, ", "))
	w.sh(w.project, w.script(actions))
}

// meanwhile takes note of what a person did while a verb ran: what was overwritten may be gone.
func (w *lostWorld) meanwhile(dir string) {
	for _, name := range []string{"1", "2"} {
		var n int
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			if _, err := fmt.Sscanf(string(text), "content %d", &n); err == nil {
				delete(w.must, n)
			}
		}
	}
}

// loop lets a loop work, whose agent acts.
func (w *lostWorld) loop(p lostPlan) {
	actions, last := p.Agent, 0
	switch p.Loop {
	case "guardrail":
		actions = append(slices.Clone(actions), "write put-back")
	case "review":
		// What git ignores is neither kept nor undone.
		actions = slices.DeleteFunc(slices.Clone(actions), func(name string) bool { return strings.Contains(name, "ignored") || strings.Contains(name, "rule") })
		actions = append(actions, "make the last file")
	}
	w.put("agent.sh", "#!/bin/sh\n[ -t 0 ] || cat >/dev/null\n"+w.script(actions)+"touch "+filepath.Join(w.root, "agent.done")+"\n")
	last = w.contents
	w.put("agent.rehearsal", "# Reviews.\niteration *\n  run sh "+filepath.Join(w.root, "agent.sh")+"\n")
	args := []string{"run", "--name", "l", "-m", "1"}
	switch p.Loop {
	case "review":
		args = append(args, "--tasks", "--agent", "ralph rehearse "+filepath.Join(w.root, "agent.rehearsal"))
	case "worktree":
		args = append(args, "--worktree")
		fallthrough
	default:
		if p.Loop == "guardrail" {
			args = append(args, "--anyway", "--set", `guardrails=[{"command":"sh guard.sh","protect":true}]`)
		}
		args = append(args, "-p", "x", "--protocol", "text", "--agent", "sh "+filepath.Join(w.root, "agent.sh"))
	}
	_, _, killed := w.ralph(lostStep{At: p.Kill, During: "kill"}, w.project, args...)
	if killed {
		_, _, _ = w.ralph(lostStep{}, w.project, "kill", "l")
	}
	dir := filepath.Join(w.project, ".ralph", "l")
	switch p.Loop {
	case "worktree":
		w.check("") // nothing of the person's work tree is touched
	case "guardrail":
		if kept, _ := filepath.Glob(filepath.Join(dir, "put-back", "*")); len(kept) > 0 {
			w.all.count("put-back", false, true)
		}
		w.remember()
		w.must[last] = true
		w.check("")
	case "review":
		if killed {
			w.all.count("review", true, false)
			if _, err := os.Stat(filepath.Join(w.root, "agent.done")); err == nil {
				w.must[last] = true
			}
			w.check("")
			return
		}
		undone, _, _ := w.ralph(lostStep{}, w.project, "logs", "l", "--json", "--type", "review.undone")
		if strings.Contains(undone, `"refused":true`) || strings.Contains(undone, `"error"`) || undone == "" {
			w.remember()
			return
		}
		w.all.count("review", false, true)
		w.must[last] = true
		w.check("")
	default:
		w.remember()
	}
}

// verb returns the arguments of a verb, and the folder in which it runs; nil if there is nothing to
// do.
func (w *lostWorld) verb(verb string, step int) (in string, args []string) {
	switch words := strings.Fields(verb); words[0] {
	case "rollback":
		if verb == "rollback" {
			return w.project, []string{"rollback", "l", "1", "--yes"}
		}
		out, _, _ := w.ralph(lostStep{}, w.project, "status", "l", "--json")
		if ref := regexp.MustCompile(`refs/ralph/[\w./-]*\w`).FindString(out); ref != "" {
			return w.project, []string{"rollback", "l", ref, "--yes"}
		}
		return "", nil
	case "clean":
		return w.project, []string{"clean", "--yes"}
	case "fork":
		return w.project, []string{"fork", "l", "--at", "1", "--no-start", "--as", fmt.Sprint("f", step)}
	case "export":
		w.exported = filepath.Join(w.root, fmt.Sprint("l", step, ".ralph"))
		return w.project, []string{"export", "l", "-o", w.exported}
	case "import":
		if w.exported == "" {
			w.exported = filepath.Join(w.root, "l.ralph")
			_, _, _ = w.ralph(lostStep{}, w.project, "export", "l", "-o", w.exported)
			_, _, _ = w.ralph(lostStep{}, w.project, "export", "l", "--undo")
		}
		other := filepath.Join(w.root, fmt.Sprint("other", step))
		if step%2 == 0 {
			return w.project, []string{"import", w.exported, "--into", other}
		}
		w.sh(w.root, "git clone -q project "+other+" 2>/dev/null || git init -q "+other+"; cd "+other+" && echo '"+w.content()+"' > mine.txt")
		w.remember()
		return other, []string{"import", w.exported}
	default:
		return w.project, append([]string{words[0], "l", "--no-check"}, words[1:]...)
	}
}

// play plays a sequence.
func (w *lostWorld) play(p lostPlan) {
	w.make(p)
	w.person(p.Person)
	w.remember()
	w.loop(p)
	for i, s := range p.Steps {
		w.person(s.Before)
		w.remember()
		in, args := w.verb(s.Verb, i)
		if args == nil {
			continue
		}
		out, ok, killed := w.ralph(s, in, args...)
		w.check(out)
		w.all.count(args[0], killed, ok)
		if killed { // the same again does the rest
			out, _, _ = w.ralph(lostStep{}, in, args...)
			w.check(out)
		}
		if args[0] == "export" {
			_, _, _ = w.ralph(lostStep{}, w.project, "export", "l", "--undo")
		}
	}
}
