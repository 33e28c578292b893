//go:build unix

package launch

import (
	"testing"
)

// A log that cannot be written is an error before anything begins.
func TestUnwritableLogIsAnError(t *testing.T) {
	dir := t.TempDir() + "/nowhere"
	if err := logTo(logOf(dir)); err == nil || err.Error() != "open runner.log: open "+dir+"/runner.log: no such file or directory" {
		t.Errorf("%v", err)
	}
}
