package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func addRow(s *board.Sum, r protocol.CostRow, local bool) { s.Add(r.Requests, r.Cost, local) }

// bill is what requests cost, in all and by what they were for.
type bill struct {
	all   board.Sum
	parts map[string]board.Sum // by traffic
}

// The parts of a bill in the order of a job, in the words of its views.
var traffics = []struct{ traffic, word string }{
	{job.TrafficPlanning, "plan"}, {job.TrafficConversation, "work"}, {job.TrafficReview, "review"}, {job.TrafficVision, "vision"},
}

// bill sums a ledger. Which models are local is asked beside it; when that
// cannot be answered, their cost is unknown.
func (s *shell) bill(ctx context.Context, l *link, doc protocol.CostsDoc) bill {
	local := localModels(ctx, l, doc)
	b := bill{parts: map[string]board.Sum{}}
	for _, r := range doc.Rows {
		part := b.parts[r.Traffic]
		addRow(&part, r, local[r.Model])
		b.parts[r.Traffic] = part
		addRow(&b.all, r, local[r.Model])
	}
	return b
}

func localModels(ctx context.Context, l *link, doc protocol.CostsDoc) map[string]bool {
	local := map[string]bool{}
	priced := func(r protocol.CostRow) bool { return r.Cost != nil && *r.Cost > 0 }
	if !slices.ContainsFunc(doc.Rows, func(r protocol.CostRow) bool { return !priced(r) }) {
		return local
	}
	models, err := l.Models(ctx, protocol.ModelsRequest{})
	if err != nil {
		return local
	}
	for _, m := range models.Models {
		local[m.Ref] = m.Private
	}
	return local
}

// words is one line: the sum, then its parts.
func (b bill) words() string {
	if b.all.Requests == 0 {
		return "0.00 USD, no requests were sent"
	}
	words := b.all.Words()
	if words != "local" && words != "unknown" {
		words += " USD"
	}
	var parts []string
	for _, t := range traffics {
		if p, ok := b.parts[t.traffic]; ok {
			parts = append(parts, t.word+" "+p.Words())
		}
	}
	words = fmt.Sprintf("%s: %s (%s)", words, strings.Join(parts, ", "), count(b.all.Requests, "request", "requests"))
	if b.all.Unknown > 0 {
		words += "; what " + count(b.all.Unknown, "request", "requests") + " cost is not known"
	}
	return words
}

func (s *shell) costsCmd() *cobra.Command {
	var days int
	c := &cobra.Command{
		Use: "costs [ID]", Short: "What a job, or the last days, cost",
		Args: atMostOne("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			id := strings.Join(args, "")
			if days < 1 {
				return &usageError{words: "--days is 1 or more"}
			}
			if id != "" && c.Flags().Changed("days") {
				return &usageError{words: "--days is for all jobs together; leave it out or leave the ID out"}
			}
			return s.asking(c.Context(), app.Any, func(l *link) error { return s.costs(c.Context(), l, id, days) })
		},
	}
	c.Flags().IntVar(&days, "days", 7, "of all jobs: how many days, today included")
	return c
}

func atMostOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return exactly(name)(c, args)
		}
		return nil
	}
}

func (s *shell) costs(ctx context.Context, l *link, id string, days int) error {
	doc, err := l.Costs(ctx, id, days)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(doc)
		return nil
	}
	if len(doc.Rows) == 0 {
		s.note.line("no requests were sent")
		return nil
	}
	local := localModels(ctx, l, doc)
	jobs, tasks := costNames(ctx, l, id, doc)
	rows := [][]string{{"JOB", "TASK", "FOR", "MODEL", "REQUESTS", "IN", "OUT", "CACHED", "PICTURES", "USD"}}
	for _, r := range doc.Rows {
		var one board.Sum
		addRow(&one, r, local[r.Model])
		word := r.Traffic
		for _, t := range traffics {
			if t.traffic == r.Traffic {
				word = t.word
			}
		}
		rows = append(rows, []string{
			jobs[r.Job], tasks[r.Task], word, r.Model, fmt.Sprint(r.Requests), number(r.TokensIn), number(r.TokensOut), number(r.TokensCached),
			fmt.Sprint(r.Pictures), one.Words(),
		})
	}
	s.out.table(rows)
	s.out.line("\nTotal %s", s.bill(ctx, l, doc).words())
	return nil
}

// mostTitles is how many jobs are asked for their titles: a table of more is
// read by ids.
const mostTitles = 20

// jobRunes is the longest title of a job beside its id in the table of costs.
const jobRunes = 30

// costNames says how the rows name their jobs and tasks: by title where one is
// known, else by an id that is cut so that it tells them apart.
func costNames(ctx context.Context, l *link, id string, doc protocol.CostsDoc) (jobs, tasks map[string]string) {
	jobs, tasks = map[string]string{}, map[string]string{}
	var order []string
	for _, r := range doc.Rows {
		if jobs[r.Job] == "" {
			order = append(order, r.Job)
		}
		jobs[r.Job], tasks[r.Task] = short(r.Job), r.Task
	}
	cutIDs(tasks)
	for _, j := range order[:min(len(order), mostTitles)] {
		whole, err := l.Show(ctx, j)
		if err != nil {
			continue // ids will do
		}
		if id == "" {
			jobs[j] = strings.TrimSpace(short(j) + " " + flat(whole.Title, jobRunes))
		}
		for _, t := range whole.Tasks {
			tasks[t.ID] = flat(t.Title, titleRunes)
		}
	}
	return jobs, tasks
}

// cutIDs gives each id the shortest prefix that tells all of them apart.
func cutIDs(names map[string]string) {
	for n := shortID; n < longID; n++ {
		seen := map[string]bool{}
		for id := range names {
			seen[id[:min(n, len(id))]] = true
		}
		if len(seen) == len(names) {
			for id := range names {
				names[id] = id[:min(n, len(id))]
			}
			return
		}
	}
}
