package player

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// step is one parsed line of a scenario. Each kind of step uses some of the fields.
type step struct {
	kind   *kind
	name   string // of a tool, a file, an error, a limit or a command
	text   string
	wait   time.Duration
	until  time.Time
	number int // an exit code, a size, or an attempt; -1 for none
	of     int // attempts
	failed bool
	input  string  // of a tool: JSON, or empty
	fields []field // of a line that is printed unchanged
}

// kind is one kind of step in the language of scenarios.
type kind struct {
	name  string
	usage string
	about string
	parse func(rest string) (step, error)
	play  func(*player, step) error
}

// Step describes one kind of step: how it is written, and what it does.
type Step struct{ Form, About string }

// Steps returns all kinds of steps, in the order of the documentation.
func Steps() []Step {
	steps := []Step{
		{"iteration", "begins the section of the next iteration; `iteration *` is every further one, and without it the last is played again"},
		{"message", "begins the answer to a request for a commit message"},
		{"steered -> STEP", "what to do when a steer arrives in this iteration; several add up"},
	}
	for _, k := range kinds {
		steps = append(steps, Step{k.usage, k.about})
	}
	return steps
}

// kinds are all steps but those that begin others.
var kinds = []kind{
	{"say", "say TEXT", "says it", someText, (*player).say},
	{"think", "think TEXT", "thinks it", someText, (*player).think},
	{"slow", "slow 20ms: TEXT", "says it word by word, with that pause between them", parseSlow, (*player).say},
	{"tool", `tool NAME {"key":"value"} 300ms -> ok: TEXT`,
		"a call of a tool and what it returned; all but the name may be missing, and it may fail: `-> error: TEXT`", parseTool, (*player).tool},
	{"write", "write FILE TEXT", "writes the file, shown as a call of a tool", fileAndText, (*player).writeFile},
	{"append", "append FILE TEXT", "adds to the end of the file, shown as a call of a tool", fileAndText, (*player).appendFile},
	{"tick", `tick "TEXT" in FILE`, "ticks the open box with that text, in the loop's task.md if no file is named", parseTick, (*player).tick},
	{"run", "run COMMAND", "really runs it, in the shell", someText, (*player).run},
	{"plan", "plan - [x] DONE / - [~] ACTIVE / - [ ] PENDING", "its list of todos: done, active, pending", parsePlan, printed("planned")},
	{"use", "use in=1200 out=300 usd=0.01", "what it has used; `cacheRead=` `cacheWrite=` `model=` as well", parseUse, printed("used")},
	{"sleep", "sleep 2s", "does nothing for that long", parseSleep, func(p *player, s step) error { return p.pause(s.wait) }},
	{"silence", "silence", "does nothing until an abort, or a steer and `steered -> finish`", noText, (*player).silence},
	{"limit", "limit rate until +2s: TEXT", "says that it is limited: `rate` `overload` `quota` `auth` `network` `context`; until and text may be missing; the turn continues unless `error` follows", parseLimit, (*player).limit},
	{"retry", "retry 1/3 2s: TEXT", "says that it tries again, and waits that long", parseRetry, (*player).retry},
	{"compact", "compact", "reports that its context was made smaller", noText, printed("compacted", field{"before", 180000}, field{"after", 24000})},
	{"promise", "promise TEXT", "says `<promise>COMPLETE</promise>`, or with that text in it", marker("promise", "COMPLETE"), (*player).say},
	{"response", "response TEXT", "says `<response>DONE</response>`, or with that text in it", marker("response", "DONE"), (*player).say},
	{"finish", "finish", "ends the turn well; later steps are still played", noText, func(p *player, _ step) error { return p.finish("ok", "", "") }},
	{"error", "error TEXT, or error rate: TEXT", "ends the turn with an error, of that kind if one is named",
		parseError, func(p *player, s step) error { return p.finish("error", s.name, p.fill(s.text)) }},
	{"crash", "crash 3", "ends the process at once with that code, without an end of the turn, and says so on stderr", exitCode(1), (*player).crash},
	{"exit", "exit 0", "the same, without a line on stderr", exitCode(0), func(_ *player, s step) error { return &exitError{s.number} }},
	{"hang", "hang", "says so on stderr, then neither speaks nor listens until a signal comes", noText, (*player).hang},
	{"ignore-term", "ignore-term", "from now on only KILL ends the process", noText, (*player).ignoreTerm},
	{"garbage", "garbage", "prints lines that no dialect understands", noText, (*player).garbage},
	{"flood", "flood 20MB", "prints one line of that size", parseSize, (*player).flood},
	{"talk", "talk 20MB, or talk", "says that much in small pieces, as fast as possible; without end if no size is given", parseTalk, (*player).talk},
	{"stderr", "stderr TEXT", "prints it to stderr", someText, (*player).stderr},
	{"notice", "notice TEXT", "reports a notice of the program itself", someText, func(p *player, s step) error { return p.notice("notice", p.fill(s.text)) }},
	{"orphan", "orphan COMMAND", "starts a process that outlives the turn, in a session of its own", someText,
		func(p *player, s step) error { return p.orphan(s, nil) }},
	{"holder", "holder COMMAND", "the same, and it keeps the agent's stdout open", someText, func(p *player, s step) error { return p.orphan(s, p.Out) }},
	{"inbox", "inbox wait TEXT", "puts a command of that kind into the loop's inbox", parseInbox, (*player).inbox},
	{"stale", "stale", "refuses the next request for a fresh context", noText, func(p *player, _ step) error { p.stale = true; return nil }},
}

var errNoText = errors.New("nothing follows it")

func someText(rest string) (step, error) {
	if rest == "" {
		return step{}, errNoText
	}
	return step{text: rest}, nil
}

func noText(rest string) (step, error) {
	if rest != "" {
		return step{}, fmt.Errorf("%q is too much", rest)
	}
	return step{}, nil
}

func marker(tag, text string) func(string) (step, error) {
	return func(rest string) (step, error) {
		if rest == "" {
			rest = text
		}
		return step{text: "<" + tag + ">" + rest + "</" + tag + ">"}, nil
	}
}

func exitCode(code int) func(string) (step, error) {
	return func(rest string) (step, error) {
		if rest == "" {
			return step{number: code}, nil
		}
		n, err := strconv.ParseUint(rest, 10, 8)
		if err != nil {
			return step{}, fmt.Errorf("%q is no exit code from 0 to 255", rest)
		}
		return step{number: int(n)}, nil
	}
}

func fileAndText(rest string) (step, error) {
	file, text, err := cutQuoted(rest)
	if err == nil && file == "" {
		err = errNoText
	}
	return step{name: file, text: text}, err
}

// cutQuoted takes the first word, or the text in double quotes at that place.
func cutQuoted(s string) (word, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		word, rest = cutWord(s)
		return word, rest, nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", errors.New("a quote has no end")
	}
	word, err = strconv.Unquote(quoted)
	return word, strings.TrimSpace(s[len(quoted):]), err
}

func parseSlow(rest string) (step, error) {
	pause, text, _ := strings.Cut(rest, ":")
	if text = strings.TrimSpace(text); text == "" {
		return step{}, errors.New("no text after a colon")
	}
	d, err := parseDuration(strings.TrimSpace(pause))
	return step{text: text, wait: d}, err
}

func parseSleep(rest string) (step, error) {
	d, err := parseDuration(rest)
	return step{wait: d}, err
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time such as 300ms, 2s or 1m", s)
	}
	return d, nil
}

func parseTool(rest string) (step, error) {
	var s step
	if s.name, rest = cutWord(rest); s.name == "" {
		return s, errNoText
	}
	if strings.HasPrefix(rest, "{") {
		decoder := json.NewDecoder(strings.NewReader(rest))
		var input json.RawMessage
		var plain bytes.Buffer
		if err := decoder.Decode(&input); err != nil {
			return s, fmt.Errorf("its input is not JSON: %w", err)
		}
		if err := json.Compact(&plain, input); err != nil {
			return s, fmt.Errorf("its input is not JSON: %w", err)
		}
		s.input, rest = plain.String(), strings.TrimSpace(rest[decoder.InputOffset():])
	}
	if rest != "" && !strings.HasPrefix(rest, "->") {
		took, after := cutWord(rest)
		var err error
		if s.wait, err = parseDuration(took); err != nil {
			return s, err
		}
		rest = after
	}
	if rest == "" {
		return s, nil
	}
	result, ok := strings.CutPrefix(rest, "->")
	if !ok {
		return s, fmt.Errorf("%q is too much", rest)
	}
	outcome, output, _ := strings.Cut(result, ":")
	s.text = strings.TrimSpace(output)
	switch outcome = strings.TrimSpace(outcome); outcome {
	case "ok", "error":
		s.failed = outcome == "error"
		return s, nil
	}
	return s, errors.New("after -> comes ok or error")
}

func parseTick(rest string) (step, error) {
	box, rest, err := cutQuoted(rest)
	if err != nil {
		return step{}, err
	}
	if box == "" {
		return step{}, errNoText
	}
	s := step{text: box, name: loopFolder + "task.md"}
	if rest == "" {
		return s, nil
	}
	in, file := cutWord(rest)
	if in != "in" || file == "" {
		return s, fmt.Errorf("%q is too much: put quotes around a text of several words", rest)
	}
	if s.name, rest, err = cutQuoted(file); err == nil && rest != "" {
		err = fmt.Errorf("%q is too much", rest)
	}
	return s, err
}

// todo is an entry of a plan.
type todo struct {
	Text   string `json:"text"`
	Status string `json:"status"`
}

func parsePlan(rest string) (step, error) {
	separator := " / "
	if strings.Contains(rest, "\n") {
		separator = "\n"
	}
	statuses := map[string]string{"- [x]": "done", "- [~]": "active", "- [ ]": "pending"}
	var todos []todo
	for item := range strings.SplitSeq(rest, separator) {
		item = strings.TrimSpace(item)
		mark := item[:min(len("- [x]"), len(item))]
		text := strings.TrimSpace(item[len(mark):])
		if statuses[mark] == "" || text == "" {
			return step{}, fmt.Errorf("%q is no entry", item)
		}
		todos = append(todos, todo{text, statuses[mark]})
	}
	return step{fields: []field{{"todos", todos}}}, nil
}

func parseUse(rest string) (step, error) {
	values := map[string]any{"in": 0, "out": 0, "cacheRead": 0, "cacheWrite": 0}
	for entry := range strings.FieldsSeq(rest) {
		key, text, _ := strings.Cut(entry, "=")
		var err error
		switch key {
		case "in", "out", "cacheRead", "cacheWrite":
			values[key], err = strconv.ParseUint(text, 10, 63)
		case "usd":
			var usd float64
			if usd, err = strconv.ParseFloat(text, 64); err == nil && !(usd >= 0 && usd < 1e9) {
				err = strconv.ErrRange
			}
			values[key] = usd
		case "model":
			values[key] = text
		default:
			return step{}, fmt.Errorf("%q is no part of it", key)
		}
		if err != nil {
			return step{}, fmt.Errorf("%q is no number for %s", text, key)
		}
	}
	if rest == "" {
		return step{}, errNoText
	}
	var s step
	for _, key := range []string{"in", "out", "cacheRead", "cacheWrite", "usd", "model"} {
		if value, found := values[key]; found {
			s.fields = append(s.fields, field{key, value})
		}
	}
	return s, nil
}

func parseLimit(rest string) (step, error) {
	head, text := rest, ""
	// A time of day contains colons: the one before the text is followed by a space or nothing.
	if i := strings.Index(rest+" ", ": "); i >= 0 {
		head, text = rest[:i], strings.TrimSpace(rest[i+1:])
	}
	fields := strings.Fields(head)
	if len(fields) == 0 || !slices.Contains(event.LimitKinds, event.FaultKind(fields[0])) {
		return step{}, fmt.Errorf("its kind is one of %s", strings.Join(strings.Fields(strings.Trim(fmt.Sprint(event.LimitKinds), "[]")), ", "))
	}
	s := step{name: fields[0], text: text, wait: -1}
	if len(fields) == 1 {
		return s, nil
	}
	if len(fields) != 3 || fields[1] != "until" {
		return s, fmt.Errorf("%q is too much", strings.Join(fields[1:], " "))
	}
	var err error
	if relative, ok := strings.CutPrefix(fields[2], "+"); ok {
		s.wait, err = parseDuration(relative)
	} else if s.until, err = time.Parse(time.RFC3339, fields[2]); err != nil {
		err = fmt.Errorf("%q is neither +2s nor a time such as 2026-11-21T12:00:00Z", fields[2])
	}
	return s, err
}

func parseRetry(rest string) (step, error) {
	head, text, _ := strings.Cut(rest, ":")
	s := step{number: 1, text: strings.TrimSpace(text)}
	for entry := range strings.FieldsSeq(head) {
		attempt, most, counted := strings.Cut(entry, "/")
		var err error
		if !counted {
			if s.wait, err = parseDuration(entry); err != nil {
				return s, err
			}
			continue
		}
		var badAttempt, badMost error
		s.number, badAttempt = strconv.Atoi(attempt)
		s.of, badMost = strconv.Atoi(most)
		if badAttempt != nil || badMost != nil || s.number < 1 || s.of < s.number {
			return s, fmt.Errorf("%q is no count such as 1/3", entry)
		}
	}
	return s, nil
}

func parseError(rest string) (step, error) {
	kind, text, ok := strings.Cut(rest, ":")
	if !ok || event.FaultKind(kind) != event.KindRefusal && !slices.Contains(event.LimitKinds, event.FaultKind(kind)) {
		kind, text = string(event.KindOther), rest
	}
	s, err := someText(strings.TrimSpace(text))
	s.name = kind
	return s, err
}

func parseInbox(rest string) (step, error) {
	kind, text := cutWord(rest)
	if kind == "" {
		return step{}, errNoText
	}
	return step{name: kind, text: text}, nil
}

func parseTalk(rest string) (step, error) {
	if rest == "" {
		return step{number: -1}, nil
	}
	return parseSize(rest)
}

// largestSize limits what one step prints, so that a slip does not fill a disk.
const largestSize = 1 << 30

func parseSize(s string) (step, error) {
	number := strings.TrimRight(s, "kKMGB")
	unit := map[string]int{"": 1, "B": 1, "K": 1 << 10, "KB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "G": 1 << 30,
		"GB": 1 << 30}[strings.ToUpper(s[len(number):])]
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || unit == 0 || n > largestSize/unit {
		return step{}, fmt.Errorf("%q is no size such as 300KB or 20MB, up to 1GB", s)
	}
	return step{number: n * unit}, nil
}
