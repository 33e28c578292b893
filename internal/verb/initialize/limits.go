package initialize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/runner"
)

// askLimits asks for the limits of cost and time, and for a sandbox. These questions are newer. An
// older script ends the input here, which keeps the settings as they are.
func (d *questions) askLimits() error {
	err := d.askLimit("cost", "Limit of money in US dollars, such as 20", dollars)
	if err == nil {
		err = d.askLimit("duration", "Limit of time, such as 8h", func(text string) (any, error) { return text, nil })
	}
	if err == nil {
		err = d.askSandbox()
	}
	if errors.Is(err, cli.ErrGone) && d.Ended && d.StdinIsTerminal() { // not if the terminal was closed
		fmt.Fprintln(d.Out)
		return nil
	}
	return err
}

// askSandbox offers a sandbox where one holds, unless the settings name one. They are the team's,
// so they get no mode of this machine.
func (d *questions) askSandbox() error {
	box, err := d.doc.object("sandbox")
	if err != nil || box.get("mode") != nil {
		return err
	}
	mode := d.sandboxHere()
	if mode == sandbox.None {
		return nil
	}
	answer, err := d.Confirm(fmt.Sprintf("Keep the agent in a sandbox? %s holds here (Y/n): ", mode))
	if err != nil || answer == cli.No {
		return err
	}
	box.set("mode", sandbox.Auto)
	d.doc.setObject("sandbox", box)
	d.boxed = true
	return nil
}

// sandboxHere is the sandbox that auto takes here for the agent that was chosen.
func (d *questions) sandboxHere() sandbox.Mode {
	var settings config.Settings
	if err := d.doc.decode(&settings); err == nil && runner.ServedByVM(settings) == nil && sandbox.DockerSandbox.Check() == nil {
		return sandbox.DockerSandbox
	}
	if err := os.MkdirAll(d.Home, 0o700); err != nil {
		return sandbox.None
	}
	mode, _ := runner.Strongest(context.Background(), d.Home, false)
	return mode
}

func (d *questions) askLimit(key, label string, read func(string) (any, error)) error {
	limits, err := d.doc.object("limits")
	if err != nil {
		return err
	}
	was := strings.Trim(string(limits.get(key)), `"`)
	if was == "null" || was == "0" || was == nothingWord {
		was = ""
	}
	about := "optional"
	if was != "" {
		about = nothingWord + " for no limit"
	}
	return d.until(d.AskOver, label+" ("+about+")", was, func(text string) error {
		switch {
		case text == "", text == nothingWord && was == "":
			return nil
		case text == nothingWord:
			limits.drop(key)
			d.doc.setObject("limits", limits)
			return nil
		}
		value, err := read(text)
		if err != nil {
			return err
		}
		var limit, settings document
		limit.set(key, value)
		settings.set("limits", json.RawMessage(limit.appendTo(nil)))
		_, _, err = config.Thaw(settings.appendTo(nil))
		if wrong, ok := errors.AsType[*config.Error](err); ok {
			wrong.File, wrong.Line, wrong.Column = "", 0, 0 // it is in no file
		}
		if err != nil {
			return err
		}
		limits.set(key, value)
		d.doc.setObject("limits", limits)
		return nil
	})
}

// dollars parses an amount of money: 20, 2.50 or $20.
func dollars(text string) (any, error) {
	usd, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(text, "$")), 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no amount of money", text)
	}
	return usd, nil
}
