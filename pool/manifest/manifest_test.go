package manifest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/pool/connect"
	"github.com/ralph-loop/ralph/pool/manifest"
	"github.com/ralph-loop/ralph/pool/trust"
)

const id = "01JZ8V5C3M9Q2W4X6Y8Z0A1B2C"

func TestManifests(t *testing.T) {
	for name, o := range map[string]manifest.Options{
		"job":     {Loop: strings.ToLower(id), Image: "ralph:1", Labels: []string{"true"}},
		"workers": {Workers: 3, Slots: 4, Image: "registry.example.com/ralph@sha256:00", Namespace: "007", Labels: []string{"gpu", "on"}},
	} {
		objects, err := manifest.Make(o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := manifest.YAML(objects)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", name+".yaml"), text)
	}
}

func TestHostileNamesAreRefused(t *testing.T) {
	good := manifest.Options{Workers: 1, Slots: 1, Image: "ralph:1"}
	if _, err := manifest.Make(good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*manifest.Options){
		"image":            func(o *manifest.Options) { o.Image = "a\nkind: Pod" },
		"name of an image": func(o *manifest.Options) { o.Image = "" },
		"namespace":        func(o *manifest.Options) { o.Namespace = "a\n---\n" },
		"name of a name":   func(o *manifest.Options) { o.Namespace = "-a" },
		"label":            func(o *manifest.Options) { o.Labels = []string{"--drain"} },
		"name of label":    func(o *manifest.Options) { o.Labels = []string{"$(HOME)"} },
		"ID of a loop":     func(o *manifest.Options) { o.Loop = id[:25] + "\n" },
		"no ID":            func(o *manifest.Options) { o.Loop = "--drain" },
		"at least one":     func(o *manifest.Options) { o.Workers = 0 },
		"one loop of each": func(o *manifest.Options) { o.Slots = -1 },
	} {
		o := good
		change(&o)
		if _, err := manifest.Make(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

// A value that no check has seen stays a value.
func TestYAMLQuotes(t *testing.T) {
	for _, hostile := range []string{"a\nkind: Secret", "yes", "1e3", "a: b # c", "---", "*a", "\t", "\x00", "{{ x }}", "\u2028b"} {
		text, err := manifest.YAML([]manifest.Object{{"value": hostile}})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := yaml.Unmarshal(text, &back); err != nil || len(back) != 1 || back["value"] != hostile {
			t.Errorf("%q is read as %v (%v) from %s", hostile, back, err, text)
		}
	}
}

// The script of a pod, with a ralph-pool that notes how it is called.
func TestPodEndsInOrder(t *testing.T) {
	for name, test := range map[string]struct {
		worker, want string
		code         int
	}{
		"the loop's code": {"exit 4", "mirror | worker --loop L | mirror ended | mirror --once", 4},
		"asked to end": {
			`trap 'exit 0' TERM; kill "$PPID"; while :; do sleep 0.1; done`,
			"mirror | worker --loop L | worker --drain | mirror ended | mirror --once", 143,
		},
		"a mirror that was killed": {
			`read pid < "$NOTES.pid"; kill -9 "$pid"; while ! grep -q mirror.*mirror "$NOTES"; do sleep 0.1; done; exit 0`,
			"mirror | worker --loop L | mirror | mirror ended | mirror --once", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			notes := filepath.Join(folder, "notes")
			fake := `#!/bin/sh
case "$*" in
mirror) trap 'printf "mirror ended | " >> "$NOTES"; exit 0' TERM
	printf 'mirror | ' >> "$NOTES"; echo $$ > "$NOTES.new"; mv "$NOTES.new" "$NOTES.pid"
	while :; do sleep 0.1; done ;;
"worker --loop L") while [ ! -e "$NOTES.pid" ]; do sleep 0.1; done; printf 'worker --loop L | ' >> "$NOTES"; ` + test.worker + ` ;;
"worker --drain") printf 'worker --drain | ' >> "$NOTES" ;;
*) printf '%s' "$*" >> "$NOTES" ;;
esac
`
			if err := os.WriteFile(filepath.Join(folder, "ralph-pool"), []byte(fake), 0o755); err != nil {
				t.Fatal(err)
			}
			command := exec.Command("/bin/sh", "pod.sh", "--loop", "L")
			command.Env = []string{
				"PATH=" + folder + ":" + os.Getenv("PATH"), "NOTES=" + notes, "HOME=" + folder, "RALPH_HOME=" + filepath.Join(folder, "ralph"),
				"RALPH_POD_DRAIN=60", "RALPH_POD_LAST=60", "RALPH_POD_POOL=" + folder,
			}
			out, _ := command.CombinedOutput()
			got, err := os.ReadFile(notes)
			if err != nil || string(got) != test.want || command.ProcessState.ExitCode() != test.code {
				t.Errorf("%q and code %d (%v), want %q and %d:\n%s", got, command.ProcessState.ExitCode(), err, test.want, test.code, out)
			}
		})
	}
}

// A Secret is mounted as links to files that only its group can read. A container may start twice.
func TestPodReadsItsSecret(t *testing.T) {
	folder, home := t.TempDir(), filepath.Join(t.TempDir(), "ralph")
	secret := filepath.Join(folder, "secret")
	err := errors.Join(os.MkdirAll(filepath.Join(secret, "..1"), 0o755), os.Symlink("..1", filepath.Join(secret, "..data")))
	for file, text := range map[string]string{"pool.json": `{"url":"dir:///pool","host":"mill"}`, "pool.trust": strings.Repeat("0a", 32) + " ada\n"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(secret, "..1", file), []byte(text), 0o440),
			os.Symlink("..data/"+file, filepath.Join(secret, file)))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(folder, "ralph-pool"), []byte("#!/bin/sh\n"), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		command := exec.Command("/bin/sh", "pod.sh")
		command.Env = []string{
			"PATH=" + folder + ":" + os.Getenv("PATH"), "HOME=" + folder, "RALPH_HOME=" + home, "RALPH_POD_LAST=60", "RALPH_POD_POOL=" + secret,
		}
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if p, err := connect.Load(home); err != nil || p.URL != "dir:///pool" {
			t.Errorf("%+v, %v", p, err)
		}
		if keys, err := trust.Trusted(home); err != nil || len(keys) != 1 {
			t.Errorf("%v, %v", keys, err)
		}
	}
}
