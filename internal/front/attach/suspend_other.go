//go:build !unix

package attach

import "os"

// notifyTerminal sends nothing: there is no signal for a change of the terminal's size.
func notifyTerminal(chan<- os.Signal) {}

func continued(os.Signal) bool { return false }

func suspendSelf() {}
