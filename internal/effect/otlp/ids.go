package otlp

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"
)

// Parent is the span of another program in which a loop began, as W3C Trace Context names it.
type Parent struct {
	Trace string // 32 digits of lower-case hexadecimal
	Span  string // 16
}

// ParseParent reads a TRACEPARENT. ok is false if it has another form, or if the span is not
// sampled: its program does not record it then.
func ParseParent(text string) (p Parent, ok bool) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || parts[0] == "00" && len(parts) > 4 || !isHex(parts[0], 2) || parts[0] == "ff" || !isHex(parts[3], 2) {
		return Parent{}, false
	}
	flags, _ := strconv.ParseUint(parts[3], 16, 8) // isHex checked it
	if !isHex(parts[1], 32) || !isHex(parts[2], 16) || flags&1 == 0 {
		return Parent{}, false
	}
	return Parent{Trace: parts[1], Span: parts[2]}, true
}

// isHex reports whether text has that many digits of lower-case hexadecimal, not all of them 0
// unless there are two.
func isHex(text string, digits int) bool {
	if len(text) != digits || strings.Trim(text, "0123456789abcdef") != "" {
		return false
	}
	return digits == 2 || strings.Trim(text, "0") != ""
}

// traceID returns the trace of a loop: that of the program that began it, else the loop's ULID.
func traceID(loop, parent string) string {
	if p, ok := ParseParent(parent); ok {
		return p.Trace
	}
	if id, err := ulid.ParseStrict(loop); err == nil && !id.IsZero() {
		return hex.EncodeToString(id[:])
	}
	sum := sha256.Sum256([]byte("trace\x00" + loop)) // the id of another program's journal
	return hex.EncodeToString(sum[:16])
}

// spanID returns the id of a span of a loop. what and number name it within the loop.
func spanID(loop, what string, number uint64) string {
	sum := sha256.Sum256([]byte(loop + "\x00" + what + "\x00" + strconv.FormatUint(number, 10)))
	return hex.EncodeToString(sum[:8])
}

// TraceParent returns the TRACEPARENT of a process in an iteration. loop is the ULID of the loop,
// parent the TRACEPARENT that the loop itself began with, if any.
func TraceParent(loop, parent string, iteration int) string {
	return "00-" + traceID(loop, parent) + "-" + spanID(loop, "iteration", uint64(iteration)) + "-01"
}
