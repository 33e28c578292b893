package cli

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

// Usage is the error of a command line that cannot be read: what is wrong with it, and the next
// step.
func (all Commands) Usage(root *kong.Node, args []string, err error) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && !all.Has(args[0]) {
		return all.NoVerb(args[0])
	}
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return &Failure{Err: err, Code: event.ExitUsage, NextStep: "see 'ralph help'"}
	}
	m := mistake{node: root, hint: "see 'ralph help'"}
	verb := ""
	if node := parse.Context.Selected(); node != nil {
		m.node, verb = node, node.Path()
	} else if len(args) > 0 && all.Has(args[0]) { // then the model has only this verb
		m.node, verb = root.Children[0], args[0]
	}
	m.verb = "ralph"
	if verb != "" {
		m.verb = verb
		m.hint = fmt.Sprintf("see 'ralph %s --help'", verb)
	}
	says := m.plainly(err.Error())
	return &Failure{Err: errors.New(says), Code: event.ExitUsage, NextStep: m.hint}
}

// NoVerb is the error of a word that is no verb. It suggests a verb if one is near.
func (all Commands) NoVerb(word string) error {
	hint := "'ralph help' shows the verbs; 'ralph run -p TEXT' runs an agent"
	if strings.ContainsAny(word, " \n") {
		hint = Task("start", word)
	} else if same := synonyms[word]; same != "" {
		hint = fmt.Sprintf("did you mean 'ralph %s'? 'ralph help' shows the verbs", same)
	} else if near := nearest(word, all.names()); near != "" {
		hint = fmt.Sprintf("did you mean 'ralph %s'? 'ralph help' shows the verbs", near)
	}
	return Refuse(hint, "there is no verb %q", word)
}

// synonyms are the words of other programs for verbs.
var synonyms = map[string]string{
	"ls": "list", "ps": "list", "rm": "clean", "delete": "clean", "log": "logs", "show": "status", "tell": "steer", "message": "steer",
	"continue": "resume", "new": "start", "begin": "start", "undo": "rollback", "config": "init", "watch": "list --watch", "top": "list --watch",
}

// Task is the hint for a text where a verb, or a loop's name, was expected.
func Task(verb, text string) string {
	return fmt.Sprintf("to begin a loop with this task: ralph %s -p %s", verb, AsTyped([]string{text}))
}

// nearest is the word that is probably meant by a mistyped one: the only one that begins with it,
// or the one with the fewest differences.
func nearest(word string, words []string) string {
	if len(word) > 1 {
		begins := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, word) })
		if len(begins) == 1 {
			return begins[0]
		}
	}
	return config.Nearest(word, words)
}

// mistake words the parser's errors for people.
type mistake struct {
	node *kong.Node // the verb
	verb string     // how it is called
	hint string
}

type wording struct {
	pattern *regexp.Regexp
	say     func(m *mistake, part []string) string
}

// wordings are all errors that the parser has for these command lines.
var wordings = sync.OnceValue(func() []wording {
	const flag, quoted = `^(--[a-zA-Z-]+)(?:=\S+)?`, `"((?s:.*?))"`
	row := func(pattern string, say func(*mistake, []string) string) wording {
		return wording{regexp.MustCompile(pattern), say}
	}
	return []wording{
		row(`^unknown flag (-\S*?)(?:, did you mean .*)?$`, (*mistake).noFlag),
		row(`^unexpected argument ((?s:.*?))(?:, did you mean .*)?$`, (*mistake).wordTooMany),
		row(`^unexpected flag argument `+quoted, func(m *mistake, p []string) string { return fmt.Sprintf("a flag before %q takes no value", p[1]) }),
		row(flag+`: (?:expected \S+ value but got "EOL"|missing value)`, (*mistake).noValue),
		row(flag+`: expected \S+ value but got `+quoted+` \(`, func(m *mistake, p []string) string {
			m.hint = fmt.Sprintf("write it as %s=%s where it is the value", p[1], AsTyped([]string{p[2]}))
			return fmt.Sprintf("%s needs a value, and %q is a flag", p[1], p[2])
		}),
		row(flag+`: empty$`, func(m *mistake, p []string) string {
			m.hint = "give it a value, or leave it out; " + m.hint
			return p[1] + " is empty"
		}),
		row(flag+`: expected a valid 16 bit uint but got `+quoted, needs("a whole number from 0 to 65535")),
		row(flag+`: expected an? (?:int|valid \d+ bit u?int) but got `+quoted, needs("a whole number")),
		row(flag+`: expected a float but got `+quoted, needs("a number")),
		row(flag+`: expected duration but got `+quoted, needs("a duration such as 30s or 5m")),
		row(flag+`: bool value must be .* but got `+quoted, needs("no value, or true or false")),
		row(flag+`: expected "<key>=<value>" but got `+quoted, needs("KEY=VALUE")),
		row(flag+` must be one of (.*) but got `+quoted, func(m *mistake, p []string) string {
			return fmt.Sprintf("%s is %q, and can be %s", p[1], p[3], strings.ReplaceAll(p[2], ",", ", "))
		}),
		row(`^<(\S+)> must be one of (.*) but got `+quoted, func(_ *mistake, p []string) string {
			return fmt.Sprintf("%s is %q, and can be %s", strings.ToUpper(p[1]), p[3], strings.ReplaceAll(p[2], ",", ", "))
		}),
		row(`^(--\S+) and (--\S+) can't be used together$`, func(m *mistake, p []string) string {
			m.hint = "give one of them; " + m.hint
			return fmt.Sprintf("%s and %s are both given", p[1], p[2])
		}),
		row(`^missing flags: (.*)$`, func(m *mistake, p []string) string {
			m.showExample()
			return fmt.Sprintf("%s needs %s", m.verb, p[1])
		}),
		row(`^expected "<(\S+)>`, (*mistake).noArgument),
		row(`^expected (?:one of )?"`, func(m *mistake, p []string) string {
			return fmt.Sprintf("%s needs one of its verbs: %s", m.verb, strings.Join(childrenOf(m.node), ", "))
		}),
	}
})

// plainly returns the wording of an error of the parser.
func (m *mistake) plainly(text string) string {
	for _, w := range wordings() {
		if part := w.pattern.FindStringSubmatch(text); part != nil {
			return w.say(m, part)
		}
	}
	return text
}

func needs(what string) func(*mistake, []string) string {
	return func(_ *mistake, part []string) string {
		return fmt.Sprintf("%s is %q, and needs %s", part[1], part[2], what)
	}
}

func (m *mistake) noFlag(part []string) string {
	flag, _, _ := strings.Cut(part[1], "=")
	if name, ok := strings.CutPrefix(flag, "--"); ok {
		var names []string
		for _, f := range m.flags() {
			names = append(names, f.Name)
		}
		if m.verb == "start" || m.verb == "run" {
			for _, key := range config.Keys() {
				names = append(names, key.Name)
			}
			for _, alias := range slices.Sorted(maps.Keys(aliases)) {
				names = append(names, strings.TrimPrefix(alias, "--"))
			}
		}
		if m.verb == "run" && name == "task" {
			m.hint = "'ralph run -f FILE' reads the prompt from a file, 'ralph start --task FILE' begins with a copy of one"
		} else if near := nearest(name, names); near != "" {
			m.hint = fmt.Sprintf("did you mean --%s? %s", near, m.hint)
		}
	}
	return fmt.Sprintf("%s has no flag %s", m.verb, flag)
}

func (m *mistake) wordTooMany(part []string) string {
	words := childrenOf(m.node)
	if len(words) == 0 {
		m.hint = "put words that belong together in quotes; " + m.hint
		if m.verb == "run" && strings.ContainsAny(part[1], " \n") {
			m.hint = Task("run", part[1])
		}
		return fmt.Sprintf("%s takes no more words, and there is %q", m.verb, part[1])
	}
	if near := nearest(part[1], words); near != "" {
		m.hint = fmt.Sprintf("did you mean 'ralph %s %s'? %s", m.verb, near, m.hint)
	}
	return fmt.Sprintf("%s has no verb %q", m.verb, part[1])
}

func (m *mistake) noValue(part []string) string {
	for _, f := range m.flags() {
		if "--"+f.Name == part[1] {
			return fmt.Sprintf("%s needs a value: %s %s", part[1], part[1], f.FormatPlaceHolder())
		}
	}
	return part[1] + " needs a value"
}

// flags are those of the verb, or without a verb those of the default verb.
func (m *mistake) flags() []*kong.Flag {
	node := m.node
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	return slices.Concat(node.AllFlags(true)...)
}

// showExample begins the hint with the first example of the verb's help.
func (m *mistake) showExample() {
	if _, lines, found := strings.Cut(m.node.Detail, exampleHead); found {
		first, _, _ := strings.Cut(lines, "\n")
		m.hint = "as in: " + first + "; " + m.hint
	}
}

func (m *mistake) noArgument(part []string) string {
	m.showExample()
	what := strings.ToUpper(part[1])
	for _, argument := range m.node.Positional {
		if argument.Name == part[1] && argument.Tag != nil && argument.Tag.PlaceHolder != "" {
			what = argument.Tag.PlaceHolder
		}
	}
	return fmt.Sprintf("%s needs %s", m.verb, what)
}

func childrenOf(node *kong.Node) []string {
	var names []string
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

// Examples is the part of a verb's help that shows lines to type.
func Examples(lines ...string) string { return exampleHead + strings.Join(lines, "\n  ") }

const exampleHead = "Examples:\n\n  "
