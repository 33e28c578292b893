package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// Record is one project whose settings a person trusts.
type Record struct {
	// the folder that holds .ralph, absolute, without links
	Project     string    `json:"project"`
	Fingerprint string    `json:"fingerprint"` // of what is trusted, as config.Fingerprint has it
	At          time.Time `json:"at"`
	Parts       []Part    `json:"parts"`
}

// Part is a setting as it was trusted.
type Part struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // for people: secrets are masked
	SHA256 string `json:"sha256"` // of the value itself, in hex
}

// NewPart returns a part; shown is its value for people.
func NewPart(key, value, shown string) Part {
	sum := sha256.Sum256([]byte(value))
	return Part{Key: key, Value: shown, SHA256: hex.EncodeToString(sum[:])}
}

// ErrNotTrusted says that there is no record of a project.
var ErrNotTrusted = errors.New("its settings are not trusted")

// maxRecord bounds the size of a record in bytes: two settings files of their largest size,
// escaped.
const maxRecord = 8 << 20

// Put writes a record, and replaces the project's last one.
func Put(home string, r Record) error {
	path := file(home, r.Project)
	text, err := json.MarshalIndent(r, "", "  ")
	if !filepath.IsAbs(r.Project) {
		err = errors.New("its path is not absolute")
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = safefile.WriteFile(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record that %s is trusted: %w", r.Project, err)
	}
	return nil
}

// Get returns the record of a project. The error is ErrNotTrusted if there is none.
func Get(home, project string) (Record, error) {
	r, err := read(file(home, project))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrNotTrusted
	}
	if err == nil && r.Project != project {
		err = fmt.Errorf("it is about %s", r.Project)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read whether %s is trusted: %w", project, err)
	}
	return r, nil
}

// Remove removes a project's record. The error is ErrNotTrusted if there is none.
func Remove(home, project string) error {
	err := os.Remove(file(home, project))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotTrusted
	}
	if err != nil {
		return fmt.Errorf("stop trusting %s: %w", project, err)
	}
	return nil
}

// List returns all records, sorted by project, and an error for each file that is not a record.
func List(home string) ([]Record, []error) {
	names, err := os.ReadDir(filepath.Join(home, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{fmt.Errorf("list what is trusted: %w", err)}
	}
	var records []Record
	var bad []error
	for _, name := range names {
		if !strings.HasSuffix(name.Name(), ".json") || strings.HasPrefix(name.Name(), ".") {
			continue // being written
		}
		path := filepath.Join(home, folder, name.Name())
		r, err := read(path)
		if err == nil && file(home, r.Project) != path {
			err = fmt.Errorf("its content belongs in %s", filepath.Base(file(home, r.Project)))
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("read %s: %w", path, err))
			continue
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Project, b.Project) })
	return records, bad
}

func read(path string) (Record, error) {
	text, err := safefile.Read(path, maxRecord)
	if err != nil {
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, err
	}
	if r.Project == "" || r.Fingerprint == "" {
		return Record{}, errors.New("it names no project or no fingerprint")
	}
	return r, nil
}

const folder = "trust"

// maxSlug keeps names of files short.
const maxSlug = 40

// file returns the path of a project's record: the name of its folder, for people, and a hash of
// its path.
func file(home, project string) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, filepath.Base(project))
	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(home, folder, slug+"-"+hex.EncodeToString(sum[:8])+".json")
}
