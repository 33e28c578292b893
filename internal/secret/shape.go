package secret

import (
	"bytes"
	"strings"
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

// How many bytes decide whether a token is one: looking only so far keeps a long row of prefixes (sk-ant-sk-ant-...) from being
// read again for each of them. The header of a JSON web token must end within its bound.
const (
	maxDecide    = 256
	maxJWTHeader = 1 << 10
)

// A shape is what a vendor's tokens look like: a prefix, at least min bytes out of body, then all that follows out of more. The
// scan finds a shape by a run of minRun bytes of class token, so such a run begins where the prefix does or, in a prefix with
// a dot or a slash, after the last of these.
type shape struct {
	prefix string
	label  string
	body   *class
	min    int
	more   *class // nil: body. exactly: nothing, and no letter or digit follows
	test   func(body []byte) bool
}

// exactly is the shape.more of tokens of one length.
var exactly = &class{}

const (
	labelBearer = "[masked:bearer-token]"
	labelKey    = "[masked:private-key]"
	labelJWT    = "[masked:jwt]"
)

// shapes are facts about the formats that the vendors publish. Of two prefixes of which one begins the other, the longer stands first.
var shapes = []shape{
	{"sk-ant-", "[masked:anthropic-key]", token, 20, nil, hasDigit},
	{"sk-proj-", "[masked:openai-key]", token, 20, nil, hasDigit},
	{"sk-svcacct-", "[masked:openai-key]", token, 20, nil, hasDigit},
	{"sk-admin-", "[masked:openai-key]", token, 20, nil, hasDigit},
	{"sk-or-v1-", "[masked:openrouter-key]", alnum, 32, nil, hasDigit},
	{"sk-", "[masked:openai-key]", alnum, 20, token, notLower}, // older ones, and those of the many services that copy them
	{"sk_live_", "[masked:stripe-key]", alnum, 16, nil, nil},
	{"rk_live_", "[masked:stripe-key]", alnum, 16, nil, nil},
	{"sk_test_", "[masked:stripe-key]", alnum, 16, nil, hasDigit},
	{"rk_test_", "[masked:stripe-key]", alnum, 16, nil, hasDigit},
	{"whsec_", "[masked:webhook-secret]", alnum, 32, base64Body, hasDigit},
	{"ghp_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"gho_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"ghs_", "[masked:github-token]", alnum, 36, tokenDot, nil},
	{"ghu_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"ghr_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"github_pat_", "[masked:github-token]", alnumScore, 36, nil, nil},
	{"glpat-", "[masked:gitlab-token]", token, 20, tokenDot, nil},
	{"gldt-", "[masked:gitlab-token]", token, 20, tokenDot, hasDigit},
	{"glrt-", "[masked:gitlab-token]", token, 20, tokenDot, hasDigit},
	{"glptt-", "[masked:gitlab-token]", token, 20, tokenDot, hasDigit},
	{"glcbt-", "[masked:gitlab-token]", token, 20, tokenDot, hasDigit},
	{"glsoat-", "[masked:gitlab-token]", token, 20, tokenDot, hasDigit},
	{"glagent-", "[masked:gitlab-token]", token, 20, tokenDot, hasDigit},
	{"AKIA", "[masked:aws-key-id]", upperAlnum, 16, exactly, nil},
	{"ASIA", "[masked:aws-key-id]", upperAlnum, 16, exactly, nil},
	{"ABIA", "[masked:aws-key-id]", upperAlnum, 16, exactly, hasDigit},
	{"ACCA", "[masked:aws-key-id]", upperAlnum, 16, exactly, hasDigit},
	{"AIza", "[masked:google-key]", token, 35, nil, nil},
	{"GOCSPX-", "[masked:google-client-secret]", token, 28, nil, nil},
	{"ya29.", "[masked:google-access-token]", token, 40, tokenDot, hasDigit},
	{"1//0", "[masked:google-refresh-token]", token, 35, nil, hasDigit},
	{"xoxa-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxb-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxc-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxd-", "[masked:slack-token]", alnum, 20, token68, hasDigit},
	{"xoxe-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxe.xoxb-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxe.xoxp-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxo-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxp-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxr-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxs-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xapp-1-", "[masked:slack-token]", alnumDash, 30, nil, hasDigit},
	{"npm_", "[masked:npm-token]", alnum, 36, nil, nil},
	{"pypi-AgEIcHlwaS5vcmc", "[masked:pypi-token]", token, 50, nil, nil},
	{"pypi-AgENdGVzdC5weXBpLm9yZw", "[masked:pypi-token]", token, 50, nil, nil},
	{"rubygems_", "[masked:rubygems-key]", lowerHex, 48, exactly, nil},
	{"cio", "[masked:crates-io-token]", alnum, 32, exactly, allKinds},
	{"CLOJARS_", "[masked:clojars-token]", lowerAlnum, 60, exactly, nil},
	{"dckr_pat_", "[masked:docker-token]", token, 27, nil, nil},
	{"dckr_oat_", "[masked:docker-token]", token, 27, nil, nil},
	{"hf_", "[masked:huggingface-token]", alnum, 30, nil, notLower},
	{"api_org_", "[masked:huggingface-token]", alnum, 34, exactly, notLower},
	{"gsk_", "[masked:groq-key]", alnum, 52, exactly, notLower},
	{"xai-", "[masked:xai-key]", alnum, 70, nil, notLower},
	{"pplx-", "[masked:perplexity-key]", alnum, 40, nil, notLower},
	{"r8_", "[masked:replicate-token]", alnum, 37, exactly, notLower},
	{"nvapi-", "[masked:nvidia-key]", token, 60, nil, hasDigit},
	{"tvly-", "[masked:tavily-key]", token, 32, nil, hasDigit},
	{"lsv2_pt_", "[masked:langsmith-key]", alnumScore, 40, nil, hasDigit},
	{"lsv2_sk_", "[masked:langsmith-key]", alnumScore, 40, nil, hasDigit},
	{"SG.", "[masked:sendgrid-key]", tokenDot, 60, nil, hasDigit},
	{"xkeysib-", "[masked:brevo-key]", lowerHex, 64, token, nil},
	{"hvs.", "[masked:vault-token]", token, 24, nil, hasDigit},
	{"hvb.", "[masked:vault-token]", token, 24, nil, hasDigit},
	{"hvr.", "[masked:vault-token]", token, 24, nil, hasDigit},
	{"dop_v1_", "[masked:digitalocean-token]", lowerHex, 64, exactly, nil},
	{"doo_v1_", "[masked:digitalocean-token]", lowerHex, 64, exactly, nil},
	{"dor_v1_", "[masked:digitalocean-token]", lowerHex, 64, exactly, nil},
	{"SK", "[masked:twilio-key]", lowerHex, 32, exactly, hasDigit},
	{"AGE-SECRET-KEY-1", "[masked:age-key]", upperAlnum, 58, exactly, nil},
	{"AGE-SECRET-KEY-PQ-1", "[masked:age-key]", upperAlnum, 58, nil, nil},
	{"shpat_", "[masked:shopify-token]", hexDigit, 32, exactly, nil},
	{"shpca_", "[masked:shopify-token]", hexDigit, 32, exactly, nil},
	{"shppa_", "[masked:shopify-token]", hexDigit, 32, exactly, nil},
	{"shpss_", "[masked:shopify-token]", hexDigit, 32, exactly, nil},
	{"sq0atp-", "[masked:square-token]", token, 22, nil, nil},
	{"sq0csp-", "[masked:square-token]", token, 43, nil, nil},
	{"EZAK", "[masked:easypost-key]", alnum, 54, exactly, notLower},
	{"glsa_", "[masked:grafana-token]", alnum, 32, alnumScore, hasDigit},
	{"glc_eyJ", "[masked:grafana-token]", alnum, 30, base64Body, hasDigit},
	{"lin_api_", "[masked:linear-key]", alnum, 40, exactly, nil},
	{"lin_oauth_", "[masked:linear-key]", alnum, 40, nil, nil},
	{"ntn_", "[masked:notion-token]", alnum, 40, nil, hasDigit},
	{"ATATT3", "[masked:atlassian-token]", tokenEqual, 100, nil, nil},
	{"ATCTT3", "[masked:atlassian-token]", tokenEqual, 100, nil, nil},
	{"ATBB", "[masked:bitbucket-token]", alnum, 32, exactly, allKinds},
	{"PMAK-", "[masked:postman-key]", hexDash, 59, nil, nil},
	{"pul-", "[masked:pulumi-token]", lowerHex, 40, exactly, nil},
	{"pscale_tkn_", "[masked:planetscale-token]", token, 32, tokenDot, nil},
	{"pscale_pw_", "[masked:planetscale-token]", token, 32, tokenDot, nil},
	{"pscale_oauth_", "[masked:planetscale-token]", token, 32, tokenDot, nil},
	{"dp.pt.", "[masked:doppler-token]", alnum, 40, nil, hasDigit},
	{"dp.sa.", "[masked:doppler-token]", alnum, 40, nil, hasDigit},
	{"dp.ct.", "[masked:doppler-token]", alnum, 40, nil, hasDigit},
	{"dapi", "[masked:databricks-token]", lowerHex, 32, alnumDash, hasDigit},
	{"dt0c01.", "[masked:dynatrace-token]", tokenDot, 80, nil, nil},
	{"dt0s16.", "[masked:dynatrace-token]", tokenDot, 80, nil, nil},
	{"NRAK-", "[masked:newrelic-key]", upperAlnum, 27, exactly, hasDigit},
	{"sntrys_eyJ", "[masked:sentry-token]", alnum, 30, base64Token, nil},
	{"sntryu_", "[masked:sentry-token]", lowerHex, 64, exactly, nil},
	{"HRKU-AA", "[masked:heroku-key]", token, 58, nil, nil},
	{"fo1_", "[masked:fly-token]", token, 43, nil, hasDigit},
	{"fm2_", "[masked:fly-token]", alnum, 60, base64Body, hasDigit},
	{"sbp_", "[masked:supabase-key]", lowerHex, 40, exactly, nil},
	{"sb_secret_", "[masked:supabase-key]", token, 25, nil, hasDigit},
	{"pnu_", "[masked:prefect-key]", alnum, 36, exactly, hasDigit},
	{"ops_eyJ", "[masked:1password-token]", alnum, 60, base64Token, nil},
	{"tskey-auth-", "[masked:tailscale-key]", alnumDash, 20, nil, hasDigit},
	{"tskey-api-", "[masked:tailscale-key]", alnumDash, 20, nil, hasDigit},
	{"tskey-client-", "[masked:tailscale-key]", alnumDash, 20, nil, hasDigit},
	{"AKCp", "[masked:artifactory-key]", alnum, 69, exactly, notLower},
	{"LTAI", "[masked:alibaba-key-id]", alnum, 20, exactly, allKinds},
	{"figd_", "[masked:figma-token]", token, 38, nil, hasDigit},
	{"pat-na1-", "[masked:hubspot-token]", hexDash, 36, exactly, nil},
	{"pat-eu1-", "[masked:hubspot-token]", hexDash, 36, exactly, nil},
	{"tfp_", "[masked:typeform-token]", token, 40, tokenDot, hasDigit},
	{"sgp_", "[masked:sourcegraph-token]", alnumScore, 40, nil, hasDigit},
	{"sha256~", "[masked:openshift-token]", token, 43, exactly, notLower},
	{"ico-", "[masked:infracost-key]", alnum, 32, exactly, allKinds},
	{"aio_", "[masked:adafruit-key]", alnum, 28, exactly, allKinds},
	{"bkua_", "[masked:buildkite-token]", lowerHex, 40, exactly, nil},
	{"phx_", "[masked:posthog-key]", alnum, 40, nil, hasDigit},
	{"shippo_live_", "[masked:shippo-key]", lowerHex, 40, exactly, nil},
	{"eyJ", labelJWT, token, 17, nil, nil}, // its two other parts: jwtRest
}

var base64Token = classOf("azAZ09--__++//==")

var (
	shapeLabels  = []string{labelBearer, labelKey, labelURL}
	shapesByByte [256][]ledShape
	// shapeStarts has the first three bytes of the prefixes that are token characters to that extent, leads the three bytes before the
	// run in the others.
	shapeStarts, leads filter
	ledShapes          []ledShape
)

// A ledShape is a shape and how many bytes of its prefix stand before the run of token characters.
type ledShape struct {
	*shape
	lead int
}

func init() {
	for i := range shapes {
		s := ledShape{&shapes[i], strings.LastIndexAny(shapes[i].prefix, "./~") + 1}
		shapeLabels = append(shapeLabels, s.label)
		if s.lead > 0 {
			ledShapes = append(ledShapes, s)
			leads.add(gram3([]byte(s.prefix), s.lead-3))
			continue
		}
		shapesByByte[s.prefix[0]] = append(shapesByByte[s.prefix[0]], s)
		if len(s.prefix) > 2 {
			shapeStarts.add(gram3([]byte(s.prefix), 0))
			continue
		}
		for b, in := range s.body {
			if in {
				shapeStarts.add(gram3([]byte{s.prefix[0], s.prefix[1], byte(b)}, 0))
			}
		}
	}
}

func gram3(text []byte, at int) uint32 {
	return uint32(text[at]) | uint32(text[at+1])<<8 | uint32(text[at+2])<<16
}

func hasDigit(body []byte) bool { return bytes.ContainsAny(body, "0123456789") }

func notLower(body []byte) bool {
	return bytes.ContainsFunc(body, func(r rune) bool { return upperAlnum[byte(r)] })
}

// allKinds reports whether body has digits, capital and small letters, as random text has and names rarely have.
func allKinds(body []byte) bool {
	var lower, upper, digit bool
	for _, c := range body {
		lower, upper, digit = lower || c >= 'a' && c <= 'z', upper || isUpper(c), digit || digits[c]
	}
	return lower && upper && digit
}

// startHits looks for shapes at the beginning of a run of token characters, and behind what such a run may begin with that
// belongs to the text before it.
func startHits(src []byte, start int, hits []hit) []hit {
	hits = oddHits(src, start, hits)
	if start >= 3 && leads.has(gram3(src, start-3)) {
		for _, s := range ledShapes {
			from := start - s.lead
			if from >= 0 && string(src[from:start]) == s.prefix[:s.lead] && boundary(src, from) {
				if n := s.match(src[from:]); n > 0 {
					return append(hits, hit{start: from, end: from + n, label: s.label, rank: rankShape})
				}
			}
		}
	}
	tail := prefixTail(src, start)
	if tail > 0 {
		hits = shapeHits(src, start+tail, hits)
		if src[start-1] == '\\' { // the letter is the escape's, whatever it would spell with the rest
			return hits
		}
	}
	return shapeHits(src, start, hits)
}

// prefixTail returns how many token characters from src[start] on are the end of something that begins before: a JSON escape
// (\n, \u003d, at any depth of nesting), a percent escape (%3D), a terminal's colour sequence (ESC [ 32 m).
func prefixTail(src []byte, start int) int {
	if start == 0 {
		return 0
	}
	rest := src[start:]
	switch src[start-1] {
	case '\\':
		return escapeTail(rest)
	case '%':
		if len(rest) >= 2 && hexDigit[rest[0]] && hexDigit[rest[1]] {
			return 2
		}
	case '[', ';':
		n := 0
		for n < min(len(rest), 3) && digits[rest[n]] {
			n++
		}
		if n < len(rest) && rest[n] == 'm' {
			return n + 1
		}
	}
	return 0
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

// escapeTail returns how many bytes of rest, which follows a backslash, belong to its JSON escape; 0 when it is none.
func escapeTail(rest []byte) int {
	switch {
	case len(rest) == 0:
		return 0
	case strings.IndexByte(`bfnrt"/`, rest[0]) >= 0:
		return 1
	case len(rest) >= 5 && rest[0] == 'u' && hexDigit[rest[1]] && hexDigit[rest[2]] && hexDigit[rest[3]] && hexDigit[rest[4]]:
		return 5
	}
	return 0
}

// shapeHits appends a hit when a token begins exactly at src[at:].
func shapeHits(src []byte, at int, hits []hit) []hit {
	if at+2 >= len(src) || !shapeStarts.has(gram3(src, at)) {
		return hits
	}
	for _, s := range shapesByByte[src[at]] {
		if n := s.match(src[at:]); n > 0 {
			return append(hits, hit{start: at, end: at + n, label: s.label, rank: rankShape})
		}
	}
	return hits
}

// match returns the length of the token that text begins with, 0 for none.
func (s ledShape) match(text []byte) int {
	if len(text) < len(s.prefix) || string(text[:len(s.prefix)]) != s.prefix {
		return 0
	}
	most := maxDecide
	if s.label == labelJWT {
		most = maxJWTHeader
	}
	n := len(s.prefix) + span(text[len(s.prefix):min(len(text), most)], s.body)
	body := text[len(s.prefix):n]
	if len(body) < s.min || s.test != nil && !s.test(body) {
		return 0
	}
	if run := text[s.lead:min(len(text), most)]; span(run[:min(len(run), minRun)], token) < minRun {
		return 0 // where the scan would find it by chance only
	}
	if s.label == labelJWT {
		return jwtRest(text, n)
	}
	if s.more == exactly {
		if len(body) != s.min || n < len(text) && alnum[text[n]] {
			return 0
		}
		return n
	}
	n += span(text[n:], s.body)
	if s.more != nil {
		n += span(text[n:], s.more)
	}
	return len(bytes.TrimRight(text[:n], ".")) // without a sentence's end
}

// jwtRest returns where a JSON web token ends whose header is text[:n], 0 when it is none. The signature may be missing: it
// may be cut off.
func jwtRest(text []byte, n int) int {
	payload := text[n:]
	if !bytes.HasPrefix(payload, []byte(".eyJ")) {
		return 0
	}
	p := 1 + span(payload[1:], token)
	if p < 8 {
		return 0
	}
	if p < len(payload) && payload[p] == '.' {
		if signature := span(payload[p+1:], token); signature > 0 {
			p += 1 + signature
		}
	}
	return n + p
}

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
