package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

// A budget limits the work of one snapshot, whatever is in the working tree.
type budget struct {
	file         int64 // the largest file that is read, in bytes
	bytes        int64 // that are read of all files together
	repositories int   // nested repositories that are inspected
	results      map[string]nestedResult
}

// nestedResult is the result for a nested repository.
type nestedResult struct {
	Snapshot
	err error
}

// A fingerprint collects one digest for each path. Their order does not matter: git moves a new
// file in its list when it is added.
type fingerprint struct {
	Inspector
	root     *os.Root
	path     string // root's
	digests  [][sha256.Size]byte
	newLines int
	partial  bool
}

func (l Inspector) fingerprint(ctx context.Context, root string, entries []entry) (*fingerprint, error) {
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	p := &fingerprint{Inspector: l, root: opened, path: root}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := p.add(ctx, e); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *fingerprint) sum() string {
	slices.SortFunc(p.digests, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	sum := sha256.New()
	for _, d := range p.digests {
		sum.Write(d[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// add adds a path with its content on the disk. A file that was removed since git listed it counts
// as deleted.
func (p *fingerprint) add(ctx context.Context, e entry) error {
	name := strings.TrimSuffix(e.path, "/")
	h := sha256.New()
	// No field can hold a NUL, so two different paths never give the same text.
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00", name, e.headMode, e.headID)
	defer func() { p.digests = append(p.digests, [sha256.Size]byte(h.Sum(nil))) }()

	if e.gone {
		fmt.Fprint(h, "gone")
		return nil
	}
	name = filepath.FromSlash(name)
	info, err := p.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprint(h, "gone")
	case err != nil: // its folder cannot be read
		p.partial = true
		fmt.Fprint(h, "unread")
	case info.Mode().IsRegular():
		p.file(h, e, name, info)
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := p.root.Readlink(name)
		fmt.Fprintf(h, "link\x00%s", target)
	case info.IsDir() && (e.module || strings.HasSuffix(e.path, "/")):
		return p.repository(ctx, h, name)
	default: // a folder, whose files have their own entries, or a device
		fmt.Fprint(h, "gone")
	}
	return nil
}

// file hashes a file's bytes as they are, without filters.
func (p *fingerprint) file(h hash.Hash, e entry, name string, info fs.FileInfo) {
	fmt.Fprintf(h, "file\x00%t\x00%d\x00", info.Mode()&0o100 != 0, info.Size())
	if info.Size() <= min(p.budget.file, p.budget.bytes) {
		content, err := p.read(name, info.Size())
		p.budget.bytes -= int64(len(content))
		h.Write(content)
		if err == nil {
			if e.kind == '?' {
				p.newLines += lineCount(content)
			}
			return
		}
	}
	p.partial = true
	fmt.Fprintf(h, "\x00at\x00%d", info.ModTime().UnixNano())
}

// read reads at most size bytes, so that a growing file cannot delay the snapshot.
func (p *fingerprint) read(name string, size int64) ([]byte, error) {
	f, err := safefile.OpenIn(p.root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, size))
}

// repository adds a submodule, or a nested repository that git does not track, by its commit and
// its own fingerprint.
func (p *fingerprint) repository(ctx context.Context, h hash.Hash, name string) error {
	path := filepath.Join(p.path, name)
	if !IsRepository(path) { // git would answer for the repository around it
		fmt.Fprint(h, "gone")
		return nil
	}
	s, err := p.Nested(ctx, path)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTooNested):
		p.partial = true
		fmt.Fprint(h, "repository")
	case err != nil: // such as one that belongs to another user
		p.partial = true
		fmt.Fprint(h, "unread")
	default:
		p.partial = p.partial || s.Partial
		fmt.Fprintf(h, "repository\x00%s\x00%s", s.Head, s.Fingerprint)
	}
	return nil
}

// lineCount counts lines like git: the last one needs no newline, and a file with a NUL near its
// beginning has no lines.
func lineCount(content []byte) int {
	const binaryWithin = 8000 // as in git's buffer_is_binary
	if bytes.IndexByte(content[:min(len(content), binaryWithin)], 0) >= 0 {
		return 0
	}
	n := bytes.Count(content, []byte{'\n'})
	if len(content) > 0 && content[len(content)-1] != '\n' {
		n++
	}
	return n
}
