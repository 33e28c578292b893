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
)

// A budget keeps one look short, whatever lies in the working tree and in the repositories inside.
type budget struct {
	file   int64 // bytes up to which a file is read
	bytes  int64 // that are read of all files
	nested int   // repositories inside that are looked at
	seen   map[string]seen
}

// seen is what a look at a repository inside showed.
type seen struct {
	Sight
	err error
}

// An imprint collects one digest for each path. Their order does not count: git lists a new file elsewhere once it is added.
type imprint struct {
	look
	root     *os.Root
	path     string // root's
	digests  [][sha256.Size]byte
	newLines int
	partial  bool
}

func (l look) fingerprint(ctx context.Context, root string, entries []entry) (*imprint, error) {
	opened, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	p := &imprint{look: l, root: opened, path: root}
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

func (p *imprint) sum() string {
	slices.SortFunc(p.digests, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	whole := sha256.New()
	for _, d := range p.digests {
		whole.Write(d[:])
	}
	return hex.EncodeToString(whole.Sum(nil))
}

// add takes a path as it lies on the disk. What has gone since git listed it counts as gone.
func (p *imprint) add(ctx context.Context, e entry) error {
	name := strings.TrimSuffix(e.path, "/")
	h := sha256.New()
	// No field can hold a NUL, so no two different paths are written alike.
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
	case err != nil: // its folder is closed to us
		p.partial = true
		fmt.Fprint(h, "unread")
	case info.Mode().IsRegular():
		p.file(h, e, name, info)
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := p.root.Readlink(name)
		fmt.Fprintf(h, "link\x00%s", target)
	case info.IsDir() && (e.module || strings.HasSuffix(e.path, "/")):
		return p.repository(ctx, h, name)
	default: // a file became a folder, whose files have entries of their own, or a device
		fmt.Fprint(h, "gone")
	}
	return nil
}

// file hashes a file's bytes as they are: what filters would make of them, git knows.
func (p *imprint) file(h hash.Hash, e entry, name string, info fs.FileInfo) {
	fmt.Fprintf(h, "file\x00%t\x00%d\x00", info.Mode()&0o100 != 0, info.Size())
	if info.Size() <= min(p.budget.file, p.budget.bytes) {
		lines := lineCount{}
		n, err := p.copy(io.MultiWriter(h, &lines), name, info.Size())
		p.budget.bytes -= n
		if err == nil {
			if e.kind == '?' {
				p.newLines += lines.sum()
			}
			return
		}
	}
	p.partial = true
	fmt.Fprintf(h, "\x00at\x00%d", info.ModTime().UnixNano())
}

// copy hands over at most size bytes, so that a file that grows meanwhile does not hold up the look.
func (p *imprint) copy(to io.Writer, name string, size int64) (int64, error) {
	f, err := p.root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(to, io.LimitReader(f, size))
}

// repository takes a submodule, or a repository that git has not been told of, by its commit and its own fingerprint.
func (p *imprint) repository(ctx context.Context, h hash.Hash, name string) error {
	path := filepath.Join(p.path, name)
	if !isRepository(path) { // without one of its own, git would answer for the one around it
		fmt.Fprint(h, "gone")
		return nil
	}
	s, err := p.inside(ctx, path)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errDeep):
		p.partial = true
		fmt.Fprint(h, "repository")
	case err != nil: // such as one that belongs to somebody else
		p.partial = true
		fmt.Fprint(h, "unread")
	default:
		p.partial = p.partial || s.Partial
		fmt.Fprintf(h, "repository\x00%s\x00%s", s.Head, s.Fingerprint)
	}
	return nil
}

// lineCount counts lines as git does: the last one needs no newline, and a file with a NUL near its beginning has none.
type lineCount struct {
	seen, lines int
	last        byte
	binary      bool
}

const binaryWithin = 8000 // git looks no further (buffer_is_binary)

func (c *lineCount) Write(b []byte) (int, error) {
	if near := binaryWithin - c.seen; near > 0 && bytes.IndexByte(b[:min(near, len(b))], 0) >= 0 {
		c.binary = true
	}
	c.seen += len(b)
	c.lines += bytes.Count(b, []byte{'\n'})
	if len(b) > 0 {
		c.last = b[len(b)-1]
	}
	return len(b), nil
}

func (c *lineCount) sum() int {
	switch {
	case c.binary:
		return 0
	case c.seen > 0 && c.last != '\n':
		return c.lines + 1
	}
	return c.lines
}
