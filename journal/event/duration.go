package event

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Duration is a time.Duration that reads and prints itself as people write it: "10m", "1h30m",
// "500ms".
type Duration time.Duration

// ParseDuration reads a Go duration that is not negative.
func ParseDuration(text string) (Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration such as \"10m\"", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is below 0", text)
	}
	return Duration(d), nil
}

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String prints d without the zero units that time.Duration appends: 10m, not 10m0s.
func (d Duration) String() string { return units.Plain(time.Duration(d)) }

// MarshalText makes d a JSON string.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
