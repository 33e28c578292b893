package journal

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// retention compresses and drops the segments before the one being written. A journal is correct
// without it, so a failure is no error: it tries again at the next segment.
//
// One goroutine drops and compresses, because a segment that was compressed while it was dropped
// would come back. Without Compress there is no goroutine, and segments are dropped at once.
type retention struct {
	folder   folder
	keep     int
	compress bool
	sweeper  blobSweeper

	requests chan SegmentInfo // the segment being written
	done     chan struct{}
	wait     sync.WaitGroup
}

func startRetention(opt Options, folder folder, removeBlob func(name string, since int)) *retention {
	h := &retention{folder: folder, keep: opt.KeepIterations, compress: opt.Compress, sweeper: blobSweeper{folder: folder, remove: removeBlob}}
	if h.compress {
		h.requests, h.done = make(chan SegmentInfo, 1), make(chan struct{})
		h.wait.Go(func() {
			for current := range h.requests {
				h.apply(current)
			}
		})
	}
	return h
}

// segmentOpened is called when a segment has begun.
func (h *retention) segmentOpened(ordinal, iteration int) {
	current := SegmentInfo{Ordinal: ordinal, Iteration: iteration}
	if !h.compress {
		if h.keep > 0 {
			h.apply(current)
		}
		return
	}
	select {
	case <-h.requests: // a request that was not started is out of date
	default:
	}
	h.requests <- current
}

// stop ends a running compression: the next writer starts it again.
func (h *retention) stop() {
	if h.compress {
		close(h.done)
		close(h.requests)
		h.wait.Wait()
	}
}

func (h *retention) stopped() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

func (h *retention) apply(current SegmentInfo) {
	list, err := listSegments(h.folder, segmentsDir)
	if err != nil {
		return
	}
	// Oldest first, up to the first that is kept: a hole in the middle would be damage.
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
		if s.Ordinal < current.Ordinal && !s.Packed && (h.stopped() || h.compressSegment(s) != nil) {
			return
		}
	}
}

// drop removes a segment and the files of its torn lines. The removal is durable on return: if a
// later segment were gone while this one stayed, there would be a hole.
func (h *retention) drop(s SegmentInfo) error {
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

// compressSegment replaces a segment by its compressed form. A crash before the plain file is
// removed leaves both: readers take the plain one, and compression runs again.
func (h *retention) compressSegment(s SegmentInfo) error {
	src, err := h.folder.Open(s.path)
	if err != nil {
		return err
	}
	defer src.Close()
	packed := s.path + ".zst"
	if err := replaceFile(h.folder, packed, func(dst file) error { return h.compressInto(dst, src) }); err != nil {
		_ = h.folder.Remove(packed + tmpExt)
		return err
	}
	return h.folder.Remove(s.path)
}

var errStopped = errors.New("given up")

// compressInto takes about 3 MB while it runs. The encoder is made for each segment, since a runner
// that waits for days should not keep one.
func (h *retention) compressInto(dst io.Writer, src file) error {
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
			return errors.Join(errStopped, enc.Close())
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
