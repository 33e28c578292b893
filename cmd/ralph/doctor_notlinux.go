//go:build !linux

package main

func watchLimits() (instances, watches int, ok bool) { return 0, 0, false }

func landlockFinding() finding {
	return finding{"landlock", works, "is of Linux only", ""}
}
