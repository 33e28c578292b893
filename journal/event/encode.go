package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// Payload is what one type of event says: the structs of this package.
type Payload interface{ EventType() Type }

// appender is a payload that comes by the thousand and writes itself.
type appender interface{ appendJSON(dst []byte) []byte }

// Draft is an event that has not been given its place in the journal yet.
// Data and Raw hold one valid JSON value each, without a newline; Raw may be nil.
type Draft struct {
	Type  Type
	By    string
	Iter  int
	Cause uint64
	Data  []byte
	Raw   []byte
}

// Encode makes a draft of a payload. It panics where a payload cannot be JSON,
// which none of this package's can be unless it holds invalid JSON or an
// infinite number.
func Encode(p Payload, by string) Draft {
	return Draft{Type: p.EventType(), By: by, Data: AppendData(nil, p)}
}

// AppendData appends the JSON of a payload. It panics as [Encode] does.
func AppendData(dst []byte, p Payload) []byte {
	if a, ok := p.(appender); ok {
		return a.appendJSON(dst)
	}
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		panic(fmt.Sprintf("event: encode %s: %v", p.EventType(), err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// Stamp gives a draft its place.
type Stamp struct {
	Seq uint64
	ID  [26]byte // a ULID's text
	At  time.Time
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// tailLen is the length of `,"crc":"9f3a01c7"}`, which ends every line. Because
// it is fixed, a line is verified without being parsed.
const tailLen = 18

// AppendLine appends one line without its newline and returns the line's CRC,
// which seeds the next one. The first line of a segment is seeded with 0.
func AppendLine(dst []byte, at Stamp, d Draft, prev uint32) ([]byte, uint32) {
	start := len(dst)
	dst, _ = AppendOpen(dst, &at, &d)
	return Seal(dst, start, prev)
}

// AppendOpen appends a line without its CRC, for a caller that changes what
// stands in it before [Seal]. Everything that a draft's author chose as text (by,
// data and raw) stands from said on.
func AppendOpen(dst []byte, at *Stamp, d *Draft) (line []byte, said int) {
	dst = append(dst, `{"v":1,"seq":`...)
	dst = strconv.AppendUint(dst, at.Seq, 10)
	dst = append(dst, `,"id":"`...)
	dst = append(dst, at.ID[:]...)
	dst = append(dst, `","at":"`...)
	dst = AppendTime(dst, at.At)
	dst = append(dst, `","iter":`...)
	dst = strconv.AppendInt(dst, int64(d.Iter), 10)
	said = len(dst)
	dst = append(dst, `,"by":`...)
	dst = jsonscan.AppendString(dst, d.By)
	if d.Cause != 0 {
		dst = append(dst, `,"cause":`...)
		dst = strconv.AppendUint(dst, d.Cause, 10)
	}
	dst = append(dst, `,"type":"`...)
	dst = append(dst, d.Type...)
	dst = append(dst, `","data":`...)
	dst = append(dst, d.Data...)
	if d.Raw != nil {
		dst = append(dst, `,"raw":`...)
		dst = append(dst, d.Raw...)
	}
	return dst, said
}

// Seal appends the CRC to the unfinished line that begins at dst[start].
func Seal(dst []byte, start int, prev uint32) ([]byte, uint32) {
	crc := crc32.Update(prev, castagnoli, dst[start:])
	dst = append(dst, `,"crc":"`...)
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[crc>>shift&15])
	}
	return append(dst, `"}`...), crc
}

// CRC returns the checksum that the line carries, and whether it has one.
func CRC(line []byte) (crc uint32, ok bool) {
	if len(line) < tailLen {
		return 0, false
	}
	tail := line[len(line)-tailLen:]
	if string(tail[:8]) != `,"crc":"` || string(tail[16:]) != `"}` {
		return 0, false
	}
	var all byte
	for _, c := range tail[8:16] {
		digit := hexDigit[c]
		all |= digit
		crc = crc<<4 | uint32(digit)
	}
	return crc, all < 16
}

// hexDigit has the value of each lower-case hexadecimal digit, and 0xff for every
// other byte.
var hexDigit = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		t[c] = byte(i)
	}
	return t
}()

// Verify checks a line against the CRC of the line before it, and returns its own.
func Verify(line []byte, prev uint32) (crc uint32, ok bool) {
	crc, ok = CRC(line)
	if !ok {
		return 0, false
	}
	return crc, crc32.Update(prev, castagnoli, line[:len(line)-tailLen]) == crc
}

// AppendTime appends t in UTC as the journal spells it: always 27 bytes, with
// microseconds, so that times compare as strings. Years outside 0 to 9999 are
// not times of a journal.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = append4(dst, year)
	dst = append(dst, '-')
	dst = append2(dst, int(month))
	dst = append(dst, '-')
	dst = append2(dst, day)
	dst = append(dst, 'T')
	dst = append2(dst, hour)
	dst = append(dst, ':')
	dst = append2(dst, minute)
	dst = append(dst, ':')
	dst = append2(dst, second)
	dst = append(dst, '.')
	micro := t.Nanosecond() / 1000
	dst = append2(dst, micro/10000)
	dst = append4(dst, micro%10000)
	return append(dst, 'Z')
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }
func append4(dst []byte, n int) []byte { return append2(append2(dst, n/100), n%100) }
