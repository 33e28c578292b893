package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/journal/event"
)

// headBytes is how much of a long text an event contains beside the name of its blob.
const headBytes = 1 << 10

// PutBlob stores a text and returns its reference for an event. The event itself contains a text
// shorter than Options.InlineBytes. A longer one, or one that is not UTF-8 and would not survive in
// JSON, becomes the file blobs/<sha256>, which is complete and durable on return; the event
// contains its first kilobyte. The same text is stored once. An error of the disk is final: see
// [Writer].
func (w *Writer) PutBlob(text []byte) (event.Blob, error) {
	if err := w.failure(); err != nil {
		return event.Blob{}, err
	}
	if w.opt.Mask != nil {
		text = w.opt.Mask(text)
	}
	if len(text) < w.opt.InlineBytes && utf8.Valid(text) {
		return event.Blob{Text: string(text), Bytes: len(text)}, nil
	}
	sum, err := w.storeMasked(text)
	if err != nil {
		return event.Blob{}, err
	}
	return event.Blob{Text: head(text), Bytes: len(text), SHA256: event.BlobRef(sum)}, nil
}

// head returns the beginning of a text, up to a complete character.
func head(text []byte) string {
	if len(text) <= headBytes {
		return string(text)
	}
	end := headBytes
	for end > headBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end])
}

// store keeps bytes as a blob and returns its name and length.
func (w *Writer) store(raw []byte) (sum string, n int, err error) {
	if w.opt.Mask != nil {
		raw = w.opt.Mask(raw)
	}
	sum, err = w.storeMasked(raw)
	return sum, len(raw), err
}

func (w *Writer) storeMasked(content []byte) (string, error) {
	w.blobMu.Lock()
	defer w.blobMu.Unlock()
	digest := sha256.Sum256(content)
	sum := hex.EncodeToString(digest[:])
	if _, stored := w.blobs[sum]; stored {
		w.blobs[sum] = w.blobsOf
		return sum, nil
	}
	if err := w.storeAs(blobsDir+"/"+sum, content); err != nil {
		if w.blobDir && errors.Is(err, fs.ErrNotExist) {
			err = &VanishedError{Path: blobsDir}
		}
		return "", w.fail(fmt.Errorf("store blob %s: %w", sum, err))
	}
	w.blobs[sum] = w.blobsOf
	return sum, nil
}

// removeBlob removes a blob that no segment names, unless it was stored for one of that ordinal or
// a later one.
func (w *Writer) removeBlob(name string, since int) {
	w.blobMu.Lock()
	defer w.blobMu.Unlock()
	if of, stored := w.blobs[name]; stored && of >= since {
		return
	}
	if w.folder.Remove(blobsDir+"/"+name) == nil {
		delete(w.blobs, name)
	}
}

// storeAs also writes a blob that exists: if an earlier run died, its blob may not be durable, and
// the rename makes it durable.
func (w *Writer) storeAs(name string, content []byte) error {
	if !w.blobDir {
		if err := w.folder.Mkdir(blobsDir); err != nil {
			return err
		}
		w.blobDir = true
	}
	if len(w.blobs) == 0 {
		// The folder may exist and not be durable, like the blob.
		if err := w.folder.SyncFolder("."); err != nil {
			return err
		}
	}
	return replaceFile(w.folder, name, func(f file) error {
		_, err := f.Write(content)
		return err
	})
}
