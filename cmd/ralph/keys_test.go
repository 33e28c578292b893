package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
)

func TestKeyboard(t *testing.T) {
	for name, c := range map[string]struct {
		typed  string
		sent   []string
		left   string // typed and not sent
		leaves bool
	}{
		"a line":                                {"go on\r", []string{"go on"}, "", false},
		"blanks around a line are cut":          {"  go on \n", []string{"go on"}, "", false},
		"an empty line is nothing":              {"\r \r", nil, "", false},
		"backspace takes a character back":      {"abé\x7fc", nil, "abc", false},
		"and nothing where there is none":       {"\x7f\x08a", nil, "a", false},
		"ctrl-u takes the line back":            {"abc\x15d", nil, "d", false},
		"ctrl-w takes a word back":              {"ab cd  \x17e", nil, "ab e", false},
		"characters of several bytes":           {"値段\r", []string{"値段"}, "", false},
		"broken UTF-8 is passed over":           {"a\xff\xfeb", nil, "ab", false},
		"cursor keys do nothing":                {"a\x1b[Ab\x1bOHc\x1b[1;5Dd\x1b[3~e", nil, "abcde", false},
		"a pasted text is one line":             {"\x1b[200~one\rtwo\nthree\x1b[201~\r", []string{"one\ntwo\nthree"}, "", false},
		"ctrl-c takes back what was typed":      {"abc\x03", nil, "", false},
		"ctrl-c with nothing typed leaves":      {"\x03", nil, "", true},
		"ctrl-d leaves":                         {"abc\r\x04", []string{"abc"}, "", true},
		"ctrl-d in a line does nothing":         {"abc\x04", nil, "abc", false},
		"other controls do nothing":             {"a\x01\x0c\x1ab\x00", nil, "ab", false},
		"a tab is a blank":                      {"a\tb", nil, "a b", false},
		"an endless sequence ends":              {"\x1b[" + strings.Repeat("1", 40) + "x", nil, strings.Repeat("1", 25) + "x", false},
		"escape and a letter is one keystroke":  {"\x1bba", nil, "a", false},
		"two lines are two commands":            {"a\rb\r", []string{"a", "b"}, "", false},
		"a line may begin right after leaving?": {"\x04a", nil, "a", true},
	} {
		t.Run(name, func(t *testing.T) {
			var k keyboard
			var sent []string
			leaves := false
			for _, b := range []byte(c.typed) {
				line, done, left := k.key(b)
				if done {
					sent = append(sent, line)
				}
				leaves = leaves || left
			}
			if !reflect.DeepEqual(sent, c.sent) || string(k.line) != c.left || leaves != c.leaves {
				t.Errorf("sent %q, left %q, leaves %v; want %q, %q, %v", sent, string(k.line), leaves, c.sent, c.left, c.leaves)
			}
		})
	}
}

func FuzzKeyboard(f *testing.F) {
	f.Add([]byte("go on\r\x1b[200~a\rb\x1b[201~\x7f\x15"))
	f.Fuzz(func(t *testing.T, typed []byte) {
		var k keyboard
		for _, b := range typed {
			line, sent, _ := k.key(b)
			if sent && (line == "" || line != strings.TrimSpace(line)) {
				t.Errorf("sent %q", line)
			}
			for _, r := range k.line {
				if r < 0x20 && r != '\n' || r == 0x7F {
					t.Errorf("%U is in the line", r)
				}
			}
		}
	})
}

func TestTypedCommands(t *testing.T) {
	for line, want := range map[string]inbox.Command{
		"use tabs":                   {Kind: inbox.Steer, Text: "use tabs"},
		"//tmp is full":              {Kind: inbox.Steer, Text: "/tmp is full"},
		"/steer use tabs":            {Kind: inbox.Steer, Text: "use tabs"},
		"/follow-up  then the docs ": {Kind: inbox.FollowUp, Text: "then the docs"},
		"/stop":                      {Kind: inbox.Stop},
		"/stop it is late":           {Kind: inbox.Stop, Text: "it is late"},
		"/stop now":                  {Kind: inbox.StopNow},
		"/stop now, please":          {Kind: inbox.Stop, Text: "now, please"},
		"/pause":                     {Kind: inbox.Pause},
		"/resume":                    {Kind: inbox.Resume},
		"/kill":                      {Kind: inbox.Kill},
		"/set limits.idle = 20m":     {Kind: inbox.Set, Key: "limits.idle", Value: "20m"},
	} {
		if got, problem := typedCommand(line); got != want || problem != "" {
			t.Errorf("%q: %+v %q, want %+v", line, got, problem, want)
		}
	}
	for _, line := range []string{"/", "/nonsense", "/follow-up", "/steer ", "/set", "/set x", "/set =3"} {
		if got, problem := typedCommand(line); problem == "" {
			t.Errorf("%q: %+v and no problem", line, got)
		}
	}
}

// A pasted log may be long: what is shown of it takes no longer for that. With each rune looked at anew for
// each one left out this would not end.
func TestALongLineShowsItsEnd(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out)
	s.aside = time.AfterFunc(time.Hour, s.putAside)
	for _, tt := range []struct{ line, want string }{
		{strings.Repeat("x", 1<<20) + " the end", "> " + strings.Repeat("x", 68) + " the end"},
		{strings.Repeat("日", 1<<19) + "x", "> " + strings.Repeat("日", 37) + "x"},
		{strings.Repeat("a", 76), "> " + strings.Repeat("a", 76)},
		{"short", "> short"},
	} {
		out.Reset()
		s.typed(tt.line)
		if got := out.String(); got != "\r\x1b[K"+tt.want {
			t.Errorf("of %d bytes is shown %q, want %q", len(tt.line), got, tt.want)
		}
	}
}

func TestOutputWaitsWhileALineIsTyped(t *testing.T) {
	out := newOutput()
	s := newScreen(out)
	s.keys = true
	s.aside = time.AfterFunc(time.Hour, s.putAside)
	write := func(text string) <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = s.Write([]byte(text))
		}()
		return done
	}
	<-write("one\nhalf a li")
	s.typed("l")
	s.typed("le")
	waits := write("ne\n")
	select {
	case <-waits:
		t.Error("output came between")
	case <-time.After(20 * time.Millisecond):
	}
	s.typed("")
	<-waits
	const want = "one\r\nhalf a li\r\n\r\x1b[K> l\r\x1b[K> le\r\x1b[Kne\r\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A line that nobody goes on with does not hold the output up for ever, and one
	// that is longer than the terminal shows its end.
	s.typed("forgotten")
	forgotten := write("more\n")
	s.putAside()
	<-forgotten
	out.reset()
	s.typed(strings.Repeat("x", 100) + "end")
	if got := out.String(); len(got) > 90 || !strings.HasSuffix(got, "xend") {
		t.Errorf("a long line shows as %q", got)
	}
	closed := write("last\n")
	s.close()
	<-closed
}
