package prove

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/ralph-loop/ralph/journal/event"
)

// choose returns as many of the mutants as are wanted, by seed: from all files in turn, of
// different lines first, and of the operators in even shares.
func choose(files [][]event.Mutant, seed int64, most int) (chosen []event.Mutant) {
	random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // the same seed has to choose the same
	var left [][][]event.Mutant                      // of each file, of each line
	for _, all := range files {
		var lines [][]event.Mutant
		for i, m := range all {
			if i == 0 || m.Line != all[i-1].Line {
				lines = append(lines, nil)
			}
			lines[len(lines)-1] = append(lines[len(lines)-1], m)
		}
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		for _, line := range lines {
			random.Shuffle(len(line), func(i, j int) { line[i], line[j] = line[j], line[i] })
		}
		left = append(left, lines)
	}
	random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	used := map[string]int{} // how often an operator was chosen
	for len(left) > 0 && len(chosen) < most {
		lines := left[0]
		m := slices.MinFunc(lines[0], func(a, b event.Mutant) int { return cmp.Compare(used[a.Operator], used[b.Operator]) })
		used[m.Operator]++
		chosen = append(chosen, m)
		rest := slices.DeleteFunc(lines[0], func(other event.Mutant) bool { return other == m })
		if lines = lines[1:]; len(rest) > 0 { // the line comes again after the others of its file
			lines = append(lines, rest)
		}
		if left = left[1:]; len(lines) > 0 {
			left = append(left, lines)
		}
	}
	return chosen
}
