package guardrail

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const (
	// SettingsFile is the team's settings in a project, LocalSettingsFile one person's additions to
	// them.
	SettingsFile      = ".ralph/settings.json"
	LocalSettingsFile = ".ralph/settings.local.json"

	// MaxKept is the largest file, in bytes, whose content a snapshot keeps. For a larger one it
	// has only the hash.
	MaxKept = 16 << 20
)

// A Place says where the files of a loop are.
type Place struct {
	Work     string // where its guardrails run
	Settings string // the folder that holds .ralph with the settings; "" for the same
}

// folder returns where the files of a role are.
func (p Place) folder(role Role) string {
	if role == Settings && p.Settings != "" {
		return p.Settings
	}
	return p.Work
}

// open opens both folders.
func (p Place) open() (roots, error) {
	work, err := os.OpenRoot(p.Work)
	if err != nil {
		return roots{}, err
	}
	settings, err := os.OpenRoot(p.folder(Settings))
	if err != nil {
		return roots{}, errors.Join(err, work.Close())
	}
	return roots{work, settings}, nil
}

type roots struct{ work, settings *os.Root }

func (r roots) of(role Role) *os.Root {
	if role == Settings {
		return r.settings
	}
	return r.work
}

func (r roots) close() { // nothing was written through them that a close could report
	_ = r.work.Close()
	_ = r.settings.Close()
}

// FileSnapshot has the files that define a project's guardrails: their SHA-256, their mode, and in
// memory, where the agent cannot reach it, the content of those that are protected. It is immutable
// and safe for concurrent use. Records and Keep write it for a later process, Reopen reads it.
type FileSnapshot struct {
	place   Place
	entries []entry
}

type entry struct {
	Record
	content  []byte // of a protected regular file up to MaxKept
	lost     error  // why there is no content
	commands []string
}

// Record is a snapshot's entry for a path, without its content.
type Record struct {
	Path      string // in the project, with slashes, without links in it
	Role      Role
	Protected bool
	State
}

func (r Record) inSettings() bool { return r.Role == Settings }

// same reports whether two records are about one path.
func (r Record) same(other Record) bool {
	return r.Path == other.Path && r.inSettings() == other.inSettings()
}

// State is what is at a path.
type State struct {
	Kind   string      // KindFile, KindLink, or empty if nothing is there
	SHA256 string      // of a file, in hex
	Size   int64       // of a file
	Mode   fs.FileMode // of a file
	Target string      // of a link
}

const (
	KindFile = "file"
	KindLink = "link"
	// kindOther is a folder, a pipe, or a path with a link among its folders.
	kindOther = "other"
)

// String returns the SHA-256 of a file, "link to …" for a link, "not a file" for anything else, and
// "" if nothing is there.
func (s State) String() string {
	switch s.Kind {
	case KindLink:
		return "link to " + s.Target
	case kindOther:
		return "not a file"
	}
	return s.SHA256
}

// ChangeKind is how a file has changed.
type ChangeKind string

const (
	Changed  ChangeKind = "changed" // content, mode, or something else in its place
	Appeared ChangeKind = "appeared"
	Vanished ChangeKind = "vanished"
)

// Change is a file that differs from the snapshot.
type Change struct {
	Path string // in the project, with slashes
	Role Role
	Kind ChangeKind
	// Protected: it defines a protected guardrail, so it is to be restored.
	Protected bool
	// Was and Is are in the form of State.String.
	Was, Is string
	// Commands are the known commands of the guardrails that it defines; none for settings.
	Commands []string
}

// NewSnapshot reads the files of a place that define guardrails: those that the commands name,
// those that the commands' build tools read first, and the project's settings. A file that could
// define a guardrail and is missing (a GNUmakefile beside a Makefile, a ./check.sh) is recorded as
// absent. A link is followed within the place, and recorded too. An error says that a file exists
// and cannot be read.
func NewSnapshot(at Place, guardrails []Guardrail) (*FileSnapshot, error) {
	work, err := filepath.Abs(at.Work)
	if err != nil {
		return nil, fmt.Errorf("snapshot guardrails: %w", err)
	}
	at.Work = work
	roots, err := at.open()
	if err != nil {
		return nil, fmt.Errorf("snapshot guardrails: %w", err)
	}
	defer roots.close()
	b := &snapshotter{root: roots.settings, folder: at.folder(Settings), apart: at.folder(Settings) != at.Work}
	b.protect = slices.ContainsFunc(guardrails, func(g Guardrail) bool { return g.Protect })
	for _, name := range []string{SettingsFile, LocalSettingsFile} {
		b.take(mention{name, Settings, true})
	}
	b.root, b.folder = roots.work, at.Work
	// Protected guardrails come first: a path is protected if any of them mentions it.
	for _, b.protect = range []bool{true, false} {
		for _, g := range guardrails {
			if g.Protect != b.protect {
				continue
			}
			b.command = g.Command
			for _, m := range mentions(g.Command) {
				b.take(m)
			}
		}
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, fmt.Errorf("snapshot guardrails: %w", err)
	}
	return &FileSnapshot{at, b.entries}, nil
}

// Changed compares the snapshot with the files as they are. Every file is read completely. An error
// names a file that could not be read; the changes are then those of the others.
func (s *FileSnapshot) Changed() ([]Change, error) {
	roots, err := s.place.open()
	if err != nil {
		return nil, fmt.Errorf("compare guardrails: %w", err)
	}
	defer roots.close()
	var changes []Change
	var errs []error
	for _, e := range s.entries {
		is, _, err := inspect(roots.of(e.Role), e.Path, false)
		if err != nil {
			errs = append(errs, fmt.Errorf("compare guardrails: %w", err))
			continue
		}
		if is == e.State {
			continue
		}
		c := Change{Path: e.Path, Role: e.Role, Kind: Changed, Protected: e.Protected, Was: e.String(), Is: is.String(), Commands: e.commands}
		switch {
		case e.Kind == "":
			c.Kind = Appeared
		case is.Kind == "":
			c.Kind = Vanished
		}
		changes = append(changes, c)
	}
	return changes, errors.Join(errs...)
}

// InspectPath returns what is at a path in project now, as Change.Is does.
func InspectPath(project, name string) (string, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return "", err
	}
	defer root.Close()
	is, _, err := inspect(root, name, false)
	return is.String(), err
}

// snapshotter collects the entries of a snapshot.
type snapshotter struct {
	root    *os.Root
	folder  string // of root
	apart   bool   // the settings are in another folder
	protect bool   // of the guardrail whose files are added
	command string // of that guardrail; empty for settings
	entries []entry
	files   []fs.FileInfo // of each entry; nil if nothing is there
	errs    []error
}

// take adds a mentioned path, and the links on the way to it.
func (b *snapshotter) take(m mention) {
	name := m.path
	if path.IsAbs(name) {
		inside, err := filepath.Rel(b.folder, filepath.FromSlash(name))
		if err != nil {
			return
		}
		name = filepath.ToSlash(inside)
	}
	if name = path.Clean(name); name == "." || !filepath.IsLocal(filepath.FromSlash(name)) {
		return
	}
	links, real, ok := b.follow(name)
	if !ok && len(links) == 0 {
		return
	}
	var was State
	var content []byte
	var err error
	if ok {
		was, content, err = inspect(b.root, real, b.protect)
	}
	switch {
	case err != nil:
		b.errs = append(b.errs, err)
		return
	case was.Kind == kindOther, was.Kind == "" && !m.awaited && len(links) == 0:
		return
	}
	for _, l := range links {
		b.add(entry{Record: Record{Path: l, Role: m.role, Protected: b.protect}})
	}
	if ok && (was.Kind == KindFile || m.awaited) {
		b.add(entry{Record: Record{Path: real, Role: m.role, Protected: b.protect, State: was}, content: content})
	}
}

// add adds an entry once. The target of a link is read here.
func (b *snapshotter) add(e entry) {
	if at := slices.IndexFunc(b.entries, func(have entry) bool { return have.Path == e.Path && b.together(have, e) }); at >= 0 {
		b.addCommand(&b.entries[at])
		return
	}
	b.addCommand(&e)
	info, err := b.root.Lstat(e.Path)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		e.State, _, err = inspect(b.root, e.Path, false)
	}
	if err != nil && (e.Kind != "" || !keep.IsMissing(err)) {
		b.errs = append(b.errs, err)
		return
	}
	if e.Kind == KindFile {
		// In a file system that ignores case, Makefile and makefile are one file.
		for i, have := range b.entries {
			if have.Kind == KindFile && b.together(have, e) && strings.EqualFold(have.Path, e.Path) && os.SameFile(b.files[i], info) {
				return
			}
		}
	}
	b.entries = append(b.entries, e)
	b.files = append(b.files, info)
}

// together reports whether two entries are in one folder.
func (b *snapshotter) together(one, other entry) bool {
	return !b.apart || one.inSettings() == other.inSettings()
}

// addCommand records that an entry defines the guardrail whose files are added.
func (b *snapshotter) addCommand(e *entry) {
	if b.command != "" && e.Role != Settings && !slices.Contains(e.commands, b.command) {
		e.commands = append(e.commands, b.command)
	}
}

// maxLinks is how many links are followed in a row, as in the kernel.
const maxLinks = 40

// follow resolves the links in a name. It returns the links and where they lead; ok is false if
// that is outside the project or nowhere.
func (b *snapshotter) follow(name string) (links []string, real string, ok bool) {
	rest, done := strings.Split(name, "/"), "."
	for len(rest) > 0 {
		step := rest[0]
		rest = rest[1:]
		if step == ".." && done == "." {
			return links, "", false
		}
		at := path.Join(done, step)
		info, err := b.root.Lstat(at)
		if err != nil || info.Mode().Type() != fs.ModeSymlink {
			done = at
			continue
		}
		target, err := b.root.Readlink(at)
		if links = append(links, at); err != nil || len(links) > maxLinks {
			return links, "", false
		}
		if filepath.IsAbs(target) {
			if target, err = filepath.Rel(b.folder, target); err != nil {
				return links, "", false
			}
			done = "."
		}
		rest = append(strings.Split(path.Clean(filepath.ToSlash(target)), "/"), rest...)
	}
	return links, done, done != "."
}

// inspect reads the state of a path that should have no links in it, and its content if want is set
// and it is not too large.
func inspect(root *os.Root, name string, want bool) (State, []byte, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			return State{Kind: kindOther}, nil, nil
		}
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil && keep.IsMissing(err):
		return State{}, nil, nil
	case err != nil:
		return State{}, nil, err
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		return State{Kind: KindLink, Target: target}, nil, err
	case !info.Mode().IsRegular():
		return State{Kind: kindOther}, nil, nil
	}
	return readRegular(root, name, want)
}

func readRegular(root *os.Root, name string, want bool) (State, []byte, error) {
	file, err := safefile.OpenIn(root, name)
	if _, ok := errors.AsType[*safefile.Error](err); ok { // it was replaced after the Lstat above
		return State{Kind: kindOther}, nil, nil
	}
	if err != nil {
		return State{}, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return State{}, nil, err
	}
	hash := sha256.New()
	var content []byte
	if want && info.Size() <= MaxKept {
		if content, err = io.ReadAll(io.LimitReader(io.TeeReader(file, hash), MaxKept)); err != nil {
			return State{}, nil, err
		}
	}
	more, err := io.Copy(hash, file)
	if err != nil {
		return State{}, nil, err
	}
	state := State{Kind: KindFile, Mode: info.Mode().Perm(), Size: int64(len(content)) + more, SHA256: hex.EncodeToString(hash.Sum(nil))}
	if more > 0 {
		content = nil
	}
	return state, content, nil
}
