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

// word is one kind of step in the language of scenarios.
type word struct {
	name  string
	usage string
	about string
	parse func(rest string) (step, error)
}

// Step tells of one kind of step: how it is written, and what it does.
type Step struct{ Form, About string }

// Steps returns all that a scenario can hold, in the order in which a person would read of them.
func Steps() []Step {
	steps := []Step{
		{"iteration", "begins what the next iteration plays; `iteration *` is every further one, and without it the last is played again"},
		{"message", "begins what is answered when a commit message is asked for"},
		{"steered -> STEP", "what to do when somebody steers in this iteration; several add up"},
	}
	for _, w := range words {
		steps = append(steps, Step{w.usage, w.about})
	}
	return steps
}

// words are all steps but those that begin others.
var words = []word{
	{"say", "say TEXT", "says it", textStep(func(text string) step { return sayStep{text: text} })},
	{"think", "think TEXT", "thinks it", textStep(func(text string) step { return thinkStep{text} })},
	{"slow", "slow 20ms: TEXT", "says it word by word, with that pause between them", parseSlow},
	{"tool", `tool NAME {"key":"value"} 300ms -> ok: TEXT`, "a call of a tool and what it returned; all but the name may be missing, and it may fail: `-> error: TEXT`", parseTool},
	{"write", "write FILE TEXT", "writes the file, and the call of the tool that does", fileStep(func(file, text string) step { return writeStep{file, text} })},
	{"append", "append FILE TEXT", "likewise, at its end", fileStep(func(file, text string) step { return appendStep{file, text} })},
	{"tick", `tick "TEXT" in FILE`, "ticks the open box with that text; in the loop's task.md where no file is named", parseTick},
	{"run", "run COMMAND", "runs it, really, by the shell", textStep(func(text string) step { return runStep{text} })},
	{"plan", "plan - [x] DONE / - [~] ACTIVE / - [ ] PENDING", "its list of todos: done, active, pending", parsePlan},
	{"use", "use in=1200 out=300 usd=0.01", "what it has used; `cacheRead=` `cacheWrite=` `model=` as well", parseUse},
	{"sleep", "sleep 2s", "does nothing for that long", parseSleep},
	{"silence", "silence", "does nothing until somebody aborts, or steers and `steered -> finish`", bareStep(silenceStep{})},
	{"limit", "limit rate until +2s: TEXT", "says that it is limited: `rate` `overload` `quota` `auth` `network` `context`; until and text may be missing, and `error` ends the turn for it", parseLimit},
	{"retry", "retry 1/3 2s: TEXT", "says that it tries again, and waits that long", parseRetry},
	{"compact", "compact", "has made its context smaller", bareStep(compactStep{})},
	{"promise", "promise TEXT", "says `<promise>COMPLETE</promise>`, or with that text in it", markerStep("promise", "COMPLETE")},
	{"response", "response TEXT", "says `<response>DONE</response>`, or with that text in it", markerStep("response", "DONE")},
	{"finish", "finish", "the turn is over and went well; what stands behind it is played all the same", bareStep(finishStep{outcome: "ok"})},
	{"error", "error TEXT, or error rate: TEXT", "the turn is over with an error, of that kind if one is named", parseError},
	{"crash", "crash 3", "the process ends at once with that code, without an end of the turn, and says so on stderr", codeStep(1, func(code int) step { return crashStep{code} })},
	{"exit", "exit 0", "likewise, and says nothing of it", codeStep(0, func(code int) step { return exitStep{code} })},
	{"hang", "hang", "says so on stderr, then neither speaks nor listens until a signal comes", bareStep(hangStep{})},
	{"ignore-term", "ignore-term", "from now on only KILL ends the process", bareStep(ignoreTermStep{})},
	{"garbage", "garbage", "prints lines that nobody understands", bareStep(garbageStep{})},
	{"flood", "flood 20MB", "prints one line of that size", parseFlood},
	{"talk", "talk 20MB, or talk", "says that much in small pieces as fast as it goes; without end where no size is given", parseTalk},
	{"stderr", "stderr TEXT", "prints it to stderr", textStep(func(text string) step { return stderrStep{text} })},
	{"notice", "notice TEXT", "a word of the program itself", textStep(func(text string) step { return noticeStep{text} })},
	{"orphan", "orphan COMMAND", "starts a process that outlives the turn, in a session of its own", textStep(func(text string) step { return orphanStep{text, false} })},
	{"holder", "holder COMMAND", "the same, and it keeps the agent's stdout open", textStep(func(text string) step { return orphanStep{text, true} })},
	{"inbox", "inbox wait TEXT", "puts a command of that kind into the loop's inbox", parseInbox},
	{"stale", "stale", "the next wish for a fresh context is refused", bareStep(staleStep{})},
}

var errNoText = errors.New("nothing follows it")

func textStep(of func(text string) step) func(string) (step, error) {
	return func(rest string) (step, error) {
		if rest == "" {
			return nil, errNoText
		}
		return of(rest), nil
	}
}

func bareStep(s step) func(string) (step, error) {
	return func(rest string) (step, error) {
		if rest != "" {
			return nil, fmt.Errorf("%q is too much", rest)
		}
		return s, nil
	}
}

func markerStep(tag, text string) func(string) (step, error) {
	return func(rest string) (step, error) {
		if rest == "" {
			rest = text
		}
		return sayStep{text: "<" + tag + ">" + rest + "</" + tag + ">"}, nil
	}
}

func codeStep(code int, of func(code int) step) func(string) (step, error) {
	return func(rest string) (step, error) {
		if rest == "" {
			return of(code), nil
		}
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 || n > 255 {
			return nil, fmt.Errorf("%q is no exit code from 0 to 255", rest)
		}
		return of(n), nil
	}
}

func fileStep(of func(file, text string) step) func(string) (step, error) {
	return func(rest string) (step, error) {
		file, text, err := cutQuoted(rest)
		if err != nil {
			return nil, err
		}
		if file == "" {
			return nil, errNoText
		}
		return of(file, text), nil
	}
}

// cutQuoted takes the first word, or what stands in double quotes there.
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
	pause, text, ok := strings.Cut(rest, ":")
	if text = strings.TrimSpace(text); !ok || text == "" {
		return nil, errors.New("no text behind a colon")
	}
	d, err := parseDuration(strings.TrimSpace(pause))
	return sayStep{text: text, pause: d}, err
}

func parseSleep(rest string) (step, error) {
	d, err := parseDuration(rest)
	return sleepStep{d}, err
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no time such as 300ms, 2s or 1m", s)
	}
	return d, nil
}

func parseTool(rest string) (step, error) {
	name, rest := cutWord(rest)
	if name == "" {
		return nil, errNoText
	}
	tool := toolStep{name: name, ok: true}
	if strings.HasPrefix(rest, "{") {
		decoder := json.NewDecoder(strings.NewReader(rest))
		var input json.RawMessage
		if err := decoder.Decode(&input); err != nil {
			return nil, fmt.Errorf("its input is not JSON: %w", err)
		}
		var plain bytes.Buffer
		if err := json.Compact(&plain, input); err != nil {
			return nil, fmt.Errorf("its input is not JSON: %w", err)
		}
		tool.input = plain.String()
		rest = strings.TrimSpace(rest[decoder.InputOffset():])
	}
	if rest != "" && !strings.HasPrefix(rest, "->") {
		took, after := cutWord(rest)
		d, err := parseDuration(took)
		if err != nil {
			return nil, err
		}
		tool.took, rest = d, after
	}
	if rest == "" {
		return tool, nil
	}
	result, ok := strings.CutPrefix(rest, "->")
	if !ok {
		return nil, fmt.Errorf("%q is too much", rest)
	}
	outcome, output, _ := strings.Cut(result, ":")
	tool.output = strings.TrimSpace(output)
	switch strings.TrimSpace(outcome) {
	case "ok":
	case "error":
		tool.ok = false
	default:
		return nil, errors.New("behind -> stands ok or error")
	}
	return tool, nil
}

func parseTick(rest string) (step, error) {
	box, rest, err := cutQuoted(rest)
	if err != nil {
		return nil, err
	}
	if box == "" {
		return nil, errNoText
	}
	if rest == "" {
		return tickStep{box: box, file: loopFolder + "task.md"}, nil
	}
	in, file := cutWord(rest)
	if in != "in" || file == "" {
		return nil, fmt.Errorf("%q is too much: a text of several words stands in quotes", rest)
	}
	file, rest, err = cutQuoted(file)
	if err == nil && rest != "" {
		err = fmt.Errorf("%q is too much", rest)
	}
	return tickStep{box: box, file: file}, err
}

func parsePlan(rest string) (step, error) {
	var plan planStep
	separator := " / "
	if strings.Contains(rest, "\n") {
		separator = "\n"
	}
	for item := range strings.SplitSeq(rest, separator) {
		item = strings.TrimSpace(item)
		status := ""
		for mark, of := range map[string]string{"- [x]": "done", "- [~]": "active", "- [ ]": "pending"} {
			if text, ok := strings.CutPrefix(item, mark); ok {
				status, item = of, strings.TrimSpace(text)
				break
			}
		}
		if status == "" || item == "" {
			return nil, fmt.Errorf("%q is no entry", item)
		}
		plan.todos = append(plan.todos, todo{Text: item, Status: status})
	}
	return plan, nil
}

func parseUse(rest string) (step, error) {
	var use useStep
	for field := range strings.FieldsSeq(rest) {
		key, value, _ := strings.Cut(field, "=")
		count := map[string]*int64{"in": &use.In, "out": &use.Out, "cacheRead": &use.CacheRead, "cacheWrite": &use.CacheWrite}[key]
		var err error
		switch {
		case count != nil:
			*count, err = strconv.ParseInt(value, 10, 64)
		case key == "usd":
			var usd float64
			usd, err = strconv.ParseFloat(value, 64)
			use.USD = &usd
			if err == nil && !(usd >= 0 && usd < 1e9) {
				err = errors.New("no sum")
			}
		case key == "model":
			use.Model = value
		default:
			return nil, fmt.Errorf("%q is no part of it", key)
		}
		if err != nil || count != nil && *count < 0 {
			return nil, fmt.Errorf("%q is no number for %s", value, key)
		}
	}
	if use == (useStep{}) {
		return nil, errNoText
	}
	return use, nil
}

func parseLimit(rest string) (step, error) {
	var limit limitStep
	head, text := rest, ""
	// A time of day has colons too: the text begins behind one that has a space or nothing after it.
	if i := strings.Index(rest+" ", ": "); i >= 0 {
		head, text = rest[:i], strings.TrimSpace(rest[i+1:])
	}
	limit.text = text
	fields := strings.Fields(head)
	if len(fields) == 0 || !slices.Contains(event.LimitKinds, fields[0]) {
		return nil, fmt.Errorf("its kind is one of %s", strings.Join(event.LimitKinds, ", "))
	}
	limit.kind = fields[0]
	if len(fields) == 1 {
		return limit, nil
	}
	if len(fields) != 3 || fields[1] != "until" {
		return nil, fmt.Errorf("%q is too much", strings.Join(fields[1:], " "))
	}
	if relative, ok := strings.CutPrefix(fields[2], "+"); ok {
		d, err := parseDuration(relative)
		limit.after, limit.relative = d, true
		return limit, err
	}
	until, err := time.Parse(time.RFC3339, fields[2])
	if err != nil {
		return nil, fmt.Errorf("%q is neither +2s nor a time such as 2026-11-21T12:00:00Z", fields[2])
	}
	limit.until = until
	return limit, nil
}

func parseRetry(rest string) (step, error) {
	retry := retryStep{attempt: 1}
	head, text, _ := strings.Cut(rest, ":")
	retry.text = strings.TrimSpace(text)
	for field := range strings.FieldsSeq(head) {
		attempt, most, counted := strings.Cut(field, "/")
		if counted {
			a, errA := strconv.Atoi(attempt)
			m, errM := strconv.Atoi(most)
			if errA != nil || errM != nil || a < 1 || m < a {
				return nil, fmt.Errorf("%q is no count such as 1/3", field)
			}
			retry.attempt, retry.most = a, m
			continue
		}
		d, err := parseDuration(field)
		if err != nil {
			return nil, err
		}
		retry.delay = d
	}
	return retry, nil
}

func parseError(rest string) (step, error) {
	kind, text, ok := strings.Cut(rest, ":")
	if !ok || kind != event.KindRefusal && !slices.Contains(event.LimitKinds, kind) {
		kind, text = event.KindOther, rest
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, errNoText
	}
	return finishStep{outcome: "error", kind: kind, text: text}, nil
}

func parseInbox(rest string) (step, error) {
	kind, text := cutWord(rest)
	if kind == "" {
		return nil, errNoText
	}
	return inboxStep{kind, text}, nil
}

func parseFlood(rest string) (step, error) {
	size, err := parseSize(rest)
	return floodStep{size}, err
}

func parseTalk(rest string) (step, error) {
	if rest == "" {
		return talkStep{endless: true}, nil
	}
	size, err := parseSize(rest)
	return talkStep{size: size}, err
}

// largestSize bounds what a scenario prints by one word, so that a slip of the finger does
// not fill a disk.
const largestSize = 1 << 30

func parseSize(s string) (int, error) {
	number, unit := strings.TrimRight(s, "kKMGB"), 1
	switch strings.ToUpper(s[len(number):]) {
	case "", "B":
	case "K", "KB":
		unit = 1 << 10
	case "M", "MB":
		unit = 1 << 20
	case "G", "GB":
		unit = 1 << 30
	default:
		unit = 0
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || unit == 0 || n > largestSize/unit {
		return 0, fmt.Errorf("%q is no size such as 300KB or 20MB, up to 1GB", s)
	}
	return n * unit, nil
}
