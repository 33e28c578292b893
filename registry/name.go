package registry

import (
	"fmt"
	"strings"
)

// maxName is the longest loop name in bytes; a name is ASCII, so in characters too.
const maxName = 64

// NameError says which rule a loop name breaks.
type NameError struct {
	Name string // as it was given
	Rule string // the rule, as a clause that follows the name: "may not end in .lock"
}

func (e *NameError) Error() string { return fmt.Sprintf("loop name %q %s", e.Name, e.Rule) }

// CheckName reports whether name may name a loop: one to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or a digit, and
// none of the names that mean something else in .ralph. A valid name is a single path element on every system. The error is a *NameError.
func CheckName(name string) error {
	if rule := brokenRule(name); rule != "" {
		return &NameError{Name: name, Rule: rule}
	}
	return nil
}

func brokenRule(name string) string {
	switch {
	case name == "":
		return "may not be empty"
	case name == "." || name == "..":
		return "is a folder reference"
	case len(name) > maxName:
		return fmt.Sprintf("may not be longer than %d characters", maxName)
	case !isAlnum(name[0]):
		return "must begin with a-z or 0-9"
	case name == "settings.json" || name == "settings.local.json" || name == "archive":
		return "is reserved"
	case strings.HasSuffix(name, ".lock"):
		return "may not end in .lock"
	}
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return "may hold only a-z, 0-9, '.', '_' and '-'"
		}
	}
	return ""
}

func isAlnum(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func isNameByte(c byte) bool { return isAlnum(c) || c == '.' || c == '_' || c == '-' }

// SlugName turns a branch or folder name into a valid loop name: lower case, runs of other characters become one "-". A valid name
// comes back unchanged; one of which nothing is left becomes "loop". Two names may share a slug.
func SlugName(s string) string {
	if brokenRule(s) == "" {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < maxName; i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		switch {
		case isAlnum(c), b.Len() > 0 && isNameByte(c):
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := strings.TrimRight(b.String(), ".-_")
	if base, ok := strings.CutSuffix(slug, ".lock"); ok {
		slug = base + "-lock"
	}
	switch slug {
	case "":
		return "loop"
	case "archive":
		return "archive-loop"
	case "settings.json", "settings.local.json":
		return strings.ReplaceAll(slug, ".", "-")
	}
	return slug
}
