package main

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// filled is what the templates may use.
type filled struct {
	*release
	Version, Summary, Homepage string
}

func (f filled) target(name string) (target, error) {
	system, arch, _ := strings.Cut(name, "/")
	t := target{system, arch}
	if !slices.Contains(f.targets, t) {
		return t, errAbsent
	}
	return t, nil
}

var errAbsent = errors.New("the target is not built")

// Folder is the folder in the archive of a target.
func (f filled) Folder(name string) (string, error) {
	t, err := f.target(name)
	return f.name(t), err
}

// URL is where the archive of a target is once the release is published.
func (f filled) URL(name string) (string, error) {
	t, err := f.target(name)
	return homepage + "/releases/download/" + f.tag + "/" + f.archiveName(t), err
}

// SHA256 is that of the archive of a target.
func (f filled) SHA256(name string) (string, error) {
	t, err := f.target(name)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(f.out, f.archiveName(t)))
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}

// templates writes the files for package managers. One that needs a target which is not built is
// left out, and named.
func (r *release) templates() error {
	root := filepath.Join(r.out, "packaging")
	err := fs.WalkDir(templates, "templates", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := templates.ReadFile(path)
		if err != nil {
			return err
		}
		parsed, err := template.New(path).Parse(string(text))
		if err != nil {
			return err
		}
		var b strings.Builder
		name := strings.TrimPrefix(path, "templates/")
		err = parsed.Execute(&b, filled{r, r.version, summary, homepage})
		if errors.Is(err, errAbsent) {
			r.say("left out packaging/%s: it needs more targets", name)
			return nil
		}
		if err != nil {
			return err
		}
		return write(filepath.Join(root, name), b.String(), 0o644)
	})
	return errors.Join(err, r.npmPrograms(filepath.Join(root, "npm")))
}

// npmPrograms writes a package of npm for each system, with the program and its proof.
func (r *release) npmPrograms(dir string) error {
	for _, t := range r.targets {
		if t.os == "windows" {
			continue
		}
		cpu := strings.Replace(t.arch, "amd64", "x64", 1)
		folder := filepath.Join(dir, "ralph-"+t.os+"-"+cpu)
		about, err := json.MarshalIndent(map[string]any{
			"name": "@ralph-loop/ralph-" + t.os + "-" + cpu, "version": r.version, "license": "MIT", "homepage": homepage,
			"description": "The program of @ralph-loop/ralph for " + t.String(), "os": []string{t.os}, "cpu": []string{cpu},
			"publishConfig": map[string]string{"access": "public"}, // npm takes a name with a scope for a private one
		}, "", "  ")
		if err := errors.Join(err, write(filepath.Join(folder, "package.json"), string(about)+"\n", 0o644)); err != nil {
			return err
		}
		for _, f := range append(r.programs(t)[:1:1], r.proofs()...) {
			content, err := os.ReadFile(f.source)
			if err := errors.Join(err, write(filepath.Join(folder, f.name), string(content), f.mode)); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(path, content string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // whatever the umask is
}
