package mirror

import (
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
	"regexp"

	"github.com/ralph-loop/ralph/pool/durable"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/parts"
)

// blobName matches all that can be the name of a blob, also in the checkpoint of a segment.
var blobName = regexp.MustCompile(`"[0-9a-f]{64}"`)

// blobsKnown bounds what is remembered of a loop's blobs.
const blobsKnown = 4096

// putBlobs stores the blobs that lines name. A name without a file is another hash, or a blob that
// went with its segment.
func (l *loop) putBlobs(ctx context.Context, s store.Store, text []byte) error {
	for _, quoted := range blobName.FindAll(text, -1) {
		name := string(quoted[1 : len(quoted)-1])
		if l.blobs[name] {
			continue
		}
		err := putBlob(ctx, s, l.id, filepath.Join(l.dir, "blobs"), name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("blob %s: %w", name, err)
		}
		if len(l.blobs) >= blobsKnown {
			clear(l.blobs)
		}
		l.blobs[name] = true
	}
	return nil
}

// putBlob stores the file of that name, of which it verifies the hash before the key is written: an
// agent may have put another file there, or a link to one.
func putBlob(ctx context.Context, s store.Store, loop, folder, name string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := durable.OpenRegular(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > store.MaxValue { // its parts would be sent before the key is refused
		if _, err := parts.Head(ctx, s, keys.Blob(loop, name)); err == nil {
			return nil
		}
	}
	_, err = parts.Put(ctx, s, keys.Blob(loop, name), &verified{from: f, sum: sha256.New(), want: name})
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// verified ends with an error instead of io.EOF if its bytes do not have that SHA-256.
type verified struct {
	from io.Reader
	sum  hash.Hash
	want string
}

func (v *verified) Read(b []byte) (int, error) {
	n, err := v.from.Read(b)
	v.sum.Write(b[:n])
	if err == io.EOF {
		if got := hex.EncodeToString(v.sum.Sum(nil)); got != v.want {
			return n, fmt.Errorf("its content has the SHA-256 %s: it is damaged", got)
		}
	}
	return n, err
}
