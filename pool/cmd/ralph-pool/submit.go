package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/pool/project"
	"github.com/ralph-loop/ralph/pool/queue"
	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/trust"
)

type submitCommand struct {
	Tasks      []string `arg:"" optional:"" name:"task" help:"A file with a prompt, a folder of such files *.md (a loop each), a project with a plan, or its ralph/tasks.json."`
	Prompt     string   `short:"p" placeholder:"TEXT" help:"The prompt of every iteration; - reads it from stdin."`
	Name       string   `help:"The loop's name. Default: from the file's name or the prompt."`
	Repository string   `placeholder:"URL" help:"What the worker clones, with its own credentials. Default: the remote of the current project, which must have all of its work."`
	Branch     string   `help:"The branch that the work begins from. Default: the current one; with --repository that of the remote."`
	Inside     string   `placeholder:"DIR" help:"With --repository: the project's folder in it."`

	Agent             string   `short:"a" help:"As of 'ralph start'."`
	Model             string   `help:"As of 'ralph start'."`
	MaximumIterations int      `short:"m" placeholder:"N" help:"As of 'ralph start'."`
	Sandbox           string   `placeholder:"MODE" help:"As of 'ralph start'."`
	Set               []string `sep:"none" placeholder:"KEY=VALUE" help:"As of 'ralph start'."`

	Priority int      `help:"0 to 9; higher is sooner."`
	Label    []string `help:"That a worker must have; may be repeated."`
	Budget   float64  `placeholder:"DOLLARS" help:"What the loop may spend."`
	Account  string   `help:"Whose budget over all hosts the loop's budget is part of: see 'ralph pool account'."`
	Fleet    string   `placeholder:"NAME" help:"Submit the tasks as a fleet of this name: each begins from the work of those that it depends on, when they have completed. Without a task: the stories of this project's ralph/tasks.json."`
	Needs    []string `placeholder:"ID" help:"Begin when this other loop of the pool has completed; may be repeated."`
	Every    string   `placeholder:"EXPRESSION" help:"Submit it again and again, at these times: 'mon-fri 01:00', as for 'ralph every'. The loop's name is that of the schedule."`
	Timezone string   `default:"UTC" placeholder:"ZONE" help:"With --every: the zone of the times."`
	Overlap  string   `enum:"skip,queue,replace" default:"skip" help:"With --every: while the loop of the run before is not over, skip the run, queue one until it is, or replace it after its iteration."`
	JSON     bool     `help:"Print an array of what was submitted."`
}

// Help says what it is for.
func (submitCommand) Help() string {
	return `It puts loops into the pool's queue, from which a worker on some host takes them. What other hosts could not see is refused: files that are not committed, commits that are not pushed. A specification is signed with your key, which the first submission makes; a worker runs those of keys that its host trusts.

Examples:
  ralph pool submit -p 'Make the tests of ./parser pass.' -a claude --budget 5
  ralph pool submit tasks/ --priority 7 --label gpu
  ralph pool submit --fleet demo tasks/ -a claude --account team --budget 5
  ralph pool submit --repository git@git.example.com:team/app.git --branch main fix.md`
}

// Run submits.
func (c *submitCommand) Run(ctx context.Context) error {
	h, err := here(ctx)
	if err != nil {
		return err
	}
	defer h.Close()
	if c.Account != "" {
		if a, err := queue.ReadAccount(ctx, h.store, c.Account); err != nil {
			return err
		} else if a.Limit == nil {
			say("account %s has no limit: 'ralph pool account %s --limit DOLLARS' sets one", c.Account, c.Account)
		}
	}
	if c.Fleet != "" {
		return c.submitFleet(ctx, h)
	}
	tasks, err := c.read()
	if err != nil {
		return err
	}
	common, err := c.common(ctx, tasks)
	if err != nil {
		return err
	}
	key, err := trust.Own(h.home)
	if err != nil {
		return err
	}
	if c.Every != "" {
		return c.schedule(ctx, h, common, tasks, key)
	}
	submitted := []spec.Spec{}
	begun := time.Now()
	for _, t := range tasks {
		s := specOf(common, t)
		if err := queue.Submit(ctx, h.store, &s, key); err != nil {
			return errors.Join(fmt.Errorf("submit %s, after %d others: %w", t.Name, len(submitted), err), c.print(submitted))
		}
		submitted = append(submitted, s)
		if time.Since(begun) > time.Second {
			say("%d of %d are submitted", len(submitted), len(tasks))
			begun = time.Now()
		}
	}
	return c.print(submitted)
}

// specOf returns the specification of a task.
func specOf(common spec.Spec, t project.Task) spec.Spec {
	common.Name, common.Prompt = t.Name, t.Prompt
	if t.Plan {
		common.Start = append(common.Start[:len(common.Start):len(common.Start)], "--tasks")
	}
	return common
}

// read returns the tasks with their names.
func (c *submitCommand) read() (tasks []project.Task, err error) {
	for _, path := range c.Tasks {
		more, err := project.Tasks(path)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, more...)
	}
	switch {
	case c.Prompt != "" && len(tasks) > 0:
		return nil, errors.New("-p has a prompt, and so have the files: leave one of them out")
	case c.Prompt == "-":
		text, err := io.ReadAll(io.LimitReader(os.Stdin, spec.MaxPrompt+1))
		if err != nil {
			return nil, fmt.Errorf("read the prompt: %w", err)
		}
		c.Prompt = string(text)
	case c.Prompt == "" && len(tasks) == 0:
		return nil, errors.New("there is nothing to submit: name a file with a task, a folder of them, or give a prompt with -p")
	}
	if c.Prompt != "" {
		words := strings.Fields(c.Prompt)
		tasks = append(tasks, project.Task{Name: project.Slug(strings.Join(words[:min(len(words), 5)], " ")), Prompt: c.Prompt})
	}
	if c.Name != "" && len(tasks) > 1 {
		return nil, fmt.Errorf("--name is for one loop, and there are %d tasks: their files name them", len(tasks))
	}
	if c.Name != "" {
		tasks[0].Name = c.Name
	}
	return tasks, nil
}

// common returns what all specifications have.
func (c *submitCommand) common(ctx context.Context, tasks []project.Task) (s spec.Spec, err error) {
	s = spec.Spec{
		Repository: c.Repository, Branch: c.Branch, Inside: c.Inside, Priority: c.Priority, Labels: c.Label, Budget: c.Budget, Account: c.Account,
		Needs: c.Needs, By: person(),
	}
	for _, option := range []struct{ name, value string }{{"--agent", c.Agent}, {"--model", c.Model}, {"--sandbox", c.Sandbox}} {
		if option.value != "" {
			s.Start = append(s.Start, option.name+"="+option.value)
		}
	}
	if c.MaximumIterations > 0 {
		s.Start = append(s.Start, fmt.Sprintf("--maximum-iterations=%d", c.MaximumIterations))
	}
	for _, setting := range c.Set {
		s.Start = append(s.Start, "--set="+setting)
	}
	if c.Repository != "" {
		return s, nil
	}
	if c.Branch != "" || c.Inside != "" {
		return s, errors.New("--branch and --inside say something of --repository: give that too, or check the branch out")
	}
	dir, err := os.Getwd()
	if err != nil {
		return s, err
	}
	var files []string
	for _, t := range tasks {
		if t.Plan && len(c.Tasks) > 0 { // the project of the plan, wherever the person is
			dir = project.PlanFolder(c.Tasks[0])
		}
		files = append(files, t.File)
	}
	p, err := project.Find(ctx, dir, files)
	s.Repository, s.Branch, s.Inside = p.Repository, p.Branch, p.Inside
	return s, err
}

func (c *submitCommand) print(submitted []spec.Spec) error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(submitted)
	}
	for _, s := range submitted {
		fmt.Printf("%s  %s\n", s.ID, s.Name)
	}
	return nil
}

// person names who submits, such as ada@mill.
func person() string {
	_, name, _ := strings.Cut(client.Sender("pool"), ":")
	return name
}
