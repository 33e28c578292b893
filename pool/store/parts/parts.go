// Package parts stores what is longer than a value of a store: the files of a loop, and long
// texts of its journal.
//
// A part is stored under its SHA-256, so a write that is repeated finds what the first one
// stored. The value's own key is written last and only if it is absent: it names all parts and
// has the SHA-256 over them, so there is either the whole or no key. What fits into one value has
// no parts.
package parts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
)

// Version is that of the header.
const Version = 1

// maxParts is how many hashes of 64 digits, in quotes and with a comma, a header has room for.
const maxParts = (store.MaxValue - 1024) / (64 + 3)

// A Header is the first line under the value's key. After it is what no part has: the last bytes.
type Header struct {
	Version int `json:"v"`
	// Size and SHA256 are those of the whole.
	Size   int64    `json:"size"`
	SHA256 string   `json:"sha256"`
	Parts  []string `json:"parts,omitempty"` // the SHA-256 of each, in hexadecimal
}

// Put stores what r has until its end, if the key is absent. With store.ErrExists the header is
// that of what was to be stored; [Head] has the other's. After another error it is unknown
// whether the key was written: Put it again.
func Put(ctx context.Context, s store.Store, key string, r io.Reader) (Header, error) {
	h := Header{Version: Version}
	fail := func(err error) (Header, error) { return h, fmt.Errorf("store %s in parts: %w", key, err) }
	sum := sha256.New()
	part := make([]byte, store.MaxValue)
	for {
		n, err := io.ReadFull(r, part)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return fail(err)
		}
		sum.Write(part[:n])
		h.Size += int64(n)
		h.SHA256 = hex.EncodeToString(sum.Sum(nil))
		if last {
			if stored := encode(h, part[:n]); len(stored) <= store.MaxValue {
				_, err := s.PutIfAbsent(ctx, key, stored)
				return h, err
			}
		}
		if n > 0 {
			id, err := putPart(ctx, s, key, part[:n])
			if err != nil {
				return fail(err)
			}
			h.Parts = append(h.Parts, id)
		}
		if len(h.Parts) > maxParts {
			return fail(fmt.Errorf("it has more than %d parts of %d bytes", maxParts, len(part)))
		}
		if last {
			_, err := s.PutIfAbsent(ctx, key, encode(h, nil))
			return h, err
		}
	}
}

func encode(h Header, rest []byte) []byte {
	head, _ := json.Marshal(h) // has only texts and numbers
	return append(append(head, '\n'), rest...)
}

// putPart stores a part under its hash. A part that exists is compared, and replaced where it
// is damaged: a body may have been cut off before it was stored.
func putPart(ctx context.Context, s store.Store, key string, part []byte) (id string, err error) {
	id = hashOf(part)
	_, err = s.PutIfAbsent(ctx, keys.Part(key, id), part)
	if !errors.Is(err, store.ErrExists) {
		return id, err
	}
	entry, err := s.Get(ctx, keys.Part(key, id))
	if err != nil || bytes.Equal(entry.Value, part) {
		return id, err
	}
	_, err = s.CompareAndSwap(ctx, keys.Part(key, id), entry.Revision, part)
	return id, err
}

func hashOf(part []byte) string {
	sum := sha256.Sum256(part)
	return hex.EncodeToString(sum[:])
}

// Head reads the header of a key.
func Head(ctx context.Context, s store.Store, key string) (Header, error) {
	h, _, err := head(ctx, s, key)
	return h, err
}

func head(ctx context.Context, s store.Store, key string) (h Header, rest []byte, err error) {
	entry, err := s.Get(ctx, key)
	if err != nil {
		return h, nil, err
	}
	line, rest, found := bytes.Cut(entry.Value, []byte("\n"))
	if !found {
		return h, nil, fmt.Errorf("read %s: it has no header", key)
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, fmt.Errorf("read the header of %s: %w", key, err)
	}
	if h.Version != Version {
		return h, nil, fmt.Errorf("%s has version %d, and this program reads %d", key, h.Version, Version)
	}
	return h, rest, nil
}

// Get writes the value of a key. Each part is verified before it is written, and the whole at the
// end: after an error, w has the beginning or nothing, and it is to be thrown away.
func Get(ctx context.Context, s store.Store, key string, w io.Writer) (Header, error) {
	h, rest, err := head(ctx, s, key)
	if err != nil {
		return h, err
	}
	sum := sha256.New()
	size, err := copyParts(ctx, s, key, h, rest, io.MultiWriter(w, sum))
	if err == nil {
		err = verify(h, size, sum)
	}
	if err != nil {
		return h, fmt.Errorf("read %s: %w", key, err)
	}
	return h, nil
}

func verify(h Header, size int64, sum hash.Hash) error {
	if got := hex.EncodeToString(sum.Sum(nil)); size != h.Size || got != h.SHA256 {
		return fmt.Errorf("its parts are damaged: %d bytes with the SHA-256 %s, not %d with %s", size, got, h.Size, h.SHA256)
	}
	return nil
}

func copyParts(ctx context.Context, s store.Store, key string, h Header, rest []byte, w io.Writer) (size int64, err error) {
	for i, id := range h.Parts {
		entry, err := s.Get(ctx, keys.Part(key, id))
		if err != nil {
			return size, fmt.Errorf("part %d of %d: %w", i+1, len(h.Parts), err)
		}
		if got := hashOf(entry.Value); got != id {
			return size, fmt.Errorf("part %d of %d is damaged: its SHA-256 is %s, not %s", i+1, len(h.Parts), got, id)
		}
		if _, err := w.Write(entry.Value); err != nil {
			return size, err
		}
		size += int64(len(entry.Value))
	}
	_, err = w.Write(rest)
	return size + int64(len(rest)), err
}
