//go:build !unix

package sandbox

import "os"

// continued replaces a signal that this system does not have.
var continued = os.Interrupt
