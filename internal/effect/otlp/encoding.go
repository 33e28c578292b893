package otlp

// Encoding is a form of a request.
type Encoding string

// The encodings of OTLP over HTTP, as OTEL_EXPORTER_OTLP_PROTOCOL names them.
const (
	Protobuf Encoding = "http/protobuf"
	JSON     Encoding = "http/json"
)

// Resource says whose spans they are.
type Resource []Attribute
