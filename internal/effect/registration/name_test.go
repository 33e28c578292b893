package registration

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/registry"
)

func TestSlugName(t *testing.T) {
	for _, tt := range []struct{ title, in, want string }{
		{"a valid name stays", "a--b..c-", "a--b..c-"},
		{"a branch path joins with dashes", "feature/ABC-123_x", "feature-abc-123_x"},
		{"invalid characters at the ends are cut", " --My Project!! ", "my-project"},
		{"letters beyond ASCII become one dash", "größe", "gr-e"},
		{"nothing left is loop", "ÄÖÜ", "loop"},
		{"an empty name is loop", "", "loop"},
		{"a folder reference is loop", "..", "loop"},
		{"a hidden folder loses its point", ".dotfiles", "dotfiles"},
		{"a reserved name is changed", "Archive", "archive-loop"},
		{"the name of the settings is changed", "settings.json", "settings-json"},
		{"the name of a lock is changed", "yarn.lock", "yarn-lock"},
	} {
		t.Run(tt.title, func(t *testing.T) {
			if got := SlugName(tt.in); got != tt.want {
				t.Errorf("SlugName(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzSlugNameIsAlwaysAValidName(f *testing.F) {
	for _, s := range []string{"", "main", "a/b", ".lock", "A.lock", "x.lock.lock", "archive", "session", strings.Repeat("a", 60) + ".lock", strings.Repeat("é", 99)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		slug := SlugName(s)
		if err := registry.CheckName(slug); err != nil {
			t.Fatalf("SlugName(%q): %v", s, err)
		}
		if again := SlugName(slug); again != slug || !utf8.ValidString(slug) {
			t.Fatalf("SlugName(%q) = %q, and of that %q", s, slug, again)
		}
	})
}
