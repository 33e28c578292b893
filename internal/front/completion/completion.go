package completion

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A Candidate is a word that may come next.
type Candidate struct {
	Word string
	Help string // a few words about it; may be empty
	open bool   // the word is not complete: no blank follows it
}

// Answer is what may come next.
type Answer struct {
	Candidates []Candidate
	Files      bool // and names of files
	Folders    bool // and names of folders
}

// Words are what the program knows and this package does not.
type Words struct {
	Verbs     cli.Commands
	Scenarios func() []Candidate // those of 'ralph rehearse'
}

// A query is one command line.
type query struct {
	env   *cli.Env
	words Words
	now   string // the word that is being written
	Answer
}

// Complete returns what may come next on the command line 'ralph WORDS…', whose last word is being
// written.
func Complete(e *cli.Env, known Words, words []string) Answer {
	if len(words) == 0 {
		words = []string{""}
	}
	q := &query{env: e, words: known, now: words[len(words)-1]}
	before := words[:len(words)-1]
	switch {
	case len(before) == 0 && !strings.HasPrefix(q.now, "-"):
		q.verbs()
	case len(before) > 0 && known.Verbs.Has(before[0]):
		q.verb(before[0], before[1:])
	default:
		q.verb("run", before) // the verb that needs no name
		if len(before) == 0 {
			q.add("--version", "Print the version.")
		}
	}
	return q.Answer
}

// add adds a word if it continues the one that is being written.
func (q *query) add(word, help string) {
	if strings.HasPrefix(word, q.now) && word != "" {
		q.Candidates = append(q.Candidates, Candidate{Word: word, Help: help})
	}
}

// addOpen is add for a word that another part follows without a blank.
func (q *query) addOpen(word, help string) {
	had := len(q.Candidates)
	q.add(word, help)
	for i := range q.Candidates[had:] {
		q.Candidates[had+i].open = true
	}
}

func (q *query) verbs() {
	for _, c := range q.words.Verbs {
		if c.Tag != cli.Hidden {
			q.add(c.Name, c.Help)
		}
	}
}

// verb completes a word after a verb and further words.
func (q *query) verb(name string, words []string) {
	parser, err := q.words.Verbs.Parser([]string{name}, func(int) {})
	if err != nil || len(parser.Model.Children) == 0 {
		return
	}
	p := position{node: parser.Model.Children[0], settings: name == "run" || name == "start"}
	for _, word := range words {
		p.pass(word)
	}
	switch {
	case p.value != nil:
		q.values(p.value, q.now, "", 0)
	case p.setting != "":
		q.settingValues(p.setting, "")
	case strings.HasPrefix(q.now, "-") && !p.onlyWords:
		q.flag(&p)
	default:
		for _, child := range p.node.Children {
			if !child.Hidden {
				q.add(child.Name, child.Help)
			}
		}
		if argument := p.argument(); argument != nil {
			q.values(argument, q.now, "", p.words)
		}
	}
}

// flag completes a word that begins with a hyphen: the name of a flag, or its value after "=".
func (q *query) flag(p *position) {
	if name, value, given := strings.Cut(q.now, "="); given {
		if flag := p.flag(name); flag != nil {
			q.values(flag.Value, value, name+"=", 0)
		} else if p.settings {
			q.settingValues(strings.TrimPrefix(name, "--"), name+"=")
		}
		return
	}
	for _, flag := range p.flags() {
		if flag.Hidden {
			continue
		}
		q.add("--"+flag.Name, flag.Help)
		if flag.Negated || flag.Tag.Negatable != "" {
			q.add("--no-"+flag.Name, flag.Help)
		}
	}
	q.add("--help", "Show the help.")
	if p.settings {
		q.settingFlags()
	}
}

// A position is where in the grammar of a verb a command line is.
type position struct {
	node      *kong.Node
	settings  bool        // each setting is a flag
	value     *kong.Value // the flag whose value comes next
	setting   string      // the setting whose value comes next
	words     int         // arguments so far
	onlyWords bool        // after --
}

// pass takes a complete word.
func (p *position) pass(word string) {
	switch {
	case p.value != nil || p.setting != "":
		p.value, p.setting = nil, ""
	case p.onlyWords:
		p.words++
	case word == "--":
		p.onlyWords = true
	case strings.HasPrefix(word, "-") && word != "-":
		p.passFlag(word)
	default:
		for _, child := range p.node.Children {
			if child.Name == word {
				p.node = child
				return
			}
		}
		p.words++
	}
}

func (p *position) passFlag(word string) {
	name, _, given := strings.Cut(word, "=")
	flag := p.flag(name)
	if flag == nil && len(word) > 2 && word[1] != '-' { // -fn: the last one may have a value
		if flag = p.flag("-" + word[len(word)-1:]); flag != nil {
			if joined, _ := p.joined(word); joined != nil {
				flag = nil
			}
		}
	}
	switch {
	case given:
	case flag != nil && !flag.IsBool() && !flag.IsCounter():
		p.value = flag.Value
	case flag == nil && p.settings && strings.HasPrefix(name, "--") && !isSwitch(name[2:]):
		p.setting = name[2:]
	}
}

func (p *position) flags() []*kong.Flag {
	return slices.DeleteFunc(slices.Concat(p.node.AllFlags(true)...), func(f *kong.Flag) bool { return f.Name == "help" || f.Name == "version" })
}

// flag returns the flag of that name, with its hyphens, or nil.
func (p *position) flag(name string) *kong.Flag {
	for _, f := range p.flags() {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// argument returns the argument that comes next, or nil.
func (p *position) argument() *kong.Value {
	args := p.node.Positional
	switch {
	case p.words < len(args):
		return args[p.words]
	case len(args) > 0 && args[len(args)-1].IsSlice():
		return args[len(args)-1]
	}
	return nil
}

// print returns the answer as the scripts read it: a word on each line, for shells that show it a
// tab and its help, and directives, which begin with a colon.
func (a Answer) print(shell, now string) string {
	var b strings.Builder
	slices.SortStableFunc(a.Candidates, func(x, y Candidate) int { return cmp.Compare(flagLast(x.Word), flagLast(y.Word)) })
	open := len(a.Candidates) > 0
	for _, c := range a.Candidates {
		open = open && c.open
		word := c.Word
		if shell == "bash" {
			word = word[wordBreak(now):]
		}
		b.WriteString(word)
		if help := brief(c.Help); help != "" && shell != "bash" {
			b.WriteString("\t" + help)
		}
		b.WriteByte('\n')
	}
	if open {
		b.WriteString(":nospace\n")
	}
	if a.Files {
		b.WriteString(":files\n")
	}
	if a.Folders {
		b.WriteString(":folders\n")
	}
	return b.String()
}

// helpMost is how many characters of help a shell shows.
const helpMost = 80

// brief returns the beginning of a help text: a shell shows one line for each word.
func brief(help string) string {
	for _, end := range []string{"\n", "; ", ": ", ". "} {
		help, _, _ = strings.Cut(help, end)
	}
	return units.Cut(strings.TrimSuffix(cli.Clean(help), "."), helpMost)
}

func flagLast(word string) int {
	if strings.HasPrefix(word, "-") {
		return 1
	}
	return 0
}

// wordBreak returns the length of what bash takes for words before the present one: it breaks words
// after each "=" and ":".
func wordBreak(now string) int { return strings.LastIndexAny(now, "=:") + 1 }

// Print returns the answer for one shell. Bash passes the words as it breaks them.
func Print(e *cli.Env, known Words, shell string, words []string) string {
	if shell == "bash" {
		words = rejoined(words)
	}
	now := ""
	if len(words) > 0 {
		now = words[len(words)-1]
	}
	return Complete(e, known, words).print(shell, now)
}

// rejoined joins the words that bash broke at "=" and ":".
func rejoined(words []string) []string {
	var joined []string
	glue := false
	for i, word := range words {
		isBreak := word == "=" || word == ":"
		if len(joined) > 0 && (glue || isBreak) && i > 0 {
			joined[len(joined)-1] += word
		} else {
			joined = append(joined, word)
		}
		glue = isBreak
	}
	return joined
}
