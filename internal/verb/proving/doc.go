// Package proving does what the verb prove does: it tries whether the guardrails of a loop, or of
// the settings, can fail, and says what that is worth.
//
// The trials are made by internal/effect/prove. Each is recorded in a file of ralph's home until
// the proof is complete, so that the same command continues one that was cut off.
package proving
