package task

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// DefaultReflection is the text for an iteration that looks back, where the loop's folder has no
// reflect.md.
const DefaultReflection = `Before you go on, look back. Compare task.md with what is really there: run it, read it, do not trust the boxes.
Open again what is ticked and not done, drop what is no longer needed, and add what is missing.
Note what blocks you and what you would do differently; if the last iterations did not help, choose another way.`

// Reflection returns the text for an iteration that looks back: reflect.md of the loop's folder,
// or [DefaultReflection] where that is missing or blank. White space around it is cut.
// It may be a [FileError].
func Reflection(loopDir string) (string, error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return "", fmt.Errorf("read the reflection: %w", err)
	}
	defer root.Close()
	content, err := read(root, ReflectFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the reflection: %w", err)
	}
	if content = bytes.TrimSpace(content); len(content) == 0 {
		return DefaultReflection, nil
	}
	return strings.ToValidUTF8(string(content), "\ufffd"), nil
}
