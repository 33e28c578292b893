package fault

import "github.com/ralph-loop/ralph/journal/event"

// examples are faults as agents were seen to report them, or as they or their providers document
// them: of each agent the names, then the words.
var examples = func() (all []example) {
	for _, e := range []struct {
		agent Agent
		kind  event.FaultKind
		names []string
		words []string
	}{
		{Claude, event.KindRefusal, []string{"refusal"}, nil},
		{Claude, event.KindQuota, []string{"billing_error"}, nil},
		{Claude, event.KindAuth, []string{
			"authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error",
		}, nil},
		{Claude, event.KindRate, []string{"usage_limit_reached", "rate_limit"}, nil},
		{Claude, event.KindOverload, []string{"overloaded"}, nil},
		{Claude, event.KindNetwork, []string{"connection_failed", "server_error", "unknown"}, nil},
		{Claude, event.KindContext, []string{"prompt_too_long", "blocking_limit", "rapid_refill_breaker"}, nil},
		{ACP, event.KindOverload, nil, []string{"Info: Request failed due to a transient API error. Retrying..."}},
		{ACP, event.KindNetwork, nil, []string{"Info: Response was interrupted due to a server error. Retrying..."}},

		{Variant, event.KindQuota, nil, []string{
			"Insufficient credit to run this thread", "You are out of credits", "Your balance is too low", "The quota of the workspace is used up",
		}},
		{Variant, event.KindAuth, nil, []string{
			"unexpected status 401", "Unauthorized", "Your API key was revoked", "Please log in first", "Run the login command first",
			"You are not authenticated",
		}},
		{Variant, event.KindContext, nil, []string{"the context window is full", "the maximum context length is 200000", "prompt is too long: 5 tokens"}},
		{Variant, event.KindRate, nil, []string{"API error 429", "rate limit reached", "Too many requests, slow down"}},
		{Variant, event.KindOverload, nil, []string{
			"API error 500", "API error 502", "API error 503", "API error 529", "The model is overloaded", "Internal Server Error",
		}},
		{Variant, event.KindNetwork, nil, []string{
			"couldn't connect to the server", "fetch failed", "connect ECONNREFUSED 127.0.0.1:1", "read ECONNRESET", "the request timed out",
			"a network problem",
		}},

		{Text, event.KindRate, nil, []string{
			"You've hit your limit · resets 1am (Europe/Oslo)", "Error: quota used up, try again in 2 hours",
		}},
		{Text, event.KindQuota, nil, []string{"Your quota is used up."}},
		{Text, "", nil, []string{"3 tests failed"}},

		{Codex, event.KindRefusal, []string{"cyberPolicy", "misalignmentPolicyViolation"}, []string{
			"Incomplete response returned, reason: content_filter",
			"This request has been flagged for possible cybersecurity risk.", "This content was flagged for possible biological risk.",
			"This request was blocked due to a misalignment policy violation.",
			"Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt",
		}},
		{Codex, event.KindQuota, []string{"usageLimitExceeded"}, []string{
			"You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits.",
			"Quota exceeded. Check your plan and billing details.",
		}},
		{Codex, event.KindAuth, []string{"unauthorized"}, []string{"Missing environment variable: `SCRIPTED_KEY`."}},
		{Codex, event.KindContext, []string{"contextWindowExceeded"}, []string{"Codex ran out of room in the model's context window. Start a new thread."}},
		{Codex, event.KindRate, []string{"rateLimitExceeded"}, []string{
			"rate limit exceeded: slow down", "You’ve hit your usage limit. Try again at 6:04 AM.",
		}},
		{Codex, event.KindOverload, []string{"serverOverloaded", "internalServerError", "flexUnavailable", "policyCapacityUnavailable"}, []string{
			"We’re currently experiencing high demand, which may cause temporary errors.",
			"Selected model is at capacity. Please try a different model.",
		}},
		{Codex, event.KindNetwork, []string{
			"httpConnectionFailed", "responseStreamConnectionFailed", "responseStreamDisconnected", "responseTooManyFailedAttempts",
		}, []string{"Connection failed: error sending request", "waiting for network"}},

		{Pi, event.KindRefusal, []string{
			"refusal", "sensitive", "content_filter", "SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "content_filtered", "guardrail_intervened",
			"invalid_prompt",
		}, []string{"incomplete: content_filter"}},
		{Pi, event.KindQuota, []string{
			"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active", "GoUsageLimitError", "FreeUsageLimitError",
		}, []string{
			"Your credit balance is too low to access the Anthropic API.", "You exceeded your current quota, please check your plan",
			"Monthly usage limit reached", "Insufficient credits. Add more using https://openrouter.ai/settings/credits",
		}},
		{Pi, event.KindAuth, []string{
			"authentication_error", "permission_error", "invalid_api_key", "UNAUTHENTICATED", "PERMISSION_DENIED", "token_expired",
		}, []string{
			"No API key found for anthropic.", "Invalid API key provided", "invalid x-api-key", "Authentication failed for openai",
			"authentication_error: invalid x-api-key", "Unauthorized", "Not logged in to anthropic", "No model selected.", "OAuth token refresh failed",
		}},
		{Pi, event.KindContext, []string{"context_length_exceeded", "request_too_large", "model_context_window_exceeded"}, []string{
			"prompt is too long: 213423 tokens > 200000 maximum", "Prompt too long", "Input is too long for requested model.",
			"Your input exceeds the context window of this model.", "This model's maximum context length is 8192 tokens",
			"This endpoint's maximum context length is 8192 tokens", "The input token count (2000000) exceeds the maximum",
			"Input token count exceeds 1048576", "the request exceeds the available context size", "Please reduce the length of the messages or completion.",
		}},
		{Pi, event.KindRate, []string{"rate_limit_error", "rate_limit_exceeded", "usage_limit_reached", "RESOURCE_EXHAUSTED", "too_many_requests"}, []string{
			"You have hit your ChatGPT usage limit (plus plan).", "Rate limit reached", "rate_limit: slow down", "Too Many Requests",
			"Throttling error: too many tokens per day",
		}},
		{Pi, event.KindOverload, []string{"overloaded_error", "server_error", "api_error", "UNAVAILABLE", "INTERNAL", "server_is_overloaded"}, []string{
			"Overloaded", "Internal server error", "Service unavailable", "server_error while streaming", "Server error", "Bad Gateway",
		}},
		{Pi, event.KindNetwork, []string{"timeout_error", "DEADLINE_EXCEEDED"}, []string{
			"Connection error.", "network error", "fetch failed", "Request timed out.", "timeout of 5000 ms", "timed out", "Socket closed",
			"terminated: Body Timeout Error", "other side closed", "Stream ended without finish_reason", "Anthropic stream ended before message_stop",
			"WebSocket closed", "upstream connect error or disconnect", "getaddrinfo failed", "HTTP2 request did not get a response",
			"The socket connection was closed unexpectedly.", "connect ECONNREFUSED 127.0.0.1:1", "read ECONNRESET", "host ENOTFOUND", "read ETIMEDOUT",
			"lookup EAI_AGAIN", "write EPIPE", "UND_ERR_SOCKET",
		}},

		{ACP, event.KindRefusal, []string{"cyberPolicy", "misalignmentPolicyViolation"}, []string{
			"stream disconnected before completion: Incomplete response returned, reason: content_filter",
		}},
		{ACP, event.KindQuota, []string{"usageLimitExceeded"}, []string{
			"insufficient_quota: no", "You exceeded your current quota", "Your credit balance is too low", "Insufficient credits", "check the billing page",
			"You have hit your usage limit", "Quota exceeded", "You are out of credits", "402 Insufficient Balance",
			"You have exhausted your daily quota on this model.",
		}},
		{ACP, event.KindAuth, []string{"ProviderAuthError", "unauthorized"}, []string{
			"Authentication required", "Authentication failed with provider", "authentication_error: no", "Unauthorized", "UNAUTHENTICATED: fake",
			"Invalid API key", "invalid_api_key: no", "invalid x-api-key", "Incorrect API key provided", "API key not valid", "API key is missing",
			"API key expired", "there is no API key", "Not logged in", "Please log in", "PERMISSION_DENIED: no", "the token expired",
		}},
		{ACP, event.KindContext, []string{"contextWindowExceeded"}, []string{
			"context_length_exceeded: 200001 tokens", "the maximum context length is 8192", "Prompt is too long", "Input is too long", "the context window is full",
		}},
		{ACP, event.KindRate, []string{"rateLimitExceeded"}, []string{"Rate limit reached", "rate_limit: no", "Too Many Requests", "RESOURCE_EXHAUSTED: slow"}},
		{ACP, event.KindOverload, []string{"serverOverloaded", "internalServerError", "flexUnavailable", "policyCapacityUnavailable"}, []string{
			"overloaded_error: busy", "Internal server error", "Service Unavailable", "Bad Gateway", "Gateway Timeout", "server_error: no",
		}},
		{ACP, event.KindNetwork, []string{
			"httpConnectionFailed", "responseStreamConnectionFailed", "responseStreamDisconnected", "responseTooManyFailedAttempts",
		}, []string{
			"fetch failed", "connect ECONNREFUSED", "read ECONNRESET", "host ENOTFOUND", "read ETIMEDOUT", "EAI_AGAIN", "socket hang up", "Network error",
			"Connection error.", "the request timed out", "Unable to connect.", "Cannot connect to API", "Connection closed", "The socket connection was closed",
			"no body from connection", "error sending request for url", "Internal error: terminated", "terminated",
		}},
	} {
		for _, name := range e.names {
			all = append(all, example{e.agent, named(name), e.kind})
		}
		for _, said := range e.words {
			all = append(all, example{e.agent, words(said), e.kind})
		}
	}
	return all
}()
