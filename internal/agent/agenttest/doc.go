// Package agenttest is what every dialect has to pass: the contract of [agent.Dialect],
// as checks. Some need the dialect alone, the others run it in an
// [agent.Session] with a real process.
//
//	var pi = agenttest.Agent{
//		New:  func() agent.Dialect { return New() },
//		Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program}} },
//		Fake: newFake,
//		Streams: agenttest.ReadStreams("testdata/*.jsonl"),
//	}
//
//	func TestMain(m *testing.M)     { agenttest.Main(m, pi) }
//	func TestSuite(t *testing.T)    { agenttest.Suite(t, pi) }
//	func FuzzDialect(f *testing.F)  { agenttest.Fuzz(f, pi) }
//
// The fake is the agent's side of the protocol, scripted: a function that gets each
// line of stdin and returns what the agent prints on it. The same function answers the
// dialect directly and, in the process checks, within a copy of the test
// binary that is started as the agent; this is what Main is for.
//
// # Guarantees
//
// Nothing here sleeps to wait: what is awaited has a deadline that only a failure
// reaches. Every process that a check starts is gone when it returns.
//
// # Not here
//
// Whether a dialect understands its agent rightly: that is for the golden files of its
// own package. Model servers for real agents: package modelserver.
package agenttest
