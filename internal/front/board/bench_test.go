package board

import (
	"fmt"
	"testing"
)

// The loops of the last years, on a usual terminal.
func BenchmarkThousandLoops(b *testing.B) {
	var loops []Loop
	for i := range 1000 {
		loops = append(loops, loop(fmt.Sprintf("loop%04d", i), func(l *Loop) {
			if i > 20 {
				ended("promise")(l)
			}
			l.Facts = &Facts{Text: "go test ./..."}
		}))
	}
	sortLoops(loops)
	m := modelOf(120, 40, loops...)
	b.Run("snapshot", func(b *testing.B) {
		for b.Loop() {
			m.Show(Snapshot{At: now, Loops: loops})
		}
	})
	b.Run("key", func(b *testing.B) {
		for b.Loop() {
			presses(m, "down")
			m.View()
		}
	})
}
