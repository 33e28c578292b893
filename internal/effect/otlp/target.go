package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/credentials"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

// Target is a collector, and what it gets.
type Target struct {
	URL      string // of its traces
	Headers  map[string]string
	Encoding Encoding
	Gzip     bool
	Timeout  time.Duration // of one request
	Resource Resource
	Content  bool
	// Ignored says which variables cannot be read, a sentence each. The specification treats them
	// as not set.
	Ignored []string
}

// defaultTimeout is that of the specification.
const defaultTimeout = 10 * time.Second

// tracesPath is where a collector takes traces, below its endpoint.
const tracesPath = "v1/traces"

// Find returns the collector that settings name, else the one that the standard variables of
// OpenTelemetry name; nil if there is none. env is NAME=value. The headers of the variables belong
// to their endpoint, and are not sent to that of the settings.
func Find(s config.OTLP, env []string) (*Target, error) {
	v := variables(env)
	if strings.EqualFold(v["OTEL_SDK_DISABLED"], "true") || s.Endpoint == config.TelemetryOff {
		return nil, nil
	}
	endpoint, base := s.Endpoint, true
	if endpoint == "" {
		if !exports(v["OTEL_TRACES_EXPORTER"]) {
			return nil, nil
		}
		if endpoint = v["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]; endpoint != "" {
			base = false
		} else if endpoint = v["OTEL_EXPORTER_OTLP_ENDPOINT"]; endpoint == "" {
			return nil, nil
		}
	}
	t, err := to(s, v, endpoint, base)
	if err != nil {
		return nil, err
	}
	if s.Endpoint == "" {
		t.Headers = map[string]string{}
		for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
			pairs, err := pairsOf(name, v[name])
			if err != nil {
				return nil, err
			}
			maps.Copy(t.Headers, pairs)
		}
	}
	return t, nil
}

// exports reports whether OTLP is among the exporters of traces, which is the default.
func exports(exporters string) bool {
	if exporters == "" {
		return true
	}
	for name := range strings.SplitSeq(exporters, ",") {
		if strings.EqualFold(strings.TrimSpace(name), "otlp") {
			return true
		}
	}
	return false
}

// At returns the collector at an address that a person gives, with the settings' headers if it is
// theirs.
func At(address string, s config.OTLP, env []string) (*Target, error) {
	found, err := Find(s, env)
	if err != nil {
		found = nil // it is about another address
	}
	t, err := to(s, variables(env), address, true)
	if err != nil {
		return nil, err
	}
	t.Headers = nil
	if found != nil && found.URL == t.URL {
		t.Headers = found.Headers
	}
	return t, nil
}

// to returns the collector at an endpoint. base says that the path of traces comes after it.
func to(s config.OTLP, v map[string]string, endpoint string, base bool) (*Target, error) {
	address, err := addressOf(endpoint, base)
	if err != nil {
		return nil, err
	}
	t := &Target{URL: address, Headers: s.Headers, Timeout: defaultTimeout, Content: s.Content}
	switch protocol := firstOf(v, "PROTOCOL"); Encoding(protocol) {
	case "", Protobuf:
		t.Encoding = Protobuf
	case JSON:
		t.Encoding = JSON
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and ralph speaks http/protobuf and http/json", protocol)
	}
	switch compression := firstOf(v, "COMPRESSION"); compression {
	case "", "none":
	case "gzip":
		t.Gzip = true
	default:
		t.ignore("OTEL_EXPORTER_OTLP_COMPRESSION is %q, and ralph knows gzip and none", compression)
	}
	if text := firstOf(v, "TIMEOUT"); text != "" {
		ms, err := strconv.ParseInt(text, 10, 32)
		if err != nil || ms <= 0 {
			t.ignore("OTEL_EXPORTER_OTLP_TIMEOUT is %q, and not a number of milliseconds", text)
		} else {
			t.Timeout = time.Duration(ms) * time.Millisecond
		}
	}
	t.describe(v)
	return t, nil
}

// ToFile returns what a file gets in place of a collector.
func ToFile(s config.OTLP, env []string) *Target {
	t := &Target{Encoding: JSON, Content: s.Content}
	t.describe(variables(env))
	return t
}

func (t *Target) ignore(format string, values ...any) {
	t.Ignored = append(t.Ignored, fmt.Errorf(format, values...).Error()+": it is ignored")
}

// firstOf returns the variable of traces, else that of all signals.
func firstOf(v map[string]string, name string) string {
	return cmp.Or(v["OTEL_EXPORTER_OTLP_TRACES_"+name], v["OTEL_EXPORTER_OTLP_"+name])
}

func addressOf(endpoint string, base bool) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case !strings.HasPrefix(strings.ToLower(endpoint), "http://") && !strings.HasPrefix(strings.ToLower(endpoint), "https://"):
		err = errors.New("it does not begin with http:// or https://")
	case err != nil: // it has a part of the address, which may have a password
		err = errors.New("its host, port or path is wrong")
	case u.Host == "":
		err = errors.New("it has no host")
	}
	if err != nil {
		return "", fmt.Errorf("the address of the collector is no URL: %w", err)
	}
	if base && !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/"+tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), nil
}

// Shown returns the address without a password or a query.
func (t *Target) Shown() string {
	u, err := url.Parse(t.URL)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Secrets returns the values that no output may contain, as NAME=value for package redact.
func Secrets(s config.OTLP, env []string) []string {
	entries := credentials.HeaderSecrets(s.Headers)
	v := variables(env)
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		if pairs, err := pairsOf(name, v[name]); err == nil {
			entries = append(entries, credentials.HeaderSecrets(pairs)...)
		}
	}
	return entries
}

// describe says whose spans they are. The attributes are in a fixed order.
func (t *Target) describe(v map[string]string) {
	pairs, err := pairsOf("OTEL_RESOURCE_ATTRIBUTES", v["OTEL_RESOURCE_ATTRIBUTES"])
	if err != nil {
		t.ignore("%w", err)
		pairs = map[string]string{}
	}
	pairs["service.name"] = cmp.Or(v["OTEL_SERVICE_NAME"], pairs["service.name"], "ralph")
	var s Span
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		s.text(key, pairs[key])
	}
	t.Resource = s.Attributes
}

// pairsOf reads the value of a variable that has key=value pairs, percent-encoded, with commas
// between them.
func pairsOf(variable, text string) (map[string]string, error) {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || err != nil {
			return nil, fmt.Errorf("%s is not a list of key=value with commas", variable) // it may be secret
		}
		pairs[key] = decoded
	}
	return pairs, nil
}

func variables(env []string) map[string]string {
	v := map[string]string{}
	for _, entry := range env {
		if name, value, ok := strings.Cut(entry, "="); ok && strings.HasPrefix(name, "OTEL_") {
			v[name] = strings.TrimSpace(value)
		}
	}
	return v
}
