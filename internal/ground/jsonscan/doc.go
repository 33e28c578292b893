// Package jsonscan reads and writes the JSON lines that agents print and the journal keeps, without
// allocating and without building a tree.
//
// A line is checked once, where it comes in. Its values are found without reading it again:
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
// # Checked and unchecked bytes
//
// A [Document] and [Valid] take any bytes. [Object], [Get] and the scalar functions take bytes that
// have passed one of them, such as those of a journal, and skip what they do not need: a skipped
// string is searched for its closing quote and for nothing else. For unchecked bytes their answers
// mean nothing, but there is no panic, no endless loop and no read outside of the slice.
//
// # Guarantees
//
//   - Valid and Document.Read accept exactly RFC 8259: what [encoding/json.Valid] accepts, less
//     strings whose bytes are not UTF-8. Escaped lone surrogates (\ud800) are within that grammar and
//     pass; they read as U+FFFD. A Document also has a bound of some four million values.
//   - Nesting is refused past [MaxDepth], the limit of encoding/json.
//   - Nothing allocates, with three exceptions: growing the slice of the caller; [Unquote] and
//     Value.Text, which return a new string; and the nodes of a Document, twenty bytes for each
//     value, whose memory serves all lines. Returned slices are parts of the input.
//   - Every function may be called from several goroutines at once. A cursor and a Document with
//     its values belong to one.
//   - What [AppendString] writes decodes with encoding/json to the same text, in which each byte
//     that is not UTF-8 has become U+FFFD.
//
// # Not here
//
// Decoding into Go values, numbers beyond int64, uint64 and float64, rewriting or indenting
// documents. Duplicate keys are legal and all of them are reported, in order; only [Get] and
// Value.Get choose, and take the first, where encoding/json takes the last.
package jsonscan
