package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
)

type Member struct{ Key, Value []byte }

func Valid(b []byte) bool { return json.Valid(b) }

func Index(doc []byte, m []Member) ([]Member, error) {
	if !json.Valid(doc) {
		return m, &json.SyntaxError{}
	}
	c := Object(doc)
	for {
		k, v, ok := c.Next()
		if !ok {
			return m, nil
		}
		m = append(m, Member{k, v})
	}
}

func Len(b []byte) int {
	d := json.NewDecoder(bytes.NewReader(b))
	var r json.RawMessage
	if d.Decode(&r) != nil {
		return len(b)
	}
	return int(d.InputOffset())
}

type ObjectCursor struct {
	b  []byte
	at int
}
type ArrayCursor struct {
	b  []byte
	at int
}

func Object(v []byte) ObjectCursor { return ObjectCursor{v, 0} }
func Array(v []byte) ArrayCursor   { return ArrayCursor{v, 0} }
func ws(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(" \t\r\n,:{[", b[i]) >= 0 {
		i++
	}
	return i
}
func ws2(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(" \t\r\n,:", b[i]) >= 0 {
		i++
	}
	return i
}
func (c *ObjectCursor) Next() ([]byte, []byte, bool) {
	if c.at == 0 {
		if len(c.b) == 0 || c.b[0] != '{' {
			return nil, nil, false
		}
		c.at = 1
	}
	c.at = ws2(c.b, c.at)
	if c.at >= len(c.b) || c.b[c.at] != '"' {
		return nil, nil, false
	}
	n := Len(c.b[c.at:])
	k := c.b[c.at+1 : c.at+n-1]
	c.at = ws2(c.b, c.at+n)
	n = Len(c.b[c.at:])
	v := c.b[c.at : c.at+n]
	c.at += n
	return k, v, true
}
func (c *ArrayCursor) Next() ([]byte, bool) {
	if c.at == 0 {
		if len(c.b) == 0 || c.b[0] != '[' {
			return nil, false
		}
		c.at = 1
	}
	c.at = ws2(c.b, c.at)
	if c.at >= len(c.b) || c.b[c.at] == ']' {
		return nil, false
	}
	n := Len(c.b[c.at:])
	v := c.b[c.at : c.at+n]
	c.at += n
	return v, true
}
func Get(v []byte, path ...string) []byte {
	for _, p := range path {
		c := Object(v)
		found := false
		for {
			k, x, ok := c.Next()
			if !ok {
				break
			}
			if string(k) == p {
				v, found = x, true
				break
			}
		}
		if !found {
			return nil
		}
	}
	return v
}
func Unquote(v []byte) string             { var s string; json.Unmarshal(v, &s); return s }
func AppendUnquoted(dst, v []byte) []byte { return append(dst, Unquote(v)...) }
func Int(v []byte) (n int64, ok bool)     { ok = json.Unmarshal(v, &n) == nil; return }
func Uint(v []byte) (n uint64, ok bool)   { ok = json.Unmarshal(v, &n) == nil; return }
func Float(v []byte) (n float64, ok bool) { ok = json.Unmarshal(v, &n) == nil; return }
func Bool(v []byte) (n bool, ok bool)     { ok = json.Unmarshal(v, &n) == nil; return }
func EqualString(v []byte, s string) bool { return Unquote(v) == s }
func AppendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s)
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
func AppendStringBytes(dst []byte, s []byte) []byte { return AppendString(dst, string(s)) }
