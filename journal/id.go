package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
)

// monotonicIDs returns a source of ULIDs. Each sorts after the previous one, and after every one
// made up to the time last, even if the clock is set back. The first of a millisecond is random;
// each later one in it is the previous one plus one.
func monotonicIDs(last time.Time) func(time.Time) [26]byte {
	var floor uint64
	if !last.IsZero() {
		floor = ulid.Timestamp(last) + 1
	}
	entropy := ulid.Monotonic(rand.Reader, 1)
	var id ulid.ULID // declared inside of the closure, each id would be an allocation
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
		_ = id.MarshalTextTo(text[:]) // text has the right length
		return text
	}
}
