package catalog

import (
	"strconv"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Known is what the catalogue says of a model at one place.
type Known struct {
	API       string // the config's api, such as anthropic
	ID        string
	Route     string // whose list has it; empty: by the id alone
	Name      string // for people; empty: Words makes one of the id
	Tier      Tier
	Old       bool          // a newer one does the same for less: known, but not proposed
	Sight     vision.Answer // source Catalog; Unknown where the lists contradict each other
	Context   int           // tokens; 0: unknown
	MaxOutput int           // tokens; 0: unknown
	Price     Price
	Tools     *bool // nil: not said
	Chat      *bool // nil: not said; false for embedding, speech and the like
}

// Words is the model's name for people.
func (k Known) Words() string {
	if k.Name != "" {
		return k.Name
	}
	return nameOf(k.ID)
}

// Find gives what the built-in catalogue knows of a model; see Table.Find.
func Find(api, base, id string) (Known, bool) { return BuiltIn().Find(api, base, id) }

// Find gives what the table knows of a model. api is the config's, base the provider's
// URL (empty: the api's own): together they are the route. The route's own row says all
// that is known, with the price. Elsewhere the same id says only what the model itself
// can: its sight when that is sure, its window when its vendor says so, and never a
// price or the longest answer, which are the service's; only a preset at an address of
// the person's own keeps those of the service that it names.
func (t *Table) Find(api, base, id string) (Known, bool) {
	at := t.route(api, base)
	rows, sure := t.named(id)
	if at >= 0 {
		if r := t.rowAt(at, rows, id); r != nil {
			return t.known(api, r, rows, sure), true
		}
	}
	k := Known{API: api, ID: id}
	if sure {
		v := t.hear(rows)
		k.Sight = v.answer(t)
		if v.vendor != nil {
			k.Context, k.Tools = int(v.vendor.context), v.vendor.tools
			k.Name = v.vendor.name
		}
		k.Chat = t.chat(rows)
	}
	if preset, ok := t.presets[api]; ok && at < 0 {
		// The person says by the preset that it is this service, at another address: a
		// gateway in front of it passes the price on.
		if r := t.rowAt(preset, rows, id); r != nil {
			k.Price, k.MaxOutput = r.price, int(r.most)
		}
	}
	if at >= 0 && t.routes[at].nature.textOnly && id != "" {
		k.Sight = vision.Answer{Sight: vision.Blind, Source: vision.Catalog, Detail: textOnly}
	}
	return k, k.Sight.Source != "" || k.Chat != nil
}

// textOnly is the detail of a service that takes no pictures.
const textOnly = "the service takes no pictures"

// rowAt gives the row of a route that an id names there. Other forms of the id are
// other models or other prices at the same service, so only the case may differ.
// Gemini's list puts models/ before its ids.
func (t *Table) rowAt(route int32, rows []int32, id string) *row {
	id = strings.TrimPrefix(id, "models/")
	var near *row
	for _, i := range rows {
		r := &t.rows[i]
		if r.route != route {
			continue
		}
		if r.id == id {
			return r
		}
		if strings.EqualFold(r.id, id) {
			near = r
		}
	}
	return near
}

// known is what a route says of its own model.
func (t *Table) known(api string, r *row, rows []int32, sure bool) Known {
	where := &t.routes[r.route]
	k := Known{
		API: api, ID: r.id, Route: where.name, Name: r.name, Context: int(r.context), MaxOutput: int(r.most), Price: r.price, Tools: r.tools,
		Sight: vision.Answer{Sight: r.sight, Source: vision.Catalog, Detail: where.own},
	}
	switch {
	case r.notChat:
		k.Chat = &t.not
	case where.nature.textOnly:
		k.Sight = vision.Answer{Sight: vision.Blind, Source: vision.Catalog, Detail: textOnly}
	case t.tellsChat(r):
		k.Chat = &t.yes
	}
	if r.sight == vision.Blind && !where.nature.textOnly {
		if doubt := t.doubt(r, rows, sure); doubt.Source != "" {
			k.Sight = doubt
		}
	}
	return k
}

// tellsChat reports whether the row is proof of a chat model, whatever its name looks
// like: it is in its vendor's own list, without another use, and has a window. Other
// lists do not say of each ranker and speaker what it is.
func (t *Table) tellsChat(r *row) bool {
	return t.routes[r.route].nature.makes != nil && !r.notChat && !r.draws && r.context > 0
}

// chat is whether rows of one model are of a chat model: as its vendor says, or as all
// do who have it; nil when nobody says.
func (t *Table) chat(rows []int32) *bool {
	silent := 0
	for _, i := range rows {
		r := &t.rows[i]
		switch {
		case t.tellsChat(r):
			return &t.yes
		case r.notChat && t.routes[r.route].nature.makes != nil:
			return &t.not
		case r.notChat:
			silent++
		}
	}
	if silent == len(rows) {
		return &t.not
	}
	return nil
}

// routeSet is a set of routes.
type routeSet [maxRoutes / 64]uint64

func (s *routeSet) add(route int32)      { s[route>>6] |= 1 << (route & 63) }
func (s *routeSet) has(route int32) bool { return s[route>>6]&(1<<(route&63)) != 0 }

// voices is what all routes say of one model's sight, a voice a route.
type voices struct {
	vendor  *row // of one who makes it, with a sight
	yes     int  // routes that say yes
	firmYes int  // those of them whose lists are firm, the vendor among them
	firmNo  int  // routes with a firm list that say no
	looseNo int  // others that say no
}

// hear asks the rows of one model, which are at least one. A route with a row that says yes says yes: another
// of its rows for the same model (:free) is often filled in less well. Vendors' own
// lists agree with each other; should they not, a yes counts.
func (t *Table) hear(rows []int32) voices {
	var v voices
	var yes, no routeSet
	var buf [keyBytes]byte
	name := key(&buf, t.rows[rows[0]].id) // all have the same
	for _, i := range rows {
		r := &t.rows[i]
		where := &t.routes[r.route]
		if r.sight == vision.Unknown || where.nature.textOnly {
			continue
		}
		if r.sight == vision.Sees {
			yes.add(r.route)
		} else {
			no.add(r.route)
		}
		if where.nature.makes == nil || !where.nature.owns(name) {
			continue
		}
		if v.vendor == nil || r.sight == vision.Sees && v.vendor.sight == vision.Blind {
			v.vendor = r
		}
	}
	for route := range t.routes {
		at := int32(route)
		firm := t.routes[route].nature.firm
		switch {
		case yes.has(at):
			v.yes++
			if firm {
				v.firmYes++
			}
		case no.has(at) && firm:
			v.firmNo++
		case no.has(at):
			v.looseNo++
		}
	}
	return v
}

const (
	// enoughYes is how many routes have to say yes where no vendor speaks. A yes is
	// seldom wrong in the lists, and a wrong one costs one refused request.
	enoughYes = 2
	// enoughNo and enoughFirmNo are how many routes have to say no, at all or with firm
	// lists: a no is often just a flag that nobody set, and a wrong one never heals.
	enoughNo, enoughFirmNo = 3, 2
)

// contested reports whether a vendor's no is doubted: two other routes say yes, one of
// them firm. (xai's list of 18.2.11 has no images for grok-4, four others do.)
func (v voices) contested() bool { return v.yes >= enoughYes && v.firmYes > 0 }

// sight is what the voices come to.
func (v voices) sight() vision.Sight {
	no := v.firmNo + v.looseNo
	switch {
	case v.vendor != nil && (v.vendor.sight == vision.Sees || !v.contested()):
		return v.vendor.sight
	case v.vendor == nil && v.firmNo == 0 && v.yes >= enoughYes:
		return vision.Sees
	case v.vendor == nil && v.yes == 0 && (v.firmNo >= enoughFirmNo || no >= enoughNo):
		return vision.Blind
	}
	return vision.Unknown
}

// answer is what to say of a place whose own list is not known, or not believed.
func (v voices) answer(t *Table) vision.Answer {
	no := v.firmNo + v.looseNo
	a := vision.Answer{Sight: v.sight(), Source: vision.Catalog}
	switch {
	case v.yes+no == 0:
		return vision.Answer{}
	case a.Sight != vision.Unknown && v.vendor != nil:
		a.Detail = t.routes[v.vendor.route].byID
	case a.Sight != vision.Unknown:
		a.Detail = t.tally("", v.yes, no)
	case v.yes > 0 && no > 0:
		a.Detail = t.tally("contested: ", v.yes, no)
	default:
		a.Detail = t.tally(few, v.yes, no)
	}
	return a
}

// tally words how many routes say what: 7 yes, 2 no in the lists of 18.2.11.
func (t *Table) tally(before string, yes, no int) string {
	var room [96]byte
	b := append(room[:0], before...)
	if yes > 0 {
		b = append(strconv.AppendInt(b, int64(yes), 10), " yes"...)
	}
	if yes > 0 && no > 0 {
		b = append(b, ", "...)
	}
	if no > 0 {
		b = append(strconv.AppendInt(b, int64(no), 10), " no"...)
	}
	return string(append(append(b, " in the lists of "...), t.Version...))
}

// doubt is what to say instead of a route's own no; the zero Answer when it stands. One
// who serves models of others may serve one without its eyes, so the no of a firm list
// stands, but for its owner's own models when others know better. The no of any other
// list counts only where enough lists agree: of 317 that contradict a vendor or the
// name in 18.2.11, all that were looked at were flags nobody had set.
func (t *Table) doubt(r *row, rows []int32, sure bool) vision.Answer {
	where := &t.routes[r.route].nature
	if !sure {
		if where.firm {
			return vision.Answer{}
		}
		return vision.Answer{Source: vision.Catalog, Detail: t.tally(few, 0, 1)}
	}
	v := t.hear(rows)
	var buf [keyBytes]byte
	if where.firm && (!v.contested() || !where.owns(key(&buf, r.id))) {
		return vision.Answer{}
	}
	if v.sight() == vision.Blind {
		return vision.Answer{}
	}
	return v.answer(t)
}

// few begins the detail of an answer that only so many lists give.
const few = "too few to be sure: "
