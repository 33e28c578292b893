package log

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/store"
	"github.com/ralph-loop/ralph/pool/store/parts"
)

// Journal writes the journal of the log to an empty folder, as it is in a loop's folder, without
// its blobs. With damages that are not repaired it is not complete.
func (r *Reader) Journal(ctx context.Context, folder string) (l Log, err error) {
	if err := os.MkdirAll(filepath.Join(folder, "journal"), 0o700); err != nil {
		return l, err
	}
	w := segments{folder: filepath.Join(folder, "journal")}
	l, err = r.Read(ctx, func(_ chunk.Header, lines []byte) error { return w.write(lines) })
	return l, errors.Join(err, w.close())
}

// segments writes lines to the files of their segments.
type segments struct {
	folder string
	file   *os.File
}

var opens = []byte(`"type":"segment.opened"`)

func (s *segments) write(lines []byte) error {
	for len(lines) > 0 {
		end := len(lines)
		// Another line may have the words somewhere in what an agent said.
		for at := 0; ; {
			i := bytes.Index(lines[at:], opens)
			if i < 0 {
				break
			}
			begin := bytes.LastIndexByte(lines[:at+i], '\n') + 1
			line, _, _ := bytes.Cut(lines[begin:], []byte("\n"))
			name, ok, err := segmentName(line)
			if err != nil {
				return err
			}
			if ok && begin > 0 {
				end = begin
				break
			}
			if ok {
				if err := s.open(name); err != nil {
					return err
				}
			}
			at = begin + len(line)
		}
		if s.file == nil {
			return nil // the chunk that opens the segment is lost, or the journal does not verify
		}
		if _, err := s.file.Write(lines[:end]); err != nil {
			return err
		}
		lines = lines[end:]
	}
	return nil
}

// segmentName is the name of the segment that a line opens, if it opens one.
func segmentName(line []byte) (name string, ok bool, err error) {
	var e struct {
		Type event.Type          `json:"type"`
		Data event.SegmentOpened `json:"data"`
	}
	if err := json.Unmarshal(line, &e); err != nil || e.Type != event.TypeSegmentOpened {
		return "", false, nil // the journal's own checks judge the line
	}
	if e.Data.Ordinal < 1 || e.Data.Iteration < 0 {
		return "", false, fmt.Errorf("the log opens segment %d of iteration %d", e.Data.Ordinal, e.Data.Iteration)
	}
	return fmt.Sprintf("%06d-i%04d.jsonl", e.Data.Ordinal, e.Data.Iteration), true, nil
}

func (s *segments) open(name string) (err error) {
	if err := s.close(); err != nil {
		return err
	}
	s.file, err = os.OpenFile(filepath.Join(s.folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return err
}

func (s *segments) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

var blobName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Blobs writes the blobs of a loop to a folder. bad is called with each that cannot be read as it
// was stored; an error that it returns ends the call.
func Blobs(ctx context.Context, s store.Store, loop, folder string, bad func(name string, err error) error) (n int, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return 0, err
	}
	prefix := keys.Blob(loop, "")
	for key, err := range s.List(ctx, prefix, "") {
		if err != nil {
			return n, fmt.Errorf("list the blobs of loop %s: %w", loop, err)
		}
		name := path.Base(key)
		if !blobName.MatchString(name) || key != prefix+name {
			continue // nothing of ours
		}
		n++
		if err := blob(ctx, s, loop, filepath.Join(folder, name)); err != nil {
			if err := bad(name, err); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func blob(ctx context.Context, s store.Store, loop, file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	h, err := parts.Get(ctx, s, keys.Blob(loop, filepath.Base(file)), f)
	if err == nil && h.SHA256 != filepath.Base(file) {
		err = fmt.Errorf("it has the SHA-256 %s", h.SHA256)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}
