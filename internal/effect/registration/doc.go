// Package registration is the runner's half of the registry: the lock on the loop and the lock on
// its work tree. Package registry reads and writes entries.
//
//	lock, err := registration.Acquire(loopDir)
//	if held, ok := errors.AsType[*registration.HeldError](err); ok {
//		return held // "loop fix-login is already run by pid 4711 on mill since 2026-11-21T01:52:28Z"
//	}
//	defer lock.Release()
//	err = registry.Put(home, registry.Entry{Name: "fix-login", Dir: loopDir, Project: cwd, ...})
//
// # Guarantees
//
//   - run.lock is created once and never removed or replaced, so that no two runners hold locks on
//     two files of one name.
//   - Of several loops that start in one work tree at once and do not share it, one gets the lock.
package registration
