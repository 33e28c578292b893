//go:build unix

package registry

import (
	"encoding/json"
	"strings"
	"testing"
)

const headLine = `{"seq":412,"status":"running","reason":"","iteration":4,"maximumIterations":10,"since":"2026-11-21T01:52:28.123456Z",` +
	`"at":"2026-11-21T01:52:28.123456Z","cost":1.25,"tokensIn":1000,"tokensOut":200,"agent":"pi","waiting":"","more":[{"x":1}]}`

func TestScanHeadReadsTheProjectorsSpelling(t *testing.T) {
	h, rest, ok := scanHead([]byte(headLine))
	want, _ := decodeHead([]byte(headLine))
	if !ok || h != want || h.Seq != 412 || h.Cost != 1.25 || !h.CostKnown || string(rest) != `,"more":[{"x":1}]}` {
		t.Errorf("%+v, %q, %v", h, rest, ok)
	}
}

func TestTokensThatAreNotKnownAreNotZero(t *testing.T) {
	line := strings.Replace(headLine, `"tokensIn":1000,"tokensOut":200`, `"tokensIn":null,"tokensOut":null`, 1)
	h, _, ok := scanHead([]byte(line))
	slow, _ := decodeHead([]byte(line))
	known, _, _ := scanHead([]byte(headLine))
	if !ok || h.TokensKnown || h != slow || !known.TokensKnown || known.TokensIn != 1000 || known.TokensOut != 200 {
		t.Errorf("%+v, %+v, %+v, %v", h, slow, known, ok)
	}
}

// Whatever the quick scanners accept, the general decoder must read as the same.

func FuzzScanHead(f *testing.F) {
	f.Add([]byte(headLine))
	f.Add([]byte(`{"seq":1,"status":"a","reason":"b","iteration":0,"maximumIterations":0,"since":"2026-11-21T01:52:28Z","at":"2026-11-21T01:52:28+01:00","cost":null,"tokensIn":0,"tokensOut":0,"agent":"","waiting":"x"}`))
	f.Add([]byte(strings.Replace(headLine, `,"more"`, `,"pending":"pausing after iteration 4","more"`, 1)))
	f.Add([]byte(strings.Replace(headLine, `"tokensIn":1000`, `"tokensIn":null`, 1)))
	f.Add([]byte(strings.Replace(headLine, `,"more"`, `,"refunded":2,"more"`, 1)))
	f.Add([]byte(strings.Replace(headLine, `,"more"`, `,"pending":"pausing after iteration 4","refunded":2,"more"`, 1)))
	f.Add([]byte(headLine[:200]))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, rest, ok := scanHead(b)
		if !ok || h.Status == "" {
			return
		}
		want, ok := decodeHead(append(b[:len(b)-len(rest):len(b)-len(rest)], '}'))
		if !ok || !h.Since.Equal(want.Since) || !h.At.Equal(want.At) {
			t.Fatalf("%q: scanned %+v, decoded %+v, %v", b, h, want, ok)
		}
		h.Since, h.At = want.Since, want.At // zones compare by pointer
		if h != want {
			t.Fatalf("%q: scanned %+v, decoded %+v", b, h, want)
		}
	})
}

func FuzzScanEntry(f *testing.F) {
	line, err := json.Marshal(entryOf("x", "/p"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(line, '\n'))
	f.Add(line)
	f.Fuzz(func(t *testing.T, b []byte) {
		e, ok := scanEntry(b)
		if !ok {
			return
		}
		var want Entry
		if err := json.Unmarshal(b, &want); err != nil || !e.Started.Equal(want.Started) {
			t.Fatalf("%q: scanned %+v, decoded %+v, %v", b, e, want, err)
		}
		e.Started = want.Started
		if e != want {
			t.Fatalf("%q: scanned %+v, decoded %+v", b, e, want)
		}
	})
}

func FuzzScanHolder(f *testing.F) {
	f.Add([]byte(`{"pid":4711,"host":"mill","since":"2026-11-21T01:52:28.123456Z","startTicks":815}` + "\n"))
	f.Add([]byte(`{"pid":4711,"host":"mill","since":"2026-11-21T01:52:28.123456Z"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := scanHolder(b)
		if !ok {
			return
		}
		var want holder
		if err := json.Unmarshal(b, &want); err != nil || !h.Since.Equal(want.Since) {
			t.Fatalf("%q: scanned %+v, decoded %+v, %v", b, h, want, err)
		}
		h.Since = want.Since
		if h != want {
			t.Fatalf("%q: scanned %+v, decoded %+v", b, h, want)
		}
	})
}
