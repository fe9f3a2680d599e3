package orchestrator

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

var update = flag.Bool("update", false, "rewrite the last part of the stories")

// story is one testdata/*.txtar: a sentence, then what goes in, then what must
// come out. In "setup" a row sets one thing; in "plan" a row is a task; in
// "attempts" a row says what the next attempt of a task reports (without one a
// work task is done, a review accepts, a debugger finds something); in "person"
// each row is done when the job rests.
type story struct {
	sentence string
	parts    map[string]string
	order    []string
}

func readStory(text string) story {
	s := story{parts: map[string]string{}}
	at := ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(name, " --\n") {
			at = strings.TrimSuffix(name, " --\n")
			s.order = append(s.order, at)
			continue
		}
		if at == "" {
			s.sentence += line
		} else {
			s.parts[at] += line
		}
	}
	return s
}

func (s story) String() string {
	out := s.sentence
	for _, name := range s.order {
		out += "-- " + name + " --\n" + s.parts[name]
	}
	return out
}

func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := readStory(string(text))
			synctest.Test(t, func(t *testing.T) {
				got := newTeller(t, s).play()
				if *update {
					s.parts["events"] = got
					if !slices.Contains(s.order, "events") {
						s.order = append(s.order, "events")
					}
					return
				}
				if diff := cmp.Diff(s.parts["events"], got); diff != "" {
					t.Errorf("%s(-want +got):\n%s", s.sentence, diff)
				}
			})
			if out := []byte(s.String()); *update && !bytes.Equal(out, text) {
				if err := os.WriteFile(file, out, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// teller plays a story and writes down what is told.
type teller struct {
	*stage
	sub    protocol.Submit
	hands  []*hand
	lines  map[string][]string // of "attempts", by task
	person []string
	told   strings.Builder
	names  []string // of tasks, also of those that an edited plan replaced: id, key

	restarts bool // of the daemon, before every step
}

func newTeller(t *testing.T, s story) *teller {
	t.Helper()
	p := &teller{sub: protocol.Submit{Text: "Make it blue", Repo: t.TempDir()}, lines: map[string][]string{}}
	ladder, slots := "weak:blind:easy middle:sees:normal strong:sees:hard", 1
	var change []func(*Rules)
	var later []func()
	for line := range strings.Lines(s.parts["setup"]) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "ladder":
			ladder = rest
		case "slots":
			slots, _ = strconv.Atoi(rest) // a wrong one is 0, and nothing happens
		case "attempts":
			change = append(change, func(o *Rules) { o.Attempts, _ = strconv.Atoi(rest) })
		case "reviews":
			change = append(change, func(o *Rules) { o.AutoReview = rest != "off" })
		case "reviewer":
			name, sight, _ := strings.Cut(rest, ":")
			later = append(later, func() { p.rules.Review = append(p.rules.Review, p.book.add(name, sight).Ref) })
		case "approve":
			p.sub.Approve = rest
		case "attended":
			p.sub.Attended = true
		case "private":
			p.sub.Private = true
		case "model":
			p.sub.Model = "p/" + rest
		case "conflict":
			key, file, _ := strings.Cut(rest, " ")
			later = append(later, func() { p.repo.conflicts[key] = []string{file} })
		default:
			t.Fatalf("setup: %q is not known", word)
		}
	}
	p.stage = newStage(t, ladder, change...)
	p.you = p.act
	for _, f := range later {
		f()
	}
	p.models.plan = planOf(t, s.parts["plan"])
	p.hands = []*hand{p.hand("w1", slots)}
	for line := range strings.Lines(s.parts["attempts"]) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		p.lines[key] = append(p.lines[key], rest)
	}
	p.person = strings.FieldsFunc(s.parts["person"], func(r rune) bool { return r == '\n' })
	return p
}

// rests is how long a job may show nothing new before the story ends.
const rests = 3 * leaseTime

// play runs the job until it rests and the person has nothing more to do.
func (p *teller) play() string {
	p.lanes.hear = func(e job.Event) { p.say("%s", p.words(e)) }
	p.hands[0].beat()
	got, err := p.Submit(p.t.Context(), p.sub)
	if err != nil {
		p.t.Fatal(err)
	}
	id := got.Job
	for quiet := time.Duration(0); quiet < rests; {
		synctest.Wait()
		if p.restarts {
			p.restart()
			p.hands[0].beat()
			synctest.Wait()
		}
		if p.step() {
			quiet = 0
			continue
		}
		if state := p.job(id).Status; state.Terminal() || state == job.Paused || state == job.AwaitingApproval {
			if len(p.person) == 0 {
				break
			}
			p.act(id, p.person[0])
			p.person = p.person[1:]
			continue
		}
		pass(time.Second)
		quiet += time.Second
		p.hands[0].beat()
	}
	synctest.Wait()
	return p.clear(id)
}

// step lets a hand claim one task and play its line.
func (p *teller) step() bool {
	for _, h := range p.hands {
		a, ok := h.claim()
		if !ok {
			continue
		}
		key := p.task(a.Job, p.keyOf(a)).Key
		p.say("  [%s #%d on %s, %s from %s%s]", key, a.Number, a.Model, sightWords(a), baseOf(a), earlierWords(a)+goOnWordsOf(a))
		line := map[job.TaskKind]string{job.Work: "done " + key + ".go", job.Review: "accept fine", job.Debug: "found the reason"}[a.Kind]
		if have := p.lines[key]; len(have) > 0 {
			line, p.lines[key] = have[0], have[1:]
		}
		h.act(a, line)
		return true
	}
	return false
}

func (p *teller) keyOf(a protocol.Assignment) string { return p.job(a.Job).Tasks[a.Task].Key }

func sightWords(a protocol.Assignment) string {
	if a.Eyes != vision.Blind {
		return "with pictures"
	}
	return "in words"
}

func earlierWords(a protocol.Assignment) string {
	out := ""
	for _, e := range a.Earlier {
		out += fmt.Sprintf("; told of %d %s: %s", e.Number, e.Outcome, strings.Join(e.Findings, " | "))
	}
	return out
}

func goOnWordsOf(a protocol.Assignment) string {
	out := ""
	if c := a.Continue; c != nil {
		out += fmt.Sprintf("; goes on from %s (%s) with %s %s", c.Attempt, c.Why, c.Trace, c.Commit)
		if c.Answer != "" {
			out += ", answer: " + c.Answer
		}
	}
	for _, w := range a.Said {
		out += "; hears: " + w.Text
	}
	return out
}

func (p *teller) act(id, line string) {
	p.say("  [the person: %s]", line)
	word, rest, _ := strings.Cut(line, " ")
	key, more, _ := strings.Cut(rest, " ")
	ref := protocol.Resolved{Job: id}
	if key != "" && p.has(id, key) {
		ref.Task = p.task(id, key).ID
	} else {
		more = rest
	}
	var err error
	ctx := context.Background()
	switch word {
	case "retry":
		q := protocol.Retry{Anew: strings.Contains(more, "anew")}
		if _, model, ok := strings.Cut(more, "model="); ok {
			q.Model = model
		}
		err = p.Retry(ctx, ref, q)
	case "cancel":
		err = p.Cancel(ctx, ref, "enough")
	case "pause":
		err = p.Pause(ctx, id)
	case "resume":
		err = p.Resume(ctx, id, nil)
	case "say":
		var doc protocol.SayDoc
		doc, err = p.Say(ctx, ref, more)
		p.say("  [now: %s; later: %s; answers: %s]", strings.Join(doc.Now, ", "), strings.Join(doc.Later, ", "), doc.Answers)
	case "approve":
		var plan *protocol.PlanDoc
		if more != "" { // "id title difficulty use", one task
			f := strings.Fields(more)
			plan = &protocol.PlanDoc{Tasks: []protocol.PlanTask{{ID: f[0], Title: f[1], Instructions: "do", Difficulty: job.Difficulty(f[2])}}}
			if len(f) > 3 {
				plan.Tasks[0].Use = f[3]
			}
		}
		err = p.Approve(ctx, id, plan)
	case "apply":
		_, err = p.Apply(ctx, id)
	case "undo":
		_, err = p.Undo(ctx, id)
	case "discard":
		_, err = p.Discard(ctx, id, more == "force")
	default:
		p.t.Fatalf("person: %q is not known", word)
	}
	if err != nil {
		p.say("  [refused: %v]", err)
	}
}

func (p *teller) has(id, key string) bool {
	for _, t := range p.job(id).Tasks {
		if t.Key == key {
			return true
		}
	}
	return false
}

func (p *teller) say(format string, args ...any) { fmt.Fprintf(&p.told, format+"\n", args...) }

// clear puts names in the place of ids.
func (p *teller) clear(id string) string {
	names := append([]string{id, "JOB"}, p.names...)
	for _, t := range p.job(id).List() {
		names = append(names, t.ID, t.Key)
		for i, a := range t.Attempts {
			names = append(names, a.ID, fmt.Sprintf("%s#%d", t.Key, i+1))
		}
	}
	return strings.NewReplacer(names...).Replace(p.told.String())
}

// words is one event on one line.
func (p *teller) words(e job.Event) string {
	line := string(e.Kind)
	if e.Task != "" {
		line += " " + e.Task
	}
	add := func(format string, args ...any) { line += fmt.Sprintf(format, args...) }
	reason := func(words string) {
		if words != "" {
			add(": %s", words)
		}
	}
	switch b := e.Body.(type) {
	case *job.StatusChange:
		add(" %s → %s", b.From, b.To)
		if b.Epoch > 0 {
			add(" to %s on %s, epoch %d", e.Worker, e.Model, b.Epoch)
		}
		reason(b.Reason)
	case *job.Added:
		p.names = append(p.names, b.ID, b.Key)
		add(" %s %s%s", b.TaskKind, b.Difficulty, map[bool]string{true: " vision"}[b.Vision])
	case *job.Routed:
		add(" %s (", e.Model)
		for i, r := range b.Reasons {
			add("%s%s", map[bool]string{true: ", "}[i > 0], r.Code)
		}
		add(")")
	case *job.Escalated:
		add(" %s → %s: %s", b.From, b.To, b.Why)
	case *job.WaitingBody:
		add(" for %s", b.For)
	case *job.CheckResult:
		add(" %q exit %d", b.Command, b.Exit)
	case *job.Look:
		add(" %s %s", b.Role, b.Path)
	case *job.AttemptEnd:
		add(" %s %s", b.Outcome, b.Visual)
		reason(b.Code + b.Reason)
	case *job.Verdict:
		add(" %s: %s", b.Verdict, b.Summary)
	case *job.Merged:
		add(" %s", b.Commit)
	case *job.Notice:
		add(" %s: %s", b.Level, b.Words)
	case *job.Said:
		reason(b.Text)
	case *job.ChosenBody:
		add(" %s", b.Chosen)
	case *job.TraceBody:
		add(" %s %s", b.Trace, b.Commit)
	case *job.Finished:
		add(" %s %s %s", b.Outcome, b.Branch, b.Code)
		reason(b.Reason)
		for _, eyes := range b.NeedsEyes {
			add("; eyes: %s", eyes)
		}
	}
	return strings.TrimRight(line, " ")
}
