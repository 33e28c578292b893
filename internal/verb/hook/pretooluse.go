package hook

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/jsonscan"
	"github.com/ralph-loop/ralph/internal/verb/shellguard"
)

// preToolUse judges a tool call before it runs. It has no opinion on a call that it allows: the
// agent's own permissions still count.
func preToolUse(_ context.Context, e Env, in Input) (Reply, error) {
	if in.Tool == "" {
		return Reply{}, nil
	}
	guard, failed := guardOf(e, in)
	_, inLoop := ownLoop(e)
	if !inLoop && !guard.Sessions {
		folder, loop := findLoop(e, in, false)
		if loop == nil {
			return Reply{}, nil // an error in the settings of others is theirs
		}
		folder.Close()
	}
	verdict := judgeTool(in, guard.Context)
	if verdict.Decision == shellguard.Allow {
		return Reply{}, failed
	}
	reply := Reply{Permission: Permission(verdict.Decision), Reason: explain(verdict)}
	if reply.Permission == Ask && (inLoop || in.FromCodex()) { // no person can answer
		reply.Permission = Deny
	}
	return reply, failed
}

// explain is the text that the model reads.
func explain(v shellguard.Verdict) string {
	text := "ralph's guard (" + string(v.Category) + "): " + v.Reason
	if v.Command != "" {
		text = "ralph's guard (" + string(v.Category) + ") refuses `" + strings.ReplaceAll(v.Command, "`", "'") + "`: " + v.Reason
	}
	return text + " Do not try the same in another form."
}

// unreadableToolUse is the verdict on a call whose input could not be read: in a loop it is
// refused, because a guard that no longer understands its agent must not be silent about that.
func unreadableToolUse(e Env, err error) Reply {
	if _, inLoop := ownLoop(e); !inLoop {
		return Reply{}
	}
	return Reply{Permission: Deny, Reason: "ralph's guard cannot read what the agent sent to the hook (" + err.Error() + "), so it refuses. Only a person can repair that: end your turn."}
}

// shellTools are the tools that run shell commands, in lower case, and fileTools those that change
// a file. Claude Code and Codex have the first of each; the others are those of other versions.
var (
	shellTools = []string{"bash", "shell", "exec", "exec_command", "local_shell", "container.exec", "unified_exec", "monitor", "powershell"}
	fileTools  = []string{"write", "edit", "multiedit", "notebookedit"}
	readTools  = []string{"read", "notebookread", "grep"}
)

// judgeTool judges a tool call. Tools that it does not know are allowed.
func judgeTool(in Input, guard shellguard.Context) shellguard.Verdict {
	argument := func(names ...string) string {
		for _, name := range names {
			if text := commandText(jsonscan.Get(in.ToolInput, name)); text != "" {
				return text
			}
		}
		return ""
	}
	verdict := shellguard.Verdict{Decision: shellguard.Allow}
	switch tool := strings.ToLower(in.Tool); {
	case tool == "apply_patch":
		for _, file := range shellguard.PatchFiles(argument("command", "input", "patch")) {
			if v := shellguard.JudgeWrite(file, guard); v.Decision != shellguard.Allow {
				return v
			}
		}
	case slices.Contains(shellTools, tool):
		if dir := argument("workdir", "cwd"); dir != "" {
			guard.Dir = absolute(guard.Dir, dir)
		}
		if text := argument("command", "cmd", "script"); text != "" {
			verdict = shellguard.Judge(text, guard)
		}
	case slices.Contains(fileTools, tool):
		if file := argument("file_path", "notebook_path", "path"); file != "" {
			verdict = shellguard.JudgeWrite(filepath.ToSlash(file), guard)
		}
	case slices.Contains(readTools, tool):
		if file := argument("file_path", "notebook_path", "path"); file != "" {
			verdict = shellguard.JudgeRead(filepath.ToSlash(file), guard)
		}
	}
	return verdict
}

// commandText returns a command that is a text or a list of words.
func commandText(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	if value[0] != '[' {
		return jsonscan.Unquote(value)
	}
	var doc jsonscan.Document
	list, err := doc.Read(value)
	if err != nil {
		return ""
	}
	var words []string
	for item := range list.Items() {
		words = append(words, item.Text())
	}
	return shellguard.Join(words)
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) || dir == "" {
		return filepath.ToSlash(filepath.Clean(name))
	}
	return filepath.ToSlash(filepath.Join(dir, name))
}

// Guard judges a command as the hook does in a folder, for a person who tries it. An error says
// which settings could not be read; the verdict is that of the others.
func Guard(e Env, command string) (shellguard.Verdict, error) {
	guard, err := guardOf(e, Input{Cwd: cmp.Or(e.Cwd, ".")})
	return shellguard.Judge(command, guard.Context), err
}
