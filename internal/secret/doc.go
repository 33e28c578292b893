// Package secret masks credentials before they can reach the journal: the values of environment entries that look like
// credentials, and what is known of well-known credentials' form, whatever their origin.
//
//	masker := secret.New(os.Environ())
//	line, n := masker.Mask(line) // line itself, and 0, when there is nothing to mask
//
// A replacement is [masked:NAME]: NAME is the environment key, or the kind (github-token, private-key, url-password). It works on plain
// text and on JSON text alike, where a value may be spelled with escapes, also in JSON inside a JSON string. Mask looks whether a
// text is JSON, and keeps it so; Text takes it as plain text; a Stream is Text for a text that comes in pieces.
//
// # The kinds
//
// Shapes (shape.go, odd.go) are tokens with a vendor's prefix, one line of a table each. Phrases (phrase.go) are secrets that
// are known by the words before them: passwords in URLs, headers, .netrc and .pgpass lines. Private keys (key.go) are PEM, OpenSSH, PGP
// and PuTTY keys, with whatever a tool puts between their lines.
//
// # Guarantees
//
//   - A value that New took from the environment does not survive in the output, raw or as a JSON encoder spells it.
//   - Valid JSON stays valid JSON under Mask, line by line; nothing but the secret decodes differently. A number that spells a
//     known value is replaced by a string.
//   - Masking twice is masking once.
//   - However a text is cut into pieces, what a Stream hands out is Text of the whole, but for the bounds that Stream names.
//   - Text without a secret is returned as it is, without allocation, at the speed the benchmarks of this package show.
//   - A Masker is immutable and safe for concurrent use. A Stream is for one goroutine.
//
// # What is left alone
//
// Of the environment: keys that Name refuses; values shorter than 8 bytes; digits alone below 12 (ports, years, seconds since
// 1970 would be hit everywhere); values that stand where there is no credential ("development", "dummy-key", one character
// repeated); paths (the secret is in the file); values that are part of a credential's name. Of the kinds: what is shorter than the
// vendor's tokens, so that sk-learn, task-force and hf_config stay; variables and placeholders in the place of passwords; and what
// begins in the middle of a word, which is where base64 would spell one by chance. An escape (\n, \u003d, %3D) or a colour
// sequence is not the middle of a word.
//
// # Not here
//
// This protects from accidents, not from an agent that wants to leak: a value in base64, reversed, cut by spaces or spelled with
// needless escapes (\u0061 for a) passes. So does a value cut in two by the agent's own protocol (deltas on separate lines):
// whoever joins deltas uses a Stream; lines that are kept as they came cannot be helped here.
package secret
