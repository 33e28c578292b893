package planning

import "github.com/ralph-loop/ralph/internal/ground/units"

// Words that make an acceptance criterion one that a review cannot check.
var (
	// empty say nothing, whatever is beside them.
	empty = units.Pattern(`(?i)\b(?:works? (?:correctly|well|fine|properly|perfectly|nicely|(?:as )?(?:expected|intended|designed|it should))|functions? (?:correctly|properly|as expected)` +
		`|as (?:appropriate|needed|intended)|if (?:necessary|needed|possible)|where (?:appropriate|applicable)|and so on|TBD|to be (?:defined|decided))\b|[\s,]etc\b`)
	// sounding need a number or an example beside them.
	sounding = units.Pattern(`(?i)\b(?:correctly|properly|appropriately|reasonably|intuitively|efficiently|robustly|seamlessly|gracefully|nicely|quickly|as expected` +
		`|user[- ]friendly|easy to use|clean code|well[- ](?:tested|documented|structured|designed)|best practices` +
		`|(?:good|reasonable|high|acceptable) (?:performance|quality|speed|time|coverage|messages?|experience)` +
		`|(?:is|are|be|feels?|looks?|stays?|remains?) (?:\w+ )?(?:fast|quick|good|nice|beautiful|modern|clean|robust|scalable|responsive|performant|efficient|intuitive|appropriate|reasonable|correct))\b`)
	// definite is what a criterion can be checked by: a number, a name in code or in quotes.
	definite = units.Pattern("[0-9`\"“„«']")
)

// vague returns the words that make a criterion one that cannot be checked; empty if there are
// none.
func vague(criterion string) string {
	if words := empty().FindString(criterion); words != "" {
		return words
	}
	if definite().MatchString(criterion) {
		return ""
	}
	return sounding().FindString(criterion)
}
