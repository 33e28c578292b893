package hook

import (
	"context"
	"slices"
	"strings"
)

// cancelWords are how a person calls the skill cancel-ralph, in the plugin or without it.
var cancelWords = []string{"/cancel-ralph", "/ralph:cancel-ralph", "$cancel-ralph", "$ralph:cancel-ralph"}

// userPrompt ends the loop that holds a session if the person asks for it. The agent cannot do it
// itself, since the guard refuses 'ralph session cancel' in a held session.
func userPrompt(_ context.Context, e Env, in Input) (Reply, error) {
	words := strings.Fields(in.Prompt)
	if in.Subagent != "" || len(words) == 0 || !slices.Contains(cancelWords, words[0]) {
		return Reply{}, nil
	}
	folder, l := findLoop(e, in, true)
	if l == nil {
		return Reply{}, nil
	}
	defer folder.Close()
	cancelled, err := folder.Cancel(l.ID, e.Now().UTC(), "the person wrote "+words[0])
	if err != nil || !cancelled {
		return Reply{}, err
	}
	return Reply{
		Context: "ralph has ended the session loop. Nothing holds this session now. Its task was:\n" + l.Task,
		Note:    "ralph: the session loop ended: " + string(Cancelled),
	}, nil
}
