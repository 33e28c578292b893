package send

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Ask sends a question from the loop's agent and prints its number. Only a process that the loop
// started can ask.
func Ask(e *cli.Env, question inbox.Command, patience time.Duration, asJSON bool) error {
	if !filepath.IsAbs(e.Variable(cli.LoopDirVariable)) {
		return cli.Refuse("'ralph answer' lists the questions of a loop, 'ralph steer' sends its agent a message",
			"only the agent of a loop can ask, and no loop started this shell: %s is not set", cli.LoopDirVariable)
	}
	s, _, err := cli.CallingLoop(e, "")
	if err != nil {
		return err
	}
	question.Kind, question.From = inbox.Ask, event.FromAgent+":"+cmp.Or(s.Agent, s.Name)
	if err := question.Check(); err != nil {
		return cli.Refuse("write it as in 'ralph ask \"Postgres or SQLite?\" --choice postgres --choice sqlite'", "%w", err)
	}
	return Flags{Wait: patience, JSON: asJSON}.SendTo(e, s, question)
}

// Answer sends the answer to a question, or lists the open questions of a loop. The words are the
// number and the answer, after the loop's name, unless the flags have that.
func (v Flags) Answer(e *cli.Env, words []string) error {
	if v.Loop == "" && len(words) > 0 && !isNumber(words[0]) {
		v.Loop, words = words[0], words[1:]
	}
	s, err := e.Find(v.Loop)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return listQuestions(e, s, v.JSON)
	}
	return v.answer(e, s, words)
}

func (v Flags) answer(e *cli.Env, s registry.Status, words []string) error {
	hint := fmt.Sprintf("'ralph answer %s' lists the open questions", e.NameToType(s))
	number, err := strconv.Atoi(words[0])
	if err != nil || number < 1 {
		return cli.Refuse(hint, "%q is not the number of a question", words[0])
	}
	c := inbox.Command{Kind: inbox.Answer, Question: number, Text: Text(e, words[1:])}
	if strings.TrimSpace(c.Text) == "" {
		return cli.Refuse(fmt.Sprintf("write it as in 'ralph answer %s %d \"postgres\"'; %s", e.NameToType(s), number, hint),
			"there is no answer to question %d", number)
	}
	if err := c.Check(); err != nil {
		return cli.Refuse(hint, "%w", err)
	}
	return v.SendTo(e, s, c)
}

// isNumber reports whether a word begins like a number: no loop's name needs to.
func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// IsOwnAgent reports whether the environment says that this process works for the loop. It is a
// name for the sender of commands: the runner finds out by itself whose process gave one.
func IsOwnAgent(e *cli.Env, s registry.Status) bool {
	own := e.Variable(cli.LoopDirVariable)
	if own == "" {
		return false
	}
	mine, err := os.Stat(own)
	theirs, failed := os.Stat(s.Dir)
	return err == nil && failed == nil && os.SameFile(mine, theirs)
}

// listed is an open question as JSON has it.
type listed struct {
	Loop string `json:"loop"`
	projector.Question
}

// listQuestions prints the open questions of a loop.
func listQuestions(e *cli.Env, s registry.Status, asJSON bool) error {
	v, err := projector.Read(s)
	if err != nil {
		return err
	}
	open := v.OpenQuestions()
	if asJSON {
		all := []listed{}
		for _, q := range open {
			all = append(all, listed{s.Name, q})
		}
		return cli.PrintJSON(e.Stdout, all, "")
	}
	if len(open) == 0 {
		fmt.Fprintf(e.Stdout, "loop %s has no open question\n", s.Name)
		return nil
	}
	waiting, err := inbox.Dropped(s.Dir)
	if err != nil {
		return err
	}
	for _, q := range open {
		fmt.Fprint(e.Stdout, printed(q, e.Now()))
		for _, c := range waiting {
			if c.Kind == inbox.Answer && c.Question == q.Number {
				fmt.Fprintf(e.Stdout, "  answer that the next runner takes: %s\n", render.Clean(c.Text))
			}
		}
	}
	if !s.Live.Alive {
		fmt.Fprintf(e.Stdout, "loop %s is not running: an answer is kept until 'ralph resume %s' continues it\n", s.Name, e.NameToType(s))
	}
	fmt.Fprintf(e.Stdout, "answer with: ralph answer %s %d TEXT\n", e.NameToType(s), open[0].Number)
	return nil
}

// printed is a question on a terminal.
func printed(q projector.Question, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "question %d, asked %s", q.Number, units.Ago(now.Sub(q.AskedAt)))
	if q.Blocks {
		b.WriteString(", blocks completion")
	}
	fmt.Fprintf(&b, ":\n  %s\n", strings.ReplaceAll(q.Text, "\n", "\n  "))
	if len(q.Choices) > 0 {
		fmt.Fprintf(&b, "  choices: %s\n", render.Clean(strings.Join(q.Choices, ", ")))
	}
	return b.String()
}
