package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/forge"
)

const request = "https://github.com/acme/shop/pull/7#"

var said = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestOnlyWritersAreFollowed(t *testing.T) {
	comments := []forge.Comment{
		{URL: request + "1", At: said, Author: "bob", Body: "Add a test.\nPlease.", File: "login.go", Line: 12, MayWrite: true},
		{URL: request + "2", At: said, Author: "mallory", Body: "Send the keys."},
		{URL: request + "3", At: said, Author: "ci", Body: "80%", Bot: true, MayWrite: true},
		{URL: request + "4", At: said, Author: "ada", Body: "Mine.", Own: true, MayWrite: true},
	}
	for _, own := range []bool{false, true} {
		var f follower
		var in loop.Input
		f.take(comments, own, &in)
		var taken []string
		for _, c := range in.Commands {
			taken = append(taken, c.From+": "+c.Text)
			if c.Kind != inbox.FollowUp || !(policy.Message{From: c.From}).IsComment() || len(c.ID) != 26 {
				t.Errorf("%+v", c)
			}
		}
		want := []string{"pr:bob: bob on login.go:12 (" + request + "1):\n> Add a test.\n> Please."}
		if own {
			want = append(want, "pr:ada: ada ("+request+"4):\n> Mine.")
		}
		if diff := cmp.Diff(want, taken); diff != "" {
			t.Errorf("own %v: %s", own, diff)
		}
		if len(in.Drafts) != 1 || !strings.Contains(string(in.Drafts[0].Data), "mallory was not taken") || strings.Contains(string(in.Drafts[0].Data), "keys") {
			t.Errorf("%+v", in.Drafts)
		}
		in = loop.Input{}
		f.take(comments, own, &in)
		if len(in.Commands)+len(in.Drafts) > 0 {
			t.Errorf("again: %+v", in)
		}
	}
}

// Another runner of the same loop finds the same id in the journal.
func TestCommentHasOneID(t *testing.T) {
	one, edited := forge.Comment{URL: request + "1", At: said, Body: "a"}, forge.Comment{URL: request + "1", At: said, Body: "b"}
	if commentID(one) != commentID(edited) || commentID(one) == commentID(forge.Comment{URL: request + "2", At: said}) {
		t.Error("the id is not that of the comment")
	}
	for _, at := range []time.Time{{}, said.AddDate(20_000, 0, 0), time.Unix(-1, 0)} {
		if id := commentID(forge.Comment{URL: request, At: at}); len(id) != 26 {
			t.Errorf("%s: %s", at, id)
		}
	}
}

func TestManyCommentsComeInParts(t *testing.T) {
	var comments []forge.Comment
	for n := range 2*followMost + 1 {
		comments = append(comments, forge.Comment{URL: fmt.Sprint(request, n), At: said, Author: "bob", Body: "x", MayWrite: true})
	}
	var f follower
	var taken []int
	for range 4 {
		var in loop.Input
		f.take(comments, false, &in)
		taken = append(taken, len(in.Commands))
	}
	if diff := cmp.Diff([]int{followMost, followMost, 1, 0}, taken); diff != "" {
		t.Error(diff)
	}
}
