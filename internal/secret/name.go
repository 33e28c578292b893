package secret

import "strings"

// The words are switches and not maps: a map is built whenever the program starts, whatever it then does.

// strong words make a key a credential wherever they stand in it (SECRET_KEY_BASE, DOCKER_AUTH_CONFIG).
func strong(word string) bool {
	switch word {
	case "SECRET", "SECRETS", "TOKEN", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS",
		"CREDS", "AUTH", "AUTHORIZATION", "APIKEY", "BEARER":
		return true
	}
	return false
}

// A lastWord makes a key a credential only as its last word: "key" alone also names map keys, sort keys, PWD a folder.
func lastWord(word string) bool {
	switch word {
	case "KEY", "KEYS", "PASS", "PWD", "PAT", "COOKIE":
		return true
	}
	return false
}

// A keyKind before KEY makes it a credential wherever the pair stands (API_KEY_PROD).
func keyKind(word string) bool {
	switch word {
	case "API", "ACCESS", "PRIVATE", "SECRET", "SIGNING", "ENCRYPTION", "MASTER":
		return true
	}
	return false
}

// An openKey before KEY says that it is no credential. GPG_KEY is the public fingerprint that the official Python images carry.
func openKey(word string) bool {
	switch word {
	case "PUBLIC", "PUBLISHABLE", "GPG", "PRIMARY", "FOREIGN", "SORT", "PARTITION", "CACHE", "HOT":
		return true
	}
	return false
}

// An aboutWord, being the last, says that the value tells something about a credential and is none: where it lies, how long it lives.
func aboutWord(word string) bool {
	switch word {
	case "PATH", "SOCK", "SOCKET", "FILE", "FILENAME", "DIR", "HOME", "URL", "URI", "HOST", "PORT", "ID", "NAME", "USER",
		"USERNAME", "TYPE", "KIND", "TTL", "EXPIRY", "EXPIRES", "LENGTH", "SIZE", "COUNT", "LIMIT", "BUDGET", "METHOD",
		"METHODS", "MODE", "ENABLED", "DISABLED", "HELPER", "COMMAND", "CMD", "ASKPASS", "PROVIDER", "STORE", "ENDPOINT",
		"REGION", "VERSION", "TIMEOUT", "SCOPE", "SCOPES", "ALGORITHM", "REQUIRED", "FINGERPRINT":
		return true
	}
	return false
}

// Name reports whether an environment or settings key looks like the name of a credential: GITHUB_TOKEN, PGPASSWORD,
// apiKey, x-api-key, SECRET_KEY_BASE. A key that only talks about one does not: SSH_AUTH_SOCK, SSH_KEY_PATH,
// MAX_THINKING_TOKENS, AWS_ACCESS_KEY_ID, and neither does a public one (GPG_KEY, STRIPE_PUBLISHABLE_KEY). Case does not matter.
func Name(key string) bool {
	words := keyWords(key)
	for len(words) > 1 && isNumber(words[len(words)-1]) { // API_KEY_2
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	last := len(words) - 1
	if aboutWord(words[last]) {
		return false
	}
	for i, w := range words {
		if strong(w) || endsLikeSecret(w) {
			return true
		}
		if i > 0 && w == "KEY" && keyKind(words[i-1]) {
			return true
		}
	}
	switch {
	case !lastWord(words[last]):
		return false
	case last == 0: // KEY or PWD alone
		return words[0] == "PASS"
	case strings.HasPrefix(words[last], "KEY"):
		return !openKey(words[last-1])
	case words[last] == "PWD" && words[last-1] == "OLD":
		return false
	}
	return true
}

// endsLikeSecret is for words glued to what they belong to: PGPASSWORD, CLIENTSECRET, OLDPWD not.
func endsLikeSecret(word string) bool {
	for _, end := range [...]string{"PASSWORD", "PASSWD", "SECRET", "TOKEN", "APIKEY"} {
		if strings.HasSuffix(word, end) {
			return true
		}
	}
	return false
}

// keyWords splits a key at every character that is no letter or digit and where lower case meets upper, in upper case.
func keyWords(key string) []string {
	var words []string
	start, was := 0, byte(0)
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToUpper(key[start:end]))
		}
	}
	for i := 0; i < len(key); i++ {
		c := key[i]
		switch {
		case !alnum[c]:
			flush(i)
			start = i + 1
		case isUpper(c) && (was >= 'a' && was <= 'z'):
			flush(i)
			start = i
		}
		was = c
	}
	flush(len(key))
	return words
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isNumber(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
