package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/pool/fleet"
	"github.com/ralph-loop/ralph/pool/project"
	"github.com/ralph-loop/ralph/pool/trust"
)

// submitFleet submits tasks that depend on each other.
func (c *submitCommand) submitFleet(ctx context.Context, h *place) error {
	path := "."
	switch {
	case c.Every != "" || c.Prompt != "" || c.Name != "" || len(c.Needs) > 0:
		return errors.New("--fleet is for tasks in files, which have names and say what they depend on: leave -p, --name, --needs and --every out")
	case len(c.Tasks) > 1:
		return errors.New("--fleet is for one folder of task files, or one plan")
	case len(c.Tasks) == 1:
		path = c.Tasks[0]
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	found, guardrails, err := project.Fleet(ctx, path)
	if err == nil && len(found) == 0 {
		err = errors.New("all tasks of the plan are done")
	}
	if err != nil {
		return err
	}
	tasks, err := c.parts(ctx, path, found, guardrails)
	if err != nil {
		return err
	}
	key, err := trust.Own(h.home)
	if err != nil {
		return err
	}
	begun := time.Now()
	submitted, err := fleet.Submit(ctx, h.store, c.Fleet, tasks, key, func(n int) {
		if time.Since(begun) > time.Second {
			say("%d of %d are submitted", n, len(tasks))
			begun = time.Now()
		}
	})
	if err != nil {
		return err
	}
	return c.print(submitted)
}

// parts returns the tasks as specifications. Their work is pushed, so that those that depend on it
// find it.
func (c *submitCommand) parts(ctx context.Context, path string, found []project.FleetTask, guardrails string) (tasks []fleet.Task, err error) {
	places, files := map[string]int{}, []project.Task{}
	for i, t := range found {
		places[t.ID] = i
		files = append(files, project.Task{File: filepath.Join(path, t.ID+".md")})
	}
	if _, err := filepath.EvalSymlinks(files[0].File); err != nil { // of a plan, which has to be committed
		files, c.Tasks = []project.Task{{Plan: true}}, []string{path}
	}
	common, err := c.common(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, set := range [][2]string{{"scm.command", "git"}, {"scm.tasks", `["commit","push"]`}, {"scm.addUntracked", "true"}, {"guardrails", guardrails}} {
		given := slices.ContainsFunc(c.Set, func(given string) bool { return strings.HasPrefix(given, set[0]+"=") })
		if set[1] != "" && !given {
			common.Start = append(common.Start, "--set="+set[0]+"="+set[1])
		}
	}
	for _, t := range found {
		part := fleet.Task{Spec: specOf(common, project.Task{Name: project.Slug(c.Fleet + "-" + t.ID), Prompt: t.Prompt})}
		for _, on := range t.DependsOn {
			part.Needs = append(part.Needs, places[on])
		}
		tasks = append(tasks, part)
	}
	return tasks, nil
}
