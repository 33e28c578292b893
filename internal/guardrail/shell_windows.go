package guardrail

import (
	"os/exec"
	"syscall"
)

// shell returns cmd /c. With /s it takes off the outer quotes and leaves the rest alone, which the usual quoting of arguments would
// not.
func shell(line string) (*exec.Cmd, error) {
	path, err := exec.LookPath("cmd")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /d /s /c "` + line + `"`, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	return cmd, nil
}
