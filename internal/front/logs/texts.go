package logs

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// texts returns the texts of events, decoded, each with the key that it has in the event's data.
// Long ones are read from blobs. What an agent says comes in pieces: a piece is returned after the
// end of the one before, so that a word that was cut in two is found.
type texts struct {
	blobs  string            // the folder of the blobs; empty if there is none
	ends   map[string][]byte // of the pieces of each open block
	folder *os.Root

	block, joined []byte // memory that calls share
}

// text is one text of an event. What came in an earlier event is its first old bytes.
type text struct {
	key, text string
	old       int
}

// endKept is how many bytes of a piece are kept for the next.
const endKept = 512

// endsMost bounds the blocks that are open at a time.
const endsMost = 64

func newTexts(path string) *texts {
	t := &texts{ends: map[string][]byte{}}
	if path != "" {
		t.blobs = filepath.Join(path, "blobs")
	}
	return t
}

func (t *texts) Close() {
	if t.folder != nil {
		_ = t.folder.Close()
	}
}

// piece returns the text of an event that continues a block, or is continued by another event. It
// is valid until the next call. Half of what an agent records may be such events.
func (t *texts) piece(e event.Event) (piece []byte, old int, ok bool) {
	key := "block"
	switch e.Type {
	case event.TypeAgentSaid, event.TypeAgentThought:
	case event.TypeToolProgressed:
		key = "id"
	default:
		return nil, 0, false
	}
	block := append(append(t.block[:0], e.Type...), e.Field(key)...)
	t.block = block
	before := t.ends[string(block)]
	final := string(e.Field("final")) == "true"
	if final && len(before) == 0 {
		return nil, 0, false // the block is this event alone
	}
	piece = jsonscan.AppendUnquoted(append(t.joined[:0], before...), e.Field("text"))
	t.joined = piece
	switch {
	case final:
		delete(t.ends, string(block))
	default:
		end := append(before[:0], tail(piece)...)
		if before == nil || cap(end) != cap(before) {
			if len(t.ends) >= endsMost {
				clear(t.ends)
			}
			t.ends[string(block)] = end
		} else if len(end) != len(before) {
			t.ends[string(block)] = end
		}
	}
	return piece, len(before), true
}

// tail returns the last bytes of a text, from the beginning of a character on.
func tail(s []byte) []byte {
	from := max(0, len(s)-endKept)
	for from > 0 && from < len(s) && s[from]&0xC0 == 0x80 {
		from++
	}
	return s[from:]
}

// of returns all texts of an event.
func (t *texts) of(e event.Event) []text {
	found := t.collect(nil, "", e.Data())
	if e.Type == event.TypeAgentUnparsed || len(found) == 0 {
		found = t.collect(found, "raw", e.Raw())
	}
	return found
}

// names are the keys of data whose values are names for programs and not searched.
var names = map[string]bool{"block": true, "id": true, "parent": true, "session": true, "sha256": true, "fingerprint": true}

// collect appends the texts of a JSON value.
func (t *texts) collect(found []text, key string, value []byte) []text {
	switch {
	case jsonscan.IsString(value):
		return append(found, text{key: key, text: jsonscan.Unquote(value)})
	case jsonscan.IsObject(value):
		if long, ok := t.long(value); ok {
			return append(found, text{key: key, text: long})
		}
		members := jsonscan.Object(value)
		for {
			name, member, ok := members.Next()
			if !ok {
				return found
			}
			full := string(name)
			if key == "" && names[full] {
				continue
			}
			if key != "" {
				full = key + "." + full
			}
			if full == "blob" {
				if long, ok := t.blob(jsonscan.Unquote(member)); ok {
					found = append(found, text{key: "output", text: long})
				}
				continue
			}
			if full == "output" && jsonscan.Get(value, "blob") != nil {
				continue // the blob has all of it
			}
			found = t.collect(found, full, member)
		}
	case len(value) > 0 && value[0] == '[':
		doc := jsonscan.NewDocument()
		list, err := doc.Read(value)
		if err != nil {
			return found
		}
		for item := range list.Items() {
			found = t.collect(found, key, bytes.Clone(item.Raw()))
		}
	}
	return found
}

// long returns the text of an event.Blob that is in a file.
func (t *texts) long(object []byte) (string, bool) {
	if jsonscan.Get(object, "sha256") == nil || jsonscan.Get(object, "bytes") == nil || jsonscan.Get(object, "text") == nil {
		return "", false
	}
	return t.blob(jsonscan.Unquote(jsonscan.Get(object, "sha256")))
}

// blob reads a blob; false if it is not there.
func (t *texts) blob(name string) (string, bool) {
	ref, err := event.ParseBlobRef(name)
	if err != nil || t.blobs == "" {
		return "", false
	}
	if t.folder == nil {
		if t.folder, err = os.OpenRoot(t.blobs); err != nil {
			t.blobs = ""
			return "", false
		}
	}
	data, err := t.folder.ReadFile(string(ref))
	return string(data), err == nil
}
