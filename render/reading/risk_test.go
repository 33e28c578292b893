package reading

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// risksOf are the names of the risks of a change, with what says so.
func risksOf(c Change, tests ...string) (all []string) {
	c.Added = max(c.Added, len(c.Lines))
	for _, r := range c.risks(tests) {
		all = append(all, r.String())
	}
	return all
}

// Each row is a change and its risks: what has one, and a harmless neighbour.
func TestRisksOfChanges(t *testing.T) {
	for _, row := range []struct {
		change Change
		tests  []string
		want   []string
	}{
		{Change{Path: "README.md", Lines: []string{"+Change your password here."}}, nil, nil},
		{Change{Path: "web/auth.md"}, nil, nil},
		{Change{Path: "web/auth.css"}, nil, []string{`security: its path has the word "auth"`}},
		{Change{Path: "web/author.css"}, nil, nil},
		{Change{Path: "web/userAuth.css"}, nil, []string{`security: its path has the word "auth"`}},
		{Change{Path: ".github/workflows/ci.yml"}, nil, []string{"security", "configuration"}},
		{Change{Path: "certs/site.pem"}, nil, []string{"security"}},
		{Change{Path: "run", Executable: true}, nil, []string{"security: the file can be run now"}},
		{Change{Path: "a.c", Lines: []string{"+  chmod(path, 0777);"}}, []string{"a_test.c"}, []string{"security: chmod(path, 0777);"}},
		{Change{Path: "a.c", Lines: []string{"+  open(path);"}}, []string{"a_test.c"}, nil},
		{Change{Path: "a_test.py", Lines: []string{"+password = 'x'"}}, nil, nil},
		{Change{Path: "db/migrations/7_users.sql"}, nil, []string{"migration"}},
		{Change{Path: "db/users.txt", Lines: []string{"+ALTER TABLE users"}}, nil, nil},
		{Change{Path: "db.rb", Lines: []string{"-  drop table users"}}, []string{"db_spec.rb"}, []string{"migration: drop table users"}},
		{Change{Path: "go.sum"}, nil, []string{"dependencies"}},
		{Change{Path: "tools/requirements-dev.txt"}, nil, []string{"dependencies"}},
		{Change{Path: "web/pnpm-lock.yaml"}, nil, []string{"dependencies"}},
		{Change{Path: "cart.go", Lines: []string{"-func (c *Cart) Total() int {"}}, []string{"cart_test.go"}, []string{"public interface: func (c *Cart) Total() int {"}},
		{Change{Path: "cart.go", Lines: []string{"-func (c *Cart) total() int {"}}, []string{"cart_test.go"}, nil},
		{Change{Path: "internal/cart.go", Lines: []string{"+type Cart struct{}"}}, []string{"internal/cart_test.go"}, nil},
		{Change{Path: "shop.py", Lines: []string{"+def buy(cart):"}}, []string{"tests/test_shop.py"}, []string{"public interface: def buy(cart):"}},
		{Change{Path: "shop.py", Lines: []string{"+def _buy(cart):", "+    def inner():"}}, []string{"tests/test_shop.py"}, nil},
		{Change{Path: "shop.ts", Lines: []string{"+export const buy = 1"}}, []string{"shop.test.ts"}, []string{"public interface: export const buy = 1"}},
		{Change{Path: "api/shop.proto"}, nil, []string{"public interface"}},
		{Change{Path: "deploy/values.yaml"}, nil, []string{"configuration"}},
		{Change{Path: "jest.config.json"}, nil, []string{"configuration"}},
		{Change{Path: "Makefile"}, nil, []string{"configuration"}},
		{Change{Path: "notes.txt", Deleted: true}, nil, []string{"deleted"}},
		{Change{Path: "notes.txt", Added: 120, Removed: 80}, nil, []string{"size: 200 lines"}},
		{Change{Path: "notes.txt", Added: 120, Removed: 79}, nil, nil},
		{Change{Path: "logo.png", Binary: true}, nil, []string{"size: a binary file"}},
		{Change{Path: "a.c", Added: 1}, nil, []string{"no test: no test of it changed"}},
		{Change{Path: "a.c", Added: 1}, []string{"other/b_test.c"}, []string{"no test: no test of it changed"}},
		{Change{Path: "a.c", Removed: 1, Deleted: true}, nil, []string{"deleted"}},
	} {
		if got := risksOf(row.change, row.tests...); !slices.Equal(got, row.want) {
			t.Errorf("%s %q: %q, want %q", row.change.Path, row.change.Lines, got, row.want)
		}
	}
}

func TestPageHasTableOfRisks(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/review.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), Table()) {
		t.Errorf("docs/guide/review.md does not have this table:\n%s", Table())
	}
}
