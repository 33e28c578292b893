package takeover

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestHostileNameIsNoPath(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{"demo": "", "../demo": "journal names", "/etc/x": "journal names", "a/b": "journal names", "--help": "journal names", "": "journal names"} {
		var take taking
		take.view.Name = name
		into, err := take.newFolder()
		if want == "" {
			if err != nil || filepath.Base(into) != name {
				t.Errorf("%q goes to %s, %v", name, into, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q goes to %s, %v", name, into, err)
		}
	}
}
