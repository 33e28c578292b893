package player

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// textLine and returnedLine are lines of the player.
type (
	textLine     struct{ Type, Block, Text string }
	returnedLine struct {
		Type, ID, Output string
		OK               bool
		Took             int64
	}
)

// partner is ralph's side of one player, within a synctest bubble.
type partner struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Scanner
	stderr bytes.Buffer
	stop   context.CancelFunc
	code   chan int
}

// play starts a player and reads its first line.
func play(t *testing.T, scenario string, change func(*Options)) *partner {
	t.Helper()
	s, err := Parse("test", scenario)
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	p := &partner{t: t, in: inW, out: bufio.NewScanner(outR), stop: cancel, code: make(chan int, 1)}
	p.out.Buffer(nil, 64<<20)
	opt := Options{Scenario: s, Dir: t.TempDir(), In: inR, Out: outW, Err: &p.stderr}
	if change != nil {
		change(&opt)
	}
	go func() {
		p.code <- Run(ctx, opt)
		inR.Close()
		outW.Close()
	}()
	p.expect(`{"type":"ready","scenario":"test","version":1}`)
	return p
}

func (p *partner) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *partner) begin(iteration string) {
	p.t.Helper()
	p.send(`{"do":"begin","iteration":` + iteration + `,"prompt":"go"}`)
	p.expect(`{"type":"begun","iteration":` + iteration + `}`)
}

// line is what the player prints next; empty when it has ended.
func (p *partner) line() string {
	if !p.out.Scan() {
		return ""
	}
	return p.out.Text()
}

func (p *partner) expect(lines ...string) {
	p.t.Helper()
	for _, want := range lines {
		if got := p.line(); got != want {
			p.t.Fatalf("the player printed\n%.300q, want\n%.300q", got, want)
		}
	}
}

// leave ends the input and expects the player to have nothing more to say.
func (p *partner) leave(code int) {
	p.t.Helper()
	p.in.Close()
	p.expect("")
	p.exited(code)
}

func (p *partner) exited(code int) {
	p.t.Helper()
	p.in.Close()
	if got := <-p.code; got != code {
		p.t.Errorf("exit code %d, want %d", got, code)
	}
	p.stop()
}

const finished = `{"type":"finished","outcome":"ok"}`

func TestASectionIsPlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, `
			say Iteration {iteration} <b>.
			think Hm.
			tool bash {"command":"make"} 300ms -> error: 1 failed
			plan - [x] a / - [ ] b
			use in=10 out=3 cacheRead=2 usd=0.25 model=m
			limit rate until +2s: wait
			limit auth
			retry 1/3 2s: busy
			compact
			notice well
			stderr careful
			promise`, func(o *Options) {
			o.Now = func() time.Time { return time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC) }
		})
		p.begin("7")
		p.expect(
			`{"type":"said","block":"1.1","text":"Iteration 7 <b>.","final":true}`,
			`{"type":"thought","block":"2.1","text":"Hm.","final":true}`,
			`{"type":"called","id":"t1","name":"bash","input":{"command":"make"}}`,
			`{"type":"returned","id":"t1","ok":false,"output":"1 failed","took":300}`,
			`{"type":"planned","todos":[{"text":"a","status":"done"},{"text":"b","status":"pending"}]}`,
			`{"type":"used","in":10,"out":3,"cacheRead":2,"cacheWrite":0,"usd":0.25,"model":"m"}`,
			`{"type":"limited","kind":"rate","until":"2026-11-22T00:00:01.000Z","text":"wait"}`,
			`{"type":"limited","kind":"auth"}`,
			`{"type":"retried","attempt":1,"max":3,"delay":2000,"text":"busy"}`,
			`{"type":"compacted","before":180000,"after":24000}`,
			`{"type":"noticed","what":"notice","text":"well"}`,
			`{"type":"said","block":"3.1","text":"<promise>COMPLETE</promise>","final":true}`,
			finished,
		)
		p.leave(0)
		if p.stderr.String() != "careful\n" {
			t.Errorf("stderr %q", p.stderr.String())
		}
	})
}

func TestSlowText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "slow 20ms: one two three", func(o *Options) { o.Speed = 2 })
		began := time.Now()
		p.begin("1")
		p.expect(
			`{"type":"said","block":"1.1","text":"one "}`,
			`{"type":"said","block":"1.1","text":"two "}`,
			`{"type":"said","block":"1.1","text":"three","final":true}`,
			finished,
		)
		if took := time.Since(began); took != 30*time.Millisecond {
			t.Errorf("at twice the speed it took %s", took)
		}
		p.leave(0)
	})
}

func TestSteerIsDeliveredAfterTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, `
			tool bash 1s -> ok
			say after
			steered -> say heard {steer}
			steered -> notice done`, nil)
		p.begin("1")
		p.expect(`{"type":"called","id":"t1","name":"bash"}`)
		time.Sleep(300 * time.Millisecond)
		p.send(`{"do":"steer","id":"c1","text":"the other {iteration}"}`)
		p.send(`{"do":"steer","id":"c2","text":"and more"}`)
		p.expect(
			`{"type":"returned","id":"t1","ok":true,"output":"","took":1000}`,
			`{"type":"steered","id":"c1"}`,
			`{"type":"said","block":"1.1","text":"heard the other {iteration}","final":true}`,
			`{"type":"noticed","what":"notice","text":"done"}`,
			`{"type":"steered","id":"c2"}`,
			`{"type":"said","block":"2.1","text":"heard and more","final":true}`,
			`{"type":"noticed","what":"notice","text":"done"}`,
			`{"type":"said","block":"3.1","text":"after","final":true}`,
			finished,
		)
		p.leave(0)
	})
}

func TestSteerEndsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "silence\nsteered -> say enough\nsteered -> finish", nil)
		p.begin("1")
		p.send(`{"do":"steer","id":"c1","text":"stop"}`)
		p.expect(`{"type":"steered","id":"c1"}`, `{"type":"said","block":"1.1","text":"enough","final":true}`, finished)
		p.leave(0)
	})
}

func TestLateSteerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "say hi\nfinish\nsleep 1h", nil)
		p.begin("1")
		p.expect(`{"type":"said","block":"1.1","text":"hi","final":true}`, finished)
		p.send(`{"do":"steer","id":"c1","text":"too late"}`)
		p.expect(`{"type":"noticed","what":"late","text":"no turn is running: c1"}`)
		p.send(`{"do":"reset"}`)
		p.expect(`{"type":"fresh"}`)
		p.begin("2")
		p.expect(`{"type":"said","block":"2.1","text":"hi","final":true}`, finished)
		p.leave(0)
	})
}

func TestAResetIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "stale\nsleep 1s", nil)
		p.begin("1")
		p.send(`{"do":"reset"}`)
		p.expect(`{"type":"stale","why":"a turn is running"}`, finished)
		p.send(`{"do":"reset"}`)
		p.expect(`{"type":"stale","why":"the scenario says so"}`)
		p.send(`{"do":"reset"}`)
		p.expect(`{"type":"fresh"}`)
		p.leave(0)
	})
}

func TestAbortEndsEachStep(t *testing.T) {
	for name, row := range map[string]struct{ scenario, shown string }{
		"a sleep":      {"sleep 1h", ""},
		"a silence":    {"silence", ""},
		"a slow text":  {"slow 1h: one two", `{"type":"said","block":"1.1","text":"one "}`},
		"a retry":      {"retry 1h", `{"type":"retried","attempt":1,"delay":3600000}`},
		"a reaction":   {"silence\nsteered -> sleep 1h", `{"type":"steered","id":"c0"}`},
		"endless talk": {"talk", "talk"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(t, row.scenario, nil)
				p.begin("1")
				if strings.Contains(row.scenario, "steered") {
					p.send(`{"do":"steer","id":"c0","text":"x"}`)
				}
				if row.shown != "" && row.shown != "talk" {
					p.expect(row.shown)
				}
				go func() { _, _ = io.WriteString(p.in, `{"do":"abort"}`+"\n") }() // the player may read it late
				line := p.line()
				for strings.HasPrefix(line, `{"type":"said"`) {
					line = p.line()
				}
				if line != `{"type":"finished","outcome":"aborted"}` {
					t.Fatalf("after the abort: %s", line)
				}
				p.send(`{"do":"abort"}`)
				p.expect(`{"type":"noticed","what":"late","text":"no turn is running"}`)
				p.leave(0)
			})
		})
	}
}

func TestAbortedToolReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "tool bash 1h", nil)
		p.begin("1")
		p.expect(`{"type":"called","id":"t1","name":"bash"}`)
		time.Sleep(50 * time.Millisecond)
		p.send(`{"do":"abort"}`)
		p.expect(
			`{"type":"returned","id":"t1","ok":false,"output":"the turn was aborted","took":50}`,
			`{"type":"finished","outcome":"aborted"}`,
		)
		p.leave(0)
	})
}

func TestEndOfInputEndsPlayer(t *testing.T) {
	for name, scenario := range map[string]string{
		"in a silence": "silence", "in a pause": "sleep 1h", "after the turn": "finish\nsleep 1h", "in endless talk": "talk",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(t, scenario, nil)
				p.begin("1")
				p.in.Close()
				for p.line() != "" {
				}
				p.exited(0)
			})
		})
	}
}

func TestSignalEndsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "hang", nil)
		p.begin("1")
		p.in.Close()
		time.Sleep(48 * time.Hour)
		select {
		case code := <-p.code:
			t.Fatalf("it left with code %d", code)
		default:
		}
		p.stop()
		p.exited(exitStopped)
	})
}

func TestExitCodes(t *testing.T) {
	for scenario, code := range map[string]int{"crash 3": 3, "exit 7": 7, "exit": 0, "finish\nexit 4": 4, "sleep 1s\nsteered -> exit 9": 9} {
		t.Run(scenario, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(t, scenario, nil)
				p.begin("1")
				if strings.Contains(scenario, "steered") {
					p.send(`{"do":"steer","id":"c1","text":"x"}`)
				}
				for line := p.line(); line != ""; line = p.line() {
					if line == finished && !strings.Contains(scenario, "finish") {
						t.Error("the turn was said to be over")
					}
				}
				p.exited(code)
				if crashed := p.stderr.Len() > 0; crashed != strings.HasPrefix(scenario, "crash") {
					t.Errorf("stderr %q", p.stderr.String())
				}
			})
		})
	}
}

func TestTurnEndsWithError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "error rate: 429\nsay what nobody wants to hear any more", nil)
		p.begin("1")
		p.expect(`{"type":"finished","outcome":"error","kind":"rate","error":"429"}`)
		p.expect(`{"type":"said","block":"1.1","text":"what nobody wants to hear any more","final":true}`)
		p.leave(0)
	})
}

func TestNonsenseOnStdinIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "sleep 1s", nil)
		p.send("hello?")
		p.expect(`{"type":"noticed","what":"unread","text":"hello?"}`)
		p.send(`{"do":"dance"}`)
		p.expect(`{"type":"noticed","what":"unread","text":"dance"}`)
		p.begin("1")
		p.send(`{"do":"begin","iteration":2}`)
		p.expect(`{"type":"noticed","what":"refused","text":"a turn is running"}`, finished)
		p.leave(0)
	})
}

func TestFloodSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "flood 3MB", nil)
		p.begin("1")
		var line textLine
		if err := json.Unmarshal([]byte(p.line()), &line); err != nil || len(line.Text) != 3<<20 {
			t.Errorf("%d bytes, %v", len(line.Text), err)
		}
		p.expect(finished)
		p.leave(0)
	})
}

func TestTalkIsOfItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, "talk 100000", nil)
		p.begin("1")
		var said strings.Builder
		for line := p.line(); line != finished; line = p.line() {
			var piece textLine
			if err := json.Unmarshal([]byte(line), &piece); err != nil || piece.Block != "1.1" {
				t.Fatalf("%s: %v", line, err)
			}
			said.WriteString(piece.Text)
		}
		if said.Len() != 100000 || !strings.HasPrefix(said.String(), "the quick brown fox") {
			t.Errorf("%d bytes: %.40s", said.Len(), said.String())
		}
		p.leave(0)
	})
}

func TestCommandsAndFiles(t *testing.T) {
	dir, loop := t.TempDir(), t.TempDir()
	p := play(t, `
		write sub/hello.txt <<END
		Hello,
		  world.
		END
		append sub/hello.txt and more
		write {loop}/task.md <<END
		- [x] first box
		- [ ] second box
		* [ ] third box
		END
		tick "box"
		tick "third"
		tick "first"
		run cat sub/hello.txt; echo oops >&2; exit 3`,
		func(o *Options) { o.Dir, o.LoopDir = dir, loop })
	p.begin("1")
	var ok []bool
	var last returnedLine
	for line := p.line(); line != finished; line = p.line() {
		var r returnedLine
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Type == "returned" {
			ok, last = append(ok, r.OK), r
		}
	}
	p.leave(0)
	if diff := cmp.Diff([]bool{true, true, true, true, true, false, false}, ok); diff != "" {
		t.Error(diff)
	}
	if want := "Hello,\n  world.\nand more\noops\n[exit status 3]"; last.Output != want {
		t.Errorf("the command printed %q, want %q", last.Output, want)
	}
	for file, want := range map[string]string{
		filepath.Join(dir, "sub/hello.txt"): "Hello,\n  world.\nand more\n",
		filepath.Join(loop, "task.md"):      "- [x] first box\n- [x] second box\n* [x] third box\n",
	} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", file, got, err)
		}
	}
}

func TestFilesStayInFolders(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := play(t, `
		write ../up.txt no
		write link/through.txt no
		write {loop}/../up.txt no
		write `+filepath.Join(outside, "absolute.txt")+` no
		append link/through.txt no
		tick "x" in link/task.md`, func(o *Options) { o.Dir = dir })
	p.begin("1")
	returned := 0
	for line := p.line(); line != finished; line = p.line() {
		if strings.Contains(line, `"type":"returned"`) {
			returned++
			if !strings.Contains(line, `"ok":false`) {
				t.Error(line)
			}
		}
	}
	if returned != 6 {
		t.Errorf("%d tools returned", returned)
	}
	p.leave(0)
	for _, folder := range []string{outside, filepath.Dir(dir)} {
		files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
		if err != nil || len(files) > 0 {
			t.Errorf("written outside: %v, %v", files, err)
		}
	}
}

func TestAbortEndsCommand(t *testing.T) {
	p := play(t, "run echo started; sleep 300 & wait", nil)
	p.begin("1")
	p.line() // called
	p.expect(`{"type":"progressed","id":"t1","text":"started\n"}`)
	p.send(`{"do":"abort"}`)
	var r returnedLine
	if err := json.Unmarshal([]byte(p.line()), &r); err != nil || r.OK || r.Output != "started\n\nthe turn was aborted" || r.Took > 5000 {
		t.Errorf("%+v, %v", r, err)
	}
	p.expect(`{"type":"finished","outcome":"aborted"}`)
	p.leave(0)
}

func TestSteerIsDeliveredAfterCommand(t *testing.T) {
	dir := t.TempDir()
	p := play(t, "run echo started; until test -e go; do sleep 0.01; done; echo ended", func(o *Options) { o.Dir = dir })
	p.begin("1")
	p.line() // called
	p.expect(`{"type":"progressed","id":"t1","text":"started\n"}`)
	p.send(`{"do":"steer","id":"c1","text":"x"}`)
	p.send(`{"do":"reset"}`) // its answer shows that the steer has been taken
	p.expect(`{"type":"stale","why":"a turn is running"}`)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.expect(`{"type":"progressed","id":"t1","text":"ended\n"}`)
	if line := p.line(); !strings.HasPrefix(line, `{"type":"returned","id":"t1","ok":true,"output":"started\nended\n"`) {
		t.Error(line)
	}
	p.expect(`{"type":"steered","id":"c1"}`)
	p.line()
	p.expect(finished)
	p.leave(0)
}

func TestMissingFolder(t *testing.T) {
	s, err := Parse("s", "say hi")
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := Run(t.Context(), Options{Scenario: s, Dir: filepath.Join(t.TempDir(), "none"), In: strings.NewReader(""), Out: io.Discard, Err: &stderr})
	if code != 2 || !strings.Contains(stderr.String(), "working directory") {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}

// The demo does all that it says, and its test fails once and passes then.
func TestTheDemoWorks(t *testing.T) {
	dir, loop := t.TempDir(), t.TempDir()
	text, err := embedded.ReadFile("scenario/demo.rehearsal")
	if err != nil {
		t.Fatal(err)
	}
	quick := strings.ReplaceAll(string(text), "run sleep 2; ", "run ")
	p := play(t, quick, func(o *Options) { o.Dir, o.LoopDir, o.Speed = dir, loop, 1000 })
	failed := 0
	for _, iteration := range []string{"1", "2", "3"} {
		p.begin(iteration)
		for line := p.line(); line != finished; line = p.line() {
			if line == "" {
				t.Fatal("the player ended")
			}
			if strings.Contains(line, `"type":"returned"`) && strings.Contains(line, `"ok":false`) {
				failed++
			}
		}
		p.send(`{"do":"reset"}`)
		p.expect(`{"type":"fresh"}`)
	}
	p.leave(0)
	task, err := os.ReadFile(filepath.Join(loop, "task.md"))
	if err != nil || strings.Count(string(task), "[x]") != 3 || strings.Contains(string(task), "[ ]") {
		t.Errorf("task.md: %v\n%s", err, task)
	}
	if failed != 1 {
		t.Errorf("%d tools failed, want the test's first run alone", failed)
	}
}

func TestMessageSection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, row := range map[string]struct{ scenario, want string }{
			"by what the scenario says": {"iteration\n  say work\nmessage\n  say <response>Greet {iteration}</response>\niteration\n  say more", "<response>Greet 1</response>"},
			"by default":                {"say work", "<response>Play iteration 1 of test</response>"},
		} {
			p := play(t, row.scenario, nil)
			p.send(`{"do":"begin","iteration":1,"purpose":"message","prompt":"the message?"}`)
			p.expect(`{"type":"begun","iteration":1}`, `{"type":"said","block":"1.1","text":"`+row.want+`","final":true}`, finished)
			p.begin("1")
			if p.expect(`{"type":"said","block":"2.1","text":"work","final":true}`, finished); t.Failed() {
				t.Fatal(name)
			}
			p.leave(0)
		}
	})
}

func TestInboxStep(t *testing.T) {
	dir := t.TempDir()
	p := play(t, "inbox wait I need the key of {iteration}", func(o *Options) { o.LoopDir = dir })
	p.begin("3")
	p.expect(`{"type":"called","id":"t1","name":"inbox","input":{"kind":"wait","text":"I need the key of 3"}}`)
	var returned struct{ Output string }
	if err := json.Unmarshal([]byte(p.line()), &returned); err != nil {
		t.Fatal(err)
	}
	id, ok := strings.CutPrefix(returned.Output, "dropped ")
	p.expect(finished)
	p.leave(0)
	text, err := os.ReadFile(filepath.Join(dir, "from-agent", id+".json"))
	if want := `{"v":1,"id":"` + id + `","kind":"wait","from":"agent:rehearsal","text":"I need the key of 3"}` + "\n"; !ok || err != nil || string(text) != want {
		t.Errorf("%v\ngot  %swant %s", err, text, want)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "from-agent", ".*")); err != nil || len(names) > 0 {
		t.Errorf("%v is left, %v", names, err)
	}
}
