package main

// switchesSource is the file that is added to a changed package: %s is the package's name and the
// variables of its tables' rows. MUTANT is the mutant that is turned on; MUTANT_REACHED names a
// file to which the numbers of executed mutants are written.
const switchesSource = `package %s

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"sync"
)

var (
	mutActive, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutReached   = os.Getenv("MUTANT_REACHED")
	mutSeen      sync.Map
)

func mutOn(id int) bool {
	if mutReached != "" {
		if _, seen := mutSeen.LoadOrStore(id, true); !seen {
			f, err := os.OpenFile(mutReached, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			fmt.Fprintln(f, id)
			f.Close()
		}
	}
	return id == mutActive
}

func mutKeep(id int) bool { return !mutOn(id) }

func mutNot(id int, is bool) bool { return is != mutOn(id) }

func mutAnd(id int, a bool, b func() bool) bool {
	if mutOn(id) {
		return a || b()
	}
	return a && b()
}

func mutOr(id int, a bool, b func() bool) bool {
	if mutOn(id) {
		return a && b()
	}
	return a || b()
}

func mutCompare[T cmp.Ordered](id int, op string, a, b T) bool {
	if mutOn(id) {
		op = map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[op]
	}
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

type mutAnyNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func mutCompute[T mutAnyNumber](id int, op string, a, b T) T {
	if mutOn(id) {
		op = map[string]string{"+": "-", "-": "+", "*": "/", "/": "*", "%%": "*"}[op]
	}
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	}
	// Fractions have no remainder, and no mutant asks for one.
	return a - a/b*b
}

// Large numbers are durations and sizes, where one more changes nothing.
func mutNumber[T mutAnyNumber](id int, n T) T {
	switch {
	case !mutOn(id):
		return n
	case n >= 100:
		return n * 2
	}
	return n + 1
}

func mutText[T ~string](id int, s T) T {
	if mutOn(id) {
		return s + "'"
	}
	return s
}

func init() {
%s
}
`
