package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/frame"
	"github.com/ralph-loop/ralph/journal/event"
)

// byLoop is the author of the events that the journal writes about itself.
const byLoop = "loop"

// maxRaw is the length from which a line of an agent becomes a blob, so that one enormous line does
// not slow every later reader of its segment.
const maxRaw = 256 << 10

// ErrClosed is the error of every call on a closed writer, except Close.
var ErrClosed = errors.New("journal is closed")

// Writer appends to a journal. It is the only one: the caller holds the lock of the loop. Its
// methods are called from one goroutine, except PutBlob, Sync and Dirty, which any goroutine may
// call.
//
// The first failed write or sync is final, and so is a segment that another process removed,
// replaced or cut: from then on every call returns that error, and nothing more is written. After a
// failed sync it is unknown which bytes are on the disk, and the kernel reports the failure only
// once.
type Writer struct {
	opt       Options
	folder    folder
	notifier  *notifier
	retention *retention

	// The segment being written.
	file      file
	name      string
	ordinal   int
	iteration int
	lines     int
	pos       Position // after the last event
	reserved  int64    // bytes on the disk

	// Memory that calls share: what Append returns is in buf and out; stamp keeps the text of a
	// time.
	buf   []byte
	out   []event.Event
	stamp frame.Stamp

	// the durable ones, each with the ordinal of the segment that it was last stored for
	blobs   map[string]int
	blobsOf int        // the ordinal of the open segment
	blobDir bool       // their folder existed once: it is not created again
	blobMu  sync.Mutex // one blob at a time

	lock io.Closer // excludes other writers; nil if the FS has no locks

	syncer // guards file against the goroutine that syncs it
}

// Create begins a new segment after the end that [Recover] found and returns its writer, with the
// event that opens the segment. checkpoint is the state folded over all earlier events, and may be
// nil. The segment is durable on return. It appears together with its complete first line or not at
// all. No old segment is changed. The error is [ErrBusy] if another writer has the journal open.
func Create(dir string, rec Recovery, iteration int, checkpoint json.RawMessage, opt Options) (*Writer, []event.Event, error) {
	opt = opt.withDefaults(rec.At)
	folder, err := opt.FS.OpenFolder(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open loop folder: %w", err)
	}
	w := &Writer{opt: opt, folder: folder, ordinal: rec.Ordinal, blobs: map[string]int{}}
	w.pos.Seq = max(rec.NextSeq, 1) - 1
	opened, err := w.create(rec, iteration, checkpoint)
	if err != nil {
		unlock(w.lock)
		folder.Close()
		return nil, nil, fmt.Errorf("create segment: %w", err)
	}
	w.startSyncer()
	w.retention = startRetention(opt, folder, w.removeBlob)
	w.retention.segmentOpened(w.ordinal, w.iteration)
	return w, opened, nil
}

func (w *Writer) create(rec Recovery, iteration int, checkpoint json.RawMessage) ([]event.Event, error) {
	if err := w.folder.Mkdir(segmentsDir); err != nil {
		return nil, err
	}
	var err error
	if w.lock, err = lockSegments(w.folder); err != nil {
		return nil, err
	}
	if _, err := w.folder.Stat(blobsDir); err == nil {
		w.blobDir = true
	}
	if rec.Segment == "" {
		if err := w.folder.SyncFolder("."); err != nil {
			return nil, err
		}
	}
	var prev *event.PrevSegment
	if rec.Segment != "" {
		prev = &event.PrevSegment{Name: rec.Segment, SHA256: rec.SHA256, Sealed: rec.Sealed}
	}
	if w.opt.Notify {
		if w.notifier, err = openNotifier(w.folder); err != nil {
			return nil, err
		}
	}
	w.begin()
	if err = w.open(iteration, prev, checkpoint); err != nil {
		w.notifier.stop()
		return nil, err
	}
	w.notifier.notify()
	return w.out, nil
}

// open creates the next segment. Its first line is written under a temporary name: a reader that
// finds a segment finds the line that opens it.
func (w *Writer) open(iteration int, prev *event.PrevSegment, checkpoint json.RawMessage) error {
	ordinal := w.ordinal + 1
	name := segmentName(ordinal, iteration)
	path := segmentsDir + "/" + name
	if _, err := w.folder.Stat(path); err == nil {
		return fmt.Errorf("segment %s exists already", name)
	}
	draft := event.Encode(event.SegmentOpened{
		Ordinal: ordinal, Iteration: iteration, Prev: prev, Keep: w.opt.KeepIterations, Checkpoint: checkpoint,
	}, byLoop)
	draft.Iter = iteration
	from := len(w.buf)
	crc, err := w.frame(&draft, w.now(), w.pos.Seq+1, 0)
	if err != nil {
		return err
	}
	line := w.buf[from:]
	err = replaceFile(w.folder, path, func(f file) error {
		w.reserved = 0
		w.reserve(f, int64(len(line)))
		_, err := f.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	f, err := w.folder.Append(path)
	if err != nil {
		return err
	}
	w.setSegment(f, name, int64(len(line)))
	w.name, w.ordinal, w.iteration, w.lines = name, ordinal, iteration, 1
	w.blobMu.Lock()
	w.blobsOf = ordinal
	w.blobMu.Unlock()
	w.pos = Position{Segment: name, Offset: int64(len(line)), Seq: w.pos.Seq + 1, CRC: crc}
	return nil
}

// firstReserve is the space on the disk that a segment takes at once. A loop that says little needs
// no more: with the size of a segment, a thousand of them would fill a disk.
const firstReserve = 1 << 20

// reserve makes room for a segment of so many bytes. Each time it takes sixteen times as much as it
// has: an inode of ext4 holds four extents, and with more of them each sync writes a block besides,
// a quarter of its time.
func (w *Writer) reserve(f file, size int64) {
	most := min(w.opt.SegmentBytes, defaultSegmentBytes)
	r, ok := f.(reserver)
	if !ok || size <= w.reserved || w.reserved >= most {
		return
	}
	for w.reserved = max(w.reserved, firstReserve); w.reserved < size; {
		w.reserved *= 16
	}
	w.reserved = min(w.reserved, most)
	r.reserve(w.reserved)
}

// Append writes the drafts as one batch, with one time and one write(2), and returns them as
// events, which are valid until the next call on w. When it returns, they have left this process:
// only the end of the machine can undo them, and Sync prevents that.
//
// A draft whose data is missing or contains a newline is refused with an error before anything is
// written, and the writer stays usable. Any other error is final; complete lines that were written
// before it stay in the journal. A raw line of more than 256 KiB is stored as a blob, and the event
// contains {"blob":"<sha256>","bytes":N} in its place.
func (w *Writer) Append(drafts []event.Draft) ([]event.Event, error) {
	if err := w.failure(); err != nil {
		return nil, err
	}
	if len(drafts) == 0 {
		return nil, nil
	}
	w.begin()
	at := w.now()
	seq, crc := w.pos.Seq, w.pos.CRC
	for i := range drafts {
		draft := &drafts[i]
		if len(draft.Raw) > maxRaw {
			short := *draft
			var err error
			if short.Raw, err = w.storeRaw(draft.Raw); err != nil {
				return nil, err
			}
			draft = &short
		}
		seq++
		var err error
		if crc, err = w.frame(draft, at, seq, crc); err != nil {
			return nil, fmt.Errorf("append draft %d: %w", i+1, err)
		}
	}
	if err := w.write(w.buf, at); err != nil {
		return nil, err
	}
	w.lines += len(drafts)
	w.pos.Offset += int64(len(w.buf))
	w.pos.Seq, w.pos.CRC = seq, crc
	w.notifier.notify()
	return w.out, nil
}

// begin reuses the memory of the previous call.
func (w *Writer) begin() {
	if cap(w.buf) > keepBytes {
		w.buf = nil
	}
	w.buf, w.out = w.buf[:0], w.out[:0]
}

// now is the time with the precision of a line.
func (w *Writer) now() time.Time {
	at := w.opt.Now()
	return time.Unix(at.Unix(), int64(at.Nanosecond()/1000*1000)).UTC()
}

// frame adds one line to the buffer and its event to the result. It refuses what could not be read
// again.
func (w *Writer) frame(d *event.Draft, at time.Time, seq event.Seq, prev uint32) (crc uint32, err error) {
	if err := check(d); err != nil {
		return 0, err
	}
	start := len(w.buf)
	w.stamp.Seq, w.stamp.ID, w.stamp.At = seq, w.opt.NewID(at), at
	var authored int
	w.buf, authored = frame.AppendOpen(w.buf, &w.stamp, d)
	if w.opt.Mask != nil {
		masked := w.opt.Mask(w.buf[authored:])
		w.buf = append(w.buf[:authored], masked...)
	}
	if bytes.IndexByte(w.buf[authored:], '\n') >= 0 {
		return 0, fmt.Errorf("a draft of type %s contains a newline", d.Type)
	}
	w.buf, crc = frame.Close(w.buf, start, prev)
	// When the buffer grows it may move. The line in the old buffer stays as it is.
	e, err := event.Parse(w.buf[start:len(w.buf):len(w.buf)])
	if err != nil {
		return 0, err
	}
	w.out = append(w.out, e)
	w.buf = append(w.buf, '\n')
	return crc, nil
}

// check refuses a draft that cannot become a line. It does not check that data and raw are valid
// JSON, which would take longer than writing them: their author guarantees it.
func check(d *event.Draft) error {
	plain := d.Type != ""
	for i := range len(d.Type) {
		c := d.Type[i]
		plain = plain && (c-'a' < 26 || c == '.' || c == '_' || c == '-')
	}
	switch {
	case !plain:
		return fmt.Errorf("a draft of type %q: not a valid type name", d.Type)
	case len(d.Data) < 2 || d.Data[0] != '{' || d.Data[len(d.Data)-1] != '}':
		return fmt.Errorf("a draft of type %s: its data is not an object", d.Type)
	case d.Raw != nil && len(d.Raw) == 0:
		return fmt.Errorf("a draft of type %s: its raw line is empty", d.Type)
	}
	return nil
}

// write appends complete lines to the segment.
func (w *Writer) write(p []byte, at time.Time) error {
	w.reserve(w.file, w.pos.Offset+int64(len(p)))
	n, err := w.file.Write(p)
	if err == nil {
		w.wrote(len(p), at)
		return nil
	}
	// The disk became full, or vanished, in the middle of a line. The complete lines before it
	// stay, since a reader may have shown them already. The rest is cut off, so that no reader
	// waits for its end; where that fails too, Recover cuts it.
	whole := bytes.LastIndexByte(p[:n], '\n') + 1
	if n > whole {
		_ = w.file.Truncate(w.pos.Offset + int64(whole))
	}
	return w.fail(fmt.Errorf("write segment %s: %w", w.name, err))
}

// Full reports that the segment has reached Options.SegmentBytes and should be rotated.
func (w *Writer) Full() bool { return w.pos.Offset >= w.opt.SegmentBytes }

// Position is the position after the last event.
func (w *Writer) Position() Position { return w.pos }

// Rotate seals the segment and begins the next one. It returns the two events,
// segment.sealed and segment.opened, valid until the next call on w. checkpoint is
// the state folded over all that was appended before the call. Both segments are
// durable on return; a crash in between leaves a sealed one and nothing to repair.
func (w *Writer) Rotate(iteration int, checkpoint json.RawMessage) ([]event.Event, error) {
	if err := w.failure(); err != nil {
		return nil, err
	}
	w.begin()
	sum, err := w.seal()
	if err != nil {
		return nil, err
	}
	prev := &event.PrevSegment{Name: w.name, SHA256: sum, Sealed: true}
	if err := w.open(iteration, prev, checkpoint); err != nil {
		return nil, w.fail(fmt.Errorf("create segment: %w", err))
	}
	w.notifier.notify()
	w.retention.segmentOpened(w.ordinal, w.iteration)
	return w.out, nil
}

// seal ends the segment with its last line, made durable.
func (w *Writer) seal() (sum string, err error) {
	sum, err = w.sum(w.pos.Offset)
	if err != nil {
		return "", w.fail(fmt.Errorf("hash segment %s: %w", w.name, err))
	}
	draft := event.Encode(event.SegmentSealed{Events: w.lines, Bytes: w.pos.Offset, SHA256: sum}, byLoop)
	draft.Iter = w.iteration
	at := w.now()
	from := len(w.buf)
	crc, err := w.frame(&draft, at, w.pos.Seq+1, w.pos.CRC)
	if err == nil {
		err = w.write(w.buf[from:], at)
	}
	if err != nil {
		return "", err
	}
	if r, ok := w.file.(reserver); ok {
		r.release()
	}
	w.lines++
	w.pos.Offset += int64(len(w.buf) - from)
	w.pos.Seq++
	w.pos.CRC = crc
	return sum, w.Sync()
}

// Close seals the segment, makes it durable and closes all files. After an error of the writer it
// seals nothing, makes durable what was written before, as far as it can, and returns that error.
// Another call does nothing.
func (w *Writer) Close() error {
	_, err := w.Finish()
	return err
}

// Finish is Close for a caller that folds what it writes: it returns the event that sealed the
// segment, which is the last of the journal. It returns none where the segment could not be sealed.
// A seal that was written and could not be synced is returned with the error, since readers see it.
func (w *Writer) Finish() ([]event.Event, error) {
	err := w.failure()
	if errors.Is(err, ErrClosed) {
		return nil, nil
	}
	var sealed []event.Event
	if err == nil {
		w.begin()
		before := w.pos.Seq
		if _, err = w.seal(); w.pos.Seq > before {
			sealed = w.out
		}
		w.notifier.notify()
	} else {
		w.syncRest()
	}
	w.stopSyncer()
	w.retention.stop()
	w.notifier.stop()
	_ = w.fail(ErrClosed)
	err = errors.Join(err, w.file.Close())
	unlock(w.lock)
	return sealed, errors.Join(err, w.folder.Close())
}

// lockSegments excludes other writers from a journal, where the file system has locks. The lock of
// the loop does the same until its file is removed; two writers would then ruin the journal.
func lockSegments(folder folder) (io.Closer, error) {
	if l, ok := folder.(locker); ok {
		return l.lock(segmentsDir)
	}
	return nil, nil
}

// CheckIdle returns [ErrBusy] if a writer has the journal of the loop at dir open, and nil if there
// is no journal. A process that holds the lock of the loop calls it before it moves or rewrites
// files: it is the only check that finds a runner whose lock file was removed.
func CheckIdle(dir string) error {
	folder, err := osFS{}.OpenFolder(dir)
	if err != nil {
		return fmt.Errorf("open loop folder: %w", err)
	}
	defer folder.Close()
	lock, err := lockSegments(folder)
	unlock(lock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func unlock(lock io.Closer) {
	if lock != nil {
		_ = lock.Close() // nothing was written through it
	}
}

// storeRaw puts a line of an agent into a blob and returns its replacement.
func (w *Writer) storeRaw(raw []byte) ([]byte, error) {
	sum, n, err := w.store(raw)
	if err != nil {
		return nil, err
	}
	stub := append(make([]byte, 0, 128), `{"blob":"`...)
	stub = append(stub, sum...)
	stub = append(stub, `","bytes":`...)
	stub = strconv.AppendInt(stub, int64(n), 10)
	return append(stub, '}'), nil
}
