package journaltool

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/internal/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// csvHead names the columns. Their names, meaning and order stay as they are; a new one is added at
// the end.
const csvHead = "loop,seq,id,at,iteration,by,cause,type,name,outcome,text,took_ms,model," +
	"input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,usd,data\r\n"

// csvText bounds the bytes of the column text. The column data has all of it.
const csvText = 1000

// appendCSV appends an event as a record of RFC 4180. Every text is quoted. No cell begins as a
// formula of a spreadsheet does.
func appendCSV(dst []byte, loop string, e event.Event) []byte {
	r := record{dst: dst}
	r.text(loop)
	r.number(int64(e.Seq))
	r.text(e.ID())
	r.text(e.At.UTC().Format(time.RFC3339Nano))
	r.number(int64(e.Iter))
	r.text(e.By())
	r.optional(int64(e.Cause), e.Cause > 0)
	r.text(string(e.Type))
	r.text(jsonscan.Unquote(textOf(e.Field("name"))))
	r.text(outcomeOf(e))
	r.text(summaryOf(e))
	r.field(e.Field("took"))
	r.text(jsonscan.Unquote(textOf(e.Field("model"))))
	used := e.Type == event.TypeAgentUsed
	for _, key := range []string{"in", "out", "cacheRead", "cacheWrite", "usd"} {
		var value []byte
		if used {
			value = e.Field(key)
		}
		r.field(value)
	}
	r.json(e.Data())
	return append(r.dst, "\r\n"...)
}

// textOf is a value if it is a text, or the text of a blob.
func textOf(value []byte) []byte {
	switch {
	case jsonscan.IsString(value):
		return value
	case jsonscan.IsObject(value):
		return textOf(jsonscan.Get(value, "text"))
	}
	return nil
}

// outcomeOf is how what an event reports ended; empty if it is no end.
func outcomeOf(e event.Event) string {
	for _, key := range []string{"outcome", "status"} {
		if value := textOf(e.Field(key)); value != nil {
			return jsonscan.Unquote(value)
		}
	}
	switch ok, known := jsonscan.Bool(e.Field("ok")); {
	case !known:
		return ""
	case ok:
		return "ok"
	}
	return "failed"
}

// summaryKeys are the keys of data whose text says what an event is about, the best first.
var summaryKeys = []string{"text", "error", "why", "evidence", "message", "prompt", "output", "line", "what", "hint"}

func summaryOf(e event.Event) string {
	for _, key := range summaryKeys {
		if value := textOf(e.Field(key)); len(value) > len(`""`) {
			return units.Cut(render.Clean(units.Prefix(jsonscan.Unquote(value), 4*csvText)), csvText)
		}
	}
	return ""
}

// record is a line of CSV that grows by cells.
type record struct {
	dst   []byte
	begun bool
}

func (r *record) next() {
	if r.begun {
		r.dst = append(r.dst, ',')
	}
	r.begun = true
}

func (r *record) number(n int64) { r.optional(n, true) }

func (r *record) optional(n int64, known bool) {
	r.next()
	if known {
		r.dst = strconv.AppendInt(r.dst, n, 10)
	}
}

// field appends a number as JSON has it. Anything else is an empty cell.
func (r *record) field(value []byte) {
	r.next()
	if _, ok := jsonscan.Float(value); ok {
		r.dst = append(r.dst, value...)
	}
}

// text appends a text on one line.
func (r *record) text(s string) {
	r.next()
	r.quoted([]byte(harmless(render.Clean(s))))
}

// json appends a JSON object. A semicolon is escaped, since a spreadsheet that separates cells by
// semicolons could take what follows for a formula.
func (r *record) json(value []byte) {
	r.next()
	r.quoted(bytes.ReplaceAll(cli.AppendEscaped(nil, value), []byte(";"), []byte(`\u003b`)))
}

func (r *record) quoted(cell []byte) {
	r.dst = append(r.dst, '"')
	r.dst = append(r.dst, bytes.ReplaceAll(cell, []byte(`"`), []byte(`""`))...)
	r.dst = append(r.dst, '"')
}

// harmless returns a text of which no spreadsheet makes a formula: an apostrophe comes before what
// begins as one, also after a semicolon.
func harmless(s string) string {
	parts := strings.Split(s, ";")
	for i, part := range parts {
		if begins(part) {
			parts[i] = "'" + part
		}
	}
	return cmp.Or(strings.Join(parts, ";"), s)
}

// begins reports whether a text begins as a formula does, also in full width and after blanks or
// quotation marks.
func begins(s string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }))
	return strings.ContainsRune("=+-@＝＋－＠", first)
}
