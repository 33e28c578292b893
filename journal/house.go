package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// housekeeper compresses and drops the segments that lie behind the one being
// written. None of it is needed for a journal to be right, so what fails is left
// as it is and tried again at the next segment.
//
// Dropping and compressing are done by one goroutine, since a segment that was
// compressed while it was dropped would come back. Without Compress there is no
// goroutine, and dropping is done at once.
type housekeeper struct {
	folder   Folder
	keep     int
	compress bool
	sweeper  sweeper

	work chan SegmentInfo // the segment being written
	done chan struct{}
	wait sync.WaitGroup
}

func startHousekeeper(opt Options, folder Folder, removeBlob func(name string, since int)) *housekeeper {
	h := &housekeeper{folder: folder, keep: opt.KeepIterations, compress: opt.Compress, sweeper: sweeper{folder: folder, remove: removeBlob}}
	if h.compress {
		h.work, h.done = make(chan SegmentInfo, 1), make(chan struct{})
		h.wait.Go(func() {
			for current := range h.work {
				h.tidy(current)
			}
		})
	}
	return h
}

// began is called when a segment has begun.
func (h *housekeeper) began(ordinal, iteration int) {
	current := SegmentInfo{Ordinal: ordinal, Iteration: iteration}
	if !h.compress {
		if h.keep > 0 {
			h.tidy(current)
		}
		return
	}
	select {
	case <-h.work: // a wish that nobody has looked at yet is out of date
	default:
	}
	h.work <- current
}

// stop gives up a compression that is running: the next writer begins it anew.
func (h *housekeeper) stop() {
	if h.compress {
		close(h.done)
		close(h.work)
		h.wait.Wait()
	}
}

func (h *housekeeper) stopped() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

func (h *housekeeper) tidy(current SegmentInfo) {
	list, err := listSegments(h.folder, segmentsDir)
	if err != nil {
		return
	}
	// Oldest first, and no further than the first that stays: a hole in the
	// middle would be damage.
	dropped := false
	for len(list) > 0 && h.keep > 0 && list[0].Iteration < current.Iteration-h.keep {
		if h.drop(list[0]) != nil {
			return
		}
		list, dropped = list[1:], true
	}
	if h.keep > 0 {
		h.sweeper.sweep(list, current, dropped)
	}
	if !h.compress {
		return
	}
	for _, s := range list {
		if s.Ordinal < current.Ordinal && !s.Packed && (h.stopped() || h.pack(s) != nil) {
			return
		}
	}
}

// drop removes a segment and what was cut off it. It is durable on return: a later segment that
// went while this one stayed would be a hole.
func (h *housekeeper) drop(s SegmentInfo) error {
	names, err := h.folder.List(segmentsDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == s.Name || strings.HasPrefix(name, s.Name+".") {
			if err := h.folder.Remove(segmentsDir + "/" + name); err != nil {
				return err
			}
		}
	}
	return h.folder.SyncFolder(segmentsDir)
}

// pack replaces a segment by its compressed form. A crash before the plain file
// is removed leaves both: readers take the plain one, and it is done again.
func (h *housekeeper) pack(s SegmentInfo) error {
	src, err := h.folder.Open(s.path)
	if err != nil {
		return err
	}
	defer src.Close()
	packed := s.path + ".zst"
	tmp := packed + tmpExt
	if err := h.folder.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dst, err := h.folder.Create(tmp)
	if err != nil {
		return err
	}
	err = h.packInto(dst, src)
	if err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		_ = h.folder.Remove(tmp)
		return err
	}
	if err := h.folder.Rename(tmp, packed); err != nil {
		return err
	}
	if err := h.folder.SyncFolder(segmentsDir); err != nil {
		return err
	}
	return h.folder.Remove(s.path)
}

var errGivenUp = errors.New("given up")

// packInto takes about 3 MB while it works and none after: the encoder is made
// for each segment, since a runner that waits for days should not hold one.
func (h *housekeeper) packInto(dst io.Writer, src File) error {
	enc, err := zstd.NewWriter(dst,
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(256<<10),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	from := &fileFrom{f: src}
	block := make([]byte, 64<<10)
	for {
		if h.stopped() {
			return errors.Join(errGivenUp, enc.Close())
		}
		n, err := from.Read(block)
		if err == io.EOF {
			return enc.Close()
		}
		if err == nil {
			_, err = enc.Write(block[:n])
		}
		if err != nil {
			return errors.Join(err, enc.Close())
		}
	}
}
