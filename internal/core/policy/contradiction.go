package policy

import (
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// An agent may write its promise and, in the same message, that it does not hold: "not met: 3 tests
// fail", or "I am not outputting" before it. Such a claim is refused with that sentence. Only
// English is read, and a sentence that may mean something else contradicts nothing: each wrong
// refusal costs an iteration.

const (
	aPromise = `\b((completion|the) (promise|marker|tag)|complet(e|ed|ion))\b`
	saying   = `\b(say|output|emit|print|respond|giv|claim|declar|promis|signal|writ)\w*\b`
	unmet    = `(met|done|complete|completed|finished|fulfilled|satisfied)`
	failing  = `(fail|fails|failing|broken|red)`
)

// denials say that the agent does not promise, or could not do it. MARKER is a marker in a
// sentence, which is in lower case otherwise.
var denials = []func() *regexp.Regexp{
	units.Pattern(`\b(i|we)\b[^,:;]{0,25}\b(not|cannot|can't|won't|don't|didn't|never|unable to|refus\w*|withhold\w*|hold\w*)\b.{0,40}` +
		saying + `.{0,40}` + aPromise),
	units.Pattern(`^\W*(not|cannot|can't|won't|refusing to|unable to) ` + saying + `.{0,40}` + aPromise),
	units.Pattern(`\b(not|cannot|can't|won't|don't|never|until|before)\b.{0,30}` + saying +
		`(\W|\b(with|the|my|a|completion|promise|marker|tag|yet|now)\b)*MARKER`),
	units.Pattern(`\b(once|when|after|until|as soon as|if)\b.*\b(i'll|i will|i shall|i can|i'm going to|we'll|we will)\b.{0,20}` +
		saying + `.{0,30}(MARKER|` + aPromise + `)`),
	units.Pattern(`\bnot( yet)?\W*MARKER|MARKER\W*\b(not yet|is not|would be|does not hold|once|when|if|as soon as|until)\b`),
	units.Pattern(`\b(i|we) (could not|couldn't|cannot|can't|was unable to|am unable to|were unable to|are unable to|failed to|have yet to|still need to|still have to)( yet)? (complete|finish|fix|implement|solve|resolve|get|meet)\b`),
}

// shortfalls say that something is not done.
var shortfalls = []func() *regexp.Regexp{
	units.Pattern(`^(\W|\b(status|result|promise|goal|task|(acceptance )?criteria|requirements?)\b)*\bnot (yet )?` + unmet + `\b`),
	units.Pattern(`(^\W*(it|this|everything|all of it)|\b(task|work|goal|job|implementation|feature|migration|story|criteri\w+|requirements?|conditions?))\b.{0,20}(\b(is|are|has|have)|n't)( still)?( not)?( yet)?( been)?( fully)? (not (yet )?` + unmet + `|incomplete|unfinished|unmet|unfulfilled|(only )?partially ` + unmet + `)\b`),
	units.Pattern(`(^\W*(it|this|everything|all of it)|\b(task|work|goal|job|implementation|feature|migration|story|criteri\w+|requirements?|conditions?))\b.{0,20}\b(isn't|aren't|(has|have)(n't| not) been|(is|are) not)( yet| fully| all| entirely)* ` + unmet + `\b`),
	units.Pattern(`\b(i|we) (have not|haven't)( yet| fully)* (finished|completed)\b`),
	units.Pattern(`\b(i|we) ran out of (time|context|tokens|budget)\b`),
	units.Pattern(`\bnot all\b.{0,60}\b(` + unmet + `|pass|passes|passing|passed|green)\b`),
	units.Pattern(`\b[1-9]\d*( of \d+)?( \w+){0,2} (tests?|specs?|checks?|criteria|requirements?|tasks?|items?|steps?|stories|boxes)( is| are)?( still| currently)? (` + failing + `|remain|remains|remaining|open|left|missing|unmet|incomplete|to do|todo)\b`),
	units.Pattern(`\b[1-9]\d* (test failures?\b|(failed|failing)\W*($|[,)\]]|in \d|MARKER))`),
	units.Pattern(`\btests?( \S+)?( is| are)?( still| currently)? ` + failing + `\b`),
	units.Pattern(`\b(test suite|suite|build|lint|linter|compilation|type ?check|ci|guardrails?)( \S+)? (is|are|still|currently)( still)? ` + failing + `\b`),
	units.Pattern(`\b(tests?|suite|build|code)( \S+)? (do not|does not|don't|doesn't)( yet)? (pass|compile|build)\b`),
	units.Pattern(`\bstill (to do|to be done|` + failing +
		`|missing|unmet|incomplete|outstanding|not (work|works|working|pass|passing|fixed|implemented|` + unmet + `))\b`),
	units.Pattern(`^\W*(remaining|still open|still to do|to do|todo|outstanding|unmet|incomplete|unfinished|failing|missing)( \w+){0,2}\W*:\W*\w`),
}

// What gives a sentence about a shortfall another sense: a word before it (nothing fails, or only
// under a condition), within it (tests that fail, tests were failing), or anywhere (it is fixed, or
// not about the task).
var (
	excusedBefore = units.Pattern(`\b(no|none|nothing|zero|0|neither|longer|never|before|previously|originally|initially|earlier|used to|if|when|whenever|whether|unless|in case|handles?|ensures?|makes?|lets?|so)\b`)
	excusedWithin = units.Pattern(`\b(that|which|where|would|should|to|was|were|had|could|might|longer|never|(do|does|did|don't|doesn't|didn't|can't|cannot)( not)? ` + failing + `)\b`)
	excused       = units.Pattern(`\b(none|nothing|n/a|without|fixed|fixes|resolved|now (pass|passes|passing|green)|pre-?existing|unrelated|out of scope|expected|by design|intentional\w*|on purpose)\b`)
)

// markers are promises and responses, whatever they say.
var markers = units.Pattern(`(?i)<\s*(promise|response)\s*>[^<\n]{0,200}<\s*/\s*(promise|response)\s*>`)

// Contradiction returns the sentence of an agent's final message that contradicts a claim in it;
// empty if there is none.
func Contradiction(message string) string {
	var text Tail
	text.Append([]byte(message))
	return contradiction(text.outsideCode())
}

// contradiction returns the sentence of a message that contradicts the claim in it; empty if there
// is none. lines are those outside code.
func contradiction(lines []string) string {
	for _, sentence := range sentences(lines) {
		parts := markers().Split(sentence, -1)
		for i, part := range parts {
			parts[i] = strings.ToLower(strings.NewReplacer("*", "", "`", "", "_", " ", "’", "'").Replace(part))
		}
		plain := strings.Join(parts, "MARKER")
		for _, denial := range denials {
			if denial().MatchString(plain) {
				return firstBytes(sentence, 200)
			}
		}
		if excused().MatchString(plain) {
			continue
		}
		for _, shortfall := range shortfalls {
			at := shortfall().FindStringIndex(plain)
			if at != nil && !excusedBefore().MatchString(plain[:at[0]]) && !excusedWithin().MatchString(plain[at[0]:at[1]]) {
				return firstBytes(sentence, 200)
			}
		}
	}
	return ""
}

// sentences splits lines of Markdown into sentences. A line that ends with a colon continues on the
// next that is not blank, and one without an end on a marker right after it. Quotations are left
// out.
func sentences(lines []string) (all []string) {
	ends := units.Pattern(`[.!?;](\s|$)`)()
	head, open := "", false
	for _, line := range lines {
		line = strings.TrimSpace(pastItems(strings.TrimSpace(line)))
		if line == "" || strings.HasPrefix(line, ">") {
			open = false
			continue
		}
		if at := markers().FindStringIndex(line); open && at != nil && at[0] == 0 {
			last := len(all) - 1
			head, all = all[last], all[:last]
		}
		line, head = strings.TrimSpace(head+" "+line), ""
		for at := ends.FindStringIndex(line); at != nil; at = ends.FindStringIndex(line) {
			all, line = append(all, strings.TrimSpace(line[:at[1]])), line[at[1]:]
		}
		line = strings.TrimSpace(line)
		if open = false; strings.HasSuffix(strings.Trim(line, "*_ "), ":") {
			head = line
		} else if line != "" {
			all, open = append(all, line), true
		}
	}
	return append(all, head)
}
