//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/journal/event"
)

// Who leaves, in whatever way and however far, is told so, has written nothing, and has a
// terminal that is as it was.
func TestInitIsLeft(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		leave func(*terminal)
	}{
		{"with ctrl-c", func(t *terminal) { t.types(ctrlC) }},
		{"with ctrl-c in the middle of a line", func(t *terminal) { t.types("7" + ctrlC) }},
		{"with ctrl-d", func(t *terminal) { t.types(ctrlD) }},
		{"with ctrl-d in the middle of a line, twice", func(t *terminal) { t.types("7" + ctrlD + ctrlD) }},
		{"with TERM", func(t *terminal) { t.must(t.cmd.Process.Signal(syscall.SIGTERM)) }},
		{"with HUP", func(t *terminal) { t.must(t.cmd.Process.Signal(syscall.SIGHUP)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			talk := p.terminal(p.command("init"))
			talk.sees("Agent command")
			before, err := term.GetState(int(talk.master.Fd()))
			p.must(err)
			talk.types("sh" + enter + enter)
			talk.sees("Maximum iterations [10]: ")
			tt.leave(talk)
			talk.leaves(event.ExitInterrupted)
			talk.sees("ralph: left; nothing is written")
			after, err := term.GetState(int(talk.master.Fd()))
			p.must(err)
			if *before != *after {
				t.Errorf("the terminal was %+v and is %+v", before, after)
			}
			if _, err := os.Lstat(filepath.Join(p.dir, ralphFolder)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a folder: %v", err)
			}
		})
	}
}

// A terminal that is closed is left too.
func TestInitEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	p.must(talk.master.Close())
	select {
	case <-talk.done:
	case <-time.After(20 * time.Second):
		t.Fatal("init outlives its terminal")
	}
	if talk.code != event.ExitInterrupted {
		t.Errorf("exit %d", talk.code)
	}
}

// What cannot stand in settings, or did not arrive whole, is asked for again.
func TestInitAsksAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	talk.types("sh" + enter)
	for i, tt := range []struct{ typed, said string }{
		{strings.Repeat("x", 5000), "an answer may have 4000 bytes"},
		{"\x1b[D", "only the keys that erase work here"},
		{"\xff\xfe", "that is not UTF-8 text"},
	} {
		p.until("the question", func() bool { return strings.Count(talk.text(), "Agent flags") == i+1 })
		talk.types(tt.typed + enter)
		talk.sees(tt.said)
	}
	talk.types("größe=好,🐢" + enter + enter + "jährlich" + enter + enter + enter + enter + enter)
	talk.leaves(0)
	text, err := os.ReadFile(filepath.Join(p.dir, ralphFolder, "settings.json"))
	p.must(err)
	for _, want := range []string{`"größe=好"`, `"🐢"`, `"jährlich"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s:\n%s", want, text)
		}
	}
}

// Settings that somebody else writes during the dialogue are never written over.
func TestInitWritesOverNobody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		before, after string // of settings.json; empty for none
		says          string
	}{
		{"somebody begins the file", "", `{"maximumIterations": 3}`, "was changed by somebody else meanwhile"},
		{"somebody changes it", `{"maximumIterations": 2}`, `{"maximumIterations": 3}`, "was changed by somebody else meanwhile"},
		{"somebody removes it", `{"maximumIterations": 2}`, "", "was changed by somebody else meanwhile"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.must(os.MkdirAll(filepath.Join(p.dir, ralphFolder), 0o700))
			path := filepath.Join(p.dir, ralphFolder, "settings.json")
			put := func(text string) {
				if text == "" {
					_ = os.Remove(path)
					return
				}
				p.must(os.WriteFile(path, []byte(text), 0o600))
			}
			put(tt.before)
			talk := p.terminal(p.command("init"))
			if tt.before != "" {
				talk.sees("Overwrite? (y/N): ")
				talk.types("y" + enter)
			}
			talk.sees("Agent command")
			talk.types("sh" + enter + enter + enter + enter + enter)
			talk.sees("Configure SCM? (y/N): ")
			put(tt.after)
			talk.types("n" + enter + enter + enter)
			talk.leaves(event.ExitUsage)
			talk.sees(tt.says)
			text, err := os.ReadFile(path)
			if string(text) != tt.after || tt.after != "" && err != nil {
				t.Errorf("%v: %s", err, text)
			}
			left, err := filepath.Glob(filepath.Join(p.dir, ralphFolder, ".settings.json.*"))
			if len(left) > 0 || err != nil {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// An agent that is not found is taken only from who says so, and one that stands in the settings is not asked about.
func TestInitAsksAboutAnAgentThatIsNotFound(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	talk.types("no-such-agent" + enter)
	talk.sees(`agent.command "no-such-agent" is not found`)
	talk.sees("Use it anyway? (y/N): ")
	talk.types(enter)
	p.until("the question again", func() bool { return strings.Count(talk.text(), "Agent command (") == 2 })
	talk.types("another-agent" + enter)
	p.until("the second doubt", func() bool { return strings.Count(talk.text(), "Use it anyway?") == 2 })
	talk.types("y" + enter + enter + enter + enter + enter + enter + enter + enter)
	talk.leaves(0)
	text, err := os.ReadFile(filepath.Join(p.dir, ralphFolder, "settings.json"))
	p.must(err)
	if !strings.Contains(string(text), `"command": "another-agent"`) || strings.Contains(string(text), "limits") {
		t.Errorf("written:\n%s", text)
	}
}

// Who leaves at a question that was added after the others has written nothing either.
func TestInitIsLeftAtItsLastQuestions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	talk := p.terminal(p.command("init"))
	talk.sees("Agent command")
	talk.types("sh" + enter + enter + enter + enter + enter + enter)
	talk.sees("Limit of money")
	talk.types(ctrlC)
	talk.leaves(event.ExitInterrupted)
	if _, err := os.Lstat(filepath.Join(p.dir, ralphFolder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder: %v", err)
	}
}

// What a project's files hold is anybody's: of their names only those that are known are offered, what they run is cleaned, and
// nothing is read that could be waited for.
func TestChecksOfAProject(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if seen := seenChecks(dir); len(seen) > 0 {
		t.Errorf("an empty folder has %v", seen)
	}
	put("Makefile", "test := no\n.PHONY: lint\nlint: x\n\tls\ncheck:\ntest: ; rm -rf /\n$(shell evil): x\nbuild:\n\ttest:\n")
	put("package.json", `{"scripts": {"test": "jest\u001b[31m \u202e\n'; rm -rf ~ #`+strings.Repeat("x", 100)+`", "lint; rm -rf ~": "x", "lint": "echo \"Error: no test specified\" && exit 1", "check": ""}}`)
	put("yarn.lock", "")
	put("go.mod", "module x\n")
	var got []string
	for _, c := range seenChecks(dir) {
		got = append(got, c.command+" | "+c.from)
	}
	want := []string{
		"make lint | Makefile", "make check | Makefile", "make test | Makefile",
		got[min(3, len(got)-1)], // looked at below
		"go vet ./... | go.mod", "go test ./... | go.mod",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seen %q", got)
	}
	script := got[3]
	if !strings.HasPrefix(script, `yarn run test | package.json: "jest`) || strings.ContainsAny(script, "\x1b\u202e\n") || len([]rune(script)) > 120 {
		t.Errorf("shown is %q", script)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "package.json")), syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600),
		os.Remove(filepath.Join(dir, "Makefile")), os.Symlink("/dev/zero", filepath.Join(dir, "Makefile"))); err != nil {
		t.Fatal(err)
	}
	if seen := seenChecks(dir); len(seen) != 2 {
		t.Errorf("of a pipe and a device there is %v", seen)
	}
}

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
			if !slices.Equal(got, tt.want) || errors.Is(err, errGone) != tt.gone {
				t.Errorf("%.99q, %v", got, err)
			}
		})
	}
}

func TestOverlay(t *testing.T) {
	for _, tt := range []struct{ name, base, local, want string }{
		{"objects are merged member by member", `{"a":{"x":1,"y":[1,2]},"b":1}`, `{"a":{"y":[3],"z":2}}`, `{"a":{"x":1,"y":[3],"z":2},"b":1}`},
		{"everything else is replaced", `{"a":{"x":1},"b":[1]}`, `{"a":null,"b":[],"c":"d"}`, `{"a":null,"b":[],"c":"d"}`},
		{"without a base the other stands alone", `{}`, `{"a":{"b":{}}}`, `{"a":{"b":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, err := parseDocument([]byte(tt.base))
			local, more := parseDocument([]byte(tt.local))
			if err := errors.Join(err, more); err != nil {
				t.Fatal(err)
			}
			if got := string(overlay(base, local).append(nil)); got != tt.want {
				t.Errorf("%s", got)
			}
			if got := string(base.append(nil)); got != tt.base {
				t.Errorf("the base is now %s", got)
			}
		})
	}
}

// FuzzDocument: what can be read is written as JSON that says the same, in the same order,
// and once written stays as it is.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"a": {"b" : [1, 2e3, "\u00e4<&"]}, "c":null}`))
	f.Add([]byte("{\"a\":\n\t{ } , \"a\":[ ]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseDocument(text)
		if err != nil {
			return
		}
		once := d.text()
		var back any
		if err := json.Unmarshal(once, &back); err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		again, err := parseDocument(once)
		if err != nil || string(again.text()) != string(once) || len(again) != len(d) {
			t.Errorf("%q became %q, then %q: %v", text, once, again.text(), err)
		}
		for i := range d {
			if again[i].name != d[i].name {
				t.Errorf("%q: member %d is %q, then %q", text, i, d[i].name, again[i].name)
			}
		}
	})
}
