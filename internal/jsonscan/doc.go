// Package jsonscan reads and writes the JSON lines that agents print and the journal keeps, without allocating and without building a tree.
//
// A line is checked once, where it comes in, and only looked into afterwards:
//
//	members, err := jsonscan.Index(line, members) // checks every byte, notes the top-level members
//	if err != nil {
//		return fmt.Errorf("agent line %d: %w", n, err)
//	}
//	for _, m := range members {
//		if jsonscan.EqualKey(m.Key, "message") {
//			tokens, _ := jsonscan.Int(jsonscan.Get(m.Value, "usage", "output_tokens"))
//			…
//		}
//	}
//
// # Two trust levels
//
// [Valid] and [Index] trust nothing. Everything else ([Object], [Array], [Get] and the scalar functions) takes a value that has passed one of
// them, and skips over what it does not need: a skipped string is searched for its closing quote and for nothing else. That is where
// the speed of replay comes from, and why an unchecked line must not go there. If one does, the answers mean nothing, but there
// is no panic, no endless loop and no read outside the slice.
//
// # Guarantees
//
//   - Valid and Index accept exactly RFC 8259: what [encoding/json.Valid] accepts, less strings whose bytes are not UTF-8. Escaped lone surrogates
//     (\ud800) are within that grammar and pass; they read as U+FFFD.
//   - Nesting is refused past [MaxDepth], the limit of encoding/json, and costs a stack frame per 64 levels.
//   - Nothing allocates, with two exceptions: growing the slice the caller handed in, and [Unquote], which returns a new string. Returned slices are parts of the input.
//   - Nothing is kept between calls; every function may be called from several goroutines at once. A cursor belongs to one.
//   - What [AppendString] writes decodes with encoding/json to the same text, in which each byte that is not UTF-8 has become U+FFFD.
//
// # Not here
//
// Decoding into Go values, numbers beyond int64, uint64 and float64, rewriting or indenting documents. Duplicate keys are legal and all of them are
// reported, in order; only [Get] chooses, and takes the first, where encoding/json takes the last.
package jsonscan
