// Package attach shows a running loop on a terminal or a pipe, and lets a person type commands to
// it. It reads the journal and writes the inbox, and never delays the loop.
//
// The typed line is edited by golang.org/x/term; lineEditor adapts it to a screen on which output
// appears above the line at any time.
package attach
