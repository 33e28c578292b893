//go:build race

package agenttest

// The race detector looks at each byte for a hundred times as long, and one goroutine at a time
// reads them.
const longLine = 2 << 20
