package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/api"
	"github.com/relo-dev/relo/core/internal/bus"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/gateway"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/logging"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/rehearsal"
	"github.com/relo-dev/relo/core/internal/store"
	"github.com/relo-dev/relo/core/internal/toolbox"
)

var (
	_ orchestrator.Journal = (*store.Store)(nil)
	_ orchestrator.Outbox  = (*store.Store)(nil)
	_ orchestrator.Album   = (*store.Store)(nil)
	_ orchestrator.Models  = (*gateway.Gateway)(nil)
	_ orchestrator.Home    = (*client.Client)(nil)
	_ orchestrator.Phone   = (*client.Client)(nil)
	_ gateway.Money        = (*money)(nil)
	_ gateway.Darkroom     = (*Darkroom)(nil)
	_ client.Line          = (*bus.Conn)(nil)
)

// core is a record with everything that conducts and shows it.
type core struct {
	env      Env
	cfg      *config.Config // what it was started with
	log      zerolog.Logger
	settings *settings
	store    *store.Store
	orch     *orchestrator.Orchestrator
	table    []api.Endpoint
	started  time.Time
	exit     *exit // nil: not a daemon
	repos    *repos
	cleaning sync.Mutex // one at a time

	server    *bus.Server
	conn      *bus.Conn
	service   *bus.Service
	rehearsal *rehearsal.Server
	darkroom  *Darkroom
	proxy     string // address of the proxy; empty: none is served
	closers   []func() error
}

// kind of core.
type kind struct {
	idle bool  // answers questions, conducts nothing, has no bus
	solo bool  // conducts only the jobs that are submitted to it
	exit *exit // of a daemon, which takes jobs until it is told to end
}

// money joins the gateway to the ledger and to the jobs.
type money struct {
	*store.Store
	orch *orchestrator.Orchestrator
}

func (m *money) Settle(ctx context.Context, r ledger.Row, looks []job.Look) error {
	if r.Job == "" {
		return m.SettleRow(ctx, r)
	}
	return m.orch.Settle(ctx, r, looks)
}

func (m *money) Notice(ctx context.Context, r ledger.Row, words string) error {
	return m.orch.Told(ctx, r, words)
}

func (m *money) TellBlinded(ctx context.Context, r ledger.Row, b job.Blinded) error {
	if r.Job == "" {
		return nil // the book remembers, and the log has it
	}
	return m.orch.Blinded(ctx, r, b)
}

// openCore opens the record and what belongs to it; close undoes it in reverse.
func openCore(ctx context.Context, e Env, cfg *config.Config, k kind) (*core, error) {
	c := &core{env: e, cfg: cfg, started: time.Now().UTC(), exit: k.exit, repos: newRepos(e)}
	if err := c.open(ctx, k); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *core) later(f func() error) { c.closers = append(c.closers, f) }

func (c *core) open(ctx context.Context, k kind) error {
	p := c.env.places()
	for _, dir := range []string{p.State, p.Run, c.env.recordDir()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make Relo's folder: %w", err)
		}
	}
	var logFile io.Closer
	var err error
	if c.log, logFile, err = logging.Open(c.env.logFile("relo"), c.env.Getenv("RELO_LOG")); err != nil {
		return err
	}
	c.later(logFile.Close)
	c.darkroom = NewDarkroom(c.env)
	c.later(c.darkroom.Close)
	if c.store, err = store.Open(ctx, c.env.recordDir()); err != nil {
		return err
	}
	c.later(c.store.Close)
	for _, d := range c.store.Found() {
		c.log.Error().Err(d).Msg("the record is damaged")
	}
	c.settings = newSettings(c.env, c.log)
	if _, _, err := c.settings.of(""); err != nil {
		c.log.Error().Err(err).Msg("the config cannot be used; jobs are refused until it is mended")
	}
	c.settings.shelf.renew = c.settings.renew
	c.settings.shelf.daemon = c.exit != nil
	c.settings.shelf.log = c.log
	if !k.idle {
		if err := c.openRehearsal(ctx); err != nil {
			return err
		}
		if err := c.openBus(ctx); err != nil {
			return err
		}
	}
	return c.conduct(ctx, k)
}

// openRehearsal starts the rehearsal provider when the config names it without
// an address.
func (c *core) openRehearsal(ctx context.Context) error {
	for _, p := range c.cfg.Providers {
		if p.Wire != "rehearsal" || p.URL != "" {
			continue
		}
		r, err := rehearsal.Start(ctx)
		if err != nil {
			return err
		}
		c.rehearsal = r
		c.settings.shelf.serveRehearsal(r.URL())
		c.later(r.Close)
		return nil
	}
	return nil
}

func (c *core) openBus(ctx context.Context) error {
	err := busFree(c.env, c.cfg.Bus.Listen)
	if err != nil {
		return err
	}
	if c.server, err = bus.Open(ctx, bus.Options{Dir: c.env.busDir(), Listen: c.cfg.Bus.Listen, Log: c.log}); err != nil {
		return err
	}
	c.later(c.server.Close)
	if c.conn, err = bus.Connect(ctx, c.server.Owner(), "relo"); err != nil {
		return err
	}
	c.later(func() error { c.conn.Close(); return nil })
	return c.conn.Prepare(ctx)
}

// conduct starts the orchestrator and serves the API.
func (c *core) conduct(ctx context.Context, k kind) error {
	cash := &money{Store: c.store}
	door := gateway.New(gateway.Parts{Book: c.settings.shelf, Money: cash, Album: c.store, Darkroom: c.darkroom, Log: c.log, Now: time.Now})
	parts := orchestrator.Parts{
		Journal: c.store, Outbox: c.store, Album: c.store, Repos: c.repos, Rules: c.settings.rules, Log: c.log,
		Models: door, Prepare: c.darkroom.attachment, Lanes: noLanes{},
	}
	if c.conn != nil {
		parts.Lanes = lanes{c.conn, c.server}
	}
	c.orch = orchestrator.New(orchestrator.Options{
		Lease: time.Duration(c.cfg.Workers.LeaseSeconds) * time.Second, Subject: bus.TaskSubject, Idle: k.idle, Solo: k.solo,
	}, parts)
	cash.orch = c.orch
	c.table = append(api.Table(api.Desks{
		Asker: asker{c.orch, c.exit}, Planner: c.orch, Keeper: c.orch, Teller: c.orch, Accountant: c.orch, Foreman: c.orch, Phone: c.orch, Album: c.store, House: c,
	}), c.cleanEndpoint(), c.endEndpoint(), c.verifyEndpoint(), c.lookEndpoint(door.Look))
	if c.conn != nil {
		if err := c.refill(ctx); err != nil {
			return err
		}
	}
	if err := c.orch.Start(ctx); err != nil {
		return err
	}
	c.later(func() error { c.orch.Stop(); return nil })
	if c.conn == nil {
		return nil
	}
	if c.exit != nil {
		if err := errors.Join(c.writeOffJobless(ctx), c.serveProxy(door)); err != nil {
			return err
		}
	}
	var err error
	if c.service, err = c.conn.Serve(ctx, "1.0.0", endpoints(c.table)); err != nil {
		return err
	}
	c.later(c.service.Close)
	return nil
}

func endpoints(table []api.Endpoint) []bus.Endpoint {
	var out []bus.Endpoint
	for _, e := range table {
		out = append(out, bus.Endpoint{Name: e.Name, Description: e.Description, Handle: e.Handle, Fault: api.Fault})
	}
	return out
}

// refillJobs bounds for how many of the newest jobs the news stream is completed
// at the start; a viewer of an older one asks the record anyway.
const refillJobs = 20

// refill publishes again what the news stream does not have: after a crash
// between commit and publishing, or when the broker lost its folder.
func (c *core) refill(ctx context.Context) error {
	jobs, err := c.store.Jobs(ctx)
	if err != nil {
		return err
	}
	for i, entry := range jobs {
		if i >= refillJobs && !entry.Status.Active() {
			continue
		}
		last, err := c.conn.LastNews(ctx, entry.ID)
		if err != nil {
			return err
		}
		var e job.Event
		if last != nil {
			if err := json.Unmarshal(last, &e); err != nil {
				return fmt.Errorf("the news of job %s cannot be read: %w", entry.ID, err)
			}
		}
		if e.Seq >= entry.Seq {
			continue
		}
		events, err := c.store.Events(ctx, entry.ID, e.Seq, 0)
		if _, damaged := errors.AsType[*record.DamageError](err); err != nil && !damaged {
			return err
		}
		for _, e := range events {
			text, err := json.Marshal(e)
			if err == nil {
				err = c.conn.Tell(entry.ID, fmt.Sprintf("%s:%d", entry.ID, e.Seq), text)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// close undoes open, last first.
func (c *core) close() error {
	var errs []error
	for _, f := range slices.Backward(c.closers) {
		errs = append(errs, f())
	}
	c.closers = nil
	return errors.Join(errs...)
}

// Status says how this process is.
func (c *core) Status(ctx context.Context) (protocol.StatusDoc, error) {
	doc := protocol.StatusDoc{
		Version: Version, API: protocol.Version, PID: os.Getpid(), Workers: c.orch.Workers(), Started: c.started, Home: c.env.places().State,
		Here: c.exit == nil,
	}
	jobs, err := c.store.JobsWith(ctx, job.ActiveStates()...)
	doc.Jobs = len(jobs)
	for _, d := range c.store.Found() {
		doc.Damages = append(doc.Damages, d.Error())
	}
	return doc, err
}

// Stop asks the daemon to end: its agents are laid aside at their next safe point.
func (c *core) Stop(ctx context.Context) (protocol.StatusDoc, error) {
	if c.exit == nil {
		return protocol.StatusDoc{}, &protocol.Error{Code: protocol.CodeUsage, Message: "this is no daemon: it runs one job and ends with it", Hint: "relo cancel ends the job"}
	}
	doc, err := c.Status(ctx)
	if err != nil { // no reason to stay, least of all when it is ending already
		c.log.Warn().Err(err).Msg("the daemon ends, and could not count its jobs")
	}
	c.exit.ask()
	return doc, nil
}

// Models lists models: of the person's config, or of the providers' lists too.
func (c *core) Models(_ context.Context, r protocol.ModelsRequest) (protocol.ModelsDoc, error) {
	_, book, err := c.settings.of("")
	if err != nil {
		return protocol.ModelsDoc{}, configFault(err)
	}
	return book.documents(r), nil
}

// ForgetRefusals ends what was learned from refused pictures.
func (c *core) ForgetRefusals(_ context.Context, r protocol.ForgetRequest) (protocol.ForgottenDoc, error) {
	_, book, err := c.settings.of("")
	if err != nil {
		return protocol.ForgottenDoc{}, configFault(err)
	}
	return book.forget(r), nil
}

// noLanes stands where nothing is conducted: there is no bus to speak on.
type noLanes struct{}

var errNoBus = errors.New("this process has no bus")

func (noLanes) Send(context.Context, string, string, []byte) error { return errNoBus }
func (noLanes) Tell(string, string, []byte) error                  { return nil } // nobody follows
func (noLanes) PrepareMailbox(context.Context, string) error       { return errNoBus }

// Order ends what the attempts started on this machine: their worker cannot be
// told, and ends its agents itself when their lease runs out.
func (noLanes) Order(_ string, data []byte) error {
	var o protocol.Order
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("read an order: %w", err)
	}
	for _, attempt := range o.Stop {
		toolbox.KillMarked(attempt)
	}
	return nil
}

// localLine answers from the table in this process.
type localLine struct{ table []api.Endpoint }

func (l localLine) Request(ctx context.Context, endpoint string, body []byte) ([]byte, error) {
	for _, e := range l.table {
		if e.Name != endpoint {
			continue
		}
		out, err := e.Handle(ctx, body)
		if _, ok := errors.AsType[*protocol.Error](err); err != nil && !ok {
			err = &protocol.Error{Code: protocol.CodeInternal, Message: err.Error()}
		}
		return out, err
	}
	return nil, fmt.Errorf("there is no endpoint %s", endpoint)
}

func (l localLine) News(string, func([]byte)) (func(), error) { return func() {}, nil }
