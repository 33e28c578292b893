package player

import (
	"context"
	"encoding/json"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// step is one thing that the agent does. What it returns ends the section.
type step interface{ play(p *player) error }

type sayStep struct {
	text  string
	pause time.Duration // between words
}

func (s sayStep) play(p *player) error {
	p.messages++
	text := p.fill(s.text)
	block := strconv.Itoa(p.messages) + ".1"
	if s.pause == 0 {
		return p.print(textLine{"said", block, text, true})
	}
	pieces := strings.SplitAfter(text, " ")
	for i, piece := range pieces {
		if err := p.print(textLine{"said", block, piece, i == len(pieces)-1}); err != nil {
			return err
		}
		if err := p.pause(s.pause); err != nil {
			return err
		}
	}
	return nil
}

type thinkStep struct{ text string }

func (s thinkStep) play(p *player) error {
	p.messages++
	return p.print(textLine{"thought", strconv.Itoa(p.messages) + ".1", p.fill(s.text), true})
}

type toolStep struct {
	name   string
	input  string // JSON, or empty
	took   time.Duration
	ok     bool
	output string
}

func (s toolStep) play(p *player) error {
	return p.useTool(s.name, []byte(s.input), func(string) (string, bool, error) {
		return p.fill(s.output), s.ok, p.pause(s.took)
	})
}

// useTool shows a tool that does its work in do. A turn that is cut short shows its return all the same.
func (p *player) useTool(name string, input []byte, do func(id string) (output string, ok bool, err error)) error {
	p.calls++
	id := "t" + strconv.Itoa(p.calls)
	if err := p.print(calledLine{"called", id, name, input}); err != nil {
		return err
	}
	began := time.Now()
	output, ok, err := do(id)
	if err != nil {
		output, ok = strings.TrimSpace(output+"\n"+err.Error()), false
	}
	// Where nobody listens any more, the first error says so already.
	printed := p.print(returnedLine{"returned", id, ok, output, time.Since(began).Milliseconds()})
	if err != nil {
		return err
	}
	return printed
}

type planStep struct{ todos []todo }

func (s planStep) play(p *player) error { return p.print(plannedLine{"planned", s.todos}) }

type useStep struct {
	In, Out, CacheRead, CacheWrite int64
	USD                            *float64
	Model                          string
}

func (s useStep) play(p *player) error {
	return p.print(usedLine{"used", s.In, s.Out, s.CacheRead, s.CacheWrite, s.USD, s.Model})
}

type sleepStep struct{ d time.Duration }

func (s sleepStep) play(p *player) error { return p.pause(s.d) }

type silenceStep struct{}

// A silence is the one step in which a steer is delivered at once: it has no end to
// wait for, unless the reaction finishes the turn.
func (s silenceStep) play(p *player) error {
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

type limitStep struct {
	kind     string
	relative bool
	after    time.Duration // where relative
	until    time.Time     // else, where it is not zero
	text     string
}

func (s limitStep) play(p *player) error {
	line := limitedLine{Type: "limited", Kind: s.kind, Text: p.fill(s.text)}
	if s.relative {
		s.until = p.Now().Add(s.after)
	}
	if !s.until.IsZero() {
		line.Until = s.until.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	return p.print(line)
}

type retryStep struct {
	attempt, most int
	delay         time.Duration
	text          string
}

func (s retryStep) play(p *player) error {
	if err := p.print(retriedLine{"retried", s.attempt, s.most, s.delay.Milliseconds(), p.fill(s.text)}); err != nil {
		return err
	}
	return p.pause(s.delay)
}

type compactStep struct{}

func (compactStep) play(p *player) error { return p.print(compactedLine{"compacted", 180000, 24000}) }

type finishStep struct{ outcome, kind, text string }

func (s finishStep) play(p *player) error { return p.finish(s) }

type crashStep struct{ code int }

func (s crashStep) play(p *player) error {
	fmt.Fprintf(p.Err, "rehearsal: crashing with exit code %d, as the scenario says\n", s.code)
	return &exitError{s.code}
}

type exitStep struct{ code int }

func (s exitStep) play(*player) error { return &exitError{s.code} }

type hangStep struct{}

func (hangStep) play(p *player) error {
	fmt.Fprintln(p.Err, "rehearsal: hanging, as the scenario says")
	// A timer has to run: with nothing left to happen the Go runtime would end the process.
	const long = time.Hour
	for {
		select {
		case <-p.ctx.Done():
			return errStopped
		case <-time.After(long):
		}
	}
}

type ignoreTermStep struct{}

func (ignoreTermStep) play(*player) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	return nil
}

type garbageStep struct{}

// garbage is what every line of a real agent may be. To it comes what is nested too deeply, and an empty line.
var garbage = [...]string{
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
}

func (garbageStep) play(p *player) error {
	deep := strings.Repeat("[", 20000)
	return p.write([]byte(strings.Join(append(garbage[:], deep, ""), "\n") + "\n"))
}

type floodStep struct{ size int }

func (s floodStep) play(p *player) error {
	p.messages++
	const words = "one line can be very long, and nothing may be lost of it; "
	text := strings.Repeat(words, s.size/len(words)+1)[:s.size]
	return p.print(textLine{"said", strconv.Itoa(p.messages) + ".1", text, true})
}

type talkStep struct {
	endless bool
	size    int
}

// talkBatch is how much is written at once: more would keep a steer waiting, less
// would measure system calls.
const talkBatch = 32 << 10

func (s talkStep) play(p *player) error {
	p.messages++
	head := jsonscan.AppendString([]byte(`{"type":"said","block":`), strconv.Itoa(p.messages)+".1")
	head = append(head, `,"text":`...)
	words := strings.SplitAfter("the quick brown fox jumps over the lazy dog and tells everybody about it at great length ", " ")
	var batch []byte
	for said, i := 0, 0; s.endless || said < s.size; i++ {
		word := words[i%len(words)]
		if !s.endless {
			word = word[:min(len(word), s.size-said)]
		}
		said += len(word)
		batch = append(jsonscan.AppendString(append(batch, head...), word), "}\n"...)
		if len(batch) < talkBatch && (s.endless || said < s.size) {
			continue
		}
		if err := p.write(batch); err != nil {
			return err
		}
		batch = batch[:0]
		if err := p.hear(); err != nil {
			return err
		}
		if !p.running && s.endless {
			return nil // a reaction finished the turn
		}
	}
	return nil
}

type stderrStep struct{ text string }

func (s stderrStep) play(p *player) error {
	fmt.Fprintln(p.Err, p.fill(s.text))
	return nil
}

type noticeStep struct{ text string }

func (s noticeStep) play(p *player) error {
	return p.print(noticedLine{"noticed", "notice", p.fill(s.text)})
}

type orphanStep struct {
	command string
	holds   bool // keeps our stdout open
}

func (s orphanStep) play(p *player) error {
	cmd := shell(context.Background(), p.fill(s.command))
	cmd.Dir = p.Dir
	if s.holds {
		cmd.Stdout = p.Out
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return p.print(noticedLine{"noticed", "orphan", err.Error()})
	}
	go func() { _ = cmd.Wait() }() // ends with the orphan, so that it is no zombie where we live on
	return p.print(noticedLine{"noticed", "orphan", strconv.Itoa(cmd.Process.Pid)})
}

type staleStep struct{}

func (staleStep) play(p *player) error {
	p.stale = true
	return nil
}

type runStep struct{ command string }

func (s runStep) play(p *player) error {
	command := p.fill(s.command)
	return p.useTool("bash", object("command", command), func(id string) (string, bool, error) {
		return p.runCommand(id, command)
	})
}

// object returns a JSON object of strings.
func object(pairs ...string) json.RawMessage {
	text := []byte("{")
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(jsonscan.AppendString(text, pairs[i]), ':')
		text = jsonscan.AppendString(text, pairs[i+1])
	}
	return append(text, '}')
}
