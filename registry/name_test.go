package registry

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckNameNamesRule(t *testing.T) {
	for _, tt := range []struct{ title, name, rule string }{
		{"one letter is a name", "a", ""},
		{"digits, points, underscores and dashes may follow", "0.a_b-c", ""},
		{"two points within are only points", "a..b", ""},
		{"64 characters are a name", strings.Repeat("x", 64), ""},
		{"a name may contain a reserved one", "archive-2", ""},
		{"an empty name is refused", "", "empty"},
		{"a folder reference is refused", "..", "folder reference"},
		{"the folder itself is refused", ".", "folder reference"},
		{"65 characters are too many", strings.Repeat("x", 65), "longer"},
		{"a hidden file is refused", ".git", "begin"},
		{"an option is refused", "-rf", "begin"},
		{"upper case is refused at the beginning", "Fix", "begin"},
		{"upper case is refused within", "fIx", "only"},
		{"a path is refused", "a/b", "only"},
		{"a backslash path is refused", `a\b`, "only"},
		{"a NUL is refused", "a\x00", "only"},
		{"a newline is refused", "a\n", "only"},
		{"letters beyond ASCII are refused", "größe", "only"},
		{"the team's settings are reserved", "settings.json", "reserved"},
		{"the personal settings are reserved", "settings.local.json", "reserved"},
		{"the archive is reserved", "archive", "reserved"},
		{"the folder of session loops is reserved", "session", "reserved"},
		{"the name of a lock file is refused", "run.lock", ".lock"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			err := CheckName(tt.name)
			if tt.rule == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			broken, ok := errors.AsType[*NameError](err)
			if !ok {
				t.Fatalf("got %v, want a *NameError", err)
			}
			if broken.Name != tt.name || !strings.Contains(broken.Rule, tt.rule) {
				t.Errorf("got %+v, want a rule about %q", broken, tt.rule)
			}
		})
	}
}

func TestHome(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(key string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == key {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	if got, err := Home(env("HOME", "/home/ada", "USERPROFILE", "/home/ada")); err != nil || got != "/home/ada/.ralph" {
		t.Errorf("without RALPH_HOME: %q, %v", got, err)
	}
	if got, err := Home(env("RALPH_HOME", "/srv/ralph/", "HOME", "/home/ada")); err != nil || got != "/srv/ralph" {
		t.Errorf("with RALPH_HOME: %q, %v", got, err)
	}
	if _, err := Home(env()); !errors.Is(err, ErrNoHome) {
		t.Errorf("with neither: %v, want ErrNoHome", err)
	}
}
