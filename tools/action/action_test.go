// Package action has the GitHub action that runs a loop. Its test is a small runner: it reads
// action.yml, fills in the inputs, and runs the shell steps with bash.
package action

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

type value struct {
	Description string
	Default     *string
	Value       string
}

type step struct {
	Name  string
	ID    string `yaml:"id"`
	If    string
	Shell string
	Uses  string
	Dir   string `yaml:"working-directory"`
	Env   map[string]string
	With  map[string]string
	Run   string
}

type manifest struct {
	Inputs, Outputs map[string]value
	Runs            struct {
		Using string
		Steps []step
	}
}

func read(t *testing.T) manifest {
	t.Helper()
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&m); err != nil {
		t.Fatal(err)
	}
	return m
}

// expression finds ${{ … }}.
var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// Text of an input must never be part of a script.
func TestScriptsHaveNoExpressions(t *testing.T) {
	m := read(t)
	if m.Runs.Using != "composite" {
		t.Errorf("using %q", m.Runs.Using)
	}
	named := map[string]bool{}
	for _, s := range m.Runs.Steps {
		if strings.Contains(s.Run, "${{") || s.Run != "" && s.Shell != "bash" {
			t.Errorf("step %q: an expression in the script, or shell %q", s.Name, s.Shell)
		}
		texts := []string{s.Dir, "${{ " + s.If + " }}"}
		for _, text := range s.Env {
			texts = append(texts, text)
		}
		for _, text := range s.With {
			texts = append(texts, text)
		}
		for _, text := range texts {
			for _, name := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(text, -1) {
				named[name[1]] = true
				if _, ok := m.Inputs[name[1]]; !ok {
					t.Errorf("step %q names the input %q, which does not exist", s.Name, name[1])
				}
			}
		}
	}
	for name, input := range m.Inputs {
		if !named[name] || input.Description == "" {
			t.Errorf("the input %q is not used, or not described", name)
		}
	}
}

// uploads are the inputs of actions/upload-artifact that the action gives.
func TestUploadTakesReportFolder(t *testing.T) {
	m := read(t)
	at := slices.IndexFunc(m.Runs.Steps, func(s step) bool { return s.Uses != "" })
	if at < 0 {
		t.Fatal("nothing is uploaded")
	}
	upload := m.Runs.Steps[at]
	known := []string{"name", "path", "if-no-files-found", "retention-days", "compression-level", "overwrite", "include-hidden-files"}
	for name := range upload.With {
		if !slices.Contains(known, name) {
			t.Errorf("upload-artifact has no input %q", name)
		}
	}
	if !strings.HasPrefix(upload.Uses, "actions/upload-artifact@v") || upload.With["path"] != "${{ steps.report.outputs.folder }}" || !strings.HasPrefix(upload.If, "always()") {
		t.Errorf("%+v", upload)
	}
}

// A job is one run of the action.
type job struct {
	t       *testing.T
	m       manifest
	dir     string // the project
	temp    string
	env     []string
	inputs  map[string]string
	steps   map[string]map[string]string // outputs by step
	log     bytes.Buffer
	summary string
	uploads []map[string]string
	failed  bool
	onStart func(cmd *exec.Cmd) // of the step loop
}

var program string // ralph, built once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "action-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "ralph")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/ralph")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	code := 1
	if err := cmd.Run(); err == nil {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func newJob(t *testing.T, inputs map[string]string) *job {
	t.Helper()
	for _, name := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not on PATH", name)
		}
	}
	j := &job{t: t, m: read(t), dir: t.TempDir(), temp: t.TempDir(), inputs: map[string]string{}, steps: map[string]map[string]string{}}
	for name, input := range j.m.Inputs {
		if input.Default != nil {
			j.inputs[name] = *input.Default
		}
	}
	j.inputs["working-directory"] = j.dir
	j.inputs["ralph"] = program
	for name, text := range inputs {
		if _, ok := j.m.Inputs[name]; !ok {
			t.Fatalf("no input %q", name)
		}
		j.inputs[name] = text
	}
	j.env = []string{
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH"), "HOME=" + j.temp, "RALPH_HOME=" + filepath.Join(j.temp, "home"),
		"CI=true", "GITHUB_ACTIONS=true", "RUNNER_TEMP=" + j.temp, "GITHUB_ENV=" + filepath.Join(j.temp, "env"), "GITHUB_PATH=" + filepath.Join(j.temp, "path"),
	}
	return j
}

// fill replaces the expressions of a text. Only those that action.yml has are known.
func (j *job) fill(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		e := expression.FindStringSubmatch(found)[1]
		if left, right, ok := strings.Cut(e, " || "); ok {
			if value := j.fill("${{ " + left + " }}"); value != "" {
				return value
			}
			e = right
		}
		if argument, ok := strings.CutPrefix(e, "format('ralph-{0}', "); ok {
			return "ralph-" + j.fill("${{ "+strings.TrimSuffix(argument, ")")+" }}")
		}
		parts := strings.Split(e, ".")
		switch {
		case len(parts) == 2 && parts[0] == "inputs":
			return j.inputs[parts[1]]
		case len(parts) == 4 && parts[0] == "steps" && parts[2] == "outputs":
			return j.steps[parts[1]][parts[3]]
		}
		j.t.Fatalf("the expression %q is not known", e)
		return ""
	})
}

// wanted reports whether the condition of a step holds.
func (j *job) wanted(condition string) bool {
	terms := strings.Split(condition, " && ")
	if terms[0] != "always()" && j.failed {
		return false
	}
	for _, term := range terms {
		if term == "" || term == "always()" {
			continue
		}
		if left, right, ok := strings.Cut(term, " != "); ok {
			if j.fill("${{ "+left+" }}") == strings.Trim(right, "'") {
				return false
			}
			continue
		}
		left, right, ok := strings.Cut(term, " == ")
		if !ok {
			j.t.Fatalf("the condition %q is not known", term)
		}
		if j.fill("${{ "+left+" }}") != strings.Trim(right, "'") {
			return false
		}
	}
	return true
}

// run runs all steps and returns the exit code of the job.
func (j *job) run() (code int) {
	j.t.Helper()
	for _, s := range j.m.Runs.Steps {
		if !j.wanted(s.If) {
			continue
		}
		if s.Uses != "" {
			with := map[string]string{}
			for name, text := range s.With {
				with[name] = j.fill(text)
			}
			j.uploads = append(j.uploads, with)
			continue
		}
		if exit := j.runStep(s); exit != 0 {
			j.failed, code = true, exit
		}
	}
	return code
}

func (j *job) runStep(s step) int {
	j.t.Helper()
	ctx, cancel := context.WithTimeout(j.t.Context(), 5*time.Minute)
	defer cancel()
	output, summary := filepath.Join(j.temp, "output"), filepath.Join(j.temp, "summary")
	for _, name := range []string{output, summary} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			j.t.Fatal(err)
		}
	}
	script := filepath.Join(j.temp, "step.sh")
	if err := os.WriteFile(script, []byte(s.Run), 0o600); err != nil {
		j.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	cmd.Env = append(slices.Clone(j.env), "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
	for name, text := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+j.fill(text))
	}
	if cmd.Dir = j.dir; s.Dir != "" {
		cmd.Dir = j.fill(s.Dir)
	}
	cmd.Stdout, cmd.Stderr = &j.log, &j.log
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	if s.ID == "loop" && j.onStart != nil {
		j.onStart(cmd)
	}
	err := cmd.Wait()
	j.steps[s.ID] = j.outputs(output)
	text, _ := os.ReadFile(summary)
	j.summary += string(text)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	j.t.Fatalf("step %q: %v\n%s", s.Name, err, j.log.String())
	return -1
}

// outputs reads a file of outputs as the runner does: NAME=VALUE on each line.
func (j *job) outputs(path string) map[string]string {
	j.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		j.t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok || strings.Contains(name, "<<") {
			j.t.Errorf("the runner cannot read the output %q", line)
		}
		if _, twice := all[name]; twice {
			j.t.Errorf("the output %q is there twice", name)
		}
		all[name] = value
	}
	return all
}

// out is an output of the action.
func (j *job) out(name string) string { return j.fill(j.m.Outputs[name].Value) }

func (j *job) write(name, text string) {
	j.t.Helper()
	if err := os.WriteFile(filepath.Join(j.dir, name), []byte(text), 0o600); err != nil {
		j.t.Fatal(err)
	}
}

const worker = "iteration\n  say I work.\n  write hello.txt hello\n  use in=100 out=10 usd=0.02\niteration *\n  run cat hello.txt\n  promise\n"

func (j *job) agent(scenario string) {
	j.write("work.rehearsal", scenario)
	j.inputs["agent"] = program + " rehearse work.rehearsal"
}

func TestLoopCompletes(t *testing.T) {
	j := newJob(t, map[string]string{"prompt": "Say hello.", "max-cost": "5"})
	j.agent(worker)
	if code := j.run(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, j.log.String())
	}
	for name, want := range map[string]string{"status": "completed", "reason": "promise", "iterations": "2", "cost": "0.02", "exit-code": "0"} {
		if got := j.out(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if !strings.Contains(j.summary, "# ci: completed") {
		t.Errorf("the summary is %q", j.summary)
	}
	for _, name := range []string{"report", "junit"} {
		if text, err := os.ReadFile(j.out(name)); err != nil || len(text) < 500 {
			t.Errorf("%s has %d bytes: %v", name, len(text), err)
		}
	}
	if len(j.uploads) != 1 || j.uploads[0]["name"] != "ralph-ci" || filepath.Dir(j.out("journal")) != j.uploads[0]["path"] {
		t.Errorf("uploaded: %v", j.uploads)
	}
	cmd := exec.Command(program, "logs", j.out("journal"), "--json")
	cmd.Env = j.env
	if out, err := cmd.Output(); err != nil || !bytes.Contains(out, []byte(`"loop.ended"`)) {
		t.Errorf("the journal of the artifact: %v\n%s", err, out)
	}
}

func TestExitCodesAreMapped(t *testing.T) {
	for _, test := range []struct {
		name, scenario, status string
		inputs                 map[string]string
		code                   int
		exit, log              string
	}{
		{"a limit", "iteration *\n  say more\n  write a.txt {iteration}\n", "stopped", map[string]string{"max-iterations": "2"}, 1, "1", "::warning title=ralph::a limit ended"},
		{"a limit that is expected", "iteration *\n  say more\n  write a.txt {iteration}\n", "stopped", map[string]string{"max-iterations": "1", "fail-on-limit": "false"}, 0, "1", "::warning"},
		{"no agent", "", "", map[string]string{"agent": "no-such-agent", "settings": ""}, 2, "2", "::error title=ralph::the loop ended as not begun"},
		{"no prompt", worker, "", map[string]string{"prompt": ""}, 2, "2", "::error"},
		{"a bad setting", worker, "", map[string]string{"settings": "no.such=1"}, 2, "2", "::error"},
		{"a bad name", worker, "", map[string]string{"name": "../x"}, 2, "2", "::error"},
		{"an agent that fails", "iteration *\n  say x\n  crash 3\n", "failed", nil, 3, "3", "::error title=ralph::the loop ended as failed"},
		{"a runner that is killed", "iteration *\n  say x\n  run kill -9 $(jq .pid .ralph/ci/run.lock); sleep 50\n", "died", nil, 137, "137", "the loop ended as died: the runner was killed, with exit code 137"},
		{"a done that nothing supports", worker, "completed", map[string]string{"fail-on-weak": "true"}, 5, "5", "::error title=ralph::the work is done, and the strength of that is none"},
		{"a person is needed", "iteration *\n  say <blocked>no key</blocked>\n", "", nil, 4, "4", "::error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := newJob(t, map[string]string{"prompt": "Work."})
			for name, text := range test.inputs {
				j.inputs[name] = text
			}
			if test.scenario != "" {
				j.agent(test.scenario)
			}
			code := j.run()
			if code != test.code || j.out("exit-code") != test.exit || !strings.Contains(j.log.String(), test.log) {
				t.Errorf("exit code %d, output %q, status %q\n%s", code, j.out("exit-code"), j.out("status"), j.log.String())
			}
			if test.status != "" && (j.out("status") != test.status || j.out("iterations") == "0" || j.out("why") == "") {
				t.Errorf("status %q, %s iterations, %q", j.out("status"), j.out("iterations"), j.out("why"))
			}
			if begun := j.out("status") != ""; begun != (len(j.uploads) == 1) {
				t.Errorf("begun %t, uploaded %v", begun, j.uploads)
			}
		})
	}
}

// No text of an input is run, and no text of the agent commands the runner.
func TestHostileTextIsText(t *testing.T) {
	hostile := "$(touch pwned) `touch pwned` \"; touch pwned; ' && touch pwned #\n--trust\n::error::x\nEOF\n${{ github.token }}"
	j := newJob(t, map[string]string{"prompt": hostile, "model": hostile, "artifact": hostile, "settings": "\n\n"})
	j.agent("iteration\n  say ::set-output name=status::hacked\n  run env >environment.txt\n  say ::error::hacked\n  promise\n")
	j.env = append(j.env, "ACTIONS_RUNTIME_TOKEN=the-token", "OF_THE_JOB=yes")
	if err := os.Symlink("/etc/passwd", filepath.Join(j.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if code := j.run(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, j.log.String())
	}
	if _, err := os.Lstat(filepath.Join(j.dir, "pwned")); err == nil {
		t.Error("the text was run")
	}
	text, err := os.ReadFile(filepath.Join(j.dir, "environment.txt"))
	if err != nil || !bytes.Contains(text, []byte("OF_THE_JOB=yes")) {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, name := range []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "ACTIONS_RUNTIME_TOKEN", "INPUT_PROMPT"} {
		if bytes.Contains(text, []byte(name+"=")) {
			t.Errorf("the agent has %s", name)
		}
	}
	stops := regexp.MustCompile(`(?m)^::stop-commands::([0-9a-f]{32})$`).FindStringSubmatchIndex(j.log.String())
	if stops == nil {
		t.Fatalf("commands are not stopped\n%s", j.log.String())
	}
	token := j.log.String()[stops[2]:stops[3]]
	resumed := strings.Index(j.log.String(), "\n::"+token+"::\n")
	if said := strings.Index(j.log.String(), "::error::hacked"); said < stops[0] || said > resumed {
		t.Errorf("the agent commands the runner\n%s", j.log.String())
	}
}

// The agent may put links into the folder of its loop.
func TestArtifactHasNoLinks(t *testing.T) {
	j := newJob(t, map[string]string{"prompt": "Work."})
	j.agent("iteration\n  say x\n  run ln -s /etc/passwd .ralph/ci/journal/secret; ln -s /etc .ralph/ci/blobs; echo x >.ralph/ci/extra\n  promise\n")
	if code := j.run(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, j.log.String())
	}
	found := 0
	err := filepath.WalkDir(j.uploads[0]["path"], func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found++
			if !entry.Type().IsRegular() || entry.Name() == "secret" || entry.Name() == "extra" {
				t.Errorf("uploaded: %s", path)
			}
		}
		return err
	})
	if err != nil || found < 5 {
		t.Errorf("%d files, %v", found, err)
	}
}

// A second run with a loop of an earlier one in the work tree reports its own.
func TestSecondRunReportsItself(t *testing.T) {
	j := newJob(t, map[string]string{"prompt": "Work."})
	j.agent(worker)
	if code := j.run(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, j.log.String())
	}
	j.steps, j.uploads, j.inputs["prompt"] = map[string]map[string]string{}, nil, ""
	if code := j.run(); code != 2 || j.out("status") != "" || len(j.uploads) != 0 {
		t.Errorf("exit code %d, status %q, %v\n%s", code, j.out("status"), j.uploads, j.log.String())
	}
}

// A cancelled job interrupts the loop, which writes its end.
func TestCancelledJobEndsLoop(t *testing.T) {
	// A script that runs the tests in the background ignores SIGINT, and so would the job.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT)
	t.Cleanup(func() { signal.Stop(caught) })
	j := newJob(t, map[string]string{"prompt": "Work."})
	j.agent("iteration\n  say I wait.\n  run touch began; sleep 300\n  promise\n")
	j.onStart = func(cmd *exec.Cmd) {
		for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Lstat(filepath.Join(j.dir, "began")); err == nil {
				break
			}
		}
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}
	if code := j.run(); code != 130 || j.out("exit-code") != "130" || j.out("status") == "" || len(j.uploads) != 1 {
		t.Errorf("exit code %d, status %q, %v\n%s", code, j.out("status"), j.uploads, j.log.String())
	}
}
