package redact

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A wordSet is a set of words, each between two bars.
type wordSet string

func (s wordSet) has(word string) bool {
	return strings.Contains(string(s), "|"+word+"|") && !strings.Contains(word, "|")
}

// These decide whether a key is the name of a credential. They match its words, with an underscore
// before and after each.
var (
	// secretName: these words make it one anywhere (SECRET_KEY_BASE, DOCKER_AUTH_CONFIG,
	// API_KEY_PROD), or without a separator (PGPASSWORD, CLIENTSECRET).
	secretName = units.Pattern(`_(?:SECRETS?|TOKEN|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|CREDS|AUTH|AUTHORIZATION|` +
		`APIKEY|BEARER)_|(?:PASSWORD|PASSWD|SECRET|TOKEN|APIKEY)_|_(?:API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION|MASTER)_KEY_`)
	// secretEnding: these do only as the last of several words: "key" alone also names map keys and
	// sort keys, PWD a folder.
	secretEnding = units.Pattern(`._(?:KEYS?|PASS|PWD|PAT|COOKIE)_$|^_PASS_$`)
	// publicEnding: GPG_KEY is the public fingerprint that the official Python images carry.
	publicEnding = units.Pattern(`_(?:PUBLIC|PUBLISHABLE|GPG|PRIMARY|FOREIGN|SORT|PARTITION|CACHE|HOT)_KEYS?_$|_OLD_PWD_$`)
	// aboutEnding: the value describes a credential: where it is, how long it lives.
	aboutEnding = units.Pattern(`_(?:PATH|SOCK|SOCKET|FILE|FILENAME|DIR|HOME|URL|URI|HOST|PORT|ID|NAME|USER|USERNAME|TYPE|` +
		`KIND|TTL|EXPIRY|EXPIRES|LENGTH|SIZE|COUNT|LIMIT|BUDGET|METHODS?|MODE|ENABLED|DISABLED|HELPER|COMMAND|CMD|ASKPASS|` +
		`PROVIDER|STORE|ENDPOINT|REGION|VERSION|TIMEOUT|SCOPES?|ALGORITHM|REQUIRED|FINGERPRINT)_$`)
	lastNumbers = units.Pattern(`(?:_[0-9]+)+_$`) // API_KEY_2
)

// Name reports whether an environment or settings key looks like the name of a credential:
// GITHUB_TOKEN, PGPASSWORD, apiKey, x-api-key, SECRET_KEY_BASE. A key that describes a credential
// does not (SSH_AUTH_SOCK, SSH_KEY_PATH, MAX_THINKING_TOKENS, AWS_ACCESS_KEY_ID), and neither does
// a public one (GPG_KEY, STRIPE_PUBLISHABLE_KEY). Case does not matter.
func Name(key string) bool {
	words := lastNumbers().ReplaceAllString("_"+Variable(key)+"_", "_")
	return !aboutEnding().MatchString(words) &&
		(secretName().MatchString(words) || secretEnding().MatchString(words) && !publicEnding().MatchString(words))
}

var lowerUpper = units.Pattern(`([a-z])([A-Z])`)

// Variable returns a key, the name of a flag or a kind of secret as the name of a variable: API_KEY
// for api-key and apiKey.
func Variable(name string) string {
	words := strings.FieldsFunc(lowerUpper().ReplaceAllString(name, "$1 $2"), func(r rune) bool { return r > 127 || !alnum[r] })
	return strings.ToUpper(strings.Join(words, "_"))
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, numerals) == "" }
