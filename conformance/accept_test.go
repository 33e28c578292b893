package conformance_test

import (
	"strings"
	"testing"
)

// Parts of scripts.
const (
	started   = `loop.started {"name":"demo","id":"01JD0000000000000000000000","dir":"/p/.ralph/demo","project":"/p","agent":{"protocol":"pi"},"rules":{"maximumIterations":10},"task":{"file":"task.md"}}` + "\n"
	twoAgents = `loop.started {"name":"demo","id":"01JD0000000000000000000000","dir":"/p/.ralph/demo","project":"/p","agent":{"name":"a","protocol":"pi"},"rules":{"maximumIterations":10,"candidates":[{"name":"a","protocol":"pi"},{"name":"b","protocol":"claude"}]},"task":{"file":"task.md"}}` + "\n"
	first     = "rotate 1\n" + `decided {"do":"iteration.begin","iteration":1}` + "\n" + `iteration.started {"n":1,"prompt":{"text":"go","bytes":2}}` + "\n"
	second    = "rotate 2\n" + `decided {"do":"iteration.begin","iteration":2}` + "\n" + `iteration.started {"n":2,"prompt":{"text":"go","bytes":2}}` + "\n"
	start     = `decided {"do":"agent.start"}` + "\n"
	agent     = start + `agent.started {"pid":7,"live":true,"costs":true,"tools":true}` + "\n"
	exited    = `agent.finished {"outcome":"ok"}` + "\n" + `agent.exited {"code":0}` + "\n"
	done      = exited + `iteration.ended {"n":1,"outcome":"done","usage":{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null},"tools":0,"took":5}` + "\n"
	received  = `command.received {"id":"01JE0000000000000000000001","kind":"KIND","from":"cli:ada@mill","text":"x"}` + "\n"
	delivered = `command.delivered {"id":"01JE0000000000000000000001"}` + "\n"
	complete  = `loop.ended {"status":"completed","reason":"promise","why":"done","strength":{"strength":"strong","visible":{}}}` + "\nclose\n"
)

var long = strings.Repeat("Read_task.md_and_do_the_next_thing_in_it._", 3)

// base is a journal of three segments, with blobs, that mutations change.
var base = strings.Replace(started, `{"file":"task.md"}`, `{"text":BLOB{`+long+`the_task}}`, 1) +
	strings.Replace(first, `{"text":"go","bytes":2}`, `BLOB{`+long+`the_prompt}`, 1) + agent +
	`agent.said {"block":"1.0","text":"two\nlines,\u0020\"quotes\"\u0020and\u0020ü","final":true} {"type":"message","text":"two\nlines"}` + "\n" +
	`tool.called {"id":"t1","name":"bash","input":{"command":"ls"}}` + "\n" + `tool.returned {"id":"t1","ok":true,"output":"task.md"}` + "\n" +
	`agent.used {"in":100,"out":20,"cacheRead":50,"cacheWrite":1,"usd":0.25}` + "\n" + done + second + agent + exited +
	`iteration.ended {"n":2,"outcome":"done","usage":{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"usd":null},"tools":0,"took":5}` + "\n" + complete

const (
	seg1 = "000001-i0000"
	seg2 = "000002-i0001"
	seg3 = "000003-i0002"

	helloBlob = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // of "hello\n"
)

// acceptCases are journals that a reader has to accept, and what they say of their loop.
func acceptCases(t *testing.T) []made {
	whole := record(t, base)
	running := record(t, started+first+agent)
	cases := []made{
		{name: "complete", about: "Three sealed segments with two blobs.", requirements: "J-01 J-05 J-13 J-30 V-01 V-02 V-03", files: whole},
		{name: "running", about: "A segment that is being written has no seal.", requirements: "J-22 V-02", files: running},
		{name: "torn-line", about: "The writer died within the last line.", requirements: "J-27",
			files: running.with(segment(seg2), func(text []byte) []byte { return append(text, `{"v":1,"seq":9,"id":"01JD00`...) })},
		{name: "torn-with-newline", about: "The last line has a newline, and is not JSON.", requirements: "J-27",
			files: running.with(segment(seg2), func(text []byte) []byte { return append(text, `{"v":1,"seq":9,"id":"01JD00`+"\x00\x00\n"...) })},
		{name: "lost-block", about: "The power failed: a block of the disk is missing, and later lines are there.", requirements: "J-28",
			files: lostBlock(record(t, started+first+agent+strings.Repeat(`agent.said {"block":"1.0","text":"a_text_that_fills_the_blocks_of_a_disk"}`+"\n", 12)))},
		{name: "crash-and-resume", about: "A runner died within a line, and the next one cut that off.", requirements: "J-20 J-27 V-08",
			files: record(t, started+first+agent+`crash {"v":1,"seq":9`+"\n"+`loop.resumed {"died":true,"pid":8}`+"\n")},
		{name: "compressed", about: "The first segment is compressed.", requirements: "J-02", needs: "zstd",
			files: whole.with(segment(seg1), func([]byte) []byte { return nil }).with(segment(seg1)+".zst", func([]byte) []byte { return packed(t, whole[segment(seg1)]) })},
		{name: "compressed-and-plain", about: "Of a segment that is there in both forms, the plain one counts.", requirements: "J-02",
			files: whole.with(segment(seg1)+".zst", func([]byte) []byte { return []byte("not Zstandard\n") })},
		{name: "first-segments-removed", about: "Retention removed the oldest segment: there is no view.", requirements: "J-05 V-01",
			files: whole.with(segment(seg1), func([]byte) []byte { return nil })},
		{name: "other-files", about: "Files with other names are no segments.", requirements: "J-01",
			files: whole.with("loop/journal/000004-i0003.jsonl.tmp", func([]byte) []byte { return []byte("{") }).with(segment(seg2)+".torn-1", func([]byte) []byte { return []byte(`{"v":1`) }).
				with("loop/journal/4-i3.jsonl", func([]byte) []byte { return []byte("x\n") }).with("loop/journal/000000-i0000.jsonl", func([]byte) []byte { return []byte("x\n") })},
		{name: "unknown-event-and-keys", about: "A later version added a type, a key of the envelope and a key of data.", requirements: "J-13",
			files: record(t, started+`agent.later {"a":[1,2.5e3,null]}`+"\n"+`loop.ended {"status":"completed","reason":"promise","later":{},"why":"done"}`+"\n").
				replaced(seg1, `"type":"agent.later"`, `"type":"agent.later","more":{"crc":"00000000"}`)},
		{name: "keys-in-another-order", about: "The keys of an envelope may have another order, with spaces.", requirements: "J-13",
			files: running.replaced(seg2, `{"v":1,"seq":5,`, `{ "seq" : 5, "v":1,`)},
		{name: "many-iterations", about: "An ordinal may have more than six digits, and an iteration more than four.", requirements: "J-01",
			files: renamed(record(t, started), seg1, "1000000-i10000", `"ordinal":1,"iteration":0`, `"ordinal":1000000,"iteration":10000`)},
		{name: "no-loop", about: "The runner died before it recorded its loop: there is no view.", requirements: "V-01", files: record(t, "")},
		{name: "raw-blob", about: "A long line of the agent is a blob.", requirements: "J-25",
			files: record(t, started+first+agent+`agent.noticed {"what":"x"} {"b10b":"`+helloBlob+`","bytes":6}`+"\n").
				replaced("000002-i0001", "b10b", "blob").
				with("loop/blobs/"+helloBlob, func([]byte) []byte { return []byte("hello\n") })},
		{name: "raw-is-no-blob", about: "An agent's own line may look like a reference to a blob.", requirements: "J-25",
			files: record(t, started+first+agent+`agent.noticed {"what":"x"} {"blob":"no_name_of_a_blob"}`+"\n")},
		{name: "raw-is-an-agents-line", about: "With other keys than a reference has, raw is the agent's own line.", requirements: "J-25",
			files: record(t, started+first+agent+`agent.noticed {"what":"x"} {"blob":"`+helloBlob+`","bytes":6,"more":1}`+"\n"+
				`agent.noticed {"what":"x"} {"blob":"`+helloBlob+`"}`+"\n")},
	}
	cases = append(cases, viewCases(t)...)
	for i := range cases {
		cases[i].name, cases[i].kind = "accept/"+cases[i].name, "journal"
	}
	return cases
}

// viewCases are about what a journal says of its loop.
func viewCases(t *testing.T) []made {
	asked := `question.asked {"number":1,"text":"Postgres?","command":"01JE0000000000000000000001"}` + "\n"
	answered := `question.answered {"number":1,"question":"Postgres?","text":"yes","command":"01JE0000000000000000000002"}` + "\n"
	answer := strings.ReplaceAll(strings.ReplaceAll(received, "KIND", "answer"), `00001","kind"`, `00002","kind"`)
	used := func(data string) string { return "agent.used " + data + "\n" }
	some := used(`{"in":10,"out":2,"cacheRead":0,"cacheWrite":0,"usd":0.1}`)
	kind := func(k string) string { return strings.Replace(received, "KIND", k, 1) }
	var cases []made
	for _, c := range [][4]string{
		{"starting", "The agent of the first iteration has not started.", "V-05", started + first + start},
		{"start-failed", "The agent could not be started: the loop is not starting any more.", "V-05", started + first + start + `effect.failed {"do":"agent.start","error":"no_pi"}` + "\n"},
		{"paused", "A person paused the loop.", "V-05", started + first + agent + done + kind("pause") + delivered + `loop.paused {}` + "\n"},
		{"unpaused", "A person resumed it.", "V-05", started + first + agent + done + "loop.paused {}\nloop.unpaused {}\n"},
		{"waiting-until", "The loop waits for a rate limit until a moment.", "V-05 V-06",
			started + first + agent + done + `loop.waiting {"for":"rate","until":"2026-11-22T04:30:01.125Z"}` + "\n"},
		{"waiting-for-a-person", "Another wait replaces the one before.", "V-05 V-06",
			started + first + agent + done + `loop.waiting {"for":"restart","until":"2026-11-22T04:30:01Z"}` + "\n" + `loop.waiting {"for":"person","why":"a_key_is_missing"}` + "\n"},
		{"waited", "The wait is over.", "V-05 V-06", started + first + agent + done + `loop.waiting {"for":"restart","until":"2026-11-22T04:30:01Z"}` + "\n" + `loop.waited {"for":"restart"}` + "\n"},
		{"stopping", "A stop took effect; it comes before a wait.", "V-05 V-07",
			started + first + agent + done + `loop.waiting {"for":"person"}` + "\n" + kind("stop") + delivered},
		{"stop-received", "A stop that was received has not taken effect.", "V-05 V-07", started + first + agent + kind("stop")},
		{"stopped", "The loop ended as a person asked.", "V-03 V-05", started + first + agent + kind("stop-now") + delivered + done + `loop.ended {"status":"stopped","reason":"stop"}` + "\nclose\n"},
		{"failed", "The loop ended without being done.", "V-03", started + `loop.ended {"status":"failed","reason":"agent","why":"no_pi"}` + "\nclose\n"},
		{"resumed-after-its-end", "A resume begins again: the end does not count any more.", "V-08",
			started + first + agent + done + `loop.ended {"status":"failed","reason":"iterations"}` + "\n" + "crash \n" + `loop.resumed {"pid":8,"rules":{"maximumIterations":20}}` + "\n"},
		{"fenced", "Another host of a pool has the loop.", "V-09", started + first + agent + `loop.fenced {"host":"kiln","epoch":2}` + "\n"},
		{"configured", "A setting was changed while the loop ran.", "V-04",
			started + first + agent + `loop.configured {"key":"maximumIterations","value":"30","rules":{"maximumIterations":30}}` + "\n"},
		{"refunded", "An iteration was refunded.", "V-04", started + first + agent + strings.Replace(done, `"took":5`, `"took":5,"refunded":true`, 1) + second + agent},
		{"agent-replaced", "Another agent of the list works.", "V-04",
			twoAgents + first + agent + done + `agent.replaced {"from":0,"to":1,"was":"a","name":"b"}` + "\n"},
		{"cost-and-tokens", "Increments of two iterations add up.", "V-10 V-11", started + first + agent + some + some + done + second + agent + some},
		{"cost-is-unknown", "One part without a price makes the sum unknown.", "V-10",
			started + first + agent + some + used(`{"in":10,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null}`) + done},
		{"price-comes-later", "A price that comes later in the iteration counts.", "V-10",
			started + first + agent + used(`{"in":10,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null,"unpriced":true}`) + used(`{"in":0,"out":0,"cacheRead":0,"cacheWrite":0,"usd":0.5}`) + done},
		{"price-never-came", "A price that did not come by the end of the iteration is unknown.", "V-10",
			started + first + agent + some + used(`{"in":10,"out":2,"cacheRead":0,"cacheWrite":0,"usd":null,"unpriced":true}`) + done + second + agent},
		{"cost-is-not-reported", "The agent does not report what it costs.", "V-10",
			started + first + strings.Replace(agent, `"costs":true,`, "", 1) + used(`{"in":10,"out":2,"cacheRead":0,"cacheWrite":0,"usd":0.1}`)},
		{"tokens-are-unknown", "The agent does not report its tokens.", "V-11", started + first + strings.Replace(agent, `"tools"`, `"uncounted":true,"tools"`, 1) + done + second},
		{"tokens-after-all", "An agent that said it does not report tokens reports some.", "V-11",
			started + first + strings.Replace(agent, `"tools"`, `"uncounted":true,"tools"`, 1) + some + done},
		{"usage-was-not-read", "A report of usage could not be read.", "V-11", started + first + agent + some + `agent.noticed {"what":"agent/unread-usage"}` + "\n" + done},
		{"commands", "A message was answered and another one was not.", "V-07", started + first + agent + kind("steer") + strings.Replace(kind("follow-up"), "00001", "00003", 1) + delivered},
		{"command-refused", "A refused and a withdrawn command are answered.", "V-07",
			started + first + agent + kind("set") + `command.refused {"id":"01JE0000000000000000000001","why":"no"}` + "\n" + strings.Replace(kind("steer"), "00001", "00004", 1) +
				`command.withdrawn {"id":"01JE0000000000000000000004"}` + "\n"},
		{"question-open", "A question of the agent has no answer.", "V-12", started + first + agent + kind("ask") + asked + delivered},
		{"question-answered", "The question has an answer, which the agent does not have yet.", "V-07 V-12", started + first + agent + kind("ask") + asked + delivered + answer + answered},
		{"question-open-again", "The agent never had the answer.", "V-12",
			started + first + agent + kind("ask") + asked + delivered + answer + answered + `command.refused {"id":"01JE0000000000000000000002","why":"the_loop_ends"}` + "\n"},
	} {
		cases = append(cases, made{name: c[0], about: c[1], requirements: c[2], files: record(t, c[3])})
	}
	return cases
}

// lostBlock loses the second block of the last segment, and what is after the third.
func lostBlock(f files) files {
	return f.with(segment(seg2), func(text []byte) []byte {
		if len(text) < 2048 {
			panic("too short")
		}
		copy(text[1024:1536], make([]byte, 512))
		return text
	})
}

// renamed gives a segment another name, and changes its first line.
func renamed(f files, from, to, old, text string) files {
	f = f.replaced(from, old, text)
	content := f[segment(from)]
	return f.with(segment(from), func([]byte) []byte { return nil }).with(segment(to), func([]byte) []byte { return content })
}
