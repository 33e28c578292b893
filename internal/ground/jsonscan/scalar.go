package jsonscan

import (
	"strconv"
	"unsafe"
)

// IsString reports whether a valid value is a string.
func IsString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// IsObject reports whether a valid value is an object.
func IsObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// IsArray reports whether a valid value is an array.
func IsArray(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// IsNull reports whether value is null. An absent value, as [Get] returns it, is not.
func IsNull(value []byte) bool { return string(value) == "null" }

// Bool returns value as a boolean; false if it is none.
func Bool(value []byte) (b, ok bool) {
	b = string(value) == "true"
	return b, b || string(value) == "false"
}

// Int returns value as an integer; false if it is no number, has a fraction or an exponent, or
// is outside int64.
func Int(value []byte) (int64, bool) {
	return number(value, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) })
}

// Uint returns value as an integer; false if it is no number, has a sign, a fraction or an
// exponent, or is outside uint64.
func Uint(value []byte) (uint64, bool) {
	return number(value, func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
}

// Float returns the float64 nearest to value; false if it is no number or too large for one.
func Float(value []byte) (float64, bool) {
	return number(value, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
}

// number parses a number of JSON. strconv also reads +1, 01, 0x1p-2, Inf and 1_000.
func number[T any](value []byte, parse func(string) (T, error)) (n T, ok bool) {
	if len(value) == 0 || checkNumber(value, 0) != len(value) {
		return n, false
	}
	// A string that shares the bytes spares a copy. strconv keeps no reference to it: its errors
	// contain a clone.
	parsed, err := parse(unsafe.String(unsafe.SliceData(value), len(value)))
	if err != nil {
		return n, false
	}
	return parsed, true
}
