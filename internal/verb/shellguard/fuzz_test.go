package shellguard

import (
	"strings"
	"testing"
)

// FuzzJudge checks that every text gets a verdict, and the same one each time.
func FuzzJudge(f *testing.F) {
	for _, r := range table(f) {
		f.Add(r.command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		v := Judge(command, testContext())
		switch v.Decision {
		case Allow:
			if v.Reason != "" || v.Category != "" {
				t.Fatalf("allowed with a reason: %+v", v)
			}
		case Ask, Deny:
			if v.Reason == "" || v.Category == "" {
				t.Fatalf("no reason: %+v", v)
			}
			if strings.Contains(v.Reason, "the guard failed") {
				t.Fatalf("panic: %+v", v)
			}
		default:
			t.Fatalf("no decision: %+v", v)
		}
		if again := Judge(command, testContext()); again != v {
			t.Fatalf("%+v, and then %+v", v, again)
		}
	})
}

// longTexts are texts of a megabyte that are costly for a careless parser.
func longTexts(size int) map[string]string {
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	return map[string]string{
		"parentheses":    fill("("),
		"substitutions":  fill("$("),
		"braces":         fill("{ "),
		"defaults":       fill("${a:-"),
		"backquotes":     fill("`a "),
		"ifs":            fill("if "),
		"pipes":          fill("a|") + "a",
		"ands":           fill("a&&") + "a",
		"nots":           fill("! "),
		"words":          "echo " + fill("word "),
		"one word":       "echo " + fill("x"),
		"assignments":    fill("a=$a$a;"),
		"doubling":       "a=x;" + fill("a=$a$a;") + "rm -rf $a",
		"brace product":  "echo " + fill("{a,b}"),
		"sequences":      "echo " + fill("{1..9}{1..9}"),
		"here-documents": fill("cat <<E\nx\nE\n"),
		"one document":   "cat > f <<'E'\n" + fill("rm -rf / $(x) {\n") + "E\n",
		"loops":          fill("for a in 1 2 3; do "),
		"functions":      fill("f() { f; }; f;"),
		"statements":     fill("rm a;"),
		"evals":          fill("eval "),
		"wrappers":       fill("env "),
		"shells":         fill("sh -c '"),
		"arithmetic":     "echo $((" + fill("1+") + "1))",
		"cd":             fill("cd a;"),
		"globs":          "rm " + fill("*[a]?"),
		"trim":           "a=" + fill("x") + "; echo ${a%%*y}",
		"python":         "python3 -c '" + fill("os.system(\"x\");") + "'",
		"cases":          fill("case a in a) "),
		"files":          fill("echo x>>f;"),
		"concatenation":  fill("echo x;") + "| sh",
		"nested pipes":   fill("{ a | b; } |") + "c",
		"quotes":         fill("\"a\"'b'"),
		"lists":          "a=(" + fill("x ") + "); for b in \"${a[@]}\"; do rm $b; done",
		"nul":            fill("\x00"),
		"markers":        fill("\x01\x02 "),
	}
}

func TestLongTextsAreBounded(t *testing.T) {
	const size = 1 << 12
	allowed := words2set("words one-word trim nul one-document here-documents")
	for name, text := range longTexts(size) {
		v := Judge(text, testContext())
		if v.Decision == Deny || allowed[strings.ReplaceAll(name, " ", "-")] && v.Decision != Allow {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// BenchmarkJudgeMegabyte takes the costliest text of a megabyte.
func BenchmarkJudgeMegabyte(b *testing.B) {
	text := longTexts(1 << 20)["loops"]
	for b.Loop() {
		Judge(text, testContext())
	}
}

// BenchmarkJudge takes the commands of the table, one after the other.
func BenchmarkJudge(b *testing.B) {
	rows := table(b)
	for i := 0; b.Loop(); i++ {
		Judge(rows[i%len(rows)].command, testContext())
	}
}
