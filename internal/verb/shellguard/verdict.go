package shellguard

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Decision says what to do with a command.
type Decision string

// The decisions, from the weakest to the strongest.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask" // a person decides; without one, the command does not run
	Deny  Decision = "deny"
)

// rank orders decisions: the strongest has the lowest, and so has a word that is none.
func (d Decision) rank() int {
	return slices.Index([]Decision{Deny, Ask, Allow}, d)
}

// A Category is a kind of danger. Its text is the word that settings use.
type Category string

// The categories.
const (
	Files       Category = "files"
	Disks       Category = "disks"
	History     Category = "history"
	Credentials Category = "credentials"
	Upload      Category = "exfiltration"
	RemoteShell Category = "remote-shell"
	Privilege   Category = "privilege"
	Publish     Category = "publish"
	Cloud       Category = "cloud"
	Database    Category = "database"
	Permissions Category = "permissions"
	Processes   Category = "processes"
	System      Category = "system"
	Encoding    Category = "encoding"
	Eval        Category = "eval"
	Download    Category = "download"
	ForkBomb    Category = "fork-bomb"
	GitConfig   Category = "git-config"
	Ralph       Category = "ralph"
	Container   Category = "container"
	Persistence Category = "persistence"
	Firewall    Category = "firewall"
	Tracks      Category = "tracks"

	Rule    Category = "rule"    // a prefix of Context.Deny
	Unknown Category = "unknown" // the text does not say what would run
)

// meanings describes each category, in the order that people see.
var meanings = []struct {
	Category
	text string
}{
	{Files, "removing or overwriting files that a task does not own: the project, the home folder, the system"},
	{Disks, "formatting, partitioning or overwriting disks"},
	{History, "rewriting or removing history of the repository, forced pushes, removing remote branches"},
	{Credentials, "printing or copying keys, tokens and passwords"},
	{Upload, "sending files to other machines"},
	{RemoteShell, "giving another machine a shell or a tunnel"},
	{Privilege, "running as another user, and changing users"},
	{Publish, "publishing packages, images and releases"},
	{Cloud, "removing or changing what runs elsewhere"},
	{Database, "dropping or emptying databases"},
	{Permissions, "opening files to every user, or changing owners outside of the project"},
	{Processes, "ending processes by name or all at once"},
	{System, "stopping or reconfiguring the machine"},
	{Encoding, "running text that is hidden by an encoding"},
	{Eval, "running text that came from elsewhere at run time"},
	{Download, "running what was just downloaded"},
	{ForkBomb, "functions that start themselves again and again"},
	{GitConfig, "configuration of git that runs programs"},
	{Ralph, "changing ralph's own files and settings, the guardrails, or other loops"},
	{Container, "containers with power over the machine, and removing all containers or volumes"},
	{Persistence, "programs that start by themselves later: cron, services, start-up files of shells"},
	{Firewall, "changing firewalls and routes"},
	{Tracks, "removing logs and the record of what was done"},
}

// Categories returns all categories that can be switched off.
func Categories() []Category {
	var all []Category
	for _, m := range meanings {
		all = append(all, m.Category)
	}
	return all
}

// Meaning describes a category in one line; empty for a word that is none.
func (c Category) Meaning() string {
	for _, m := range meanings {
		if m.Category == c {
			return m.text
		}
	}
	return ""
}

// A Context is what Judge knows beside the command. All paths are absolute, with slashes.
type Context struct {
	Dir     string // where the command begins; empty if unknown
	Project string // the root of the project; Dir if empty
	Home    string // the person's home folder; empty if unknown

	// Env returns the value of a variable of the shell's environment. It may be nil.
	Env func(name string) (value string, ok bool)
	// Clean reports whether all files of the work tree around a folder are committed, so that none
	// is lost if they are put back. It may be nil.
	Clean func(dir string) bool

	// Allow and Deny are commands by their first words, such as "git push --force". Deny is
	// stronger than Allow, and Allow is stronger than any category.
	Allow, Deny []string

	Off       []Category // categories that are not judged
	Unknown   Decision   // for what cannot be judged; Ask if empty
	Protected []string   // files and folders that only a person may change
}

// A Verdict is the answer of Judge.
type Verdict struct {
	Decision Decision `json:"decision"`
	Category Category `json:"category,omitempty"`
	Reason   string   `json:"reason,omitempty"`  // one or two sentences; empty if allowed
	Command  string   `json:"command,omitempty"` // the simple command that decided, "…" for unknown text
}

// Judge judges the text of a command, in the language of bash; zsh and POSIX shells are tried too.
func Judge(command string, in Context) (v Verdict) {
	j := newJudgement(in)
	defer func() {
		// A defect of the parser or of a rule must not become an allowed command.
		if r := recover(); r != nil {
			j.unknown("", "the guard failed on it")
			v = j.verdict
		}
	}()
	j.root().script(command, input{})
	return j.verdict
}

// JudgeRead judges that a tool other than the shell shows a file to the model.
func JudgeRead(file string, in Context) Verdict {
	j := newJudgement(in)
	s := j.root()
	s.running = &running{words: []string{"read", file}}
	s.read(file)
	return j.verdict
}

// JudgeWrite judges that a tool other than the shell changes a file.
func JudgeWrite(file string, in Context) Verdict {
	j := newJudgement(in)
	s := j.root()
	s.running = &running{words: []string{"write", file}}
	s.write(file)
	return j.verdict
}

// A judgement is the work on one command: the strongest verdict so far, and what is left of the
// bound on the work.
type judgement struct {
	Context
	verdict Verdict
	steps   int
	depth   int
	// elsewhere says that git may work in another tree than that of the folder, or that what was
	// stashed may be in it: Clean does not answer for that.
	elsewhere bool
}

const (
	maxSteps = 200_000 // of statements, words and values
	maxDepth = 200     // of statements in statements, and texts in texts
)

func newJudgement(in Context) *judgement {
	fill()
	if in.Project == "" {
		in.Project = in.Dir
	}
	if in.Unknown == "" {
		in.Unknown = Ask
	}
	return &judgement{Context: in, verdict: Verdict{Decision: Allow}, steps: maxSteps}
}

// root returns the shell that the text begins in.
func (j *judgement) root() *shell {
	return &shell{judgement: j, running: &running{}, state: state{
		dir: j.Dir, vars: map[string]value{}, funcs: map[string]*syntax.Stmt{}, unsure: map[string]bool{}, files: map[string]string{},
	}}
}

// spend uses up a part of the bound. It returns false when nothing is left.
func (j *judgement) spend(steps int) bool {
	if j.steps < 0 {
		return false
	}
	if j.steps -= steps; j.steps < 0 {
		j.unknown("", "it is too long")
		return false
	}
	return true
}

// enter is called before each recursion. If it returns true, leave is called afterwards.
func (j *judgement) enter() bool {
	if !j.spend(1) {
		return false
	}
	if j.depth >= maxDepth {
		j.unknown("", "it is nested too deep")
		return false
	}
	j.depth++
	return true
}

func (j *judgement) leave() { j.depth-- }

// add keeps the stronger of two verdicts, and the first of two equal ones.
func (j *judgement) add(v Verdict) {
	if v.Decision.rank() < j.verdict.Decision.rank() && !slices.Contains(j.Off, v.Category) {
		j.verdict = v
	}
}

func (j *judgement) unknown(command, what string) {
	j.add(Verdict{j.Context.Unknown, Unknown, "unknown: " + what + ". Write the command with its values in plain text.", command})
}

// running is the simple command that is judged now.
type running struct {
	words   []string
	allowed bool // by Context.Allow
}

func (r *running) text() string { return Printable(strings.Join(r.words, " ")) }

// deny and ask report what the running command would do.
func (s *shell) deny(c Category, reason string) { s.find(Deny, c, reason) }
func (s *shell) ask(c Category, reason string)  { s.find(Ask, c, reason) }

func (s *shell) find(d Decision, c Category, reason string) {
	if s.running.allowed {
		return
	}
	s.add(Verdict{d, c, Printable(reason), s.running.text()})
}

// cannotJudge reports that the text does not say what the running command does.
func (s *shell) cannotJudge(what string) {
	if !s.running.allowed {
		s.unknown(s.running.text(), what)
	}
}
