package units

import (
	"math"
	"strconv"
	"strings"
)

// sizes are the units of a size in bytes, in lower case.
var sizes = [...]struct {
	unit  string
	bytes float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12},
	{"b", 1}, {"", 1},
}

// ParseBytes reads a size as people write it, and as [Bytes] spells it: 512, 2.1 kB, 100MB, 1.5G,
// 10 MiB. Units are decimal unless they contain an i.
func ParseBytes(s string) (n int64, ok bool) {
	text := strings.ToLower(strings.TrimSpace(s))
	for _, size := range sizes {
		number, found := strings.CutSuffix(text, size.unit)
		if !found {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		bytes := math.Round(value * size.bytes)
		if err != nil || !(bytes >= 0 && bytes < math.MaxInt64) || strings.ContainsAny(number, "xpe_in") {
			return 0, false
		}
		return int64(bytes), true
	}
	return 0, false
}
