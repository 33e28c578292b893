package process

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	rest := " S 7 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1"
	want := info{identity: identity{42, 12345}, ppid: 7, pgid: 5, sid: 6, state: 'S', threads: 1}
	for name, stat := range map[string]string{
		"a plain name":                       "42 (sleep)" + rest,
		"a name with spaces and parentheses": "42 (a) S (b) R 1 1)" + rest,
		"a name with a newline":              "42 (a\nb)" + rest,
		"an empty name":                      "42 ()" + rest,
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := parseStat([]byte(stat)); !ok || got != want {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
	for stat, exiting := range map[string]bool{
		"42 (a)" + rest: false,
		"42 (a) R 7 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 2 0 12345 99 1 2 3 4 5 6 7 256 0": true, // KILL is pending
		"42 (a) R 7 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 2 0 12345 99 1 2 3 4 5 6 7 512 0": false,
		"42 (a) D 7 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 2 0 12345 99 1 2 3 4 5 6 7 256 0": false, // it cannot take it
		"42 (a) S 7 5 6 0 -1 4194564 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1":                   true,
		"42 (a) Z 7 5 6 0 -1 4194564 1 2 3 4 5 6 7 8 20 0 2 0 12345 99 1":                   false, // another thread runs
	} {
		if got, ok := parseStat([]byte(stat)); !ok || got.exiting != exiting {
			t.Errorf("%s: exiting %v, %v", stat, got.exiting, ok)
		}
	}
	for name, stat := range map[string]string{
		"nothing":                    "",
		"no name":                    "42 S 7",
		"too few fields":             "42 (a) S 7 5 6",
		"a pid that is no number":    "x (a)" + rest,
		"a pid that is too large":    "9223372036854775808 (a)" + rest,
		"a state that is no letter":  "42 (a) \x00" + rest[2:],
		"a parent that is no number": "42 (a) S x 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99",
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := parseStat([]byte(stat)); ok {
				t.Errorf("read as %+v", got)
			}
		})
	}
}

// What ends by itself, as a sandbox does after its agent, was not left behind by anything.
func TestExitingIsNoStray(t *testing.T) {
	a := start(t, actor("sit"))
	a.line()
	sitting, ok := inspect(a.PID())
	if !ok {
		t.Fatal("it cannot be inspected")
	}
	exiting := sitting
	exiting.exiting = true
	f := newTree(identity{}, "")
	if f.recordStrays([]info{exiting}); len(f.strays()) != 0 {
		t.Errorf("it is listed: %v", f.strays())
	}
	if f.recordStrays([]info{sitting}); len(f.strays()) != 1 {
		t.Errorf("one that goes on is not listed: %v", f.strays())
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sleep) S 7 5 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1"))
	f.Add([]byte(") 1 ("))
	f.Fuzz(func(t *testing.T, stat []byte) {
		if m, ok := parseStat(stat); ok && (m.pid < 0 || m.ppid < 0 || m.pgid < 0 || m.state == 0) {
			t.Errorf("read %q as %+v", stat, m)
		}
	})
}

func TestAgentGetsBlockingPipes(t *testing.T) {
	// A program that meets EAGAIN on its standard streams loses output; our ends are non-blocking
	// and must be ours alone.
	spec := shell(`cat /proc/self/fdinfo/1; cat /proc/self/fdinfo/0 </proc/self/fd/0`)
	spec.KeepStdin = true
	a := start(t, spec)
	a.CloseStdin()
	a.ended()
	flags := 0
	for line := range strings.SplitSeq(a.output(Stdout), "|") {
		if text, ok := strings.CutPrefix(line, "flags:\t"); ok {
			flags++
			if n, err := strconv.ParseInt(text, 8, 64); err != nil || n&0o4000 != 0 {
				t.Errorf("flags %s, %v", text, err)
			}
		}
	}
	if flags != 2 {
		t.Errorf("got %q", a.output(Stdout))
	}
}

func TestHasMarkComparesFullValue(t *testing.T) {
	spec := actor("sit")
	spec.Mark = mark(t)
	a := start(t, spec)
	a.line()
	for mark, want := range map[string]bool{spec.Mark: true, spec.Mark[:len(spec.Mark)-1]: false, spec.Mark + "3": false, spec.Mark[1:]: false, "": false} {
		if got := hasMark(a.PID(), mark); got != want {
			t.Errorf("%q: %v", mark, got)
		}
	}
	if hasMark(os.Getpid(), spec.Mark) {
		t.Error("this process does not carry it")
	}
}
