package journal

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

func TestIDsRise(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	next := monotonicIDs(noon)
	last := ulid.MustNew(ulid.Timestamp(noon), onesOnly{}).String()
	clock := []time.Duration{0, 0, time.Millisecond, time.Microsecond, -time.Hour, time.Second, time.Second, 0}
	for i := range 100_000 {
		at := noon.Add(clock[i%len(clock)] * time.Duration(1+i/1000))
		text := next(at)
		id := string(text[:])
		if _, err := ulid.ParseStrict(id); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if id <= last {
			t.Fatalf("%s came after %s", id, last)
		}
		last = id
	}
}

func TestIDHasItsMillisecond(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 123_000_000, time.UTC)
	next := monotonicIDs(time.Time{})
	for range 40 {
		text := next(at)
		if id := ulid.MustParseStrict(string(text[:])); id.Time() != ulid.Timestamp(at) {
			t.Fatalf("%s is of %d", id, id.Time())
		}
	}
	if epoch := monotonicIDs(time.Time{})(time.Unix(0, 0)); epoch[0] != '0' {
		t.Errorf("the first id of all is %q", epoch)
	}
}

type onesOnly struct{}

func (onesOnly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xff
	}
	return len(p), nil
}
