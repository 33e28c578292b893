package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func shop(pkgs ...string) options {
	o := options{dir: filepath.Join("testdata", "module"), packages: []string{"pay"}, jobs: 2}
	for _, pkg := range pkgs {
		o.suites = append(o.suites, suite{pkg: pkg})
	}
	return o
}

// Each survivor has a reason.
func TestSurvivorsOfShop(t *testing.T) {
	r, err := measure(shop("pay", "user"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"pay/pay.go:15: row 1 of steps is left out",          // no price is in between
		"pay/pay.go:15: rows 1 and 2 of steps change places", // the same
		"pay/pay.go:15: rows 2 and 3 of steps change places", // the same
		"pay/pay.go:15: row 2 of steps is left out",          // the same
		"pay/pay.go:15: 10 grows",                            // to 11
		"pay/pay.go:15: 20 grows",                            // to 21
		"pay/pay.go:15: 30 grows",                            // to 31
		"pay/pay.go:30: total >= step: >= becomes >",         // no price is a step
		"pay/pay.go:43: 2 * time.Minute grows",               // four minutes are more than three seconds
		"pay/pay.go:47: a || b: || becomes && (not reached)",
		"pay/pay.go:47: a is negated (not reached)",
		"pay/pay.go:47: b is negated (not reached)",
	}
	var got []string
	for _, m := range r.Survivors {
		got = append(got, m.String())
	}
	for _, m := range got {
		if !slices.Contains(want, m) {
			t.Errorf("survives, and should not: %s", m)
		}
	}
	for _, m := range want {
		if !slices.Contains(got, m) {
			t.Errorf("does not survive: %s", m)
		}
	}
	if r.Mutants < 30 || r.Killed+len(r.Survivors) != r.Mutants {
		t.Errorf("%d mutants, %d killed, %d not", r.Mutants, r.Killed, len(r.Survivors))
	}
	if files, err := filepath.Glob(filepath.Join("testdata", "module", "pay", "*")); err != nil || len(files) != 2 {
		t.Errorf("the source tree was written: %v", files)
	}
}

func TestFailingTestsAreAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "module"))); err != nil {
		t.Fatal(err)
	}
	broken := "package pay\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) { t.Error(\"broken\") }\n"
	if err := os.WriteFile(filepath.Join(dir, "pay", "broken_test.go"), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	o := shop("pay")
	o.dir = dir
	if _, err := measure(o); err == nil || !strings.Contains(err.Error(), "fail without a mutant") {
		t.Errorf("%v", err)
	}
}

func TestSampleIsEven(t *testing.T) {
	var all []mutant
	for n := range 100 {
		all = append(all, mutant{ID: n})
	}
	chosen := sample(all, 4)
	if len(chosen) != 4 || chosen[0].ID != 0 || chosen[1].ID != 25 || chosen[3].ID != 75 {
		t.Errorf("%v", chosen)
	}
	if len(sample(all, 0)) != 100 || len(sample(all, 1000)) != 100 {
		t.Error("all of them are not all")
	}
}

func TestChangedFilesRunFirst(t *testing.T) {
	var all []mutant
	for n := range 100 {
		all = append(all, mutant{ID: n, File: map[bool]string{true: "new.go", false: "old.go"}[n%10 == 3]})
	}
	chosen := choose(options{seed: 7}, all, []string{"new.go"})
	for i, m := range chosen {
		if (m.File == "new.go") != (i < 10) {
			t.Errorf("place %d has %v", i, m)
		}
	}
	ids := func(seed uint64) (ids []int) {
		for _, m := range choose(options{seed: seed, most: 20}, all, nil) {
			ids = append(ids, m.ID)
		}
		return ids
	}
	if !slices.Equal(ids(7), ids(7)) || slices.Equal(ids(7), ids(8)) || len(ids(7)) != 20 {
		t.Errorf("seed 7 gives %v, seed 8 %v", ids(7), ids(8))
	}
}
