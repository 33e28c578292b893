package units

import (
	"testing"
	"time"
)

func TestSettingsDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 10 * time.Minute: "10m", 2 * time.Hour: "2h", 90 * time.Second: "1m30s", 2*time.Hour + 5*time.Second: "2h0m5s",
		100 * time.Minute: "1h40m", 1500 * time.Millisecond: "1.5s",
	} {
		if got := Plain(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		10 * time.Minute:           "10m",
		2 * time.Hour:              "2h",
		90 * time.Second:           "1m30s",
		50 * time.Millisecond:      "50ms",
		1234567 * time.Microsecond: "1.23s",
		61*time.Second + 1:         "1m1s",
	} {
		if got := Took(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

// A small amount is not shown as zero, and a limit keeps its digits.
func TestSpent(t *testing.T) {
	for want, row := range map[string][2]float64{
		"$1.50 of $2.00": {1.5, 2}, "<$0.0001 of $0.00": {0.000049, 0}, "$0.0001 of $0.01": {0.00005, 0.01}, "$0.0040 of $0.0010": {0.004, 0.001}, "$20.01 of $20.00": {20.0123, 20},
	} {
		if got := Of(row[0], row[1]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
