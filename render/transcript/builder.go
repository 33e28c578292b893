package transcript

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Options say what a transcript contains. The zero value is for a loop whose beginning is read.
type Options struct {
	Project  string         // the loop's project: paths in it are shown relative to it
	Maximum  int            // the limit of iterations, where the beginning is not read
	Verbose  bool           // also an entry of kind detail for each other event
	Location *time.Location // of times of day in notes; nil is the system's
}

// Builder makes entries of events. It belongs to one goroutine.
type Builder struct {
	opt  Options
	news phrase.News

	changed []*item // since the last Take
	scratch []byte
	cleaned []byte
	newest  *item // the entry that began last

	blocks     map[string]*item // blocks of words that are open
	calls      map[string]*call // tools that run
	guardrails map[string]*item // those that run
	messages   map[string]*item // those that are queued
	questions  map[int]*question
	claim      *item        // of this iteration, without a verdict
	newerNote  *item        // about events of this iteration that a newer ralph wrote
	newer      render.Newer // these events
	waiting    *item
	paused     *item

	name      string // of the loop
	project   string
	worker    string // the agent of the next iteration, if the loop has several
	first     string // the preferred one
	story     string // what the next iteration does with a story
	title     string // of that story
	stories   string // what the stories came to so far
	iteration int    // that runs; 0 between two
	refunded  int    // of the iterations so far
	turn      int    // of the iteration; from 1
	answered  bool   // a tool returned, and the model has not answered yet
}

// item is an entry that may still change.
type item struct {
	Entry

	touched bool
	words   *words  // of words and thinking
	calls   []*call // of tools
}

// What is remembered of one kind; the oldest are forgotten when there are more.
const (
	blocksKept    = 64
	callsKept     = 1024
	messagesKept  = 512
	questionsKept = 128
)

// New returns a builder.
func New(o Options) *Builder {
	if o.Location == nil {
		o.Location = time.Local
	}
	return &Builder{
		opt: o, project: o.Project,
		blocks: map[string]*item{}, calls: map[string]*call{}, guardrails: map[string]*item{}, messages: map[string]*item{},
		questions: map[int]*question{},
	}
}

// Resume sets what came before the first event. v is of the same loop and of the event before.
func (b *Builder) Resume(v projector.View) {
	b.name, b.project, b.opt.Maximum, b.refunded = render.Clean(v.Name), v.Project, v.MaximumIterations, v.Refunded
	b.prefer(v.Agents)
	b.news.Resume(v.Ticked, v.Boxes)
	if b.first != "" {
		b.worker = v.Agent
	}
	if v.Open {
		b.iteration = v.Iteration
	}
	for _, c := range v.Commands {
		b.remember(c.ID, &item{Entry: Entry{Body: messageOf(c.CommandReceived)}})
	}
	for _, q := range v.Questions {
		asked := event.QuestionAsked{Number: q.Number, Text: q.Text, Choices: q.Choices, Blocks: q.Blocks}
		b.rememberQuestion(q.Number, &item{Entry: Entry{Body: questionOf(asked)}})
	}
}

// Add takes in the next event. A payload that cannot be read becomes a note that says so.
func (b *Builder) Add(e event.Event) {
	if e.Type == event.TypeAgentUsed || e.Type == event.TypeSegmentOpened || e.Type == event.TypeSegmentSealed {
		return
	}
	p, err := event.Decode(e)
	if err != nil {
		b.begin(e, Note{word(e.Type), phrase.ToneWarning, render.Clean("event " + e.Seq.String() + " " + string(e.Type) + ": " + err.Error())})
		return
	}
	if p == nil && !b.opt.Verbose {
		b.ofNewer(e)
		return
	}
	shown := b.ofAgent(e, p) || b.ofPeople(e, p) || b.ofVerification(e, p) || b.ofLoop(e, p)
	if shown {
		return
	}
	said := b.news.Of(p, phrase.Known{At: e.At, Day: e.At, Location: b.opt.Location, Verbose: b.opt.Verbose})
	switch {
	case said.Tone != phrase.ToneQuiet && said.Text != "":
		b.begin(e, Note{word(e.Type), said.Tone, clean(said.String())})
	case b.opt.Verbose:
		b.begin(e, Detail{word(e.Type), render.Fields(e)})
	}
}

// ofNewer takes in an event of a type that this version does not know. An iteration has one note
// about all of them: a newer ralph may write many.
func (b *Builder) ofNewer(e event.Event) {
	if b.newerNote == nil || b.newerNote.Iteration != e.Iter {
		b.newer = render.Newer{}
		b.newerNote = b.begin(e, nil)
	}
	b.newer.Add(e.Type)
	b.newerNote.Body = Note{word(e.Type), phrase.ToneWarning, b.newer.String()}
	b.touch(b.newerNote, e)
}

// Take returns the entries that began or changed since the last call, in the order in which they
// began.
func (b *Builder) Take() []Entry {
	entries := make([]Entry, 0, len(b.changed))
	b.TakeEach(func(e Entry) { entries = append(entries, e) })
	return entries
}

// TakeEach is Take for a reader that takes after each event.
func (b *Builder) TakeEach(show func(Entry)) {
	if len(b.changed) > 1 {
		slices.SortStableFunc(b.changed, func(x, y *item) int { return int(int64(x.Seq) - int64(y.Seq)) })
	}
	for _, it := range b.changed {
		it.touched = false
		show(it.snapshot())
	}
	b.changed = b.changed[:0]
}

// snapshot returns the entry as it is now, without anything that the builder still changes.
func (it *item) snapshot() Entry {
	e := it.Entry
	switch {
	case it.words != nil:
		said := Words{Text: it.words.text.String(), Done: it.words.done}
		if e.Body = said; it.words.thinking {
			e.Body = Thinking(said)
		}
	case it.calls != nil:
		tools := Tools{Calls: make([]Call, len(it.calls))}
		for i, c := range it.calls {
			tools.Calls[i] = c.snapshot()
		}
		e.Body = tools
	}
	return e
}

// begin adds an entry.
func (b *Builder) begin(e event.Event, body Body) *item {
	it := &item{Entry: Entry{Seq: e.Seq, At: e.At, Iteration: e.Iter, Body: body}}
	b.newest = it
	return b.touch(it, e)
}

// touch notes that an event changed an entry.
func (b *Builder) touch(it *item, e event.Event) *item {
	it.Last, it.Changed = e.Seq, e.At
	if it.Seq == 0 { // it began before the first event of this builder
		it.Seq, it.At, it.Iteration = e.Seq, e.At, e.Iter
		b.newest = it
	}
	if !it.touched {
		it.touched = true
		b.changed = append(b.changed, it)
	}
	return it
}

// word returns a word of a closed list, clean: a journal from elsewhere may have any text there.
func word[T ~string](value T) T { return T(render.Clean(string(value))) }

// clean returns a foreign text of several lines, cleaned.
func clean(text string) string { return string(render.CleanText(text)) }
