package planning

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Interview is one 'ralph plan'.
type Interview struct {
	Agent  string // its command; if empty, that of the settings
	From   string // a file with the requirements, as the person named it; empty if there is none
	Source string // foreign text that the plan is about, such as an issue; empty if there is none
	Trust  bool   // let the settings of the project count this once
	Strict bool   // warnings are errors

	briefing briefing
	kept     []keptFile // that the agent may not change
	before   *story.List
}

// keptFile is a file that has to be after the interview what it was before.
type keptFile struct {
	name    string // for a person
	path    string
	content []byte
	mode    fs.FileMode
}

// Print prints the instructions for the agent, for use in any other program.
func (i *Interview) Print(e *cli.Env) error {
	if err := i.prepare(e); err != nil {
		return err
	}
	i.briefing.printed = true
	_, err := fmt.Fprint(e.Stdout, cli.Clean(i.briefing.text()))
	return err
}

// Run lets the person's agent write the plan in a conversation, checks what was written, and offers
// to run again. The exit code is 2 if no loop can work on the plan then.
func (i *Interview) Run(e *cli.Env) error {
	if i.From != "" {
		if _, err := i.requirements(e); err != nil {
			return err
		}
	}
	if !e.StdinIsTerminal() || !e.IsTerminal() {
		return cli.Refuse("run it in a terminal; 'ralph plan --print-prompt' prints the instructions for an agent elsewhere, and 'ralph plan --check' checks what is written",
			"the plan is written in a conversation, and stdin or stdout is no terminal")
	}
	if err := checkUnused(e, "a loop changes tasks.json, too"); err != nil {
		return err
	}
	if err := i.prepare(e); err != nil {
		return err
	}
	argv, env, err := i.agent(e)
	if err != nil {
		return err
	}
	for {
		words, err := argv(i.briefing.text())
		if err != nil {
			return err
		}
		said := converse(e, words, env)
		if err := i.restore(e); err != nil {
			return err
		}
		if said != nil {
			return said
		}
		checked := i.check(e)
		if err := checked.Print(e.Stdout); err != nil {
			return err
		}
		again, err := i.again(e, checked)
		if err != nil || !again {
			return errors.Join(err, checked.Exit(i.Strict))
		}
		i.briefing.findings = checked.Findings
	}
}

// prepare reads the plan as it is, and the requirements that the person named.
func (i *Interview) prepare(e *cli.Env) error {
	if !cli.Exists(plan.Dir(e.Root())) {
		return cli.Refuse("'ralph init --tasks' lays it out", "there is no plan here: the folder %s is missing", e.Short(plan.Dir(e.Root())))
	}
	i.briefing = briefing{source: cli.Clean(i.Source)}
	if tasks, err := plan.ReadTasks(e.Root()); err == nil {
		if i.before, _ = story.Parse(tasks); i.before != nil {
			i.briefing.worked = workedOn(i.before)
		}
	}
	prd, err := plan.Read(e.Root(), plan.PRD)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if i.From != "" {
		if err := i.take(e, prd); err != nil {
			return err
		}
	}
	if i.briefing.derive = i.From != "" || !plan.IsTemplate(prd); i.briefing.derive {
		return i.keep(plan.Folder+"/"+plan.PRD, plan.Path(e.Root(), plan.PRD))
	}
	return nil
}

// requirements reads the file with those that a person named.
func (i *Interview) requirements(e *cli.Env) ([]byte, error) {
	content, err := safefile.ReadLinked(e.Abs(i.From), plan.MaxFile)
	if err == nil && plan.IsTemplate(content) {
		err = fmt.Errorf("%s has no content", i.From)
	}
	if err != nil {
		return nil, cli.Refuse("name a file with the requirements", "--from: %w", err)
	}
	return content, nil
}

// take copies the requirements that a person named to prd.md, where the iterations read them.
func (i *Interview) take(e *cli.Env, prd []byte) error {
	path := e.Abs(i.From)
	content, err := i.requirements(e)
	if err != nil {
		return err
	}
	if cli.WithoutLinks(path) == cli.WithoutLinks(plan.Path(e.Root(), plan.PRD)) || bytes.Equal(content, prd) {
		return nil
	}
	if !plan.IsTemplate(prd) {
		return cli.Refuse("'ralph archive' puts the plan that is there away; without --from, the stories are derived from it",
			"ralph/prd.md has other content than %s", i.From)
	}
	if err := plan.Write(e.Root(), plan.PRD, content); err != nil {
		return err
	}
	cli.Tell(e.Stderr, "copied %s to ralph/prd.md, where the iterations read it", i.From)
	i.briefing.from = cli.Clean(i.From)
	return i.keep(i.From, path)
}

// keep remembers a file that the agent may not change.
func (i *Interview) keep(name, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	content, err := safefile.ReadLinked(path, plan.MaxFile)
	if err != nil {
		return err
	}
	i.kept = append(i.kept, keptFile{name: name, path: path, content: content, mode: info.Mode().Perm()})
	return nil
}

// restore puts back what the agent may not change.
func (i *Interview) restore(e *cli.Env) error {
	for _, f := range i.kept {
		now, err := safefile.ReadLinked(f.path, plan.MaxFile)
		if err == nil && bytes.Equal(now, f.content) {
			continue
		}
		if err := safefile.WriteFile(cli.WithoutLinks(f.path), f.content, f.mode); err != nil {
			return fmt.Errorf("put %s back: %w", f.name, err)
		}
		cli.Tell(e.Stderr, "the agent changed %s: it is as it was before", f.name)
	}
	return nil
}

// check checks the plan, and whether stories that were worked on are still there.
func (i *Interview) check(e *cli.Env) Checked {
	checked := Check(e.Root())
	tasks, err := plan.ReadTasks(e.Root())
	if err != nil || i.before == nil {
		return checked
	}
	now, _ := story.Parse(tasks)
	if now == nil {
		return checked
	}
	for _, id := range i.briefing.worked {
		was, is := i.before.Find(id), now.Find(id)
		switch {
		case is == nil:
			checked.warn("story %s: an iteration has worked on it, and it is not in the list any more", id)
		case is.Passes != was.Passes || is.ReviewStatus != was.ReviewStatus || is.ReviewCount != was.ReviewCount:
			checked.warn("story %s: the review of an iteration's work was changed: passes, reviewStatus or reviewCount", id)
		}
	}
	return checked
}

// again asks whether the interview is to run again with what was found.
func (i *Interview) again(e *cli.Env, checked Checked) (bool, error) {
	stdin, ok := e.Stdin.(*os.File)
	if len(checked.Findings) == 0 || !ok {
		return false, nil
	}
	asker := cli.NewAsker(stdin, e.Stderr)
	defer asker.Close()
	answer, err := asker.Confirm("Correct this in another conversation? (y/N): ")
	if errors.Is(err, cli.ErrGone) {
		fmt.Fprintln(e.Stderr)
		return false, cli.Exit(event.ExitInterrupted)
	}
	return answer == cli.Yes, err
}
