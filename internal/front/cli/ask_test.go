package cli

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		want        []string
		gone        bool
	}{
		{"lines of a terminal in its line mode", "one\ntwo\n\n", []string{"one", "two", ""}, false},
		{"lines that end as on Windows", "one\r\ntwo\r\n\r\n", []string{"one", "two", ""}, false},
		{"lines of a terminal in raw mode", "one\rtwo\r\r", []string{"one", "two", ""}, false},
		{"a last line without an end is no answer", "one\ntw", []string{"one"}, false},
		{"ctrl-c of a terminal in raw mode", "one\rtw\x03\r", []string{"one"}, true},
		{"ctrl-d of a terminal in raw mode", "one\r\x04", []string{"one"}, true},
		{"of a line without end a little is kept", strings.Repeat("x", 1<<20) + "\nb\n", []string{strings.Repeat("x", answerMost+1), "b"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := bufio.NewReader(strings.NewReader(tt.typed))
			var got []string
			line, err := readAnswer(r)
			for ; err == nil; line, err = readAnswer(r) {
				got = append(got, line)
			}
			if !slices.Equal(got, tt.want) || errors.Is(err, ErrGone) != tt.gone {
				t.Errorf("%.99q, %v", got, err)
			}
		})
	}
}
