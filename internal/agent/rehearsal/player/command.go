package player

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// runCommand runs a command in the shell, prints its output line by line, and handles inputs
// meanwhile. If the turn is cut short, its process group is killed.
func (p *player) runCommand(id, command string) (output string, ok bool, err error) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	cmd := shell(ctx, command)
	cmd.Dir = p.Dir
	group(cmd)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err.Error(), false, nil
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err.Error(), false, nil
	}
	printed, ended := make(chan string), make(chan error, 1)
	go func() {
		defer close(printed)
		r := bufio.NewReader(pipe)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				printed <- line
			}
			if err != nil {
				break
			}
		}
		ended <- cmd.Wait()
	}()
	output, err = p.watch(id, printed)
	if err != nil {
		cancel()
		for range printed {
			// Output after the end of the turn is dropped.
		}
		return output, false, err
	}
	if failure := <-ended; failure != nil {
		return fmt.Sprintf("%s[%v]", output, failure), false, nil
	}
	return output, true, nil
}

// watch prints a command's output until it has ended.
func (p *player) watch(id string, printed <-chan string) (string, error) {
	var output strings.Builder
	for {
		select {
		case line, more := <-printed:
			if !more {
				return output.String(), nil
			}
			output.WriteString(line)
			if err := p.print("progressed", field{"id", id}, field{"text", line}); err != nil {
				return output.String(), err
			}
		case in, ok := <-p.in:
			if err := p.take(in, ok); err != nil {
				return output.String(), err
			}
		case <-p.ctx.Done():
			return output.String(), errStopped
		}
	}
}
