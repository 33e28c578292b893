package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// choose returns the mutants to run, in order: those in changed files first.
func choose(o options, all []mutant, changed []string) []mutant {
	if o.only != nil {
		return slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !o.only.MatchString(m.String()) })
	}
	chosen := slices.Clone(all)
	if o.seed != 0 {
		order := rand.New(rand.NewPCG(o.seed, 0))
		order.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	}
	rank := func(m mutant) int {
		if slices.Contains(changed, m.File) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(chosen, func(a, b mutant) int { return cmp.Compare(rank(a), rank(b)) })
	if o.seed != 0 || len(changed) > 0 {
		if o.most > 0 {
			chosen = chosen[:min(o.most, len(chosen))]
		}
		return chosen
	}
	return sample(chosen, o.most)
}

// sample returns that many mutants at equal distances; all of them if most is 0.
func sample(all []mutant, most int) []mutant {
	if most <= 0 || most >= len(all) {
		return all
	}
	chosen := make([]mutant, most)
	for i := range chosen {
		chosen[i] = all[i*len(all)/most]
	}
	return chosen
}

// changedFiles returns the files of the module that differ from a git revision. Without git or that
// revision, for example in a shallow clone, it returns none.
func changedFiles(o options) []string {
	if o.changed == "" {
		return nil
	}
	diff := exec.Command("git", "diff", "--name-only", "--relative", o.changed, "--", ".")
	diff.Dir = o.dir
	out, err := diff.Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutate: git does not know revision %s: no file counts as changed\n", o.changed)
	}
	return strings.Fields(string(out))
}
