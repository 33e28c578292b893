package event

// CommandKind is what a command asks for.
type CommandKind string

// The closed list of commands.
const (
	CommandSteer    CommandKind = "steer"     // give the agent Text now, in mid-turn if it takes that, else with its next prompt
	CommandFollowUp CommandKind = "follow-up" // give the agent Text when its present turn has ended
	CommandStop     CommandKind = "stop"      // finish the present iteration, then end the loop; Text may say why
	CommandStopNow  CommandKind = "stop-now"  // end the loop now: the agent is asked to stop, then made to; Text may say why
	CommandPause    CommandKind = "pause"     // finish the present iteration and begin no other until a resume
	CommandResume   CommandKind = "resume"    // continue after a pause
	CommandSet      CommandKind = "set"       // change the setting Key to Value, spelled as on the command line
	CommandKill     CommandKind = "kill"      // end the agent's processes at once, without asking, and the loop with them
	CommandWait     CommandKind = "wait"      // from the agent: finish the present iteration and begin no other until a person resumes; Text says what for
	CommandBlocked  CommandKind = "blocked"   // from the agent: finish the present iteration and end the loop, which needs a person; Text says why
	CommandAsk      CommandKind = "ask"       // from the agent: ask a person Text and work on; Choices are answers; with Blocks the work needs one
	CommandAnswer   CommandKind = "answer"    // answer question number Question with Text, which is given to the agent as a steer is
	CommandWithdraw CommandKind = "withdraw"  // take back the message with the id Key, else the sender's last one, unless the agent has it
	CommandFence    CommandKind = "fence"     // Host has the loop under Epoch: record nothing more, and end the agent's processes and the loop at once
)

// CommandKinds is the closed list.
var CommandKinds = []CommandKind{
	CommandSteer, CommandFollowUp, CommandStop, CommandStopNow, CommandPause,
	CommandResume, CommandSet, CommandKill, CommandWait, CommandBlocked,
	CommandAsk, CommandAnswer, CommandWithdraw, CommandFence,
}

// FromAgent is the sender of a command of the loop's own agent; its name may follow after a colon.
const FromAgent = "agent"

// MaxQuestions is how many questions of a loop may be open; more are refused.
const MaxQuestions = 32

// ParseCommandKind returns the kind of that name.
func ParseCommandKind(text string) (CommandKind, error) {
	return parse(text, "a kind of command", CommandKinds...)
}

// IsAgents reports whether an agent may ask its own loop for it. All else is up to people.
func (k CommandKind) IsAgents() bool {
	return k == CommandAsk || k == CommandWait || k == CommandBlocked
}

// IsMessage reports whether the command is a message to the agent.
func (k CommandKind) IsMessage() bool {
	return k == CommandSteer || k == CommandFollowUp || k == CommandAnswer
}

// EndsNow reports whether the command ends the loop without waiting for the open iteration.
func (k CommandKind) EndsNow() bool { return k == CommandStopNow || k == CommandKill }
