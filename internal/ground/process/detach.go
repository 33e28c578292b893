package process

import "os/exec"

// Detach makes a command begin in a session of its own, which neither the closing of the caller's
// terminal nor ctrl-c there reaches.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = sessionAttributes() }
