package check

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/pool/durable"
	"github.com/ralph-loop/ralph/pool/keys"
	"github.com/ralph-loop/ralph/pool/log"
	"github.com/ralph-loop/ralph/pool/membership"
	"github.com/ralph-loop/ralph/pool/store/parts"
	"github.com/ralph-loop/ralph/registry"
)

// repair takes the lines of damaged chunks from a journal here, and stores them if the journal that
// is assembled with them verifies. It leaves that journal in the folder.
func (c *checker) repair(ctx context.Context, id string, before log.Log, folder string) (log.Log, error) {
	for _, s := range c.here[id] {
		var notes []log.Repair
		var texts [][]byte
		r := log.Reader{Store: c.Store, Loop: id, Repair: func(d log.Damage) (log.Repair, []byte, error) {
			note, text, err := log.Stored(ctx, c.Store, id, d.First)
			if err != nil || note.Version > 0 {
				return note, text, err
			}
			note, text = c.lines(s, id, d, before)
			if note.Version > 0 {
				notes, texts = append(notes, note), append(texts, text)
			}
			return note, text, nil
		}}
		if err := os.RemoveAll(filepath.Join(folder, "journal")); err != nil {
			return before, err
		}
		found, err := r.Journal(ctx, folder)
		if err != nil {
			return before, err
		}
		if err := journal.Verify(filepath.Join(folder, "journal"), nil); err != nil {
			continue // it is another journal, or has not all lines
		}
		for i := range notes {
			if err := log.PutRepair(ctx, c.Store, notes[i], texts[i]); err != nil {
				return before, fmt.Errorf("store the lines of chunk %d again: %w", notes[i].Number, err)
			}
		}
		return found, nil
	}
	if err := os.RemoveAll(filepath.Join(folder, "journal")); err != nil {
		return before, err
	}
	r := log.Reader{Store: c.Store, Loop: id}
	return r.Journal(ctx, folder)
}

// lines returns what a journal here has of a damage.
func (c *checker) lines(s registry.Status, id string, d log.Damage, before log.Log) (log.Repair, []byte) {
	last := d.To
	if last == 0 {
		// Only the loop's own host knows what it has stored last.
		if !d.Ends() || !c.has(s, before.Tail.Host, before.Tail.Epoch) || durable.SyncJournal(s.Dir) != nil {
			return log.Repair{}, nil
		}
	}
	var text []byte
	at := d.From - 1
	for e, err := range journal.Read(s.Dir, journal.ReadOptions{FromSeq: d.From}) {
		if err != nil || last > 0 && e.Seq > last {
			break
		}
		text, at = append(append(text, e.Line()...), '\n'), e.Seq
	}
	if at < d.From || at < last {
		return log.Repair{}, nil
	}
	note := d.Note(id, c.Host, c.Clock().UTC(), at)
	note.Epoch, note.Host = before.Tail.Epoch, before.Tail.Host
	return note, text
}

// compare reads the journals of this host beside the one of the pool, and says where they differ:
// not before the last event that this host has sealed.
func (c *checker) compare(l *Loop, found log.Log, folder string) error {
	for _, s := range c.here[l.ID] {
		m, err := membership.Read(s.Dir)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Dir, err)
		}
		sealed, over := found.Sealed[max(m.Epoch, 1)]
		if !over {
			sealed = found.Tail.Last
		}
		last, differs, err := difference(s.Dir, folder, sealed)
		if err != nil {
			l.wrong("the journal in %s: %v", s.Dir, err)
			continue
		}
		if differs > 0 {
			l.wrong("the journal in %s has another event %d than the pool", s.Dir, differs)
		}
		if last > sealed {
			l.Unsealed += uint64(last - sealed)
		}
	}
	return nil
}

// difference returns the last event of a journal, and the first up to sealed that another one has
// differently; 0 if there is none.
func difference(dir, other string, sealed event.Seq) (last, differs event.Seq, err error) {
	first, err := journal.DroppedFrom(dir)
	if err != nil {
		return 0, 0, err
	}
	next, stop := iter.Pull2(journal.Read(other, journal.ReadOptions{FromSeq: max(first.First, 1)}))
	defer stop()
	for e, err := range journal.Read(dir, journal.ReadOptions{FromSeq: max(first.First, 1)}) {
		if err != nil {
			return last, 0, err
		}
		if last = e.Seq; last > sealed || differs > 0 {
			continue
		}
		theirs, err, more := next()
		if err != nil {
			return last, 0, err
		}
		if !more || !bytes.Equal(e.Line(), theirs.Line()) {
			differs = e.Seq
		}
	}
	return last, differs, nil
}

// namesBlob matches all that can be the name of a blob.
var namesBlob = regexp.MustCompile(`"([0-9a-f]{64})"`)

// blobs reads all blobs, and stores those again that are damaged or missing and that a journal here
// has.
func (c *checker) blobs(ctx context.Context, l *Loop, folder string) (err error) {
	into, bad := filepath.Join(folder, "blobs"), map[string]int{}
	l.Blobs, err = log.Blobs(ctx, c.Store, l.ID, into, func(name string, err error) error {
		bad[name] = len(l.Wrong)
		l.wrong("blob %s: %v", name, err)
		return nil
	})
	if err != nil || !c.Repair || len(c.here[l.ID]) == 0 {
		return err
	}
	named, err := blobsNamed(filepath.Join(folder, "journal"))
	if err != nil {
		return err
	}
	for name := range named {
		if _, err := os.Stat(filepath.Join(into, name)); err == nil {
			continue
		}
		text := c.blobHere(l.ID, name)
		if text == nil {
			continue // it may be no blob, and the journal says so if it is one
		}
		if err := parts.Repair(ctx, c.Store, keys.Blob(l.ID, name), bytes.NewReader(text)); err != nil {
			return fmt.Errorf("store blob %s again: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(into, name), text, 0o600); err != nil {
			return err
		}
		if i, damaged := bad[name]; damaged {
			l.Wrong[i].Repaired = true
		} else {
			l.Wrong = append(l.Wrong, Problem{"blob " + name + " was missing", true})
			l.Blobs++
		}
	}
	return nil
}

// blobsNamed returns all that can be names of blobs in the segments of a folder.
func blobsNamed(folder string) (map[string]bool, error) {
	named := map[string]bool{}
	segments, err := os.ReadDir(folder)
	for _, s := range segments {
		text, err := os.ReadFile(filepath.Join(folder, s.Name()))
		if err != nil {
			return nil, err
		}
		for _, match := range namesBlob.FindAllSubmatch(text, -1) {
			named[string(match[1])] = true
		}
	}
	return named, err
}

// maxBlob bounds a blob that is stored again, in bytes.
const maxBlob = 1 << 30

// blobHere returns a blob as a journal of this host has it; nil if none has.
func (c *checker) blobHere(id, name string) []byte {
	for _, s := range c.here[id] {
		text, err := membership.ReadRegular(filepath.Join(s.Dir, "blobs", name), maxBlob)
		sum := sha256.Sum256(text)
		if err == nil && hex.EncodeToString(sum[:]) == name {
			return text
		}
	}
	return nil
}
