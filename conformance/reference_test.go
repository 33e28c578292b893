package conformance_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// object is one in JSON.
type object = map[string]any

// answer is what ralph's own packages say about the folder of a case.
func answer(t *testing.T, kind, dir string) any {
	t.Helper()
	loop := filepath.Join(dir, "loop")
	switch kind {
	case "journal":
		return ofJournal(t, loop)
	case "inbox":
		return ofInbox(t, loop)
	}
	return ofRegistry(t, dir)
}

func ofJournal(t *testing.T, loop string) any {
	var last journal.SegmentReport
	segments, events, first := 0, 0, event.Seq(0)
	err := journal.Verify(loop, func(r journal.SegmentReport) {
		if segments == 0 {
			first = r.FirstSeq
		}
		last, segments, events = r, segments+1, events+r.Events
	})
	if err != nil {
		return ofDamage(t, err)
	}
	facts := object{
		"segments": segments, "events": events, "firstSeq": first, "lastSeq": last.LastSeq,
		"sealed": last.Sealed, "sha256": last.SHA256, "torn": last.Torn,
	}
	return object{"journal": facts, "view": ofView(t, loop)}
}

func ofDamage(t *testing.T, err error) any {
	code := journal.CodeOf(err)
	if code == "" {
		t.Fatal(err)
	}
	wrong := object{"code": code}
	if damage, ok := errors.AsType[*journal.CorruptError](err); ok && damage.Line > 0 {
		wrong["segment"], wrong["line"] = damage.Segment, damage.Line
	}
	return object{"error": wrong}
}

// ofView is the part of a View that docs/reference/format.md defines.
func ofView(t *testing.T, loop string) any {
	segments, err := journal.Segments(loop)
	if err != nil {
		t.Fatal(err)
	}
	var l projector.Loop
	for e, err := range journal.Read(loop, journal.ReadOptions{}) {
		if err == nil && segments[0].Ordinal == 1 {
			err = l.Fold(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !l.Begun() {
		return nil
	}
	v := l.View()
	waiting, last := any(nil), any(nil)
	if v.Wait != nil {
		waiting = object{"for": v.Wait.For, "until": stamp(v.Until)}
	}
	if v.Last != nil {
		last = object{"n": v.Last.N, "outcome": v.Last.Outcome}
	}
	commands, questions := []string{}, []int{}
	for _, c := range v.Commands {
		commands = append(commands, c.ID)
	}
	for _, q := range v.OpenQuestions() {
		questions = append(questions, q.Number)
	}
	return object{
		"id": v.ID, "name": v.Name, "seq": v.Seq, "at": stamp(v.At), "since": stamp(v.Since),
		"status": v.Status, "reason": text(v.Reason), "strength": text(string(v.Strength)),
		"iteration": v.Iteration, "maximumIterations": v.MaximumIterations, "refunded": v.Refunded, "agent": v.Agent,
		"cost": v.Cost, "tokensIn": v.TokensIn, "tokensOut": v.TokensOut,
		"waiting": waiting, "commands": commands, "questions": questions, "lastIteration": last, "continuesOn": text(v.ContinuesOn),
	}
}

func stamp(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000Z")
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ofInbox is what a runner records of the commands in an inbox.
func ofInbox(t *testing.T, loop string) any {
	known := map[string]bool{}
	for e, err := range journal.Read(loop, journal.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if received, err := event.As[event.CommandReceived](e); err == nil {
			known[received.ID] = true
		}
	}
	names := read(t, loop, "")
	box, err := inbox.Open(loop)
	if err != nil {
		t.Fatal(err)
	}
	received, repeated, rejected := []any{}, []string{}, []any{}
	for range box.Watch(t.Context()) {
		items, err := box.Pending()
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			switch c := item.Command; {
			case c == nil:
				rejected = append(rejected, object{"file": item.Reject.Name, "code": item.Reject.Code})
				err = box.Reject(item.Reject.Name, item.Reject.Reason)
			case known[c.ID]:
				repeated = append(repeated, c.ID)
				err = box.Done(c.ID)
			default:
				received = append(received, receipt(t, *c, names))
				err = box.Done(c.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if left(t, loop) == 0 {
			break
		}
	}
	return object{"received": received, "repeated": repeated, "rejected": rejected}
}

// receipt is the data of command.received, without what the kernel says of the sender. A command
// whose file had no id has none.
func receipt(t *testing.T, c inbox.Command, names files) any {
	id := c.ID
	c.From, c.At, c.Process = policy.Sender(c.From), time.Time{}, nil
	data, err := json.Marshal(c)
	var r object
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	named := false
	for name := range names {
		named = named || strings.Contains(name, id)
	}
	if !named {
		r["id"] = nil
	}
	return r
}

// left counts the files of an inbox that concern a runner.
func left(t *testing.T, loop string) (n int) {
	for _, part := range []string{inbox.Folder, inbox.AgentFolder} {
		entries, err := os.ReadDir(filepath.Join(loop, part))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.Name() != inbox.RejectedFolder && !strings.HasPrefix(entry.Name(), ".") {
				n++
			}
		}
	}
	return n
}

// ofRegistry reads each entry, and surveys the loops of those that are valid where the case has
// their folders.
func ofRegistry(t *testing.T, dir string) any {
	folder, home := registry.Folder(filepath.Join(dir, "home")), t.TempDir()
	names, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	entries := []object{}
	for _, name := range names {
		if strings.HasPrefix(name.Name(), ".") {
			continue
		}
		e, err := registry.ReadEntry(filepath.Join(folder, name.Name()))
		code := "entry-unreadable"
		if wrong, ok := errors.AsType[*registry.EntryError](err); ok {
			code = wrong.Code
		}
		if err != nil {
			entries = append(entries, object{"file": name.Name(), "code": code})
			continue
		}
		e.Dir, e.Project = filepath.Join(dir, "root", e.Dir), filepath.Join(dir, "root", e.Project)
		if err := registry.Put(home, e); err != nil {
			t.Fatal(err)
		}
		found, err := registry.Survey(home, func(o registry.Entry) bool { return o.ID == e.ID && o.Dir == e.Dir })
		if err != nil || len(found) != 1 || found[0].Err != nil {
			t.Fatalf("%+v, %v", found, err)
		}
		s := found[0]
		entries = append(entries, object{
			"file": name.Name(), "name": s.Name, "alive": s.Live.Alive, "died": s.Died, "gone": s.Gone, "status": s.Head.Status,
		})
	}
	slices.SortFunc(entries, func(a, b object) int { return strings.Compare(a["file"].(string), b["file"].(string)) })
	return object{"entries": entries}
}
