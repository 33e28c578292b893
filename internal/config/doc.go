// Package config is the settings of ralph: their names, their layers, and what is wrong with them.
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
//	frozen, err := config.Freeze(loaded.Settings) // a loop's config.json
//
// # Guarantees
//
//   - Layers, later ones win: built-in, the person's settings.json, the project's settings.json, its settings.local.json,
//     RALPH_* variables, flags. Objects merge key by key; lists and scalars replace.
//   - Nothing is passed over: an unknown key, a wrong type, a value out of range or a key set twice is an [*Error] with the place
//     it stands at. The one exception is an unknown RALPH_* variable, a warning, since the environment belongs to everybody.
//   - The structs and their tags are the only list of keys: decoding, variables, flags, nearest names, [Keys] and the published
//     schema are all read from them.
//   - In Go, zero is "no limit" and "off". Files and flags may say null or "none" for a limit instead of 0.
//   - Linking the package costs nothing at start: the key table is built at its first use.
//
// All functions may be called from several goroutines; a [Settings] is a plain value without locks.
//
// # Not here
//
// Writing settings.json (the dialogue of init), finding the project folder, knowing which agent is installed, and masking
// secrets. The published JSON schema is in the subpackage schema, so that the runner does not link a schema library.
package config
