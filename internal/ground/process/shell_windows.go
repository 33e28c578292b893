package process

import "syscall"

// shellArgv returns cmd /c. shellAttributes has the command line: with /s cmd takes off the outer
// quotes and leaves the rest alone, which the usual quoting of arguments would not.
func shellArgv(string) []string { return []string{"cmd"} }

func shellAttributes(line string) *syscall.SysProcAttr {
	if line == "" {
		return nil
	}
	return &syscall.SysProcAttr{CmdLine: `cmd /d /s /c "` + line + `"`, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
