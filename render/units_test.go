package render_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/render"
)

func usd(v float64) *float64 { return &v }

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		render.Tokens(999): "999", render.Tokens(1000): "1.0k", render.Tokens(9949): "9.9k", render.Tokens(9950): "10k",
		render.Tokens(999_499): "999k", render.Tokens(999_500): "1.0M", render.Tokens(45_600_000): "46M", render.Tokens(3e9): "3.0G",
		render.Cost(nil): "unknown", render.Cost(usd(0)): "$0.00", render.Cost(usd(0.0069)): "$0.0069", render.Cost(usd(5.755)): "$5.75",
		render.Span(-time.Second): "0s", render.Span(300 * time.Millisecond): "0.3s", render.Span(9949 * time.Millisecond): "9.9s",
		render.Span(59500 * time.Millisecond): "1m0s", render.Span(time.Hour - time.Second): "59m59s",
		render.Span(80 * time.Minute): "1h20m", render.Span(51 * time.Hour): "2d3h",
		render.Bytes(512): "512 B", render.Bytes(2100): "2.1 kB", render.Bytes(3e6): "3.0 MB", render.Bytes(2e9): "2.0 GB",
		render.Cut("short", 10): "short", render.Cut("exactly ten", 11): "exactly ten", render.Cut("too long a text", 8): "too lon…",
		render.Cut("値段の計算", 6): "値段…", render.Cut("値段の", 6): "値段の", render.Cut("any", 0): "any", render.Cut("any", 1): "…",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
