package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const gitignore = ".gitignore"

// maxIgnore is the largest .gitignore that is read, in bytes.
const maxIgnore = 1 << 20

// Ignore adds the marker to the .gitignore of a folder, unless a line of it, or of the .gitignore
// in the folder of the repository, names the marker. The line ends as the others do. A .gitignore
// that is no regular file is a *[safefile.Error]: git does not read a link.
func Ignore(project, repository string) (added bool, err error) {
	for _, dir := range []string{repository, project} {
		text, err := ignored(dir)
		if err != nil {
			return false, err
		}
		for line := range strings.Lines(string(text)) {
			switch strings.TrimRight(line, " \t\r\n") {
			case Active, "**/" + Active:
				return false, nil
			case "/" + Active:
				if dir == project {
					return false, nil
				}
			}
		}
	}
	text, err := ignored(project)
	if err != nil {
		return false, err
	}
	ending := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		ending = "\r\n"
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, ending...)
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return false, fmt.Errorf("open the project: %w", err)
	}
	defer root.Close()
	if err := replace(root, gitignore, append(text, Active+ending...)); err != nil {
		return false, fmt.Errorf("write %s: %w", gitignore, err)
	}
	return true, nil
}

// ignored returns the .gitignore of a folder; empty if there is none.
func ignored(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	defer root.Close()
	text, err := safefile.ReadIn(root, gitignore, maxIgnore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", gitignore, err)
	}
	return text, nil
}
