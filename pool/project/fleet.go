package project

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/pool/program"
)

// A FleetTask is a task of a fleet, as 'ralph fleet --list' prints it.
type FleetTask struct {
	ID        string   `json:"id"`
	Prompt    string   `json:"prompt"`
	DependsOn []string `json:"dependsOn"`
}

// Fleet returns the tasks of a fleet, each after those that it depends on, with the setting
// guardrails if they have one: those of a folder of task files, else the stories of a project.
func Fleet(ctx context.Context, path string) (tasks []FleetTask, guardrails string, err error) {
	args := []string{"fleet", "--list"}
	if files, _ := filepath.Glob(filepath.Join(escape(path), "*.md")); len(files) > 0 {
		args = append(args, "--from="+path)
	} else {
		args = append(args, "--project="+PlanFolder(path))
	}
	text, err := program.Run(ctx, args...)
	var found struct {
		Tasks      []FleetTask `json:"tasks"`
		Guardrails string      `json:"guardrails"`
	}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the tasks of the fleet: %w", err)
	}
	return found.Tasks, found.Guardrails, nil
}

// PlanFolder is the project of a plan, which is named by its folder or by its file.
func PlanFolder(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() && filepath.Base(path) == "tasks.json" {
		return filepath.Dir(filepath.Dir(path))
	}
	return path
}
