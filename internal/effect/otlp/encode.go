//go:build !ralph_core

package otlp

import (
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// scope is the name of the instrumentation.
const scope = "github.com/ralph-loop/ralph"

// Encode returns spans of one trace as a request to a collector. The same spans are the same bytes.
func Encode(trace string, spans []Span, r Resource, as Encoding) ([]byte, error) {
	all := ptrace.NewTraces()
	of := all.ResourceSpans().AppendEmpty()
	put(of.Resource().Attributes(), r)
	list := of.ScopeSpans().AppendEmpty()
	list.Scope().SetName(scope)
	list.Spans().EnsureCapacity(len(spans))
	var id pcommon.TraceID
	_, _ = hex.Decode(id[:], []byte(trace)) // it is from Fold.Trace
	for i := range spans {
		fill(list.Spans().AppendEmpty(), id, &spans[i])
	}
	if as == JSON {
		return (&ptrace.JSONMarshaler{}).MarshalTraces(all)
	}
	return (&ptrace.ProtoMarshaler{}).MarshalTraces(all)
}

func fill(to ptrace.Span, trace pcommon.TraceID, s *Span) {
	to.SetTraceID(trace)
	to.SetSpanID(spanBytes(s.ID))
	to.SetParentSpanID(spanBytes(s.Parent))
	to.SetName(s.Name)
	to.SetKind(ptrace.SpanKindInternal)
	if s.Client {
		to.SetKind(ptrace.SpanKindClient)
	}
	to.SetStartTimestamp(pcommon.NewTimestampFromTime(s.Start))
	to.SetEndTimestamp(pcommon.NewTimestampFromTime(s.End))
	put(to.Attributes(), s.Attributes)
	for _, m := range s.Events {
		one := to.Events().AppendEmpty()
		one.SetName(m.Name)
		one.SetTimestamp(pcommon.NewTimestampFromTime(m.At))
		put(one.Attributes(), m.Attributes)
	}
	to.SetDroppedEventsCount(s.Dropped)
	if s.Failed {
		to.Status().SetCode(ptrace.StatusCodeError)
		to.Status().SetMessage(s.Message)
	}
}

func spanBytes(text string) (id pcommon.SpanID) {
	_, _ = hex.Decode(id[:], []byte(text)) // empty, or from spanID or ParseParent
	return id
}

func put(to pcommon.Map, attributes []Attribute) {
	for _, a := range attributes {
		switch {
		case a.Text != nil:
			to.PutStr(a.Key, *a.Text)
		case a.Int != nil:
			to.PutInt(a.Key, *a.Int)
		case a.Float != nil:
			to.PutDouble(a.Key, *a.Float)
		case a.Bool != nil:
			to.PutBool(a.Key, *a.Bool)
		}
	}
}
