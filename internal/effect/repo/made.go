package repo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	mostMade   = 1000 // commits that [Made] looks at
	mostReflog = 5000 // entries of the reflog
)

// Made returns the commits of new that old does not have and that were made in the work tree around
// dir between two moments, the oldest first. old is empty where there was no commit. Commits that
// were fetched, pulled or merged are not among them, nor those that a rebase or a cherry-pick
// copied: what they add is older.
//
// What was made here is known from the reflog of HEAD. Without one, the time counts at which a
// commit was written. Time and environment are as in [TakeSnapshot].
func Made(ctx context.Context, dir, old, new string, since, until time.Time, env ...string) ([]string, error) {
	ctx, cancel := Bounded(ctx, ReadTime)
	defer cancel()
	g := In(dir, env...)
	made, err := g.made(ctx, old, new, since.Truncate(time.Second), until)
	if err != nil {
		err = fmt.Errorf("find the commits that were made: %w", err)
	}
	return made, err
}

func (g Git) made(ctx context.Context, old, new string, since, until time.Time) (made []string, err error) {
	for _, commit := range []string{old, new} {
		if err := g.checkCommit(ctx, commit); err != nil {
			return nil, err
		}
	}
	args := []string{"log", "--no-patch", "--no-notes", "--reverse", "--max-count=" + strconv.Itoa(mostMade), "--format=%H %at %ct", new}
	if old != "" {
		args = append(args, "^"+old)
	}
	out, err := g.Line(ctx, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	// The time of a commit can be set, the order of the reflog cannot: what HEAD named first after
	// it named old last is new too.
	here, later, past := map[string]string{}, map[string]bool{}, false
	for _, e := range g.reflog(ctx) { // the newest first
		here[e.commit] = e.did
		past = past || e.commit == old
		later[e.commit] = !past
	}
	within := func(seconds string) bool {
		n, err := strconv.ParseInt(seconds, 10, 64)
		at := time.Unix(n, 0)
		return err == nil && !at.Before(since) && !at.After(until)
	}
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		commit, written, committed := words[0], words[1], words[2]
		switch did, known := here[commit]; {
		case known && Writes(did) && (within(committed) || later[commit]), known && copies(did) && within(written), len(here) == 0 && within(written):
			made = append(made, commit)
		}
	}
	return made, nil
}

// Reflog returns what git did when HEAD of this work tree named a commit first. It is empty without
// a reflog.
func (g Git) Reflog(ctx context.Context) map[string]string {
	here := map[string]string{}
	for _, e := range g.reflog(ctx) { // the newest first
		here[e.commit] = e.did
	}
	return here
}

// headEntry is an entry of the reflog of HEAD.
type headEntry struct{ commit, did string }

func (g Git) reflog(ctx context.Context) (all []headEntry) {
	out, err := g.Read(ctx, "log", "--walk-reflogs", "--no-patch", "--no-notes", "--max-count="+strconv.Itoa(mostReflog), "--format=%H %gs", "HEAD", "--")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		commit, did, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all = append(all, headEntry{commit, did})
	}
	return all
}

// Writes reports whether an entry of the reflog is about a new commit with new content.
func Writes(did string) bool {
	what, detail, _ := strings.Cut(did, ":")
	if strings.HasPrefix(what, "merge ") || strings.HasPrefix(what, "pull") {
		return strings.Contains(detail, "Merge made")
	}
	return what == "revert" || what == "commit" || strings.HasPrefix(what, "commit (")
}

// copies reports whether an entry of the reflog is about a commit that was made from another one.
func copies(did string) bool {
	what, _, _ := strings.Cut(did, ":")
	return what == "cherry-pick" || what == "am" || strings.HasPrefix(what, "rebase") && !strings.Contains(what, "finish") &&
		!strings.Contains(what, "start")
}
