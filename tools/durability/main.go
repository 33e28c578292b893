package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// testLimit is how long the tests of one mutant may take. Each takes a second or two.
const testLimit = 3 * time.Minute

func main() {
	dir := flag.String("dir", ".", "folder of the module")
	docs := flag.Bool("docs", false, "write docs/reference/durability.md, and run nothing")
	jobs := flag.Int("j", runtime.NumCPU(), "mutants that are run at once")
	only := flag.String("only", "", "run the mutants of rows whose place this pattern matches")
	changed := flag.Bool("changed", false, "run the mutants of rows that depend on a file that standard input names, one on a line")
	flag.Parse()
	places, err := regexp.Compile(*only)
	var files []string
	if err == nil && *changed {
		files, err = readLines(os.Stdin)
	}
	survivors := 0
	if err == nil {
		survivors, err = run(*dir, func(r row, place string) bool {
			return places.MatchString(place) && (!*changed || r.dependsOn(files))
		}, *docs, *jobs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "durability: error:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		fmt.Fprintf(os.Stderr, "durability: error: %d mutants are not noticed\n", survivors)
		os.Exit(1)
	}
}

func readLines(from io.Reader) (lines []string, err error) {
	text, err := io.ReadAll(from)
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

// dependsOn reports whether one of the files is the row's, belongs to its tests, or to this tool.
func (r row) dependsOn(files []string) bool {
	return slices.ContainsFunc(files, func(file string) bool {
		return file == r.file || strings.HasPrefix(file, "tools/durability/") ||
			path.Dir(file) == r.pkg && strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, r.pkg+"/testdata/")
	})
}

func run(dir string, chosen func(row, string) bool, docs bool, jobs int) (survivors int, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return 0, err
	}
	table, err := parse(mutants)
	if err != nil {
		return 0, err
	}
	places, err := check(dir, table)
	if err != nil {
		return 0, err
	}
	page := filepath.Join(dir, "docs", "reference", "durability.md")
	if docs {
		return 0, os.WriteFile(page, document(table, places), 0o644)
	}
	if have, err := os.ReadFile(page); err != nil || !bytes.Equal(have, document(table, places)) {
		return 0, errors.Join(err, errors.New("docs/reference/durability.md is not what the table says; 'make docs' writes it"))
	}
	work, err := os.MkdirTemp("", "durability")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	var all []trial
	seen := map[string]bool{}
	for i, r := range table {
		if !chosen(r, places[i]) {
			continue
		}
		// The tests have to pass without a mutant: else their failure would prove nothing.
		if key := r.pkg + r.test; !seen[key] {
			seen[key] = true
			all = append(all, trial{row: r, place: places[i]})
		}
		for _, m := range r.mutants {
			all = append(all, trial{row: r, place: places[i], mutant: &m})
		}
	}
	began := time.Now()
	failure := runAll(dir, work, all, jobs)
	for _, t := range all {
		if t.mutant == nil || t.err != nil {
			continue
		}
		verdict := "noticed"
		if !t.failed {
			verdict = "NOT NOTICED"
			survivors++
		}
		fmt.Printf("%-11s  %-60s  %-32s  %s %s\n", verdict, t.place, t.mutant.how, t.row.pkg, t.row.test)
	}
	tried := len(all) - len(seen)
	fmt.Printf("%d of %d mutants are noticed; %s\n", tried-survivors, tried, time.Since(began).Round(time.Second))
	return survivors, failure
}

// trial is a run of a row's tests.
type trial struct {
	row    row
	place  string
	mutant *mutant // nil for the unchanged program
	failed bool
	err    error
}

func runAll(dir, work string, all []trial, jobs int) error {
	var workers sync.WaitGroup
	next := make(chan int)
	for range jobs {
		workers.Go(func() {
			for i := range next {
				t := &all[i]
				t.failed, t.err = t.try(dir, filepath.Join(work, fmt.Sprint(i)))
				if t.err == nil && t.mutant == nil && t.failed {
					t.err = errors.New("the tests fail without a mutant")
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	workers.Wait()
	var errs []error
	for _, t := range all {
		if t.err != nil {
			how := "as it is"
			if t.mutant != nil {
				how = t.mutant.how
			}
			errs = append(errs, fmt.Errorf("%s, %s (%s %s): %w", t.place, how, t.row.pkg, t.row.test, t.err))
		}
	}
	return errors.Join(errs...)
}

// try builds the tests with the mutant and runs them.
func (t *trial) try(dir, work string) (failed bool, err error) {
	if err := os.MkdirAll(filepath.Join(work, "tmp"), 0o700); err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	binary := filepath.Join(work, "tests")
	build := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}
	if t.mutant != nil {
		overlay, err := t.mutant.overlay(dir, t.row.file, work)
		if err != nil {
			return false, err
		}
		build = append(build, "-overlay", overlay)
	}
	if out, err := command(dir, work, "go", append(build, "./"+t.row.pkg)...); err != nil {
		return false, fmt.Errorf("build: %w\n%s", err, out)
	}
	pkg := filepath.Join(dir, filepath.FromSlash(t.row.pkg))
	out, err := command(pkg, work, binary, "-test.run", "^("+t.row.test+")$", "-test.failfast", "-test.v", "-test.timeout", "0")
	if !bytes.Contains(out, []byte("=== RUN")) {
		return false, fmt.Errorf("no such test (%w)\n%s", err, out)
	}
	if err != nil && !bytes.Contains(out, []byte("--- FAIL")) {
		return false, fmt.Errorf("the tests neither pass nor fail: %w\n%s", err, out)
	}
	return err != nil, nil
}

// command runs a program in a process group of its own, which is killed with it.
func command(dir, work, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), testLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(work, "tmp"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

// overlay writes the changed file and returns what lays it over the tree.
func (m *mutant) overlay(dir, file, work string) (string, error) {
	path := filepath.Join(dir, filepath.FromSlash(file))
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	for _, c := range m.changes {
		text = bytes.Replace(text, []byte(c.from), []byte(c.to), 1)
	}
	changed := filepath.Join(work, "changed.go")
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}

// document returns docs/reference/durability.md.
func document(rows []row, places []string) []byte {
	var b strings.Builder
	b.WriteString(introduction)
	under := ""
	for i, r := range rows {
		if r.under != under {
			under = r.under
			fmt.Fprintf(&b, "\n## %s\n\n| call | lost without it | mutants | test |\n|---|---|---|---|\n", under)
		}
		var how []string
		for _, m := range r.mutants {
			how = append(how, m.how)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s: `%s` |\n", places[i], r.lost, strings.Join(how, "; "), r.pkg, strings.ReplaceAll(r.test, "|", "`, `"))
	}
	b.WriteString("\n## Without a mutant\n\n| call | why |\n|---|---|\n")
	for _, e := range exempt {
		fmt.Fprintf(&b, "| %s | %s |\n", e.file, e.why)
	}
	return []byte(b.String())
}
