package moving

import (
	"strings"
	"time"
)

// formatVersion is that of the file.
const formatVersion = 1

// Manifest is the first file of an archive. All paths are relative.
type Manifest struct {
	Format  int       `json:"format"`
	Name    string    `json:"name"`
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Host    string    `json:"host"`
	Version string    `json:"version"` // of the ralph that wrote it
	// Inside is the project's folder within its repository; "." for the repository's own.
	Inside string `json:"inside"`
	Repo   *Repo  `json:"repo,omitempty"` // nil for a project without a commit
	Event  uint64 `json:"event"`          // the last one of the journal
}

// Repo says what the bundle holds.
type Repo struct {
	Branch string `json:"branch,omitempty"` // empty if HEAD named a commit
	Head   string `json:"head"`
	Tree   string `json:"tree"` // a commit of the files as they were on the disk
	// Refs and Since are those of [keep.Bundle]; only a file without journal has them.
	Refs  map[string]string `json:"refs,omitempty"`
	Since []string          `json:"since,omitempty"`
}

// The files of an archive.
const (
	manifestName = "manifest.json"
	bundleName   = "repo.bundle"
	settingsName = "settings.json"
	loopPrefix   = "loop/"
)

// isJournal reports whether a file of the loop's folder is of its journal, which a pool has in
// chunks.
func isJournal(name string) bool {
	return strings.HasPrefix(name, "journal/") || strings.HasPrefix(name, "blobs/")
}
