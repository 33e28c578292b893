//go:build !linux && !darwin && !windows

package guardrail

import "os/exec"

func shell(line string) (*exec.Cmd, error) {
	path, err := exec.LookPath("sh")
	if err != nil {
		return nil, err
	}
	return exec.Command(path, "-c", line), nil
}
