package journaltool

// Iterations returns which iterations a person means: 3, 2..4 or 5..; nil for an empty text.
func Iterations(s string) (func(n int) bool, error) {
	spans, err := parseIterations(s)
	if err != nil || s == "" {
		return nil, err
	}
	return spans.contains, nil
}
