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
	alnumDash  = classOf("azAZ09--")
	alnumScore = classOf("azAZ09__")
	token      = classOf("azAZ09--__")
	tokenDot   = classOf("azAZ09--__..")
	token68    = classOf("azAZ09--__..~~++//==") // RFC 9110, section 11.2
	base64Body = classOf("azAZ09++//==")
	hexDigit   = classOf("afAF09")
)

// How many bytes decide whether a token is one: looking only so far keeps a long row of prefixes (sk-ant-sk-ant-...) from being
// read again for each of them. The header of a JSON web token must end within its bound.
const (
	maxDecide    = 256
	maxJWTHeader = 1 << 10
)

// A shape is what a vendor's tokens look like: a prefix, at least min bytes out of body, then all that follows out of more.
// Prefix and body together are at least minRun bytes of class token, or the scan would not look there; but for what follows.
type shape struct {
	prefix string
	label  string
	body   *class
	min    int
	more   *class // nil: body
	test   func(body []byte) bool
}

const (
	labelBearer = "[masked:bearer-token]"
	labelPEM    = "[masked:private-key]"
	labelJWT    = "[masked:jwt]"
)

var shapes = []shape{
	{"sk-ant-", "[masked:anthropic-key]", token, 20, nil, hasDigit},
	{"sk-proj-", "[masked:openai-key]", token, 20, nil, hasDigit},
	{"sk-svcacct-", "[masked:openai-key]", token, 20, nil, hasDigit},
	{"sk-admin-", "[masked:openai-key]", token, 20, nil, hasDigit},
	{"sk-or-v1-", "[masked:openrouter-key]", alnum, 32, nil, hasDigit},
	{"sk-", "[masked:openai-key]", alnum, 20, token, notLower}, // older ones, and those of the many services that copy them
	{"sk_live_", "[masked:stripe-key]", alnum, 16, nil, nil},
	{"rk_live_", "[masked:stripe-key]", alnum, 16, nil, nil},
	{"ghp_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"gho_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"ghs_", "[masked:github-token]", alnum, 36, tokenDot, nil},
	{"ghu_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"ghr_", "[masked:github-token]", alnum, 36, alnumScore, nil},
	{"github_pat_", "[masked:github-token]", alnumScore, 36, nil, nil},
	{"glpat-", "[masked:gitlab-token]", token, 20, tokenDot, nil},
	{"AKIA", "[masked:aws-key-id]", upperAlnum, 16, nil, nil},
	{"ASIA", "[masked:aws-key-id]", upperAlnum, 16, nil, nil},
	{"AIza", "[masked:google-key]", token, 35, nil, nil},
	{"xoxa-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxb-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxp-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxr-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"xoxs-", "[masked:slack-token]", alnumDash, 15, nil, hasDigit},
	{"npm_", "[masked:npm-token]", alnum, 36, nil, nil},
	{"hf_", "[masked:huggingface-token]", alnum, 30, nil, nil},
	{"eyJ", labelJWT, token, 17, nil, nil}, // its two other parts: jwtRest
}

var (
	shapeLabels  = []string{labelBearer, labelPEM}
	shapesByByte [256][]*shape
	// prefixBytes has, for each of the first three bytes of a prefix, one bit per shape (by its index, modulo 32): a place where no
	// bit is left in all three begins no shape.
	prefixBytes [3][256]uint32
)

func init() {
	for i := range shapes {
		s := &shapes[i]
		shapesByByte[s.prefix[0]] = append(shapesByByte[s.prefix[0]], s)
		shapeLabels = append(shapeLabels, s.label)
		for k := range prefixBytes {
			prefixBytes[k][s.prefix[k]] |= 1 << (i % 32)
		}
	}
}

func hasDigit(body []byte) bool { return bytes.ContainsAny(body, "0123456789") }

func notLower(body []byte) bool {
	return bytes.ContainsFunc(body, func(r rune) bool { return upperAlnum[byte(r)] })
}

// startHits looks for shapes at the beginning of a run of token characters, and behind what such a run may begin with that
// belongs to the text before it.
func startHits(src []byte, start int, hits []hit) []hit {
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
		for n < min(len(rest), 3) && rest[n] >= '0' && rest[n] <= '9' {
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
	if at+2 >= len(src) || prefixBytes[0][src[at]]&prefixBytes[1][src[at+1]]&prefixBytes[2][src[at+2]] == 0 {
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
func (s *shape) match(text []byte) int {
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
	if s.label == labelJWT {
		return jwtRest(text, n)
	}
	n += span(text[n:], s.body)
	if s.more != nil {
		n += span(text[n:], s.more)
		n = len(bytes.TrimRight(text[:n], ".")) // a sentence's end
	}
	if s.body == upperAlnum && n < len(text) && alnum[text[n]] { // the middle of base64
		return 0
	}
	return n
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

// bearerToken returns the token after "Bearer ", src[at:]: at least 20 characters, not all of them lower-case letters.
func bearerToken(src []byte, at int) (from, to int) {
	for at < len(src) && src[at] == ' ' {
		at++
	}
	to = at
	for {
		to += span(src[to:], token68)
		if to+1 >= len(src) || src[to] != '\\' || src[to+1] != '/' {
			break
		}
		to += 2
	}
	to = at + len(bytes.TrimRight(src[at:to], "."))
	if to-at < 20 || !notLower(src[at:to]) {
		return at, at
	}
	return at, to
}

const (
	pemBegin = "-----BEGIN "
	pemDash  = "-----"
	pemMax   = 64 << 10 // bytes after the header in which its end is looked for
)

// pemBlock returns the private key whose header holds src[start:end], the words PRIVATE KEY. A key without its last line
// (cut off) ends with its last line of base64. Headers that nothing follows are prose.
func pemBlock(src []byte, start, end int) (from, to int) {
	from = bytes.LastIndex(src[max(0, start-40):start], []byte(pemBegin))
	if from < 0 {
		return 0, 0
	}
	from += max(0, start-40)
	if !pemLabel(src[from+len(pemBegin) : start]) {
		return 0, 0
	}
	body, ok := pemHeaderEnd(src, end)
	if !ok {
		return 0, 0
	}
	rest := src[body:min(len(src), body+pemMax)]
	if k := bytes.Index(rest, []byte(pemDash)); k >= 0 && bytes.HasPrefix(rest[k:], []byte("-----END ")) && hasBase64Line(rest[:k]) {
		if words := bytes.Index(rest[k:], []byte("PRIVATE KEY")); words > 0 && pemLabel(rest[k+len("-----END "):k+words]) {
			if stop, ok := pemHeaderEnd(src, body+k+words+len("PRIVATE KEY")); ok {
				return from, stop
			}
		}
	}
	if n := base64Lines(rest); n > 0 {
		return from, body + n
	}
	return 0, 0
}

func pemLabel(label []byte) bool {
	return len(label) <= 30 && !bytes.ContainsFunc(label, func(r rune) bool { return r != ' ' && (r > 127 || !upperAlnum[r]) })
}

// pemHeaderEnd returns where the dashes after PRIVATE KEY or PRIVATE KEY BLOCK end.
func pemHeaderEnd(src []byte, at int) (int, bool) {
	if bytes.HasPrefix(src[at:], []byte(" BLOCK")) {
		at += len(" BLOCK")
	}
	return at + len(pemDash), bytes.HasPrefix(src[at:], []byte(pemDash))
}

// hasBase64Line tells a key from two headers with words between them.
func hasBase64Line(text []byte) bool {
	for len(text) > 0 {
		n := span(text, base64Body)
		if n >= 24 {
			return true
		}
		text = text[min(n+1, len(text)):]
	}
	return false
}

// base64Lines returns how far lines of base64 reach, with their line ends written as such or as JSON escapes.
func base64Lines(text []byte) (end int) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			i++
		case c == '\\':
			for i < len(text) && text[i] == '\\' {
				i++
			}
			if n := escapeTail(text[i:]); n > 0 && text[i] != '"' && text[i] != '/' {
				i += n
			}
		default:
			n := span(text[i:], base64Body)
			if n < 16 {
				return end
			}
			i += n
			end = i
		}
	}
	return end
}
