package decide

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/chunk"
)

// A Tail is the end of a loop's log, as far as it was read and verified. It may be stored, and is
// then a place from which the log is read on.
type Tail struct {
	Loop  string    `json:"loop"`
	Next  uint64    `json:"next"` // the number of the chunk after it
	Prev  string    `json:"prev"` // the SHA-256 of its last chunk
	Epoch uint64    `json:"epoch"`
	Host  string    `json:"host"`
	Last  event.Seq `json:"last"` // event
	Tree  uint64    `json:"tree"` // as in the header of its last chunk
}

// Follow returns the tail after chunk h, which is stored with that hash. An error says how the
// chunk breaks the chain.
func (t Tail) Follow(h chunk.Header, hash string) (Tail, error) {
	wrong := func(format string, args ...any) (Tail, error) {
		return t, fmt.Errorf("the log of loop %s is broken at chunk %d: %s", t.Loop, t.Next, fmt.Sprintf(format, args...))
	}
	begins := h.Epoch == t.Epoch+1 // with it, the loop belongs to h.Host
	switch {
	case h.Loop != t.Loop:
		return wrong("it is of loop %.60q", h.Loop)
	case h.Number != t.Next:
		return wrong("it has number %d", h.Number)
	case h.Prev != t.Prev:
		return wrong("it follows another chunk than %d", t.Next-1)
	case !isName(h.Host) || h.Nonce == "":
		return wrong("it has no host or no nonce")
	case !begins && (h.Epoch != t.Epoch || t.Next == 0):
		return wrong("epoch %d follows epoch %d", h.Epoch, t.Epoch)
	case !begins && h.Host != t.Host:
		return wrong("%.60q writes in the epoch of %.60q", h.Host, t.Host)
	case begins && t.Next > 0 && h.Last != 0:
		return wrong("a claim has events")
	case h.First == 0 && h.Last != 0, h.First > h.Last, h.First != 0 && h.First != t.Last+1:
		return wrong("events %d to %d follow event %d", h.First, h.Last, t.Last)
	case h.Tree < t.Tree:
		return wrong("tree %d follows tree %d", h.Tree, t.Tree)
	}
	return Tail{Loop: t.Loop, Next: t.Next + 1, Prev: hash, Epoch: h.Epoch, Host: h.Host, Last: max(t.Last, h.Last), Tree: h.Tree}, nil
}

// isName reports whether a host may have this name, or who withdraws a specification: journals and
// screens show it.
func isName(text string) bool {
	return text != "" && len(text) <= 255 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError })
}

// An attempt is a chunk that is being put.
type attempt struct {
	header chunk.Header
	stored []byte
	hash   string
}

// encode makes an attempt of the chunk after t.
func (t Tail) encode(h chunk.Header, lines []byte) (*attempt, error) {
	h.Version, h.Loop, h.Number, h.Prev = chunk.Version, t.Loop, t.Next, t.Prev
	stored, err := chunk.Encode(h, lines)
	if err != nil {
		return nil, err
	}
	hash := chunk.Hash(stored)
	_, err = t.Follow(h, hash)
	return &attempt{h, stored, hash}, err
}

// is reports whether a chunk is the attempt. A nil attempt is none.
func (a *attempt) is(h chunk.Header, hash string) bool {
	return a != nil && h.Nonce == a.header.Nonce && hash == a.hash
}
