// Package redact masks credentials before they reach the journal: the values of environment entries
// that look like credentials, and what looks like a well-known credential, wherever it is from.
//
//	redactor := redact.New(os.Environ())
//	line, n := redactor.Mask(line) // line itself, and 0, if there is nothing to mask
//
// A replacement is [masked:NAME]: NAME is the environment key, or the kind (github-token,
// private-key, url-password). Mask detects JSON and keeps it valid; Text is for plain text; a
// Stream is Text for a text that comes in pieces.
//
// # What is found
//
//   - Known values (known.go), as they are and in the encodings of encoding.go: percent-encoded, in
//     JSON strings, and in JSON inside of JSON strings.
//   - Tokens with a vendor's prefix (pattern.go), a table, and around a mark (@, ~, -us).
//   - Secrets beside a keyword (keyword.go): passwords in URLs, headers, .netrc and .pgpass lines.
//   - Private keys (key.go): PEM, OpenSSH, PGP and PuTTY, with whatever a tool puts between lines.
//
// # Guarantees
//
//   - No value that New took from the environment remains in the output, in any of its encodings.
//   - Valid JSON stays valid JSON under Mask, line by line, and decodes to the same but for the
//     secret. A number that holds a known value is replaced by a string.
//   - Masking twice is masking once.
//   - However a text is cut into pieces, the results of a Stream, joined, are Text of the complete
//     text, within the limits that Stream names.
//   - Text without a secret is returned as it is, without allocation.
//   - A Redactor is immutable and safe for concurrent use. A Stream is for one goroutine.
//
// # What is left alone
//
// Of the environment: keys that Name refuses; values shorter than 8 bytes; digits alone below 12
// (ports, years, Unix seconds); placeholders ("development", "dummy-key", one character repeated);
// paths (the secret is in the file); values that are part of a credential's name. Of the tokens:
// what is shorter than the vendor's, so that sk-learn and hf_config stay; variables and
// placeholders instead of passwords; and what begins in the middle of a word, as base64 would by
// chance. An escape (\n, \u003d, %3D) or a colour sequence is not the middle of a word.
//
// # Not here
//
// This protects from accidents, not from an agent that wants to leak: a value in base64, reversed,
// cut by blanks or with needless escapes (\u0061 for a) passes. So does a value that the agent's
// own protocol cuts in two (deltas on separate lines): callers that join deltas use a Stream.
package redact
