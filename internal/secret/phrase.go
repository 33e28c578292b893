package secret

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// A phrase is a secret that is known by the words before it. All of the phrase but the words themselves stands in one word
// (wordBody), which is what Stream relies on; the words reach back at most phraseReach bytes.
type phrase struct {
	label string
	// words are what the scan looks for: at least six bytes each, and after one of only six comes one of afterShort.
	words []string
	// find returns what is to be masked beside a word, src[start:end]; from == to where that is nothing.
	find func(src []byte, start, end int) (from, to int)
}

const (
	phraseReach = 320
	maxGap      = 16 // bytes between a word and its value
	labelURL    = "[masked:url-password]"
)

var phrases = []phrase{
	{labelBearer, cased("Bearer "), bearerToken},
	{"[masked:basic-auth]", []string{" Basic ", "\"Basic ", "'Basic ", ":Basic ", "=Basic ", " basic ", "\"basic ", ":basic "}, basicAuth},
	{"[masked:api-key]", []string{"x-api-key", "X-Api-Key", "X-API-Key", "X-API-KEY", "x-goog-api-key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key"}, assigned(token68, 20, 200, hasDigit)},
	{"[masked:access-token]", []string{"private-token", "Private-Token", "PRIVATE-TOKEN", "x-vault-token", "X-Vault-Token", "x-auth-token", "X-Auth-Token"}, assigned(token68, 20, 400, hasDigit)},
	{"[masked:aws-secret-key]", []string{"ecret_access_key", "ecretAccessKey", "ECRET_ACCESS_KEY"}, assigned(base64Body, 40, 40, allKinds)},
	{"[masked:aws-session-token]", []string{"aws_session_token", "AWS_SESSION_TOKEN", "ionToken"}, assigned(base64Body, 100, 4000, allKinds)},
	{"[masked:azure-storage-key]", []string{"AccountKey=", "accountkey=", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"}, assigned(base64Body, 86, 88, allKinds)},
	{"[masked:azure-access-key]", []string{"SharedAccessKey=", "sharedaccesskey="}, assigned(base64Body, 42, 44, allKinds)},
	{"[masked:azure-sas]", []string{"?sv=201", "?sv=202", "&sv=201", "&sv=202", "6sv=201", "6sv=202", "=sv=202", "SharedAccessSignature"}, sharedSignature},
	{"[masked:twilio-token]", []string{"TWILIO_AUTH_TOKEN", "twilio_auth_token", "twilioAuthToken"}, assigned(lowerHex, 32, 32, hasDigit)},
	{"[masked:slack-webhook]", []string{"hooks.slack"}, assigned(hostPath, 40, 160, allKinds)},
	{"[masked:discord-webhook]", []string{"webhooks/"}, assigned(pathBody, 80, 120, allKinds)},
	{"[masked:teams-webhook]", []string{"webhookb2/"}, assigned(teamsBody, 80, 300, hasDigit)},
	{"[masked:terraform-token]", []string{".atlasv1."}, terraformToken},
	{"[masked:netrc-password]", []string{"password"}, netrcPassword},
	{"[masked:pgpass-password]", []string{":5432:", "*:*:*:", "localhost:*:*:"}, pgPassword},
	{"[masked:password]", []string{"PGPASSWORD=", "MYSQL_PWD=", "REDISCLI_AUTH=", "SSHPASS="}, passwordVariable},
	{labelKey, []string{keyName, keyLines}, privateKey},
}

var (
	pathBody  = classOf("azAZ09--__//")
	hostPath  = classOf("azAZ09--__//..")
	teamsBody = classOf("azAZ09--__//@@")
	// wordBody are the characters that a secret consists of, but for known values and private keys: ASCII without blanks, quotes and brackets.
	wordBody = classOf("!!#&**++--..//09::==??@Z\\\\^^__az~~")
	// passwordBody are those of a password in a URL, .netrc or .pgpass. A dollar sign or percent sign with a brace is a variable's.
	passwordBody = wordBody
	sasBody      = classOf("azAZ09--__..~~++//==%%&&??::\\\\")
)

func cased(word string) []string {
	return []string{word, strings.ToLower(word), strings.ToUpper(word)}
}

// gap returns where a value begins after its name at src[at:]: behind blanks, quotes (with backslashes before them), one of ":", "=", "=>" .
func gap(src []byte, at int) int {
	end := min(len(src), at+maxGap)
	for at < end && strings.IndexByte(" \t\"'`\\:=>", src[at]) >= 0 {
		at++
	}
	return at
}

// assigned finds a value of least to most bytes of class c that a name is given.
func assigned(c *class, least, most int, test func([]byte) bool) func(src []byte, start, end int) (from, to int) {
	return func(src []byte, _, end int) (from, to int) {
		from = gap(src, end)
		n := span(src[from:min(len(src), from+most+1)], c)
		value := bytes.TrimRight(src[from:from+n], ".")
		if n > most || len(value) < least || !test(value) {
			return 0, 0
		}
		return from, from + len(value)
	}
}

// bearerToken finds the token after "Bearer ": at least 20 characters, not all of them lower-case letters.
func bearerToken(src []byte, start, at int) (from, to int) {
	if !boundary(src, start) {
		return 0, 0
	}
	for most := at + maxGap; at < min(len(src), most) && src[at] == ' '; {
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
		return 0, 0
	}
	return at, to
}

// basicAuth finds user:password in base64 after "Basic ".
func basicAuth(src []byte, _, at int) (from, to int) {
	n := span(src[at:min(len(src), at+1024)], base64Body)
	code := bytes.TrimRight(src[at:at+n], "=")
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(code)))
	m, err := base64.RawStdEncoding.Decode(plain, code)
	plain = plain[:m]
	user, pass, ok := bytes.Cut(plain, []byte(":"))
	control := func(r rune) bool { return r < ' ' }
	if err != nil || !ok || len(user)+len(pass) < 4 || placeholder(strings.ToLower(string(pass))) || !utf8.Valid(plain) || bytes.ContainsFunc(plain, control) {
		return 0, 0
	}
	return at, at + n
}

// urlPassword finds the password of scheme://user:password@host whose at sign is src[at].
func urlPassword(src []byte, at int) (from, to int) {
	first := max(0, at-256)
	begin := at
	for begin > first && passwordBody[src[begin-1]] {
		begin--
	}
	slash := bytes.LastIndexByte(src[begin:at], '/')
	if slash < 0 {
		return 0, 0
	}
	from = begin + slash + 1
	scheme := from
	for scheme > begin && (src[scheme-1] == '/' || src[scheme-1] == '\\') { // they may be escaped
		scheme--
	}
	if bytes.Count(src[scheme:from], []byte("/")) != 2 || scheme == begin || src[scheme-1] != ':' {
		return 0, 0
	}
	colon := bytes.IndexByte(src[from:at], ':')
	if colon < 0 {
		return 0, 0
	}
	user, pass := src[from:from+colon], src[from+colon+1:at]
	if bytes.ContainsAny(user, "?#") || bytes.ContainsAny(pass, "?#\\") || !password(string(user), string(pass)) {
		return 0, 0
	}
	return from + colon + 1, at
}

// password tells a password from what stands for one in documents, and from variables.
func password(user, pass string) bool {
	if len(pass) < 6 || pass == user || strings.ContainsAny(pass, "$%*") && !strings.ContainsAny(pass, "0123456789") ||
		strings.HasPrefix(pass, "$") || strings.HasPrefix(pass, "%") && !percent(pass) || strings.Trim(pass, pass[:1]) == "" {
		return false
	}
	lower := strings.ToLower(pass)
	if commonValue(lower) || isNumber(pass) {
		return false
	}
	for _, word := range [...]string{"pass", "pwd", "secret", "token", "example", "changeme", "redacted", "your", "masked"} {
		// With a digit, or a character between two words, it may be somebody's own.
		if strings.Contains(lower, word) && !hasDigit([]byte(pass)) {
			return false
		}
	}
	return !placeholder(lower)
}

func percent(s string) bool { return len(s) > 2 && hexDigit[s[1]] && hexDigit[s[2]] }

// placeholder reports the values that documents use, with a number behind them or not.
func placeholder(lower string) bool {
	switch strings.TrimRight(lower, "0123456789") {
	case "pass", "password", "passwd", "pwd", "secret", "token", "user", "admin", "root", "test", "foobar", "foo", "bar", "guest", "mypass",
		"mypassword", "postgres", "mysql", "mongo", "redis", "rabbitmq", "p@ssword", "xxx", "abc", "opensesame", "open sesame", "string", "text":
		return true
	}
	return false
}

// sharedSignature finds the signature of a shared access signature around src[start:end], which is one of its other parts.
func sharedSignature(src []byte, start, end int) (from, to int) {
	const reach = 300
	if end < len(src) && src[end] == ' ' { // SharedAccessSignature sr=...
		end++
		start = end
	}
	from = start - spanBack(src, start, sasBody, reach)
	to = end + span(src[end:min(len(src), end+reach)], sasBody)
	sig := bytes.LastIndex(src[from:to], []byte("sig="))
	if sig < 0 || sig > 0 && alnum[src[from+sig-1]] && src[from+sig-1] != '6' { // \u0026sig=
		return 0, 0
	}
	from += sig + len("sig=")
	n := span(src[from:min(len(src), from+100)], sasValue)
	if n < 40 || !allKinds(src[from:from+n]) {
		return 0, 0
	}
	return from, from + n
}

var sasValue = classOf("azAZ09++//==%%")

// terraformToken finds what stands on both sides of ".atlasv1.".
func terraformToken(src []byte, start, end int) (from, to int) {
	before, n := spanBack(src, start, alnum, 15), span(src[end:min(len(src), end+200)], token)
	if before != 14 || n < 60 {
		return 0, 0
	}
	return start - before, end + n
}

// blank returns how many bytes of text are white space, also spelled as JSON escapes, at most maxGap.
func blank(text []byte) int {
	n := 0
	for n < min(len(text), maxGap) {
		switch c := text[n]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			n++
		case c == '\\' && n+1 < len(text) && strings.IndexByte(`ntr\`, text[n+1]) >= 0:
			n++
			if text[n] != '\\' {
				n++
			}
		default:
			return n
		}
	}
	return n
}

// netrcPassword finds the password of a .netrc entry: machine NAME login NAME password PASSWORD.
func netrcPassword(src []byte, start, end int) (from, to int) {
	n := blank(src[end:])
	if n == 0 {
		return 0, 0
	}
	from = end + n
	before := src[max(0, start-200):start]
	login := bytes.LastIndex(before, []byte("login"))
	if login < 0 || blank(before[login+len("login"):]) == 0 {
		return 0, 0
	}
	name := before[login+len("login")+blank(before[login+len("login"):]):]
	name = name[min(len(name), span(name, netrcName)):]
	if blank(name) != len(name) || len(name) == 0 { // one name and nothing else between the two words
		return 0, 0
	}
	if !bytes.Contains(before[:login], []byte("machine")) && !bytes.Contains(before[:login], []byte("default")) {
		return 0, 0
	}
	to = from + span(src[from:min(len(src), from+200)], netrcValue)
	to = from + len(bytes.TrimRight(src[from:to], "."))
	if to-from < 4 || !password("", string(src[from:to])+"0") || placeholder(strings.ToLower(string(src[from:to]))) {
		return 0, 0
	}
	return from, to
}

var (
	netrcName  = classOf("!!#&**++--..//09::==??@Z^^__az~~")
	netrcValue = netrcName // no backslash: it begins the escape of what follows
)

// pgPassword finds the password of a line of .pgpass, host:port:database:user:password, of which src[start:end] holds the port.
func pgPassword(src []byte, start, end int) (from, to int) {
	first := start - spanBack(src, start, pgHost, 100)
	last := end + span(src[end:min(len(src), end+300)], netrcValue)
	line := src[first:last]
	var colons []int
	for i, c := range line {
		if c == ':' && (i == 0 || line[i-1] != '\\') {
			colons = append(colons, i)
		}
	}
	if len(colons) != 4 || colons[0] == 0 {
		return 0, 0
	}
	port := string(line[colons[0]+1 : colons[1]])
	user, pass := string(line[colons[2]+1:colons[3]]), string(line[colons[3]+1:])
	if port != "*" && (!isNumber(port) || len(port) > 5) || colons[2]-colons[1] < 2 || user == "" || strings.ContainsAny(pass, "/") && strings.ContainsAny(user, "/") ||
		len(pass) < 4 || placeholder(strings.ToLower(pass)) || strings.HasPrefix(pass, "$") || pass == user {
		return 0, 0
	}
	return first + colons[3] + 1, last
}

var pgHost = classOf("azAZ09--..__**:://")

// passwordVariable finds the value of an environment variable that is a password's alone.
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
