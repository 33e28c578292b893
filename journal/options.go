package journal

import (
	"time"

	"github.com/ralph-loop/ralph/internal/ground/journalfs"
)

// Options configure a writer and the recovery before it. With the zero value nothing runs in the
// background: SyncEvery, Compress and Notify start goroutines.
type Options struct {
	// FS is where the folder of the loop is; nil is the operating system.
	FS journalfs.FS

	// Now and NewID give events their time and id; nil is the system clock and a monotonic ULID
	// over crypto/rand.
	Now   func() time.Time
	NewID func(time.Time) [26]byte

	// Mask returns src with every known secret replaced: src itself if it contains none, else new
	// memory. It is applied to all lines and blobs before they are hashed. In a line it sees JSON
	// text, and must return JSON without a newline. nil stores everything as it is.
	Mask func(src []byte) []byte

	// SyncEvery is how long an event may stay unsynced: a goroutine syncs the segment this long
	// after the first unsynced byte, and when 8 MiB are unsynced. 0 leaves syncing to the caller.
	SyncEvery time.Duration

	// SegmentBytes is the size from which [Writer.Full] is true; 0 is 64 MiB.
	SegmentBytes int64

	// InlineBytes is the length from which PutBlob stores a text as a file; 0 is 16 KiB.
	InlineBytes int

	// Compress turns the segments before the current one into .jsonl.zst, on a goroutine.
	Compress bool

	// KeepIterations drops, at each new segment, the segments of all iterations before the last n,
	// and the blobs that only they referred to. 0 keeps all.
	KeepIterations int

	// Notify writes to the notify file for followers in other processes. It needs the operating
	// system's FS.
	Notify bool
}

const (
	defaultSegmentBytes = 64 << 20
	defaultInlineBytes  = 16 << 10
)

func (o Options) withDefaults(last time.Time) Options {
	o.FS = orOS(o.FS)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = monotonicIDs(last)
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = defaultSegmentBytes
	}
	if o.InlineBytes <= 0 {
		o.InlineBytes = defaultInlineBytes
	}
	return o
}
