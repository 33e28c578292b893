package moving

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/trust"
	_ "github.com/ralph-loop/ralph/internal/testkit/testgit"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A stranger's file is written here in the format of an export, with what an export never writes.
type stranger struct {
	links map[string]string // in the repository
	files map[string]string // in the repository
	alter func(*Manifest)
	empty bool // a repository without a file
}

// An entry is a file of an archive; size is more than its text for one that ends in zeros.
type entry struct {
	name string
	text string
	size int64
}

const settings = `{"agent":"./evil.sh","agents":{"evil":{"protocol":"text"}}}`

// write writes the file, and returns its path.
func (s stranger) write(t *testing.T) string {
	t.Helper()
	source, dir := t.TempDir(), t.TempDir()
	if !s.empty {
		write(t, filepath.Join(source, "README"), "hello")
	}
	for name, text := range s.files {
		write(t, filepath.Join(source, name), text)
	}
	for name, to := range s.links {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(source, name)), 0o700), os.Symlink(to, filepath.Join(source, name))); err != nil {
			t.Fatal(err)
		}
	}
	git(t, source, "init", "-q", "-b", "main")
	git(t, source, "add", "-f", ".")
	git(t, source, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one")
	m := manifest()
	bundle := filepath.Join(dir, "bundle")
	git(t, source, "update-ref", keep.MovedRef(m.ID), "HEAD")
	git(t, source, "bundle", "create", "--quiet", bundle, "HEAD", "main", keep.MovedRef(m.ID))
	head := git(t, source, "rev-parse", "HEAD")
	m.Repo = &Repo{Branch: "main", Head: head, Tree: head}
	if s.alter != nil {
		s.alter(&m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	entries := append([]entry{
		{name: manifestName, text: string(text)}, {name: bundleName, text: read(t, bundle)}, {name: settingsName, text: settings},
	}, loopFiles(t, m)...)
	file := filepath.Join(dir, "evil.ralph")
	write(t, file, string(archived(t, entries...)))
	return file
}

// loopFiles are those of a loop that began.
func loopFiles(t *testing.T, m Manifest) (entries []entry) {
	t.Helper()
	dir := t.TempDir()
	w, _, err := journal.Create(dir, journal.Recovery{NextSeq: 1}, 1, nil, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Append([]event.Draft{event.Encode(event.LoopStarted{Name: m.Name, ID: m.ID, Dir: "/home/other/.ralph/demo", Project: "/home/other"}, "loop")})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range listed(t, filepath.Join(dir, "journal")) {
		entries = append(entries, entry{name: loopPrefix + "journal/" + name, text: read(t, filepath.Join(dir, "journal", name))})
	}
	return entries
}

func archived(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var to bytes.Buffer
	z, err := zstd.NewWriter(&to)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, f := range entries {
		size := max(f.size, int64(len(f.text)))
		err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o600, Size: size})
		if err == nil {
			_, err = io.Copy(w, io.MultiReader(strings.NewReader(f.text), io.LimitReader(zeros{}, size-int64(len(f.text)))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// listed returns what is below a folder, without what is git's.
func listed(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(folder, path); err == nil && name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		if d != nil && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// victim is a person with a home and settings of their own.
func victim(t *testing.T) (e *cli.Env, home string, said *bytes.Buffer) {
	t.Helper()
	home, said = cli.WithoutLinks(t.TempDir()), &bytes.Buffer{}
	if err := os.Mkdir(filepath.Join(home, ".ralph"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &cli.Env{Home: filepath.Join(home, ".ralph"), Cwd: home, Stderr: said, Now: time.Now}, home, said
}

// TestImportFollowsNoLink imports files whose repository has links, and others that make a place of
// what is none. Nothing of them is anywhere afterwards.
func TestImportFollowsNoLink(t *testing.T) {
	inside := func(name string) func(*Manifest) { return func(m *Manifest) { m.Inside = name } }
	for name, c := range map[string]struct {
		stranger
		want string
	}{
		"the project is a link out":      {stranger{links: map[string]string{"a": ".."}, alter: inside("a")}, "a is a symbolic link"},
		"the way to it is a link out":    {stranger{links: map[string]string{"a": ".."}, alter: inside("a/b")}, "a is a symbolic link"},
		"the project is a link within":   {stranger{links: map[string]string{"a": "b"}, files: map[string]string{"b/x": ""}, alter: inside("a")}, "a is a symbolic link"},
		"its folder is a link out":       {stranger{links: map[string]string{".ralph": "../.ralph"}}, ".ralph is a symbolic link"},
		"its folder is a link within":    {stranger{links: map[string]string{"b/.ralph": ".."}, alter: inside("b")}, "b/.ralph is a symbolic link"},
		"its folder is a file":           {stranger{files: map[string]string{".ralph": ""}}, ".ralph is not a folder"},
		"the loop's folder is committed": {stranger{files: map[string]string{".ralph/demo/task.md": ""}}, `there is a loop "demo"`},
		"the loop's folder is a link":    {stranger{links: map[string]string{".ralph/demo": "../.."}}, `there is a loop "demo"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time passes in git
			e, home, _ := victim(t)
			_, err := Import(t.Context(), e, c.write(t), "new/proj", false, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
			if got := listed(t, home); !slices.Equal(got, []string{".ralph"}) {
				t.Errorf("there is %v", got)
			}
		})
	}
}

// TestImportLeavesLinkedSettings shows that settings in the repository count, also as a link, and
// that the link is not followed.
func TestImportLeavesLinkedSettings(t *testing.T) {
	e, home, _ := victim(t)
	file := stranger{links: map[string]string{".ralph/settings.json": "../../.ralph/settings.json", ".ralph/.gitignore": "../../x"}}.write(t)
	if _, err := Import(t.Context(), e, file, "proj", false, nil); err != nil {
		t.Fatal(err)
	}
	if cli.Exists(filepath.Join(home, cli.SettingsName)) || cli.Exists(filepath.Join(home, "x")) {
		t.Errorf("there is %v", listed(t, home))
	}
}

// TestImportLeavesOwnSettings shows that no settings of a stranger become a person's own, which
// need no trust.
func TestImportLeavesOwnSettings(t *testing.T) {
	file := stranger{}.write(t)
	e, home, said := victim(t)
	git(t, home, "init", "-q")
	if _, err := Import(t.Context(), e, file, "", false, nil); err != nil {
		t.Fatal(err)
	}
	if cli.Exists(filepath.Join(home, cli.SettingsName)) || !strings.Contains(said.String(), "would be your own") {
		t.Errorf("it said %q, and there is %v", said, listed(t, home))
	}
	if !cli.Exists(filepath.Join(home, ".ralph", "demo", "journal")) {
		t.Error("the loop was not imported")
	}
	e.Home = filepath.Join(home, "new", ".ralph") // which is made later
	if _, err := Import(t.Context(), e, file, "new", false, nil); err == nil || !strings.Contains(err.Error(), "its settings are your own") {
		t.Errorf("into the folder around ralph's home: %v", err)
	}
	if cli.Exists(filepath.Join(home, "new")) {
		t.Error("the refused folder is there")
	}
	if err := os.Mkdir(filepath.Join(home, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), e, file, "new", false, nil); err == nil || !cli.Exists(filepath.Join(home, "new")) {
		t.Errorf("an empty folder of the person is gone: %v", err)
	}
}

// TestImportForgetsTrust shows that trust in what was at a place is none in what comes there.
func TestImportForgetsTrust(t *testing.T) {
	e, home, _ := victim(t)
	project := filepath.Join(home, "proj")
	err := errors.Join(
		trust.Put(e.Home, trust.Record{Project: project, Fingerprint: "abc"}),
		registry.Put(e.Home, registry.Entry{Name: "demo", ID: loopID, Project: project, Dir: filepath.Join(project, ".ralph", "demo")}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), e, stranger{}.write(t), "proj", false, nil); err != nil {
		t.Fatal(err)
	}
	if read(t, filepath.Join(project, cli.SettingsName)) != settings {
		t.Error("the project has no settings")
	}
	if _, err := trust.Get(e.Home, project); !errors.Is(err, trust.ErrNotTrusted) {
		t.Errorf("they are trusted: %v", err)
	}
	if known, err := registry.Survey(e.Home, nil); err != nil || len(known) != 0 {
		t.Errorf("known are %v %v; want none", known, err)
	}
}

// TestImportTakesWhatExportWrites imports files with more than that, and with too much of it.
func TestImportTakesWhatExportWrites(t *testing.T) {
	for name, c := range map[string]struct {
		more []entry
		want string
	}{
		"the worktree's description": {[]entry{{name: "loop/worktree.json", text: `{"inside":".."}`}}, `it has "loop/worktree.json", which no export writes`},
		"a lock":                     {[]entry{{name: "loop/run.lock"}}, "loop/run.lock"},
		"the fence":                  {[]entry{{name: "loop/moved.json"}}, "loop/moved.json"},
		"git's folder":               {[]entry{{name: "loop/.git/config"}}, "loop/.git/config"},
		"a command":                  {[]entry{{name: "loop/inbox/01M8BNGX9EWD5NWXM83V7K72KS.json"}}, "loop/inbox/"},
		"caches of a sandbox":        {[]entry{{name: "loop/sandbox/x"}}, "loop/sandbox/x"},
		"another's file":             {[]entry{{name: "loop/notes.md"}}, "loop/notes.md"},
		"a path that is no name":     {[]entry{{name: "loop/journal/../task.md"}}, "loop/journal/.."},
		"another spelling":           {[]entry{{name: "loop//task.md"}}, "loop//task.md"},
		"a file twice":               {[]entry{{name: "loop/DONE"}, {name: "loop/DONE"}}, "exists"},
		"many zeros": {
			[]entry{{name: "loop/task.md", size: 1 << 30}},
			"unpack to more than 64.0 MB: the limits are 1000000 files, 64.0 GB, and 200 times its own size if that is more than 64.0 MB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			entries := append([]entry{{name: manifestName, text: fmt.Sprintf(`{"format":1,"name":"demo","id":%q,"inside":"."}`, loopID)}}, c.more...)
			file := filepath.Join(t.TempDir(), "evil.ralph")
			write(t, file, string(archived(t, entries...)))
			e, home, _ := victim(t)
			_, err := Import(t.Context(), e, file, "proj", false, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
			if got := listed(t, home); !slices.Equal(got, []string{".ralph"}) {
				t.Errorf("there is %v", got)
			}
		})
	}
}

// TestImportReadsToTheEnd imports a file that goes on after the end of its archive, and one whose
// checksum, at its end, is that of other files.
func TestImportReadsToTheEnd(t *testing.T) {
	whole := []byte(read(t, stranger{}.write(t)))
	empty, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(whole)
	other[len(other)-1] ^= 1
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"as exported":      {whole, ""},
		"another archive":  {slices.Concat(whole, empty.EncodeAll([]byte("more"), nil)), "it has more after its last file"},
		"other bytes":      {slices.Concat(whole, []byte("more")), "magic number mismatch"},
		"another checksum": {other, "CRC check failed"},
	} {
		file := filepath.Join(t.TempDir(), "moved.ralph")
		write(t, file, string(c.file))
		e, home, _ := victim(t)
		_, err := Import(t.Context(), e, file, "proj", false, nil)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v; want %q in it", name, err, c.want)
		}
		if got := listed(t, home); !slices.Equal(got, []string{".ralph"}) {
			t.Errorf("%s: there is %v", name, got)
		}
	}
}

// TestLargeTreeIsRefused imports bundles that are small and whose work trees are not.
func TestLargeTreeIsRefused(t *testing.T) {
	e, home, _ := victim(t)
	file := stranger{files: map[string]string{"zeros": strings.Repeat("\x00", 100<<20)}}.write(t)
	_, err := Import(t.Context(), e, file, "proj", false, nil)
	if err == nil || !strings.Contains(err.Error(), "its work tree is too large: its ") {
		t.Errorf("the error is %v", err)
	}
	if got := listed(t, home); !slices.Equal(got, []string{".ralph"}) {
		t.Errorf("there is %v", got)
	}
}

// TestMeterHasLimits adds up files that are within each limit, and one more.
func TestMeterHasLimits(t *testing.T) {
	for name, c := range map[string]struct {
		m            meter
		files, bytes int64
		want         string
	}{
		"nothing":               {meter{packed: 1}, 0, 0, ""},
		"little, tightly":       {meter{packed: 1}, 1, freeBytes - headBytes, ""},
		"more, tightly":         {meter{packed: 1}, 1, freeBytes, "its 1 B unpack to more than 64.0 MB"},
		"much, loosely":         {meter{packed: 1e9}, 1, 60e9, ""},
		"too much, loosely":     {meter{packed: 1e9}, 1, 64e9, "it unpacks to more than 64.0 GB"},
		"more than a number":    {meter{packed: 1e9, bytes: 1e9}, 1, 1<<63 - 1, "it unpacks to more than 64.0 GB"},
		"empty files, tightly":  {meter{packed: 1}, freeBytes/headBytes + 1, 0, "its 1 B unpack to more than 64.0 MB"},
		"files":                 {meter{packed: 1e9, files: maxFiles - 1}, 1, 0, ""},
		"too many files":        {meter{packed: 1e9, files: maxFiles}, 1, 0, "it has more than 1000000 files"},
		"while it is packed":    {meter{}, 1, 1e9, ""},
		"more than all numbers": {meter{packed: 1e9}, 1<<63 - 1, 0, "it has more than 1000000 files"},
	} {
		if err := c.m.add(c.files, c.bytes); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// TestProgressIsSaid reads a large file and a small one.
func TestProgressIsSaid(t *testing.T) {
	for size, want := range map[int64]int{quick: 10, quick - 1: 0} {
		var said bytes.Buffer
		p := progress{from: io.LimitReader(zeros{}, size), to: &said, size: size}
		if _, err := io.Copy(io.Discard, &p); err != nil || strings.Count(said.String(), "unpacked ") != want {
			t.Errorf("of %d bytes it said %q (%v); want %d lines", size, said.String(), err, want)
		}
	}
}

// TestEmptyWorkTreeIsImported imports a loop whose project has commits and no file.
func TestEmptyWorkTreeIsImported(t *testing.T) {
	e, home, _ := victim(t)
	file := stranger{empty: true}.write(t)
	if _, err := Import(t.Context(), e, file, "proj", false, nil); err != nil {
		t.Fatal(err)
	}
	if git(t, filepath.Join(home, "proj"), "log", "--format=%s") != "one" {
		t.Error("it has no history")
	}
}

// TestImportedLoopIsDurable shows that the names of the loop's folder and of the work tree are on
// the disk when an import says that they are there.
func TestImportedLoopIsDurable(t *testing.T) {
	e, _, _ := victim(t)
	file := stranger{}.write(t)
	_, folders := synced(t)
	if _, err := Import(t.Context(), e, file, "proj", false, nil); err != nil {
		t.Fatal(err)
	}
	if !folders["demo"] || !folders["README"] {
		t.Errorf("synced were folders with %v", folders)
	}
}
