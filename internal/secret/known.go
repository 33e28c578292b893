package secret

import (
	"net/url"
	"strings"
)

// minValue is the shortest known value that is masked, in bytes. Shorter ones would hit ordinary text, and the scan's
// sampling (scan.go) relies on a literal having at least 7 bytes.
const minValue = 8

// minDigits is the shortest known value of digits alone: shorter ones are ports, years, counters and Unix seconds.
const minDigits = 12

// A commonValue is what credential-looking keys hold while there is no credential. It is in lower case.
func commonValue(value string) bool {
	switch value {
	case "anonymous", "api-key", "basicauth", "change-me", "change_me", "changeit", "changeme", "development", "disabled",
		"dummy-key", "dummy-token", "dummykey", "dummytoken", "dummy_key", "dummy_token", "enabled", "external", "fake-key",
		"fake-token", "interactive", "internal", "keychain", "localhost", "no-key-required", "not-needed", "notneeded",
		"optional", "password", "placeholder", "postgres", "production", "required", "staging", "test-key", "test-token",
		"testtest", "undefined", "username", "your-api-key", "your_api_key":
		return true
	}
	return false
}

// First folders of an absolute path. A value that only starts with a slash may be a secret: base64 has slashes.
var rootFolders = []string{
	"/Users/", "/Volumes/", "/app/", "/data/", "/dev/", "/etc/", "/home/", "/mnt/", "/opt/", "/private/", "/proc/",
	"/root/", "/run/", "/secrets/", "/srv/", "/tmp/", "/usr/", "/var/", "/workspace/", "/workspaces/", "~/", "./", "../",
}

type known struct{ name, value string }

// knownValues picks what is to be masked out of environment entries ("KEY=value") and values without a name.
func knownValues(env, extra []string) []known {
	var all []known
	for _, entry := range env {
		key, value, ok := strings.Cut(entry, "=")
		if !ok || key == "" {
			continue
		}
		if value = strings.TrimSpace(value); Name(key) && worthMasking(value) {
			all = append(all, known{key, value})
		}
		for _, pass := range urlPasswords(value) {
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
	switch {
	case len(value) < minValue,
		isNumber(value) && len(value) < minDigits,
		commonValue(strings.ToLower(value)),
		strings.Count(value, value[:1]) == len(value), // ********, xxxxxxxx
		isPath(value):
		return false
	}
	return true
}

func isPath(value string) bool {
	if strings.ContainsAny(value, "\n+=") {
		return false
	}
	for _, root := range rootFolders {
		if strings.HasPrefix(value, root) {
			return true
		}
	}
	return len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/') // C:\
}

// urlPasswords returns the password of scheme://user:password@host as it stands and, where it differs, percent-decoded.
// The value may hold several URLs (comma or space between them).
func urlPasswords(value string) []string {
	var found []string
	for {
		_, rest, ok := strings.Cut(value, "://")
		if !ok {
			return found
		}
		value = rest
		if end := strings.IndexAny(rest, "/?# \t\n\""); end >= 0 {
			rest = rest[:end]
		}
		at := strings.LastIndexByte(rest, '@')
		if at < 0 {
			continue
		}
		user, pass, ok := strings.Cut(rest[:at], ":")
		if !ok || pass == user || !worthMasking(pass) {
			continue
		}
		found = append(found, pass)
		if plain, err := url.PathUnescape(pass); err == nil && plain != pass && len(plain) >= minValue {
			found = append(found, plain)
		}
	}
}
