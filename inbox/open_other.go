//go:build !unix

package inbox

// nonblock: there are no FIFOs among the files here.
const nonblock = 0
