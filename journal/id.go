package journal

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
)

// monotonicIDs makes ULIDs of which each sorts behind the one before, and behind
// every one made up to the time last, also when the clock is set back: the ULID
// library takes fresh randomness whenever the millisecond differs, so it must
// never see an earlier one.
func monotonicIDs(last time.Time) func(time.Time) [26]byte {
	entropy := ulid.Monotonic(rand.Reader, 0)
	var floor uint64
	if !last.IsZero() {
		floor = ulid.Timestamp(last) + 1
	}
	var id ulid.ULID // outside, so that making one allocates nothing
	next := func(ms uint64) error {
		if err := id.SetTime(ms); err != nil {
			return err
		}
		return entropy.MonotonicRead(ms, id[6:])
	}
	return func(at time.Time) (text [26]byte) {
		floor = max(floor, ulid.Timestamp(at))
		err := next(floor)
		if err == ulid.ErrMonotonicOverflow {
			floor++
			err = next(floor)
		}
		if err == nil {
			err = id.MarshalTextTo(text[:])
		}
		if err != nil {
			// crypto/rand does not fail, and a time past the year 10889 is not one.
			panic(fmt.Sprintf("journal: make an id: %v", err))
		}
		return text
	}
}
