package secret

import (
	"bytes"
	"encoding/base64"
)

// oddHits looks for the tokens that have no prefix, but a run of minRun token characters that begins at start.
func oddHits(src []byte, start int, hits []hit) []hit {
	run := src[start:]
	add := func(from, to int, label string) []hit {
		return append(hits, hit{start: from, end: to, label: label, rank: rankShape})
	}
	switch {
	case start > 8 && src[start-1] == ':' && len(run) > 2 && run[0] == 'A' && run[1] == 'A':
		id := spanBack(src, start-1, digits, 11)
		if n := span(run, token); id >= 8 && id <= 10 && n == 35 && boundary(src, start-1-id) {
			return add(start-1-id, start+n, "[masked:telegram-token]")
		}
	case len(run) > 1 && run[0] >= 'M' && run[0] <= 'O' && (run[1] == 'D' || run[1] == 'T' || run[1] == 'j' || run[1] == 'z'): // a digit, and a digit's half
		if n := discord(run); n > 0 && boundary(src, start) {
			return add(start, start+n, "[masked:discord-token]")
		}
	case start > 17 && src[start-1] == '.' && string(src[start-18:start-15]) == "pat":
		from := start - 18
		if n := span(run, lowerHex); n == 64 && spanBack(src, start-1, alnum, 14) == 14 && boundary(src, from) {
			return add(from, start+n, "[masked:airtable-token]")
		}
	case len(run) > 36 && run[32] == '-' && run[33] == 'u' && run[34] == 's':
		if end := 35 + span(run[35:min(len(run), 38)], digits); span(run, lowerHex) == 32 && end > 35 && end < 38 {
			return add(start, start+end, "[masked:mailchimp-key]")
		}
	}
	return hits
}

// discord returns the length of the bot's token at the beginning of text: its id, which is a number, in base64, a time and a signature.
func discord(text []byte) int {
	id := span(text[:min(len(text), 30)], alnum)
	if id < 24 || id > 28 || id == len(text) || text[id] != '.' {
		return 0
	}
	number := make([]byte, base64.RawStdEncoding.DecodedLen(id))
	n, err := base64.RawStdEncoding.Decode(number, text[:id])
	if err != nil || span(number[:n], digits) != n {
		return 0
	}
	rest := text[id+1:]
	at := span(rest, token)
	if at < 6 || at > 7 || at == len(rest) || rest[at] != '.' {
		return 0
	}
	if sum := span(rest[at+1:], token); sum >= 27 && sum <= 38 {
		return id + 1 + at + 1 + sum
	}
	return 0
}

// azureSecret returns the client secret of Azure whose tilde is src[at]: three characters, a digit, "Q~" and 31 to 34 more.
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
