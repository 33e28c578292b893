//go:build !unix && !windows

package filelock

import (
	"errors"
	"os"
)

// A system without locks, such as a browser, has no second process either: nothing there may take a
// loop for alive.

func try(*os.File, bool) (bool, error) { return false, errors.ErrUnsupported }

func release(*os.File) error { return errors.ErrUnsupported }
