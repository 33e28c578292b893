package every

import (
	"fmt"

	"github.com/ralph-loop/ralph/registry"
)

// A Decision is what a run does.
type Decision struct {
	Start bool
	After string // the folder of the loop after which it begins; empty for at once
	Stop  bool   // stop that loop after its iteration
	Why   string // of a run that does not start
}

// Decide says what a run does, from the loop of the run before; a loop without a folder for none.
// That one may have ended, run, or wait for its own turn, which is when one waits already.
func Decide(o Overlap, before registry.Status) Decision {
	switch {
	case before.Dir == "" || !before.Live.Alive:
		return Decision{Start: true}
	case o == Skip:
		return Decision{Why: fmt.Sprintf("loop %s of the run before is still alive", before.Name)}
	case before.Head.Iteration == 0:
		return Decision{Why: fmt.Sprintf("loop %s of the run before has not begun yet", before.Name)}
	}
	return Decision{Start: true, After: before.Dir, Stop: o == Replace}
}
