package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A keyword is text that has a secret of some kind beside it. The secret itself is one word
// (wordBody), which Stream relies on; what decides about it is within keywordReach bytes.
type keyword struct {
	label string
	words []string // of at least seven bytes
	// find returns the secret beside a word, src[start:end]; from == to if there is none.
	find func(src []byte, start, end int) (from, to int)
}

const (
	keywordReach = 320
	maxGap       = 16 // bytes between a word and its value
	labelURL     = "[masked:url-password]"
)

var keywords = []keyword{
	{labelBearer, cased("Bearer "), bearerToken},
	{"[masked:basic-auth]", []string{" Basic ", "\"Basic ", "'Basic ", ":Basic ", "=Basic ", " basic ", "\"basic ", ":basic "}, basicAuth},
	{"[masked:api-key]", []string{"x-api-key", "X-Api-Key", "X-API-Key", "X-API-KEY", "x-goog-api-key",
		"X-Goog-Api-Key", "Ocp-Apim-Subscription-Key"}, assigned(token68, 20, 200, hasDigit)},
	{"[masked:access-token]", []string{"private-token", "Private-Token", "PRIVATE-TOKEN", "x-vault-token",
		"X-Vault-Token", "x-auth-token", "X-Auth-Token"}, assigned(token68, 20, 400, hasDigit)},
	{"[masked:aws-secret-key]", []string{"ecret_access_key", "ecretAccessKey", "ECRET_ACCESS_KEY"}, assigned(base64Body, 40, 40, allKinds)},
	{"[masked:aws-session-token]", []string{"aws_session_token", "AWS_SESSION_TOKEN", "ionToken"}, assigned(base64Body, 100, 4000, allKinds)},
	{"[masked:azure-storage-key]", []string{"AccountKey=", "accountkey=", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"},
		assigned(base64Body, 86, 88, allKinds)},
	{"[masked:azure-access-key]", []string{"SharedAccessKey=", "sharedaccesskey="}, assigned(base64Body, 42, 44, allKinds)},
	{"[masked:azure-sas]", []string{"?sv=201", "?sv=202", "&sv=201", "&sv=202", "6sv=201", "6sv=202", "=sv=202", "SharedAccessSignature"}, sharedSignature},
	{"[masked:twilio-token]", []string{"TWILIO_AUTH_TOKEN", "twilio_auth_token", "twilioAuthToken"}, assigned(lowerHex, 32, 32, hasDigit)},
	{"[masked:slack-webhook]", []string{"hooks.slack"}, assigned(hostPath, 40, 160, allKinds)},
	{"[masked:discord-webhook]", []string{"webhooks/"}, assigned(pathBody, 80, 120, allKinds)},
	{"[masked:teams-webhook]", []string{"webhookb2/"}, assigned(teamsBody, 80, 300, hasDigit)},
	{"[masked:netrc-password]", []string{"password"}, netrcPassword},
	{"[masked:pgpass-password]", append(begin(databaseName, ":5432:", "*:*:*:"), "localhost:*:*:"), pgPassword},
	{"[masked:password]", []string{"PGPASSWORD=", "MYSQL_PWD=", "REDISCLI_AUTH=", "SSHPASS="}, passwordVariable},
	{labelKey, []string{keyBegin, keyLines}, privateKey},
}

var (
	pathBody  = classOf("azAZ09--__//")
	hostPath  = classOf("azAZ09--__//..")
	teamsBody = classOf("azAZ09--__//@@")
	// wordBody are the characters of all secrets but known values and private keys: ASCII without
	// blanks, quotes and brackets.
	wordBody = classOf("!!#&**++--..//09::==??@Z\\\\^^__az~~")
	sasBody  = classOf("azAZ09--__..~~++//==%%&&??::\\\\")
)

var databaseName = classOf("az__**")

// begin returns each word with each character of a class after it.
func begin(c *class, words ...string) (all []string) {
	for _, word := range words {
		for b := range 128 {
			if c[b] {
				all = append(all, word+string(rune(b)))
			}
		}
	}
	return all
}

func cased(word string) []string {
	return []string{word, strings.ToLower(word), strings.ToUpper(word)}
}

// between matches what separates a name from its value; quotes may have backslashes before them.
var between = classOf("  \t\t\"\"''``\\\\::=>")

// assigned finds a value of least to most bytes of class c that is assigned to a name.
func assigned(c *class, least, most int, test func([]byte) bool) func(src []byte, start, end int) (from, to int) {
	return func(src []byte, _, end int) (from, to int) {
		from = end + span(src[end:min(len(src), end+maxGap)], between)
		n := span(src[from:min(len(src), from+most+1)], c)
		value := bytes.TrimRight(src[from:from+n], ".")
		if n > most || len(value) < least || !test(value) {
			return 0, 0
		}
		return from, from + len(value)
	}
}

var bearer = units.Pattern(`^ {0,16}((?:[\w.~+/=-]|\\/)*)`)

// bearerToken finds the token after "Bearer ": at least 20 characters, not all of them lower-case
// letters.
func bearerToken(src []byte, start, end int) (from, to int) {
	if !boundary(src, start) {
		return 0, 0
	}
	found := bearer().FindSubmatchIndex(src[end:])
	from = end + found[2]
	value := bytes.TrimRight(src[from:end+found[3]], ".")
	if len(value) < 20 || !notLower(value) {
		return 0, 0
	}
	return from, from + len(value)
}

// basicAuth finds user:password in base64 after "Basic ".
func basicAuth(src []byte, _, at int) (from, to int) {
	n := span(src[at:min(len(src), at+1024)], base64Body)
	code := bytes.TrimRight(src[at:at+n], "=")
	plain, err := base64.RawStdEncoding.DecodeString(string(code))
	user, pass, ok := bytes.Cut(plain, []byte(":"))
	control := func(r rune) bool { return r < ' ' }
	if err != nil || !ok || len(user)+len(pass) < 4 || placeholder(strings.ToLower(string(pass))) || !utf8.Valid(plain) || bytes.ContainsFunc(plain, control) {
		return 0, 0
	}
	return at, at + n
}

// urlLogin is scheme://user:password, where the slashes may be escaped.
var urlLogin = units.Pattern(`:\\*/\\*/([^/:?#]*):([^/?#\\]*)$`)

// urlPassword finds the password of scheme://user:password@host whose at sign is src[at].
func urlPassword(src []byte, at int) (from, to int) {
	begin := at - spanBack(src, at, wordBody, 256)
	if bytes.IndexByte(src[begin:at], '/') < 0 { // an e-mail address
		return 0, 0
	}
	found := urlLogin().FindSubmatchIndex(src[begin:at])
	if found == nil || !password(string(src[begin+found[2]:begin+found[3]]), string(src[begin+found[4]:at])) {
		return 0, 0
	}
	return begin + found[4], at
}

// password reports whether pass is a password, and no variable or placeholder of documents.
func password(user, pass string) bool {
	if len(pass) < 6 || pass == user || strings.ContainsAny(pass, "$%*") && !strings.ContainsAny(pass, "0123456789") ||
		strings.HasPrefix(pass, "$") || strings.HasPrefix(pass, "%") && !percent(pass) || strings.Trim(pass, pass[:1]) == "" {
		return false
	}
	lower := strings.ToLower(pass)
	if commonValues.has(lower) || isNumber(pass) {
		return false
	}
	for _, word := range [...]string{"pass", "pwd", "secret", "token", "example", "changeme", "redacted", "your", "masked"} {
		// with a digit it may be a real one
		if strings.Contains(lower, word) && !hasDigit([]byte(pass)) {
			return false
		}
	}
	return !placeholder(lower)
}

func percent(s string) bool { return len(s) > 2 && hexDigit[s[1]] && hexDigit[s[2]] }

// placeholders are values in documents, which may end with a number.
const placeholders wordSet = "|pass|password|passwd|pwd|secret|token|user|admin|root|test|foobar|foo|bar|guest|mypass|" +
	"mypassword|postgres|mysql|mongo|redis|rabbitmq|p@ssword|xxx|abc|opensesame|open sesame|string|text|"

func placeholder(lower string) bool { return placeholders.has(strings.TrimRight(lower, "0123456789")) }

// sharedSignature finds the signature of a shared access signature around src[start:end], another
// part of it.
func sharedSignature(src []byte, start, end int) (from, to int) {
	const reach = 300
	if end < len(src) && src[end] == ' ' { // SharedAccessSignature sr=...
		end++
		start = end
	}
	from = start - spanBack(src, start, sasBody, reach)
	to = end + span(src[end:min(len(src), end+reach)], sasBody)
	found := signature().FindSubmatchIndex(src[from:min(len(src), to+100)])
	if found == nil || from+found[2] > to || !allKinds(src[from+found[2]:from+found[3]]) {
		return 0, 0
	}
	return from + found[2], from + found[3]
}

var signature = units.Pattern(`(?:^|[^0-57-9A-Za-z])sig=([0-9A-Za-z+/=%]{40,100})`) // also \u0026sig=

var netrcValue = classOf("!!#&**++--..//09::==??@Z^^__az~~") // no backslash: it begins an escape

const netrcBlank = `(?:[ \t\n\r]|\\+[ntr]){1,16}` // also as JSON escapes

var (
	netrcGap   = units.Pattern(`^` + netrcBlank)
	netrcLogin = units.Pattern(`(?s)(?:machine|default).*login` + netrcBlank + `[!#-&*+\-./\w:=?@^~]+` + netrcBlank + `$`)
)

// netrcPassword finds the password of a .netrc entry: machine NAME login NAME password PASSWORD.
func netrcPassword(src []byte, start, end int) (from, to int) {
	from = end + len(netrcGap().Find(src[end:min(len(src), end+2*maxGap)]))
	if from == end || !netrcLogin().Match(src[max(0, start-200):start]) {
		return 0, 0
	}
	value := bytes.TrimRight(src[from:from+span(src[from:min(len(src), from+200)], netrcValue)], ".")
	if len(value) < 4 || !password("", string(value)+"0") || placeholder(strings.ToLower(string(value))) {
		return 0, 0
	}
	return from, from + len(value)
}

// pgPassword finds the password of a line of .pgpass, host:port:database:user:password, whose port
// is in src[start:end].
func pgPassword(src []byte, start, end int) (from, to int) {
	first := start - spanBack(src, start, pgHost, 100)
	to = end + span(src[end:min(len(src), end+300)], netrcValue)
	fields := strings.Split(string(src[first:to]), ":")
	if len(fields) != 5 || slices.Contains(fields[:4], "") {
		return 0, 0
	}
	port, user, pass := fields[1], fields[3], fields[4]
	if port != "*" && (!isNumber(port) || len(port) > 5) || strings.Contains(pass, "/") && strings.Contains(user, "/") ||
		len(pass) < 4 || placeholder(strings.ToLower(pass)) || strings.HasPrefix(pass, "$") || pass == user {
		return 0, 0
	}
	return to - len(pass), to
}

var pgHost = classOf("azAZ09--..__**:://")

// passwordVariable finds the value of an environment variable for passwords.
func passwordVariable(src []byte, _, end int) (from, to int) {
	from = end
	for from < min(len(src), end+3) && strings.IndexByte(`"'\`, src[from]) >= 0 {
		from++
	}
	to = from + span(src[from:min(len(src), from+200)], netrcValue)
	if to-from < 4 || !password("", string(src[from:to])) {
		return 0, 0
	}
	return from, to
}
