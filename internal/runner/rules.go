package runner

import (
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Rules returns the settings that decisions depend on.
func Rules(s config.Settings) event.Rules {
	return event.Rules{
		MaximumIterations:  s.MaximumIterations,
		CompletionResponse: s.CompletionResponse,
		Context:            s.Context,
		Completion:         s.Completion,
		Limits:             s.Limits,
		Restart:            s.Restart,
		Breaker:            s.Breaker,
		Reflect:            s.Reflect,
		Review:             s.Review.ReviewRules,
		Prove:              s.Prove,
		Guardrails:         len(s.Guardrails),
		SCM:                len(s.SCM.Tasks) > 0,
		PullRequests:       s.SCM.Publishes(),
	}
}

// onStories returns the rules of a loop over the stories of ralph/tasks.json: they say when the
// work is done, so that a checklist and a file DONE do not.
func onStories(r event.Rules) event.Rules {
	r.Stories, r.Completion.Checklist, r.Completion.DoneFile = true, false, false
	return r
}

func (r *runner) journalOptions() journal.Options {
	return journal.Options{
		Mask: func(src []byte) []byte {
			masked, _ := r.redactor.Mask(src)
			return masked
		},
		SyncEvery:      r.Settings.Journal.SyncEvery.Std(),
		Compress:       r.Settings.Journal.Compress,
		KeepIterations: r.Settings.Journal.KeepIterations,
		Notify:         true,
	}
}
