package fileclass

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Class is what a file is for.
type Class string

// The closed list of classes.
const (
	Program    Class = "program"
	Test       Class = "test"        // tests, and what only they use
	TestConfig Class = "test-config" // what chooses, prepares or starts tests and other checks
	Snapshot   Class = "snapshot"    // recorded outputs that tests compare with
	Docs       Class = "docs"
	Generated  Class = "generated"
	Vendored   Class = "vendored"
	Lock       Class = "lock" // exact versions of dependencies, written by a tool
	Binary     Class = "binary"
	Data       Class = "data" // all other text, settings among it
)

// Beginning is how many bytes of a file matter.
const Beginning = 4 << 10

// Classify returns the class of a file. The path has slashes and begins at the root of the
// repository; content may be cut off after [Beginning] bytes.
func Classify(name string, content []byte) Class {
	content = content[:min(len(content), Beginning)]
	name = path.Clean(strings.TrimPrefix(name, "./"))
	base := path.Base(name)
	folders := strings.Split(strings.ToLower(path.Dir(name)), "/")
	lower := strings.ToLower(base)
	ext := path.Ext(lower)
	inside := func(names []string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return slices.Contains(names, f) })
	}
	switch {
	case inside(vendorFolders):
		return Vendored
	case slices.Contains(lockFiles, lower):
		return Lock
	case inside(snapshotFolders) || snapshotName().MatchString(lower),
		inside(testFolders) && !codeExtension[ext] && (inside(outputFolders) || outputName().MatchString(lower)):
		return Snapshot
	case testConfigName().MatchString(lower) || testConfigPath().MatchString(name):
		return TestConfig
	case inside(generatedFolders) || generatedName().MatchString(lower) || isGenerated(content):
		return Generated
	case inside(testFolders) || isTest(base, ext, content):
		return Test
	case slices.Contains(binaryExtensions, ext) || bytes.IndexByte(content, 0) >= 0:
		return Binary
	case slices.Contains(docsExtensions, ext) || docsName().MatchString(lower):
		return Docs
	case codeExtension[ext] || ext == "" && bytes.HasPrefix(content, []byte("#!")):
		return Program
	case inside(docsFolders):
		return Docs
	}
	return Data
}

// IsForTests reports whether files of the class belong to the tests rather than to what they test.
func (c Class) IsForTests() bool { return c == Test || c == TestConfig || c == Snapshot }

// inFile begins the tests that a file of the program has at its end, in languages with such a
// convention.
var inFile = map[string]func() *regexp.Regexp{
	".rs": units.Pattern(`(?m)^[ \t]*#\[cfg\((?:all\()?test\b`),
	".ts": inSource, ".js": inSource, ".mts": inSource, ".mjs": inSource, ".tsx": inSource, ".jsx": inSource,
}

var inSource = units.Pattern(`(?m)^if \(import\.meta\.vitest\)`)

// TestsBegin returns where the tests begin in the content of a file of the program: at its end
// where it has none.
func TestsBegin(name string, content []byte) int {
	if begin := inFile[strings.ToLower(path.Ext(name))]; begin != nil {
		if at := begin().FindIndex(content); at != nil {
			return at[0]
		}
	}
	return len(content)
}

// isTest reports whether a file outside of the folders for tests is one, by its name or by what it
// imports.
func isTest(base, ext string, content []byte) bool {
	name := strings.TrimSuffix(base, path.Ext(base))
	switch {
	case ext == ".go":
		return strings.HasSuffix(name, "_test")
	case ext == ".bats" || ext == ".feature" || ext == ".t":
		return true
	case !codeExtension[ext] && (ext != "" || !bytes.HasPrefix(content, []byte("#!"))):
		return false
	case testName().MatchString(name) || isScript(ext) && checkName().MatchString(name):
		return true
	}
	imports := testImport[ext]
	return imports != nil && imports().Match(content)
}

func isScript(ext string) bool { return ext == "" || ext == ".sh" || ext == ".bash" || ext == ".zsh" }

// isGenerated reports whether one of the first lines says that a program wrote the file. The words
// have to be in a comment: a generator has them in its own text.
func isGenerated(content []byte) bool {
	for i, line := range bytes.SplitN(content, []byte("\n"), 22) {
		if i < 20 && generatedLine().Match(line) {
			return true
		}
	}
	return false
}
