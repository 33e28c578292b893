package attach

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/render"
)

const attachHelp = `type a line to steer the agent, or:
  /follow-up TEXT   add it to the next prompt
  /pause  /resume   pause the loop after this iteration, resume it
  /stop  /stop now  end the loop after this iteration, or at once
  /set KEY=VALUE    change a setting, such as maximumIterations=30
  /kill             end the loop and its agent without asking
  /detach           leave; the loop goes on (also ctrl-d, ctrl-c)
arrows move within the line and through earlier ones, ctrl-z suspends
a line that begins with // is sent with one /`

// typedCommand parses a line as a command; problem says what is wrong with it.
func typedCommand(line string) (c inbox.Command, problem string) {
	if !strings.HasPrefix(line, "/") {
		return inbox.Command{Kind: inbox.Steer, Text: line}, ""
	}
	if strings.HasPrefix(line, "//") {
		return inbox.Command{Kind: inbox.Steer, Text: line[1:]}, ""
	}
	verb, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	switch c.Kind = inbox.Kind(verb); c.Kind {
	case inbox.Pause, inbox.Resume, inbox.Kill:
	case inbox.Steer, inbox.FollowUp:
		c.Text = rest
	case inbox.Stop:
		c.Text = rest
		if now, why, _ := strings.Cut(rest, " "); now == "now" {
			c.Kind, c.Text = inbox.StopNow, why
		}
	case inbox.Set:
		key, value, ok := strings.Cut(rest, "=")
		if !ok {
			return c, "write it as in '/set maximumIterations=30'"
		}
		c.Key, c.Value = strings.TrimSpace(key), strings.TrimSpace(value)
	default:
		return c, fmt.Sprintf("there is no /%s; /help shows what there is", render.Clean(verb))
	}
	if err := c.Check(); err != nil {
		problem = err.Error()
	}
	return c, problem
}
