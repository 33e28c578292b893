package story

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

func TestRepairRestoresFile(t *testing.T) {
	for _, c := range []struct {
		name  string
		found []byte
		text  string
	}{
		{"gone", nil, "tasks.json was gone"},
		{"empty", []byte{}, "empty"},
		{"cut off", []byte(three[:300]), "not valid JSON"},
		{"no list", []byte(`{"project": "p"}`), "the list is missing"},
		{"empty list", []byte(`{"project": "p", "userStories": []}`), "the list is empty"},
		{"two lists", []byte(strings.Replace(three, `"project"`, `"userStories": [1], "project"`, 1)), "twice"},
		{"conflict marks", []byte("<<<<<<< HEAD\n" + three), "not valid JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, problems, restored := Repair(c.found, []byte(three), event.ModeImplement, rules)
			if string(data) != three || !restored || !strings.Contains(texts(problems), c.text) {
				t.Errorf("restored %v, %s\n%s", restored, texts(problems), data)
			}
			for _, p := range problems {
				if !p.Undone {
					t.Errorf("not undone: %s", p.Text)
				}
			}
		})
	}
}

// TestRepairKeepsGoodStories: one wrong story does not cost the others.
func TestRepairKeepsGoodStories(t *testing.T) {
	const mark, marked = `"reviewStatus": null`, `"reviewStatus": "needs_review"`
	const last = `"dependsOn":["US-002"]}`
	for _, c := range []struct {
		name  string
		edits []string // of three, beside the mark
		want  []string // of three, beside the mark
		text  string
	}{
		{"field of another type", []string{`"notes": "did it"`, `"notes": 5`}, nil, "story US-001, field notes: it is a number (5)"},
		{"field that is gone", []string{`, "reviewCount": 1`, ``},
			[]string{`, "reviewCount": 1, "reviewFeedback": "", "notes": "did it"}`, `, "reviewFeedback": "", "notes": "did it", "reviewCount": 1}`}, "field reviewCount: the field is missing"},
		{"new field of a wrong type", []string{`"notes": "did it"`, `"notes": "did it", "description": []`}, nil, "field description"},
		{"first field of a wrong type", []string{`{"id": "US-001"`, `{"description": [], "dependsOn": 5, "id": "US-001"`}, nil, "field description"},
		{"field twice", []string{`"title": "one"`, `"title": "one", "passes": false`}, nil, "twice"},
		{"another title is kept", []string{`"title": "one"`, `"title": "new"`, `"reviewFeedback": ""`, `"reviewFeedback": 7`}, []string{`"title": "one"`, `"title": "new"`}, "reviewFeedback"},
		{"another title beside a wrong new field", []string{`"title": "one"`, `"title": "new", "dependsOn": 5`}, []string{`"title": "one"`, `"title": "new"`}, "dependsOn"},
		{"passes without notes", []string{`"notes": "did it"`, `"notes": ""`}, nil, "write what was done"},
		{"header", []string{`"project":"p"`, `"project":7`}, nil, "field project"},
		{"header without a field", []string{` "branchName": "ralph/x",`, ``}, nil, ""},
		{"new story without criteria", []string{last, last + `, {"id": "N", "title": "n"}`}, nil, "story N, field acceptanceCriteria"},
		{"a text as a story", []string{`"userStories": [`, `"userStories": [ "x" ,`}, nil, "place 1"},
		{"a second story of an id", []string{last, last + `, {"id": "US-001", "title": "n"}`}, nil, "same id"},
		{"unknown dependency", []string{`["US-002"]`, `["US-009"]`}, nil, "no story"},
		{"cycle", []string{`"notes": "did it"`, `"notes": "did it", "dependsOn": ["US-003"]`, `["US-002"]`, `["US-002", "US-001"]`}, nil, "wait for each other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := edited(t, three, append(c.edits, mark, marked)...)
			want := edited(t, three, append(c.want, mark, marked)...)
			data, problems, restored := Repair([]byte(found), []byte(three), event.ModeImplement, rules)
			if restored || !strings.Contains(texts(problems), c.text) {
				t.Errorf("restored %v: %s", restored, texts(problems))
			}
			if l, _ := Parse(data); l.Find("US-002").ReviewStatus != waits {
				t.Errorf("the legal change is gone:\n%s", data)
			}
			if c.name != "header without a field" && c.name != "cycle" && string(data) != want {
				t.Errorf("got %s\nwant %s", data, want)
			}
			for _, p := range problems {
				if !p.Undone {
					t.Errorf("not undone: %s", p.Text)
				}
			}
		})
	}
}

func TestRepairBringsStoriesBack(t *testing.T) {
	lines := strings.SplitAfter(three, "\n")
	one, two, last := lines[3]+lines[4], lines[5]+lines[6], lines[7]+lines[8]
	for name, kept := range map[string]string{
		"the first":     two + last,
		"the middle":    one + last,
		"the last":      one + strings.Replace(two, "},", "}", 1),
		"all but one":   strings.Replace(two, "},", "}", 1),
		"two by others": last,
	} {
		t.Run(name, func(t *testing.T) {
			found := strings.Join(lines[:3], "") + kept + strings.Join(lines[9:], "")
			data, problems, restored := Repair([]byte(found), []byte(three), event.ModeImplement, rules)
			l, wrong := Parse(data)
			if restored || len(wrong) > 0 || len(problems) == 0 {
				t.Fatalf("restored %v: %s", restored, data)
			}
			var ids []string
			for i := range l.Stories {
				ids = append(ids, l.Stories[i].ID)
			}
			if strings.Join(ids, " ") != "US-001 US-002 US-003" {
				t.Errorf("the order is %v", ids)
			}
			if got, want := strings.Join(strings.Fields(string(data)), ""), strings.Join(strings.Fields(three), ""); got != want {
				t.Errorf("got %s", data)
			}
		})
	}
}

func TestRepairKeepsVerifyCommands(t *testing.T) {
	const field = ` "verifyCommands": ["make test"],`
	without := edited(t, three, field, ``)
	for _, c := range []struct{ name, before, found string }{
		{"changed", three, edited(t, three, `["make test"]`, `["true"]`)},
		{"removed", three, without},
		{"added", without, three},
		{"added at the beginning", without, edited(t, without, `{ `, `{"verifyCommands": ["true"], `)},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, problems, _ := Repair([]byte(c.found), []byte(c.before), event.ModeReview, Rules{Cap: 5, SkipReview: true})
			l, _ := Parse(data)
			was, _ := Parse([]byte(c.before))
			if strings.Join(l.VerifyCommands, "") != strings.Join(was.VerifyCommands, "") || len(problems) != 1 || problems[0].Field != "verifyCommands" {
				t.Errorf("%s\n%s", texts(problems), data)
			}
		})
	}
	respelled := edited(t, three, `["make test"]`, `[ "make\u0020test" ]`)
	if data, problems, _ := Repair([]byte(respelled), []byte(three), event.ModeImplement, rules); string(data) != respelled {
		t.Errorf("another spelling is no change: %s", texts(problems))
	}
}

// TestRepairReportsMissingVerdict: a verdict that was put back with its story is not missing too.
func TestRepairReportsMissingVerdict(t *testing.T) {
	before := string(fileOf(st("A", false, waits, 0, "")))
	for _, c := range []struct {
		name, found, want string
	}{
		{"nothing was done", before, "story A: it waits for a review"},
		{"beside another problem", edited(t, before, `"description": "d"`, `"description": "d", "verifyCommands": ["true"]`), "story A: it waits for a review"},
		{"it has a wrong form", edited(t, before, `"needs_review", "reviewCount": 0`, `"approved", "reviewCount": "1"`), "story A, field reviewCount: it is a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, problems, _ := Repair([]byte(c.found), []byte(before), event.ModeReview, rules)
			last := problems[len(problems)-1]
			if !strings.Contains(texts(problems), c.want) || strings.Contains(last.Text, "waits") == last.Undone {
				t.Errorf("%+v", problems)
			}
			if c.name == "it has a wrong form" && strings.Contains(texts(problems), "waits") {
				t.Error(texts(problems))
			}
		})
	}
}

func TestRepairWithoutValidBefore(t *testing.T) {
	data, problems, restored := Repair([]byte(three), []byte("{"), event.ModeImplement, rules)
	if string(data) != three || len(problems) > 0 || restored {
		t.Errorf("a valid file: restored %v, %s", restored, texts(problems))
	}
	data, problems, restored = Repair([]byte("["), []byte("{"), event.ModeImplement, rules)
	if string(data) != "[" || len(problems) == 0 || problems[0].Undone || restored {
		t.Errorf("two wrong files: restored %v, %s", restored, texts(problems))
	}
	data, problems, restored = Repair(nil, []byte("{"), event.ModeImplement, rules)
	if string(data) != "{" || len(problems) == 0 || !restored {
		t.Errorf("no file: restored %v, %s", restored, texts(problems))
	}
}

func TestReviewAtCap(t *testing.T) {
	r := Rules{Cap: 2}
	for _, c := range []struct {
		name          string
		before, after cell
		want          cell
		atCap         bool
	}{
		{"below the cap", cell{false, waits, 0, ""}, cell{false, changes, 1, "new"}, cell{false, changes, 1, "new"}, false},
		{"at the cap", cell{false, waits, 1, ""}, cell{false, changes, 2, "new"}, cell{true, approved, 2, "[AUTO-APPROVED AT CAP] new"}, true},
		{"above a cap that was lowered", cell{false, waits, 7, ""}, cell{false, changes, 8, "new"}, cell{true, approved, 8, "[AUTO-APPROVED AT CAP] new"}, true},
		{"the prefix is there", cell{false, waits, 1, ""}, cell{false, changes, 2, "[AUTO-APPROVED AT CAP] x"}, cell{true, approved, 2, "[AUTO-APPROVED AT CAP] x"}, true},
		{"approved at the cap", cell{false, waits, 1, ""}, cell{true, approved, 2, ""}, cell{true, approved, 2, ""}, false},
		{"approved by the agent because of the cap", cell{false, waits, 1, ""}, cell{true, approved, 2, "[AUTO-APPROVED AT CAP] x"}, cell{true, approved, 2, "[AUTO-APPROVED AT CAP] x"}, true},
		{"the prefix below the cap", cell{false, waits, 0, ""}, cell{true, approved, 1, "[AUTO-APPROVED AT CAP] x"}, cell{true, approved, 1, "[AUTO-APPROVED AT CAP] x"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := list(c.before.story("A"), st("B", true, approved, 1, ""))
			data, problems, _ := Repair(fileOf(c.after.story("A"), before.Stories[1]), fileOf(before.Stories...), event.ModeReview, r)
			l, wrong := Parse(data)
			if len(problems) > 0 || len(wrong) > 0 || cellOf(&l.Stories[0]) != c.want {
				t.Fatalf("%s%s\n%s", texts(problems), texts(wrong), data)
			}
			v, ok := Reviewed(before.States(), l, r)
			want := event.StoryReviewed{Story: "A", Approved: c.want.passes, AtCap: c.atCap, Feedback: c.want.feedback, Count: c.want.count}
			if !ok || v != want {
				t.Errorf("verdict %+v, want %+v", v, want)
			}
		})
	}
}

// TestCapNeedsNotes: a story that passes has notes, also one that ralph approves.
func TestCapNeedsNotes(t *testing.T) {
	before := edited(t, string(fileOf(st("A", false, waits, 0, ""))), `, "notes": "n"`, ``)
	after := edited(t, before, `"needs_review", "reviewCount": 0, "reviewFeedback": ""`, `"changes_requested", "reviewCount": 1, "reviewFeedback": "x"`)
	data, problems, restored := Repair([]byte(after), []byte(before), event.ModeReview, Rules{Cap: 1})
	if restored || len(problems) > 0 || !strings.Contains(string(data), `"notes": "ralph approved it after its last review: reviewFeedback has the open concerns."`) {
		t.Errorf("restored %v, %s\n%s", restored, texts(problems), data)
	}
}

func TestSetReview(t *testing.T) {
	data, err := SetReview([]byte(three), "US-002", Review{Status: changes, Count: 3, Feedback: "a \"b\"\n"})
	want := edited(t, three, `"reviewStatus": null, "reviewCount": 0, "reviewFeedback": ""`, `"reviewStatus": "changes_requested", "reviewCount": 3, "reviewFeedback": "a \"b\"\n"`)
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s", err, data)
	}
	back, err := SetReview(data, "US-002", Review{})
	if err != nil || string(back) != three {
		t.Errorf("%v\n%s", err, back)
	}
	for id, text := range map[string]string{"US-009": "no such story", "US-002": "write what was done"} {
		if _, err := SetReview([]byte(three), id, Review{Passes: true, Status: approved}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := SetReview([]byte("{"), "US-001", Review{}); err == nil {
		t.Error("a file that is not valid")
	}
}

// TestLifeOfStory plays one story from its start to its approval.
func TestLifeOfStory(t *testing.T) {
	file := fileOf(st("A", false, unreviewed, 0, ""))
	for i, step := range []struct {
		mode event.StoryMode
		want cell // what the agent of this mode leaves
	}{
		{event.ModeImplement, cell{false, waits, 0, ""}},
		{event.ModeReview, cell{false, changes, 1, "name the error"}},
		{event.ModeReviewFix, cell{false, waits, 1, ""}},
		{event.ModeReview, cell{true, approved, 2, ""}},
	} {
		l, _ := Parse(file)
		mode, next := l.Next(rules)
		if mode != step.mode || next == nil || next.ID != "A" || l.Done(rules) {
			t.Fatalf("step %d: %s %v, done %v", i, mode, next, l.Done(rules))
		}
		// An agent of this mode that takes a short cut gets nowhere.
		short, problems, _ := Repair(fileOf(st("A", true, approved, l.Stories[0].ReviewCount, "")), file, mode, rules)
		if len(problems) == 0 || string(short) != string(file) {
			t.Errorf("step %d: a short cut is allowed: %s", i, short)
		}
		found := fileOf(step.want.story("A"))
		data, problems, _ := Repair(found, file, mode, rules)
		if len(problems) > 0 || string(data) != string(found) {
			t.Fatalf("step %d: %s", i, texts(problems))
		}
		file = data
	}
	l, _ := Parse(file)
	if _, next := l.Next(rules); next != nil || !l.Done(rules) {
		t.Error("the story is not done")
	}
}
