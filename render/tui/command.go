package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
)

// Typed is a line that a person typed, as it was understood.
type Typed struct {
	// Commands go to the loop, in this order. An answer is a message and a resume.
	Commands []inbox.Command
	Leave    bool
	Help     bool
	Problem  string // what is wrong with the line; nothing else is set then
}

// A word is a command that can be typed after a slash.
type word struct {
	name, usage, about string
}

// words are the commands, in the order of the manual.
var words = []word{
	{"steer", "/steer TEXT", "give the agent TEXT now; the same as TEXT and enter"},
	{"follow-up", "/follow-up TEXT", "add TEXT to the next prompt; the same as TEXT and alt+enter"},
	{"withdraw", "/withdraw", "take back your last message that waits; also alt-up"},
	{"answer", "/answer [NUMBER] TEXT", "answer a question of the agent, or what the loop waits for"},
	{"pause", "/pause", "pause the loop after this iteration"},
	{"resume", "/resume", "resume a paused or waiting loop"},
	{"stop", "/stop [WHY]", "end the loop after this iteration"},
	{"stop now", "/stop now [WHY]", "end the loop at once; the agent is asked to stop"},
	{"set", "/set KEY VALUE", "change a setting, such as maximumIterations 30"},
	{"kill", "/kill", "end the loop and its agent without asking"},
	{"detach", "/detach", "leave; the loop continues"},
	{"help", "/help", "show all keys and commands"},
}

// Parse understands a line as typed: words for the agent, or a command that begins with a slash. A
// line that begins with two is words with one. v is the loop, which may have questions.
func Parse(line string, v projector.View) (t Typed) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "/") || strings.HasPrefix(line, "//") {
		return checked(inbox.Command{Kind: inbox.Steer, Text: strings.TrimPrefix(line, "/")})
	}
	verb, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "help":
		return Typed{Help: true}
	case "detach", "quit", "exit":
		return Typed{Leave: true}
	case "answer":
		return parseAnswer(rest, v)
	case "steer", "follow-up":
		return checked(inbox.Command{Kind: inbox.Kind(verb), Text: rest})
	case "pause", "resume", "kill", "withdraw":
		if rest != "" {
			return Typed{Problem: fmt.Sprintf("/%s takes no more words", verb)}
		}
		return checked(inbox.Command{Kind: inbox.Kind(verb)})
	case "stop":
		if now, why, _ := strings.Cut(rest, " "); now == "now" {
			return checked(inbox.Command{Kind: inbox.StopNow, Text: strings.TrimSpace(why)})
		}
		return checked(inbox.Command{Kind: inbox.Stop, Text: rest})
	case "set":
		return parseSet(rest)
	}
	return Typed{Problem: fmt.Sprintf("there is no /%s; /help shows what there is", render.Clean(verb))}
}

// parseAnswer understands NUMBER TEXT, which answers that question, and TEXT, which answers the
// only one, or what the loop waits for.
func parseAnswer(rest string, v projector.View) Typed {
	if number, text, ok := numberOf(rest, v); ok {
		if !isOpen(v, number) {
			return Typed{Problem: fmt.Sprintf("question %d has an answer already", number)}
		}
		return checked(inbox.Command{Kind: inbox.Answer, Question: number, Text: text})
	}
	open := openQuestions(v)
	if len(open) > 1 && v.Awaited == 0 && !waitsForPerson(v) {
		return Typed{Problem: fmt.Sprintf("write it as in '/answer %d TEXT': %d questions are open", open[0].Number, len(open))}
	}
	commands := answer(rest, v)
	t := checked(commands[0])
	if t.Problem == "" {
		t.Commands = commands
	}
	return t
}

// numberOf splits NUMBER TEXT. Another number than that of a question is a word of the text.
func numberOf(rest string, v projector.View) (number int, text string, ok bool) {
	word, text, _ := strings.Cut(rest, " ")
	number, err := strconv.Atoi(word)
	if err != nil || !slices.ContainsFunc(v.Questions, func(q projector.Question) bool { return q.Number == number }) {
		return 0, rest, false
	}
	return number, strings.TrimSpace(text), true
}

// parseSet understands KEY VALUE and KEY=VALUE.
func parseSet(rest string) Typed {
	at := strings.IndexAny(rest, "= ")
	if at <= 0 {
		return Typed{Problem: "write it as in '/set maximumIterations 30'"}
	}
	return checked(inbox.Command{Kind: inbox.Set, Key: rest[:at], Value: strings.TrimSpace(strings.TrimLeft(rest[at:], "= "))})
}

func checked(c inbox.Command) Typed {
	if err := c.Check(); err != nil {
		return Typed{Problem: err.Error()}
	}
	return Typed{Commands: []inbox.Command{c}}
}

// complete returns the line with what the beginning of a command must mean, and the commands that
// it may mean.
func complete(line string) (completed string, choices []word) {
	if !strings.HasPrefix(line, "/") || strings.HasPrefix(line, "//") {
		return line, nil
	}
	if rest, ok := strings.CutPrefix(line, "/set "); ok {
		return completeKey(line, rest)
	}
	typed := line[1:]
	for _, w := range words {
		if strings.HasPrefix(w.name, typed) || strings.HasPrefix(typed, w.name+" ") {
			choices = append(choices, w)
		}
	}
	if len(choices) == 0 || strings.HasPrefix(typed, choices[0].name) {
		return line, choices
	}
	common := choices[0].name
	for _, w := range choices {
		common = commonPrefix(common, w.name)
	}
	if len(choices) == 1 && takesMore(choices[0]) {
		common += " "
	}
	return "/" + common, choices
}

func takesMore(w word) bool { return strings.ContainsAny(w.usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") }

// completeKey completes the name of a setting that may change while a loop runs.
func completeKey(line, key string) (string, []word) {
	if strings.ContainsAny(key, " =") {
		return line, words[slices.IndexFunc(words, func(w word) bool { return w.name == "set" }):][:1]
	}
	var choices []word
	common := ""
	for _, name := range config.LiveKeys() {
		if !strings.HasPrefix(name, key) {
			continue
		}
		if len(choices) == 0 {
			common = name
		}
		common = commonPrefix(common, name)
		choices = append(choices, word{name: "set", usage: name})
	}
	switch len(choices) {
	case 0:
		return line, nil
	case 1:
		common += " "
	}
	return "/set " + common, choices
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
