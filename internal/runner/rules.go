package runner

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// Rules returns the settings that decisions depend on.
func Rules(s config.Settings) event.Rules {
	ms := func(d config.Duration) int64 { return d.Std().Milliseconds() }
	return event.Rules{
		MaximumIterations:  s.MaximumIterations,
		CompletionResponse: s.CompletionResponse,
		CompletionPromise:  s.Completion.Promise,
		CompletionMatch:    s.Completion.Match,
		MinToolCalls:       s.Completion.MinToolCalls,
		OnPromiseNoWork:    s.Completion.OnPromiseNoWork,
		LimitCost:          s.Limits.Cost,
		LimitTokens:        s.Limits.Tokens,
		LimitDuration:      ms(s.Limits.Duration),
		IdleAfter:          ms(s.Limits.Idle),
		IterationLimit:     ms(s.Limits.Iteration),
		AfterResult:        ms(s.Limits.AfterResult),
		IterationCost:      s.Limits.IterationCost,
		IterationTokens:    s.Limits.IterationTokens,
		ToolIdleAfter:      ms(s.Limits.Tool),
		OutageLimit:        ms(s.Limits.Outage),
		WaitExitCode:       s.Restart.WaitExitCode,
		Checklist:          s.Completion.Checklist,
		DoneFile:           s.Completion.DoneFile,
		Context:            s.Context,
		Guardrails:         len(s.Guardrails),
		SCM:                len(s.SCM.Tasks) > 0,
		NoProgress:         s.Breaker.NoProgress,
		SameError:          s.Breaker.SameError,
		Environment:        orOff(s.Breaker.Environment),
		ReflectEvery:       s.Reflect.Every,
		RestartMax:         s.Restart.Max,
		RestartDelay:       ms(s.Restart.Delay),
	}
}

// orOff is a rule whose 0 has another meaning in journals of before there was a setting for it.
func orOff(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (r *runner) journalOptions() journal.Options {
	return journal.Options{
		Mask:           r.mask,
		SyncEvery:      r.Settings.Journal.SyncEvery.Std(),
		Compress:       r.Settings.Journal.Compress,
		KeepIterations: r.Settings.Journal.KeepIterations,
		Bell:           true,
	}
}

// mask replaces what nobody may read, as journal.Options has it.
func (r *runner) mask(src []byte) []byte {
	masked, _ := r.masker.Mask(src)
	return masked
}

// environ is every variable and flag that an agent may be given, for the masker to choose
// from.
func (r *runner) environ() []string {
	return slices.Concat(r.Env, Secrets(r.Settings))
}
