package manual

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A Verb is what the manual says about one verb, or about a verb of a verb.
type Verb struct {
	Name      string // as it is typed after ralph: "journal verify"
	Help      string // one sentence
	Usage     string // the line to type
	Text      []string
	Examples  []string
	Arguments []Item
	Flags     []Item
	Verbs     []Verb
}

// An Item is an argument or a flag.
type Item struct{ Name, Help string }

// Manual is all of it.
type Manual struct {
	Text  []string // paragraphs about the program
	Verbs []Verb
}

// Of reads the model of all verbs. Hidden verbs and flags are left out.
func Of(model *kong.Application) Manual {
	m := Manual{Text: paragraphs(model.Help)}
	for _, node := range model.Children {
		if !node.Hidden {
			m.Verbs = append(m.Verbs, verb(node, ""))
		}
	}
	return m
}

func verb(node *kong.Node, before string) Verb {
	v := Verb{Name: before + node.Name, Help: node.Help}
	v.Text, v.Examples = split(node.Detail)
	words := []string{"ralph", v.Name}
	for _, arg := range node.Positional {
		v.Arguments = append(v.Arguments, Item{placeholder(arg), sentences(arg.Help)})
		words = append(words, argument(arg))
	}
	for _, flag := range flags(node) {
		v.Flags = append(v.Flags, Item{flagName(flag), sentences(flag.Help) + about(flag)})
	}
	for _, child := range node.Children {
		if !child.Hidden {
			v.Verbs = append(v.Verbs, verb(child, v.Name+" "))
		}
	}
	if len(v.Verbs) > 0 {
		words = append(words, "VERB")
	}
	if len(v.Flags) > 0 {
		words = append(words, "[FLAGS]")
	}
	v.Usage = strings.Join(words, " ")
	return v
}

// flags are those of a verb, without those that every verb has.
func flags(node *kong.Node) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(node.Flags), func(f *kong.Flag) bool { return f.Hidden || f.Name == "help" || f.Name == "version" })
}

func placeholder(arg *kong.Value) string {
	if arg.Tag.PlaceHolder != "" {
		return arg.Tag.PlaceHolder
	}
	return strings.ToUpper(arg.Name)
}

func argument(arg *kong.Value) string {
	text := placeholder(arg)
	if arg.IsCumulative() {
		text += "…"
	}
	if !arg.Required {
		text = "[" + text + "]"
	}
	return text
}

// flagName is a flag with its short form and its value: -m, --maximum-iterations=N.
func flagName(flag *kong.Flag) string {
	name := "--" + flag.Name
	if flag.Tag.Negatable != "" {
		name = "--[no-]" + flag.Name
	}
	if flag.Short != 0 {
		name = "-" + string(flag.Short) + ", " + name
	}
	if flag.IsBool() || flag.IsCounter() {
		return name
	}
	value := flag.PlaceHolder
	switch {
	case value != "":
	case flag.Enum != "":
		value = strings.Join(flag.EnumSlice(), "|")
	default:
		value = strings.ToUpper(flag.Name)
	}
	return name + "=" + value
}

// about adds what can be given, and what is in force otherwise.
func about(flag *kong.Flag) string {
	text := ""
	if flag.Enum != "" && flag.PlaceHolder != "" {
		text += " One of " + strings.Join(flag.EnumSlice(), ", ") + "."
	}
	if flag.HasDefault && flag.Default != "" && !flag.IsBool() {
		text += " Without it " + flag.Default + "."
	}
	return text
}

// sentences ends a help text with a full stop.
func sentences(help string) string {
	if help == "" || strings.HasSuffix(help, ".") {
		return help
	}
	return help + "."
}

// split separates the paragraphs of a help text from its examples.
func split(detail string) (text, examples []string) {
	before, lines, _ := strings.Cut(detail, "Examples:\n\n")
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			examples = append(examples, line)
		}
	}
	return paragraphs(before), examples
}

func paragraphs(text string) []string {
	var all []string
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.Trim(part, "\n"); strings.TrimSpace(part) != "" {
			all = append(all, part)
		}
	}
	return all
}

// literal reports whether the lines of a paragraph stay as they are, because they are indented.
func literal(paragraph string) bool { return strings.HasPrefix(paragraph, "  ") }
