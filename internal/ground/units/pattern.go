package units

import (
	"regexp"
	"sync"
)

// Pattern returns a regular expression that is compiled when it is used, not when the program
// starts: each of some sixty takes up to half a millisecond of every command.
func Pattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
