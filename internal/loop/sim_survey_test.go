package loop_test

import "testing"

func TestSurvey(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(*simSeeds) {
		w, problem := playNight(seed+1, newScene(seed+1), mutation{})
		if problem != nil {
			v := problem.(violation)
			if found[v.invariant]++; found[v.invariant] <= 4 {
				t.Errorf("seed %d (%d steps): %.300v", seed+1, w.steps, problem)
			}
		}
	}
	t.Logf("%v", found)
}
