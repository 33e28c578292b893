// Package trust remembers which repositories' settings a person trusts.
//
//	record := trust.Record{Project: cwd, Fingerprint: config.Fingerprint(loaded.Parts), Parts: shown}
//	err := trust.Put(home, record)
//	record, err = trust.Get(home, cwd)
//
// Each project's record is a file in ralph's own home, outside of the repository:
// trust/<slug>-<hash>.json, 0600 in a folder with 0700. It names the project's path and the
// fingerprint of what was trusted: another path, or another fingerprint, is not trusted. The parts
// are kept for people, so that what has changed since can be shown: their values with secrets
// masked, and a SHA-256 of each.
//
// # Guarantees
//
//   - A record that was read is a complete one that [Put] wrote for that very path; anything else
//     is an error and trusts nothing.
//   - After a power loss a record is the old one, the new one or absent.
//
// # Not here
//
// Which settings need trust, and their fingerprint: internal/ground/config. Asking a person:
// internal/front/cli.
//
// Any program that may write into ralph's home can record trust, also an agent that runs with its
// user's rights.
package trust
