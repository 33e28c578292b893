package redact

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// streamEnv has values that are hard to cut: a short one, one that begins as it ends, one with
// blanks, one of several lines.
var streamEnv = append(slices.Clone(testEnv),
	"MYSQL_ROOT_PASSWORD=zXq9-kk41",
	"AGAIN_TOKEN=hunter2-hunter2",
	"PHRASE_SECRET=correct horse battery staple",
	"LINES_SECRET=first line of it\nsecond line of it",
	"SLASH_SECRET=a+b/c==&d%e?f",
)

// drawText joins secrets of all kinds, known values in all encodings, and text that may be beside
// them.
func drawText(t *rapid.T, m *Redactor) string {
	names := slices.Sorted(maps.Keys(kinds))
	between := rapid.SampledFrom([]string{"", "", " ", "\n", `\n`, `\\n`, `\`, `"`, `\"`, `":"`, "x", "-p", "é", "=", ":", "@", "_", "-", "\x1b[32m", "%3D", `\u003d`, "the quick brown",
		"-----", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----", "Bearer ", "Basic ", "gh", "sk-ant-", "eyJ", "machine a login b password ", "://a:",
		"Private-Lines: 3\n", "hunter2-", "zXq9", "first line of", "correct ", "password", "AccountKey=", "x-api-key: ", "[masked:X]", "https://h/p?sv=2022&sig="})
	r := random{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))}
	var b strings.Builder
	for range rapid.IntRange(1, 5).Draw(t, "parts") {
		b.WriteString(between.Draw(t, "between"))
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			known := m.literals[rapid.IntRange(0, len(m.literals)-1).Draw(t, "literal")].text
			b.WriteString(known[:rapid.IntRange(len(known)/2, len(known)).Draw(t, "length")])
		case 1:
			b.WriteString(between.Draw(t, "more"))
		default:
			name := rapid.SampledFrom(names).Draw(t, "kind")
			if strings.Contains(name, "huge") {
				name = "private key, EC"
			}
			text, _ := kinds[name].make(r)
			switch rapid.IntRange(0, 5).Draw(t, "as") {
			case 0:
				quoted, _ := json.Marshal(text)
				text = string(quoted)
			case 1:
				quoted, _ := json.Marshal(text)
				quoted, _ = json.Marshal(string(quoted))
				text = string(quoted)
			case 2:
				text = text[:rapid.IntRange(0, len(text)).Draw(t, "cut off at")]
			}
			b.WriteString(text)
		}
	}
	b.WriteString(between.Draw(t, "end"))
	return b.String()
}

// pieces cuts a text anywhere: often near the middle of things, often into single bytes.
func pieces(t *rapid.T, text string) []string {
	var all []string
	most := rapid.SampledFrom([]int{1, 2, 7, 40, 400}).Draw(t, "most")
	for len(text) > 0 {
		n := min(len(text), rapid.IntRange(1, most).Draw(t, "piece"))
		all = append(all, text[:n])
		text = text[n:]
	}
	return all
}

func streamed(m *Redactor, pieces []string) string {
	s := m.Stream()
	var out []byte
	for _, piece := range pieces {
		out = append(out, s.Write([]byte(piece))...)
	}
	return string(append(out, s.Flush()...))
}

// However a text is cut, a Stream returns Text of the complete text.
func TestStreamEqualsText(t *testing.T) {
	m := New(streamEnv)
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, m)
		want, _ := m.Text([]byte(text))
		cut := pieces(t, text)
		if got := streamed(m, cut); got != string(want) {
			t.Fatalf("the text\n%q\nin pieces %q\nbecame\n%q\nnot\n%q", text, cut, got, want)
		}
	})
}

// Every kind is cut in two at every byte, and into single bytes, with and without a letter before
// it.
func TestStreamOfEveryKind(t *testing.T) {
	m := New(streamEnv)
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			r := random{rand.New(rand.NewPCG(7, 7))}
			secret, _ := k.make(r)
			for _, text := range []string{secret, "a " + secret + " b", `x\n` + secret + `\n"`, "é" + secret} {
				want, _ := m.Text([]byte(text))
				step := 1 + len(text)/25
				for at := 0; at <= len(text); at += step {
					if got := streamed(m, []string{text[:at], text[at:]}); got != string(want) {
						t.Fatalf("cut at %d\n%q\nbecame\n%q\nnot\n%q", at, text, got, want)
					}
				}
				if len(text) > 1<<10 {
					continue // each byte looks at all that is withheld: seconds, and minutes with the race detector
				}
				if got := streamed(m, strings.Split(text, "")); got != string(want) {
					t.Fatalf("byte by byte\n%q\nbecame\n%q\nnot\n%q", text, got, want)
				}
			}
		})
	}
}

func TestStreamOfKnownValues(t *testing.T) {
	m := New(streamEnv)
	for i := range m.literals {
		value := m.literals[i].text
		if m.literals[i].keyword != nil {
			continue
		}
		for _, text := range []string{"mysql -p" + value + " x", value, "x" + value + "y", `\n` + value, value + value} {
			want, n := m.Text([]byte(text))
			if n == 0 || bytes.Contains(want, []byte(value)) {
				t.Fatalf("%q became %q", text, want)
			}
			// Some sixty pairs of places: all pairs take a minute, and ten with the race detector.
			step := 1 + len(text)/8
			if testing.Short() {
				step = 1 + len(text)/4 // make long takes more
			}
			for at := 1; at < len(text); at += step {
				for second := at; second < len(text); second += step {
					if got := streamed(m, []string{text[:at], text[at:second], text[second:]}); got != string(want) {
						t.Fatalf("cut at %d and %d: %q became %q, not %q", at, second, text, got, want)
					}
				}
			}
		}
	}
}

// What is withheld is bounded, and a longer secret is masked all the same.
func TestStreamWithholdsLittle(t *testing.T) {
	m := New(streamEnv)
	r := random{rand.New(rand.NewPCG(5, 5))}
	for name, text := range map[string]string{
		"a key of a megabyte":         "x " + keyText(r, "RSA PRIVATE KEY", 1<<14) + " y",
		"one in JSON":                 strings.ReplaceAll("x "+keyText(r, "RSA PRIVATE KEY", 1<<14)+" y", "\n", `\n`),
		"one with numbers":            "x " + numbered(keyText(r, "RSA PRIVATE KEY", 1<<14)) + " y",
		"one that is cut off":         "x " + keyText(r, "RSA PRIVATE KEY", 1<<14)[:1<<19] + "\nand then it " + strings.Repeat("goes on ", 100),
		"a token of a megabyte":       "x sk-ant-" + r.of(mixed, 1<<20) + " y",
		"a web token":                 "x ey" + "J" + r.of(mixed, 99) + ".eyJ" + r.of(mixed, 1<<17) + "." + r.of(mixed, 1<<17) + " y",
		"a value over and over":       "x " + strings.Repeat("hunter2-", 1<<14) + "hunter2 y",
		"a picture in base64":         r.of(mixed+"+/", 1<<19) + " y",
		"a picture with a token":      r.of(mixed+"+/", 1<<17) + "/ghp" + "_" + r.of(mixed, 36) + "/" + r.of(mixed+"+/", 1<<17),
		"a header and no key":         "-----BEGIN PRIVATE KEY-----" + strings.Repeat(" is how a key begins.", 1<<12),
		"a row of headers":            strings.Repeat("-----BEGIN PRIVATE KEY-----\n", 1<<12),
		"a known value in a megabyte": r.of(mixed, 1<<18) + "zXq9-kk41" + r.of(mixed, 1<<18),
	} {
		t.Run(name, func(t *testing.T) {
			want, _ := m.Text([]byte(text))
			s := m.Stream()
			var out []byte
			most := 0
			for piece := range slices.Chunk([]byte(text), 611) {
				out = append(out, s.Write(piece)...)
				most = max(most, s.Held())
			}
			out = append(out, s.Flush()...)
			if most > maxWord+611 {
				t.Errorf("%d bytes were withheld", most)
			}
			if !bytes.Equal(out, want) {
				at := 0
				for at < min(len(out), len(want)) && out[at] == want[at] {
					at++
				}
				t.Errorf("%d bytes and not %d; from %d on\n%.200q\nnot\n%.200q", len(out), len(want), at, out[at:], want[at:])
			}
		})
	}
}

// Ordinary words are released with the blank after them, so that live output does not lag.
func TestStreamReleasesEarly(t *testing.T) {
	m := New(streamEnv)
	for _, row := range []struct{ name, text, held string }{
		{"nothing", "", ""},
		{"prose", "the quick brown fox ", ""},
		{"a word that may continue", "the quick brown fo", "fo"},
		{"letters outside ASCII", "die Größe ändern ü", ""},
		{"a known value with blanks", "use correct horse b", "correct horse b"},
		{"a known value, glued and one byte of it", "mysql -pz", "-pz"},
		{"a token in the making", "token ghp_A1b2", "ghp_A1b2"},
		{"a token that has ended", "token gh" + "p_" + alnum36 + " ", ""},
		{"the header of a private key", "x\n-----BEGIN RSA PRI", "-----BEGIN RSA PRI"},
		{"the body of a private key", "-----BEGIN PRIVATE KEY-----\nMIIE\n", "-----BEGIN PRIVATE KEY-----\nMIIE\n"},
		{"a certificate", "-----BEGIN CERTIFICATE-----\nMIIE\n", ""},
		{"a header that no key follows", "-----BEGIN PRIVATE KEY----- is how a key begins, and there is no more of it, whatever else may follow here. None ", ""},
	} {
		s := m.Stream()
		s.Write([]byte(row.text))
		if n := s.Held(); row.text[len(row.text)-n:] != row.held {
			t.Errorf("%s: %q is withheld, not %q", row.name, row.text[len(row.text)-n:], row.held)
		}
	}
}
