package archtest

// module is the path that imports of ours begin with.
const module = "github.com/ralph-loop/ralph/"

// A layerRule places a package, or with a path that ends in "/..." a package and all below it.
type layerRule struct {
	path  string
	layer int
	why   string // why it may import neither a higher layer nor another package of its own layer
}

// plan places every package. A package may import packages of lower layers, and packages that the
// same rule places.
var plan = []layerRule{
	{"cmd/...", 6, "the verbs join everything, so no package may depend on them"},

	{"internal/front/cli", 5, "verbs share it; it must not know which verbs there are"},
	{"internal/verb/launch", 5, "it starts a runner for a verb; no running loop depends on how it was started"},
	{"internal/front/send", 5, "it sends a command to a loop, whichever verb asks for it"},
	{"internal/verb/ending", 5, "it ends a loop, whichever verb asks for it"},
	{"internal/front/attach", 5, "it shows a running loop, whichever verb asks for it"},
	{"internal/front/listing", 5, "it shows the loops of a machine, whichever verb asks for it"},
	{"internal/front/board", 5, "it shows and controls all loops of a person, whichever verb asks for it"},
	{"internal/front/statuspage", 5, "it shows the state of one loop, whichever verb asks for it"},
	{"internal/front/reporting", 5, "it writes the reports of loops, whichever verb asks for it"},
	{"internal/verb/notifying", 5, "it tries the channels of the settings, for a verb"},
	{"internal/verb/service", 5, "it resumes loops as the verb start does; no loop depends on that"},
	{"internal/verb/rollback", 5, "it compares and restores work trees, whichever verb asks for it"},
	{"internal/verb/fleet", 5, "it starts loops and merges their work, as the verbs do"},
	{"internal/verb/forking", 5, "it makes a loop out of another one, whichever verb asks for it"},
	{"internal/verb/merging", 5, "it merges what a loop did in its worktree, whichever verb asks for it"},
	{"internal/verb/moving", 5, "it takes loops to another machine, whichever verb asks for it"},
	{"internal/verb/cleaning", 5, "it removes loops that have ended, whichever verb asks for it"},
	{"internal/verb/journaltool", 5, "it reads and repairs journals for the verbs; no running loop depends on that"},
	{"internal/front/completion", 5, "it answers a shell from the model of the verbs, which it is given"},
	{"internal/front/manual", 5, "it writes the manual from the model of the verbs, which it is given"},
	{"internal/front/why", 5, "it explains decisions from journals; no running loop depends on that"},
	{"internal/verb/doctor", 5, "it examines a machine and its settings; no loop depends on that"},
	{"internal/verb/initialize", 5, "it asks for the settings of a project; no loop depends on that"},
	{"internal/verb/planning", 5, "it lays out, checks and archives a plan, whichever verb asks for it"},
	{"internal/verb/plugininstall", 5, "it installs the plugin with an agent's own program; no loop depends on that"},
	{"internal/testkit/terminaltest", 5, "a terminal for tests"},
	{"internal/runner", 5, "it assembles one running loop; no part of the loop may know the assembly"},
	{"internal/front/web", 5, "an optional server: it reads journals and writes inboxes"},
	{"internal/front/mcp", 5, "an optional server: it reads journals and writes inboxes"},
	{"internal/front/acpserver", 5, "an optional server: it reads journals and writes inboxes"},

	{"internal/core/loop", 4, "the core and its driver do not know who reads (render, web) nor who assembles them (runner)"},
	{"internal/effect/otlp", 4, "a reader of the journal: what it exports must be the same live and a year later, so it uses no loop and no agent"},
	{"render/...", 4, "a reader of the journal: what it shows must be the same live and a year later, so it uses no loop, no agent and no executor"},
	{"client", 4, "what every front end, and any program outside, needs of loops; it links no engine"},
	{"internal/front/hook", 4, "a hook answers from files and the inbox, not from a running loop"},

	{"internal/effect/workspace", 3, "a worktree is made before a loop runs in it, so it needs no loop"},
	{"internal/core/loopstate", 3, "State is a fold of events: it needs the journal, not the engine that runs loops"},
	{"projector", 3, "what other programs see of a loop's state; the loop itself does not need it"},
	{"internal/effect/executor", 3, "an executor does what internal/core/loop decided; it must not decide"},
	{"internal/testkit/simfs", 3, "the simulated disk under a journal; it simulates nothing else"},

	{"journal", 2, "it stores lines and knows nothing of the state they add up to, so that every version reads every journal"},
	{"internal/core/policy", 2, "a policy answers one question from events; internal/core/loop decides when to ask"},
	{"internal/agent/...", 2, "an agent reports what happened; internal/core/loop decides what follows"},
	{"internal/effect/sandbox", 2, "it wraps the agent's command and nothing else"},

	{"inbox", 2, "it stores commands; other packages carry them out"},

	{"journal/event", 1, "the vocabulary that all others are built on"},
	{"internal/ground/frame", 1, "one line of a journal, whatever file it is in"},
	{"internal/effect/registration", 1, "it writes what registry reads: a loop's entry and its locks"},
	{"registry", 1, "which loops exist and whether they live is read from files and the kernel alone"},
	{"internal/ground/config/...", 1, "settings are read before anything runs"},
	{"internal/ground/trust", 1, "whether settings are trusted is decided before a loop begins"},
	{"internal/ground/redact", 1, "it sees bytes before they have a meaning"},
	{"internal/effect/task", 1, "one external thing: task files"},
	{"internal/core/story", 1, "it judges a list of stories, whoever asks"},
	{"internal/effect/plan", 1, "one external thing: the files in ralph/"},
	{"internal/front/shellguard", 1, "it judges a shell command, whoever asks"},
	{"internal/effect/forge", 1, "one external thing: gh and glab"},
	{"internal/effect/prompt", 1, "it composes a prompt from given parts"},
	{"internal/effect/repo", 1, "one external thing: git"},
	{"internal/effect/guardrail", 1, "one external thing: a check's command"},
	{"internal/effect/notify", 1, "one external thing: notifications"},

	{"internal/ground/process", 0, "processes of the operating system, whatever runs in them"},
	{"internal/ground/filelock", 0, "locks on open files, whatever they protect"},
	{"internal/ground/filewatch", 0, "changes of files, whatever they contain"},
	{"internal/ground/safefile", 0, "files on a disk, whatever they contain"},
	{"internal/ground/jsonscan", 0, "JSON as bytes"},
	{"internal/ground/journalfs", 0, "a file system as a journal needs it, whatever the files contain"},
	{"internal/ground/units", 0, "it formats amounts, whatever they measure"},
	{"plugin", 0, "files that agents load; it knows nothing of what they call"},
	{"internal/testkit/testgit", 0, "what surrounds the tests, whatever they test"},
	{"internal/testkit/testseed", 0, "the seed of tests, whatever they test"},
	{"internal/archtest", 0, "it reads the source of the others"},
}

// sideways are the allowed imports between two rules of one layer, each with its reason.
var sideways = map[[2]string]string{
	{"registry", "journal/event"}:                           "a summary describes a loop's status in the words of its events",
	{"internal/effect/registration", "registry"}:            "it writes the files that registry reads, and checks them as a reader does",
	{"internal/ground/process", "internal/ground/units"}:    "its reports contain amounts for people",
	{"internal/ground/frame", "journal/event"}:              "a line is the envelope of an event",
	{"internal/core/story", "journal/event"}:                "the states of a story are in the journal as they are in tasks.json",
	{"internal/effect/plan", "journal/event"}:               "the marker has the states of stories as the journal has them",
	{"internal/effect/prompt", "journal/event"}:             "the mode of an iteration has the names of its events",
	{"internal/effect/notify", "internal/ground/config"}:    "a channel is described in the settings",
	{"internal/ground/config", "journal/event"}:             "the settings that decisions depend on are in the journal as they are in the settings",
	{"projector", "internal/core/loopstate"}:                "a view shows a part of the state",
	{"internal/effect/executor", "internal/core/loopstate"}: "an executor is given the state that the decision was made from",
	{"internal/verb/launch", "internal/runner"}:             "the process that launch starts becomes the runner",
	{"internal/verb/launch", "internal/front/cli"}:          "launch reports to a person with the same errors and hints as the verbs",

	{"internal/front/send", "internal/front/cli"}:              "it reports with the same errors and hints as the verbs",
	{"internal/verb/ending", "internal/front/cli"}:             "it reports with the same errors and hints as the verbs",
	{"internal/verb/ending", "internal/verb/launch"}:           "it keeps runners out while it works on a loop's files",
	{"internal/verb/ending", "internal/runner"}:                "the runner knows which processes of a loop may outlive it",
	{"internal/verb/ending", "internal/front/send"}:            "it finds what a dead loop left running as the verbs that send do",
	{"internal/front/attach", "internal/front/cli"}:            "it reports with the same errors and hints as the verbs",
	{"internal/verb/doctor", "internal/front/cli"}:             "it prints as the verbs do",
	{"internal/verb/doctor", "internal/verb/launch"}:           "it reports what a start would refuse or warn about",
	{"internal/verb/doctor", "internal/runner"}:                "the runner knows which dialects there are",
	{"internal/verb/initialize", "internal/front/cli"}:         "it asks as the verbs do",
	{"internal/verb/initialize", "internal/verb/doctor"}:       "it describes an agent as doctor does",
	{"internal/verb/initialize", "internal/verb/launch"}:       "it makes the folder of a project as a start does",
	{"internal/front/listing", "internal/front/cli"}:           "it prints as the verbs do",
	{"internal/front/listing", "internal/front/send"}:          "it finds what a dead loop left running as the verbs that end it do",
	{"internal/front/listing", "internal/front/attach"}:        "it cuts paths as the terminal's lines are cut",
	{"internal/front/board", "internal/front/cli"}:             "it reports with the same errors and hints as the verbs",
	{"internal/front/board", "internal/front/listing"}:         "it has the groups of the list",
	{"internal/front/board", "internal/front/send"}:            "it sends commands as the verbs do",
	{"internal/front/board", "internal/front/attach"}:          "it cuts paths as the terminal's lines are cut",
	{"internal/front/statuspage", "internal/front/cli"}:        "it prints as the verbs do",
	{"internal/front/statuspage", "internal/front/send"}:       "it finds what a dead loop left running as the verbs that end it do",
	{"internal/front/statuspage", "internal/verb/launch"}:      "the next step after an end is the one that launch reports",
	{"internal/front/statuspage", "internal/runner"}:           "it finds a loop's prompt file as the runner does",
	{"internal/verb/notifying", "internal/front/cli"}:          "it reports with the same errors and hints as the verbs",
	{"internal/verb/notifying", "internal/verb/launch"}:        "it asks for trust as a start does",
	{"internal/verb/service", "internal/front/cli"}:            "it reports with the same errors and hints as the verbs",
	{"internal/verb/service", "internal/verb/launch"}:          "it resumes loops as the verb start does",
	{"internal/verb/rollback", "internal/front/cli"}:           "it reports with the same errors and hints as the verbs",
	{"internal/verb/rollback", "internal/verb/launch"}:         "it keeps runners out while it works on the files",
	{"internal/verb/rollback", "internal/runner"}:              "the runner knows which loop has a work tree",
	{"internal/verb/fleet", "internal/front/cli"}:              "it reports with the same errors and hints as the verbs",
	{"internal/verb/fleet", "internal/verb/launch"}:            "it starts the fleet's loop as a start does",
	{"internal/verb/fleet", "internal/verb/merging"}:           "it merges as the verb merge does",
	{"internal/verb/forking", "internal/front/cli"}:            "it reports with the same errors and hints as the verbs",
	{"internal/verb/forking", "internal/verb/launch"}:          "it makes the loop's folder and fills its worktree as a start does",
	{"internal/verb/forking", "internal/runner"}:               "it makes the id of a loop as the runner does",
	{"internal/verb/merging", "internal/front/cli"}:            "it reports with the same errors and hints as the verbs",
	{"internal/verb/merging", "internal/verb/launch"}:          "it keeps runners out, and prepares a worktree as a start does",
	{"internal/verb/merging", "internal/runner"}:               "it runs the same guardrails, and knows which loop has a work tree",
	{"internal/verb/moving", "internal/front/cli"}:             "it reports with the same errors and hints as the verbs",
	{"internal/verb/moving", "internal/front/send"}:            "it finds what a dead loop left running as the verbs that end it do",
	{"internal/verb/moving", "internal/verb/launch"}:           "it keeps runners out while it works on a loop's files",
	{"internal/verb/moving", "internal/runner"}:                "it finds a loop's prompt file as the runner does",
	{"internal/verb/cleaning", "internal/front/cli"}:           "it reports with the same errors and hints as the verbs",
	{"internal/verb/cleaning", "internal/front/send"}:          "it finds what a dead loop left running as the verbs that end it do",
	{"internal/verb/cleaning", "internal/verb/launch"}:         "it keeps runners out while it works on a loop's files",
	{"internal/verb/journaltool", "internal/front/cli"}:        "it reports with the same errors and hints as the verbs",
	{"internal/verb/journaltool", "internal/front/attach"}:     "lines of a journal are printed as attach prints them",
	{"internal/verb/journaltool", "internal/verb/launch"}:      "it keeps runners out while it works on a loop's files",
	{"internal/verb/journaltool", "internal/runner"}:           "the runner knows which dialects there are",
	{"internal/front/completion", "internal/front/cli"}:        "it completes what the verbs' parser reads",
	{"internal/front/why", "internal/front/cli"}:               "it prints and reports as the verbs do",
	{"internal/front/web", "internal/front/cli"}:               "it reports with the same errors and hints as the verbs",
	{"internal/front/web", "internal/front/board"}:             "its list shows the facts that the terminal's does",
	{"internal/front/web", "internal/front/listing"}:           "its list has the groups of the terminal's, and the keys of 'ralph list --json'",
	{"internal/front/web", "internal/front/send"}:              "it sends commands as the verbs do",
	{"internal/front/acpserver", "internal/front/cli"}:         "it reports with the same errors and hints as the verbs",
	{"internal/front/acpserver", "internal/verb/launch"}:       "it starts and resumes loops as the verb start does",
	{"internal/front/acpserver", "internal/runner"}:            "the id of a session becomes that of its loop",
	{"internal/front/acpserver", "internal/front/send"}:        "it sends commands as the verbs do",
	{"internal/front/mcp", "internal/front/cli"}:               "it reports with the same errors and hints as the verbs",
	{"internal/front/mcp", "internal/verb/journaltool"}:        "it filters events as the verb logs does",
	{"internal/front/mcp", "internal/front/listing"}:           "its list has the groups of the terminal's",
	{"internal/front/mcp", "internal/front/send"}:              "it sends commands as the verbs do",
	{"internal/front/attach", "internal/testkit/terminaltest"}: "only its tests use a terminal",
	{"internal/verb/initialize", "internal/runner"}:            "the runner knows what is secret in settings",

	{"internal/verb/planning", "internal/front/cli"}:          "it asks and reports as the verbs do",
	{"internal/verb/planning", "internal/verb/launch"}:        "it asks for trust, and names the installed agents, as a start does",
	{"internal/verb/plugininstall", "internal/front/cli"}:     "it asks and reports as the verbs do",
	{"internal/verb/doctor", "internal/verb/plugininstall"}:   "it names a plugin that is not that of the program",
	{"internal/front/reporting", "internal/front/cli"}:        "it reports with the same errors and hints as the verbs",
	{"internal/front/reporting", "internal/verb/journaltool"}: "it names iterations as logs and replay do",
	{"internal/front/reporting", "internal/front/listing"}:    "it finds loops, and groups them, as list does",
}

// atRoot are the folders of the packages that other programs may build on, and the folder of all
// others. plugin is there since agents find it there in the repository.
var atRoot = []string{"client", "cmd", "inbox", "internal", "journal", "plugin", "projector", "registry", "render"}

const whyRoot = "the packages at the root are the file protocol and what builds on it, and a promise to other programs; everything that runs a loop is under internal/"

// besideRoot are the folders at the root without a package of this module. Folders that begin with
// a dot are not checked.
var besideRoot = []string{"docs", "tools", "bin", "dist", "node_modules", "ralph"}

// pure says which files of a package must not reach the outside world.
var pure = map[string]struct {
	only   []string // these files; all where empty
	except []string
	why    string
}{
	"journal/event":           {why: "an event means the same wherever and whenever it is read"},
	"internal/core/policy":    {why: "the same events must give the same answers: in a simulation, in a replay, after a crash"},
	"internal/effect/prompt":  {why: "the same parts must give the same words, so that the record shows what an agent read"},
	"internal/core/story":     {why: "the hook and the runner must judge alike, and a replay as they did"},
	"internal/core/loopstate": {except: []string{"doc.go", "file.go", "open.go"}, why: "State = fold(events), and nothing else; file.go and open.go are its writer and its opener"},
	"internal/core/loop":      {only: []string{"next.go", "next_between.go", "next_check.go", "next_failover.go", "next_people.go", "next_questions.go", "next_turn.go"}, why: "decisions = Next(State): a replay has nothing else to read"},
}

// world are the standard packages that a pure file must not reach, each with its subpackages.
var world = []string{"os", "net", "syscall", "math/rand", "crypto/rand", "log", "plugin"}

// clocks are the files that may call time.Now, Since and Until, by the beginning of their path.
var clocks = map[string]string{
	"internal/core/loop/driver.go":     "it stamps what comes in; Next gets time from events",
	"internal/effect/executor/":        "an effect handler measures what it does",
	"internal/runner/":                 "it is where the loop's clock comes from",
	"internal/ground/process/":         "how long a process has had to end is no event",
	"internal/agent/agenttest/":        "a substitute for a model's server, in tests only",
	"internal/agent/rehearsal/player/": "it is the agent's own program, in a process of its own",
	"journal/options.go":               "the default for a writer that was given no clock",
	"journal/notifier.go":              "how long ago followers were notified, and how long that took",
	"journal/listen_linux.go":          "the deadline of one read, which nothing remembers",
	"cmd/":                             "it passes the clock in",
	"internal/front/cli/":              "it passes the clock in",
	"internal/verb/launch/":            "how long to wait for a runner is no event",
	"internal/verb/ending/":            "how long to wait for an end is no event",
	"internal/testkit/terminaltest/":   "when a terminal was written to, in tests only",
	"internal/front/attach/":           "how often a terminal is drawn is no event",
	"internal/front/board/program.go":  "how long it takes to read the loops decides how often they are read",
}

const whyClock = "time enters a loop as the time of an event, so that a replay sees the same; elsewhere a clock is passed in"

// testOnly are packages that no program may link.
var testOnly = map[string]string{
	"internal/agent/agenttest":      "what plays an agent or a model in tests must not be part of ralph",
	"internal/archtest":             "it is a test",
	"internal/testkit/terminaltest": "what plays a terminal in tests must not be part of ralph",
}
