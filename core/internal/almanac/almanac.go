// Package almanac keeps what endpoints reported of their models and what probes
// showed, each with its endpoint and date, in files of one folder. Processes share
// it: a write is whole or not there, and a reader sees it at its next look. It asks
// no endpoint, and a damaged or missing file is as if nothing had been said.
package almanac

import (
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
)

// Almanac is the folder of what is known. It is safe for concurrent use, also by
// several processes.
type Almanac struct{ state, cache string }

// Open names the folders: probes cost money and are kept in state, reports can be had
// again and are kept in cache. It opens no file.
func Open(state, cache string) *Almanac { return &Almanac{state, cache} }

// Page is what the almanac held at one look; it never changes.
type Page struct{}

// Look gives what is kept: the same page as long as no file changed.
func (a *Almanac) Look() *Page { return &Page{} }

// Report gives what an endpoint said of its models.
func (p *Page) Report(catalog.Endpoint) (discovery.Report, bool) { return discovery.Report{}, false }

// Listed gives the entry of an endpoint's list for a model, and when it was read; nil
// when there is none.
func (p *Page) Listed(catalog.Endpoint, string) (*provider.Listed, time.Time) {
	return nil, time.Time{}
}

// Probe gives what a probe of a model showed; nil when there was none.
func (p *Page) Probe(catalog.Endpoint, string) *catalog.Probe { return nil }

// Keep writes what an endpoint said over what it said before.
func (a *Almanac) Keep(discovery.Report) error { return nil }

// KeepProbe writes a probe over the last one of the same model and endpoint.
func (a *Almanac) KeepProbe(catalog.Probe) error { return nil }

// DropProbe forgets a probe.
func (a *Almanac) DropProbe(catalog.Endpoint, string) error { return nil }
