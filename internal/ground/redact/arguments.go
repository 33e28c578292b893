package redact

import "strings"

// Arguments returns NAME=value for each credential in the arguments of a command line: the values
// of flags with the name of one (--api-key X, --api-key=X, -token=X), where NAME is the flag's name
// as that of a variable (API_KEY), and assignments (API_KEY=X env …). [New] takes them.
func Arguments(words []string) (entries []string) {
	for i, word := range words {
		flag := strings.TrimLeft(word, "-")
		name, value, assigned := strings.Cut(flag, "=")
		if !assigned && flag != word && i+1 < len(words) {
			value = words[i+1]
		}
		if value != "" && Name(name) {
			entries = append(entries, Variable(name)+"="+value)
		}
	}
	return entries
}
