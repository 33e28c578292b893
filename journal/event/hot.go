package event

import (
	"math"
	"strconv"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// The payloads in this file occur by the thousand in the stream of an agent and are encoded by
// hand, because encoding/json takes about ten times as long. A test compares their JSON with that
// of encoding/json.

func (p AgentSaid) appendJSON(dst []byte) []byte {
	return appendSaying(dst, p.Block, p.Text, p.Final, p.Parent)
}

func (p AgentThought) appendJSON(dst []byte) []byte {
	return appendSaying(dst, p.Block, p.Text, p.Final, p.Parent)
}

func appendSaying(dst []byte, block string, text Text, final bool, parent string) []byte {
	dst = append(dst, `{"block":`...)
	dst = jsonscan.AppendString(dst, block)
	dst = append(dst, `,"text":`...)
	dst = appendText(dst, text)
	if final {
		dst = append(dst, `,"final":true`...)
	}
	dst = appendOptional(dst, `,"parent":`, parent)
	return append(dst, '}')
}

func (p AgentUsed) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"in":`...)
	dst = strconv.AppendInt(dst, p.In, 10)
	dst = append(dst, `,"out":`...)
	dst = strconv.AppendInt(dst, p.Out, 10)
	dst = append(dst, `,"cacheRead":`...)
	dst = strconv.AppendInt(dst, p.CacheRead, 10)
	dst = append(dst, `,"cacheWrite":`...)
	dst = strconv.AppendInt(dst, p.CacheWrite, 10)
	dst = append(dst, `,"usd":`...)
	// A price that is not finite cannot be JSON: it is unknown.
	if p.USD == nil || math.IsInf(*p.USD, 0) || math.IsNaN(*p.USD) {
		dst = append(dst, "null"...)
	} else {
		dst = strconv.AppendFloat(dst, *p.USD, 'g', -1, 64)
	}
	dst = appendOptional(dst, `,"model":`, p.Model)
	if p.Unpriced {
		dst = append(dst, `,"unpriced":true`...)
	}
	return append(dst, '}')
}

func (p ToolCalled) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, p.ID)
	dst = append(dst, `,"name":`...)
	dst = jsonscan.AppendString(dst, p.Name)
	if len(p.Input) > 0 {
		dst = append(dst, `,"input":`...)
		dst = append(dst, p.Input...)
	}
	dst = appendOptional(dst, `,"parent":`, p.Parent)
	return append(dst, '}')
}

func (p ToolProgressed) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, p.ID)
	if !p.Text.IsZero() {
		dst = append(dst, `,"text":`...)
		dst = append(dst, p.Text...)
	}
	if p.Replaced {
		dst = append(dst, `,"replaced":true`...)
	}
	return append(dst, '}')
}

func (p ToolReturned) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, p.ID)
	dst = append(dst, `,"ok":`...)
	dst = strconv.AppendBool(dst, p.OK)
	dst = append(dst, `,"output":`...)
	dst = appendText(dst, p.Output)
	if p.Took != 0 {
		dst = append(dst, `,"took":`...)
		dst = strconv.AppendInt(dst, p.Took, 10)
	}
	dst = appendOptional(dst, `,"blob":`, string(p.Blob))
	if p.Bytes != 0 {
		dst = append(dst, `,"bytes":`...)
		dst = strconv.AppendInt(dst, int64(p.Bytes), 10)
	}
	return append(dst, '}')
}

func appendText(dst []byte, t Text) []byte {
	if len(t) == 0 {
		return append(dst, `""`...)
	}
	return append(dst, t...)
}

func appendOptional(dst []byte, key, s string) []byte {
	if s == "" {
		return dst
	}
	return jsonscan.AppendString(append(dst, key...), s)
}
