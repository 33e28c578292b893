package plugininstall

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// A world is a person's machine with all agents on PATH, and one project.
type world struct {
	t              *testing.T
	e              *cli.Env
	stdout, stderr bytes.Buffer
	root           string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root := cli.WithoutLinks(t.TempDir())
	w := &world{t: t, root: root}
	bin, project := filepath.Join(root, "bin"), filepath.Join(root, "project")
	for _, folder := range []string{bin, project} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("PI_CODING_AGENT_DIR", filepath.Join(root, "pi"))
	for _, a := range agents {
		if err := os.Symlink(self, filepath.Join(bin, a.name+filepath.Ext(self)[:extension(self)])); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
		t.Setenv("FAKE_STATE_"+a.name, w.statePath(a.name))
		w.set(a.name, func(*fakeState) {})
	}
	w.e = &cli.Env{Stdin: strings.NewReader(""), Stdout: &w.stdout, Stderr: &w.stderr, Home: filepath.Join(root, "home"), Cwd: project, Environ: append(os.Environ(), "HOME="+root, "CLAUDE_CONFIG_DIR=", "CODEX_HOME=")}
	return w
}

// extension is the length of .exe where programs have it.
func extension(path string) int {
	if strings.HasSuffix(path, ".exe") {
		return len(".exe")
	}
	return 0
}

func (w *world) statePath(agent string) string { return filepath.Join(w.root, agent+".state") }

func (w *world) state(agent string) fakeState {
	w.t.Helper()
	s, err := readState(w.statePath(agent))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// set changes what an agent has, and forgets its calls.
func (w *world) set(agent string, change func(*fakeState)) {
	w.t.Helper()
	s, _ := readState(w.statePath(agent))
	s.Calls = nil
	change(&s)
	if err := s.save(w.statePath(agent)); err != nil {
		w.t.Fatal(err)
	}
}

// calls returns the calls that changed something since the last time, with DIR for the folder.
func (w *world) calls(agent string) string {
	w.t.Helper()
	calls := strings.Join(w.state(agent).Calls, "\n")
	w.set(agent, func(*fakeState) {})
	return strings.ReplaceAll(calls, w.folder(agent), "DIR")
}

func (w *world) folder(agent string) string { return filepath.Join(w.e.Home, "plugins", agent) }

func (w *world) install(r Request) (string, error) {
	w.stdout.Reset()
	w.stderr.Reset()
	r.Yes = true
	err := r.Install(w.e)
	return w.stdout.String(), err
}

func (w *world) uninstall(r Request) (string, error) {
	w.stdout.Reset()
	w.stderr.Reset()
	r.Yes = true
	err := r.Uninstall(w.e)
	return w.stdout.String(), err
}

// must reports a call that fails, or does not print what is wanted.
func (w *world) must(want string) func(string, error) {
	w.t.Helper()
	return func(got string, err error) {
		w.t.Helper()
		if err != nil || !strings.Contains(got, want) {
			w.t.Errorf("got %q, %v; want %q\n%s", got, err, want, w.stderr.String())
		}
	}
}

func (w *world) calledWith(agent, want string) {
	w.t.Helper()
	if got := w.calls(agent); got != want {
		w.t.Errorf("%s is called with\n%s\nwant\n%s", agent, got, want)
	}
}

// complete checks that the folder of an agent is as this ralph writes it.
func (w *world) complete(name string) {
	w.t.Helper()
	a, err := choose(name)
	if err != nil {
		w.t.Fatal(err)
	}
	files, _, err := a.content()
	if err != nil {
		w.t.Fatal(err)
	}
	if write, remove, err := (folder{path: w.folder(name), files: files}).difference(); err != nil || len(write)+len(remove) > 0 {
		w.t.Errorf("not written: %q, not removed: %q, %v", write, remove, err)
	}
}

func (w *world) gone(path string) {
	w.t.Helper()
	if _, err := os.Lstat(path); err == nil {
		w.t.Errorf("%s is left", path)
	}
}

func TestInstallAndUninstall(t *testing.T) {
	for agent, want := range map[string]struct{ installs, uninstalls string }{
		"claude": {"plugin marketplace add DIR\nplugin install ralph@ralph-loop --scope user", "plugin uninstall ralph@ralph-loop --scope user\nplugin marketplace remove ralph-loop"},
		"codex":  {"plugin marketplace add DIR\nplugin add ralph@ralph-loop", "plugin remove ralph@ralph-loop\nplugin marketplace remove ralph-loop"},
		"pi":     {"install DIR", "remove DIR"},
	} {
		t.Run(agent, func(t *testing.T) {
			w, r := newWorld(t), Request{Agent: agent}
			w.must("is installed in")(w.install(r))
			w.calledWith(agent, want.installs)
			w.complete(agent)
			w.must("already")(w.install(r))
			w.calledWith(agent, "")
			w.must("is uninstalled from")(w.uninstall(r))
			w.calledWith(agent, want.uninstalls)
			w.gone(w.folder(agent))
			w.must("is not installed")(w.uninstall(r))
			w.calledWith(agent, "")
		})
	}
}

// A call that failed or was killed after any of its steps is finished by the next one.
func TestHalfFinishedIsFinished(t *testing.T) {
	for _, test := range []struct{ agent, fail, rest string }{
		{"claude", "plugin marketplace add", "plugin marketplace add DIR\nplugin install ralph@ralph-loop --scope user"},
		{"claude", "plugin install", "plugin install ralph@ralph-loop --scope user"},
		{"codex", "plugin add", "plugin add ralph@ralph-loop"},
		{"pi", "install", "install DIR"},
	} {
		t.Run(test.agent+" "+test.fail, func(t *testing.T) {
			w, r := newWorld(t), Request{Agent: test.agent}
			w.set(test.agent, func(s *fakeState) { s.Fail = test.fail })
			if _, err := w.install(r); err == nil || !strings.Contains(err.Error(), "it fails") {
				t.Errorf("got %v", err)
			}
			w.set(test.agent, func(s *fakeState) { s.Fail = "" })
			w.must("is installed in")(w.install(r))
			w.calledWith(test.agent, test.rest)
			w.complete(test.agent)
		})
	}
	for _, test := range []struct{ agent, fail, rest string }{
		{"claude", "plugin uninstall", "plugin uninstall ralph@ralph-loop --scope user\nplugin marketplace remove ralph-loop"},
		{"claude", "plugin marketplace remove", "plugin marketplace remove ralph-loop"},
		{"pi", "remove", "remove DIR"},
	} {
		t.Run(test.agent+" "+test.fail, func(t *testing.T) {
			w, r := newWorld(t), Request{Agent: test.agent}
			w.must("is installed in")(w.install(r))
			w.set(test.agent, func(s *fakeState) { s.Fail = test.fail })
			if _, err := w.uninstall(r); err == nil {
				t.Error("no error")
			}
			w.set(test.agent, func(s *fakeState) { s.Fail = "" })
			w.must("is uninstalled from")(w.uninstall(r))
			w.calledWith(test.agent, test.rest)
			w.gone(w.folder(test.agent))
		})
	}
}

// Another build of ralph has written the folder; the agent reads it in place or has a copy.
func TestOtherVersionIsReplaced(t *testing.T) {
	for agent, want := range map[string]string{"claude": "", "codex": "plugin add ralph@ralph-loop", "pi": ""} {
		t.Run(agent, func(t *testing.T) {
			w, r := newWorld(t), Request{Agent: agent}
			w.must("is installed in")(w.install(r))
			a, err := choose(agent)
			if err != nil {
				t.Fatal(err)
			}
			manifest := filepath.Join(w.folder(agent), a.manifest)
			text, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			_, version := piManifestAt(manifest)
			text = bytes.ReplaceAll(text, []byte(version), []byte("99.0.0+ffffffffffff"))
			for path, text := range map[string][]byte{manifest: text, filepath.Join(w.folder(agent), "old", "file.ts"): []byte("old")} {
				err := os.MkdirAll(filepath.Dir(path), 0o755)
				if err == nil {
					err = os.WriteFile(path, text, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			w.set(agent, func(s *fakeState) {
				if agent != "pi" {
					s.Installed[scopeUser] = "99.0.0+ffffffffffff"
				}
			})
			w.stdout.Reset()
			if err := Show(w.e, false); err != nil || !strings.Contains(w.stdout.String(), "'ralph plugin install "+agent+"' updates it") {
				t.Errorf("show: %v\n%s", err, w.stdout.String())
			}
			if names, err := Outdated(w.e); err != nil || !slices.Equal(names, []string{agent}) {
				t.Errorf("outdated: %q, %v", names, err)
			}
			w.must("is installed in")(w.install(r))
			w.calledWith(agent, want)
			w.complete(agent)
			if names, err := Outdated(w.e); err != nil || len(names) > 0 {
				t.Errorf("outdated: %q, %v", names, err)
			}
		})
	}
}

// Without the files that its settings name, Codex lists nothing. The plugin can be installed and
// taken out even so.
func TestLostFolderIsMended(t *testing.T) {
	for agent, want := range map[string]struct{ installs, uninstalls string }{
		"claude": {"", "plugin uninstall ralph@ralph-loop --scope user\nplugin marketplace remove ralph-loop"},
		"codex":  {"plugin add ralph@ralph-loop", "plugin remove ralph@ralph-loop\nplugin marketplace remove ralph-loop"},
		"pi":     {"", "remove DIR"},
	} {
		t.Run(agent, func(t *testing.T) {
			w, r := newWorld(t), Request{Agent: agent}
			lose := func() {
				if err := os.RemoveAll(w.folder(agent)); err != nil {
					t.Fatal(err)
				}
				w.calls(agent)
			}
			w.must("is installed in")(w.install(r))
			lose()
			w.stdout.Reset()
			if err := Show(w.e, false); err != nil || !strings.Contains(w.stdout.String(), "for all projects; its files are missing or changed: 'ralph plugin install "+agent+"' writes them again\n") {
				t.Errorf("show: %v\n%s", err, w.stdout.String())
			}
			w.must("is installed in")(w.install(r))
			w.calledWith(agent, want.installs)
			w.complete(agent)
			lose()
			w.must("is uninstalled from")(w.uninstall(r))
			w.calledWith(agent, want.uninstalls)
		})
	}
}

// What an agent's program says keeps its lines, and the hint fits all that it may say.
func TestFailureKeepsLines(t *testing.T) {
	w := newWorld(t)
	w.set("codex", func(s *fakeState) { s.Market = filepath.Join(w.root, "gone") })
	_, err := w.install(Request{Agent: "codex"})
	var said bytes.Buffer
	cli.Report(&said, err)
	if text := said.String(); !strings.Contains(text, "\n  Error: failed to load marketplace(s):\n  - `ralph-loop`") || !strings.Contains(text, "hint: mend what it names") {
		t.Errorf("said %s", text)
	}
	w.stdout.Reset()
	if err := Show(w.e, false); err != nil || !strings.Contains(w.stdout.String(), "\n        Error: failed to load") {
		t.Errorf("show: %v\n%s", err, w.stdout.String())
	}
}

func TestProjectScope(t *testing.T) {
	for agent, want := range map[string]string{"claude": "plugin install ralph@ralph-loop --scope project", "pi": "install DIR --local --approve"} {
		t.Run(agent, func(t *testing.T) {
			w, r := newWorld(t), Request{Agent: agent}
			w.must("for all projects")(w.install(r))
			w.calls(agent)
			r.Project = true
			w.must("for the project")(w.install(r))
			w.calledWith(agent, want)
			w.must("already")(w.install(r))
			r.Project = false
			w.must("is uninstalled from")(w.uninstall(r))
			if !strings.Contains(w.stderr.String(), "stays installed for the project "+w.e.Cwd) {
				t.Errorf("said %s", w.stderr.String())
			}
			w.complete(agent)
			r.Project = true
			w.must("is uninstalled from")(w.uninstall(r))
			w.gone(w.folder(agent))
		})
	}
	w := newWorld(t)
	if _, err := w.install(Request{Agent: "codex", Project: true}); err == nil || w.calls("codex") != "" {
		t.Errorf("got %v", err)
	}
}

// The installation for a project that is gone keeps nothing in ralph's home.
func TestVanishedProjectIsNoReason(t *testing.T) {
	w := newWorld(t)
	w.must("is installed in")(w.install(Request{Agent: "claude", Project: true}))
	if err := os.RemoveAll(w.e.Cwd); err != nil {
		t.Fatal(err)
	}
	w.e.Cwd = w.root
	w.calls("claude")
	w.must("is uninstalled from")(w.uninstall(Request{Agent: "claude"}))
	w.calledWith("claude", "plugin marketplace remove ralph-loop")
	w.gone(w.folder("claude"))
}

func TestRefusalsChangeNothing(t *testing.T) {
	for _, test := range []struct {
		name, agent, want string
		prepare           func(w *world)
	}{
		{"a marketplace from elsewhere", "claude", "from /elsewhere already", func(w *world) {
			w.set("claude", func(s *fakeState) { s.Market = "/elsewhere" })
		}},
		{"an extension from elsewhere", "pi", "clone already", func(w *world) {
			w.write("clone/package.json", `{"name": "ralph-pi", "version": "1.0.0"}`)
			w.write("pi/settings.json", `{"packages": [{"source": "../clone"}]}`)
		}},
		{"settings that pi cannot read", "pi", "not JSON", func(w *world) { w.write("pi/settings.json", "{,") }},
		{"an answer that is no list", "codex", "not what ralph expects", func(w *world) {
			w.set("codex", func(s *fakeState) { s.Say = `["a", 1]` })
		}},
		{"an endless answer", "claude", "what ralph expects", func(w *world) {
			w.set("claude", func(s *fakeState) { s.Say = strings.Repeat("[", mostAnswer+1) })
		}},
		{"no such program", "codex", "not on PATH", func(w *world) { w.t.Setenv("PATH", w.root) }},
		{"a home that cannot be written", "claude", "the folder of the plugin", func(w *world) { w.write("home/plugins", "a file") }},
		{"a file in place of the folder", "claude", "is no folder", func(w *world) { w.write("home/plugins/claude", "a file") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.prepare(w)
			before := w.files()
			if _, err := w.install(Request{Agent: test.agent}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if calls := w.calls(test.agent); calls != "" {
				t.Errorf("called with %s", calls)
			}
			if after := w.files(); !slices.Equal(before, after) {
				t.Errorf("left\n%q, not\n%q", after, before)
			}
		})
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// files are all files below the root but the states of the agents.
func (w *world) files() (all []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(path, ".state") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// Links in the folder are replaced, and what they lead to stays as it is.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, link := range []string{"plugin", "plugin/skills", "plugin/plugin.json", ".claude-plugin"} {
		t.Run(link, func(t *testing.T) {
			w, r := newWorld(t), Request{Agent: "claude"}
			w.write("mine/keep.txt", "keep")
			place := filepath.Join(w.folder("claude"), link)
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(w.root, "mine"), place); err != nil {
				t.Skip(err)
			}
			w.must("is installed in")(w.install(r))
			w.complete("claude")
			w.must("is uninstalled from")(w.uninstall(r))
			w.gone(w.folder("claude"))
			if left, err := os.ReadDir(filepath.Join(w.root, "mine")); err != nil || len(left) != 1 {
				t.Errorf("%v, %v", left, err)
			}
		})
	}
}

// A folder in which nothing may be written is an error before the agent is called.
func TestReadOnlyFolderIsRefused(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("everything may be written here")
	}
	w := newWorld(t)
	if err := os.MkdirAll(w.e.Home, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := w.install(Request{Agent: "claude"}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
	w.calledWith("claude", "")
}

// What a person has in pi's settings stays, and their other packages are not looked into.
func TestPiSettingsAreKept(t *testing.T) {
	w := newWorld(t)
	const theirs = `{"packages":["npm:@a/b","git:github.com/a/b",{"extensions":[],"source":"~/mine"},7,"/gone"],"theme":"x"}`
	w.write("pi/settings.json", theirs)
	w.write("mine/package.json", `{"name": "mine"}`)
	w.must("is installed in")(w.install(Request{Agent: "pi"}))
	w.must("is uninstalled from")(w.uninstall(Request{Agent: "pi"}))
	text, err := os.ReadFile(filepath.Join(w.root, "pi", "settings.json"))
	if err != nil || string(text) != theirs {
		t.Errorf("%s, %v", text, err)
	}
}

func TestNoTerminalNoInstall(t *testing.T) {
	w := newWorld(t)
	err := Request{Agent: "claude"}.Install(w.e)
	if err == nil || !strings.Contains(err.Error(), "run    claude plugin marketplace add "+w.folder("claude")) {
		t.Errorf("got %v", err)
	}
	w.calledWith("claude", "")
	w.gone(w.e.Home)
}

// An update is not offered where the install would refuse.
func TestShowNamesOtherSource(t *testing.T) {
	w := newWorld(t)
	for _, agent := range []string{"claude", "codex"} {
		w.set(agent, func(s *fakeState) { s.Market = w.root })
	}
	w.write(".agents/plugins/marketplace.json", "{}")
	w.set("claude", func(s *fakeState) { s.Installed[scopeUser] = "9.0.0" })
	w.write("clone/package.json", `{"name": "ralph-pi", "version": "9.0.0"}`)
	w.write("pi/settings.json", `{"packages": ["../clone"]}`)
	if err := Show(w.e, false); err != nil {
		t.Fatal(err)
	}
	want := "claude  9.0.0, for all projects, from ROOT, not ralph's own\n" +
		"codex   ralph's own plugin is not installed; there is one from ROOT\n" +
		"pi      ralph's own plugin is not installed; there is one from ROOT/clone\n"
	if got := w.stdout.String(); got != strings.ReplaceAll(want, "ROOT", w.root) {
		t.Errorf("got\n%s", got)
	}
}

func TestShowReportsEachAgent(t *testing.T) {
	w := newWorld(t)
	w.must("is installed in")(w.install(Request{Agent: "pi", Project: true}))
	w.set("codex", func(s *fakeState) { s.Say = "\x1b]0;x\a{" })
	var out bytes.Buffer
	w.e.Stdout = &out
	if err := Show(w.e, true); err != nil {
		t.Fatal(err)
	}
	var all []Status
	if err := json.Unmarshal(out.Bytes(), &all); err != nil || len(all) != len(agents) {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, s := range all {
		if s.Problem != "" != (s.Agent == "codex") || len(s.Installed) != map[string]int{"pi": 1}[s.Agent] || s.Current != (s.Agent == "pi") || !s.Program {
			t.Errorf("%+v", s)
		}
	}
	out.Reset()
	if err := Show(w.e, false); err != nil || strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") < len(agents) {
		t.Errorf("%v\n%q", err, out.String())
	}
	w.e.Stdout = io.Discard
}
