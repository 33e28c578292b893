package shellguard

import (
	"slices"
	"strings"
)

// options are the arguments of a command, sorted.
type options struct {
	names    []string            // "f" for -f, "force" for --force, "name" for -name
	values   map[string][]string // of options that have one
	operands []string
}

// options sorts arguments as getopt does: -rf is -r -f, and options may follow operands. withValue
// are the options that take the next word if they have no value in their own.
func (c *command) options(withValue ...string) options {
	return sortArgs(c.args, false, withValue)
}

// leading is options of a command that runs another one: its options end at the first operand.
func (c *command) leading(withValue ...string) options {
	return sortArgs(c.args, true, withValue)
}

func sortArgs(args []string, leading bool, withValue []string) options {
	o := options{values: map[string][]string{}}
	add := func(name, value string, has bool) {
		o.names = append(o.names, name)
		if has {
			o.values[name] = append(o.values[name], value)
		}
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		next := func() (string, bool) {
			if i+1 >= len(args) {
				return "", false
			}
			i++
			return args[i], true
		}
		switch {
		case arg == "--":
			o.operands = append(o.operands, args[i+1:]...)
			return o
		case len(arg) < 2 || arg[0] != '-':
			if leading {
				o.operands = append(o.operands, args[i:]...)
				return o
			}
			o.operands = append(o.operands, arg)
		case strings.HasPrefix(arg, "--"):
			name, value, has := strings.Cut(arg[2:], "=")
			if !has && slices.Contains(withValue, name) {
				value, has = next()
			}
			add(name, value, has)
		case slices.Contains(withValue, arg[1:]): // -name value, -n value
			value, has := next()
			add(arg[1:], value, has)
		default:
			for j := 1; j < len(arg); j++ {
				name := arg[j : j+1]
				if !slices.Contains(withValue, name) {
					add(name, "", false)
					continue
				}
				if j+1 < len(arg) {
					add(name, arg[j+1:], true)
				}
				if j+1 == len(arg) {
					value, has := next()
					add(name, value, has)
				}
				break
			}
		}
	}
	return o
}

func (o options) has(names ...string) bool {
	return slices.ContainsFunc(o.names, func(name string) bool { return slices.Contains(names, name) })
}

// of returns the values of any of the options.
func (o options) of(names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, o.values[name]...)
	}
	return all
}

// words returns the first operands, at most n, joined by spaces.
func (o options) words(n int) string {
	return strings.Join(o.operands[:min(n, len(o.operands))], " ")
}

// hasWord reports whether an argument is one of the words, wherever it is.
func (c *command) hasWord(words ...string) bool {
	return slices.ContainsFunc(c.args, func(arg string) bool { return slices.Contains(words, arg) })
}

// subcommand returns the arguments that are no options, which programs such as aws and kubectl
// take as their verbs. Values of options that are separate words are among them.
func (c *command) subcommand() []string {
	var all []string
	for _, arg := range c.args {
		if !strings.HasPrefix(arg, "-") {
			all = append(all, arg)
		}
	}
	return all
}
