package event

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/bits"
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
// data and raw) stands from said on. Who writes many lines uses an [Opener].
func AppendOpen(dst []byte, at *Stamp, d *Draft) (line []byte, said int) {
	dst, _ = appendHead(dst, at, d.Iter)
	said = len(dst)
	dst, _ = appendKind(dst, d)
	return appendBody(dst, d), said
}

// appendHead appends a line up to and with iter, and returns where its id begins.
func appendHead(dst []byte, at *Stamp, iter int) (head []byte, id int) {
	dst = append(dst, `{"v":1,"seq":`...)
	dst = strconv.AppendUint(dst, at.Seq, 10)
	dst = append(dst, idKey...)
	id = len(dst)
	dst = append(dst, at.ID[:]...)
	dst = append(dst, atKey...)
	dst = AppendTime(dst, at.At)
	dst = append(dst, `","iter":`...)
	return strconv.AppendInt(dst, int64(iter), 10), id
}

const (
	idKey = `,"id":"`
	atKey = `","at":"`
	byKey = `,"by":`
)

// appendKind appends what stands between iter and the value of data, and returns where the
// text of by ends.
func appendKind(dst []byte, d *Draft) (line []byte, by int) {
	dst = append(dst, byKey...)
	dst = jsonscan.AppendString(dst, d.By)
	by = len(dst) - 1
	if d.Cause != 0 {
		dst = append(dst, `,"cause":`...)
		dst = strconv.AppendUint(dst, d.Cause, 10)
	}
	dst = append(dst, `,"type":"`...)
	dst = append(dst, d.Type...)
	return append(dst, `","data":`...), by
}

func appendBody(dst []byte, d *Draft) []byte {
	dst = append(dst, d.Data...)
	if d.Raw != nil {
		dst = append(dst, `,"raw":`...)
		dst = append(dst, d.Raw...)
	}
	return dst
}

// Seal appends the CRC to the unfinished line that begins at dst[start].
func Seal(dst []byte, start int, prev uint32) ([]byte, uint32) {
	crc := crc32.Update(prev, castagnoli, dst[start:])
	dst = append(dst, `,"crc":"00000000"}`...)
	binary.LittleEndian.PutUint64(dst[len(dst)-len(`00000000"}`):], hexDigits(crc))
	return dst, crc
}

// hexDigits returns the eight digits of n, the first in the lowest byte. Letter by letter
// they would be in the way of whoever copies them next: a wide load waits for the
// narrow stores under it.
func hexDigits(n uint32) uint64 {
	x := uint64(bits.ReverseBytes32(n))
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = x>>4&0x000f000f000f000f | x&0x000f000f000f000f<<8
	letters := (x + 6*ones) >> 4 & ones
	return x + '0'*ones + letters*('a'-'0'-10)
}

const ones = 0x0101010101010101

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
