package board

import (
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/listing"
)

// The loops of the last years, on a usual terminal.
func BenchmarkThousandLoops(b *testing.B) {
	var loops []listing.Loop
	for i := range 1000 {
		loops = append(loops, loop(fmt.Sprintf("loop%04d", i), func(l *listing.Loop) {
			if i > 20 {
				ended("promise")(l)
			}
			l.Facts = &listing.Facts{Text: "go test ./..."}
		}))
	}
	listing.SortLoops(loops)
	m := modelOf(120, 40, loops...)
	b.Run("snapshot", func(b *testing.B) {
		for b.Loop() {
			m.Show(listing.Snapshot{At: now, Loops: loops})
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			presses(m, "down")
			m.View()
		}
	})
}
