package guardrail

import (
	"slices"
	"testing"
)

func TestPlace(t *testing.T) {
	for name, row := range map[string]struct {
		prompt   string
		failures []Failure
		want     string
	}{
		"no failure leaves the prompt as it is": {"do it\n", nil, "do it\n"},
		"appended comes after two newlines":     {"do it", []Failure{{Append, "lint"}}, "do it\n\nlint"},
		"prepended comes before two newlines":   {"do it", []Failure{{Prepend, "lint"}}, "lint\n\ndo it"},
		"a replacement stands alone":            {"do it", []Failure{{Replace, "lint"}}, "lint"},
		"replacements are joined":               {"do it", []Failure{{Replace, "lint"}, {Replace, "test"}}, "lint\n\ntest"},
		"the order of failures is kept on both sides": {
			"do it", []Failure{{Append, "a1"}, {Prepend, "p1"}, {Append, "a2"}, {Prepend, "p2"}}, "p1\n\np2\n\ndo it\n\na1\n\na2"},
		"others go around replacements": {
			"do it", []Failure{{Append, "a"}, {Replace, "r"}, {Prepend, "p"}}, "p\n\nr\n\na"},
		"an empty prompt leaves no newlines":  {"", []Failure{{Append, "lint"}}, "lint"},
		"an empty message leaves no newlines": {"do it", []Failure{{Append, ""}, {Replace, ""}}, "do it"},
		"no action is append":                 {"do it", []Failure{{"", "lint"}}, "do it\n\nlint"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Place(row.prompt, row.failures); got != row.want {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

func TestFailuresAreThoseWithAMessage(t *testing.T) {
	got := Failures([]Result{
		{OK: true},
		{Guardrail: Guardrail{FailAction: Replace}, Message: "bad"},
		{Err: ErrInterrupted},
	})
	if want := []Failure{{Replace, "bad"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
