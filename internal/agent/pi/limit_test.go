package pi

import (
	"testing"
)

func TestErrorsAreClassified(t *testing.T) {
	tests := []struct{ message, kind string }{
		{`401: {"message":"invalid api key","type":"authentication_error"}`, "auth"},
		{`403: {"error":{"message":"forbidden"}}`, "auth"},
		{`429: {"message":"Rate limit reached","type":"rate_limit_error"}`, "rate"},
		{`429: {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`, "quota"},
		{`402: {"error":"pay"}`, "quota"},
		{`400: {"error":{"message":"Your credit balance is too low"}}`, "quota"},
		{`400: {"error":{"message":"the word overloaded in a prompt that was refused, 429"}}`, "other"},
		{`529: {"message":"Overloaded","type":"overloaded_error"}`, "overload"},
		{`500 Internal server error`, "overload"},
		{`503`, "overload"},
		{`overloaded_error: try later`, "overload"},
		{`Connection error.`, "network"},
		{`connect ECONNREFUSED 127.0.0.1:1`, "network"},
		{`Request timed out.: This operation was aborted (20)`, "network"},
		{`terminated: Body Timeout Error`, "network"},
		{`Stream ended without finish_reason`, "network"},
		{`No API key found for anthropic.`, "auth"},
		{`Request was aborted`, "other"},
		{`4290 tokens`, "other"},
		{``, "other"},
	}
	for _, test := range tests {
		if got := classify(test.message); got != test.kind {
			t.Errorf("%q is %s, want %s", test.message, got, test.kind)
		}
	}
}
