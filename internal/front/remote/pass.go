package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// leftOpen is how long the output of a command may be open after its end, without anything in it.
const leftOpen = time.Second

// passOn runs a command and passes on what it prints, however slow the writer is, such as a pager:
// what an [exec.Cmd] has not passed on soon after the end is lost.
func passOn(ctx context.Context, cmd *exec.Cmd, to io.Writer) error {
	if _, ok := to.(*os.File); ok || to == nil {
		cmd.Stdout = to
		return cmd.Run()
	}
	from, out, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = out
	err = cmd.Start()
	_ = out.Close() // it is the command's
	if err != nil {
		return errors.Join(err, from.Close())
	}
	defer from.Close()
	var moves atomic.Int64
	passed := make(chan error, 1)
	go func() {
		err := pass(to, from, &moves)
		_ = from.Close() // so that the command ends
		passed <- err
	}()
	ended := cmd.Wait()
	for last := int64(-1); ; {
		select {
		case err := <-passed:
			if ended == nil {
				return err
			}
			return ended
		case <-time.After(leftOpen):
			n := moves.Load()
			if ctx.Err() != nil || n == last && n%2 == 0 {
				return ended
			}
			last = n
		}
	}
}

// pass copies until the end. It counts when it begins and ends to write: at an even number it
// waits.
func pass(to io.Writer, from io.ReadCloser, moves *atomic.Int64) error {
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		if n > 0 {
			moves.Add(1)
			_, failed := to.Write(buffer[:n])
			moves.Add(1)
			err = cmp.Or(failed, err)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
