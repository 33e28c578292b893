package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A kind is one kind of secret, with texts that are nearly one. The secrets are made of random
// characters when the test runs.
type kind struct {
	label string // of what replaces it
	// text holds one secret, and secret is the part of it that must not be left.
	make func(r random) (text, secret string)
	// near are texts that stay as they are.
	near func(r random) []string
}

type random struct{ *rand.Rand }

const (
	mixed = capitals + letters + numerals
	hexes = "0123456789abcdef"
)

// of returns n characters out of chars, with a digit, a capital and a small letter among them where
// chars has those.
func (r random) of(chars string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[r.IntN(len(chars))]
	}
	for i, c := range []string{"7", "K", "q", "d"} {
		if strings.Contains(chars, c) && n > 8 {
			b[n/2+i] = c[0]
		}
	}
	return string(b)
}

func prefixed(label, prefix, chars string, n int) kind {
	return kind{
		label: label,
		make:  func(r random) (string, string) { s := prefix + r.of(chars, n); return s, s },
		near: func(r random) []string {
			return []string{prefix, prefix + "...", prefix + "<your-token>", prefix + r.of(chars, 6), "x" + prefix + r.of(chars, n)}
		},
	}
}

func exact(label, prefix, chars string, n int) kind {
	k := prefixed(label, prefix, chars, n)
	near := k.near
	k.near = func(r random) []string { return append(near(r), prefix+r.of(chars, n)+r.of(chars, 4)) }
	return k
}

func around(label, before, chars string, n int, after string) kind {
	return kind{
		label: label,
		make:  func(r random) (string, string) { s := r.of(chars, n); return before + s + after, s },
		near: func(r random) []string {
			return []string{before + after, before + "$VALUE" + after, before + "<secret>" + after, before + "[...]"}
		},
	}
}

func keyText(r random, label string, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-----BEGIN %s-----\n", label)
	for range lines {
		b.WriteString(r.of(mixed+"+/", 64) + "\n")
	}
	fmt.Fprintf(&b, "%s==\n-----END %s-----", r.of(mixed, 22), label)
	return b.String()
}

func pem(label string, lines int) kind {
	return kind{
		label: "private-key",
		make:  func(r random) (string, string) { s := keyText(r, label, lines); return s, s },
		near: func(r random) []string {
			return []string{
				"-----BEGIN " + label + "-----", "from -----BEGIN " + label + "----- to -----END " + label + "-----",
				strings.ReplaceAll(keyText(r, label, 2), "PRIVATE", "PUBLIC"),
			}
		},
	}
}

var kinds = map[string]kind{
	"anthropic":             prefixed("anthropic-key", "sk-ant-"+"api03-", mixed+"-_", 95),
	"anthropic, login":      prefixed("anthropic-key", "sk-ant-"+"oat01-", mixed+"-_", 95),
	"openai, project":       prefixed("openai-key", "sk-"+"proj-", mixed+"-_", 120),
	"openai, service":       prefixed("openai-key", "sk-"+"svcacct-", mixed+"-_", 120),
	"openai, older":         prefixed("openai-key", "sk"+"-", mixed, 48),
	"openrouter":            prefixed("openrouter-key", "sk-or"+"-v1-", hexes, 64),
	"google":                prefixed("google-key", "AI"+"za", mixed, 35),
	"google client secret":  prefixed("google-client-secret", "GOC"+"SPX-", mixed, 28),
	"google access token":   prefixed("google-access-token", "ya"+"29.", mixed+"-_", 120),
	"hugging face":          prefixed("huggingface-token", "h"+"f_", letters+capitals, 34),
	"groq":                  exact("groq-key", "gs"+"k_", mixed, 52),
	"xai":                   prefixed("xai-key", "xa"+"i-", mixed, 80),
	"perplexity":            prefixed("perplexity-key", "ppl"+"x-", mixed, 48),
	"replicate":             exact("replicate-token", "r"+"8_", mixed, 37),
	"nvidia":                prefixed("nvidia-key", "nva"+"pi-", mixed+"-_", 64),
	"github, classic":       prefixed("github-token", "gh"+"p_", mixed, 36),
	"github, oauth":         prefixed("github-token", "gh"+"o_", mixed, 36),
	"github, app":           prefixed("github-token", "gh"+"s_", mixed, 36),
	"github, fine-grained":  prefixed("github-token", "github"+"_pat_", mixed, 82),
	"gitlab":                prefixed("gitlab-token", "gl"+"pat-", mixed, 20),
	"gitlab, deploy":        prefixed("gitlab-token", "gl"+"dt-", mixed, 20),
	"gitlab, runner":        prefixed("gitlab-token", "gl"+"rt-", mixed, 20),
	"aws, key id":           exact("aws-key-id", "AK"+"IA", capitals+"234567", 16),
	"aws, temporary key id": exact("aws-key-id", "AS"+"IA", capitals+"234567", 16),
	"aws, secret":           around("aws-secret-key", "aws_secret_access_key = ", mixed+"+/", 40, ""),
	"aws, secret in JSON":   around("aws-secret-key", `{"SecretAccessKey": "`, mixed+"+/", 40, `"}`),
	"aws, session":          around("aws-session-token", "AWS_SESSION_TOKEN=", mixed+"+/", 300, ""),
	"slack, bot":            prefixed("slack-token", "xo"+"xb-", numerals, 24),
	"slack, user":           prefixed("slack-token", "xo"+"xp-", mixed, 50),
	"slack, app":            prefixed("slack-token", "xa"+"pp-1-A0", mixed, 90),
	"slack, rotating":       prefixed("slack-token", "xo"+"xe-1-", mixed, 140),
	"slack, webhook":        around("slack-webhook", "https://hooks.slack"+".com/services/T0", mixed, 40, ""),
	"discord, webhook":      around("discord-webhook", "https://discord"+".com/api/webhooks/998877665544332211/", mixed, 68, ""),
	"npm":                   prefixed("npm-token", "np"+"m_", mixed, 36),
	"pypi":                  prefixed("pypi-token", "py"+"pi-AgEIcHlwaS5vcmc", mixed+"-_", 150),
	"rubygems":              exact("rubygems-key", "ruby"+"gems_", hexes, 48),
	"crates.io":             exact("crates-io-token", "ci"+"o", mixed, 32),
	"docker hub":            prefixed("docker-token", "dckr"+"_pat_", mixed, 27),
	"sendgrid":              prefixed("sendgrid-key", "S"+"G.", mixed, 66),
	"brevo":                 prefixed("brevo-key", "xkey"+"sib-", hexes, 64),
	"mailchimp":             {"mailchimp-key", func(r random) (string, string) { s := r.of(hexes, 32) + "-us" + "21"; return s, s }, func(r random) []string { return []string{r.of(hexes, 32) + "-usage", r.of(hexes, 31) + "-us21"} }},
	"vault":                 prefixed("vault-token", "hv"+"s.", mixed, 95),
	"vault, batch":          prefixed("vault-token", "hv"+"b.", mixed, 140),
	"terraform": {"terraform-token", func(r random) (string, string) {
		s := r.of(mixed, 14) + ".atla" + "sv1." + r.of(mixed, 64)
		return s, s
	}, func(r random) []string { return []string{"a.atla" + "sv1." + r.of(mixed, 64)} }},
	"azure, storage":        around("azure-storage-key", "DefaultEndpointsProtocol=https;AccountName=a1;AccountKey=", mixed+"+/", 86, "==;EndpointSuffix=core.windows.net"),
	"azure, bus":            around("azure-access-key", "SharedAccessKeyName=root;SharedAccessKey=", mixed+"+/", 43, "="),
	"azure, sas":            around("azure-sas", "https://a1.blob.core.windows.net/c?sv=2022-11-02&ss=b&se=2026-11-21T00:00:00Z&sig=", mixed, 43, "%3D"),
	"azure, sas, other way": {"azure-sas", func(r random) (string, string) { s := r.of(mixed, 43); return "sig=" + s + "%3D&sp=r&sv=2022-11-02", s }, nil},
	"azure, client": {"azure-client-secret", func(r random) (string, string) {
		s := r.of(mixed, 3) + "8Q~" + r.of(mixed+"-_~.", 33) + "z"
		return s, s
	}, func(r random) []string { return []string{"abc8Q~short", "abcxQ~" + r.of(mixed, 34)} }},
	"stripe":             prefixed("stripe-key", "sk"+"_live_", mixed, 24),
	"stripe, restricted": prefixed("stripe-key", "rk"+"_live_", mixed, 99),
	"stripe, test":       prefixed("stripe-key", "sk"+"_test_", mixed, 24),
	"stripe, webhook":    prefixed("webhook-secret", "wh"+"sec_", mixed, 32),
	"twilio":             exact("twilio-key", "S"+"K", hexes, 32),
	"twilio, account":    around("twilio-token", "TWILIO_AUTH_TOKEN=", hexes, 32, ""),
	"telegram": {"telegram-token", func(r random) (string, string) { s := r.of(numerals, 10) + ":AA" + r.of(mixed+"-_", 33); return s, s }, func(r random) []string {
		return []string{r.of(numerals, 10) + ":" + r.of(mixed, 20), "12:AA" + r.of(mixed, 33)}
	}},
	"discord": {"discord-token", func(r random) (string, string) {
		s := base64.RawStdEncoding.EncodeToString([]byte(r.of(numerals, 18))) + "." + r.of(mixed, 6) + "." + r.of(mixed, 38)
		return s, s
	}, func(r random) []string {
		return []string{"M" + r.of(mixed, 23) + "." + r.of(mixed, 6) + "." + r.of(mixed, 10)}
	}},
	"age":          exact("age-key", "AGE-SECRET"+"-KEY-1", capitals+"23456789", 58),
	"digitalocean": exact("digitalocean-token", "dop"+"_v1_", hexes, 64),
	"shopify":      exact("shopify-token", "shp"+"at_", hexes, 32),
	"square":       prefixed("square-token", "sq0"+"atp-", mixed, 22),
	"grafana":      prefixed("grafana-token", "gl"+"sa_", mixed, 41),
	"linear":       exact("linear-key", "lin"+"_api_", mixed, 40),
	"notion":       prefixed("notion-token", "nt"+"n_", mixed, 46),
	"airtable": {"airtable-token", func(r random) (string, string) {
		s := "pa" + "t" + r.of(mixed, 14) + "." + r.of(hexes, 64)
		return s, s
	}, func(r random) []string { return []string{"path." + r.of(hexes, 64)} }},
	"atlassian": prefixed("atlassian-token", "ATA"+"TT3xFfGF0", mixed, 150),
	"postman": {"postman-key", func(r random) (string, string) {
		s := "PM" + "AK-" + r.of(hexes, 24) + "-" + r.of(hexes, 34)
		return s, s
	}, nil},
	"pulumi":      exact("pulumi-token", "pu"+"l-", hexes, 40),
	"planetscale": prefixed("planetscale-token", "pscale"+"_tkn_", mixed, 43),
	"doppler":     prefixed("doppler-token", "dp"+".pt.", mixed, 43),
	"databricks":  prefixed("databricks-token", "da"+"pi", hexes, 32),
	"dynatrace": {"dynatrace-token", func(r random) (string, string) {
		s := "dt0" + "c01." + r.of(capitals, 24) + "." + r.of(capitals, 64)
		return s, s
	}, nil},
	"new relic":   exact("newrelic-key", "NR"+"AK-", capitals+numerals, 27),
	"sentry":      exact("sentry-token", "sntr"+"yu_", hexes, 64),
	"fly":         prefixed("fly-token", "fo"+"1_", mixed, 43),
	"supabase":    exact("supabase-key", "sb"+"p_", hexes, 40),
	"tailscale":   prefixed("tailscale-key", "ts"+"key-auth-", mixed, 40),
	"artifactory": exact("artifactory-key", "AK"+"Cp", mixed, 69),
	"figma":       prefixed("figma-token", "fig"+"d_", mixed, 40),
	"hubspot": {"hubspot-token", func(r random) (string, string) {
		s := "pat" + "-na1-" + r.of(hexes, 8) + "-" + r.of(hexes, 4) + "-" + r.of(hexes, 4) + "-" + r.of(hexes, 4) + "-" + r.of(hexes, 12)
		return s, s
	}, nil},
	"openshift": exact("openshift-token", "sha"+"256~", mixed, 43),
	"json web token": {"jwt", func(r random) (string, string) {
		s := "ey" + "J" + r.of(mixed, 30) + ".ey" + "J" + r.of(mixed, 60) + "." + r.of(mixed+"-_", 43)
		return s, s
	}, func(r random) []string { return []string{"eyJ" + r.of(mixed, 60)} }},
	"bearer": around("bearer-token", "Authorization: Bearer ", mixed+"-_.~+/", 40, ""),
	"basic": {"basic-auth", func(r random) (string, string) {
		s := base64.StdEncoding.EncodeToString([]byte("ada:" + r.of(mixed, 9)))
		return "Authorization: Basic " + s, s
	}, func(r random) []string {
		return []string{"Basic usage", "Basic dXNlcg==", "Basic $(echo x)", "BASIC AUTHENTICATION"}
	}},
	"x-api-key":     around("api-key", "x-api-key: ", mixed, 32, ""),
	"private-token": around("access-token", `curl -H "PRIVATE-TOKEN: `, mixed, 24, `" https://git`),
	"password in a URL": {"url-password", func(r random) (string, string) {
		s := r.of(mixed, 14)
		return "https://ada:" + s + "@host.example/x.git", s
	}, func(r random) []string {
		return []string{"https://user:password@host", "https://ada:$PASS@host", "https://ada:${PASS}@host", "https://ada@host/a:b@c", "https://x/@scope/pkg@1.2.3:4567890a@b", "https://ada:<password>@host", "ssh://git@host:22/path@x"}
	}},
	"database": {"url-password", func(r random) (string, string) {
		s := r.of(mixed, 11) + "!"
		return "postgres://app:" + s + "@db.internal:5432/app?sslmode=require", s
	}, nil},
	"database, escaped": {"url-password", func(r random) (string, string) {
		s := r.of(mixed, 12)
		return `mongodb+srv:\/\/app:` + s + `@db.internal\/app`, s
	}, nil},
	".netrc": {"netrc-password", func(r random) (string, string) {
		s := r.of(mixed, 13)
		return "machine git.example.com\n  login ada\n  password " + s + "\n", s
	}, func(r random) []string {
		return []string{"the login page has a password field", "machine x login y password $PASS"}
	}},
	".netrc, one line": {"netrc-password", func(r random) (string, string) { s := r.of(mixed, 13); return `machine h login ada password ` + s, s }, nil},
	".netrc in JSON": {"netrc-password", func(r random) (string, string) {
		s := r.of(mixed, 13)
		return `{"a":"machine h\n\tlogin ada\n\tpassword ` + s + `\n"}`, s
	}, nil},
	".pgpass":           {"pgpass-password", func(r random) (string, string) { s := r.of(mixed, 12); return "db.internal:5432:app:ada:" + s, s }, func(r random) []string { return []string{"db:5432:app", "127.0.0.1:5432:ok", "a.go:5432:12: b: c"} }},
	".pgpass, anywhere": {"pgpass-password", func(r random) (string, string) { s := r.of(mixed, 12); return "*:*:*:ada:" + s, s }, nil},
	"PGPASSWORD": {"password", func(r random) (string, string) { s := r.of(mixed, 12); return "PGPASSWORD=" + s + " psql -h db", s }, func(r random) []string {
		return []string{"PGPASSWORD=$PW psql", `PGPASSWORD="${PW}"`, "PGPASSWORD=password"}
	}},
	"private key":            pem("PRIVATE KEY", 26),
	"private key, RSA":       pem("RSA PRIVATE KEY", 12),
	"private key, EC":        pem("EC PRIVATE KEY", 2),
	"private key, SSH":       pem("OPENSSH PRIVATE KEY", 37),
	"private key, encrypted": pem("ENCRYPTED PRIVATE KEY", 27),
	"private key, PGP": {"private-key", func(r random) (string, string) {
		s := strings.Replace(keyText(r, "PGP PRIVATE KEY BLOCK", 60), "-----\n", "-----\nVersion: GnuPG v2\nComment: of a test\n\n", 1)
		return s, s[60:]
	}, nil},
	"private key, old": {"private-key", func(r random) (string, string) {
		s := strings.Replace(keyText(r, "RSA PRIVATE KEY", 14), "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,"+r.of(numerals+"ABCDEF", 32)+"\n\n", 1)
		return s, s[60:]
	}, nil},
	"private key, numbered": {"private-key", func(r random) (string, string) { return numbered(keyText(r, "OPENSSH PRIVATE KEY", 30)), "" }, nil},
	"private key, huge":     pem("RSA PRIVATE KEY", 700),
	"private key, PuTTY": {"private-key", func(r random) (string, string) {
		s := r.of(mixed, 64) + "\n" + r.of(mixed, 64)
		return "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 2\n" + s + "\nPrivate-MAC: 00", s
	}, nil},
	"google service account": {"private-key", func(r random) (string, string) {
		s, _ := json.Marshal(map[string]string{"type": "service_account", "private_key": keyText(r, "PRIVATE KEY", 26) + "\n"})
		return string(s), string(s[40 : len(s)-60])
	}, nil},
}

// numbered is a file as tools show it, with a number before each line.
func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%6d→%s\n", i+1, line)
	}
	return b.String()
}

// Every kind is masked in plain text, in a JSON string, and in JSON inside a JSON string; the JSON
// stays JSON.
func TestEveryKind(t *testing.T) {
	m := New(testEnv)
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				text, secret := k.make(random{rand.New(rand.NewPCG(seed, 1))})
				text = strings.Repeat(" ", int(seed%17)) + text
				once, _ := json.Marshal(map[string]string{"a": text})
				twice, _ := json.Marshal(map[string]string{"b": string(once)})
				for _, in := range []string{text, "see " + strings.Repeat("é", int(seed%9)) + text + ".", string(once), string(twice)} {
					out, n := m.Mask([]byte(in))
					if n != 1 || !bytes.Contains(out, []byte("[masked:"+k.label+"]")) {
						t.Fatalf("%d replacements in\n%s\n%s", n, in, out)
					}
					if piece := secret[:len(secret)/2]; piece != "" && bytes.Contains(out, []byte(piece)) {
						t.Fatalf("left of\n%s\n%s", in, out)
					}
					if json.Valid([]byte(in)) && !json.Valid(out) {
						t.Fatalf("no JSON any more: %s", out)
					}
				}
			}
		})
	}
}

func TestNearlyAKind(t *testing.T) {
	m := New(testEnv)
	for name, k := range kinds {
		if k.near == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				for _, near := range k.near(random{rand.New(rand.NewPCG(seed, 2))}) {
					line, _ := json.Marshal([]string{near})
					for _, in := range []string{strings.Repeat(" ", int(seed)) + near, string(line)} {
						if out, n := m.Mask([]byte(in)); n != 0 {
							t.Fatalf("%s\nbecame %s", in, out)
						}
					}
				}
			}
		})
	}
}
