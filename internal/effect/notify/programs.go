package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"os/exec"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// maxOutput bounds what an error quotes of a program's output, in bytes.
const maxOutput = 300

// run runs a program of the person's, with a mark of its own, so that nothing of it is left.
func run(ctx context.Context, c process.Command) error {
	errs := process.Tail{Max: maxOutput}
	c.Stdout, c.Stderr, c.Session = &errs, &errs, true
	exit, err := process.Run(ctx, c)
	if errors.Is(err, exec.ErrNotFound) {
		return finalError{err}
	}
	if err == nil {
		err = exit.Failure()
	}
	if said := strings.Join(strings.Fields(errs.String()), " "); err != nil && said != "" {
		err = fmt.Errorf("%w: %s", err, units.Cut(said, maxOutput))
	}
	return err
}

// sendDesktop shows the message on this machine's desktop.
func sendDesktop(ctx context.Context, m Message, env []string) error {
	argv := []string{"notify-send", "--app-name=ralph", "--", m.Title, m.body()}
	if urgent[m.Occasion] {
		argv = append([]string{argv[0], "--urgency=critical"}, argv[1:]...)
	}
	if runtime.GOOS == "darwin" {
		// The texts are arguments, not parts of the script.
		argv = []string{"osascript", "-e", "on run argv", "-e",
			"display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", m.Title, m.body()}
	}
	return run(ctx, process.Command{Argv: argv, Env: env})
}

// oneLine is a text as the value of a header: no line end begins another header.
func oneLine(text string) string {
	return mime.QEncoding.Encode("utf-8", strings.Join(strings.Fields(text), " "))
}

// sendMail gives a mail to the local sendmail, which reads the recipient from the header.
func sendMail(ctx context.Context, c config.Notification, m Message, env []string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "To: %s\nSubject: %s\nDate: %s\nMessage-ID: <%s@ralph.invalid>\n",
		strings.Join(strings.Fields(c.To), " "), oneLine(m.Title), m.At.Format("Mon, 02 Jan 2006 15:04:05 -0700"), m.ID)
	text.WriteString("MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\nAuto-Submitted: auto-generated\n\n")
	text.WriteString(m.body() + "\n")
	program := "sendmail"
	if _, err := exec.LookPath(program); err != nil {
		program = "/usr/sbin/sendmail" // not on everyone's PATH
	}
	// -i: a line with a dot alone does not end the mail.
	return run(ctx, process.Command{Argv: []string{program, "-t", "-i"}, Stdin: []byte(text.String()), Env: env})
}

// sendCommand runs a shell command with the message as JSON on stdin, and in variables.
func sendCommand(ctx context.Context, c config.Notification, m Message, env []string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	env = process.Environment(env, nil, []string{
		"RALPH_NOTIFY_OCCASION=" + string(m.Occasion), "RALPH_NOTIFY_TITLE=" + m.Title, "RALPH_NOTIFY_TEXT=" + m.Text, "RALPH_NOTIFY_NEXT=" + m.Next,
	})
	return run(ctx, process.Command{Shell: c.Command, Stdin: append(text, '\n'), Env: env, Dir: m.Project})
}
