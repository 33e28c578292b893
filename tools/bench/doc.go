// Package bench compares the journal with other append-only logs. It is a module of its own, so
// that none of them is a dependency of ralph.
//
//	cd tools/bench && go test -bench . -benchtime 300x
package bench
