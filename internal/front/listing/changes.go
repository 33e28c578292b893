package listing

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// changesEvery is how often Changes looks at the loops.
const changesEvery = time.Second

// Changes prints all loops as one line of JSON, and again when one of them has changed, until a
// signal comes or a line cannot be written.
func Changes(e *cli.Env, o Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	looks := time.NewTicker(changesEvery)
	defer looks.Stop()
	silent := *e // entries that cannot be read are reported once
	silent.Stderr = io.Discard
	var printed []byte
	for {
		all, err := Find(e, o)
		if err != nil {
			return err
		}
		var line bytes.Buffer
		if err := cli.PrintJSON(&line, all, ""); err != nil {
			return err
		}
		if !bytes.Equal(line.Bytes(), printed) {
			if _, err := e.Stdout.Write(line.Bytes()); err != nil {
				return err
			}
			printed = line.Bytes()
		}
		e = &silent
		select {
		case <-ctx.Done():
			return nil
		case <-looks.C:
		}
	}
}
