package terminal

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestStatusReportIsValid(t *testing.T) {
	for _, tt := range []struct {
		state State
		want  string
	}{
		{State{}, "state=clear"},
		{State{Status: StatusWorking, Done: 1, Total: 4}, "state=working:app=ralph:progress=25"},
		{State{Status: StatusBlocked, Kind: KindQuestion, Message: "which\x1b[2J\none?"}, "state=blocked:app=ralph:kind=question:msg=" + base64.StdEncoding.EncodeToString([]byte("which one?"))},
		{State{Status: StatusDone, Done: 4, Total: 4}, "state=done:app=ralph"},
	} {
		if got := statusReport(tt.state); got != "\x1b]7501;"+tt.want+"\x1b\\" {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestNotificationSuitsTerminal(t *testing.T) {
	for environ, want := range map[string]string{
		"TERM=xterm-kitty":              "\x1b]9;ralph: loop one has ended\x1b\\",
		"TERM=foot":                     "\x1b]777;notify;ralph;loop one has ended\x1b\\",
		"TERM=xterm VTE_VERSION=7600":   "\x1b]777;notify;ralph;loop one has ended\x1b\\",
		"TERM=xterm TERM_PROGRAM=iTerm": "\x1b]9;ralph: loop one has ended\x1b\\",
	} {
		if got := notification(strings.Fields(environ), "ralph", "loop one\x07 has ended"); strings.ReplaceAll(got, "\u2407", "") != want {
			t.Errorf("%s: %q, want %q", environ, got, want)
		}
	}
}
