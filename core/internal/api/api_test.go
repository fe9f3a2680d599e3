package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// desk answers everything and writes down what it was asked.
type desk struct {
	asked []string
	kept  map[string][]byte
}

func (d *desk) note(format string, args ...any) {
	d.asked = append(d.asked, fmt.Sprintf(format, args...))
}

func (d *desk) Submit(_ context.Context, s protocol.Submit) (protocol.Accepted, error) {
	d.note("submit %s", s.Text)
	return protocol.Accepted{Job: "full"}, nil
}

func (d *desk) Cancel(_ context.Context, r protocol.Resolved, reason string) error {
	job := r.Job
	d.note("cancel %s %s", job, reason)
	return nil
}

func (d *desk) Apply(_ context.Context, job string) (protocol.ApplyDoc, error) {
	d.note("apply %s", job)
	return protocol.ApplyDoc{Job: job}, nil
}

func (d *desk) Retry(_ context.Context, r protocol.Resolved, _ protocol.Retry) error {
	job, task := r.Job, r.Task
	d.note("retry %s %s", job, task)
	return nil
}

func (d *desk) Resolve(_ context.Context, ref string) (protocol.Resolved, error) {
	if ref == "nobody" {
		return protocol.Resolved{}, &protocol.Error{Code: protocol.CodeNotFound, Message: "no such job", Hint: "relo jobs"}
	}
	return protocol.Resolved{Job: "full-" + ref, Task: "task"}, nil
}

func (d *desk) List(context.Context) (protocol.JobList, error) {
	d.note("list")
	return protocol.JobList{}, nil
}

func (d *desk) Show(_ context.Context, job string) (protocol.JobDoc, error) {
	d.note("show %s", job)
	return protocol.JobDoc{ID: job}, nil
}

func (d *desk) Events(_ context.Context, q protocol.EventsQuery) (protocol.EventPage, error) {
	d.note("events %s %d", q.Job, q.After)
	return protocol.EventPage{}, nil
}

func (d *desk) Why(_ context.Context, r protocol.Resolved) (protocol.WhyList, error) {
	d.note("why %s %s", r.Job, r.Task)
	return protocol.WhyList{}, nil
}

func (d *desk) Diff(_ context.Context, r protocol.Resolved) (protocol.DiffDoc, error) {
	d.note("diff %s %s", r.Job, r.Task)
	return protocol.DiffDoc{}, nil
}

func (d *desk) Costs(_ context.Context, job string, days int) (protocol.CostsDoc, error) {
	d.note("costs %q %d", job, days)
	return protocol.CostsDoc{}, nil
}

func (d *desk) Hello(_ context.Context, h protocol.Hello) (protocol.Welcome, error) {
	d.note("hello %s", h.Worker)
	return protocol.Welcome{}, nil
}

func (d *desk) Claim(_ context.Context, h protocol.Hold) (protocol.Assignment, error) {
	d.note("claim %s %d", h.Task, h.Epoch)
	return protocol.Assignment{}, nil
}

func (d *desk) Report(_ context.Context, r protocol.Report) error {
	d.note("report %s", r.Attempt)
	return nil
}

func (d *desk) Finish(_ context.Context, f protocol.Finish) (protocol.Received, error) {
	d.note("finish %s", f.Attempt)
	return protocol.Received{Late: true}, nil
}

func (d *desk) Ask(_ context.Context, a protocol.Ask) (traffic.Answer, error) {
	d.note("ask %s", a.Request.System)
	return traffic.Answer{}, &traffic.BudgetError{Words: "spent"}
}

func (d *desk) Look(_ context.Context, a protocol.LookAsk) (traffic.Seen, error) {
	d.note("look %s", a.Question)
	return traffic.Seen{}, &traffic.NobodyError{Words: "nobody"}
}

func (d *desk) Pause(_ context.Context, job string) error {
	d.note("pause %s", job)
	return nil
}

func (d *desk) Resume(_ context.Context, job string, _ *float64) error {
	d.note("resume %s", job)
	return nil
}

func (d *desk) Say(_ context.Context, r protocol.Resolved, text string) (protocol.SayDoc, error) {
	d.note("say %s %s %s", r.Job, r.Task, text)
	return protocol.SayDoc{}, nil
}

func (d *desk) Plan(_ context.Context, job string) (protocol.PlanDoc, error) {
	d.note("plan %s", job)
	return protocol.PlanDoc{}, nil
}

func (d *desk) Approve(_ context.Context, job string, plan *protocol.PlanDoc) error {
	d.note("approve %s %v", job, plan != nil)
	return nil
}

func (d *desk) Undo(_ context.Context, job string) (protocol.UndoDoc, error) {
	d.note("undo %s", job)
	return protocol.UndoDoc{}, nil
}

func (d *desk) Discard(_ context.Context, job string, force bool) (protocol.DiscardDoc, error) {
	d.note("discard %s %v", job, force)
	return protocol.DiscardDoc{}, nil
}

func (d *desk) Logs(_ context.Context, r protocol.Resolved) (protocol.LogsDoc, error) {
	d.note("logs %s %s", r.Job, r.Task)
	return protocol.LogsDoc{}, nil
}

func (d *desk) Stop(context.Context) (protocol.StatusDoc, error) {
	d.note("stop")
	return protocol.StatusDoc{}, nil
}

func (d *desk) Status(context.Context) (protocol.StatusDoc, error) {
	d.note("status")
	return protocol.StatusDoc{}, nil
}

func (d *desk) ForgetRefusals(_ context.Context, _ protocol.ForgetRequest) (protocol.ForgottenDoc, error) {
	d.note("forget")
	return protocol.ForgottenDoc{}, nil
}

func (d *desk) Models(context.Context, protocol.ModelsRequest) (protocol.ModelsDoc, error) {
	d.note("models")
	return protocol.ModelsDoc{}, nil
}

func (d *desk) PutBlob(data []byte) (string, error) {
	sha := hash(data)
	d.kept[sha] = slices.Clone(data)
	return sha, nil
}

func (d *desk) Blob(sha string) ([]byte, error) {
	if data, ok := d.kept[sha]; ok {
		return data, nil
	}
	return nil, errors.New("gone")
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func table() (*desk, map[string]Endpoint) {
	d := &desk{kept: map[string][]byte{}}
	rows := map[string]Endpoint{}
	for _, e := range Table(Desks{d, d, d, d, d, d, d, d, d}) {
		rows[e.Name] = e
	}
	return d, rows
}

func TestEveryEndpointReachesItsDesk(t *testing.T) {
	tests := []struct{ name, body, asked string }{
		{"job.submit", `{"text":"do it","repo":"/r"}`, "submit do it"},
		{"job.cancel", `{"id":"a","reason":"enough"}`, "cancel full-a enough"},
		{"job.apply", `{"id":"a"}`, "apply full-a"},
		{"job.retry", `{"id":"a"}`, "retry full-a task"},
		{"job.resolve", `{"id":"a"}`, ""},
		{"job.pause", `{"id":"a"}`, "pause full-a"},
		{"job.resume", `{"id":"a","budget":2}`, "resume full-a"},
		{"job.say", `{"id":"a","text":"hi"}`, "say full-a task hi"},
		{"job.plan", `{"id":"a"}`, "plan full-a"},
		{"job.approve", `{"id":"a","plan":{"summary":"","tasks":[]}}`, "approve full-a true"},
		{"job.undo", `{"id":"a"}`, "undo full-a"},
		{"job.discard", `{"id":"a","force":true}`, "discard full-a true"},
		{"job.logs", `{"id":"a"}`, "logs full-a task"},
		{"daemon.stop", ``, "stop"},
		{"job.list", ``, "list"},
		{"job.show", `{"id":"a"}`, "show full-a"},
		{"job.events", `{"job":"full","after":7}`, "events full 7"},
		{"job.why", `{"id":"a"}`, "why full-a task"},
		{"job.diff", `{"id":"a"}`, "diff full-a task"},
		{"costs.list", `{"id":"a"}`, `costs "full-a" 0`},
		{"models.list", ` `, "models"},
		{"models.forget", `{"refs":["a/b"]}`, "forget"},
		{"daemon.status", `{}`, "status"},
		{"worker.hello", `{"worker":"w"}`, "hello w"},
		{"attempt.claim", `{"task":"t","epoch":3}`, "claim t 3"},
		{"attempt.report", `{"attempt":"a"}`, "report a"},
		{"attempt.finish", `{"attempt":"a"}`, "finish a"},
		{"model.call", `{"request":{"system":"s"}}`, "ask s"},
		{"model.look", `{"question":"q"}`, "look q"},
		{"blob.put", `{}`, ""},
		{"blob.get", `{}`, ""},
	}
	_, rows := table()
	if len(tests) != len(rows) {
		t.Errorf("%d rows here, %d in the table", len(tests), len(rows))
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			d, rows := table()
			_, err := rows[c.name].Handle(t.Context(), []byte(c.body))
			if got := strings.Join(d.asked, ","); got != c.asked {
				t.Errorf("asked %q (%v), want %q", got, err, c.asked)
			}
			if rows[c.name].Description == "" {
				t.Error("it does not say what it is for")
			}
			for _, bad := range []string{`{"unknown":1}`, `[]`, `{`, `{} {}`, `"x"`} {
				_, err := rows[c.name].Handle(t.Context(), []byte(bad))
				if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != protocol.CodeUsage || !strings.HasPrefix(e.Message, c.name) {
					t.Errorf("%s was answered with %v, want a usage error", bad, err)
				}
			}
		})
	}
	d, rows := table()
	if _, err := rows["costs.list"].Handle(t.Context(), []byte(`{"days":7}`)); err != nil || d.asked[0] != `costs "" 7` {
		t.Errorf("%v %v", d.asked, err)
	}
	for _, name := range []string{
		"job.cancel", "job.apply", "job.retry", "job.resolve", "job.show", "job.why", "job.diff", "costs.list",
		"job.pause", "job.resume", "job.say", "job.plan", "job.approve", "job.undo", "job.discard", "job.logs",
	} {
		if _, err := rows[name].Handle(t.Context(), []byte(`{"id":"nobody"}`)); err == nil || len(d.asked) != 1 {
			t.Errorf("%s of nobody: %v, %v", name, err, d.asked)
		}
	}
}

func TestFaultsCarryCodeWordsAndHint(t *testing.T) {
	code, words, data := Fault(fmt.Errorf("call: %w", &protocol.Error{Code: "key", Message: "no key", Hint: "set it", Retryable: true}))
	if code != "key" || words != "no key" || string(data) != `{"code":"key","message":"no key","hint":"set it","retryable":true}` {
		t.Errorf("%s %s %s", code, words, data)
	}
	if code, words, data = Fault(errors.New("boom")); code != protocol.CodeInternal || words != "boom" || !strings.Contains(string(data), "internal") {
		t.Errorf("%s %s %s", code, words, data)
	}
}

func put(t *testing.T, rows map[string]Endpoint, c protocol.BlobChunk) error {
	t.Helper()
	body, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = rows["blob.put"].Handle(t.Context(), body)
	return err
}

func usage(err error) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	return ok && e.Code == protocol.CodeUsage
}

func TestAFileComesInPiecesAndGoesInPieces(t *testing.T) {
	d, rows := table()
	data := make([]byte, 2*ChunkBytes+5)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	sha := hash(data)
	for at := 0; at < len(data); at += ChunkBytes {
		if len(d.kept) != 0 {
			t.Fatal("kept before it was whole")
		}
		if err := put(t, rows, protocol.BlobChunk{SHA256: sha, Size: int64(len(data)), Offset: int64(at), Data: data[at:min(at+ChunkBytes, len(data))]}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(d.kept[sha], data) {
		t.Fatal("not kept as it was sent")
	}
	var back []byte
	for len(back) < len(data) {
		out, err := rows["blob.get"].Handle(t.Context(), fmt.Appendf(nil, `{"sha256":%q,"offset":%d}`, sha, len(back)))
		if err != nil {
			t.Fatal(err)
		}
		var c protocol.BlobChunk
		if err := json.Unmarshal(out, &c); err != nil || len(c.Data) == 0 || len(c.Data) > ChunkBytes || c.Size != int64(len(data)) {
			t.Fatalf("%v, a piece of %d", err, len(c.Data))
		}
		back = append(back, c.Data...)
	}
	if !slices.Equal(back, data) {
		t.Error("came back otherwise")
	}
	if _, err := rows["blob.get"].Handle(t.Context(), fmt.Appendf(nil, `{"sha256":%q,"offset":%d}`, sha, len(data)+1)); !usage(err) {
		t.Errorf("past the end: %v", err)
	}
	if _, err := rows["blob.get"].Handle(t.Context(), []byte(`{"sha256":"none"}`)); err == nil || usage(err) {
		t.Errorf("a file that is not kept: %v", err)
	}
}

func TestPiecesThatCannotBeRight(t *testing.T) {
	data := []byte("0123456789")
	sha, size := hash(data), int64(len(data))
	piece := func(from, to int) protocol.BlobChunk {
		return protocol.BlobChunk{SHA256: sha, Size: size, Offset: int64(from), Data: data[from:to]}
	}
	other := piece(5, 10)
	other.Size = 11
	long := piece(0, 5)
	long.Size = 3
	wrong := piece(0, 10)
	wrong.Data = []byte("0123456780")
	tests := []struct {
		pieces []protocol.BlobChunk
		kept   bool
		why    string
	}{
		{[]protocol.BlobChunk{piece(0, 5), piece(5, 10)}, true, "in order"},
		{[]protocol.BlobChunk{piece(5, 10)}, false, "without a beginning"},
		{[]protocol.BlobChunk{piece(0, 5), piece(6, 10)}, false, "a hole"},
		{[]protocol.BlobChunk{piece(0, 5), piece(4, 10)}, false, "an overlap"},
		{[]protocol.BlobChunk{piece(0, 5), other}, false, "another size"},
		{[]protocol.BlobChunk{long}, false, "more than its size"},
		{[]protocol.BlobChunk{wrong}, false, "other bytes than the hash says"},
		{[]protocol.BlobChunk{{SHA256: sha, Size: fileMax + 1}}, false, "too large"},
		{[]protocol.BlobChunk{{SHA256: sha, Size: -1}}, false, "less than nothing"},
		{[]protocol.BlobChunk{{SHA256: "../../x", Size: 1, Data: []byte("x")}}, false, "a name that is no hash"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			d, rows := table()
			var last error
			for _, p := range c.pieces {
				last = put(t, rows, p)
			}
			if (len(d.kept) == 1) != c.kept || usage(last) == c.kept {
				t.Errorf("kept %d, %v", len(d.kept), last)
			}
			if err := errors.Join(put(t, rows, piece(0, 3)), put(t, rows, piece(0, 5)), put(t, rows, piece(5, 10))); err != nil || len(d.kept) != 1 {
				t.Errorf("sent again from the beginning: %v", err)
			}
		})
	}
	d, rows := table()
	if err := put(t, rows, protocol.BlobChunk{SHA256: hash(nil)}); err != nil || len(d.kept) != 1 {
		t.Errorf("an empty file: %v", err)
	}
}

func TestHalfSentFilesAreBoundedAndGivenBack(t *testing.T) {
	up := newUploads(&desk{kept: map[string][]byte{}})
	data := make([]byte, ChunkBytes)
	n := 0
	for ; ; n++ {
		if _, err := up.put(t.Context(), protocol.BlobChunk{SHA256: hash([]byte{byte(n)}), Size: fileMax, Data: data}); err != nil {
			if e, ok := errors.AsType[*protocol.Error](err); !ok || !e.Retryable {
				t.Errorf("%v, want one that may be tried again", err)
			}
			break
		}
	}
	if n != allMax/ChunkBytes || up.held != int64(n)*ChunkBytes {
		t.Errorf("%d pieces, %d bytes held", n, up.held)
	}
	for _, x := range up.open {
		x.last = x.last.Add(-2 * idleMax)
	}
	if _, err := up.put(t.Context(), protocol.BlobChunk{SHA256: hash(nil), Size: fileMax, Data: data}); err != nil || up.held != ChunkBytes || len(up.open) != 1 {
		t.Errorf("after their senders are gone: %v, %d held", err, up.held)
	}
}
