package gaming

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/fileclass"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// shortestBlob is how long a text is that hides others, mostBlobs how many are decoded.
	shortestBlob = 32
	mostBlobs    = 50
	// mostDecoded bounds what a text becomes, in bytes, and deepestCode how often it is encoded.
	mostDecoded = 64 << 10
	deepestCode = 3
	// mostHidden is how many values of the tests an encoded text has by chance.
	mostHidden = 3
)

var (
	blob = units.Pattern("\"[^\"\\s\\\\]+\"|'[^'\\s\\\\]+'|`[^`\\s]+`")
	// readable is a text in what is decoded, which may be binary.
	readable = units.Pattern(`[ -~]{8,}`)
	digits   = units.Pattern(`\d+`)
)

// encoded finds texts of the program that hold values of the tests, encoded or compressed, so that
// no person reads them there.
func (f *finder) encoded() {
	expected := map[string]bool{}
	for s, i := range f.testLines() {
		addValues(s.lines[i].code, expected)
	}
	searched := 0
	for _, s := range f.claimed {
		if s.class != fileclass.Program {
			continue
		}
		before := linesOf(find(f.start, s.path))
		for i := 0; i < s.inFile && searched < mostBlobs; i++ {
			at, text := i, blobOn(s.lines[i].code)
			alone := text
			if text == "" || before[normal(s.lines[i].code)] {
				continue
			}
			for i+1 < s.inFile && blobOn(s.lines[i+1].code) != "" { // a long text is on several lines
				i++
				text += blobOn(s.lines[i].code)
			}
			if len(text) < shortestBlob {
				continue
			}
			searched++
			if n := max(hiddenIn(alone, expected), hiddenIn(text, expected)); n > mostHidden {
				f.add(event.FactValuesCopied, s, at, true, fmt.Sprintf("%d values of the tests are encoded here: %s", n, brief(s.lines[at].code)))
			}
		}
	}
}

// blobOn is the longest text on a line that is one word.
func blobOn(code string) (longest string) {
	for _, v := range blob().FindAllString(code, -1) {
		if v = plain(v); len(v) > len(longest) {
			longest = v
		}
	}
	return longest
}

// decoded returns what a text may become by the usual encodings.
func decoded(data []byte, depth int) (texts [][]byte) {
	if depth == 0 || len(data) == 0 {
		return nil
	}
	unpadded := bytes.TrimRight(data, "=")
	for _, read := range []func() io.Reader{
		func() io.Reader { return base64.NewDecoder(base64.RawStdEncoding, bytes.NewReader(unpadded)) },
		func() io.Reader { return base64.NewDecoder(base64.RawURLEncoding, bytes.NewReader(unpadded)) },
		func() io.Reader { return base32.NewDecoder(base32.StdEncoding, bytes.NewReader(data)) },
		func() io.Reader { return hex.NewDecoder(bytes.NewReader(data)) },
		func() io.Reader { return ascii85.NewDecoder(bytes.NewReader(data)) },
		func() io.Reader { return ascii85.NewDecoder(bytes.NewReader(bytes.Map(asASCII85, data))) },
		func() io.Reader { r, _ := zlib.NewReader(bytes.NewReader(data)); return r },
		func() io.Reader { r, _ := gzip.NewReader(bytes.NewReader(data)); return r },
		func() io.Reader { return flate.NewReader(bytes.NewReader(data)) },
		func() io.Reader { return bzip2.NewReader(bytes.NewReader(data)) },
	} {
		if text := readAll(read()); len(text) >= shortestBlob/2 {
			texts = append(append(texts, text), decoded(text, depth-1)...)
		}
	}
	return texts
}

// readAll is what can be read without an error.
func readAll(r io.Reader) []byte {
	switch r := r.(type) {
	case nil:
		return nil
	case *gzip.Reader:
		if r == nil {
			return nil
		}
	}
	text, err := io.ReadAll(io.LimitReader(r, mostDecoded))
	if err != nil {
		return nil
	}
	return text
}

// base85 are the digits of RFC 1924, which Python and git use.
const base85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

func asASCII85(r rune) rune {
	if at := strings.IndexRune(base85, r); at >= 0 {
		return '!' + rune(at)
	}
	return r
}

// hiddenIn is how many values an encoded text has, in what it may be decoded to.
func hiddenIn(encoded string, values map[string]bool) (most int) {
	for _, text := range decoded([]byte(encoded), deepestCode) {
		words := string(bytes.Join(readable().FindAll(text, -1), []byte("\n")))
		numbers := map[string]bool{}
		for _, n := range digits().FindAllString(words, -1) {
			numbers[strings.TrimLeft(n, "0")] = true
		}
		n := 0
		for v := range values {
			if bare := strings.TrimPrefix(v, "-"); len(bare) > 1 && (numbers[bare] || len(bare) > 2 && strings.Contains(words, v)) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
