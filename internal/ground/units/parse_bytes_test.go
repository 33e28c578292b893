package units_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "512": 512, "512 B": 512, "2.1 kB": 2100, "2.1kb": 2100, "100MB": 100e6, "1.5G": 15e8, " 10 MiB ": 10 << 20, "1k": 1000, "2T": 2e12, "1GiB": 1 << 30,
		"": -1, "MB": -1, "-1MB": -1, "1e3": -1, "inf": -1, "nan": -1, "0x10": -1, "1_0": -1, "ten": -1, "10 XB": -1, "99999999999TB": -1, "1 2": -1,
	} {
		got, ok := units.ParseBytes(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
	for _, n := range []int64{0, 999, 1500, 2_100_000, 3_000_000_000} {
		if got, ok := units.ParseBytes(units.Bytes(n)); got != n || !ok {
			t.Errorf("%d is %q, which is %d, %v", n, units.Bytes(n), got, ok)
		}
	}
}
