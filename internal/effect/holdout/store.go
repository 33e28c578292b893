package holdout

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

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Guardrail is a command that must exit with 0 on the claimed work.
type Guardrail struct {
	Name        string         `json:"name"`
	Command     string         `json:"command"`
	Requirement string         `json:"requirement"` // what has to hold, in words for the agent
	Timeout     event.Duration `json:"timeout,omitzero"`
	Files       []string       `json:"files,omitempty"` // paths in the project, with slashes
}

// Store has the held-out guardrails of a project.
type Store struct{ Dir string }

const (
	// Folder is in ralph's home.
	Folder       = "held-out"
	listFile     = "guardrails.json"
	filesFolder  = "files"
	outputFolder = "output"

	maxList       = 4 << 20 // bytes
	maxFiles      = 20_000  // of a guardrail
	maxBytes      = 1 << 30
	maxGuardrails = 64 // of a project
	// MaxRequirement bounds the words for the agent, in bytes.
	MaxRequirement = 500
)

// Open returns the store of a project, which may not exist.
func Open(home, project string) Store {
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	sum := sha256.Sum256([]byte(project))
	return Store{filepath.Join(home, Folder, registration.SlugName(filepath.Base(project))+"-"+hex.EncodeToString(sum[:6]))}
}

// File returns where a file of the store is, by its path in the project.
func (s Store) File(name string) string {
	return filepath.Join(s.Dir, filesFolder, filepath.FromSlash(name))
}

// Guardrails returns those of the store.
func (s Store) Guardrails() ([]Guardrail, error) {
	text, err := safefile.Read(filepath.Join(s.Dir, listFile), maxList)
	var list []Guardrail
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil:
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the held-out guardrails: %w", err)
	}
	return list, nil
}

// All returns the held-out guardrails of a project: those of the store, then those of the person's
// own settings, which have no files.
func All(home, project string) ([]Guardrail, error) {
	all, err := Open(home, project).Guardrails()
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(config.Source{HomeDir: home})
	if err != nil {
		return nil, err
	}
	for _, g := range loaded.HeldOut {
		if g.HeldOut {
			all = append(all, Guardrail{Name: nameFor(g.Requirement, all), Command: g.Command, Requirement: g.Requirement, Timeout: g.Timeout})
		}
	}
	return all, nil
}

// nameFor makes a name that none of the others has.
func nameFor(words string, others []Guardrail) string {
	base := registration.SlugName(strings.ToLower(words[:min(len(words), 40)]))
	name := base
	for n := 2; slices.ContainsFunc(others, func(g Guardrail) bool { return g.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// An ExistsError reports what an addition would replace.
type ExistsError struct{ What string }

func (e *ExistsError) Error() string { return "there is " + e.What + " already" }

// Hint returns the next step.
func (e *ExistsError) Hint() string {
	return "--replace replaces it; 'ralph holdout list' shows what there is"
}

// Add keeps a guardrail with its files. A file's path in the project is its own name, that of a
// file in a folder its path in the folder. What is there of that name is an [ExistsError], unless
// it is to be replaced. The paths must lead out of the project, where an agent reads them.
func (s Store) Add(g Guardrail, project string, paths []string, replace bool) (Guardrail, error) {
	switch words := strings.TrimSpace(g.Requirement); {
	case strings.TrimSpace(g.Command) == "":
		return g, errors.New("the command is empty")
	case words == "":
		return g, errors.New("the requirement is empty, and the agent reads nothing else")
	case len(words) > MaxRequirement || strings.ContainsAny(words, "\r\n"):
		return g, fmt.Errorf("the requirement is longer than a line of %d bytes", MaxRequirement)
	}
	list, err := s.Guardrails()
	if err != nil {
		return g, err
	}
	if g.Name == "" {
		g.Name = nameFor(g.Requirement, list)
	}
	at := slices.IndexFunc(list, func(other Guardrail) bool { return other.Name == g.Name })
	switch err := registry.CheckName(g.Name); {
	case err != nil:
		return g, err
	case at >= 0 && !replace:
		return g, &ExistsError{"a held-out guardrail " + g.Name}
	case at < 0 && len(list) >= maxGuardrails:
		return g, fmt.Errorf("there are %d held-out guardrails, and no more are kept", len(list))
	}
	sources, err := findSources(project, paths)
	if err != nil {
		return g, err
	}
	for _, from := range sources {
		for _, other := range list {
			if other.Name != g.Name && slices.Contains(other.Files, from.name) {
				return g, fmt.Errorf("%s belongs to the held-out guardrail %s", from.name, other.Name)
			}
		}
		g.Files = append(g.Files, from.name)
	}
	var dropped []string
	if at >= 0 {
		dropped, list[at] = list[at].Files, g
	} else {
		list = append(list, g)
	}
	if err := s.make(project); err != nil {
		return g, err
	}
	if err := s.removeFiles(dropped); err != nil {
		return g, err
	}
	if err := s.copyFiles(sources); err != nil {
		return g, err
	}
	return g, s.write(list)
}

// make makes the folder of the store. It may not be among the files of a repository, which a commit
// or a snapshot would keep where an agent reads them.
func (s Store) make(project string) error {
	if err := os.MkdirAll(filepath.Join(s.Dir, filesFolder), 0o700); err != nil {
		return err
	}
	project, err := repo.WorkTree(project)
	if err != nil || !repo.IsRepository(project) {
		return err
	}
	real, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return err
	}
	if inside, err := filepath.Rel(project, real); err == nil && filepath.IsLocal(inside) && !repo.IsOwn(filepath.ToSlash(inside)) {
		return fmt.Errorf("ralph's home %s is in the project, where an agent reads it: set RALPH_HOME to a folder elsewhere", filepath.Dir(filepath.Dir(s.Dir)))
	}
	return nil
}

// ErrUnknown reports a name that no held-out guardrail has.
var ErrUnknown = errors.New("there is no such held-out guardrail")

// Remove removes a guardrail with its files.
func (s Store) Remove(name string) error {
	list, err := s.Guardrails()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(g Guardrail) bool { return g.Name == name })
	if at < 0 {
		return fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	files := list[at].Files
	if err := s.write(slices.Delete(list, at, at+1)); err != nil {
		return err
	}
	return s.removeFiles(files)
}

func (s Store) write(list []Guardrail) error {
	text, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = safefile.WriteFile(filepath.Join(s.Dir, listFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		err = fmt.Errorf("keep the held-out guardrails: %w", err)
	}
	return err
}

// removeFiles removes files of the store, and the folders that are empty then.
func (s Store) removeFiles(names []string) error {
	root, err := os.OpenRoot(filepath.Join(s.Dir, filesFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		name = filepath.FromSlash(name)
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := filepath.Dir(name); dir != "." && root.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return nil
}

// A source is a file that is added.
type source struct {
	root, inside string // the folder, and the path in it
	name         string // its path in the project, with slashes
}

// findSources lists the files at the paths. A link is refused: it may lead to something else, and
// leads elsewhere in another place.
func findSources(project string, paths []string) (found []source, err error) {
	project, err = filepath.EvalSymlinks(project)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, path := range paths {
		root, inside := path, "."
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			root, inside = filepath.Dir(path), filepath.Base(path)
		}
		if err := checkOutside(project, path); err != nil {
			return nil, err
		}
		err = filepath.WalkDir(filepath.Join(root, inside), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			inside, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			name := filepath.ToSlash(inside)
			size += info.Size()
			switch {
			case !info.Mode().IsRegular():
				return fmt.Errorf("%s is a link or no regular file: put the file itself there", path)
			case repo.IsOwn(name) || strings.EqualFold(strings.Split(name, "/")[0], ".git"):
				return fmt.Errorf("%s would be a file of git's or of ralph's in the project", path)
			case len(found) >= maxFiles || size > maxBytes:
				return fmt.Errorf("%s has more than %d files or %d MiB", root, maxFiles, maxBytes>>20)
			}
			found = append(found, source{root, inside, name})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b source) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(found); i++ {
		if found[i].name == found[i-1].name {
			return nil, fmt.Errorf("two files would be %s in the project", found[i].name)
		}
	}
	return found, nil
}

// An InsideError reports held-out files that are in the project.
type InsideError struct{ Path string }

func (e *InsideError) Error() string {
	return e.Path + " is in the project, where an agent reads it"
}

// Hint returns the next step.
func (e *InsideError) Hint() string {
	return "move it out of the project, and out of its history: a folder beside it, with the paths that the files have in the project"
}

func checkOutside(project, path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(project, real); err == nil && filepath.IsLocal(rel) {
		return &InsideError{path}
	}
	return nil
}

func (s Store) copyFiles(sources []source) error {
	to, err := os.OpenRoot(filepath.Join(s.Dir, filesFolder))
	if err != nil {
		return err
	}
	defer to.Close()
	for _, source := range sources {
		if err := source.copy(to); err != nil {
			return fmt.Errorf("keep %s: %w", source.name, err)
		}
	}
	return nil
}

func (f source) copy(to *os.Root) error {
	from, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer from.Close()
	name := filepath.FromSlash(f.name)
	info, err := from.Lstat(f.inside)
	if err != nil {
		return err
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return workspace.CopyAs(from, f.inside, to, name, 0o600|info.Mode().Perm()&0o100)
}
