package journaltool

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// cloudType begins the type of each CloudEvent: the reversed name that the project owns.
const cloudType = "io.github.ralph-loop."

// appendCloudEvent appends an event in the JSON format of CloudEvents 1.0. It follows from the line
// in the journal alone, so that a second export is the same.
func appendCloudEvent(dst []byte, loop string, e event.Event) []byte {
	seq := strconv.FormatUint(uint64(e.Seq), 10)
	dst = append(dst, `{"specversion":"1.0","id":`...)
	dst = jsonscan.AppendString(dst, cmp.Or(e.ID(), seq))
	dst = append(dst, `,"source":`...)
	dst = jsonscan.AppendString(dst, "/ralph/loop/"+cmp.Or(url.PathEscape(loop), "unknown"))
	dst = append(dst, `,"type":`...)
	dst = jsonscan.AppendString(dst, cloudType+string(e.Type))
	dst = append(dst, `,"time":"`...)
	dst = e.At.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	if e.Iter > 0 {
		dst = append(dst, `,"subject":"iteration/`...)
		dst = strconv.AppendInt(dst, int64(e.Iter), 10)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"sequence":"`...)
	dst = append(dst, sequence(seq)...)
	dst = append(dst, '"')
	if by := e.By(); by != "" {
		dst = append(dst, `,"actor":`...)
		dst = jsonscan.AppendString(dst, by)
	}
	if e.Cause > 0 {
		dst = append(dst, `,"cause":"`...)
		dst = append(dst, sequence(strconv.FormatUint(uint64(e.Cause), 10))...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"datacontenttype":"application/json","data":`...)
	dst = cli.AppendEscaped(dst, e.Data())
	return append(dst, "}\n"...)
}

// sequence pads a number with zeros, since the extension "sequence" is compared as text.
func sequence(number string) string {
	const digits = "000000000000"
	return digits[:max(0, len(digits)-len(number))] + number
}
