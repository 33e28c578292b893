package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	proof "github.com/ralph-loop/ralph/internal/ground/release"
)

// options are those of the command line.
type options struct{ dir, out, tag, targets, key string }

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", ".", "the work tree")
	flag.StringVar(&o.out, "out", "dist", "the folder of the files; an earlier release there is replaced")
	flag.StringVar(&o.tag, "tag", "", "the version, such as v0.1.0; another name makes a snapshot (0.0.0)")
	flag.StringVar(&o.targets, "targets", strings.Join(allTargets, ","), "the systems")
	flag.StringVar(&o.key, "key", "", "the file of the private key that signs the list of the programs (PKCS #8, PEM)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release: error:", err)
		os.Exit(1)
	}
}

// release is one that is being made.
type release struct {
	dir, stage string // the work tree; a folder for what is not released as it is
	out        string
	tag        string // what the programs say
	version    string // that of packages
	epoch      time.Time
	targets    []target
	progress   io.Writer
}

var released = regexp.MustCompile(`^v(\d+\.\d+\.\d+(-(alpha|beta|rc)\.?\d+)?)$`)

// packageVersion is the version of packages: that of the tag, or one before the first release.
func packageVersion(tag string) string {
	if m := released.FindStringSubmatch(tag); m != nil {
		return m[1]
	}
	return "0.0.0"
}

func run(ctx context.Context, o options, progress io.Writer) (err error) {
	if o.tag == "" {
		return errors.New("name the version with -tag")
	}
	r := &release{tag: o.tag, version: packageVersion(o.tag), progress: progress}
	if r.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	if r.targets, err = parseTargets(o.targets); err != nil {
		return err
	}
	seconds, err := output(ctx, r.dir, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	unix, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return fmt.Errorf("read the time of the commit: %w", err)
	}
	r.epoch = time.Unix(unix, 0).UTC()
	if err := replaceable(out); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "ralph-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	r.stage, r.out = filepath.Join(scratch, "stage"), filepath.Join(scratch, "out")
	if err := errors.Join(os.Mkdir(r.stage, 0o755), os.Mkdir(r.out, 0o755)); err != nil {
		return err
	}
	if err := r.make(ctx, o.key); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.CopyFS(out, os.DirFS(r.out)); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	r.say("all files are in %s", out)
	return nil
}

// replaceable refuses a folder with anything but an earlier release, and perhaps its image.
func replaceable(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(out, checksumFile))
	for _, e := range entries {
		if name := e.Name(); err != nil || e.IsDir() != (name == "packaging") || !e.IsDir() && name != checksumFile && !strings.HasPrefix(name, "ralph") {
			return fmt.Errorf("%s has other files than those of a release, such as %s: name another folder with -out", out, name)
		}
	}
	return nil
}

func (r *release) say(format string, args ...any) {
	fmt.Fprintf(r.progress, "release: "+format+"\n", args...)
}

func (r *release) make(ctx context.Context, keyFile string) error {
	if err := r.build(ctx); err != nil {
		return err
	}
	if err := r.sign(keyFile); err != nil {
		return err
	}
	shared, err := r.shared(ctx)
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		r.say("packing %s", t)
		files := slices.Concat(r.programs(t), shared)
		if err := errors.Join(r.archive(t, files), r.packages(t, files), r.components(t)); err != nil {
			return fmt.Errorf("pack %s: %w", t, err)
		}
	}
	if err := r.templates(); err != nil {
		return err
	}
	return r.checksums()
}

// sign writes the list of all programs, and signs it where there is a key.
func (r *release) sign(keyFile string) error {
	var list bytes.Buffer
	for _, t := range r.targets {
		for _, f := range r.programs(t) {
			content, err := os.ReadFile(f.source)
			if err != nil {
				return err
			}
			fmt.Fprintf(&list, "%x  %s/%s\n", sha256.Sum256(content), r.name(t), f.name)
		}
	}
	if err := os.WriteFile(filepath.Join(r.stage, proof.ListFile), list.Bytes(), 0o644); err != nil || keyFile == "" {
		return err
	}
	text, err := os.ReadFile(keyFile)
	if err != nil {
		return fmt.Errorf("read the private key: %w", err)
	}
	key, err := proof.PrivateKey(text)
	if err != nil {
		return err
	}
	bundle, err := proof.Sign(list.Bytes(), key)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.stage, proof.BundleFile), bundle, 0o644)
}

const checksumFile = "checksums.txt"

// checksums writes the SHA-256 of all files, in the format of sha256sum.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		if e.IsDir() {
			continue // the files for package managers are no downloads
		}
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, checksumFile), sums.Bytes(), 0o644)
}

// output runs a program in a folder, and returns what it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}
