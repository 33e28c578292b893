package house

// module is the path that imports of ours begin with.
const module = "github.com/ralph-loop/ralph/"

// A room is a package, or with a path that ends in "/..." a package and all below it.
type room struct {
	path  string
	floor float64
	why   string // why nothing of a higher floor, and no neighbour, is used here
}

// plan is the whole house. A package of a room may import the rooms below its
// floor, and packages of its own room.
var plan = []room{
	{"cmd/...", 5, "the verbs join everything, so nothing may lean on them"},

	{"internal/runner", 4.5, "it joins the parts of one running loop; a verb starts it, and no part knows of it"},

	{"internal/loop", 4, "the mind and its driver do not know who watches (render, mcp) nor who joins them to the world (runner)"},
	{"render/...", 4, "a reader of the journal: what it shows must be the same live and a year later, so it knows no loop, no agent and no hand"},
	{"internal/trust", 4, "whether settings are trusted is asked before a loop begins: no loop, no hand and no reader depends on it"},
	{"internal/mcp", 4, "one more writer of inbox files and reader of states: it must not reach a running loop by another way"},

	{"projector", 3, "State is a fold of events: whoever has the journal has the state, without the engine that runs loops"},
	{"internal/effect", 3, "a hand does what was decided; it must not be able to decide (internal/loop)"},
	{"internal/simfs", 3, "it is the disk that a simulated journal lies on, and simulates nothing else"},
	{"internal/hook", 3, "a hook answers from files and the inbox, not from a running loop"},

	{"journal", 2, "it keeps lines and knows nothing of what they add up to, so that every version reads every journal"},
	{"internal/policy", 2, "a policy answers one question from events; who asks, and when, is internal/loop's"},
	{"internal/agent/...", 2, "an agent tells what happened; what follows from it is decided two floors up"},
	{"inbox", 2, "the one door in: it takes commands whatever becomes of them"},

	{"journal/event", 1, "the words of the house: all others are built on them"},
	{"registry", 1, "which loops there are and whether they live is asked of files and the kernel alone"},
	{"internal/config/...", 1, "settings are read before anything runs"},
	{"internal/secret", 1, "it sees bytes before they have a meaning"},
	{"internal/task", 1, "one outside thing: task files"},
	{"internal/prompt", 1, "the words of a prompt from parts that it is given, whoever knows them"},
	{"internal/repo", 1, "one outside thing: git"},
	{"internal/guardrail", 1, "one outside thing: a check's command"},
	{"internal/sandbox", 1, "one outside thing: the walls around an agent"},

	{"internal/units", 0, "it spells amounts, whatever they are amounts of"},
	{"internal/jsonscan", 0, "the ground: JSON as bytes, without a word of ours"},
	{"internal/safefile", 0, "files on a disk, whatever stands in them"},
	{"internal/house", 0, "it looks at the house from outside"},
}

// sideways are the arrows between rooms of one floor, each with its reason.
var sideways = map[[2]string]string{
	{"internal/effect", "projector"}: "a hand is given the state that the decision was made from",
}

// atRoot are the folders of the six packages that other programs may build on, and
// the folder of all others.
var atRoot = []string{"cmd", "inbox", "internal", "journal", "projector", "registry", "render"}

const whyRoot = "the six packages at the root are the file protocol, and a promise to other programs; everything that runs a loop is under internal/"

// besideRoot are the folders at the root that hold no package of this module. Folders
// that begin with a dot are nobody's business but .gitignore's.
var besideRoot = []string{"changes", "docs", "tools", "bin", "dist", "node_modules", "ralph"}

// pure says which files of a package reach nothing of the world.
var pure = map[string]struct {
	only   []string // these files; all where empty
	except []string
	why    string
}{
	"journal/event":   {why: "a word means the same wherever and whenever it is read"},
	"internal/policy": {why: "the same events must give the same answers: in a simulation, in a replay, after a crash"},
	"internal/prompt": {why: "the same parts must give the same words, and what an agent was told is known from what is recorded"},
	"projector":       {except: []string{"doc.go", "file.go", "open.go"}, why: "State = fold(events), and nothing else; file.go and open.go are its writer and its opener"},
	"internal/loop":   {only: []string{"next.go", "next_between.go", "next_check.go", "next_failover.go", "next_people.go", "next_turn.go"}, why: "decisions = Next(State): what it could read besides, a replay could not"},
}

// world are the standard packages that a pure file must not reach, each with
// everything below it.
var world = []string{"os", "net", "syscall", "math/rand", "crypto/rand", "log", "plugin"}

// clocks are the files in which time.Now, Since and Until may stand, by the beginning
// of their path.
var clocks = map[string]string{
	"internal/loop/driver.go":          "it stamps what comes in; Next gets time from events",
	"internal/effect/":                 "a hand measures what it does",
	"internal/runner/":                 "it is where the loop's clock comes from",
	"internal/agent/process/":          "how long a process has had to end is no event",
	"internal/guardrail/":              "how long a command took is part of its result",
	"internal/agent/agenttest/":        "a stand-in for a model's server, in tests only",
	"internal/agent/rehearsal/player/": "it is the agent's own program, in a process of its own",
	"journal/options.go":               "the default for a writer that was given no clock",
	"journal/bell.go":                  "how long ago the bell was rung, and how long that took",
	"journal/listen_linux.go":          "the deadline of one read, which nothing remembers",
	"cmd/":                             "it hands the clock in",
}

const whyClock = "time enters a loop as the time of an event, so that a replay sees the same; elsewhere a clock is handed in"

// testOnly are rooms that no program is linked with.
var testOnly = map[string]string{
	"internal/agent/agenttest": "what plays an agent or a model in tests must not be part of ralph",
	"internal/house":           "it is a test",
}
