package policy

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// SetRule returns the rules with one of them changed: the settings that may change while a loop
// runs. The value none takes a limit away. The error says what is wrong with key or value, in words
// for the person who typed them.
func SetRule(r event.Rules, key, value string) (event.Rules, error) {
	rule, tag := find(reflect.ValueOf(&r).Elem(), key)
	if tag.Get("live") == "" {
		if value == "none" && strings.HasPrefix(key, "limits.") {
			return r, fmt.Errorf("there is no %q", key)
		}
		return r, fmt.Errorf("%q cannot be changed while the loop runs", key)
	}
	if value == "none" && tag.Get("none") != "" {
		rule.SetZero()
		return r, nil
	}
	switch rule := rule.Addr().Interface().(type) {
	case *event.Duration:
		d, err := time.ParseDuration(value)
		if err != nil || d < time.Millisecond {
			return r, fmt.Errorf("%q is not a duration such as 90s or 10m", value)
		}
		*rule = event.Duration(d)
	case *float64:
		usd, err := strconv.ParseFloat(value, 64)
		if err != nil || !(usd > 0) || math.IsInf(usd, 1) { // the journal has no infinite number
			return r, fmt.Errorf("%q is not an amount in USD above 0", value)
		}
		*rule = usd
	default:
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return r, fmt.Errorf("%q is not a whole number above 0", value)
		}
		reflect.Indirect(reflect.ValueOf(rule)).SetInt(int64(n))
	}
	return r, nil
}

// sameRule reports whether a rule has the same value in both.
func sameRule(a, b event.Rules, key string) bool {
	x, _ := find(reflect.ValueOf(a), key)
	y, _ := find(reflect.ValueOf(b), key)
	return !x.IsValid() || x.Equal(y)
}

// find returns the rule of a key such as limits.cost, with its tag; the zero Value if there is
// none.
func find(rules reflect.Value, key string) (reflect.Value, reflect.StructTag) {
	name, rest, nested := strings.Cut(key, ".")
	for field, value := range rules.Fields() {
		if json, _, _ := strings.Cut(field.Tag.Get("json"), ","); json != name {
			continue
		}
		if nested && value.Kind() == reflect.Struct {
			return find(value, rest)
		}
		if !nested {
			return value, field.Tag
		}
	}
	return reflect.Value{}, ""
}
