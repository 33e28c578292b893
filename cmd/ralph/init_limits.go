package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
)

// askLimits asks what the loop may cost and how long it may take. These questions were added after the others: who ends the input
// here, as a script does that knows only those, has answered what there was, and changes nothing more.
func (d *dialogue) askLimits() error {
	for _, limit := range []struct {
		key, label string
		read       func(string) (any, error)
	}{
		{"cost", "Limit of money in US dollars, such as 20", dollars},
		{"duration", "Limit of time, such as 8h", func(text string) (any, error) { return text, nil }},
	} {
		err := d.askLimit(limit.key, limit.label, limit.read)
		if errors.Is(err, errGone) && d.ended && d.typed() { // a terminal that was closed is one no more
			fmt.Fprintln(d.out)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *dialogue) askLimit(key, label string, read func(string) (any, error)) error {
	limits, err := d.doc.first("limits")
	if err != nil {
		return err
	}
	was := strings.Trim(string(limits.get(key)), `"`)
	if was == "null" || was == "0" || was == nothingWord {
		was = ""
	}
	label += " (optional)"
	if was != "" {
		label = strings.Replace(label, "optional", nothingWord+" for no limit", 1)
	}
	for {
		text, err := d.askOver(label, was)
		switch {
		case err != nil:
			return err
		case text == "", text == nothingWord && was == "":
			return nil
		case text == nothingWord:
			limits.drop(key)
			return d.doc.setFirst("limits", limits)
		}
		value, err := read(text)
		if err == nil {
			_, _, err = config.Thaw(document{{"limits", document{{key, spelled(value)}}.append(nil)}}.append(nil))
		}
		if err == nil {
			limits.set(key, value)
			return d.doc.setFirst("limits", limits)
		}
		if wrong, ok := errors.AsType[*config.Error](err); ok {
			wrong.File, wrong.Line, wrong.Column = "", 0, 0 // it is in no file
		}
		d.say("%v", err)
	}
}

// dollars reads an amount of money: 20, 2.50 or $20.
func dollars(text string) (any, error) {
	usd, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(text, "$")), 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no amount of money", text)
	}
	return usd, nil
}
