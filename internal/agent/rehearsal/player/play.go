package player

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"
)

// printed returns a function that plays a step by printing its fields, and more, in a line of that
// type.
func printed(kind string, more ...field) func(*player, step) error {
	return func(p *player, s step) error { return p.print(kind, append(s.fields, more...)...) }
}

// block begins a message and returns the name of its block.
func (p *player) block() string {
	p.messages++
	return strconv.Itoa(p.messages) + ".1"
}

func (p *player) saying(kind, block, text string, final bool) error {
	return p.print(kind, field{"block", block}, field{"text", text}, given("final", final))
}

func (p *player) say(s step) error {
	text, block := p.fill(s.text), p.block()
	if s.wait == 0 {
		return p.saying("said", block, text, true)
	}
	pieces := strings.SplitAfter(text, " ")
	for i, piece := range pieces {
		if err := p.saying("said", block, piece, i == len(pieces)-1); err != nil {
			return err
		}
		if err := p.pause(s.wait); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) think(s step) error { return p.saying("thought", p.block(), p.fill(s.text), true) }

func (p *player) stderr(s step) error {
	fmt.Fprintln(p.Err, p.fill(s.text))
	return nil
}

// useTool shows a tool while do does its work. The return of a turn that is cut short is shown too.
func (p *player) useTool(name string, input []byte, do func(id string) (output string, ok bool, err error)) error {
	p.calls++
	id := field{"id", "t" + strconv.Itoa(p.calls)}
	call := []field{id, {"name", name}}
	if len(input) > 0 {
		call = append(call, field{"input", json.RawMessage(input)})
	}
	if err := p.print("called", call...); err != nil {
		return err
	}
	began := time.Now()
	output, ok, err := do(id.value.(string))
	if err != nil {
		output, ok = strings.TrimSpace(output+"\n"+err.Error()), false
	}
	printed := p.print("returned", id, field{"ok", ok}, field{"output", output}, given("took", time.Since(began).Milliseconds()))
	if err != nil {
		return err
	}
	return printed
}

func (p *player) tool(s step) error {
	return p.useTool(s.name, []byte(s.input), func(string) (string, bool, error) {
		return p.fill(s.text), !s.failed, p.pause(s.wait)
	})
}

// useFile shows a tool that does its work at once.
func (p *player) useFile(name string, input []byte, done string, do func() error) error {
	return p.useTool(name, input, func(string) (string, bool, error) {
		if err := do(); err != nil {
			return err.Error(), false, nil
		}
		return done, true, nil
	})
}

func (p *player) writeFile(s step) error {
	text := withNewline(p.fill(s.text))
	return p.useFile("write", object(field{"path", p.fill(s.name)}, field{"content", text}), fmt.Sprintf("wrote %d bytes", len(text)),
		func() error { return p.put(s.name, text, os.O_TRUNC) })
}

func (p *player) appendFile(s step) error {
	text := withNewline(p.fill(s.text))
	return p.useFile("edit", object(field{"path", p.fill(s.name)}, field{"append", text}), fmt.Sprintf("added %d bytes", len(text)),
		func() error { return p.put(s.name, text, os.O_APPEND) })
}

func (p *player) tick(s step) error {
	box := p.fill(s.text)
	return p.useFile("edit", object(field{"path", p.fill(s.name)}, field{"tick", box}), "ticked: "+box,
		func() error { return p.tickBox(s.name, box) })
}

func withNewline(text string) string {
	if text == "" {
		return ""
	}
	return text + "\n"
}

// loopFolder begins the name of a file in the loop's folder.
const loopFolder = "{loop}/"

// within returns the root that a file's name is relative to, and its name there.
func (p *player) within(name string) (*os.Root, string) {
	if inLoop, ok := strings.CutPrefix(name, loopFolder); ok {
		return p.loop, p.fill(inLoop)
	}
	return p.project, p.fill(name)
}

func (p *player) put(file, text string, flag int) error {
	root, name := p.within(file)
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// tickBox ticks the first open box of a file whose text contains box.
func (p *player) tickBox(file, box string) error {
	root, name := p.within(file)
	text, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	all := strings.SplitAfter(string(text), "\n")
	for i, line := range all {
		before, after, ok := strings.Cut(line, "[ ] ")
		if ok && strings.Contains("-*+", strings.TrimSpace(before)) && strings.Contains(after, box) {
			all[i] = before + "[x] " + after
			return root.WriteFile(name, []byte(strings.Join(all, "")), 0o666)
		}
	}
	return &fs.PathError{Op: "tick", Path: name, Err: fmt.Errorf("no open box has the text %q", box)}
}

func (p *player) run(s step) error {
	command := p.fill(s.text)
	return p.useTool("bash", object(field{"command", command}), func(id string) (string, bool, error) {
		return p.runCommand(id, command)
	})
}

// silence waits for an abort. It delivers a steer at once, because it has no end of its own, and
// ends if the reaction finishes the turn.
func (p *player) silence(step) error {
	for {
		select {
		case in, ok := <-p.in:
			if err := p.take(in, ok); err != nil {
				return err
			}
			if err := p.deliver(); err != nil || !p.running {
				return err
			}
		case <-p.ctx.Done():
			return errStopped
		}
	}
}

func (p *player) limit(s step) error {
	if s.wait >= 0 {
		s.until = p.Now().Add(s.wait)
	}
	until := ""
	if !s.until.IsZero() {
		until = s.until.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	return p.print("limited", field{"kind", s.name}, given("until", until), given("text", p.fill(s.text)))
}

func (p *player) retry(s step) error {
	err := p.print("retried", field{"attempt", s.number}, given("max", s.of), given("delay", s.wait.Milliseconds()), given("text", p.fill(s.text)))
	if err != nil {
		return err
	}
	return p.pause(s.wait)
}

func (p *player) crash(s step) error {
	fmt.Fprintf(p.Err, "rehearsal: crashing with exit code %d, as the scenario says\n", s.number)
	return &exitError{s.number}
}

func (p *player) hang(step) error {
	fmt.Fprintln(p.Err, "rehearsal: hanging, as the scenario says")
	// Without a timer the Go runtime would end the process for a deadlock.
	for {
		select {
		case <-p.ctx.Done():
			return errStopped
		case <-time.After(time.Hour):
		}
	}
}

func (p *player) ignoreTerm(step) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	return nil
}

// garbage are lines that a real agent may print.
var garbage = strings.Join([]string{
	"npm WARN this is no JSON at all",
	`{"type":"said","block":"1.1","te`,
	"null", "[]", "17", `"text"`, "{}",
	`{"type":null}`, `{"type":"said"}`, `{"type":"said","block":7,"text":{}}`,
	`{"type":"from the future","data":{"deep":[1,2,3]}}`,
	"\xff\xfe invalid \xc3\x28 text",
	"{\"type\":\"said\",\"block\":\"1.1\",\"text\":\"\xff\"}",
	"\x00\x01\x02\x1b[31mred\x1b[0m",
	`{"type":"returned","id":"never called","ok":true,"output":"?"}`,
	`{"type":"fresh"}`, `{"type":"steered","id":"nobody"}`,
	strings.Repeat("[", 20000),
	"",
}, "\n")

func (p *player) garbage(step) error { return p.write([]byte(garbage + "\n")) }

func (p *player) flood(s step) error {
	const words = "one line can be very long, and nothing may be lost of it; "
	return p.saying("said", p.block(), strings.Repeat(words, s.number/len(words)+1)[:s.number], true)
}

// talkBatch is written at once: more would delay a steer, less would measure system calls.
const talkBatch = 32 << 10

// talk says as many bytes as the step names, or endlessly if that is below 0.
func (p *player) talk(s step) error {
	block := field{"block", p.block()}
	words := strings.SplitAfter("the quick brown fox jumps over the lazy dog and tells everybody about it at great length ", " ")
	lines := make([][]byte, len(words))
	for i, word := range words {
		lines[i] = line("said", block, field{"text", word})
	}
	var batch []byte
	for left, i := s.number, 0; left != 0; i = (i + 1) % len(words) {
		next, size := lines[i], len(words[i])
		if s.number > 0 && size > left {
			size = left
			next = line("said", block, field{"text", words[i][:size]})
		}
		batch = append(batch, next...)
		if s.number > 0 {
			left -= size
		}
		if len(batch) < talkBatch && left != 0 {
			continue
		}
		if err := p.write(batch); err != nil {
			return err
		}
		batch = batch[:0]
		if err := p.hear(); err != nil {
			return err
		}
		if !p.running && s.number < 0 {
			return nil // a reaction finished the turn
		}
	}
	return nil
}

// orphan starts a process that outlives the turn. It gets stdout if that is not nil.
func (p *player) orphan(s step, stdout io.Writer) error {
	cmd := shell(context.Background(), p.fill(s.text))
	cmd.Dir, cmd.Stdout = p.Dir, stdout
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return p.notice("orphan", err.Error())
	}
	go func() { _ = cmd.Wait() }() // reaps the orphan if it ends before the player
	return p.notice("orphan", strconv.Itoa(cmd.Process.Pid))
}

func (p *player) inbox(s step) error {
	text := p.fill(s.text)
	return p.useTool("inbox", object(field{"kind", s.name}, field{"text", text}), func(string) (string, bool, error) {
		id, err := p.drop(s.name, text)
		if err != nil {
			return err.Error(), false, nil
		}
		return "dropped " + id, true, nil
	})
}

// drop puts a command into the agent's part of the loop's inbox as any program can: it writes a
// file under another name and renames it.
func (p *player) drop(kind, text string) (string, error) {
	id := ulid.MustNew(ulid.Timestamp(p.Now()), rand.Reader).String()
	command := object(field{"v", 1}, field{"id", id}, field{"kind", kind}, field{"from", "agent:rehearsal"}, given("text", text))
	const folder = "from-agent/"
	if err := p.loop.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	temporary := folder + ".drop-" + id
	if err := p.loop.WriteFile(temporary, append(command, '\n'), 0o600); err != nil {
		return "", err
	}
	return id, p.loop.Rename(temporary, folder+id+".json")
}
