package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Tokens are joined here so that no file of the repository holds a complete one.
const (
	alnum36 = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
	alnum24 = "A1b2C3d4E5f6G7h8I9j0K1l2"
	upper16 = "IOSFODNN7EXAMPLE"
)

var testEnv = []string{
	"DEPLOY_TOKEN=tango-uniform-77",
	`DB_PASSWORD=he said "a/b\c" <é>`,
	"PIN_SECRET=123456789012",
	"DATABASE_URL=postgres://app:p%40ssw0rd-x@db.internal:5432/app",
	"HOME=/home/someone",
}

func TestMask(t *testing.T) {
	m := New(testEnv, "unnamed value")
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(alnum36+alnum24+"+/==\n", 3) + "-----END RSA PRIVATE KEY-----"
	escaped := strings.ReplaceAll(pem, "\n", `\n`)
	jwt := "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0." + alnum24
	for _, row := range []struct{ name, in, want string }{
		{"a known value in plain text", "use tango-uniform-77 now", "use [masked:DEPLOY_TOKEN] now"},
		{"a known value is all of the text", "tango-uniform-77", "[masked:DEPLOY_TOKEN]"},
		{"two known values side by side", "tango-uniform-77tango-uniform-77", "[masked:DEPLOY_TOKEN][masked:DEPLOY_TOKEN]"},
		{"a value given without a name", `{"a":"unnamed value"}`, `{"a":"[masked:secret]"}`},
		{"a value with quotes, slashes and letters outside ASCII, in plain text", `x he said "a/b\c" <é> y`, `x [masked:DB_PASSWORD] y`},
		{"the same, as JavaScript writes it", `{"a":"he said \"a/b\\c\" <é>"}`, `{"a":"[masked:DB_PASSWORD]"}`},
		{"the same, as Go writes it", `{"a":"he said \"a/b\\c\" \u003cé\u003e"}`, `{"a":"[masked:DB_PASSWORD]"}`},
		{"the same, as Python writes it", `{"a":"he said \"a/b\\c\" <\u00e9>"}`, `{"a":"[masked:DB_PASSWORD]"}`},
		{"the same, as PHP writes it", `{"a":"he said \"a\/b\\c\" <\u00e9>"}`, `{"a":"[masked:DB_PASSWORD]"}`},
		{"the same, in JSON inside JSON", `{"a":"{\"b\":\"he said \\\"a/b\\\\c\\\" <é>\"}"}`, `{"a":"{\"b\":\"[masked:DB_PASSWORD]\"}"}`},
		{"a letter after a backslash belongs to the escape", `{"a":"x\tango-uniform-77"}`, `{"a":"x\tango-uniform-77"}`},
		{"in plain text it belongs to the value", `C:\tango-uniform-77`, `C:\[masked:DEPLOY_TOKEN]`},
		{"in JSON inside JSON the escape remains", `{"a":"{\"b\":\"\\tango-uniform-77\"}"}`, `{"a":"{\"b\":\"\\t[masked:DEPLOY_TOKEN]\"}"}`},
		{"a value right after an escape", `{"a":"x\ntango-uniform-77"}`, `{"a":"x\n[masked:DEPLOY_TOKEN]"}`},
		{"a number that is a known value becomes a string", `{"a":1123456789012.5,"b":[2]}`, `{"a":"[masked:PIN_SECRET]","b":[2]}`},
		{"the same digits in a string", `{"a":"1123456789012.5"}`, `{"a":"1[masked:PIN_SECRET].5"}`},
		{"one line of several is JSON", "no json\n{\"a\":123456789012}\n", "no json\n{\"a\":\"[masked:PIN_SECRET]\"}\n"},
		{"a password in a URL, as it is", "postgres://app:p%40ssw0rd-x@db", "postgres://app:[masked:DATABASE_URL]@db"},
		{"a password in a URL, decoded", `{"pass":"p@ssw0rd-x"}`, `{"pass":"[masked:DATABASE_URL]"}`},
		{"anthropic", "sk-ant-api03-" + alnum36, "[masked:anthropic-key]"},
		{"openai, project", `{"k":"sk-proj-` + alnum24 + `_-` + alnum24 + `"}`, `{"k":"[masked:openai-key]"}`},
		{"openai, older", "key=sk-" + alnum24 + alnum24 + ";", "key=[masked:openai-key];"},
		{"openrouter", "sk-or-v1-" + strings.Repeat("0a", 32), "[masked:openrouter-key]"},
		{"github, all five", "ghp_" + alnum36 + " gho_" + alnum36 + " ghs_" + alnum36 + " ghu_" + alnum36 + " ghr_" + alnum36,
			strings.TrimSpace(strings.Repeat("[masked:github-token] ", 5))},
		{"github, fine-grained", "github_pat_" + alnum24[:22] + "_" + alnum36 + alnum24, "[masked:github-token]"},
		{"gitlab", "glpat-" + alnum24[:20] + ".", "[masked:gitlab-token]."},
		{"aws", "AKIA" + upper16 + " ASIA" + upper16, "[masked:aws-key-id] [masked:aws-key-id]"},
		{"google", "AIza" + alnum36[:35], "[masked:google-key]"},
		{"slack", "xoxb-" + "998877665544-" + alnum24, "[masked:slack-token]"},
		{"npm", "//registry/:_authToken=npm_" + alnum36, "//registry/:_authToken=[masked:npm-token]"},
		{"hugging face", "hf_" + alnum36[:34], "[masked:huggingface-token]"},
		{"stripe", "sk_live_" + alnum24 + ",rk_live_" + alnum24, "[masked:stripe-key],[masked:stripe-key]"},
		{"a token longer than what decides", "sk-proj-" + strings.Repeat(alnum36, 20), "[masked:openai-key]"},
		{"json web token", "Cookie: t=" + jwt + "; x", "Cookie: t=[masked:jwt]; x"},
		{"bearer", `-H 'Authorization: Bearer abc/DEF+ghi.jkl_mno~pqr='`, `-H 'Authorization: Bearer [masked:bearer-token]'`},
		{"bearer, with escaped slashes", `{"authorization":"bearer abc\/DEF+ghi\/jkl_mno~pqr"}`, `{"authorization":"bearer [masked:bearer-token]"}`},
		{"a bearer that has a pattern keeps the pattern's name", "Bearer ghp_" + alnum36, "Bearer [masked:github-token]"},
		{"private key", "x " + pem + " y", "x [masked:private-key] y"},
		{"private key in JSON", `{"a":"` + escaped + `\n"}`, `{"a":"[masked:private-key]\n"}`},
		{"private key in JSON inside JSON", `{"a":"{\"b\":\"` + strings.ReplaceAll(escaped, `\n`, `\\n`) + `\"}"}`, `{"a":"{\"b\":\"[masked:private-key]\"}"}`},
		{"private key cut off", `{"a":"` + escaped[:120] + `"}`, `{"a":"[masked:private-key]"}`},
		{"private key whose end is in another string", `{"a":"` + escaped[:120] + `","b":"-----END RSA PRIVATE KEY-----"}`,
			`{"a":"[masked:private-key]","b":"-----END RSA PRIVATE KEY-----"}`},
		{"a token after a newline escape", `{"a":"x\nghp_` + alnum36 + `"}`, `{"a":"x\n[masked:github-token]"}`},
		{"a token after a nested newline escape", `{"a":"{\"b\":\"x\\nghp_` + alnum36 + `\"}"}`, `{"a":"{\"b\":\"x\\n[masked:github-token]\"}"}`},
		{"a token after a unicode escape", `{"a":"k\u003dghp_` + alnum36 + `"}`, `{"a":"k\u003d[masked:github-token]"}`},
		{"the n of a newline escape is no npm", `{"a":"\npm_` + alnum36 + `"}`, `{"a":"\npm_` + alnum36 + `"}`},
		{"a token after a percent escape", "?t%3Dghp_" + alnum36, "?t%3D[masked:github-token]"},
		{"a token in colour", "\x1b[32mghp_" + alnum36 + "\x1b[0m", "\x1b[32m[masked:github-token]\x1b[0m"},
		{"a token in colour in JSON", `{"a":"\u001b[1;32mghp_` + alnum36 + `\u001b[0m"}`, `{"a":"\u001b[1;32m[masked:github-token]\u001b[0m"}`},
		{"a token after an underscore", "MY_ghp_" + alnum36, "MY_[masked:github-token]"},
		{"a token after letters outside ASCII", "é" + "ghp_" + alnum36, "é" + "[masked:github-token]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for pad := range 17 { // every alignment of the scan
				for _, space := range []string{" ", "é"} {
					if space != " " && strings.HasPrefix(row.in, "{") {
						continue
					}
					before, after := strings.Repeat(space, pad), strings.Repeat(" ", pad%5)
					got, n := m.Mask([]byte(before + row.in + after))
					if want := before + row.want + after; string(got) != want {
						t.Fatalf("padding %d: got %s\nwant %s", pad, got, want)
					}
					if changed := row.in != row.want; (n > 0) != changed {
						t.Fatalf("padding %d: %d replacements", pad, n)
					}
				}
			}
			if json.Valid([]byte(row.in)) && !json.Valid([]byte(row.want)) {
				t.Error("the row itself wants invalid JSON")
			}
		})
	}
}

func TestMaskLeavesAlone(t *testing.T) {
	m := New(testEnv)
	for _, row := range []struct{ name, text string }{
		{"words", "scikit: sk-learn, task-force, disk-encryption-and-more-things, hf_config, npm_config_registry, xoxb-, AKIA"},
		{"kebab names that begin with sk", "sk-internationalization-of-all-components sk-ant-design-pro-theme-components"},
		{"a token that is too short", "ghp_" + alnum24 + " sk-ant-api03-... glpat-short AKIA" + upper16[:12]},
		{"a token in the middle of a word", "xxghp_" + alnum36 + " 0AKIA" + upper16},
		{"an AWS id in the middle of base64", "AKIA" + upper16 + "abc"},
		{"a UUID and a tool id", `{"id":"toolu_01A1b2C3d4E5f6G7h8","session":"0f8fad5b-d9cb-469f-a165-70867728950e"}`},
		{"bearer in prose", "the bearer of-bad-news-is-never-welcome; Bearer $ANTHROPIC_API_KEY; Bearer <token>"},
		{"headers of keys in prose", "starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY----- always"},
		{"a public key", "-----BEGIN PUBLIC KEY-----\n" + alnum36 + alnum24 + "\n-----END PUBLIC KEY-----"},
		{"base64 that begins like a web token", "eyJ" + alnum36 + alnum36},
		{"a replacement", "[masked:DEPLOY_TOKEN] Bearer [masked:bearer-token]"},
		{"nothing", ""},
		{"almost a known value", "tango-uniform-7 ango-uniform-77"},
		{"structure without a value", `{"a":12345678901,"b":[[[[[[[[1]]]]]]]]}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			for pad := range 9 {
				text := []byte(strings.Repeat(" ", pad) + row.text)
				got, n := m.Mask(text)
				if n != 0 || !bytes.Equal(got, text) || len(text) > 0 && &got[0] != &text[0] {
					t.Fatalf("padding %d: %d replacements: %s", pad, n, got)
				}
			}
		})
	}
}

func TestMaskKeepsStructure(t *testing.T) {
	m := New(nil, `","type":"`, "[[[[[[[[", `x":"value`, "12345678")
	for _, line := range []string{`{"a":"","type":"b"}`, `[[[[[[[[[1]]]]]]]]]`, `{"x":"value"}`, `{"a":-12345678e3}`} {
		got, _ := m.Mask([]byte(line))
		if !json.Valid(got) {
			t.Errorf("%s became %s", line, got)
		}
	}
	if got, _ := m.Mask([]byte(`{"a":"[[[[[[[["}`)); string(got) != `{"a":"[masked:secret]"}` {
		t.Errorf("inside a string: %s", got)
	}
}

func TestNewIgnoresOrdinaryValues(t *testing.T) {
	for _, row := range []struct {
		entry string
		text  string
		want  bool
	}{
		{"API_TOKEN=abcdefg", "abcdefg", false},
		{"API_TOKEN=abcdefgh", "abcdefgh", true},
		{"APP_SECRET=development", "development", false},
		{"OPENAI_API_KEY=dummy-key", "dummy-key", false},
		{"API_TOKEN=********", "********", false},
		{"LOGIN_PIN_SECRET=12345678", "12345678", false},
		{"GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json", "/home/me/key.json", false},
		{"AWS_SECRET_ACCESS_KEY=/A1b2C3d4E5/6G7h8I9j0K1l2M3n4O5p6Q7r8S9t", "/A1b2C3d4E5/6G7h8I9j0K1l2M3n4O5p6Q7r8S9t", true},
		{"SECRET_FILE=/run/secrets/db", "/run/secrets/db", false},
		{"SSH_AUTH_SOCK=/private/socket.1234", "/private/socket.1234", false},
		{"GPG_KEY=7169605F62C751356D054A26A821E680E5FA6305", "7169605F62C751356D054A26A821E680E5FA6305", false},
		{"EDITOR=very-long-editor", "very-long-editor", false},
		{"REDIS=redis://:s3cr3t-pass@localhost:6379,redis://:0ther-pass@two", "0ther-pass", true},
		{"REDIS=redis://:s3cr3t-pass@localhost:6379", "s3cr3t-pass", true},
		{"PG=postgres://postgres:postgres@localhost", "postgres", false},
		{"ISSUE=https://example.com/a:b@12345678", "b@12345678", false},
		{"API_TOKEN=GITHUB_TOKEN_NAME\x00", "GITHUB_TOKEN_NAME\x00", true},
		{"API_TOKEN=github-token", "github-token", false},
		{"API_TOKEN=trailing-newline\n", "trailing-newline", true},
		{"no equals sign", "no equals sign", false},
	} {
		if _, n := New([]string{row.entry}).Mask([]byte(row.text)); (n == 1) != row.want {
			t.Errorf("%q: %q is masked %d times", row.entry, row.text, n)
		}
	}
	if _, n := New([]string{"A_TOKEN=REAL_TOKEN", "REAL_TOKEN=tango-uniform-77"}).Mask([]byte("A_TOKEN REAL_TOKEN")); n != 0 {
		t.Error("the name of a credential is masked")
	}
}

func TestName(t *testing.T) {
	yes := []string{"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "SECRET_KEY_BASE", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "FTP_PASSWD",
		"AWS_SECRET_ACCESS_KEY", "AZURE_CREDENTIALS", "apiKey", "authToken", "x-api-key", "authorization", "DOCKER_AUTH_CONFIG", "API_KEY_2",
		"API_KEY_PROD", "clientSecret", "GITHUB_PAT", "SSH_KEY", "npm_config__authToken", "CLIENTSECRET", "SMTP_PASS", "ANTHROPIC_AUTH_TOKEN"}
	no := []string{"", "_", "PATH", "HOME", "SSH_AUTH_SOCK", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "GPG_KEY", "SSH_KEY_PATH", "TOKEN_FILE",
		"AWS_ACCESS_KEY_ID", "MAX_THINKING_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "PWD", "OLDPWD", "KEY", "KEYBOARD", "MONKEY", "AUTHOR",
		"GIT_AUTHOR_NAME", "XAUTHORITY", "STRIPE_PUBLISHABLE_KEY", "SSH_PUBLIC_KEY", "PRIMARY_KEY", "TOKEN_TTL", "GIT_ASKPASS", "keepIterations",
		"maxTokens", "TERM", "COMPASS", "OLD_PWD"}
	for _, key := range yes {
		if !Name(key) {
			t.Errorf("%s is a credential", key)
		}
	}
	for _, key := range no {
		if Name(key) {
			t.Errorf("%s is no credential", key)
		}
	}
}

// The scan finds a token by a run of minRun token characters, and a literal by seven bytes of it.
func TestPatternsSuitTheScan(t *testing.T) {
	for _, k := range tokenKinds {
		for prefix := range strings.FieldsSeq(k.prefixes) {
			if lead := strings.LastIndexAny(prefix, "./~") + 1; len(prefix)-lead+k.min < minRun {
				t.Errorf("%s: %d characters", prefix, len(prefix)+k.min)
			}
		}
		for c, in := range k.body {
			if in && !wordBody[c] {
				t.Errorf("%s: body holds %q, which ends a word", k.kind, rune(c))
			}
		}
	}
	for _, l := range New(testEnv).literals {
		if len(l.text) < stride+gramBytes-1 {
			t.Errorf("literal %q is too short", l.text)
		}
	}
}

func TestMaskKeepsItsSource(t *testing.T) {
	m := New(testEnv)
	src := []byte("a tango-uniform-77 b")
	got, _ := m.Mask(src)
	if string(got) != "a [masked:DEPLOY_TOKEN] b" || string(src) != "a tango-uniform-77 b" {
		t.Errorf("got %s from %s", got, src)
	}
}

func ExampleRedactor_Mask() {
	redactor := New([]string{"DEPLOY_TOKEN=tango-uniform-77", "HOME=/home/me"})
	line, n := redactor.Mask([]byte(`{"type":"tool.returned","output":"token: tango-uniform-77\n"}`))
	fmt.Printf("%s %d\n", line, n)
	// Output: {"type":"tool.returned","output":"token: [masked:DEPLOY_TOKEN]\n"} 1
}

func ExampleNew() {
	redactor := New(os.Environ())
	_, n := redactor.Mask([]byte("nothing secret here"))
	fmt.Println(n)
	// Output: 0
}
