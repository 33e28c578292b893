package conformance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/registry"
)

const (
	id1 = "01JE0000000000000000000001"
	id2 = "01JE0000000000000000000002"
)

// command is the content of a file with an id; more are its other keys.
func command(id, kind, more string) []byte {
	return []byte(fmt.Sprintf(`{"v":1,"id":"%s","kind":"%s"%s}`, id, kind, more) + "\n")
}

// inboxFiles are those of an inbox beside a journal. Names are within the loop's folder.
func inboxFiles(t *testing.T, script string, commands files) files {
	all := record(t, script)
	for name, text := range commands {
		all["loop/"+name] = text
	}
	return all
}

func inboxCases(t *testing.T) []made {
	in := func(name string) string { return "inbox/" + name }
	all := func(id, more string) files { return files{in(id + ".json"): command(id, "steer", `,"text":"x"`+more)} }
	long := strings.Repeat("q", 2000)
	var cases []made
	for _, c := range []made{
		{name: "steer", about: "A message of a person; when it was sent is not in the receipt.", requirements: "I-01 I-12",
			files: all(id1, `,"from":"cli:ada@mill","at":"2026-11-21T01:52:28.123Z","process":[{"pid":4711,"start":815}]`)},
		{name: "order", about: "Commands come in the order of their ids, then those without one, then the agent's.", requirements: "I-11",
			files: files{in(id2 + ".json"): command(id2, "stop", ""), in(id1 + ".json"): command(id1, "pause", ""), in("resume.json"): []byte("{}"),
				"from-agent/01JE0000000000000000000000.json": command("01JE0000000000000000000000", "wait", `,"text":"a key is missing"`)}},
		{name: "claimed", about: "A runner that died had claimed two commands.", requirements: "I-01",
			files: files{in(id1 + ".claimed"): command(id1, "stop", ""), in(id2 + ".steer.claimed"): []byte(`{"text":"x"}`)}},
		{name: "dropped-twice", about: "A command whose receipt is in the journal is not taken again.", requirements: "I-13", files: all(id1, "")},
		{name: "hidden-and-rejected", about: "Files that are being written, and the folder rejected, are no commands.", requirements: "I-01",
			files: files{in(".drop-1"): []byte("{"), in("rejected/x.json"): []byte("{"), in(id1 + ".json"): command(id1, "kill", "")}},
		{name: "unknown-keys", about: "A later version added a key.", requirements: "I-04", files: all(id1, `,"later":{"a":[1]}`)},
		{name: "signal", about: "The sender signal is the runner's alone.", requirements: "I-12", files: all(id1, `,"from":"signal"`)},
		{name: "set", about: "A setting, with all that the kind needs.", requirements: "I-08",
			files: files{in(id1 + ".json"): command(id1, "set", `,"key":"limits.cost","value":"20","epoch":2`)}},
		{name: "ask", about: "A question of the agent of the longest possible text, with choices.", requirements: "I-09 I-10",
			files: files{"from-agent/" + id1 + ".json": command(id1, "ask", `,"from":"agent","text":"`+long+`","choices":["postgres","sqlite"],"blocks":true`)}},
		{name: "answer", about: "An answer of a person.", requirements: "I-09", files: files{in(id1 + ".json"): command(id1, "answer", `,"question":3,"text":"postgres"`)}},
		{name: "withdraw", about: "A message is taken back.", requirements: "I-08", files: files{in(id1 + ".json"): command(id1, "withdraw", `,"key":"`+id2+`"`)}},
		{name: "fence", about: "A pool says which host has the loop.", requirements: "I-08",
			files: files{in(id1 + ".json"): command(id1, "fence", `,"from":"pool:mill","host":"kiln","epoch":2`)}},
		{name: "named-by-kind", about: "A shell script needs no id, no version and no kind.", requirements: "I-14",
			files: files{in("steer.json"): []byte(`{"text":"leave the schema alone"}`), in("steer.2.json"): []byte(` {"v":1,"kind":"steer","text":"now"} `)}},
		{name: "empty-stop", about: "An empty file that does not change any more is a command without keys.", requirements: "I-14", files: files{in("stop.json"): {}}},
	} {
		script := started
		if c.name == "dropped-twice" {
			script += first + agent + strings.Replace(received, "KIND", "steer", 1) + delivered
		}
		c.name, c.kind, c.files = "inbox/"+c.name, "inbox", inboxFiles(t, script, c.files)
		cases = append(cases, c)
	}
	return cases
}

// rejectedCommands are files that are not commands.
func rejectedCommands(t *testing.T) []made {
	const name = "inbox/" + id1 + ".json"
	var cases []made
	for _, c := range []struct {
		code, about, requirement, file string
		text                           []byte
	}{
		{"command-name", "The id of the name is in lower case.", "I-02", "inbox/" + strings.ToLower(id1) + ".json", command(id1, "stop", "")},
		{"command-file", "A folder has the name of a command.", "I-03", name + "/x", []byte("x\n")},
		{"command-size", "The file has more than 1 MiB.", "I-03", name, command(id1, "stop", "")},
		{"command-utf8", "A text is not UTF-8.", "I-04", name, command(id1, "steer", ",\"text\":\"\xff\"")},
		{"command-json", "The text is a number.", "I-04", name, command(id1, "steer", `,"text":7`)},
		{"command-json half", "Half a message that does not change any more.", "I-04", "inbox/steer.json", []byte(`{"text":"leave the`)},
		{"command-json list", "A file that is named by its kind is a list.", "I-04", "inbox/stop.json", []byte("[]")},
		{"command-version", "The version is 2.", "I-05", name, []byte(strings.Replace(string(command(id1, "stop", "")), `"v":1`, `"v":2`, 1))},
		{"command-version and-id", "The version and the id are wrong.", "I-05 I-15", name, []byte(strings.Replace(string(command(id2, "stop", "")), `"v":1`, `"v":2`, 1))},
		{"command-version none", "A file with an id has no version.", "I-05", name, []byte(strings.Replace(string(command(id1, "stop", "")), `"v":1,`, ``, 1))},
		{"command-id", "The id is not that of the name.", "I-06", name, command(id2, "stop", "")},
		{"command-id given", "A file that is named by its kind has an id.", "I-06", "inbox/stop.json", command(id1, "stop", "")},
		{"command-kind", "The kind is not that of the name.", "I-07", "inbox/stop.json", []byte(`{"kind":"kill"}`)},
		{"kind-unknown", "The kind is not known.", "I-07", name, command(id1, "dance", "")},
		{"text-missing", "A message has no text but a space.", "I-08", name, command(id1, "steer", `,"text":" "`)},
		{"key-missing", "A setting has no key.", "I-08", name, command(id1, "set", `,"value":"20"`)},
		{"question-missing", "An answer has no number.", "I-08", name, command(id1, "answer", `,"text":"x"`)},
		{"fence-incomplete", "The epoch of a fence is 1.", "I-08", name, command(id1, "fence", `,"host":"kiln","epoch":1`)},
		{"question-size", "A question has more than 2,000 bytes.", "I-09", name, command(id1, "ask", `,"text":"`+strings.Repeat("é", 1001)+`"`)},
		{"answer-size", "An answer has more than 8,000 bytes.", "I-09", name, command(id1, "answer", `,"question":1,"text":"`+strings.Repeat("a", 8001)+`"`)},
		{"choices-count", "A question has 17 choices.", "I-09", name, command(id1, "ask", `,"text":"x","choices":["1"`+strings.Repeat(`,"1"`, 16)+`]`)},
		{"choice-empty", "A choice is empty.", "I-09", name, command(id1, "ask", `,"text":"x","choices":["1",""]`)},
		{"choice-size", "A choice has more than 200 bytes.", "I-09", name, command(id1, "ask", `,"text":"x","choices":["`+strings.Repeat("c", 201)+`"]`)},
		{"agent-may-not", "The agent's part has a stop.", "I-10", "from-agent/" + id1 + ".json", command(id1, "stop", "")},
		{"command-twice", "A command with the same id is claimed.", "I-01", name, command(id1, "stop", "")},
	} {
		commands := files{c.file: c.text}
		code, _, _ := strings.Cut(c.code, " ")
		m := made{name: "must-reject/" + strings.ReplaceAll(c.code, " ", "-"), kind: "inbox", about: c.about, requirements: c.requirement, code: code}
		switch code {
		case "command-size":
			m.pad = map[string]int{"loop/" + name: 1<<20 + 1}
		case "command-twice":
			commands["inbox/"+id1+".claimed"] = command(id1, "pause", "")
		}
		m.files = inboxFiles(t, started, commands)
		cases = append(cases, m)
	}
	return cases
}

const project = "/home/ada/parser"

func entry(name, more string) []byte {
	return []byte(fmt.Sprintf(`{"name":"%s","dir":"%s/.ralph/%[1]s","project":"%[2]s","id":"%s","agent":"pi","host":"mill","pid":4711,"started":"2026-11-21T01:52:28.123456Z","version":"1"%s}`,
		name, project, id1, more) + "\n")
}

func entryFile(name string) string { return "home/registry/" + registry.FileName(project, name) }

func loopFile(name, file string) string { return "root" + project + "/.ralph/" + name + "/" + file }

const holder = `{"pid":4711,"host":"mill","since":"2026-11-21T01:52:28Z","startTicks":815}`

func state(status string) []byte {
	return []byte(`{"seq":9,"status":"` + status + `","reason":"","iteration":1,"maximumIterations":10` + "\n" + `,"state":{}}` + "\n")
}

func registryCases() []made {
	one := func(status, lock string) files {
		f := files{entryFile("demo"): entry("demo", ""), loopFile("demo", "run.lock"): []byte(lock)}
		if status != "" {
			f[loopFile("demo", "state.json")] = state(status)
		}
		return f
	}
	held := []string{loopFile("demo", "run.lock")}
	cases := []made{
		{name: "alive", about: "A process holds the lock.", requirements: "R-04 R-05", files: one("running", holder), hold: held},
		{name: "starting", about: "A process holds the lock, and has not written state.json.", requirements: "R-05 R-06", files: one("", ""), hold: held},
		{name: "died", about: "The lock is free, and the loop had not ended: its runner died.", requirements: "R-05 R-07", files: one("waiting", holder)},
		{name: "ended", about: "The lock is free, and the loop had ended.", requirements: "R-05 R-07", files: one("completed", "")},
		{name: "gone", about: "The loop's folder is not there.", requirements: "R-08", files: files{entryFile("demo"): entry("demo", "")}},
		{name: "no-lock", about: "A loop without run.lock is not alive.", requirements: "R-04", files: files{entryFile("demo"): entry("demo", ""), loopFile("demo", "state.json"): state("running")}},
		{name: "one-line-state", about: "A state.json that another program wrote on one line.", requirements: "R-06",
			files: files{entryFile("demo"): entry("demo", `,"later":1`), loopFile("demo", "run.lock"): {}, loopFile("demo", "state.json"): []byte(`{"state":{},"status":"stopped"}`)}},
		{name: "several", about: "Two loops, and a file that is being written.", requirements: "R-01 R-09",
			files: files{entryFile("demo"): entry("demo", ""), entryFile("other.1"): entry("other.1", ""), "home/registry/.tmp-1": []byte("{"),
				loopFile("demo", "run.lock"): []byte(holder), loopFile("other.1", "run.lock"): []byte(holder), loopFile("other.1", "state.json"): state("paused"),
				loopFile("demo", "state.json"): state("running")}, hold: held},
	}
	for i := range cases {
		cases[i].name, cases[i].kind = "registry/"+cases[i].name, "registry"
	}
	return cases
}

func rejectedEntries() []made {
	other := func(name, old, text string) files {
		return files{entryFile(name): []byte(strings.Replace(string(entry(name, "")), old, text, 1))}
	}
	cases := []made{
		{name: "entry-json", about: "A file in the registry is not JSON.", requirements: "R-02", files: files{entryFile("demo"): []byte("half an entr")}},
		{name: "entry-unreadable", about: "A folder has the name of an entry.", requirements: "R-01", files: files{entryFile("demo") + "/x": []byte("x\n")}},
		{name: "entry-name", about: "A name of the files of a project is no name of a loop.", requirements: "R-02", files: other("settings.json", "", "")},
		{name: "entry-folder", about: "The folder of the loop is not absolute.", requirements: "R-02", files: other("demo", `"dir":"/`, `"dir":"`)},
		{name: "entry-file", about: "An entry was copied to another name.", requirements: "R-03", files: files{entryFile("copy"): entry("demo", "")}},
	}
	for i := range cases {
		cases[i].code = cases[i].name
		cases[i].name, cases[i].kind = "must-reject/"+cases[i].name, "registry"
	}
	return cases
}
