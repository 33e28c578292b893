package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// An error about a disk or a folder has its next step, also where what was being done has none, or
// one that does not help.
func TestDiskErrorsHaveNextStep(t *testing.T) {
	at := func(cause error) error { return &fs.PathError{Op: "write", Path: "/x", Err: cause} }
	for name, row := range map[string]struct {
		err  error
		want string
	}{
		"a full disk":          {fmt.Errorf("put entry: %w", at(syscall.ENOSPC)), "free some space there"},
		"whatever else helps":  {Refuse("the folder must be writable", "make it: %w", at(syscall.ENOSPC)), "free some space there"},
		"a quota":              {at(syscall.EDQUOT), "free some space there"},
		"read-only":            {at(syscall.EROFS), "name another folder"},
		"read-only, with hint": {Refuse("set RALPH_HOME", "make it: %w", at(syscall.EROFS)), "set RALPH_HOME"},
		"not allowed":          {at(syscall.EACCES), "change the permissions"},
		"any other":            {errors.New("no"), ""},
	} {
		var out bytes.Buffer
		Report(&out, row.err)
		_, hint, found := strings.Cut(out.String(), "hint: ")
		if found != (row.want != "") || !strings.Contains(hint, row.want) {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}
