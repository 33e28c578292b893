package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
)

// monotonicIDs makes ULIDs of which each sorts after the one before, and after every one made up to
// the time last, also when the clock is set back. The first of a millisecond is random; each that
// follows in it is the one before plus one.
func monotonicIDs(last time.Time) func(time.Time) [26]byte {
	var floor uint64
	if !last.IsZero() {
		floor = ulid.Timestamp(last) + 1
	}
	entropy := ulid.Monotonic(rand.Reader, 1)
	var id ulid.ULID // not a local variable of the closure, where each id would be an allocation
	return func(at time.Time) (text [26]byte) {
		floor = max(floor, ulid.Timestamp(at))
		err := entropy.MonotonicRead(floor, id[6:])
		if err == ulid.ErrMonotonicOverflow {
			floor++ // the next millisecond has room
			err = entropy.MonotonicRead(floor, id[6:])
		}
		if err = errors.Join(err, id.SetTime(floor)); err != nil {
			// crypto/rand does not fail, and no time is after the year 10889.
			panic(fmt.Sprintf("journal: make an id: %v", err))
		}
		_ = id.MarshalTextTo(text[:]) // it has the length
		return text
	}
}
