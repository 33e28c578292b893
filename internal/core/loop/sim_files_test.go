package loop_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"

	"github.com/ralph-loop/ralph/journal/event"
)

// checkFiles compares seals and links with the bytes of the segments.
func (w *world) checkFiles() {
	var prev event.PrevSegment
	for _, file := range segments(w.disk) {
		content, err := w.disk.ReadFile(file)
		if err != nil {
			w.violate(verifies, "%v", err)
		}
		content = wholeLines(content)
		if len(content) == 0 {
			w.violate(verifies, "%s has no line", file)
		}
		lines := bytes.SplitAfter(content, []byte("\n"))
		lines = lines[:len(lines)-1]
		opened := parsed[event.SegmentOpened](w, file, lines[0])
		if prev.Name != "" && (opened.Prev == nil || *opened.Prev != prev) {
			w.violate(verifies, "%s follows %+v, and there is %+v", file, opened.Prev, prev)
		}
		last := lines[len(lines)-1]
		sum := sha256.Sum256(content)
		prev = event.PrevSegment{Name: path.Base(file), SHA256: hex.EncodeToString(sum[:])}
		if e, err := event.Parse(last[:len(last)-1]); err == nil && e.Type == event.TypeSegmentSealed {
			sealed := parsed[event.SegmentSealed](w, file, last)
			before := content[:len(content)-len(last)]
			sum := sha256.Sum256(before)
			prev.SHA256, prev.Sealed = hex.EncodeToString(sum[:]), true
			if want := (event.SegmentSealed{Events: len(lines) - 1, Bytes: int64(len(before)), SHA256: prev.SHA256}); sealed != want {
				w.violate(verifies, "%s is sealed as %+v and is %+v", file, sealed, want)
			}
		}
	}
}

func parsed[T event.Payload](w *world, file string, line []byte) T {
	e, err := event.Parse(line[:len(line)-1])
	if err != nil {
		w.violate(verifies, "%s: %v", file, err)
	}
	p, err := event.As[T](e)
	if err != nil || e.Type != p.EventType() {
		w.violate(verifies, "%s: %s where %T belongs: %v", file, e.Type, p, err)
	}
	return p
}

// checkBlobs checks the texts that events keep in files.
func (w *world) checkBlobs(events []event.Event) {
	check := func(b event.Blob) {
		if b.SHA256 == "" {
			return
		}
		content, err := w.disk.ReadFile(string(loopDir + "/blobs/" + b.SHA256))
		sum := sha256.Sum256(content)
		if err != nil || hex.EncodeToString(sum[:]) != string(b.SHA256) || len(content) != b.Bytes {
			w.violate(blobsWhole, "blob %s of %d bytes has %d: %v", b.SHA256, b.Bytes, len(content), err)
		}
	}
	for _, e := range events {
		switch e.Type {
		case event.TypeLoopStarted:
			check(*as[event.LoopStarted](e).Task.Text)
		case event.TypeIterationStarted:
			check(as[event.IterationStarted](e).Prompt)
		}
	}
}

// as decodes an event that was verified before.
func as[T event.Payload](e event.Event) T {
	p, err := event.As[T](e)
	if err != nil {
		panic(violation{verifies, err.Error()})
	}
	return p
}
