package event

// TelemetryFailed: the collector of telemetry.otlp does not take the loop's trace. It is reported
// once, however often it is tried again. The loop goes on.
type TelemetryFailed struct {
	To  string `json:"to,omitempty"` // the address, without a password
	Why string `json:"why"`          // one sentence for a person
}

// TelemetryRestored: the collector takes the trace again, with all that it missed.
type TelemetryRestored struct {
	To string `json:"to,omitempty"`
}
