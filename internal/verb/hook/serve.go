package hook

import (
	"context"
	"fmt"
	"io"
)

// Serve is [Answer] for a program that an agent started. A panic is an error like others: the exit
// code of a program that panics is 2, which an agent takes for a refusal. For the guard it is one.
func Serve(ctx context.Context, e Env, kind Kind, stdin io.Reader, stdout io.Writer) (err error) {
	if kind != PreToolUse {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("hook %s: a defect of ralph: %v", kind, p)
			}
		}()
	}
	return Answer(ctx, e, kind, stdin, stdout)
}
