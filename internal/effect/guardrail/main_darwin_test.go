package guardrail

func adopt() error { return nil } // not on this system
