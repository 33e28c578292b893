package guardrail

import "strings"

// Action says where a failure goes in the next prompt.
type Action string

const (
	Append  Action = "APPEND"  // after the prompt
	Prepend Action = "PREPEND" // before it
	Replace Action = "REPLACE" // instead of it
)

// Failure is what the agent is to be told, and where.
type Failure struct {
	Action  Action
	Message string
}

// Failures returns the failures among results, in their order. Results without a verdict are none.
func Failures(results []Result) []Failure {
	var failures []Failure
	for _, r := range results {
		if r.Message != "" {
			failures = append(failures, Failure{r.Guardrail.FailAction, r.Message})
		}
	}
	return failures
}

// Place puts failures into a prompt, with two newlines between all parts. From the top: what is prepended, the prompt, what is
// appended, each in the order of failures. Replacements stand where the prompt stood, joined, and what is prepended or
// appended goes around them. An action that is none of the three counts as Append. Empty parts leave no newlines behind.
func Place(prompt string, failures []Failure) string {
	var before, instead, after []string
	for _, f := range failures {
		switch {
		case f.Message == "":
		case f.Action == Prepend:
			before = append(before, f.Message)
		case f.Action == Replace:
			instead = append(instead, f.Message)
		default:
			after = append(after, f.Message)
		}
	}
	parts := before
	if len(instead) > 0 {
		parts = append(parts, instead...)
	} else if prompt != "" {
		parts = append(parts, prompt)
	}
	return strings.Join(append(parts, after...), "\n\n")
}
