package secret

import "strings"

// Words that make a key a credential wherever they stand in it (SECRET_KEY_BASE, DOCKER_AUTH_CONFIG).
var strongWords = map[string]bool{
	"SECRET": true, "SECRETS": true, "TOKEN": true, "PASSWORD": true, "PASSWORDS": true, "PASSWD": true,
	"PASSPHRASE": true, "CREDENTIAL": true, "CREDENTIALS": true, "CREDS": true, "AUTH": true,
	"AUTHORIZATION": true, "APIKEY": true, "BEARER": true,
}

// Words that make a key a credential only as its last word: "key" alone also names map keys, sort keys, PWD a folder.
var lastWords = map[string]bool{"KEY": true, "KEYS": true, "PASS": true, "PWD": true, "PAT": true, "COOKIE": true}

// Words before KEY that make it a credential wherever the pair stands (API_KEY_PROD).
var keyKinds = map[string]bool{
	"API": true, "ACCESS": true, "PRIVATE": true, "SECRET": true, "SIGNING": true, "ENCRYPTION": true, "MASTER": true,
}

// Words before KEY that say it is no credential. GPG_KEY is the public fingerprint that the official Python images carry.
var openKeys = map[string]bool{
	"PUBLIC": true, "PUBLISHABLE": true, "GPG": true, "PRIMARY": true, "FOREIGN": true, "SORT": true, "PARTITION": true,
	"CACHE": true, "HOT": true,
}

// Last words that say the value tells something about a credential and is none: where it lies, how long it lives.
var aboutWords = map[string]bool{
	"PATH": true, "SOCK": true, "SOCKET": true, "FILE": true, "FILENAME": true, "DIR": true, "HOME": true, "URL": true,
	"URI": true, "HOST": true, "PORT": true, "ID": true, "NAME": true, "USER": true, "USERNAME": true, "TYPE": true,
	"KIND": true, "TTL": true, "EXPIRY": true, "EXPIRES": true, "LENGTH": true, "SIZE": true, "COUNT": true, "LIMIT": true,
	"BUDGET": true, "METHOD": true, "METHODS": true, "MODE": true, "ENABLED": true, "DISABLED": true, "HELPER": true,
	"COMMAND": true, "CMD": true, "ASKPASS": true, "PROVIDER": true, "STORE": true, "ENDPOINT": true, "REGION": true,
	"VERSION": true, "TIMEOUT": true, "SCOPE": true, "SCOPES": true, "ALGORITHM": true, "REQUIRED": true, "FINGERPRINT": true,
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
	if aboutWords[words[last]] {
		return false
	}
	for i, w := range words {
		if strongWords[w] || endsLikeSecret(w) {
			return true
		}
		if i > 0 && w == "KEY" && keyKinds[words[i-1]] {
			return true
		}
	}
	switch {
	case !lastWords[words[last]]:
		return false
	case last == 0: // KEY or PWD alone
		return words[0] == "PASS"
	case strings.HasPrefix(words[last], "KEY"):
		return !openKeys[words[last-1]]
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
