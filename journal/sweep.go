package journal

import (
	"bytes"
	"io"
)

// blobSweeper removes blobs that no segment refers to any more. A blob is removed after the
// segments that referred to it are durably gone, so after a crash at any moment each event that can
// be read has its blob. Blobs that a crash leaves are removed when the next writer begins.
type blobSweeper struct {
	folder folder
	// remove removes a blob, unless it was stored for a segment of this ordinal or a later one: its
	// event may not be written yet.
	remove func(name string, since int)
	named  map[string]map[string]bool // by segment that no longer changes
	begun  bool
}

// sweep checks all blobs after segments were dropped, and once when a writer begins. Where
// something cannot be read, it removes nothing.
func (s *blobSweeper) sweep(kept []SegmentInfo, current SegmentInfo, dropped bool) {
	if len(kept) == 0 || s.begun && !dropped {
		return
	}
	blobs, err := s.folder.List(blobsDir)
	if err != nil {
		return
	}
	named, settled := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, info := range kept {
		names := s.named[info.Name]
		if names == nil {
			if names, err = s.names(info); err != nil {
				return
			}
		}
		if named[info.Name] = names; info.Ordinal < current.Ordinal {
			settled[info.Name] = names
		}
	}
	s.named, s.begun = settled, true
	for _, blob := range blobs {
		if !isBlobName(blob) {
			continue
		}
		needed := false
		for _, names := range named {
			needed = needed || names[blob]
		}
		if !needed {
			s.remove(blob, kept[0].Ordinal)
		}
	}
}

// names returns all that could be the name of a blob in a segment, in its checkpoint as well.
func (s *blobSweeper) names(info SegmentInfo) (map[string]bool, error) {
	l, err := (&source{dir: s.folder, under: segmentsDir}).open(info, 0)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	names := map[string]bool{}
	for {
		line, err := l.next()
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		for {
			i := bytes.IndexByte(line, '"')
			if i < 0 {
				break
			}
			line = line[i+1:]
			if len(line) > blobNameBytes && line[blobNameBytes] == '"' && isBlobName(string(line[:blobNameBytes])) {
				names[string(line[:blobNameBytes])] = true
			}
		}
	}
}
