package hook

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// LoopDirVariable names the folder of a ralph loop for its agent and all that the agent starts.
const LoopDirVariable = "RALPH_LOOP_DIR"

// stopSession judges a stop of a session that may be in a session loop. held reports whether it is:
// then the reply is the answer.
func stopSession(ctx context.Context, e Env, in Input) (reply Reply, held bool, err error) {
	folder, l := findLoop(e, in, true)
	if l == nil {
		return Reply{}, false, nil
	}
	defer folder.Close()
	err = folder.locked(func() error {
		all := folder.List()
		at := slices.IndexFunc(all, func(other *SessionLoop) bool { return other.ID == l.ID })
		if at < 0 || !all[at].Active() || len(all[at].Sessions) > 0 && !all[at].holds(in.Session) {
			return nil // it ended a moment ago, or another session has it
		}
		l, held = all[at], true
		if !l.holds(in.Session) {
			l.Sessions = append(l.Sessions, in.Session)
		}
		message, block := l.decide(e.Now().UTC(), seenBy(ctx, l, in))
		if err := folder.write(l); err != nil {
			return err // what is not counted would have no end
		}
		if block {
			reply.Block = message
			return nil
		}
		reply.Note = fmt.Sprintf("ralph: the session loop ended after %s: %s", units.Quantity(l.Iteration, "continuation"), l.Result)
		return nil
	})
	return reply, held, err
}

// seenBy returns what the agent did since the last decision of the loop.
func seenBy(ctx context.Context, l *SessionLoop, in Input) Seen {
	since := l.Scanned
	if since.IsZero() {
		since = l.Started
	}
	seen, err := readSpoken(in.Transcript, since)
	if err != nil {
		seen = Seen{Uncounted: true}
		if now := FilesOf(ctx, l.Cwd); now != "" && l.Files != "" {
			seen.FilesChanged = now != l.Files
		}
	}
	seen.Last = in.LastMessage
	seen.Text += "\n" + in.LastMessage // which may be written after the hook
	if !seen.Uncounted && strings.Contains(seen.Text, l.Marker()) && l.ToolCalls+seen.ToolCalls < l.MinToolCalls {
		seen.ToolCalls = max(seen.ToolCalls, countLate(ctx, l, in, since)-l.ToolCalls)
	}
	return seen
}

// lateLimit bounds the wait for the last message of a turn in the transcript.
const lateLimit = time.Second

// countLate returns how many tools the agent called since the loop began. The agent may
// write its transcript later than it calls the hook: a call may come after the decision that ought
// to count it, with an earlier time, and the last calls of a turn may not be there yet. So it
// counts from the beginning, until the transcript has the last message or enough calls.
func countLate(ctx context.Context, l *SessionLoop, in Input, since time.Time) int {
	ctx, cancel := context.WithTimeout(ctx, lateLimit)
	defer cancel()
	for calls := 0; ; {
		if all, err := readSpoken(in.Transcript, l.Started); err == nil {
			calls = max(calls, all.ToolCalls)
		}
		turn, err := readSpoken(in.Transcript, since)
		if err != nil || calls >= l.MinToolCalls || strings.Contains(turn.Text, strings.TrimSpace(in.LastMessage)) {
			return calls
		}
		select {
		case <-ctx.Done():
			return calls
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func readSpoken(path string, since time.Time) (Seen, error) {
	t, err := openTranscript(path)
	if err != nil {
		return Seen{}, err
	}
	seen, err := t.spoken(since)
	return seen, errors.Join(err, t.Close())
}

// FilesOf identifies the commit and the uncommitted changes of a repository; empty if there is
// none, or it cannot be read.
func FilesOf(ctx context.Context, dir string) string {
	s, err := repo.TakeSnapshot(ctx, dir)
	if err != nil {
		return ""
	}
	return s.Head + " " + s.Fingerprint
}

// activeLoop returns the session loop that holds this session, nil if there is none.
func activeLoop(e Env, in Input) *SessionLoop {
	folder, l := findLoop(e, in, false)
	if folder != nil {
		folder.Close()
	}
	return l
}

// findLoop returns the active loop of this session, with its folder, which is then open. With claim
// it may also be one that no session has yet, unless a ralph loop runs this session.
func findLoop(e Env, in Input, claim bool) (*SessionFolder, *SessionLoop) {
	claim = claim && e.Variable(LoopDirVariable) == ""
	for project := range projects(e, in) {
		folder, err := OpenSessionFolder(e.Home, project)
		if err != nil {
			continue
		}
		all := slices.DeleteFunc(folder.List(), func(l *SessionLoop) bool { return !l.Active() })
		for _, fits := range []func(*SessionLoop) bool{
			func(l *SessionLoop) bool { return l.holds(in.Session) },
			func(l *SessionLoop) bool { return claim && len(l.Sessions) == 0 },
		} {
			if at := slices.IndexFunc(all, fits); at >= 0 {
				return folder, all[at]
			}
		}
		folder.Close()
	}
	return nil, nil
}

// mostAbove is how many folders above the current one may be a project.
const mostAbove = 64

// projects yields the folders that may be the project of a session: that of its loop, the agent's
// own idea of it, and the current folder with those around it.
func projects(e Env, in Input) iter.Seq[string] {
	return func(yield func(string) bool) {
		if dir := e.Variable(LoopDirVariable); filepath.IsAbs(dir) {
			project := filepath.Dir(filepath.Dir(dir))
			if tree := treeOf(dir); tree != project && !yield(tree) || !yield(project) {
				return
			}
		}
		if dir := e.Variable("CLAUDE_PROJECT_DIR"); filepath.IsAbs(dir) && !yield(dir) {
			return
		}
		dir := filepath.Clean(in.Cwd)
		for range mostAbove {
			if !filepath.IsAbs(dir) || !yield(dir) || filepath.Dir(dir) == dir {
				return
			}
			dir = filepath.Dir(dir)
		}
	}
}
