// Package journaltool does what the verbs about a journal are asked for: print it, play it again,
// decide and decode it again, verify, repair and rebuild it.
package journaltool
