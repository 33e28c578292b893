// Package credentials decides which API keys of the environment an agent gets, and finds the
// secrets in settings that have to be redacted.
//
//	keys := credentials.DecideKeys(agent, os.Environ()) // keys.Passed, keys.Withheld, keys.Why
//	redactor := redact.New(append(os.Environ(), credentials.Secrets(settings)...))
//
// # Guarantees
//
// No credential is read to find out whether an agent has a login of its own: only the existence of
// its file or of its keychain item is checked.
package credentials
