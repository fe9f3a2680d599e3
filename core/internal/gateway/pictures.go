package gateway

import (
	"encoding/json"
	"fmt"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// tally is what a request holds.
type tally struct {
	shown     int
	tokens    int64 // of the shown pictures, estimated
	textBytes int
	left      left
}

// left lists the pictures that went as words.
type left []provider.Picture

func (l left) ids() []string {
	var out []string
	for _, p := range l {
		out = append(out, p.View.ID)
	}
	return out
}

// prepare makes the request that goes out to one model: pictures get their
// bytes, or become words where the model cannot see them. The caller's request
// stays as it is.
func (g *Gateway) prepare(r provider.Request, m catalog.Model) (provider.Request, tally, error) {
	var t tally
	var missing []string
	show := func(p provider.Picture) (provider.Picture, bool) {
		if !m.MayShow() {
			t.left = append(t.left, p)
			return p, false
		}
		data, err := g.album.Blob(p.SHA256)
		if err != nil {
			missing = append(missing, p.SHA256)
			return p, true
		}
		p.Bytes = data
		t.shown++
		t.tokens += ledger.PictureTokens(p.Width, p.Height)
		return p, true
	}
	out := r
	out.Model = m.ID
	out.MaxTokens = maxTokens(r.MaxTokens, m.MaxOutput)
	out.Messages = make([]provider.Message, len(r.Messages))
	for i, msg := range r.Messages {
		parts := make([]provider.Part, len(msg.Parts))
		for k, p := range msg.Parts {
			parts[k] = putPictures(p, show)
		}
		out.Messages[i] = provider.Message{Role: msg.Role, Parts: parts}
	}
	if len(missing) > 0 {
		return out, t, &traffic.MissingError{SHA256: missing}
	}
	t.textBytes = textBytes(out)
	return out, t, nil
}

// putPictures decides for each picture of a part, copying what it changes.
func putPictures(p provider.Part, show func(provider.Picture) (provider.Picture, bool)) provider.Part {
	switch {
	case p.Picture != nil:
		pic, ok := show(*p.Picture)
		if !ok {
			return provider.Text(leftOut(pic))
		}
		p.Picture = &pic
	case p.Result != nil && len(p.Result.Pictures) > 0:
		r := *p.Result
		r.Pictures = nil
		for _, pic := range p.Result.Pictures {
			shown, ok := show(pic)
			if ok {
				r.Pictures = append(r.Pictures, shown)
			} else {
				r.Text += "\n" + leftOut(pic)
			}
		}
		p.Result = &r
	}
	return p
}

// leftOut is the honest note in a picture's place.
func leftOut(p provider.Picture) string {
	return fmt.Sprintf("[The picture %s (%d×%d) is not shown: this model cannot see images.]", p.View.Path, p.Width, p.Height)
}

func maxTokens(asked, most int) int {
	switch {
	case asked <= 0 && most <= 0:
		return ledger.DefaultMaxOutput
	case asked <= 0:
		return min(most, ledger.DefaultMaxOutput)
	case most <= 0:
		return asked
	default:
		return min(asked, most)
	}
}

// textBytes measures the request without its pictures: their bytes never count as prose.
func textBytes(r provider.Request) int {
	n := len(r.System)
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text) + len(p.Signature)
			if p.Call != nil {
				n += len(p.Call.Args) + len(p.Call.Name)
			}
			if p.Result != nil {
				n += len(p.Result.Text)
			}
		}
	}
	if tools, err := json.Marshal(r.Tools); err == nil {
		n += len(tools)
	}
	return n
}

// looks turns receipts into looks, once a view; pictures that went as words are
// told too, as dropped.
func (g *Gateway) looks(c traffic.Call, m catalog.Model, r provider.Response, words left) []job.Look {
	var out []job.Look
	for _, x := range r.Receipts {
		if c.Shown[x.View.ID] {
			continue
		}
		l := lookOf(x.View, m.Ref, job.HowPixels)
		l.SHA256, l.Place, l.Bytes, l.MediaType, l.Sent, l.RequestID = x.SHA256, x.Place, x.Bytes, x.MediaType, x.Size, r.RequestID
		out = append(out, l)
	}
	for _, p := range words {
		if c.Shown[p.View.ID] {
			continue
		}
		l := lookOf(p.View, m.Ref, job.HowDropped)
		l.SHA256, l.MediaType, l.Sent = p.SHA256, p.MediaType, vision.Size{Width: p.Width, Height: p.Height}
		out = append(out, l)
	}
	return out
}

func lookOf(v vision.View, by catalog.Ref, how string) job.Look {
	return job.Look{
		ID: v.ID, Path: v.Path, Role: v.Role, Region: v.Region, Source: v.Source, How: how, By: string(by),
		Tree: v.Tree, Fresh: v.Fresh, AfterLastEdit: v.Fresh && v.Role == vision.Result && how == job.HowPixels,
	}
}
