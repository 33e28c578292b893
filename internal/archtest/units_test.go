package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// spelled are amounts that are spelled in the code: money as a format, and a duration whose zero
// units are cut off. A duration that is printed as it is does not look like one here; what a person
// reads is spelled by internal/ground/units.
var spelled = regexp.MustCompile(`\$%(?:\.[0-9])?[a-z]|"m0s"|"h0m"|%\.[0-9]f[smh"]`)

func TestAmountsHaveOneHome(t *testing.T) {
	const home = "internal/ground/units/"
	found := false
	eachText(t, func(name, text string) {
		if !isProduct(name) || strings.HasPrefix(name, "pool/") { // a module of its own: units is not public
			return
		}
		what := spelled.FindString(text)
		switch {
		case what != "" && strings.HasPrefix(name, home):
			found = true
		case what != "":
			t.Errorf("%s spells an amount itself (%s); package %s does so", name, what, home)
		}
	})
	if !found {
		t.Errorf("%s spells no amount: this test looks for the wrong thing", home)
	}
}
