// Package chunk is the form in which a pool has a loop's journal: complete lines, as in the
// journal, under a header that names the chunk before by its hash. The chain of hashes is what
// 'ralph pool check' verifies, and writing the next number is what gives a loop to a host.
package chunk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/journal/event"
)

// MaxLines is the size of lines, in bytes, from which a chunk is sealed.
const MaxLines = 256 << 10

// MaxGap bounds how many chunks, one after the other, can be missing. A key beyond is none of the
// log: its number may be as high as a writer likes.
const MaxGap = 10_000

// Version is that of the header.
const Version = 1

// A Header is the first line of a chunk.
type Header struct {
	Version int    `json:"v"`
	Loop    string `json:"loop"`
	Number  uint64 `json:"n"`
	// Epoch counts the hosts that the loop has had, from 1. A chunk with a higher epoch than the
	// one before is a take-over.
	Epoch uint64 `json:"epoch"`
	Host  string `json:"host"`
	// First and Last are the events of the lines; both are 0 in a chunk without lines.
	First event.Seq `json:"first"`
	Last  event.Seq `json:"last"`
	// Prev is the SHA-256 of the chunk before, as it is stored, in hexadecimal; empty in chunk 0.
	Prev string `json:"prev,omitempty"`
	// Tree is the number of the newest tree, plus 1; 0 if there is none.
	Tree uint64    `json:"tree,omitempty"`
	At   time.Time `json:"at"` // by the host's clock; nothing is decided by it
	// Nonce makes two writes of one host different objects, so that a host whose answer was lost
	// can tell its own from another's.
	Nonce string `json:"nonce"`
}

// ErrVersion is the error of a chunk that a newer program wrote: it is no damage.
var ErrVersion = errors.New("a newer ralph wrote it")

// Hash is what the next chunk has as Prev.
func Hash(stored []byte) string {
	sum := sha256.Sum256(stored)
	return hex.EncodeToString(sum[:])
}

var (
	encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(64<<20))
)

// Encode returns the chunk as it is stored. lines are complete lines of the journal.
func Encode(h Header, lines []byte) ([]byte, error) {
	if len(lines) > 0 && lines[len(lines)-1] != '\n' {
		return nil, fmt.Errorf("chunk %d of loop %s ends within a line", h.Number, h.Loop)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode chunk %d of loop %s: %w", h.Number, h.Loop, err)
	}
	return encoder.EncodeAll(append(append(head, '\n'), lines...), nil), nil
}

// Decode reads a stored chunk.
func Decode(stored []byte) (Header, []byte, error) {
	var h Header
	text, err := decoder.DecodeAll(stored, nil)
	if err != nil {
		return h, nil, fmt.Errorf("decode a chunk: %w", err)
	}
	head, lines, found := bytes.Cut(text, []byte("\n"))
	if !found {
		return h, nil, fmt.Errorf("decode a chunk: it has no header")
	}
	if err := json.Unmarshal(head, &h); err != nil {
		return h, nil, fmt.Errorf("decode the header of a chunk: %w", err)
	}
	if h.Version != Version {
		return h, nil, fmt.Errorf("chunk %d of loop %s has version %d, and this program reads %d: %w", h.Number, h.Loop, h.Version, Version, ErrVersion)
	}
	if count := uint64(bytes.Count(lines, []byte("\n"))); h.Last > 0 && count != uint64(h.Last-h.First)+1 {
		return h, nil, fmt.Errorf("it has %d lines for events %d to %d", count, h.First, h.Last)
	}
	return h, lines, nil
}
