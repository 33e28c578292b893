package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// PullRequestFile is what the agent writes about the pull request of its work: the first line is
// the title, what follows is the text.
const PullRequestFile = "PR.md"

// maxPullRequest is how many bytes of that file are read.
const maxPullRequest = 64 << 10

// ReadPullRequest returns the title and the text that the agent wrote for the pull request; both
// are empty if there is no such file. It is the agent's text, and not clean. Anything but a text
// file of at most 64 KiB in its place is a [FileError].
func ReadPullRequest(loopDir string) (title, text string, err error) {
	root, err := os.OpenRoot(loopDir)
	if err != nil {
		return "", "", fmt.Errorf("open the loop's folder: %w", err)
	}
	defer root.Close()
	content, err := readStart(root, PullRequestFile, maxPullRequest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", nil
	case err != nil:
		return "", "", fmt.Errorf("read %s: %w", PullRequestFile, err)
	}
	written := strings.TrimSpace(strings.ToValidUTF8(string(content), "\ufffd"))
	title, text, _ = strings.Cut(written, "\n")
	return strings.TrimSpace(strings.TrimLeft(title, "# ")), strings.TrimSpace(text), nil
}
