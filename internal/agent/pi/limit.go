package pi

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/jsonscan"
)

// limits reports whether a kind of error is one that waiting or a person mends.
func limits(kind string) bool {
	switch kind {
	case "rate", "overload", "quota", "auth", "network":
		return true
	}
	return false
}

// classify names the kind of an error that pi reports of a model or of a
// prompt. pi has no code for it: errorMessage is the HTTP status and the body of the
// answer ("429: {…}", in 0.74 "500 Internal server error"), or the words of the
// fetch that failed. The status decides where it can; words refine it. Never
// hand it anything but a field that pi calls an error.
func classify(message string) string {
	code, words := status(message), strings.ToLower(message)
	switch {
	case code == 402, contains(words, quotaWords):
		return "quota"
	case code == 401, code == 403:
		return "auth"
	case code == 429:
		return "rate"
	case code >= 500 && code <= 599:
		return "overload"
	case code != 0:
		return "other"
	case contains(words, authWords):
		return "auth"
	case contains(words, overloadWords):
		return "overload"
	case contains(words, rateWords):
		return "rate"
	case contains(words, networkWords):
		return "network"
	}
	return "other"
}

var (
	quotaWords = []string{
		"insufficient_quota", "quota exceeded", "exceeded your current quota", "credit balance",
		"billing", "usage limit", "usage_limit", "out of credits", "insufficient credits",
	}
	authWords = []string{
		"no api key", "invalid api key", "invalid x-api-key", "authentication_error", "authentication failed",
		"unauthorized", "permission_error", "not logged in", "no model selected", "/login",
	}
	overloadWords = []string{"overloaded", "internal server error", "service unavailable", "server_error", "bad gateway"}
	rateWords     = []string{"rate limit", "rate_limit", "ratelimit", "too many requests"}
	networkWords  = []string{
		"connection", "network", "fetch failed", "timed out", "timeout", "socket hang up", "terminated",
		"econnrefused", "econnreset", "enotfound", "etimedout", "eai_again", "ended without finish_reason",
	}
)

func contains(s string, words []string) bool {
	for _, word := range words {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// status returns the HTTP status that a message begins with, or 0.
func status(message string) int {
	if len(message) < 3 || len(message) > 3 && message[3] != ':' && message[3] != ' ' {
		return 0
	}
	n := 0
	for _, c := range message[:3] {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n < 400 || n > 599 {
		return 0
	}
	return n
}

// until returns the time at which the provider says that a limit ends, RFC 3339
// in UTC, or "". Only a body that states a moment counts: a span ("try again in
// 20s") has no beginning here, where no clock is read.
func until(message string) string {
	_, body, found := strings.Cut(message, "{")
	if !found || !jsonscan.Valid([]byte("{"+body)) {
		return ""
	}
	doc := []byte("{" + body)
	for _, path := range [][]string{{"resets_at"}, {"error", "resets_at"}, {"reset_at"}, {"error", "reset_at"}} {
		if at := number(jsonscan.Get(doc, path...)); at > 1e9 && at < 1e11 { // seconds, from 2001 on
			return time.Unix(at, 0).UTC().Format(time.RFC3339)
		}
	}
	return ""
}
