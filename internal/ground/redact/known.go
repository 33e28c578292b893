package redact

import (
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// minValue is the shortest known value that is masked, in bytes. Shorter ones would hit ordinary
// text. The scan needs literals of at least 7 bytes.
const minValue = 8

// minDigits is the shortest known value of digits alone. Shorter ones are ports, years, counters
// and Unix seconds.
const minDigits = 12

// commonValues are what keys of credentials hold while there is no credential, in lower case.
const commonValues wordSet = "|anonymous|api-key|basicauth|change-me|change_me|changeit|changeme|development|disabled|" +
	"dummy-key|dummy-token|dummykey|dummytoken|dummy_key|dummy_token|enabled|external|fake-key|fake-token|interactive|" +
	"internal|keychain|localhost|no-key-required|not-needed|notneeded|optional|password|placeholder|postgres|production|" +
	"required|staging|test-key|test-token|testtest|undefined|username|your-api-key|your_api_key|"

// beginsPath matches paths. A value that only starts with a slash may be a secret: base64 has
// slashes.
var beginsPath = units.Pattern(`^(?:/(?:Users|Volumes|app|data|dev|etc|home|mnt|opt|private|proc|root|run|secrets|srv|` +
	`tmp|usr|var|workspaces?)/|~/|\.\.?/|.:[\\/])`) // C:\

type known struct{ name, value string }

// environmentValues picks the values to mask from environment entries ("KEY=value") and from values
// without a name.
func environmentValues(env, extra []string) []known {
	var all []known
	for _, entry := range env {
		key, value, ok := strings.Cut(entry, "=")
		if !ok || key == "" {
			continue
		}
		if value = strings.TrimSpace(value); Name(key) && worthMasking(value) {
			all = append(all, known{key, value})
		}
		for _, pass := range passwordsInURLs(value) {
			all = append(all, known{key, pass})
		}
	}
	for _, value := range extra {
		if value = strings.TrimSpace(value); len(value) >= minValue {
			all = append(all, known{"", value})
		}
	}
	return all
}

func worthMasking(value string) bool {
	return len(value) >= minValue &&
		(!isNumber(value) || len(value) >= minDigits) &&
		!commonValues.has(strings.ToLower(value)) &&
		strings.Count(value, value[:1]) < len(value) && // ********, xxxxxxxx
		(strings.ContainsAny(value, "\n+=") || !beginsPath().MatchString(value))
}

var loginInURL = units.Pattern(`://([^:/?# \t\n"]*):([^/?# \t\n"]*)@`)

// passwordsInURLs returns the password of each scheme://user:password@host in value, as it is and,
// if that differs, percent-decoded.
func passwordsInURLs(value string) (found []string) {
	for _, login := range loginInURL().FindAllStringSubmatch(value, -1) {
		user, pass := login[1], login[2]
		if pass == user || !worthMasking(pass) {
			continue
		}
		found = append(found, pass)
		if plain, err := url.PathUnescape(pass); err == nil && plain != pass && len(plain) >= minValue {
			found = append(found, plain)
		}
	}
	return found
}
