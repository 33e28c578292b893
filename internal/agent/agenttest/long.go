//go:build !race

package agenttest

// longLine is how long a line is that an agent may print, in bytes.
const longLine = 20 << 20
