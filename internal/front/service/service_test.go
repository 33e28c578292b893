package service

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// env returns the environment of a person on a system.
func env(t *testing.T, goos string) (e *cli.Env, out, errs *bytes.Buffer) {
	t.Helper()
	before := Platform
	Platform = goos
	t.Cleanup(func() { Platform = before })
	home := t.TempDir()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &cli.Env{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: errs, Home: filepath.Join(home, "ralph's 100% home"), Cwd: home, Now: time.Now,
		Environ: []string{"HOME=" + home, "USER=nobody-here", "PATH=/usr/bin:/opt/my tools/$x/bin"},
	}, out, errs
}

func status(t *testing.T, e *cli.Env, out *bytes.Buffer) (r Report) {
	t.Helper()
	out.Reset()
	if err := Status(e, true); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestServiceComesAndGoes installs, updates, keeps what a person changed, and removes.
func TestServiceComesAndGoes(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		t.Run(goos, func(t *testing.T) {
			e, out, errs := env(t, goos)
			if r := status(t, e, out); r.State != Absent || r.Enabled {
				t.Errorf("at first it is %+v", r)
			}
			if err := Install(e, false); err != nil {
				t.Fatal(err)
			}
			if linger := strings.Contains(errs.String(), "loginctl enable-linger"); linger != (goos == "linux") {
				t.Errorf("it says %s", errs)
			}
			r := status(t, e, out)
			if r.State != Current || !r.Enabled {
				t.Errorf("installed, it is %+v", r)
			}
			e.Environ = append(e.Environ, "PATH=/bin")
			if r := status(t, e, out); r.State != outdated {
				t.Errorf("with another PATH it is %s", r.State)
			}
			if err := Install(e, false); err != nil || status(t, e, out).State != Current {
				t.Errorf("it is not updated: %v", err)
			}
			text, err := os.ReadFile(r.File)
			if err == nil {
				err = os.WriteFile(r.File, bytes.Replace(text, []byte("resume"), []byte("resume --dry-run"), 1), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, do := range []func(*cli.Env, bool) error{Install, Uninstall} {
				if err := do(e, false); err == nil || !strings.Contains(err.Error(), "was changed by hand") {
					t.Errorf("a changed file: %v", err)
				}
			}
			if err := Install(e, true); err != nil {
				t.Fatal(err)
			}
			if err := Uninstall(e, false); err != nil {
				t.Fatal(err)
			}
			if r := status(t, e, out); r.State != Absent || r.Enabled {
				t.Errorf("removed, it is %+v", r)
			}
			if err := Uninstall(e, false); err == nil {
				t.Error("it was removed twice")
			}
		})
	}
	e, _, _ := env(t, "plan9")
	if err := Install(e, false); err == nil || !strings.Contains(err.Error(), "no service for plan9") {
		t.Errorf("another system: %v", err)
	}
}

// TestSystemdReadsUnit asks systemd itself about the unit.
func TestSystemdReadsUnit(t *testing.T) {
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	e, out, _ := env(t, "linux")
	if err := os.MkdirAll(e.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Install(e, false); err != nil {
		t.Fatal(err)
	}
	file := status(t, e, out).File
	said, err := exec.Command(program, "verify", "--man=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(said), systemdName) {
		t.Errorf("systemd-analyze: %v\n%s", err, said)
	}
	// It notices a mistake.
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(text, []byte("KillMode=process"), []byte("KillMode=proces"), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, _ := exec.Command(program, "verify", "--man=no", file).CombinedOutput(); !strings.Contains(string(said), "proces") {
		t.Errorf("it does not notice a wrong value: %s", said)
	}
}

// TestLaunchdFileIsXML reads the file as XML, with a path that has to be escaped.
func TestLaunchdFileIsXML(t *testing.T) {
	text := launchdText("/opt/a & b/ralph", "/home/<me>", "/bin", launchdName, "", "service", "resume")
	var words []string
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if word, ok := token.(xml.CharData); ok && strings.TrimSpace(string(word)) != "" {
			words = append(words, strings.TrimSpace(string(word)))
		}
	}
	got := strings.Join(words, "|")
	want := "Label|io.github.ralph-loop.resume|ProgramArguments|/opt/a & b/ralph|service|resume|EnvironmentVariables|PATH|/bin|RALPH_HOME|/home/<me>|RunAtLoad|AbandonProcessGroup"
	if got != want {
		t.Errorf("it has %s\nwant %s", got, want)
	}
}

// TestTriesAreCounted shows that a loop is tried again until it has failed twice, and that a
// success counts from the beginning.
func TestTriesAreCounted(t *testing.T) {
	home := t.TempDir()
	for i, failed := range []bool{true, true, false, true} {
		if err := countTry(home, "A", failed); err != nil {
			t.Fatal(err)
		}
		tries, err := readTries(home)
		if want := []int{1, 2, 0, 1}[i]; err != nil || tries["A"] != want {
			t.Errorf("after %d it is %d, %v; want %d", i+1, tries["A"], err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(home, triesName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readTries(home); err == nil {
		t.Error("a damaged file is read")
	}
}
