// Package registration is the runner's half of the registry: the loop's entry, the lock on the loop
// and the lock on its work tree. Package registry reads what it writes.
//
//	lock, err := registration.Acquire(loopDir)
//	if held, ok := errors.AsType[*registration.HeldError](err); ok {
//		return held // "loop fix-login is already run by pid 4711 on mill since 2026-11-21T01:52:28Z"
//	}
//	defer lock.Release()
//	err = registration.Put(home, registry.Entry{Name: "fix-login", Dir: loopDir, Project: cwd, ...})
//
// # Guarantees
//
//   - run.lock is created once and never removed or replaced, so that no two runners hold locks on
//     two files of one name.
//   - Two project folders never share an entry: the name of its file contains a slug of the folder
//     and a hash of all of it.
//   - A reader never sees half an entry.
//   - Of several loops that start in one work tree at once and do not share it, one gets the lock.
package registration
