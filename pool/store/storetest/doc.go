// Package storetest is what an engine of package store has to pass.
//
//	func TestEngine(t *testing.T) {
//		storetest.Run(t, storetest.Engine{Open: func(t testing.TB) store.Store { … }})
//	}
//
// [Run] tries each promise of the contract by itself, and then records what several clients do to
// a few keys at once while calls fail before and after their effect, are delayed and arrive
// twice, connections are cut within a message, and the server is killed. Whether such a history
// is linearizable is for porcupine to say. A call whose outcome its client does not know stays
// open: it may have had its effect at any later time, or never.
//
// Choices are drawn from a few fixed seeds; -store.seeds=N draws from N others as well. Which
// calls happen at the same time is chance.
//
// The tests of this package are of broken engines: each kind has to be found.
package storetest
