package redact

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A class is a set of bytes.
type class [256]bool

func classOf(ranges string) *class {
	var c class
	for i := 0; i+1 < len(ranges); i += 2 {
		for b := int(ranges[i]); b <= int(ranges[i+1]); b++ {
			c[b] = true
		}
	}
	return &c
}

var (
	alnum      = classOf("azAZ09")
	upperAlnum = classOf("AZ09")
	lowerAlnum = classOf("az09")
	alnumDash  = classOf("azAZ09--")
	alnumScore = classOf("azAZ09__")
	token      = classOf("azAZ09--__")
	tokenDot   = classOf("azAZ09--__..")
	tokenEqual = classOf("azAZ09--__==")
	token68    = classOf("azAZ09--__..~~++//==") // RFC 9110, section 11.2
	base64Body = classOf("azAZ09++//==")
	lowerHex   = classOf("af09")
	hexDigit   = classOf("afAF09")
	hexDash    = classOf("afAF09--")
	digits     = classOf("09")
)

// maxDecide is how many bytes decide whether a token is one. It keeps a long row of prefixes
// (sk-ant-sk-ant-...) from being read again for each of them. The header of a JSON web token must
// end within it.
const maxDecide = 1 << 10

// A tokenKind is what a vendor's tokens look like: one of the prefixes, at least min bytes of class
// body, then all that follows of class more. The scan finds a token by a run of minRun bytes of
// class token. That run begins where the prefix does or, in a prefix with punctuation, after the
// last of it.
type tokenKind struct {
	prefixes string // separated by blanks
	kind     string // in the label
	body     *class
	min      int
	more     *class // nil: body. exactly: nothing, and no letter or digit follows
	test     func(body []byte) bool
	// widen, if set, returns the token that holds prefix and body, src[from:to]; from == to if
	// there is none.
	widen func(src []byte, from, to int) (int, int)
}

// exactly is the tokenKind.more of tokens of one length.
var exactly = &class{}

const (
	labelBearer    = "[masked:bearer-token]"
	labelKey       = "[masked:private-key]"
	labelAzure     = "[masked:azure-client-secret]"
	labelMailchimp = "[masked:mailchimp-key]"
)

// tokenKinds are facts about the formats that the vendors publish. If one prefix begins with
// another, the longer comes first.
var tokenKinds = []tokenKind{
	{"sk-ant-", "anthropic-key", token, 20, nil, hasDigit, nil},
	{"sk-proj- sk-svcacct- sk-admin-", "openai-key", token, 20, nil, hasDigit, nil},
	{"sk-or-v1-", "openrouter-key", alnum, 32, nil, hasDigit, nil},
	{"sk-", "openai-key", alnum, 20, token, notLower, nil}, // older ones, and those of the many services that copy them
	{"sk_live_ rk_live_", "stripe-key", alnum, 16, nil, nil, nil},
	{"sk_test_ rk_test_", "stripe-key", alnum, 16, nil, hasDigit, nil},
	{"whsec_", "webhook-secret", alnum, 32, base64Body, hasDigit, nil},
	{"ghp_ gho_ ghu_ ghr_", "github-token", alnum, 36, alnumScore, nil, nil},
	{"ghs_", "github-token", alnum, 36, tokenDot, nil, nil},
	{"github_pat_", "github-token", alnumScore, 36, nil, nil, nil},
	{"glpat-", "gitlab-token", token, 20, tokenDot, nil, nil},
	{"gldt- glrt- glptt- glcbt- glsoat- glagent-", "gitlab-token", token, 20, tokenDot, hasDigit, nil},
	{"AKIA ASIA", "aws-key-id", upperAlnum, 16, exactly, nil, nil},
	{"ABIA ACCA", "aws-key-id", upperAlnum, 16, exactly, hasDigit, nil},
	{"AIza", "google-key", token, 35, nil, nil, nil},
	{"GOCSPX-", "google-client-secret", token, 28, nil, nil, nil},
	{"ya29.", "google-access-token", token, 40, tokenDot, hasDigit, nil},
	{"1//0", "google-refresh-token", token, 35, nil, hasDigit, nil},
	{"xoxa- xoxb- xoxc- xoxe- xoxe.xoxb- xoxe.xoxp- xoxo- xoxp- xoxr- xoxs-", "slack-token", alnumDash, 15, nil, hasDigit, nil},
	{"xoxd-", "slack-token", alnum, 20, token68, hasDigit, nil},
	{"xapp-1-", "slack-token", alnumDash, 30, nil, hasDigit, nil},
	{"npm_", "npm-token", alnum, 36, nil, nil, nil},
	{"pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", "pypi-token", token, 50, nil, nil, nil},
	{"rubygems_", "rubygems-key", lowerHex, 48, exactly, nil, nil},
	{"cio", "crates-io-token", alnum, 32, exactly, allKinds, nil},
	{"CLOJARS_", "clojars-token", lowerAlnum, 60, exactly, nil, nil},
	{"dckr_pat_ dckr_oat_", "docker-token", token, 27, nil, nil, nil},
	{"hf_", "huggingface-token", alnum, 30, nil, notLower, nil},
	{"api_org_", "huggingface-token", alnum, 34, exactly, notLower, nil},
	{"gsk_", "groq-key", alnum, 52, exactly, notLower, nil},
	{"xai-", "xai-key", alnum, 70, nil, notLower, nil},
	{"pplx-", "perplexity-key", alnum, 40, nil, notLower, nil},
	{"r8_", "replicate-token", alnum, 37, exactly, notLower, nil},
	{"nvapi-", "nvidia-key", token, 60, nil, hasDigit, nil},
	{"tvly-", "tavily-key", token, 32, nil, hasDigit, nil},
	{"lsv2_pt_ lsv2_sk_", "langsmith-key", alnumScore, 40, nil, hasDigit, nil},
	{"SG.", "sendgrid-key", tokenDot, 60, nil, hasDigit, nil},
	{"xkeysib-", "brevo-key", lowerHex, 64, token, nil, nil},
	{"hvs. hvb. hvr.", "vault-token", token, 24, nil, hasDigit, nil},
	{"dop_v1_ doo_v1_ dor_v1_", "digitalocean-token", lowerHex, 64, exactly, nil, nil},
	{"SK", "twilio-key", lowerHex, 32, exactly, hasDigit, nil},
	{"AGE-SECRET-KEY-1", "age-key", upperAlnum, 58, exactly, nil, nil},
	{"AGE-SECRET-KEY-PQ-1", "age-key", upperAlnum, 58, nil, nil, nil},
	{"shpat_ shpca_ shppa_ shpss_", "shopify-token", hexDigit, 32, exactly, nil, nil},
	{"sq0atp-", "square-token", token, 22, nil, nil, nil},
	{"sq0csp-", "square-token", token, 43, nil, nil, nil},
	{"EZAK", "easypost-key", alnum, 54, exactly, notLower, nil},
	{"glsa_", "grafana-token", alnum, 32, alnumScore, hasDigit, nil},
	{"glc_eyJ", "grafana-token", alnum, 30, base64Body, hasDigit, nil},
	{"lin_api_", "linear-key", alnum, 40, exactly, nil, nil},
	{"lin_oauth_", "linear-key", alnum, 40, nil, nil, nil},
	{"ntn_", "notion-token", alnum, 40, nil, hasDigit, nil},
	{"ATATT3 ATCTT3", "atlassian-token", tokenEqual, 100, nil, nil, nil},
	{"ATBB", "bitbucket-token", alnum, 32, exactly, allKinds, nil},
	{"PMAK-", "postman-key", hexDash, 59, nil, nil, nil},
	{"pul-", "pulumi-token", lowerHex, 40, exactly, nil, nil},
	{"pscale_tkn_ pscale_pw_ pscale_oauth_", "planetscale-token", token, 32, tokenDot, nil, nil},
	{"dp.pt. dp.sa. dp.ct.", "doppler-token", alnum, 40, nil, hasDigit, nil},
	{"dapi", "databricks-token", lowerHex, 32, alnumDash, hasDigit, nil},
	{"dt0c01. dt0s16.", "dynatrace-token", tokenDot, 80, nil, nil, nil},
	{"NRAK-", "newrelic-key", upperAlnum, 27, exactly, hasDigit, nil},
	{"sntrys_eyJ", "sentry-token", alnum, 30, base64Token, nil, nil},
	{"sntryu_", "sentry-token", lowerHex, 64, exactly, nil, nil},
	{"HRKU-AA", "heroku-key", token, 58, nil, nil, nil},
	{"fo1_", "fly-token", token, 43, nil, hasDigit, nil},
	{"fm2_", "fly-token", alnum, 60, base64Body, hasDigit, nil},
	{"sbp_", "supabase-key", lowerHex, 40, exactly, nil, nil},
	{"sb_secret_", "supabase-key", token, 25, nil, hasDigit, nil},
	{"pnu_", "prefect-key", alnum, 36, exactly, hasDigit, nil},
	{"ops_eyJ", "1password-token", alnum, 60, base64Token, nil, nil},
	{"tskey-auth- tskey-api- tskey-client-", "tailscale-key", alnumDash, 20, nil, hasDigit, nil},
	{"AKCp", "artifactory-key", alnum, 69, exactly, notLower, nil},
	{"LTAI", "alibaba-key-id", alnum, 20, exactly, allKinds, nil},
	{"figd_", "figma-token", token, 38, nil, hasDigit, nil},
	{"pat-na1- pat-eu1-", "hubspot-token", hexDash, 36, exactly, nil, nil},
	{"tfp_", "typeform-token", token, 40, tokenDot, hasDigit, nil},
	{"sgp_", "sourcegraph-token", alnumScore, 40, nil, hasDigit, nil},
	{"sha256~", "openshift-token", token, 43, exactly, notLower, nil},
	{"ico-", "infracost-key", alnum, 32, exactly, allKinds, nil},
	{"aio_", "adafruit-key", alnum, 28, exactly, allKinds, nil},
	{"bkua_", "buildkite-token", lowerHex, 40, exactly, nil, nil},
	{"phx_", "posthog-key", alnum, 40, nil, hasDigit, nil},
	{"shippo_live_", "shippo-key", lowerHex, 40, exactly, nil, nil},
	{"eyJ", "jwt", token, 17, nil, nil, jwtParts},
	{"MD MT Mj Mz ND NT Nj Nz OD OT Oj Oz", "discord-token", alnum, 22, nil, nil, discordParts}, // the base64 of digits
	{":AA", "telegram-token", token, 33, exactly, nil, after(digits, 8, 10)},
	{".atlasv1.", "terraform-token", token, 60, nil, nil, after(alnum, 14, 14)},
	{".", "airtable-token", lowerHex, 64, nil, nil, afterPat},
}

var base64Token = classOf("azAZ09--__++//==")

// A pattern is one prefix of a tokenKind.
type pattern struct {
	*tokenKind
	prefix string
	label  string
	lead   int // how many bytes of the prefix come before the run of token characters
}

var (
	patternLabels = []string{labelBearer, labelKey, labelURL, labelAzure, labelMailchimp}
	// patternsByByte has patterns by the first byte of the run of token characters or, if the
	// prefix has punctuation, by the byte before the run.
	patternsByByte [256][]pattern
)

func init() {
	for i := range tokenKinds {
		k := &tokenKinds[i]
		for prefix := range strings.FieldsSeq(k.prefixes) {
			p := pattern{k, prefix, maskStart + k.kind + "]", strings.LastIndexAny(prefix, "./~:") + 1}
			patternLabels = append(patternLabels, p.label)
			b := prefix[max(0, p.lead-1)]
			patternsByByte[b] = append(patternsByByte[b], p)
		}
	}
}

const (
	numerals = "0123456789"
	letters  = "abcdefghijklmnopqrstuvwxyz"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func hasDigit(body []byte) bool { return bytes.ContainsAny(body, numerals) }

func notLower(body []byte) bool { return bytes.ContainsAny(body, numerals+capitals) }

// allKinds reports whether body has digits, capital and small letters, as random text has and names
// rarely have.
func allKinds(body []byte) bool {
	return hasDigit(body) && bytes.ContainsAny(body, letters) && bytes.ContainsAny(body, capitals)
}

// tails end something that begins before a run of token characters, by the byte before the run.
var tails = map[byte]func() *regexp.Regexp{
	'\\': units.Pattern(`^(?:[bfnrt"/]|u[0-9a-fA-F]{4})`), // a JSON escape, at any depth of nesting
	'%':  units.Pattern(`^[0-9a-fA-F]{2}`),                // a percent escape
	'[':  units.Pattern(`^[0-9]{0,3}m`),                   // a terminal's colour: ESC [ 32 m
	';':  units.Pattern(`^[0-9]{0,3}m`),
}

// prefixTail returns how many bytes at src[start:] end something that begins before (tails).
func prefixTail(src []byte, start int) int {
	if start == 0 || tails[src[start-1]] == nil {
		return 0
	}
	return len(tails[src[start-1]]().Find(src[start:min(len(src), start+5)]))
}

// boundary reports whether a token may begin at src[at]: not in the middle of a word.
func boundary(src []byte, at int) bool {
	if at == 0 || !alnum[src[at-1]] {
		return true
	}
	start := at
	for start > max(0, at-6) && token[src[start-1]] {
		start--
	}
	return prefixTail(src, start) == at-start
}

// match returns the token whose run of token characters begins at src[at]; from == to if there is
// none.
func (p pattern) match(src []byte, at int) (from, to int) {
	from = at - p.lead
	if from < 0 || len(src)-from < len(p.prefix) || string(src[from:from+len(p.prefix)]) != p.prefix {
		return 0, 0
	}
	near := src[:min(len(src), from+maxDecide)]
	bodyAt := from + len(p.prefix)
	to = bodyAt + span(near[bodyAt:], p.body)
	body := src[bodyAt:to]
	switch {
	case len(body) < p.min || p.test != nil && !p.test(body),
		span(near[at:min(len(near), at+minRun)], token) < minRun, // the scan would find it by chance only
		p.more == exactly && (len(body) != p.min || to < len(src) && alnum[src[to]]):
		return 0, 0
	case p.widen != nil:
		if from, to = p.widen(src, from, to); from == to {
			return 0, 0
		}
	case p.more != exactly:
		to += span(src[to:], p.body)
		if p.more != nil {
			to += span(src[to:], p.more)
		}
		to = from + len(bytes.TrimRight(src[from:to], ".")) // without a sentence's end
	}
	if !boundary(src, from) {
		return 0, 0
	}
	return from, to
}

var (
	otherJWTParts     = units.Pattern(`^\.eyJ[\w-]{4,}(?:\.[\w-]+)?`) // the signature may be cut off
	otherDiscordParts = units.Pattern(`^\.[\w-]{6,7}\.[\w-]{27,38}`)
)

// jwtParts adds the payload and signature to the header of a JSON web token.
func jwtParts(src []byte, from, to int) (int, int) {
	rest := otherJWTParts().Find(src[to:])
	if rest == nil {
		return 0, 0
	}
	return from, to + len(rest)
}

// discordParts adds a time and a signature to a bot's id, which is a number in base64.
func discordParts(src []byte, from, to int) (int, int) {
	rest := otherDiscordParts().Find(src[to:min(len(src), to+60)])
	end := to + len(rest)
	if rest == nil || to-from > 28 || end < len(src) && token[src[end]] {
		return 0, 0
	}
	id, err := base64.RawStdEncoding.DecodeString(string(src[from:to]))
	if err != nil || span(id, digits) < len(id) {
		return 0, 0
	}
	return from, end
}

// after adds the least to most characters of class c that come before a token.
func after(c *class, least, most int) func(src []byte, from, to int) (int, int) {
	return func(src []byte, from, to int) (int, int) {
		n := spanBack(src, from, c, most+1)
		if n < least || n > most {
			return 0, 0
		}
		return from - n, to
	}
}

// afterPat adds "pat" and 14 characters, which come before the 64 of an Airtable token.
func afterPat(src []byte, from, to int) (int, int) {
	const before = len("pat") + 14
	if to-from != len(".")+64 || from < before || spanBack(src, from, alnum, before) < before || string(src[from-before:from-14]) != "pat" {
		return 0, 0
	}
	return from - before, to
}

// mailchimpKey finds a key around the "-us" at src[at]: 32 hex digits before it, one or two digits
// after it.
func mailchimpKey(src []byte, at int) (from, to int) {
	end := at + len("-us")
	n := span(src[end:min(len(src), end+3)], digits)
	if spanBack(src, at, lowerHex, 33) != 32 || n < 1 || n > 2 || !boundary(src, at-32) {
		return 0, 0
	}
	return at - 32, end + n
}

// azureSecret returns the client secret of Azure around the tilde src[at]: three characters, a
// digit, "Q~" and 31 to 34 more.
func azureSecret(src []byte, at int) (from, to int) {
	if at < 5 || src[at-1] != 'Q' || !digits[src[at-2]] {
		return 0, 0
	}
	from = at - 5
	n := span(src[at+1:min(len(src), at+1+40)], azureBody)
	for _, c := range src[from : at-2] {
		if !azureBody[c] {
			return 0, 0
		}
	}
	n = len(bytes.TrimRight(src[at+1:at+1+n], "."))
	if n < 31 || n > 34 || !hasDigit(src[at+1:at+1+n]) || !boundary(src, from) {
		return 0, 0
	}
	return from, at + 1 + n
}

var azureBody = classOf("azAZ09--__..~~")

func span(text []byte, c *class) int {
	for i, b := range text {
		if !c[b] {
			return i
		}
	}
	return len(text)
}

// spanBack returns how many bytes before src[at], at most most, are of class c.
func spanBack(src []byte, at int, c *class, most int) int {
	n := 0
	for n < min(at, most) && c[src[at-n-1]] {
		n++
	}
	return n
}
