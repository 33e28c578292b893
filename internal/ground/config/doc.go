// Package config defines ralph's settings: their names, layers and errors.
//
//	loaded, err := config.Load(config.Source{
//		HomeDir:    filepath.Join(home, ".ralph"),
//		ProjectDir: cwd,
//		Env:        os.Environ(),
//		Flags:      map[string]string{"maximumIterations": "30"},
//	})
//	if bad, ok := errors.AsType[*config.Error](err); ok {
//		fmt.Println(bad)        // .ralph/settings.json:4: unknown key "maximumIteration"
//		fmt.Println(bad.Hint()) // did you mean "maximumIterations"?
//	}
//	frozen, err := config.Freeze(loaded.Settings, nil) // a loop's config.json
//
// # Guarantees
//
//   - Layers, later ones win: built-in, the person's settings.json, the project's settings.json,
//     its settings.local.json, RALPH_* variables, flags. Objects merge key by key; lists and
//     scalars replace. An agent whose program a later layer replaces takes nothing of the layers
//     below but its permissions. An agent in the place of another keeps the permissions of that
//     one, unless it has its own.
//   - agent and review.agent hold names of agents or commands; [Settings.Candidates] and
//     [Settings.Reviewers] find what agents says of each.
//   - An unknown key, a wrong type, a value out of range or a key set twice is an [*Error] with its
//     place. Only an unknown RALPH_* variable is a warning: other programs may use it.
//   - The structs and their tags are the only list of keys: decoding, variables, flags, nearest
//     names, [Keys] and the published schema are all read from them.
//   - In Go, zero is "no limit" and "off". Files and flags may say null or "none" for a limit
//     instead of 0.
//
// All functions may be called from several goroutines; a [Settings] is a plain value without locks.
//
// # Not here
//
// Writing settings.json (the dialogue of init), finding the project folder, knowing which agent is
// installed, and redaction of secrets. The published JSON schema is in the subpackage schema, so
// that the runner does not link a schema library.
package config
