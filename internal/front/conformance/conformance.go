package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/conformance"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Options say what is scored.
type Options struct {
	Command []string      // the program and its first arguments
	Only    string        // the beginning of the names of cases
	Limit   time.Duration // for one case
	JSON    bool
}

// A result is what became of one case.
type result string

const (
	right   result = "right"
	wrong   result = "wrong"
	leftOut result = "left out"
)

// scored is one case with its result.
type scored struct {
	Case         string   `json:"case"`
	Requirements []string `json:"requirements"`
	Result       result   `json:"result"`
	Problem      string   `json:"problem,omitempty"`
	Took         int64    `json:"took"` // milliseconds
}

// score is the result of all.
type score struct {
	Version string   `json:"version"`
	Right   int      `json:"right"`
	Wrong   int      `json:"wrong"`
	LeftOut int      `json:"leftOut"`
	Cases   []scored `json:"cases"`
}

// Score runs a program on the corpus. It is the exit code 1 if an answer is wrong.
func Score(e *cli.Env, o Options) error {
	cases, err := chosen(o.Only)
	if err != nil {
		return err
	}
	if err := process.CheckProgram(o.Command[0], e.Cwd); err != nil {
		return cli.Refuse("name a program that reads the files: ralph journal conformance -- ./reader", "%w", err)
	}
	folder, err := os.MkdirTemp("", "ralph-conformance-")
	if err != nil {
		return fmt.Errorf("make a folder for copies of the cases: %w", err)
	}
	defer os.RemoveAll(folder)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := score{Version: conformance.Version(), Cases: []scored{}}
	for i, c := range cases {
		progress(e, cases, i)
		one, err := o.try(ctx, e, c, filepath.Join(folder, strconv.Itoa(i+1)))
		if err != nil {
			return err
		}
		s.add(one)
	}
	progress(e, cases, len(cases))
	if o.JSON {
		err = cli.PrintJSON(e.Stdout, s, "")
	} else {
		err = s.print(e)
	}
	if err == nil && s.Wrong > 0 {
		return cli.Exit(1)
	}
	return err
}

func chosen(only string) (found []conformance.Case, err error) {
	all, err := conformance.Cases()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if strings.HasPrefix(c.Name, only) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return nil, cli.Refuse("their names begin with accept/, inbox/, must-reject/ or registry/", "--only %.80q: no case has such a name", only)
	}
	return found, nil
}

// progress says which case is next: on a terminal in one line that changes, else at each new folder
// of the corpus.
func progress(e *cli.Env, cases []conformance.Case, i int) {
	switch terminal := cli.OnTerminal(e.Stderr); {
	case terminal && i < len(cases):
		fmt.Fprintf(e.Stderr, "\r\x1b[Kralph: %d of %d: %s", i+1, len(cases), cases[i].Name)
	case terminal:
		fmt.Fprint(e.Stderr, "\r\x1b[K")
	case i < len(cases) && (i == 0 || path.Dir(cases[i].Name) != path.Dir(cases[i-1].Name)):
		cli.Tell(e.Stderr, "%d of %d cases done; next are those of %s", i, len(cases), path.Dir(cases[i].Name))
	}
}

// answerMost is how much a program may print, in bytes.
const answerMost = 1 << 20

var errLimit = errors.New("it took too long")

// try runs the program on one case. The error is one of ralph's own.
func (o Options) try(ctx context.Context, e *cli.Env, c conformance.Case, dir string) (scored, error) {
	s := scored{Case: c.Name, Requirements: c.Requirements, Result: wrong}
	if err := c.Write(dir); err != nil {
		return s, err
	}
	for _, name := range c.Hold {
		lock, err := safefile.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return s, fmt.Errorf("open the lock of case %s: %w", c.Name, err)
		}
		defer lock.Close()
		if _, err := filelock.TryExclusive(lock); err != nil {
			return s, fmt.Errorf("hold the lock of case %s: %w", c.Name, err)
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, o.Limit, errLimit)
	defer cancel()
	out, complaint := &process.Head{Max: answerMost, Fail: true}, &process.Tail{Max: 500}
	argv := append(append([]string{}, o.Command...), c.Kind, dir)
	exit, err := process.Run(limited, process.Command{Argv: argv, Dir: e.Cwd, Env: e.Environ, Stdout: out, Stderr: complaint})
	if ctx.Err() != nil {
		return s, cli.Failed("nothing is left of it; run it again", "interrupted at case %s", c.Name)
	}
	s.Took = exit.Took.Milliseconds()
	switch failure := exit.Failure(); {
	case errors.Is(err, errLimit):
		s.Problem = "it took longer than " + units.Span(o.Limit)
	case err != nil:
		s.Problem = err.Error()
	case out.Over:
		s.Problem = "it printed more than " + units.Bytes(answerMost)
	case failure != nil:
		s.Problem = strings.TrimSuffix(failure.Error()+": "+lastLine(complaint.String()), ": ")
	default:
		s.judge(c, out.Bytes())
	}
	if s.Problem == "" && s.Result == wrong {
		s.Result = right
	}
	return s, nil
}

// judge compares an answer with the right one.
func (s *scored) judge(c conformance.Case, answer []byte) {
	var not struct {
		Unsupported string `json:"unsupported"`
	}
	if c.Needs != "" && json.Unmarshal(answer, &not) == nil && not.Unsupported == c.Needs {
		s.Result = leftOut
		return
	}
	if s.Problem = c.Judge(answer); len(bytes.TrimSpace(answer)) == 0 {
		s.Problem = "it printed nothing"
	}
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (s *score) add(one scored) {
	s.Cases = append(s.Cases, one)
	switch one.Result {
	case right:
		s.Right++
	case wrong:
		s.Wrong++
	case leftOut:
		s.LeftOut++
	}
}

func (s *score) print(e *cli.Env) error {
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range s.Cases {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Result, c.Case, strings.Join(c.Requirements, " "), cli.Clean(c.Problem))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "%d of %s of the format %s are right, %d wrong, %d left out\n",
		s.Right, units.Quantity(len(s.Cases), "case"), s.Version, s.Wrong, s.LeftOut)
	return err
}

// Dump writes the corpus to a new folder.
func Dump(e *cli.Env, dir string) error {
	dir = e.Abs(dir)
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		return cli.Refuse("name a new folder: nothing is replaced", "%s exists", dir)
	} else if err != nil {
		return fmt.Errorf("make the folder of the corpus: %w", err)
	}
	if err := os.CopyFS(dir, conformance.Files); err != nil {
		return fmt.Errorf("write the corpus: %w", err)
	}
	cases, err := conformance.Cases()
	if err == nil {
		_, err = fmt.Fprintf(e.Stdout, "%s, of the format %s, in %s\n", units.Quantity(len(cases), "case"), conformance.Version(), dir)
	}
	return err
}
