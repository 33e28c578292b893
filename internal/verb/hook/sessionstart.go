package hook

import (
	"context"
	"strings"
)

// sessionStart lets the warnings of a session begin again, and says what ralph does in this
// project. A failure is silent for the agent.
func sessionStart(_ context.Context, e Env, in Input) (Reply, error) {
	if in.Subagent != "" {
		return Reply{}, nil
	}
	err := forgetAlerts(e, in.Session)
	var said []string
	if l := activeLoop(e, in); l != nil {
		said = append(said, l.Contract())
	}
	if text := aboutLoops(e, in); text != "" {
		said = append(said, text)
	}
	return Reply{Context: strings.Join(said, "\n\n")}, err
}

// forgetAlerts lets all thresholds of a session count again, and removes records of old sessions.
func forgetAlerts(e Env, session string) error {
	all, err := openRecords(e)
	if err != nil {
		return err
	}
	defer all.Close()
	all.removeOld(e.Now())
	if session == "" || len(all.read(session).Alerted) == 0 {
		return nil
	}
	return all.change(session, func(r *record) { r.Alerted = nil })
}
