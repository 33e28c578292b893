// Package jsonscan reads and writes the JSON lines that agents print and the journal keeps, without allocating and without building a tree.
//
// A line is checked once, where it comes in, and what is looked for in it is found without reading it again:
//
//	var line jsonscan.Document // is used again for the next line
//	value, err := line.Read(bytes)
//	if err != nil {
//		return fmt.Errorf("agent line %d: %w", n, err)
//	}
//	tokens, _ := value.Get("message", "usage", "output_tokens").Int()
//	for part := range value.Get("message", "content").Items() {
//		…
//	}
//
// # Two ways in
//
// A [Document] and [Valid] trust nothing. [Object], [Array], [Get] and the scalar functions take bytes that have passed one of
// them, such as those of a journal, and skip over what they do not need: a skipped string is searched for its closing quote and for nothing else. That is where
// the speed of replay comes from, and why an unchecked line must not go there. If one does, the answers mean nothing, but there
// is no panic, no endless loop and no read outside the slice.
//
// Of bytes that nobody has checked a Document is the way, also where little of them is wanted: noting where the values lie adds a twentieth to the time of checking them.
//
// # Guarantees
//
//   - Valid and Document.Read accept exactly RFC 8259: what [encoding/json.Valid] accepts, less strings whose bytes are not UTF-8. Escaped lone surrogates
//     (\ud800) are within that grammar and pass; they read as U+FFFD. A Document has a bound of its own: some four million values.
//   - Nesting is refused past [MaxDepth], the limit of encoding/json, and costs a stack frame per 64 levels.
//   - Nothing allocates, with three exceptions: growing the slice the caller handed in, [Unquote] and Value.Text, which return a new string, and a Document's notes, twenty bytes
//     for each value of a line, whose memory serves all lines. Returned slices are parts of the input.
//   - Every function may be called from several goroutines at once. A cursor and a Document with its values belong to one.
//   - What [AppendString] writes decodes with encoding/json to the same text, in which each byte that is not UTF-8 has become U+FFFD.
//
// # Not here
//
// Decoding into Go values, numbers beyond int64, uint64 and float64, rewriting or indenting documents. Duplicate keys are legal and all of them are
// reported, in order; only [Get] and Value.Get choose, and take the first, where encoding/json takes the last.
package jsonscan
