package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blakesmith/ar"

	proof "github.com/ralph-loop/ralph/internal/ground/release"
)

// made is a release of this system, signed with a made-up key.
type made struct{ out, folder, public string }

func makeRelease(t *testing.T) made {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err1 := x509.MarshalPKCS8PrivateKey(key)
	public, err2 := x509.MarshalPKIXPublicKey(&key.PublicKey)
	m := made{filepath.Join(dir, "dist"), fmt.Sprintf("ralph_1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH), filepath.Join(dir, "public.pem")}
	keyFile := filepath.Join(dir, "key.pem")
	err = errors.Join(err1, err2, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
		os.WriteFile(m.public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	o := options{dir: "../..", out: m.out, tag: "v1.2.3", targets: runtime.GOOS + "/" + runtime.GOARCH, key: keyFile}
	if err := run(t.Context(), o, t.Output()); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRelease(t *testing.T) {
	m := makeRelease(t)
	t.Run("each file has its checksum", func(t *testing.T) {
		sums := string(read(t, filepath.Join(m.out, checksumFile)))
		entries, err := os.ReadDir(m.out)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() || e.Name() == checksumFile {
				continue
			}
			if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(read(t, filepath.Join(m.out, e.Name()))), e.Name()); !strings.Contains(sums, line) {
				t.Errorf("%s lacks %s", checksumFile, line)
			}
		}
		if want := map[string]int{"linux": 5, "darwin": 2}[runtime.GOOS]; strings.Count(sums, "\n") != want {
			t.Errorf("want %d files:\n%s", want, sums)
		}
	})
	t.Run("the archive proves its programs", m.archiveProves)
	t.Run("packages have what the archive has", m.packagesAgree)
	t.Run("the workflow unpacks the archive", m.workflowUnpacks)
	t.Run("the list of components has what is linked", func(t *testing.T) {
		var list struct {
			Components []struct{ Name, Version string }
		}
		if err := json.Unmarshal(read(t, filepath.Join(m.out, m.folder+".cdx.json")), &list); err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for _, c := range list.Components {
			names[c.Name] = c.Version
		}
		for _, want := range []string{"std", "github.com/alecthomas/kong", "github.com/nats-io/nats.go", "ralph", "ralph-pool"} {
			if names[want] == "" {
				t.Errorf("%s is not in the list, or has no version", want)
			}
		}
	})
	t.Run("an earlier release is replaced, other files are not", func(t *testing.T) {
		if err := replaceable(m.out); err != nil {
			t.Error(err)
		}
		other := t.TempDir()
		for _, name := range []string{"ralph", "thesis.txt", checksumFile} { // with the checksums of a download it is no release either
			if err := os.WriteFile(filepath.Join(other, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := replaceable(other); err == nil || !strings.Contains(err.Error(), "-out") {
				t.Errorf("got %v", err)
			}
		}
	})
}

// archiveProves unpacks the archive, and lets the program verify itself as a person would.
func (m made) archiveProves(t *testing.T) {
	dir := t.TempDir()
	for name, content := range untar(t, read(t, filepath.Join(m.out, m.folder+".tar.gz"))) {
		if err := write(filepath.Join(dir, name), string(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(dir, m.folder)
	for _, program := range []string{"ralph", "ralph-pool"} {
		out, err := exec.Command(filepath.Join(folder, "ralph"), "version", "--verify", "--json", "--key", m.public, "--program", filepath.Join(folder, program)).Output()
		var p proof.Proof
		if err := errors.Join(err, json.Unmarshal(out, &p)); err != nil || p.Name != m.folder+"/"+program {
			t.Errorf("verify %s: %v %s", program, err, out)
		}
	}
	out, err := exec.Command(filepath.Join(folder, "ralph"), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "ralph v1.2.3 ") {
		t.Errorf("ralph version: %v %s", err, out)
	}
	// One byte more, and it is not the program of the release.
	altered := filepath.Join(folder, "ralph-pool")
	if err := os.WriteFile(altered, append(read(t, altered), 0), 0o755); err != nil {
		t.Fatal(err)
	}
	verify := exec.Command(filepath.Join(folder, "ralph"), "version", "--verify", "--key", m.public, "--program", altered)
	said, err := verify.CombinedOutput()
	if verify.ProcessState.ExitCode() != 3 || !strings.Contains(string(said), "no program of the release") {
		t.Errorf("an altered program: %v %s", err, said)
	}
}

// runStep runs a step of the workflow as a runner does, without GitHub: gh is a script.
func runStep(t *testing.T, dir, name, gh string, env ...string) (string, error) {
	t.Helper()
	_, rest, found := strings.Cut(string(read(t, "../../.github/workflows/release.yml")), "- name: "+name+"\n")
	rest, _, ended := strings.Cut(rest, "\n      - ")
	_, script, runs := strings.Cut(rest, "run: |\n")
	if !found || !ended || !runs {
		t.Fatalf("the workflow has no step %s", name)
	}
	if err := write(filepath.Join(dir, "bin", "gh"), "#!/bin/sh\n"+gh, 0o755); err != nil {
		t.Fatal(err)
	}
	step := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	step.Dir, step.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	step.Env = append(step.Env, env...)
	said, err := step.CombinedOutput()
	return string(said), err
}

func (m made) workflowUnpacks(t *testing.T) {
	dir := t.TempDir()
	gh := "cp '" + m.out + "'/ralph_*.tar.gz '" + m.out + "'/checksums.txt .\n"
	said, err := runStep(t, dir, "Unpack", gh, "TAG=v1.2.3", "TARGET="+runtime.GOOS+"_"+runtime.GOARCH)
	if err != nil || len(read(t, filepath.Join(dir, m.folder, "ralph"))) == 0 {
		t.Errorf("%v %s", err, said)
	}
}

// A run that failed can be run again; what is published stays, and a tag has to be a version.
func TestWorkflowReplacesDrafts(t *testing.T) {
	for _, test := range []struct {
		tag, releases, deleted, says string
	}{
		{"v0.1.0", "", "", ""},
		{"v0.1.0-rc.1", "7 true\n8 true", "7 8", ""},
		{"v0.1.0", "7 true\n8 false", "7", "v0.1.0 is published"},
		{"v0.1.0-next", "7 true", "", "no version"},
		{"vendor", "", "", "no version"},
	} {
		gh := "case \"$2 $3\" in\n'--method DELETE') printf '%s ' \"${4##*/}\" >>deleted ;;\n*) printf '%s\\n' '" + test.releases + "' ;;\nesac\n"
		dir := t.TempDir()
		said, err := runStep(t, dir, "Remove an earlier draft", gh, "TAG="+test.tag, "GITHUB_REPOSITORY=ralph-loop/ralph")
		deleted, _ := os.ReadFile(filepath.Join(dir, "deleted"))
		if (err != nil) != (test.says != "") || !strings.Contains(said, test.says) || strings.TrimSpace(string(deleted)) != test.deleted {
			t.Errorf("%+v: %v, deleted %q: %s", test, err, deleted, said)
		}
	}
}

func (m made) packagesAgree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are packages for Linux only")
	}
	archive := untar(t, read(t, filepath.Join(m.out, m.folder+".tar.gz")))
	program := archive[m.folder+"/ralph"]
	apk := m.installApk(t)
	var deb map[string][]byte
	parts := ar.NewReader(bytes.NewReader(only(t, m.out, "*.deb")))
	for {
		header, err := parts.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(header.Name, "data.tar.gz") {
			content, err := io.ReadAll(parts)
			if err != nil {
				t.Fatal(err)
			}
			deb = untar(t, content)
		}
	}
	for format, files := range map[string]map[string][]byte{"deb": deb, "apk": apk} {
		installed := 0
		for name := range files {
			if strings.HasPrefix(strings.TrimPrefix(name, "./"), "usr/") {
				installed++
			}
		}
		if installed != len(archive) {
			t.Errorf("the %s has %d files, the archive %d", format, installed, len(archive))
		}
		found := slices.ContainsFunc([]string{"usr/bin/ralph", "./usr/bin/ralph"}, func(name string) bool { return bytes.Equal(files[name], program) })
		if !found || len(program) == 0 {
			t.Errorf("the %s has another program than the archive", format)
		}
	}
	if rpm := only(t, m.out, "*.rpm"); !bytes.HasPrefix(rpm, []byte{0xed, 0xab, 0xee, 0xdb}) || len(rpm) < len(only(t, m.out, "*.deb"))/2 {
		t.Error("the rpm is none, or lacks the programs")
	}
}

// installApk installs the apk into a folder, lets its program verify itself there, and returns the
// files that the database of packages has.
func (m made) installApk(t *testing.T) map[string][]byte {
	t.Helper()
	path, root := onlyPath(t, m.out, "*.apk"), t.TempDir()
	if said, err := exec.CommandContext(t.Context(), "go", "run", "./apk", root, path).CombinedOutput(); err != nil {
		t.Fatalf("install the apk: %v %s", err, said)
	}
	verify := exec.CommandContext(t.Context(), filepath.Join(root, "usr", "bin", "ralph"), "version", "--verify", "--key", m.public)
	if said, err := verify.CombinedOutput(); err != nil {
		t.Errorf("the program of the apk: %v %s", err, said)
	}
	// The package manager of Alpine compares what is installed with the first part of the package.
	content := read(t, path)
	rest := bytes.NewReader(content)
	first, err := gzip.NewReader(rest)
	if err != nil {
		t.Fatal(err)
	}
	first.Multistream(false)
	about, err := io.ReadAll(first)
	if want := fmt.Sprintf("\ndatahash = %x\n", sha256.Sum256(content[len(content)-rest.Len():])); err != nil || !bytes.Contains(about, []byte(want)) {
		t.Errorf("the apk lacks %q: %v", want, err)
	}
	files, folder := map[string][]byte{}, ""
	for line := range strings.Lines(string(read(t, filepath.Join(root, "lib/apk/db/installed")))) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ":"); key {
		case "F":
			folder = value
		case "R":
			files[folder+"/"+value] = read(t, filepath.Join(root, folder, value))
		}
	}
	return files
}

// The files for package managers name the archives of all targets, with their checksums.
func TestPackagingIsFilled(t *testing.T) {
	r := &release{tag: "v1.2.3", version: "1.2.3", stage: t.TempDir(), out: t.TempDir(), epoch: time.Unix(1, 0), progress: t.Output()}
	var err error
	if r.targets, err = parseTargets(strings.Join(allTargets, ",")); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, target := range r.targets {
		err = errors.Join(err, write(filepath.Join(r.out, r.archiveName(target)), target.String(), 0o644))
		for _, f := range r.programs(target) {
			err = errors.Join(err, write(f.source, target.String(), 0o755))
		}
	}
	if err := errors.Join(err, r.templates()); err != nil {
		t.Fatal(err)
	}
	filled := 0
	err = filepath.WalkDir(filepath.Join(r.out, "packaging"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			filled++
			all.Write(read(t, path))
		}
		if entry != nil && entry.Name() == "package.json" {
			var about struct {
				Files         []string
				Bin           map[string]string
				PublishConfig struct{ Access string }
			}
			err = errors.Join(err, json.Unmarshal(read(t, path), &about))
			if about.PublishConfig.Access != "public" || len(about.Bin) > 0 && !slices.Equal(about.Files, []string{"ralph.js"}) {
				t.Errorf("%s: npm takes it for private, or packs the programs of all systems into one: %+v", path, about)
			}
		}
		return err
	})
	if err != nil || filled != 7+2*4 {
		t.Errorf("%d files, %v", filled, err)
	}
	for _, target := range r.targets {
		for _, want := range []string{"/releases/download/v1.2.3/" + r.archiveName(target), fmt.Sprintf("%x", sha256.Sum256([]byte(target.String())))} {
			if !strings.Contains(all.String(), want) {
				t.Errorf("no file for a package manager has %s", want)
			}
		}
	}
	if strings.Contains(all.String(), "{{") {
		t.Error("something is not filled")
	}
}

func TestVersionOfPackages(t *testing.T) {
	for tag, want := range map[string]string{"v0.1.0": "0.1.0", "v1.0.0-rc.1": "1.0.0-rc.1", "v0.1.0-3-gabcdef0": "0.0.0", "abcdef0-dirty": "0.0.0"} {
		if got := packageVersion(tag); got != want {
			t.Errorf("packageVersion(%s) = %s, want %s", tag, got, want)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// only reads the only file of a pattern.
func only(t *testing.T, dir, pattern string) []byte {
	t.Helper()
	return read(t, onlyPath(t, dir, pattern))
}

func onlyPath(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("files of %s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// untar reads the files of a tar.gz.
func untar(t *testing.T, packed []byte) map[string][]byte {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

// What a release is built with does not change under it: each action is named by its commit.
func TestWorkflowPinsItsActions(t *testing.T) {
	uses, workflow := 0, string(read(t, "../../.github/workflows/release.yml"))
	for line := range strings.Lines(workflow) {
		if _, action, ok := strings.Cut(line, "uses: "); ok {
			uses++
			if !regexp.MustCompile(`^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n$`).MatchString(action) {
				t.Errorf("not named by its commit, with its version as a comment: %s", action)
			}
		}
	}
	if uses < 4 {
		t.Errorf("the workflow uses %d actions", uses)
	}
	if version := regexp.MustCompile(`\ngo (1\.\d+)\.`).FindSubmatch(read(t, "../../go.mod")); !strings.Contains(workflow, "go-version: "+string(version[1])+".x ") {
		t.Errorf("the workflow takes another Go than %s of go.mod", version[1])
	}
}
