package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// tmpfsSize bounds the files of a trial, so that the disk can be full.
const tmpfsSize = "size=96m"

// loopName is the name of ralph's loop in each trial.
const loopName = "t"

func (p *play) isRalph() bool {
	return p.Arm != "once" && p.Arm != "goal" && p.Arm != "while"
}

func (p *play) loopDir() string { return filepath.Join(p.project(), ".ralph", loopName) }

// environ is all that the processes of the trial get of the environment. The key is made up: the
// proxy has the real one, if there is one.
func (p *play) environ() []string {
	return []string{
		"PATH=" + filepath.Join(p.dir, "bin") + ":/usr/local/bin:/usr/bin:/bin",
		"HOME=" + filepath.Join(p.dir, "home"), "TMPDIR=" + filepath.Join(p.dir, "tmp"),
		"ANTHROPIC_BASE_URL=" + p.base, "ANTHROPIC_API_KEY=made-up-key-of-a-trial", "TASK=" + p.task.prompt(), "OUT=" + filepath.Join(p.dir, "out"),
		"CLAUDE_CODE_MAX_RETRIES=3", "LANG=C", "NO_COLOR=1",
	}
}

// line is the command of the arm. It exits with 0 if, and only if, the arm says that the work is
// done.
func (p *play) line(again bool) string {
	claude := "claude --output-format stream-json --verbose"
	if p.setup.agent != "" {
		claude += " --permission-mode acceptEdits --allowedTools Bash,Edit,Write"
	}
	if p.setup.agentModel != "" {
		claude += " --model " + p.setup.agentModel
	}
	const said = `tail -n 1 "$OUT" | grep -q 'COMPLETE</promise>'`
	switch p.Arm {
	case "once":
		return claude + ` -p "$TASK" >"$OUT"; ` + said
	case "goal":
		if p.setup.agent != "" {
			return claude + ` -p "/goal $TASK" >"$OUT"; ` + said
		}
		return claude + ` --goal -p "$TASK" >"$OUT"`
	case "while":
		return "while :; do " + claude + ` -p "$TASK" >"$OUT"; if ` + said + "; then exit 0; fi; sleep 0.02; done"
	}
	if again {
		return "exec ralph start " + loopName + " --resume --plain"
	}
	settings := []string{
		"journal.compress=false", "journal.raw=false", "restart.delay=20ms", "limits.idle=3s", "snapshots.keep=0", "prove.mutants=4", "prove.time=10s",
		`guardrails=[{"command":"sh tests/run.sh tests/cases.txt","protect":true}]`,
	}
	switch p.Arm {
	case "visible":
		settings = append(settings, "completion.require=visible", "prove.auto=off")
	case "same":
		settings = append(settings, "completion.require=heldOut", "context=same")
	default:
		settings = append(settings, "completion.require=heldOut")
	}
	line := "exec ralph start " + loopName + ` --plain -a claude -p "$TASK"`
	if p.setup.agentModel != "" {
		line += " --model " + p.setup.agentModel
	}
	for _, s := range settings {
		line += " --set '" + s + "'"
	}
	return line
}

// prepare makes the files of the trial: none of it is in any measure.
func (p *play) prepare() error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	if p.setup.disk {
		if err := mount(p.dir); err != nil {
			return err
		}
	}
	for _, name := range []string{"bin", "home", "tmp", "project"} {
		if err := os.MkdirAll(filepath.Join(p.dir, name), 0o755); err != nil {
			return err
		}
	}
	err := errors.Join(
		os.Symlink(cmp.Or(p.setup.agent, p.setup.self), filepath.Join(p.dir, "bin", "claude")),
		os.Symlink(cmp.Or(p.setup.ralph, "none"), filepath.Join(p.dir, "bin", "ralph")),
		writeFiles(filepath.Join(p.dir, "home"), map[string]string{".gitconfig": "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"}),
		writeFiles(p.project(), p.task.files()),
		p.setUp("git init -q && git add . && git commit -q -m start"),
	)
	if err != nil || !p.isRalph() || p.Arm == "visible" {
		return err
	}
	// What the judge knows of the last part, no guardrail knows.
	known := p.task.parts[:len(p.task.parts)-1]
	held := filepath.Join(p.dir, "home", "acceptance")
	if err := writeFiles(held, map[string]string{"tests/acceptance.sh": runner, "tests/acceptance.txt": caseFile(known, hiddenCases)}); err != nil {
		return err
	}
	requirement := namedRequirement
	if p.Arm == "mute" {
		requirement = muteRequirement
	}
	return errors.Join(
		p.setUp(fmt.Sprintf("ralph holdout add %q --command 'sh tests/acceptance.sh tests/acceptance.txt' --requirement %q", held, requirement)),
		os.RemoveAll(held),
	)
}

// setUp runs a command before the trial begins.
func (p *play) setUp(line string) error {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = p.project(), p.environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return nil
}

// stop ends the arm: a loop of ralph is asked first, so that its journal has an end.
func (p *play) stop(pid int) error {
	if p.isRalph() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "ralph", "stop", loopName, "--now")
		cmd.Path, cmd.Err = p.setup.ralph, nil
		cmd.Dir, cmd.Env = p.project(), p.environ()
		_ = cmd.Run() // what is left is ended next
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // it may be gone
	return nil
}

// clear ends what is left of the trial's processes, and removes its files.
func (p *play) clear() error {
	for range 50 {
		left := p.processes()
		if len(left) == 0 {
			break
		}
		for pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
		time.Sleep(10 * time.Millisecond)
	}
	if p.setup.disk {
		if err := unmount(p.dir); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(p.dir), os.RemoveAll(filepath.Join(p.setup.out, "judge", fmt.Sprint(p.N))))
}

// keepJournal copies ralph's journal of the loop, segment by segment, as it is.
func (p *play) keepJournal() error {
	if !p.isRalph() {
		return nil
	}
	segments, err := filepath.Glob(filepath.Join(p.loopDir(), "journal", "*.jsonl"))
	if err != nil || len(segments) == 0 {
		return fmt.Errorf("trial %d has no journal of ralph: %w", p.N, err)
	}
	var all strings.Builder
	for _, name := range segments {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		all.Write(text)
	}
	return os.WriteFile(filepath.Join(p.setup.out, fmt.Sprintf("%04d.ralph.jsonl", p.N)), []byte(all.String()), 0o644)
}

// ended reports whether the journal of a trial in a folder has its end.
func ended(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var last entry
	return json.Unmarshal([]byte(lines[len(lines)-1]), &last) == nil && last.Type == trialEnded
}
