// Package shellguard judges a shell command that an agent is about to run.
//
//	verdict := shellguard.Judge(command, shellguard.Context{Dir: cwd, Project: root, Home: home})
//	if verdict.Decision == shellguard.Deny {
//		fmt.Println(verdict.Reason) // a sentence for the model: what it is, and what to do instead
//	}
//
// The command is parsed, and then carried out without effects: assignments, quotes, braces, pipes,
// here-documents and functions give the words that each simple command would get. Those words are
// judged by the rules of the command's name: rows of words (groups) and code (judges). Commands
// that run other commands (sudo, env, xargs, find -exec, sh -c, ssh …) are judged with what they
// run.
//
// # Unknown text
//
// What the shell computes at run time is unknown. A word keeps its known parts: one byte below 0x08
// (see [unknown] and its neighbours) takes the place of each unknown part, and says where it comes
// from. Only a few unknown words matter: the name of a command, what rm -r removes, the text of
// eval. They are Unknown, and [Context].Unknown decides. So is each word of a command with rules if
// it could be worked out from the text, and is not: an expansion such as ${X,,}, what tr prints.
//
// # Guarantees
//
//   - Judge is pure. It reads no file, no variable and no clock, and starts no goroutine.
//   - Judge returns for any text, in time proportional to its length. A text that is too long, too
//     deep or no shell is Unknown.
//   - A command is allowed unless a rule names it. More text never makes a denied command allowed.
//
// # Not here
//
// This is no sandbox. It catches mistakes and careless ideas of a model, not an attacker: a script
// that is run by its name, a makefile and a program of any other language are not judged. The
// format of hooks is in internal/verb/hook.
package shellguard
