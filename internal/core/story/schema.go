package story

import _ "embed"

//go:embed tasks.schema.json
var schema string

// Schema returns the JSON schema (draft 2020-12) of tasks.json, for editors. What it refuses,
// [Parse] refuses too. Only Parse finds fields and ids that are there twice, and checks that the
// ids in dependsOn exist and that no stories wait for each other.
func Schema() []byte { return []byte(schema) }
