//go:build !linux

package sandbox

import "fmt"

func landlockVersion() int { return 0 }

func (ruleset) restrict([]int) error { return fmt.Errorf("sandbox %s %w", Landlock, ErrUnavailable) }
