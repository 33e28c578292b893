package guardrail

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestTruncate(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		n    int
		want string
	}{
		"shorter stays":                       {"abc", 4, "abc"},
		"just as long stays without a mark":   {"abc", 3, "abc"},
		"one more is cut and marked":          {"abcd", 3, "abc... [truncated]"},
		"characters count, not bytes":         {"äöü€𝄞", 5, "äöü€𝄞"},
		"no character is cut in two":          {"äöü€𝄞", 4, "äöü€... [truncated]"},
		"an invalid byte is one character":    {"a\xff\xfeb", 3, "a\uFFFD\uFFFD... [truncated]"},
		"NUL is replaced":                     {"a\x00b", 3, "a\uFFFDb"},
		"nothing of something is the mark":    {"abc", 0, "... [truncated]"},
		"nothing of nothing is nothing":       {"", 0, ""},
		"fewer than none are none":            {"abc", -1, "... [truncated]"},
		"a mark in the text is text":          {"... [truncated]", 15, "... [truncated]"},
		"a half character at the end is one":  {"ab\xe2\x82", 4, "ab\uFFFD\uFFFD"},
		"newlines are characters like others": {"a\n\nb", 2, "a\n... [truncated]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Truncate(row.text, row.n); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("äöü€𝄞 and more", 3)
	f.Add("\xf0\x9d\x84", 1)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n %= 1000
		got := Truncate(text, n)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Fatalf("%q holds what is no character or NUL", got)
		}
		body, whole := got, utf8.RuneCountInString(text) <= max(n, 0)
		if !whole {
			var marked bool
			if body, marked = strings.CutSuffix(got, cutMark); !marked {
				t.Fatalf("%q was cut to %q without a mark", text, got)
			}
		}
		if count := utf8.RuneCountInString(body); count > max(n, 0) || whole && count != utf8.RuneCountInString(text) {
			t.Fatalf("%d characters of %q for %d", count, text, n)
		}
		// What a command writes is cut in the same place although only its beginning is kept.
		if n >= 0 {
			out := newOutput(nil, unredacted{}, n)
			head := []byte(text)[:min(len(text), out.keep)]
			if kept := Truncate(string(head), n); kept != got {
				t.Fatalf("from the beginning alone: %q, from all: %q", kept, got)
			}
		}
	})
}

func TestSlug(t *testing.T) {
	for command, want := range map[string]string{
		"./mvnw clean install -T 2C":            "mvnw_clean_install_T_2C",
		"make test":                             "make_test",
		"  a && b  ":                            "a_b",
		"prüfe":                                 "pr_fe",
		"検査":                                    "guardrail",
		"":                                      "guardrail",
		"../../etc/passwd":                      "etc_passwd",
		strings.Repeat("a", 60):                 strings.Repeat("a", 50),
		strings.Repeat("a", 49) + " b and more": strings.Repeat("a", 49),
		strings.Repeat("a", 48) + " b and more": strings.Repeat("a", 48) + "_b",
	} {
		if got := Slug(command); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

func FuzzSlug(f *testing.F) {
	f.Add("./mvnw clean install -T 2C")
	f.Add(strings.Repeat("a", 49) + " b")
	shape := regexp.MustCompile(`^[A-Za-z0-9]+(_[A-Za-z0-9]+)*$`)
	f.Fuzz(func(t *testing.T, command string) {
		if got := Slug(command); !shape.MatchString(got) || len(got) > slugSize {
			t.Fatalf("%q: %q", command, got)
		}
	})
}

func TestMessage(t *testing.T) {
	g := Guardrail{Command: `sh -c "make lint"`}
	hinted := g
	hinted.Hint = "Only lint.\nNothing else, " + strings.Repeat("really ", 100)
	for name, row := range map[string]struct {
		result Result
		want   string
	}{
		"without a hint": {
			Result{Guardrail: g, Code: 2},
			"Guardrail \"sh -c \"make lint\"\" failed with exit code 2.\nOutput file: x.log\nOutput (truncated):\nout"},
		"a hint is complete": {
			Result{Guardrail: hinted, Code: 2},
			"Guardrail \"sh -c \"make lint\"\" failed with exit code 2.\nHint: " + hinted.Hint + "\nOutput file: x.log\nOutput (truncated):\nout"},
		"a timeout says after how long": {
			Result{Guardrail: Guardrail{Command: "x", Timeout: 90 * time.Minute}, Code: -1, Signal: "SIGTERM", TimedOut: true},
			"Guardrail \"x\" timed out after 1h30m.\nOutput file: x.log\nOutput (truncated):\nout"},
		"a signal is named": {
			Result{Guardrail: Guardrail{Command: "x"}, Code: -1, Signal: "SIGSEGV"},
			"Guardrail \"x\" was ended by signal SIGSEGV.\nOutput file: x.log\nOutput (truncated):\nout"},
		"NUL and broken characters in the settings are replaced": {
			Result{Guardrail: Guardrail{Command: "a\x00b", Hint: "\xff"}, Code: 1},
			"Guardrail \"a\uFFFDb\" failed with exit code 1.\nHint: \uFFFD\nOutput file: x.log\nOutput (truncated):\nout"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := message(row.result, "x.log", "out\n\n"); got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}
