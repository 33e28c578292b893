package reading

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

const patch = `diff --git a/cart.go b/cart.go
index 1111111..2222222 100644
--- a/cart.go
+++ b/cart.go
@@ -1,3 +1,3 @@ package shop
 func total() int {
-	return 1
+	return 2
 }
diff --git a/go.mod b/go.mod
index 3333333..4444444 100644
--- a/go.mod
+++ b/go.mod
@@ -1 +1,2 @@
 module shop
+require x v1.0.0
diff --git "a/docs/\303\251\t1.md" "b/docs/\303\251\t1.md"
new file mode 100644
index 0000000..5555555
--- /dev/null
+++ "b/docs/\303\251\t1.md"
@@ -0,0 +1,3 @@
+diff --git a/x b/x
+--- a/x
+@@ -1 +1 @@ ` + "\x1b[31m" + `
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/old name.txt b/old name.txt
deleted file mode 100644
index 6666666..0000000
--- a/old name.txt
+++ /dev/null
@@ -1,2 +0,0 @@
--- a line with dashes
-two
\ No newline at end of file
diff --git a/logo.png b/logo.png
index 7777777..8888888 100644
Binary files a/logo.png and b/logo.png differ
`

func TestParsePatch(t *testing.T) {
	var got []string
	for _, c := range Parse([]byte(patch)) {
		got = append(got, fmt.Sprintf("%q +%d -%d deleted %t binary %t executable %t %q", c.Path, c.Added, c.Removed, c.Deleted, c.Binary, c.Executable, c.Lines))
		if strings.Contains(c.Diff, "\x1b") {
			t.Errorf("%q is not clean", c.Diff)
		}
	}
	want := []string{
		`"cart.go" +1 -1 deleted false binary false executable false ["-\treturn 1" "+\treturn 2"]`,
		`"go.mod" +1 -0 deleted false binary false executable false ["+require x v1.0.0"]`,
		`"docs/é\t1.md" +3 -0 deleted false binary false executable false ["+diff --git a/x b/x" "+--- a/x" "+@@ -1 +1 @@ \x1b[31m"]`,
		`"run.sh" +0 -0 deleted false binary false executable true []`,
		`"old name.txt" +0 -2 deleted true binary false executable false ["--- a line with dashes" "-two"]`,
		`"logo.png" +0 -0 deleted false binary true executable false []`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// strength is that of a loop with a survivor and a fact.
var strength = &event.Strength{
	Survivors: []event.Mutant{{File: "cart.go", Line: 2, Operator: "changed constant", Was: "\treturn 2", Now: "\treturn 3"}},
	Facts:     []event.GamingFact{{Kind: event.FactTestsSkipped, File: "cart_test.go", Line: 9, Text: "t.Skip was added"}},
}

func TestOrderOfList(t *testing.T) {
	l := New("demo", strength, Parse([]byte(patch)), "")
	var got []string
	for _, item := range l.Items {
		got = append(got, fmt.Sprintf("%s %s (%s) %s", item.Kind, item.Place(), strings.Join(item.Reasons, "; "), item.Command))
	}
	want := []string{
		"survivor cart.go:2 (all guardrails pass with this change (changed constant)) ralph diff demo cart.go",
		"fact cart_test.go:9 (t.Skip was added) ralph diff demo cart_test.go",
		"file run.sh (security: the file can be run now) ralph diff demo run.sh",
		"file go.mod (dependencies) ralph diff demo go.mod",
		"file old name.txt (deleted) ralph diff demo 'old name.txt'",
		"file logo.png (size: a binary file) ralph diff demo logo.png",
		"file cart.go (no test changed with it) ralph diff demo cart.go",
		"rest 1 other file (no risk is known of them) ralph diff demo",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if l.String() != "reviewed 0 of 8" || l.Items[0].Diff != "-\treturn 2\n+\treturn 3" {
		t.Errorf("%s, %q", l, l.Items[0].Diff)
	}
	if unknown := New("demo", nil, nil, "there is no repository"); len(unknown.Items) != 0 || unknown.Unknown == "" || unknown.Done() {
		t.Errorf("%+v", unknown)
	}
}

// A guardrail that could not be tried comes first, with what it printed, also on a page for others.
func TestGuardrailThatWasNotTried(t *testing.T) {
	s := *strength
	s.Guardrails = []event.GuardrailProof{
		{Command: "make lint", Verdict: event.NotRun},
		{Command: "make test", Verdict: event.BrokenControl, Output: "no \x1b[31mrule", Log: "/home/a/log"},
	}
	l := New("demo", &s, nil, "")
	item := l.WithoutFiles().Items[0]
	why := "make test fails in a fresh work tree of the claimed state; all that it printed: /home/a/log"
	if item.Kind != Untried || item.Place() != "a guardrail" || item.Why() != why || !strings.HasPrefix(item.Diff, "no ") || strings.Contains(item.Diff, "\x1b") || l.Items[1].Kind != Survivor {
		t.Errorf("%+v", l.Items)
	}
}

// A decision is about a content: after another one it is open again, and it says so.
func TestChangedItemIsOpenAgain(t *testing.T) {
	home := t.TempDir()
	l := New("demo", strength, Parse([]byte(patch)), "")
	r, err := ReadState(home, "01LOOP")
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.Items {
		r.Decide(&l.Items[i], Decision{State: Approved})
	}
	l.Mark(r)
	r.Reviewed = l.Reviewed
	if err := r.Write(home); err != nil || !l.Done() || l.Next(-1) != -1 {
		t.Fatalf("%v, %s", err, l)
	}
	if info, err := os.Stat(filepath.Join(home, "reviews", "01LOOP.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	view := &projector.View{Identity: projector.Identity{ID: "01LOOP"}}
	if AddReviewed(home, view, &projector.View{}); view.Reviewed == nil || view.Reviewed.String() != "reviewed 8 of 8" {
		t.Errorf("%v", view.Reviewed)
	}
	view.At = time.Unix(1, 0)
	if AddReviewed(home, view); view.Reviewed.String() != "reviewed 8 of 8, and it has worked since" {
		t.Errorf("%v", view.Reviewed)
	}
	if r, err = ReadState(home, "01LOOP"); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(patch, "3333333..4444444", "3333333..9999999", 1)
	l = New("demo", strength, Parse([]byte(changed)), "")
	l.Mark(r)
	if item := l.Items[3]; l.Decided != 7 || item.File != "go.mod" || !item.Open() || !item.Again || l.Next(5) != 3 {
		t.Errorf("%s: %+v", l, item)
	}
}

// A file that was rolled back differs no more, and is still in the list, until it changes again.
func TestRolledBackFileStays(t *testing.T) {
	changes := Parse([]byte(patch))
	l, r := New("demo", nil, changes, ""), Review{Loop: "x"}
	file := l.Items[1]
	r.Decide(&file, Decision{State: RolledBack, Kept: "refs/ralph/x/before-rollback"})
	l = New("demo", nil, slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Path == file.File }), "")
	l.Mark(r)
	if last := l.Items[len(l.Items)-1]; last.File != file.File || last.State != RolledBack || last.Kept == "" || l.Decided != 1 {
		t.Errorf("%s: %+v", l, last)
	}
	l = New("demo", nil, changes, "")
	l.Mark(r)
	if l.Decided != 0 || !l.Items[1].Again || len(l.Items) != 6 {
		t.Errorf("%s: %+v", l, l.Items[1])
	}
}

func TestStateOfAnotherLoop(t *testing.T) {
	home := t.TempDir()
	if err := (Review{Loop: "a"}).Write(home); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(home, "reviews", "a.json"), filepath.Join(home, "reviews", "b.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadState(home, "b"); err == nil {
		t.Error("it was read")
	}
	for _, id := range []string{"", "../x"} {
		if _, err := ReadState(home, id); err == nil {
			t.Errorf("%q is an id", id)
		}
	}
}

// Of two files that a list shows as one, an item is about its own.
func TestFilesThatAreShownAlike(t *testing.T) {
	one := "diff --git \"a/caf\\351.go\" \"b/caf\\351.go\"\nindex 1111111..2222222 100644\n@@ -1 +1 @@\n-a\n+b\n"
	l := New("demo", nil, Parse([]byte(one+strings.ReplaceAll(one, "351", "350"))), "")
	if len(l.Items) != 2 || l.Items[0].File != l.Items[1].File {
		t.Fatalf("%+v", l.Items)
	}
	for i := range l.Items {
		if item, path := l.OfFile(l.Items[i].Path()); item == nil || item.ID != l.Items[i].ID || path != l.Items[i].Path() {
			t.Errorf("%+v, %q", item, path)
		}
	}
	if item, _ := l.OfFile(l.Items[0].File); item != nil {
		t.Errorf("%+v", item)
	}
}

// What is found twice can be approved.
func TestItemIsSaidOnce(t *testing.T) {
	twice := *strength
	twice.Facts = append(slices.Clone(twice.Facts), twice.Facts...)
	if l := New("demo", &twice, nil, ""); l.Item(l.Items[len(l.Items)-1].ID) == nil {
		t.Errorf("%+v", l)
	}
}

// Where the difference of the rest is cut off, it says so.
func TestLargeRestSaysMore(t *testing.T) {
	var all strings.Builder
	for i := range 4 {
		fmt.Fprintf(&all, "diff --git a/n%d.txt b/n%d.txt\nindex 1111111..2222222 100644\n@@ -0,0 +1,90 @@\n%s", i, i, strings.Repeat("+"+strings.Repeat("x", 200)+"\n", 90))
	}
	l := New("demo", nil, Parse([]byte(all.String())), "")
	if last := l.Items[len(l.Items)-1]; last.Kind != Rest || !strings.HasSuffix(last.Diff, "… and more files") {
		t.Errorf("%d items, %q", len(l.Items), last.Diff[max(len(last.Diff)-80, 0):])
	}
}
