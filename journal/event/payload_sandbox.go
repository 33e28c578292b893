package event

// SandboxOpened: the agents of this runner work in a sandbox, or settings that ask for the
// strongest one found none.
type SandboxOpened struct {
	Mode    string   `json:"mode"`            // of the setting sandbox.mode; none if no sandbox holds here
	Network string   `json:"network"`         // open, listed or closed
	Hosts   []string `json:"hosts,omitempty"` // that are listed
	Why     string   `json:"why,omitempty"`   // why there is none: one sentence for a person
}

// SandboxCorrected: ralph set aside what an agent had left for a program outside of its sandbox, or
// took over a login that the agent refreshed, or did not.
type SandboxCorrected struct {
	Did []string `json:"did"` // each the end of a sentence that begins with "ralph"
}
