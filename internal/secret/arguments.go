package secret

import "strings"

// Arguments returns NAME=value for each argument of a command line that stands where a credential does: the value of a flag
// whose name is one's (--api-key X, --api-key=X, -token=X). NAME is the flag's as a variable spells it: API_KEY. A word that is
// such an assignment itself (API_KEY=X env …) is one as well. For [New] and for who looks for what [Masker] took out.
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

// Variable spells the name of a flag, or of a kind of secret, as that of a variable: api-key is API_KEY.
func Variable(name string) string { return strings.Join(keyWords(name), "_") }
