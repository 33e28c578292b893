package jsonscan_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// Callers that ignore the second result count what cannot be read as nothing.
func TestUnreadableNumbersAreZero(t *testing.T) {
	for _, text := range []string{"99999999999999999999999", "-99999999999999999999999", "1e999", "+1", "01", "1_0", "0x1", "Inf", "", "-"} {
		if n, ok := jsonscan.Int([]byte(text)); n != 0 || ok {
			t.Errorf("Int(%q) = %d, %t", text, n, ok)
		}
		if n, ok := jsonscan.Uint([]byte(text)); n != 0 || ok {
			t.Errorf("Uint(%q) = %d, %t", text, n, ok)
		}
		if text[:min(len(text), 1)] == "9" || text[:min(len(text), 2)] == "-9" {
			continue
		}
		if x, ok := jsonscan.Float([]byte(text)); x != 0 || ok {
			t.Errorf("Float(%q) = %g, %t", text, x, ok)
		}
	}
}
