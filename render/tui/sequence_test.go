package tui

import (
	"reflect"

	tea "charm.land/bubbletea/v2"
)

// sequence returns the commands of a message of tea.Sequence, whose type is not exported.
func sequence(msg tea.Msg) (commands []tea.Cmd) {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Slice || v.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return nil
	}
	for i := range v.Len() {
		commands = append(commands, v.Index(i).Interface().(tea.Cmd))
	}
	return commands
}
