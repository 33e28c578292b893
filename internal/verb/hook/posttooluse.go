package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// thresholds are the fills at which the agent is warned, in percent.
var thresholds = []int{50, 60, 70, 80, 90}

// rearm is how far the fill has to fall below a threshold, in percent of the window, before the
// agent is warned of it again. Requests differ by less, and a compaction frees more.
const rearm = 10

// postToolUse warns the agent when its context window fills up, once for each threshold. A failure
// is silent for the agent: it works without warnings.
func postToolUse(_ context.Context, e Env, in Input) (Reply, error) {
	if in.Subagent != "" || in.Session == "" {
		return Reply{}, nil // a subagent has a window of its own
	}
	t, err := openTranscript(in.Transcript)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoTranscript) {
			return Reply{}, nil // not written yet
		}
		return Reply{}, fmt.Errorf("read the transcript: %w", err)
	}
	f, err := t.fill()
	if err = errors.Join(err, t.Close()); err != nil {
		return Reply{}, fmt.Errorf("read the transcript: %w", err)
	}
	f.window = windowOf(e, f)
	crossed, err := crossThreshold(e, in.Session, f)
	if err != nil || crossed == 0 {
		return Reply{}, err
	}
	return Reply{Context: alert(crossed, f, readerOf(e, in))}, nil
}

// crossThreshold returns the highest threshold that the fill has newly reached, 0 if there is none,
// and remembers it with the lower ones.
func crossThreshold(e Env, session string, f fill) (crossed int, err error) {
	all, err := openRecords(e)
	if err != nil {
		return 0, err
	}
	defer all.Close()
	if next, _ := alertsAfter(all.read(session), f); next == nil {
		return 0, nil // as after almost every call: nothing is locked or written
	}
	err = all.change(session, func(r *record) {
		next, highest := alertsAfter(*r, f)
		if next == nil {
			return // another hook was quicker
		}
		r.Alerted, crossed = next, highest
		r.Compacted = max(r.Compacted, f.compacted)
	})
	if errors.Is(err, errBusy) {
		return 0, nil // that hook warns
	}
	if err != nil {
		return 0, err
	}
	return crossed, nil
}

// alertsAfter returns the thresholds that the agent has been warned of after this fill, nil if
// nothing changes, and the highest that is new, 0 if none is.
func alertsAfter(r record, f fill) (alerted []int, highest int) {
	percent := f.percent()
	alerted = []int{}
	for _, at := range r.Alerted {
		if f.compacted <= r.Compacted && percent > at-rearm {
			alerted = append(alerted, at)
		}
	}
	for _, at := range thresholds {
		if percent >= at && !slices.Contains(alerted, at) {
			alerted, highest = append(alerted, at), at
		}
	}
	if highest == 0 && len(alerted) == len(r.Alerted) {
		return nil, 0
	}
	return alerted, highest
}

// A reader is where an agent can leave what the next one has to know.
type reader int

const (
	ofSession reader = iota // a person's own session
	ofLoop                  // an iteration of a loop
	ofPlan                  // an iteration of a loop over stories
)

// alert is the text of a warning.
func alert(threshold int, f fill, who reader) string {
	about := "of " + units.Tokens(f.window) + " tokens"
	if f.guessed {
		about = "by the size of the transcript"
	}
	level := 0
	name := "NOTICE"
	switch {
	case threshold >= 90:
		level, name = 2, "CRITICAL"
	case threshold >= 70:
		level, name = 1, "WARNING"
	}
	return fmt.Sprintf("ralph: %s: your context window is %d%% full (%s). %s", name, min(100, f.percent()), about, advice[who][level])
}

// advice is what to do, by reader and level.
var advice = [3][3]string{
	ofSession: {
		"Plan so that the current task fits into what is left.",
		"Finish the current task and commit soon. Begin nothing else.",
		"Begin nothing new. Write down what is left to do and what you found out, commit all changes, and stop.",
	},
	ofLoop: {
		"Plan so that the current task fits into this iteration. Note work that you discover in your task file: the next iteration reads it.",
		"Finish the current task and commit soon. Begin nothing else. Write what is left, and what you found out about it, into your task file: the next iteration begins with an empty context.",
		"Begin nothing new. 1. Write what is left into your task file. 2. Add what you found out and where you are. 3. Commit all changes. 4. Stop. The next iteration continues from there.",
	},
	ofPlan: {
		"Plan so that the current story fits into this iteration. If you discover more work, add stories to ralph/tasks.json: a later iteration does them.",
		"Finish the current story and commit soon. Begin no other story. For work that is left, add stories to ralph/tasks.json, and write what you found out about it into ralph/progress.txt: the next iteration begins with an empty context.",
		"Begin nothing new. 1. Add stories to ralph/tasks.json for all work that is left. 2. Write into ralph/progress.txt what you found out, and where you are. 3. Commit all changes. 4. Stop. The next iteration continues from there.",
	},
}
