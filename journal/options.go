package journal

import (
	"time"
)

// Options of a writer and of the repair before it. The zero value is what a
// program wants that has no wishes, but for SyncEvery, Compress and Bell, which
// start goroutines and are off unless asked for.
type Options struct {
	// FS is where the loop's folder lies; nil is the operating system.
	FS FS

	// Now and NewID give events their time and their id; nil is the system's
	// clock and a monotonic ULID over crypto/rand.
	Now   func() time.Time
	NewID func(time.Time) [26]byte

	// Mask returns src with every known secret replaced: src itself, unchanged, where it
	// has none, and memory of its own where it has. It is applied to
	// all that is stored, lines and blobs alike, before it is hashed. In a line
	// it sees JSON text, and what it returns must be JSON again, without a
	// newline. nil stores everything as it is.
	Mask func(src []byte) []byte

	// SyncEvery is the longest time that an event stays in the kernel alone: a
	// goroutine makes the segment durable this long after the first unsynced
	// byte, and also when 8 MiB are unsynced. 0 leaves syncing to the caller.
	SyncEvery time.Duration

	// SegmentBytes is the size at which Full says so; 0 is 64 MiB.
	SegmentBytes int64

	// InlineBytes is the length from which PutBlob makes a file; 0 is 16 KiB.
	InlineBytes int

	// Compress turns segments that are behind the current one into .jsonl.zst,
	// on a goroutine.
	Compress bool

	// KeepIterations drops, at each new segment, those of iterations before the
	// last n that came before the current one, and the blobs that only they named. 0 keeps all.
	KeepIterations int

	// Bell rings the bell file for followers in other processes. It needs the
	// operating system's FS.
	Bell bool
}

const (
	defaultSegmentBytes = 64 << 20
	defaultInlineBytes  = 16 << 10
)

func (o Options) withDefaults(last time.Time) Options {
	if o.FS == nil {
		o.FS = osFS{}
	}
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
