package jsonscan

import (
	"math"
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

// Bool returns value as a boolean; false where it is none.
func Bool(value []byte) (b, ok bool) {
	b = string(value) == "true"
	return b, b || string(value) == "false"
}

// Int returns value as an integer; false where it is no number, has a fraction or an exponent, or lies outside int64.
func Int(value []byte) (int64, bool) {
	if len(value) > 0 && value[0] == '-' {
		u, ok := Uint(value[1:])
		if !ok || u > 1<<63 {
			return 0, false
		}
		return -int64(u), true // 1<<63 becomes MinInt64, which is its own negation
	}
	u, ok := Uint(value)
	if !ok || u > math.MaxInt64 {
		return 0, false
	}
	return int64(u), true
}

// Uint returns value as an integer; false where it is no number, has a sign, a fraction or an exponent, or lies outside uint64.
func Uint(value []byte) (uint64, bool) {
	if len(value) == 0 || len(value) > 20 || value[0] == '0' && len(value) > 1 {
		return 0, false
	}
	var u uint64
	for k, c := range value {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		// Only the twentieth digit can overflow.
		if k == 19 && (u > math.MaxUint64/10 || u == math.MaxUint64/10 && d > math.MaxUint64%10) {
			return 0, false
		}
		u = u*10 + d
	}
	return u, true
}

// Float returns the float64 nearest to value; false where it is no number or too large for one.
func Float(value []byte) (float64, bool) {
	if len(value) <= 15 { // whole numbers of so many digits are float64s
		if u, ok := Uint(value); ok {
			return float64(u), true
		}
	}
	// strconv also reads 0x1p-2, Inf and 1_000, so the grammar has to be checked here.
	if len(value) == 0 || value[0] != '-' && value[0]-'0' > 9 {
		return 0, false
	}
	if end, f := checkNumber(value, 0); f != sound || end != len(value) {
		return 0, false
	}
	// A string that shares the bytes spares a copy. ParseFloat keeps no reference to it, not even in its error, which holds a clone.
	x, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(value), len(value)), 64)
	if err != nil {
		return 0, false
	}
	return x, true
}
