package story

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// checkRepaired checks what every repair of a valid file must result in.
func checkRepaired(t interface {
	Helper()
	Fatalf(string, ...any)
}, found, before []byte, mode event.StoryMode, r Rules) (data []byte, problems []event.StoryProblem, restored bool) {
	t.Helper()
	data, problems, restored = Repair(found, before, mode, r)
	was, _ := Parse(before)
	l, wrong := Parse(data)
	if len(wrong) > 0 {
		t.Fatalf("not valid: %s\nfound %s\nbefore %s\nrepaired %s", texts(wrong), found, before, data)
	}
	for _, p := range Judge(was.States(), l, mode, r) {
		if !strings.Contains(p.Text, "waits for a review") {
			t.Fatalf("after the repair: %s\nfound %s\nbefore %s\nrepaired %s", p.Text, found, before, data)
		}
	}
	for i := range was.Stories {
		if l.Find(was.Stories[i].ID) == nil {
			t.Fatalf("story %q is gone\nfound %s\nrepaired %s", was.Stories[i].ID, found, data)
		}
	}
	if !slices.Equal(l.VerifyCommands, was.VerifyCommands) {
		t.Fatalf("verifyCommands are %q\nfound %s\nrepaired %s", l.VerifyCommands, found, data)
	}
	again, more, _ := Repair(data, before, mode, r)
	if !bytes.Equal(again, data) {
		t.Fatalf("a second repair changes %s\nto %s", data, again)
	}
	for _, p := range more {
		if p.Undone {
			t.Fatalf("a second repair undoes: %s\n%s", p.Text, data)
		}
	}
	if restored && !bytes.Equal(data, before) {
		t.Fatalf("restored as %s\nbefore %s", data, before)
	}
	if !restored && len(problems) == 0 && !bytes.Equal(data, found) && !bytes.Contains(data, []byte(CapPrefix)) {
		t.Fatalf("changed without a problem:\nfound %s\nrepaired %s", found, data)
	}
	return data, problems, restored
}

// An agent draws texts of tasks.json.
type agent struct{ t *rapid.T }

func (a agent) one(of ...string) string { return rapid.SampledFrom(of).Draw(a.t, "one") }

func (a agent) chance(percent int) bool { return rapid.IntRange(1, 100).Draw(a.t, "chance") <= percent }

// space is white space as people and encoders write it.
func (a agent) space() string { return a.one("", "", " ", "\n    ", "\t", "\r\n") }

// A fieldText is the name of a field and its value as JSON.
type fieldText struct{ name, value string }

type entry []fieldText

func (a agent) entry(id string, earlier []string) entry {
	e := entry{
		{"id", string(jsonscan.AppendString(nil, id))},
		{"title", a.one(`"t"`, `"ü\u0041\n"`)},
		{"acceptanceCriteria", a.one(`["a"]`, "[ \"a\" ,\n\"b\" ]")},
		{"priority", a.one("1", "2", "-1.5e1", "0")},
		{"passes", a.one("false", "false", "true")},
		{"reviewStatus", a.status()},
		{"reviewCount", a.one("0", "1", "2", "3")},
		{"reviewFeedback", a.one(`""`, `" "`, `"fix \"it\""`)},
		{"notes", a.one(`"n"`, `"written"`)},
	}
	if len(earlier) > 0 && a.chance(40) {
		e = append(e, fieldText{"dependsOn", string(slices.Concat([]byte("["), jsonscan.AppendString(nil, a.one(earlier...)), []byte("]")))})
	}
	if a.chance(20) {
		e = append(e, fieldText{"extra", a.one(`{"id": "x", "passes": true}`, "[]", "1")})
	}
	return slices.Collect(slices.Values(rapid.Permutation(e).Draw(a.t, "order")))
}

func (a agent) status() string {
	return a.one("null", `"needs_review"`, `"changes_requested"`, `"approved"`, `"needs\u005freview"`)
}

// spoil changes an entry in a way that an agent may or may not.
func (a agent) spoil(e entry) entry {
	e = slices.Clone(e)
	for range rapid.IntRange(0, 3).Draw(a.t, "changes") {
		i := rapid.IntRange(0, len(e)-1).Draw(a.t, "field")
		switch {
		case a.chance(8):
			e = slices.Delete(e, i, i+1)
			if len(e) == 0 {
				return entry{{"id", "1"}}
			}
		case a.chance(8):
			e[i].value = a.one("null", `""`, "[]", "{}", "-1", `"x"`)
		case a.chance(5):
			e = append(e, e[i])
		case e[i].name == "passes":
			e[i].value = a.one("true", "false")
		case e[i].name == "reviewStatus":
			e[i].value = a.status()
		case e[i].name == "reviewCount":
			e[i].value = a.one("0", "1", "2", "3", "4")
		case e[i].name == "reviewFeedback":
			e[i].value = a.one(`""`, `"new"`)
		case e[i].name == "title":
			e[i].value = `"changed"`
		}
	}
	return e
}

// review changes an entry as the modes allow, so that legal changes are frequent.
func (a agent) move(e entry) entry {
	e = slices.Clone(e)
	set := func(name, value string) {
		for i := range e {
			if e[i].name == name {
				e[i].value = value
			}
		}
	}
	count := func() string {
		for _, f := range e {
			if n, ok := jsonscan.Int([]byte(f.value)); ok && f.name == "reviewCount" {
				return fmt.Sprint(n + 1)
			}
		}
		return "1"
	}
	switch a.one("implement", "approve", "request", "fix") {
	case "implement":
		set("reviewStatus", `"needs_review"`)
	case "approve":
		set("reviewStatus", `"approved"`)
		set("passes", "true")
		set("reviewCount", count())
	case "request":
		set("reviewStatus", `"changes_requested"`)
		set("passes", "false")
		set("reviewCount", count())
		set("reviewFeedback", `"again"`)
	case "fix":
		set("reviewStatus", `"needs_review"`)
		set("reviewFeedback", `""`)
	}
	return e
}

func (a agent) spell(e entry) string {
	var b strings.Builder
	b.WriteString("{" + a.space())
	for i, f := range e {
		if i > 0 {
			b.WriteString(a.space() + "," + a.space())
		}
		b.WriteString(string(jsonscan.AppendString(nil, f.name)) + a.space() + ":" + a.space() + f.value)
	}
	return b.String() + a.space() + "}"
}

func (a agent) file(header entry, stories []string) []byte {
	var b strings.Builder
	for i, s := range stories {
		if i > 0 {
			b.WriteString(a.space() + "," + a.space())
		}
		b.WriteString(a.space() + s)
	}
	all := append(slices.Clone(header), fieldText{"userStories", "[" + b.String() + a.space() + "]"})
	return []byte(a.space() + a.spell(rapid.Permutation(all).Draw(a.t, "header")) + a.space())
}

// TestRepairProperties lets an agent do anything to a file.
func TestRepairProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := agent{t}
		header := entry{{"project", `"p"`}, {"branchName", `"b"`}, {"description", `""`}}
		if a.chance(50) {
			header = append(header, fieldText{"verifyCommands", a.one(`[]`, `["make"]`)})
		}
		var ids, before, after []string
		var entries []entry
		for i := range rapid.IntRange(1, 4).Draw(t, "stories") {
			id := fmt.Sprintf("US-%d", i)
			e := a.entry(id, ids)
			ids, entries, before = append(ids, id), append(entries, e), append(before, a.spell(e))
		}
		for i, e := range entries {
			switch {
			case a.chance(10):
				continue
			case a.chance(40):
				after = append(after, a.spell(a.spoil(e)))
			case a.chance(50):
				after = append(after, a.spell(a.move(e)))
			default:
				after = append(after, before[i])
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "new") {
			after = append(after, a.spell(a.spoil(a.entry(a.one("N-1", "N-2", "US-1"), append(ids, "N-2", "N-3")))))
		}
		after = rapid.Permutation(after).Draw(t, "order of stories")
		changed := header
		if a.chance(20) {
			changed = a.spoil(header)
		}
		was, found := a.file(header, before), a.file(changed, after)
		if _, wrong := Parse(was); len(wrong) > 0 {
			t.Fatalf("the test is wrong: %s\n%s", texts(wrong), was)
		}
		mode := rapid.SampledFrom(allModes).Draw(t, "mode")
		r := Rules{Cap: rapid.IntRange(1, 4).Draw(t, "cap"), SkipReview: a.chance(10)}
		data, problems, restored := checkRepaired(t, found, was, mode, r)
		if restored {
			return
		}
		// A story that no problem names is as the agent left it.
		l, _ := read(data)
		for i, s := range l.list.Stories {
			named := slices.ContainsFunc(problems, func(p event.StoryProblem) bool { return p.Story == s.ID })
			if !named && !strings.HasPrefix(s.ReviewFeedback, CapPrefix) && !bytes.Contains(found, l.stories[i].at.of(data)) {
				t.Fatalf("story %s was changed without a problem\nfound %s\nrepaired %s", s.ID, found, data)
			}
		}
	})
}

func FuzzRepair(f *testing.F) {
	for _, found := range []string{"", "{}", three, strings.ReplaceAll(three, "null", `"approved"`), strings.ReplaceAll(three, "US-002", "X"), `{"userStories": [{}, 1, []]}`} {
		for i := range allModes {
			f.Add([]byte(found), []byte(three), uint8(i), 1)
		}
	}
	f.Fuzz(func(t *testing.T, found, before []byte, mode uint8, most int) {
		m := allModes[int(mode)%len(allModes)]
		r := Rules{Cap: max(1, most), SkipReview: int(mode) >= 4*len(allModes)}
		if _, wrong := Parse(before); len(wrong) > 0 {
			Repair(found, before, m, r)
			before = []byte(three)
		}
		checkRepaired(t, found, before, m, r)
	})
}

// An iteration that changes nothing can lack only a review, and no list makes Judge panic.
func FuzzJudge(f *testing.F) {
	for _, after := range []string{three, strings.ReplaceAll(three, "null", `"approved"`), strings.ReplaceAll(three, "US-002", "X")} {
		for i := range allModes {
			f.Add([]byte(three), []byte(after), uint8(i), 1)
		}
	}
	f.Fuzz(func(t *testing.T, before, after []byte, mode uint8, most int) {
		was, wrongBefore := Parse(before)
		is, wrongAfter := Parse(after)
		if was == nil || is == nil {
			return
		}
		m, r := allModes[int(mode)%len(allModes)], Rules{Cap: max(1, most), SkipReview: int(mode) >= 4*len(allModes)}
		problems := Judge(was.States(), is, m, r)
		if len(problems) > maxProblems+1 {
			t.Fatalf("%d problems", len(problems))
		}
		for _, p := range Judge(is.States(), is, m, r) {
			if len(wrongAfter) == 0 && !strings.Contains(p.Text, "waits for a review") {
				t.Fatalf("nothing has changed, and: %s\n%s", p.Text, after)
			}
		}
		if len(problems) > 0 || len(wrongBefore) > 0 || len(wrongAfter) > 0 {
			return
		}
		_, undone, restored := Repair(after, before, m, r)
		for _, p := range undone {
			if restored || p.Undone && p.Field != "verifyCommands" {
				t.Fatalf("no problem, and a repair undoes: %+v\nbefore %s\nafter %s", p, before, after)
			}
		}
	})
}
