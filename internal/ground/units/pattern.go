package units

import (
	"regexp"
	"sync"
)

// Pattern returns a regular expression that is compiled when it is first used, not when the program
// starts: compiling all three hundred takes 6 ms and 4 MB of every command.
func Pattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
