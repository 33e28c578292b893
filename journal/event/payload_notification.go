package event

// NotificationSent: a channel of notify took a message for a person.
type NotificationSent struct {
	Channel  string `json:"channel"`  // its kind, and the host or the recipient
	Occasion string `json:"occasion"` // ended, question, waiting, budget or stuck
}

// NotificationFailed: a channel of notify did not take a message in all tries. The loop goes on.
type NotificationFailed struct {
	Channel  string `json:"channel"`
	Occasion string `json:"occasion"`
	Why      string `json:"why"` // one sentence for a person
}
