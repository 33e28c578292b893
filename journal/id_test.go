package journal

import (
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

func TestIDsRiseWhateverTheClockDoes(t *testing.T) {
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

func TestAnIDIsOfItsMillisecond(t *testing.T) {
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

func TestCountUpCarries(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		fits           bool
	}{
		{"the last letter rises", "00", "01", true},
		{"digits go over into letters", "09", "0A", true},
		{"letters that look like digits are left out", "0H", "0J", true},
		{"the last letter carries", "0Z", "10", true},
		{"nothing is left", "ZZ", "00", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			letters := []byte(c.from)
			if fits := countUp(letters); fits != c.fits || string(letters) != c.to {
				t.Errorf("%s + 1 = %s, %t", c.from, letters, fits)
			}
		})
	}
}

type onesOnly struct{}

func (onesOnly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xff
	}
	return len(p), nil
}
