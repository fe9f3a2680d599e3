// Package almanac keeps what endpoints reported of their models and what probes
// showed, each with its endpoint and date, in files of one folder. Processes share
// it: a write is whole or not there, and a reader sees it at its next look. It asks
// no endpoint, and a damaged or missing file is as if nothing had been said.
package almanac

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
)

// Almanac is the folder of what is known. It is safe for concurrent use, also by
// several processes.
type Almanac struct {
	probes   string // file of the probes
	reports  string // folder of the lists, one file an endpoint
	probing  lock   // over probes
	keeping  lock   // over reports
	page     atomic.Pointer[Page]
	renewing sync.Mutex // one reads at a time
}

// Open names the folders: probes cost money and are kept in state, reports can be had
// again and are kept in cache. It opens no file.
func Open(state, cache string) *Almanac {
	a := &Almanac{probes: filepath.Join(state, "probes.json"), reports: filepath.Join(cache, "models")}
	a.probing, a.keeping = lock(filepath.Join(state, "probes.lock")), lock(filepath.Join(a.reports, "lock"))
	return a
}

// Page is what the almanac held at one look; it never changes.
type Page struct {
	marks   marks
	reports map[catalog.Endpoint]*report
	probes  map[spot]*catalog.Probe
}

// spot is a model at an endpoint.
type spot struct {
	at catalog.Endpoint
	id string
}

// report is one endpoint's list, ready for look-ups.
type report struct {
	mark mark
	said discovery.Report
	byID map[string]*provider.Listed
}

// marks tell whether anything changed since a page was made: a write adds a byte to
// its lock's file, so that one within a tick of the clock is seen too, and what was
// replaced or deleted by hand shows in the other two.
type marks struct{ probing, probes, keeping, reports mark }

func (a *Almanac) marks() marks {
	return marks{markOf(string(a.probing)), markOf(a.probes), markOf(string(a.keeping)), markOf(a.reports)}
}

// Look gives what is kept: the same page as long as no file changed.
func (a *Almanac) Look() *Page {
	now := a.marks()
	if p := a.page.Load(); p != nil && p.marks == now {
		return p
	}
	a.renewing.Lock()
	defer a.renewing.Unlock()
	now = a.marks() // before anything is read: what changes meanwhile is seen at the next look
	last := a.page.Load()
	if last != nil && last.marks == now {
		return last
	}
	p := a.read(now, last)
	a.page.Store(p)
	return p
}

// Report gives what an endpoint said of its models. It is shared: nobody changes it.
func (p *Page) Report(at catalog.Endpoint) (discovery.Report, bool) {
	r, ok := p.reports[at]
	if !ok {
		return discovery.Report{}, false
	}
	return r.said, true
}

// Listed gives the entry of an endpoint's list for a model, and when it was read; nil
// when there is none, with the time when there is a list.
func (p *Page) Listed(at catalog.Endpoint, id string) (*provider.Listed, time.Time) {
	r, ok := p.reports[at]
	if !ok {
		return nil, time.Time{}
	}
	l := r.byID[id]
	if l == nil && strings.HasPrefix(string(at), ollamaWire) && !strings.Contains(id, ":") {
		l = r.byID[id+":latest"]
	}
	return l, r.said.At
}

// ollamaWire begins the endpoints where an id without a tag means the tag latest
// (Ollama's API documentation, "Model names").
const ollamaWire = "ollama "

// Probe gives what a probe of a model showed; nil when there was none.
func (p *Page) Probe(at catalog.Endpoint, id string) *catalog.Probe { return p.probes[spot{at, id}] }

// Keep writes what an endpoint said over what it said before.
func (a *Almanac) Keep(r discovery.Report) error {
	if r.Endpoint == "" {
		return errors.New("a list without an endpoint cannot be kept")
	}
	if over := len(r.Models) - reportModels; over > 0 {
		r.Models = r.Models[:reportModels]
		r.Notes = append(slices.Clone(r.Notes), fmt.Sprintf("%d models more than %d were left out", over, reportModels))
	}
	text, err := encode(reportFile{Format: format, Report: r}, maxReport)
	if err != nil {
		return fmt.Errorf("keep the list of %s: %w", r.Endpoint.URL(), err)
	}
	err = a.keeping.hold(func() error {
		return errors.Join(replace(a.reportPath(r.Endpoint), text), a.thin())
	})
	if err != nil {
		return fmt.Errorf("keep the list of %s: %w", r.Endpoint.URL(), err)
	}
	return nil
}

// KeepProbe writes a probe over the last one of the same model and endpoint.
func (a *Almanac) KeepProbe(p catalog.Probe) error {
	if p.Endpoint == "" || p.ID == "" {
		return errors.New("a probe without an endpoint and a model cannot be kept")
	}
	err := a.changeProbes(func(all []catalog.Probe) []catalog.Probe {
		return append(without(all, p.Endpoint, p.ID), p)
	})
	if err != nil {
		return fmt.Errorf("keep the probe of %s: %w", p.ID, err)
	}
	return nil
}

// DropProbe forgets a probe.
func (a *Almanac) DropProbe(at catalog.Endpoint, id string) error {
	if a.Look().Probe(at, id) == nil {
		return nil
	}
	err := a.changeProbes(func(all []catalog.Probe) []catalog.Probe { return without(all, at, id) })
	if err != nil {
		return fmt.Errorf("forget the probe of %s: %w", id, err)
	}
	return nil
}

func without(all []catalog.Probe, at catalog.Endpoint, id string) []catalog.Probe {
	return slices.DeleteFunc(all, func(p catalog.Probe) bool { return p.Endpoint == at && p.ID == id })
}

// changeProbes reads, changes and writes the probes under the lock, so that two who
// probe at once lose nothing of each other.
func (a *Almanac) changeProbes(change func([]catalog.Probe) []catalog.Probe) error {
	return a.probing.hold(func() error {
		all := change(readProbes(a.probes))
		slices.SortFunc(all, func(x, y catalog.Probe) int { return x.At.Compare(y.At) })
		text, err := encode(probesFile{Format: format, Probes: all[max(0, len(all)-probesKept):]}, maxProbes)
		if err != nil {
			return err
		}
		return replace(a.probes, text)
	})
}
