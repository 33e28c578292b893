package prove

import "github.com/ralph-loop/ralph/journal/event"

// facts returns what gaming looks like in the files.
func (r *run) facts() []event.GamingFact { return r.strength.Facts }
