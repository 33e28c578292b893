package runner

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/notify"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

const (
	// notifyTries is how often a message is sent to a channel that does not take it.
	notifyTries = 5
	// notifyHeld is how many messages may wait for a channel; more are not sent, because a person
	// who gets so many reads none.
	notifyHeld = 16
)

// notifyPause is the time before the second try; before each further one it is twice as long.
var notifyPause = 2 * time.Second

// notifyEnd is how long the end of a loop waits for its channels.
var notifyEnd = 20 * time.Second

// notifier sends messages to the channels of the settings, each beside the loop, which never waits
// for them. A message that was due when the runner died is not sent by the next one, which reports
// what holds then.
type notifier struct {
	runner   *runner
	channels []chan notify.Message
	running  sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc

	listening sync.WaitGroup
	listen    context.Context // ends with the loop
	deafen    context.CancelFunc
	mu        sync.Mutex
	awaited   map[int][]context.CancelFunc // listeners for an answer, by the question's number
}

// startNotifier returns nil if no channel is set.
func (r *runner) startNotifier() *notifier {
	if len(r.Settings.Notify) == 0 {
		return nil
	}
	n := &notifier{runner: r}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.listen, n.deafen = context.WithCancel(context.Background())
	n.awaited = map[int][]context.CancelFunc{}
	for _, c := range r.Settings.Notify {
		queue := make(chan notify.Message, notifyHeld)
		n.channels = append(n.channels, queue)
		n.running.Go(func() {
			for m := range queue {
				n.send(c, m)
			}
		})
	}
	return n
}

// folded queues what the events say to a person.
func (n *notifier) folded(events []event.Event, s *loopstate.State) {
	if n == nil {
		return
	}
	for _, e := range events {
		if e.Type == event.TypeQuestionAnswered {
			if p, err := event.As[event.QuestionAnswered](e); err == nil {
				n.answered(p.Number)
			}
		}
		if m, ok := n.message(e, s); ok {
			n.queue(m)
		}
	}
}

func (n *notifier) queue(m notify.Message) {
	for i, c := range n.runner.Settings.Notify {
		if !notify.Wants(c, m.Occasion) {
			continue
		}
		select {
		case n.channels[i] <- m:
		default:
			n.report(c, m, fmt.Errorf("%d messages wait for it already", notifyHeld))
		}
	}
}

// finish sends what is queued, and returns when all channels have it or have had their time.
func (n *notifier) finish() {
	if n == nil {
		return
	}
	n.deafen()
	n.listening.Wait()
	timer := time.AfterFunc(notifyEnd, n.cancel)
	defer timer.Stop()
	for _, queue := range n.channels {
		close(queue)
	}
	n.running.Wait()
	n.cancel()
}

// send sends one message to one channel, with several tries.
func (n *notifier) send(c config.Notification, m notify.Message) {
	if m.Occasion == notify.Question {
		m.Reply = notify.ReplyTopic(c)
	}
	pause := notifyPause
	for try := 1; ; try++ {
		err := notify.Send(n.ctx, c, m, n.runner.ownEnvironment())
		if err == nil || notify.Final(err) || try == notifyTries || n.ctx.Err() != nil {
			n.report(c, m, err)
			if err == nil && m.Reply != "" {
				n.await(c, m)
			}
			return
		}
		select {
		case <-time.After(pause):
		case <-n.ctx.Done():
		}
		pause *= 2
	}
}

// await takes the answer to a question, until another one is there or the loop has ended.
func (n *notifier) await(c config.Notification, m notify.Message) {
	ctx, cancel := context.WithCancel(n.listen)
	n.mu.Lock()
	n.awaited[m.Number] = append(n.awaited[m.Number], cancel)
	n.mu.Unlock()
	n.listening.Go(func() {
		defer cancel()
		text, err := notify.Await(ctx, c, m.Reply, n.runner.ownEnvironment())
		if err == nil {
			_, err = inbox.Drop(n.runner.Dir, inbox.Command{Kind: inbox.Answer, From: "notify:" + c.Kind, Question: m.Number, Text: text})
		}
		if err != nil && ctx.Err() == nil {
			n.runner.warn(fmt.Errorf("no answer by %s: %w", n.runner.mask(notify.Shown(c)), err))
		}
	})
}

// answered ends the wait for the answer to a question.
func (n *notifier) answered(number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, cancel := range n.awaited[number] {
		cancel()
	}
	delete(n.awaited, number)
}

// report records the outcome. After the loop's end there is no journal to record it in.
func (n *notifier) report(c config.Notification, m notify.Message, err error) {
	r, channel := n.runner, n.runner.mask(notify.Shown(c))
	var p event.Payload = event.NotificationSent{Channel: channel, Occasion: string(m.Occasion)}
	why := ""
	if err != nil {
		why = r.mask(err.Error())
		p = event.NotificationFailed{Channel: channel, Occasion: string(m.Occasion), Why: why}
	}
	select {
	case <-r.driverDone:
		if err != nil {
			r.warn(fmt.Errorf("no notification by %s: %s", channel, why))
		}
	default:
		r.recordLater(p)
	}
}

func (r *runner) mask(text string) string {
	masked, _ := r.redactor.Mask([]byte(text))
	return string(masked)
}

// message returns what an event says to a person, if it does.
func (n *notifier) message(e event.Event, s *loopstate.State) (notify.Message, bool) {
	r := n.runner
	m := notify.Message{ID: e.ID(), Loop: r.Name, LoopID: r.id, Project: r.Project, At: e.At}
	m.Host, _ = os.Hostname() // only to be shown
	switch e.Type {
	case event.TypeQuestionAsked:
		p, err := event.As[event.QuestionAsked](e)
		if err != nil {
			return m, false
		}
		m.Occasion, m.Title, m.Text, m.Choices = notify.Question, fmt.Sprintf("%s asks", r.Name), p.Text, p.Choices
		m.Number = p.Number
		if len(p.Choices) > 0 {
			m.Text += "\n" + strings.Join(p.Choices, " · ")
		}
		m.Next = fmt.Sprintf("ralph answer %s %d …", r.Name, p.Number)
	case event.TypeLoopWaiting:
		p, err := event.As[event.LoopWaiting](e)
		if err != nil || p.For != event.WaitPerson {
			return m, false
		}
		m.Occasion, m.Title, m.Text = notify.Waiting, fmt.Sprintf("%s waits for you", r.Name), p.Why
		m.Next = fmt.Sprintf("ralph resume %s", r.Name)
		if p.Question > 0 {
			m.Next = fmt.Sprintf("ralph answer %s %d …", r.Name, p.Question)
		}
	case event.TypeBudgetWarned:
		p, err := event.As[event.BudgetWarned](e)
		if err != nil {
			return m, false
		}
		m.Occasion, m.Title, m.Text = notify.Budget, fmt.Sprintf("%s has nearly used up %s", r.Name, p.Limit), p.Why
		m.Next = fmt.Sprintf("ralph set %s=…", p.Limit)
	case event.TypeBreakerTripped:
		p, err := event.As[event.BreakerTripped](e)
		if err != nil {
			return m, false
		}
		m.Occasion, m.Title, m.Text = notify.Stuck, fmt.Sprintf("%s makes no progress", r.Name), p.Evidence
		m.Next = fmt.Sprintf("ralph attach %s", r.Name)
	case event.TypeLoopEnded:
		p, err := event.As[event.LoopEnded](e)
		if err != nil {
			return m, false
		}
		if p.Reason == event.ReasonFenced {
			return m, false // it goes on elsewhere, and says there what becomes of it
		}
		m.Occasion, m.Title, m.Text = notify.Ended, fmt.Sprintf("%s %s", r.Name, p.Status), p.Explained()
		m.Status, m.Reason = p.Status.String(), string(p.Reason)
		if p.Strength != nil {
			m.Strength = string(p.Strength.Grade)
		}
		m.Text += "\n" + units.Quantity(s.Lifecycle.Iteration, "iteration")
		m.Next = fmt.Sprintf("ralph report %s", r.Name)
	default:
		return m, false
	}
	m.Title, m.Text = r.mask("ralph: "+m.Title), r.mask(m.Text)
	return m, true
}

// recordLater records an event that no decision led to, while the loop runs. It does not wait.
func (r *runner) recordLater(p event.Payload) {
	go func() {
		select {
		case r.inputs <- loop.Input{Drafts: []event.Draft{event.Encode(p, "loop")}}:
		case <-r.driverDone:
		}
	}()
}
