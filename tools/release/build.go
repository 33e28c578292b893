package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	proof "github.com/ralph-loop/ralph/internal/ground/release"
)

// target is a system that programs are built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// exe is the end of a program's name.
func (t target) exe() string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}

// allTargets are those of a release. docs/guide/platforms.md says which of them were tried.
var allTargets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

func parseTargets(list string) (targets []target, err error) {
	for _, word := range strings.Split(list, ",") {
		if !slices.Contains(allTargets, word) {
			return nil, fmt.Errorf("there is no target %q: name some of %s", word, strings.Join(allTargets, ","))
		}
		system, arch, _ := strings.Cut(word, "/")
		targets = append(targets, target{system, arch})
	}
	return targets, nil
}

// name is that of an archive without its extension, and of the folder in it.
func (r *release) name(t target) string {
	return fmt.Sprintf("ralph_%s_%s_%s", r.version, t.os, t.arch)
}

// file is one of an archive, and of packages where it has a place there.
type file struct {
	name   string // in the archive
	source string
	place  string // on a system of Linux
	mode   os.FileMode
}

// programs are the files of a target that are programs. Windows has no processes that a worker
// of a pool could run.
func (r *release) programs(t target) (files []file) {
	for _, name := range []string{"ralph", "ralph-pool"} {
		if name == "ralph-pool" && t.os == "windows" {
			continue
		}
		name += t.exe()
		files = append(files, file{name, filepath.Join(r.stage, r.name(t), name), "/usr/bin/" + name, 0o755})
	}
	return files
}

// build builds the programs. Nothing that changes them is taken from the environment.
func (r *release) build(ctx context.Context) error {
	for i, t := range r.targets {
		r.say("building %s (%d of %d)", t, i+1, len(r.targets))
		for _, f := range r.programs(t) {
			name := strings.TrimSuffix(f.name, t.exe())
			if err := r.compile(ctx, t, f.source, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) compile(ctx context.Context, t target, to, name string) error {
	dir, workspace := r.dir, "off"
	if name == "ralph-pool" { // a module that takes ralph from its own folder
		dir = filepath.Join(r.dir, "pool")
		workspace = filepath.Join(dir, "go.work")
	}
	env := []string{
		"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off",
		"GOWORK=" + workspace, "GOFLAGS=-mod=readonly", "GOTOOLCHAIN=local", "GODEBUG=",
	}
	_, err := output(ctx, dir, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w -X main.version="+r.tag, "-o", to, "./cmd/"+name)
	return err
}

// shared are the files that are the same for all targets: the manual and the completions, which
// ralph prints itself, and the proof of the programs.
func (r *release) shared(ctx context.Context) ([]file, error) {
	host := target{runtime.GOOS, runtime.GOARCH}
	program := filepath.Join(r.stage, r.name(host), "ralph"+host.exe())
	if !slices.Contains(r.targets, host) {
		if err := r.compile(ctx, host, program, "ralph"); err != nil {
			return nil, err
		}
	}
	home := filepath.Join(r.stage, "home")
	env := []string{"HOME=" + home, "RALPH_HOME=" + home, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.epoch.Unix())}
	pages := filepath.Join(r.stage, "man")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	if _, err := output(ctx, home, env, program, "man", "--dir", pages); err != nil {
		return nil, err
	}
	files := []file{
		{"LICENSE", filepath.Join(r.dir, "LICENSE"), "/usr/share/doc/ralph/copyright", 0o644},
		{"README.md", filepath.Join(r.dir, "README.md"), "/usr/share/doc/ralph/README.md", 0o644},
		{"CHANGELOG.md", filepath.Join(r.dir, "CHANGELOG.md"), "/usr/share/doc/ralph/CHANGELOG.md", 0o644},
	}
	files = append(files, r.proofs()...)
	for shell, place := range map[string]string{
		"bash": "/usr/share/bash-completion/completions/ralph",
		"zsh":  "/usr/share/zsh/site-functions/_ralph",
		"fish": "/usr/share/fish/vendor_completions.d/ralph.fish",
	} {
		script, err := output(ctx, home, env, program, "completion", shell)
		source := filepath.Join(r.stage, shell)
		if err := errors.Join(err, os.WriteFile(source, []byte(script), 0o644)); err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + filepath.Base(place), source, place, 0o644})
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		files = append(files, file{"man/" + e.Name(), filepath.Join(pages, e.Name()), "/usr/share/man/man1/" + e.Name(), 0o644})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// proofs are the list of all programs, and its signature where there is a key.
func (r *release) proofs() (files []file) {
	for _, name := range []string{proof.ListFile, proof.BundleFile} {
		source := filepath.Join(r.stage, name)
		if _, err := os.Stat(source); err == nil {
			files = append(files, file{name, source, "/usr/share/ralph/" + name, 0o644})
		}
	}
	return files
}
