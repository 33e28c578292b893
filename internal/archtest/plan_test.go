package archtest

// module is the path that imports of ours begin with.
const module = "github.com/ralph-loop/ralph/"

// A layer is a folder with all below it, or packages at the root that belong together. Within a
// layer the compiler alone keeps the order, which it does by refusing cycles.
type layer struct {
	name     string
	packages []string // a path that ends in "/..." means all below it, too
	may      string   // the layers below that it may import
	does     string   // for the page of the architecture
	why      string   // why it may import no other
}

// layers are all of them, from the top down.
var layers = []layer{
	{"cmd", []string{"cmd/..."}, "verb front runner effect view agent core files ground",
		"one file for each verb: flags, help, wiring",
		"the verbs join everything, so no package may depend on them"},
	{"verb", []string{"internal/verb/..."}, "front runner effect view agent core files ground",
		"what a verb does that needs the engine: starting, merging, going back, moving, cleaning",
		"it serves any verb, so it knows none"},
	{"front", []string{"internal/front/..."}, "view files ground",
		"front ends: they read journals and write inboxes, as any program outside can",
		"a front end links no engine: what it needs of a loop is in client, projector and render"},
	{"runner", []string{"internal/runner"}, "effect agent core files ground",
		"assembles one running loop",
		"no loop depends on who reads it, nor on how it was started"},
	{"effect", []string{"internal/effect/..."}, "agent core files ground",
		"one handler for each effect, and what the handlers work on",
		"an effect handler does what was decided; it neither decides nor knows the assembly"},
	{"view", []string{"client", "projector", "render/..."}, "core files ground",
		"public: what is true of a loop, what people see of it, and how it is steered",
		"what it shows must be the same live and a year later, so it uses no agent and no effect"},
	{"core", []string{"internal/core/..."}, "files ground",
		"`State`, `Next` and every policy, pure; the driver around them",
		"it decides from events, whatever carries them out or reads them"},
	{"agent", []string{"internal/agent/..."}, "ground",
		"a session with an agent; one folder for each dialect",
		"an agent reports what happened; the core decides what follows"},
	{"files", []string{"journal", "inbox", "registry", "conformance"}, "ground",
		"public: the files that are the only output and the only input of a loop",
		"they store lines and know nothing of what these add up to, so that every version reads every journal"},
	{"ground", []string{"internal/ground/...", "journal/event", "plugin"}, "",
		"files, processes, settings and amounts; the vocabulary of events",
		"all else uses it"},
	{"test kit", []string{"internal/testkit/...", "internal/archtest"}, "ground",
		"what only tests use",
		"it must serve the tests of any package"},
}

// forbidden are imports that the layers would allow.
var forbidden = map[[2]string]string{
	{"internal/effect/executor", "internal/core/loop"}: "an executor does what the core decided; it must not decide",
	{"internal/effect/otlp", "internal/core/loop"}:     "what it exports must be the same live and a year later",
}

// shared are the packages that front ends have in common. No front end imports another.
var shared = []string{"internal/front/attach", "internal/front/cli", "internal/front/display", "internal/front/listing", "internal/front/logs", "internal/front/logs/filter", "internal/front/remote", "internal/front/send"}

// atRoot are the folders of the packages that other programs may build on, and the folder of all
// others. plugin is there since agents find it there in the repository.
var atRoot = []string{"client", "cmd", "conformance", "inbox", "internal", "journal", "plugin", "projector", "registry", "render"}

const whyRoot = "the packages at the root are the file protocol and what builds on it, and a promise to other programs; everything that runs a loop is under internal/"

// besideRoot are the folders at the root without a package of this module; pool and bench/loop are
// modules of their own. Folders that begin with a dot are not checked.
var besideRoot = []string{"bench", "contrib", "docs", "pool", "tools", "bin", "dist", "node_modules", "ralph"}

// pure says which files of a package must not reach the outside world.
var pure = map[string]struct {
	only   []string // these files; all where empty
	except []string
	why    string
}{
	"journal/event":            {why: "an event means the same wherever and whenever it is read"},
	"internal/core/policy":     {why: "the same events must give the same answers: in a simulation, in a replay, after a crash"},
	"internal/ground/calendar": {why: "a schedule is due at the same times for the list, for each platform and for each host"},
	"internal/effect/prompt":   {why: "the same parts must give the same words, so that the record shows what an agent read"},
	"internal/core/story":      {why: "the hook and the runner must judge alike, and a replay as they did"},
	"internal/core/loopstate":  {except: []string{"doc.go", "file.go", "open.go"}, why: "State = fold(events), and nothing else; file.go and open.go are its writer and its opener"},
	"internal/core/loop":       {only: []string{"next.go", "next_between.go", "next_check.go", "next_failover.go", "next_fence.go", "next_people.go", "next_proof.go", "next_questions.go", "next_schedule.go", "next_turn.go"}, why: "decisions = Next(State): a replay has nothing else to read"},
}

// world are the standard packages that a pure file must not reach, each with its subpackages.
var world = []string{"os", "net", "syscall", "math/rand", "crypto/rand", "log", "plugin"}

// clocks are the files that may call time.Now, Since and Until, by the beginning of their path.
var clocks = map[string]string{
	"internal/core/loop/driver.go":     "it stamps what comes in; Next gets time from events",
	"internal/effect/executor/":        "an effect handler measures what it does",
	"internal/effect/scratch/":         "how old what a dead process left is decides nothing of a loop",
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
	"internal/testkit/":                "when a terminal was written to, in tests only",
	"internal/front/attach/":           "how often a terminal is drawn is no event",
	"internal/front/board/program.go":  "how long it takes to read the loops decides how often they are read",
}

const whyClock = "time enters a loop as the time of an event, so that a replay sees the same; elsewhere a clock is passed in"
