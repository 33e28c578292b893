package tree

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/parts"
)

// version is that of a Link.
const version = 1

// A Link says which tree has the commits that a tree lacks.
type Link struct {
	Version int    `json:"v"`
	Prev    uint64 `json:"prev,omitempty"`  // its number, plus 1; 0 if the tree has all commits
	Depth   int    `json:"depth,omitempty"` // how many trees are needed beside this one
}

// A Manifest is that of an export: manifest.json.
type Manifest struct {
	Format  int       `json:"format"`
	Name    string    `json:"name"`
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Host    string    `json:"host"`
	Version string    `json:"version"`
	Inside  string    `json:"inside"`
	Repo    *Repo     `json:"repo,omitempty"`
	Event   uint64    `json:"event"`
}

// Repo says what the bundle has.
type Repo struct {
	Branch string            `json:"branch,omitempty"`
	Head   string            `json:"head"`
	Tree   string            `json:"tree"`
	Refs   map[string]string `json:"refs,omitempty"`
	Since  []string          `json:"since,omitempty"` // commits that it lacks
}

// skippable begins a frame that a decoder of Zstandard skips.
const skippable = 0x184D2A57

// maxHead bounds a link and a manifest, in bytes.
const maxHead = 1 << 20

func (l Link) frame() []byte {
	text, _ := json.Marshal(l) // has only numbers
	frame := binary.LittleEndian.AppendUint32(nil, skippable)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(text)))
	return append(frame, text...)
}

// Head reads the link and the manifest of a tree, and no more of it than that.
func Head(ctx context.Context, s store.Store, loop string, n uint64) (Link, Manifest, error) {
	r, w := io.Pipe()
	go func() {
		_, err := parts.Get(ctx, s, keys.Tree(loop, n), w)
		w.CloseWithError(err)
	}()
	l, m, err := readHead(r)
	_ = r.Close() // ends the goroutine
	if err != nil {
		err = fmt.Errorf("read tree %d of loop %s: %w", n, loop, err)
	}
	return l, m, err
}

// readLink reads the frame of a link, if there is one.
func readLink(r *bufio.Reader) (l Link, err error) {
	head, err := r.Peek(8)
	if err != nil || binary.LittleEndian.Uint32(head) != skippable {
		return l, nil // whatever is wrong shows up next
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxHead {
		return l, errors.New("its link is too long")
	}
	text := make([]byte, 8+size)
	if _, err := io.ReadFull(r, text); err != nil {
		return l, err
	}
	if err := json.Unmarshal(text[8:], &l); err != nil {
		return l, fmt.Errorf("its link: %w", err)
	}
	if l.Version != version {
		return l, fmt.Errorf("it has version %d, and this program reads %d", l.Version, version)
	}
	return l, nil
}

func readHead(from io.Reader) (l Link, m Manifest, err error) {
	r := bufio.NewReader(from)
	if l, err = readLink(r); err != nil {
		return l, m, err
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return l, m, err
	}
	defer z.Close()
	m, _, err = readManifest(tar.NewReader(z))
	return l, m, err
}

// readManifest reads the first file of an archive.
func readManifest(t *tar.Reader) (m Manifest, text []byte, err error) {
	header, err := t.Next()
	if err != nil {
		return m, nil, err
	}
	if header.Name != manifestName || header.Size > maxHead {
		return m, nil, fmt.Errorf("its first file is %q and not %s", header.Name, manifestName)
	}
	text, err = io.ReadAll(t)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", manifestName, err)
	}
	return m, text, err
}
