package registry

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckNameNamesTheBrokenRule(t *testing.T) {
	for _, tt := range []struct{ title, name, rule string }{
		{"one letter is a name", "a", ""},
		{"digits, points, underscores and dashes may follow", "0.a_b-c", ""},
		{"two points within are only points", "a..b", ""},
		{"64 characters are a name", strings.Repeat("x", 64), ""},
		{"a name may contain a reserved one", "archive-2", ""},
		{"nothing is no name", "", "empty"},
		{"a folder reference is no name", "..", "folder reference"},
		{"the folder itself is no name", ".", "folder reference"},
		{"65 characters are too many", strings.Repeat("x", 65), "longer"},
		{"a hidden file is no name", ".git", "begin"},
		{"an option is no name", "-rf", "begin"},
		{"upper case is refused at the beginning", "Fix", "begin"},
		{"upper case is refused within", "fIx", "only"},
		{"a path is no name", "a/b", "only"},
		{"a backslash path is no name", `a\b`, "only"},
		{"a NUL is refused", "a\x00", "only"},
		{"a newline is refused", "a\n", "only"},
		{"letters beyond ASCII are refused", "größe", "only"},
		{"the team's settings are reserved", "settings.json", "reserved"},
		{"the personal settings are reserved", "settings.local.json", "reserved"},
		{"the archive is reserved", "archive", "reserved"},
		{"a lock file is no loop", "run.lock", ".lock"},
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

func TestSlugName(t *testing.T) {
	for _, tt := range []struct{ title, in, want string }{
		{"a valid name stays", "a--b..c-", "a--b..c-"},
		{"a branch path joins with dashes", "feature/ABC-123_x", "feature-abc-123_x"},
		{"what cannot begin or end a name goes", " --My Project!! ", "my-project"},
		{"letters beyond ASCII become one dash", "größe", "gr-e"},
		{"nothing left is loop", "ÄÖÜ", "loop"},
		{"an empty name is loop", "", "loop"},
		{"a folder reference is loop", "..", "loop"},
		{"a hidden folder loses its point", ".dotfiles", "dotfiles"},
		{"reserved names step aside", "Archive", "archive-loop"},
		{"settings step aside", "settings.json", "settings-json"},
		{"a lock's name steps aside", "yarn.lock", "yarn-lock"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			if got := SlugName(tt.in); got != tt.want {
				t.Errorf("SlugName(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzSlugNameIsAlwaysAValidName(f *testing.F) {
	for _, s := range []string{"", "main", "a/b", ".lock", "A.lock", "x.lock.lock", "archive", strings.Repeat("a", 60) + ".lock", strings.Repeat("é", 99)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		slug := SlugName(s)
		if err := CheckName(slug); err != nil {
			t.Fatalf("SlugName(%q): %v", s, err)
		}
		if again := SlugName(slug); again != slug || !utf8.ValidString(slug) {
			t.Fatalf("SlugName(%q) = %q, and of that %q", s, slug, again)
		}
	})
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
