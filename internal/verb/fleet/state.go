package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
)

const maxState = 16 << 20 // bytes

// earlier reads the tasks of a fleet of an earlier version, whose journal has no event of a fleet:
// fleet.json was all that it kept. Its first resumption records them, and no other reads the file.
//
// If such a fleet was killed in the middle of a merge, the file also has ralph/tasks.json as it was
// before: it is put back, because what an agent wrote into its own does not count.
func (r *run) earlier(ctx context.Context) ([]policy.FleetTask, error) {
	var state struct {
		Tasks []policy.FleetTask `json:"tasks"`
		Plan  string             `json:"plan"`
	}
	text, err := safefile.Read(filepath.Join(r.dir, loopstate.FleetFile), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of the fleet: %w", err)
	}
	if r.Folder == "" && state.Plan != "" {
		if err := plan.WriteTasks(r.tree, []byte(state.Plan)); err != nil {
			return nil, err
		}
		if _, err := repo.Run(ctx, repo.Config{Dir: r.tree, Tasks: []string{"commit"}, Message: "Put ralph/tasks.json back", Env: r.e.Environ}); err != nil {
			return nil, err
		}
	}
	return state.Tasks, nil
}
