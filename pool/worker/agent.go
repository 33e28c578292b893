package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/pool/program"
	"github.com/ralph-loop/ralph/pool/spec"
)

// unable says why this host cannot run a specification, as far as that is known before its
// repository is here. It stays in the queue then, for a host that can.
func (w *Worker) unable(ctx context.Context, s spec.Spec) (why string) {
	if w.Only != "" { // there is no other one
		return ""
	}
	w.mu.Lock()
	if refused := w.unfitKinds[kind(s)]; w.Now().Before(refused.until) {
		why = refused.why
	}
	w.mu.Unlock()
	if name, alone := agentOf(s); why == "" && w.lacks(ctx, name, alone) {
		why = fmt.Sprintf("host %s has no program %s: install it there, or begin a worker where it is", w.Host, name)
	}
	if why != "" {
		w.say(why, "%s; what needs it stays in the queue", why)
	}
	return why
}

// refusedFor is how long a host claims no other specification of a kind that it could not begin.
// What was wrong may be mended meanwhile, in the repository or on the host.
const refusedFor = time.Hour

type refusedKind struct {
	why   string
	until time.Time
}

// rememberRefusal remembers that a start was refused: the next one of that kind would be as well.
func (w *Worker) rememberRefusal(s spec.Spec, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	until := w.Now().Add(refusedFor)
	w.unfitKinds[kind(s)] = refusedKind{fmt.Sprintf("host %s could not begin %s, of the same repository and options, and tries no other until %s: %v",
		w.Host, s.Name, until.Format(time.TimeOnly), err), until}
}

// kind is what a start depends on, besides the prompt.
func kind(s spec.Spec) string {
	return strings.Join(append([]string{s.Repository, s.Branch, s.Inside}, s.Start...), "\x00")
}

// agentOf returns the program of the agent that a specification names, and whether it is given
// alone, as a name in the settings is; empty if it names none, or one by its path, which may be in
// the repository.
func agentOf(s spec.Spec) (name string, alone bool) {
	flags, _ := spec.Flags(s.Start)
	for _, flag := range slices.Backward(flags) {
		if value, found := strings.CutPrefix(flag, "--agent="); found {
			name, _, more := strings.Cut(strings.TrimSpace(value), " ")
			if strings.ContainsRune(name, '/') {
				return "", false
			}
			return name, !more
		}
	}
	return "", false
}

// lacks reports whether this host has not got an agent that ralph knows. Of any other name, only
// the settings of the repository may say what it is.
func (w *Worker) lacks(ctx context.Context, name string, alone bool) bool {
	if name == "" {
		return false
	}
	if _, err := exec.LookPath(name); err == nil {
		return false
	}
	if w.absent == nil {
		w.absent = w.absentAgents(ctx)
	}
	set, absent := w.absent[name]
	return absent && !(alone && set)
}

// absentAgents returns the agents that ralph knows and that are not on PATH, with whether the
// person's own settings have a command of that name; nil if ralph does not say it.
func (w *Worker) absentAgents(ctx context.Context) map[string]bool {
	command := exec.CommandContext(ctx, w.ralph(), "doctor", "--json")
	command.Dir, command.Env = w.Home, environ(w.Home)
	text, _ := command.Output() // it fails where something is wrong, and says the rest
	type value struct {
		Key string `json:"key"`
	}
	var found struct {
		Missing  []string `json:"missing"`
		Settings struct {
			Values []value `json:"values"`
		} `json:"settings"`
	}
	if json.Unmarshal(text, &found) != nil {
		return nil
	}
	absent := map[string]bool{}
	for _, name := range found.Missing {
		absent[name] = slices.ContainsFunc(found.Settings.Values, func(v value) bool { return v.Key == "agents."+name+".command" })
	}
	return absent
}

// ralph is the program.
func (w *Worker) ralph() string {
	if w.Program != "" {
		return w.Program
	}
	return program.Ralph()
}
