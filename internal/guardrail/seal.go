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
)

const (
	// SettingsFile is the team's settings in a project, LocalSettingsFile what one person adds to them there.
	SettingsFile      = ".ralph/settings.json"
	LocalSettingsFile = ".ralph/settings.local.json"

	// MaxKept is the largest file, in bytes, whose content a seal keeps. Of a larger one it only knows the fingerprint.
	MaxKept = 16 << 20
)

// Seal remembers the files that define a project's guardrails: their SHA-256, their mode, and, out of the agent's reach in this process's
// memory, the content of those that are protected. It is immutable and safe for concurrent use. What has to outlive the
// process is in Records and Keep, from which Reopen makes the seal again.
type Seal struct {
	project string
	entries []entry
}

type entry struct {
	path    string // with slashes, without links in it
	role    Role
	protect bool
	was     state
	body    []byte // of a protected regular file up to MaxKept
	unkept  error  // why there is none
	of      []string
}

// state is what stands at a path.
type state struct {
	kind   kind
	mode   fs.FileMode // of a regular file
	size   int64
	sum    [sha256.Size]byte
	target string // of a link
}

type kind int

const (
	absent kind = iota
	regular
	link
	other // a folder, a pipe, or a link among the folders above
)

// ChangeKind is what became of a file.
type ChangeKind string

const (
	Changed  ChangeKind = "changed" // content, mode, or something else in its place
	Appeared ChangeKind = "appeared"
	Vanished ChangeKind = "vanished"
)

// Change is a file that is not what it was.
type Change struct {
	Path string // in the project, with slashes
	Role Role
	Kind ChangeKind
	// Protected: a guardrail that it defines is, so that it is to be put back.
	Protected bool
	// Was and Is are the SHA-256 in hex, "link to …" for a symbolic link, "not a file" for what is neither, and empty for nothing.
	Was, Is string
	// Of are the commands of the guardrails that it defines, as far as they are known; none of settings.
	Of []string
}

// File is a file as it was sealed.
type File struct {
	Path  string
	Role  Role
	State string // as in Change.Was
}

// NewSeal takes down the files in project that define guardrails: those that the commands name, those that the commands' build tools read
// first, the project's settings, and extra, which are paths in the project. What could define them and is not there yet (a
// GNUmakefile beside a Makefile, a ./check.sh) is taken down as absent. A link is followed within the project, and sealed itself,
// too. An error says that a file is there and cannot be read; of arguments this is not asked.
func NewSeal(project string, guardrails []Guardrail, extra ...string) (*Seal, error) {
	project, err := filepath.Abs(project)
	if err != nil {
		return nil, fmt.Errorf("seal guardrails: %w", err)
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, fmt.Errorf("seal guardrails: %w", err)
	}
	defer root.Close()
	b := &sealer{root: root, project: project}
	b.protect = slices.ContainsFunc(guardrails, func(g Guardrail) bool { return g.Protect })
	for _, name := range append([]string{SettingsFile, LocalSettingsFile}, extra...) {
		b.take(mention{filepath.ToSlash(name), Settings, true})
	}
	// Of the roles of a file the first stands, so arguments come last. Of what is protected and
	// what is not, the first is protected.
	guardrails = slices.Clone(guardrails)
	slices.SortStableFunc(guardrails, func(a, b Guardrail) int { return truth(b.Protect) - truth(a.Protect) })
	for _, arguments := range []bool{false, true} {
		for _, g := range guardrails {
			b.protect, b.command = g.Protect, g.Command
			for _, m := range mentions(g.Command) {
				if (m.role == Argument) == arguments {
					b.take(m)
				}
			}
		}
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, fmt.Errorf("seal guardrails: %w", err)
	}
	return &Seal{project, b.entries}, nil
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Files returns what was sealed and was there, settings first.
func (s *Seal) Files() []File {
	var files []File
	for _, e := range s.entries {
		if e.was.kind != absent {
			files = append(files, File{e.path, e.role, e.was.String()})
		}
	}
	return files
}

// Changed compares what was sealed with what is there now. Every file is read whole. An error names a file that could not be
// looked at; the changes are then those of the others.
func (s *Seal) Changed() ([]Change, error) {
	root, err := os.OpenRoot(s.project)
	if err != nil {
		return nil, fmt.Errorf("compare guardrails: %w", err)
	}
	defer root.Close()
	var changes []Change
	var errs []error
	for _, e := range s.entries {
		is, _, err := inspect(root, e.path, false)
		if err != nil {
			errs = append(errs, fmt.Errorf("compare guardrails: %w", err))
			continue
		}
		if is == e.was {
			continue
		}
		c := Change{Path: e.path, Role: e.role, Kind: Changed, Protected: e.protect, Was: e.was.String(), Is: is.String(), Of: e.of}
		switch {
		case e.was.kind == absent:
			c.Kind = Appeared
		case is.kind == absent:
			c.Kind = Vanished
		}
		changes = append(changes, c)
	}
	return changes, errors.Join(errs...)
}

// Standing returns what stands at a path in project now, in the words of [Change].Is.
func Standing(project, name string) (string, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return "", err
	}
	defer root.Close()
	is, _, err := inspect(root, name, false)
	return is.String(), err
}

// Defining returns the changes of what defines guardrails. What one is merely given as an argument may be
// the very work: a list of what is done.
func Defining(changes []Change) []Change {
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Role == Argument })
}

func (s state) String() string {
	switch s.kind {
	case absent:
		return ""
	case regular:
		return hex.EncodeToString(s.sum[:])
	case link:
		return "link to " + s.target
	}
	return "not a file"
}

// sealer gathers the entries of a seal.
type sealer struct {
	root    *os.Root
	project string
	protect bool // what is being taken
	command string
	entries []entry
	files   []fs.FileInfo // of each entry; nil where nothing is
	errs    []error
}

// take seals what is mentioned, and the links on the way to it.
func (b *sealer) take(m mention) {
	name := m.path
	if path.IsAbs(name) {
		inside, err := filepath.Rel(b.project, filepath.FromSlash(name))
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
	was, body, err := state{}, []byte(nil), error(nil)
	if ok {
		was, body, err = inspect(b.root, real, b.protect)
	}
	switch {
	case err != nil && m.role == Argument: // it may be anything, also something that only looks like a file
		return
	case err != nil:
		b.errs = append(b.errs, err)
		return
	case was.kind == other, was.kind == absent && !m.awaited && len(links) == 0:
		return
	}
	for _, l := range links {
		b.add(entry{path: l, role: m.role, protect: b.protect})
	}
	if ok && (was.kind == regular || m.awaited) {
		b.add(entry{path: real, role: m.role, protect: b.protect, was: was, body: body})
	}
}

// add enters an entry once. What a link says is read here.
func (b *sealer) add(e entry) {
	if at := slices.IndexFunc(b.entries, func(have entry) bool { return have.path == e.path }); at >= 0 {
		b.name(&b.entries[at])
		return
	}
	b.name(&e)
	info, err := b.root.Lstat(e.path)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		e.was, _, err = inspect(b.root, e.path, false)
	}
	if err != nil && (e.was.kind != absent || !missing(err)) {
		b.errs = append(b.errs, err)
		return
	}
	if e.was.kind == regular {
		// Where case does not count, Makefile and makefile are one file.
		for i, have := range b.entries {
			if have.was.kind == regular && strings.EqualFold(have.path, e.path) && os.SameFile(b.files[i], info) {
				return
			}
		}
	}
	b.entries = append(b.entries, e)
	b.files = append(b.files, info)
}

// name notes that the guardrail which is being taken is defined by an entry.
func (b *sealer) name(e *entry) {
	if b.command != "" && e.role != Settings && !slices.Contains(e.of, b.command) {
		e.of = append(e.of, b.command)
	}
}

// maxLinks is how many links may lead from one to another, as in the kernel.
const maxLinks = 40

// follow resolves the links in a name. It returns those it met, and where they lead; not ok is what leads out of the project or nowhere.
func (b *sealer) follow(name string) (links []string, real string, ok bool) {
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
			if target, err = filepath.Rel(b.project, target); err != nil {
				return links, "", false
			}
			done = "."
		}
		rest = append(strings.Split(path.Clean(filepath.ToSlash(target)), "/"), rest...)
	}
	return links, done, done != "."
}

// inspect tells what stands at a path that should have no links in it, and returns its content if that is wanted and not too large.
func inspect(root *os.Root, name string, want bool) (state, []byte, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			return state{kind: other}, nil, nil
		}
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil && missing(err):
		return state{}, nil, nil
	case err != nil:
		return state{}, nil, err
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		return state{kind: link, target: target}, nil, err
	case !info.Mode().IsRegular():
		return state{kind: other}, nil, nil
	}
	return readRegular(root, name, want)
}

func readRegular(root *os.Root, name string, want bool) (state, []byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return state{}, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return state{}, nil, err
	}
	if !info.Mode().IsRegular() { // it was replaced since it was looked at
		return state{kind: other}, nil, nil
	}
	s := state{kind: regular, mode: info.Mode().Perm()}
	hash := sha256.New()
	var body []byte
	if want && info.Size() <= MaxKept {
		body, err = io.ReadAll(io.LimitReader(io.TeeReader(file, hash), MaxKept+1))
		s.size = int64(len(body))
		if len(body) > MaxKept {
			body = nil
		}
	}
	if err == nil {
		var more int64
		more, err = io.Copy(hash, file)
		if s.size += more; more > 0 {
			body = nil
		}
	}
	hash.Sum(s.sum[:0])
	if err != nil {
		return state{}, nil, err
	}
	return s, body, nil
}
