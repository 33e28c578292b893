// Package agentstream makes long streams as agents print them, for benchmarks: the captures
// under internal/agent/*/testdata are a few kilobytes, and a day's work is hundreds of megabytes.
//
//	corpus, err := agentstream.GoSource()
//	err = agentstream.Claude(w, corpus, 64<<20)
//
// # Guarantees
//
// Every line has the members, in the order, of the captured line of its type. The same
// corpus and size give the same bytes. Half of the lines are short (deltas, notices), tool output
// is as skewed as in practice: the mean line has about 1.1 kB, the median 0.3 kB, the 99th
// percentile some kilobytes, the longest about 100 kB. Texts are pieces of source code, so that
// backslashes and quotes are as frequent as in an agent's work.
//
// # Not here
//
// Conversations: nothing here answers. That is modelserver's and rehearsal's.
package agentstream
