package registry

import (
	"fmt"
	"strings"
)

// MaxName is the longest loop name in bytes; a name is ASCII, so in characters too.
const MaxName = 64

// NameError says which rule a loop name breaks.
type NameError struct {
	Name string // as it was given
	Rule string // the rule, as a clause that follows the name: "may not end in .lock"
}

func (e *NameError) Error() string { return fmt.Sprintf("loop name %q %s", e.Name, e.Rule) }

// Hint says what a name can be.
func (*NameError) Hint() string {
	return "name it with a-z, 0-9, '.', '_' and '-', such as parser-2"
}

// CheckName reports whether name may name a loop: one to 64 of a-z, 0-9, ".", "_" and "-",
// beginning with a letter or a digit, and none of the names that mean something else in .ralph. A
// valid name is a single path element on every system. The error is a *NameError.
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
	case len(name) > MaxName:
		return fmt.Sprintf("may not be longer than %d characters", MaxName)
	case !isAlnum(name[0]):
		return "must begin with a-z or 0-9"
	case name == "settings.json" || name == "settings.local.json" || name == "archive" || name == "session":
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
