//go:build !unix

package task

// nonblock: there are no FIFOs among the files here.
const nonblock = 0
