package config

import (
	"errors"
	"fmt"
	"strings"
)

// SplitFlags makes arguments of the entries of agent.flags. An entry that begins with a dash is
// split at white space as a POSIX shell would, so that "--model opus" is two arguments and "--note
// 'two words'" keeps its value together; nothing is expanded. Any other entry is one unchanged
// argument, so that in ["--note", "two words"] the second is one argument.
func SplitFlags(flags []string) ([]string, error) {
	arguments := make([]string, 0, len(flags)+4)
	for _, flag := range flags {
		if !strings.HasPrefix(flag, "-") {
			arguments = append(arguments, flag)
			continue
		}
		words, err := splitWords(flag)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shorten(flag), err)
		}
		arguments = append(arguments, words...)
	}
	return arguments, nil
}

// Argv returns the agent's program and all its arguments. A command without white space is the
// program, with any backslash; another is split as a shell would.
func (a Agent) Argv() ([]string, error) {
	argv, err := commandWords(a.Command)
	if err != nil {
		return nil, fmt.Errorf("agent command %s: %w", shorten(a.Command), err)
	}
	flags, err := SplitFlags(a.Flags)
	if err != nil {
		return nil, fmt.Errorf("agent flag %w", err)
	}
	return append(argv, flags...), nil
}

func commandWords(command string) ([]string, error) {
	if !strings.ContainsAny(command, " \t\n") {
		return []string{command}, nil
	}
	words, err := splitWords(command)
	if err == nil && len(words) == 0 {
		err = errors.New("is blank")
	}
	return words, err
}

// splitWords splits as a POSIX shell splits a simple command: single quotes keep everything, double
// quotes all but a backslash before $ ` " \ and a line break, a bare backslash keeps the next
// character.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\':
			if i+1 == len(text) {
				return nil, errors.New("ends with a lone backslash")
			}
			if quote == '"' && !strings.ContainsRune("$`\"\\\n", rune(text[i+1])) {
				word.WriteByte(c)
				continue
			}
			i++
			if text[i] != '\n' {
				word.WriteByte(text[i])
				inWord = true
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("closing quote %c is missing", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
