package codex

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
)

// valued are the options of Codex that take the next word.
var valued = []string{
	"-c", "--config", "--enable", "--disable", "-m", "--model", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd",
	"-p", "--profile", "-i", "--image", "--local-provider", "--add-dir", "--output-schema", "-o", "--output-last-message", "--color",
	"--thread-source", "--cyber-access-program", "--listen",
}

// execOnly are options that `codex exec` has and the app-server does not take.
var execOnly = []string{
	"-p", "--profile", "--oss", "--local-provider", "-i", "--image", "--add-dir", "--output-schema", "-o", "--output-last-message",
	"--worktree", "--trust", "--ignore-user-config", "--ignore-rules", "--approve-for-me", "--dangerously-bypass-hook-trust",
	"--thread-source", "--cyber-access-program",
}

// granted are the options for permissions: with one of them, the user decides about all of these.
var granted = []string{
	"-s", "--sandbox", "--approve-for-me", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "sandbox_mode", "default_permissions",
}

// disabled are features of Codex that a loop has to be without. With goals Codex begins turns by
// itself, and the loop is ralph's. Without the limit of its retries it waits for the network
// without end and reports nothing.
var disabled = []string{"features.goals", "features.unbounded_connection_retries"}

// sandboxes are Codex's words for permissions, and what they come to.
var sandboxes = map[string]struct{ word, may string }{
	agent.PermitFull:      {fullAccess, "everything (danger-full-access)"},
	agent.PermitWorkspace: {"workspace-write", "change files in its folder and in temporary ones, and read everything (workspace-write)"},
	agent.PermitAsk:       {"read-only", "read everything (read-only); what it asks about is denied"},
}

// sandbox returns Codex's word for what the agent may do, and the same for a person.
func sandbox(given options, spec agent.Spec) (word, may string) {
	permitted := sandboxes[cmp.Or(spec.Permissions, agent.PermitFull)]
	if given.has(granted...) {
		permitted.may = agent.ByItsFlags
	}
	if given.has("--dangerously-bypass-approvals-and-sandbox", "--yolo") {
		permitted.word = fullAccess
	}
	return permitted.word, permitted.may
}

// fullAccess is Codex's word for a sandbox that holds nothing back.
const fullAccess = "danger-full-access"

// option is one option of the user.
type option struct {
	name, value string
	words       []string // as they were given
}

// options are what the user gave, in its command after the program and in its flags.
type options struct {
	program []string
	mode    string // exec, app-server, or "" if the user did not say
	all     []option
}

// get returns the value of the last option with one of these names. A name that is no option is a
// key of -c.
func (o options) get(names ...string) (value string, given bool) {
	for _, opt := range o.all {
		name, v := opt.name, opt.value
		switch name {
		case "-c", "--config":
			name, v, _ = strings.Cut(v, "=")
			v = strings.Trim(v, `"' `)
		case "--enable", "--disable":
			name = "features." + v
		}
		if slices.Contains(names, strings.TrimSpace(name)) {
			value, given = v, true
		}
	}
	return value, given
}

func (o options) has(names ...string) bool {
	_, given := o.get(names...)
	return given
}

// Command returns the argv of the app-server, or of `codex exec`: for a commit message, if the user
// said so, and, with a notice, if the program has no app-server that can be used. Options of the
// user, in its command or flags, replace the ones made from settings; those that the
// app-server takes with each thread only are given there.
func (d *Dialect) Command(spec agent.Spec) (agent.Command, error) {
	if len(spec.Command) == 0 {
		return agent.Command{}, errors.New("codex: its command is empty")
	}
	given, err := parse(spec)
	if err != nil {
		return agent.Command{}, err
	}
	given.program = d.native(given.program)
	var notice string
	d.once = given.mode == "exec" || given.mode == "" && spec.Purpose == agent.PurposeMessage
	if given.mode == "" && !d.once {
		if why := d.lacksServer(given.program); why != "" {
			d.once = true
			notice = why + ": codex exec works instead. Nothing can be said to it in mid-turn, and each iteration gets a new process"
		}
	}
	if d.once {
		return d.exec(given, spec, notice)
	}
	argv := append(given.program, "app-server")
	for _, opt := range given.all {
		switch opt.name {
		case "-m", "--model", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd",
			"--dangerously-bypass-approvals-and-sandbox", "--yolo": // a part of thread/start
		case "--json", "--skip-git-repo-check", "--ephemeral", "--color": // so it is anyway
		default:
			if slices.Contains(execOnly, opt.name) {
				return agent.Command{}, fmt.Errorf("codex: %s is an option of codex exec: begin its flags with exec, which cannot be steered", opt.name)
			}
			argv = append(argv, opt.words...)
		}
	}
	argv = append(argv, hookSettings(given, spec)...)
	d.threadParams(given, spec)
	_, may := sandbox(given, spec)
	return agent.Command{Argv: argv, May: may}, nil
}

// native puts the native program into the place of its wrapper, which node may start.
func (d *Dialect) native(program []string) []string {
	last := len(program) - 1
	if d.find == nil || last > 1 || last == 1 && baseName(program[0]) != "node" {
		return program
	}
	if found := d.find(program[last]); found != "" {
		return []string{found}
	}
	return program
}

// parse takes apart what the user gave. What comes before the word codex only starts it.
func parse(spec agent.Spec) (options, error) {
	end := len(spec.Command)
	for i, word := range spec.Command {
		if baseName(word) == "codex" {
			end = i + 1
			break
		}
	}
	o := options{program: slices.Clone(spec.Command[:end])}
	words := slices.Concat(spec.Command[end:], spec.Flags)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !strings.HasPrefix(word, "-") {
			if o.mode != "" || word != "exec" && word != "e" && word != "app-server" {
				return options{}, fmt.Errorf("codex: %q cannot be driven: ralph begins each turn itself, with the prompt", word)
			}
			o.mode = word
			continue
		}
		name, value, joined := strings.Cut(word, "=")
		opt := option{name, value, []string{word}}
		if !joined && slices.Contains(valued, word) && i+1 < len(words) {
			i++
			opt.value = words[i]
			opt.words = append(opt.words, words[i])
		}
		o.all = append(o.all, opt)
	}
	if o.mode == "e" {
		o.mode = "exec"
	}
	return o, nil
}

// baseName is the last part of a path, without what npm adds: .js, @version.
func baseName(path string) string {
	name := filepath.Base(filepath.ToSlash(path))
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	for _, suffix := range []string{".exe", ".cmd", ".js"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// exec is the command of `codex exec`.
func (d *Dialect) exec(given options, spec agent.Spec, notice string) (agent.Command, error) {
	has := d.execOptions(given.program)
	if has != nil && !has["--ephemeral"] {
		if minor, known := d.minor(given.program); known && minor < execMinor {
			return agent.Command{}, fmt.Errorf("codex: version 0.%d is older than 0.%d, the first whose exec ralph understands: update it", minor, execMinor)
		}
	}
	_, may := sandbox(given, spec)
	return agent.Command{Argv: execArgv(given, spec, has), CloseStdin: true, ParentDeath: true, Notice: notice, May: may}, nil
}

// TextCommand is `codex exec` as a plain program that takes its prompt on stdin and prints its
// answer: protocol text. It prints what it does meanwhile to stderr.
func TextCommand(spec agent.Spec, find func(program string) string, ask agent.Ask) (agent.Command, error) {
	given, err := parse(spec)
	if err != nil {
		return agent.Command{}, err
	}
	if given.mode == "app-server" {
		return agent.Command{}, errors.New("codex: app-server is no plain program: leave it out, or leave its protocol out")
	}
	d := New(find, ask)
	given.program = d.native(given.program)
	has := d.execOptions(given.program)
	argv := slices.DeleteFunc(execArgv(given, spec, has), func(word string) bool { return word == "--json" })
	_, may := sandbox(given, spec)
	return agent.Command{Argv: argv, ParentDeath: true, May: may}, nil
}

// execArgv is `codex exec`. The prompt comes on stdin: nothing may follow that could be taken for
// one. Of what ralph adds, an older program gets what it has.
func execArgv(given options, spec agent.Spec, has map[string]bool) []string {
	argv := append(given.program, "exec")
	add := func(words []string, unless ...string) {
		if !given.has(unless...) && (has == nil || has[words[0]]) {
			argv = append(argv, words...)
		}
	}
	add([]string{"--json"}, "--json")
	add([]string{"--skip-git-repo-check"}, "--skip-git-repo-check")
	add([]string{"--ephemeral"}, "--ephemeral")
	if word, _ := sandbox(given, spec); spec.Confined() {
		add([]string{"--sandbox", word}, granted...)
	} else {
		add([]string{"--dangerously-bypass-approvals-and-sandbox"}, append(granted, "-a", "--ask-for-approval", "approval_policy")...)
	}
	for _, feature := range disabled {
		add(setting(feature, "false"), feature)
	}
	if spec.Model != "" {
		add([]string{"--model", spec.Model}, "-m", "--model", "model")
	}
	if spec.Provider != "" {
		add(setting("model_provider", quoted(spec.Provider)), "model_provider")
	}
	if spec.Thinking != "" {
		add(setting("model_reasoning_effort", quoted(effort(spec.Thinking))), "model_reasoning_effort")
	}
	if has == nil || has["-c"] {
		argv = append(argv, hookSettings(given, spec)...)
	}
	for _, opt := range given.all {
		if opt.name == "-a" || opt.name == "--ask-for-approval" { // which exec does not have
			opt.words = setting("approval_policy", quoted(opt.value))
		}
		argv = append(argv, opt.words...)
	}
	return argv
}

func setting(key, value string) []string { return []string{"-c", key + "=" + value} }

// quoted spells a text as JSON does, which is also how TOML does.
func quoted(text string) string { return string(jsonscan.AppendString(nil, text)) }

// effort puts ralph's words for how much to think into Codex's.
func effort(thinking string) string {
	if thinking == "off" {
		return "none"
	}
	return thinking
}

// threadParams are what each thread is started with. It is ephemeral: no session file is written.
func (d *Dialect) threadParams(given options, spec agent.Spec) {
	config := object{}
	d.params = object{"ephemeral": true, "config": config}
	// A key of the configuration wins over a flag, and that over the settings.
	set := func(member, value string, keys []string, flags ...string) {
		if chosen, ok := given.get(flags...); ok {
			value = chosen
		}
		if value != "" && !given.has(keys...) {
			d.params[member] = value
		}
	}
	word, _ := sandbox(given, spec)
	set("sandbox", word, []string{"sandbox_mode", "default_permissions"}, "-s", "--sandbox")
	d.trusts = d.params["sandbox"] == fullAccess
	policy := "never"
	if spec.Permissions == agent.PermitAsk {
		policy = "on-request"
	}
	set("approvalPolicy", policy, []string{"approval_policy"}, "-a", "--ask-for-approval")
	set("cwd", spec.Dir, nil, "-C", "--cd")
	set("model", spec.Model, []string{"model"}, "-m", "--model")
	set("modelProvider", spec.Provider, []string{"model_provider"})
	for _, feature := range disabled {
		if !given.has(feature) {
			config[feature] = false
		}
	}
	if spec.Thinking != "" && !given.has("model_reasoning_effort") {
		config["model_reasoning_effort"] = effort(spec.Thinking)
	}
}
