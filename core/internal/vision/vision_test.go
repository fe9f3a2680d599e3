package vision

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSightInJSON(t *testing.T) {
	for s, word := range map[Sight]string{Unknown: `"unknown"`, Sees: `"yes"`, Blind: `"no"`} {
		text, err := json.Marshal(s)
		if err != nil || string(text) != word {
			t.Errorf("%d is %s, %v", s, text, err)
		}
		var back Sight
		if err := json.Unmarshal(text, &back); err != nil || back != s {
			t.Errorf("%s came back as %v, %v", text, back, err)
		}
	}
	back := Sees
	if err := json.Unmarshal([]byte(`""`), &back); err != nil || back != Unknown {
		t.Errorf("an older document's empty word: %v, %v", back, err)
	}
	for _, bad := range []string{`"YES"`, `"maybe"`, `true`, `1`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read as %v", bad, back)
		}
	}
	if Sight(99).String() != "unknown" {
		t.Error("a value that is none is not known")
	}
	if Of(true) != Sees || Of(false) != Blind {
		t.Error("a known bool is no unknown")
	}
}

var sources = []Source{Refused, Configured, Probed, Reported, Catalog, Name}

func TestResolve(t *testing.T) {
	a := func(s Sight, src Source) Answer { return Answer{Sight: s, Source: src} }
	tests := []struct {
		answers []Answer
		want    Answer
		why     string
	}{
		{nil, Answer{}, "nobody was asked"},
		{[]Answer{a(Sees, Name)}, a(Sees, Name), "a guess is better than nothing"},
		{[]Answer{a(Sees, Name), a(Blind, Configured)}, a(Blind, Configured), "the person's word comes before a guess"},
		{[]Answer{a(Sees, Configured), a(Blind, Refused)}, a(Blind, Refused), "what the endpoint did comes before the person's word"},
		{[]Answer{a(Unknown, Configured), a(Sees, Catalog)}, a(Sees, Catalog), "not known is no answer"},
		{[]Answer{a(Unknown, Name)}, Answer{}, "and does not win alone"},
		{[]Answer{a(Sees, "hearsay"), a(Blind, Name)}, a(Blind, Name), "a source that is none does not count"},
		{[]Answer{a(Sees, Catalog), a(Blind, Catalog)}, a(Sees, Catalog), "the first of the same source"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Resolve(c.answers...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheStrongestSourceWinsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Answer
		for _, s := range sources {
			if sight := Sight(rapid.IntRange(0, 3).Draw(t, "sight")); sight < 3 {
				all = append(all, Answer{Sight: sight, Source: s})
			}
		}
		var want Answer
		for _, a := range slices.Backward(all) {
			if a.Sight != Unknown {
				want = a
			}
		}
		if got := Resolve(rapid.Permutation(all).Draw(t, "order")...); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

func TestEverySourceHasWords(t *testing.T) {
	for _, s := range sources {
		if w := s.Words(); w == "" || w == Source("").Words() {
			t.Errorf("%s is %q", s, w)
		}
	}
}

func TestAPicturesBytesNeverEnterJSON(t *testing.T) {
	text, err := json.Marshal(Picture{SHA256: "s", MediaType: "image/png", Width: 1, Height: 2, Bytes: []byte("pixels")})
	if err != nil || string(text) != `{"sha256":"s","mediaType":"image/png","width":1,"height":2}` {
		t.Errorf("%s %v", text, err)
	}
}

func TestMetaAndViewComeBack(t *testing.T) {
	meta := Meta{Index: 1, Path: "a.png", Format: "png", Source: Size{4, 3}, Sent: Size{2, 2}, Crop: &Region{1, 2, 3, 4}, Scale: Scale{2, 1.5}, MediaType: "image/png", Bytes: 9, SHA256: "s", ApproxTokens: 7, Notes: []string{"n"}}
	text, err := json.Marshal(meta)
	if err != nil {
		t.Fatal(err)
	}
	var back Meta
	if err := json.Unmarshal(text, &back); err != nil || cmp.Diff(meta, back) != "" {
		t.Errorf("%s %v", text, err)
	}
	if text, err = json.Marshal(Meta{}); err != nil || strings.Contains(string(text), "crop") {
		t.Errorf("the whole picture has no crop: %s", text)
	}
	view := View{ID: "v", Path: "a.png", Role: Result, Region: &Region{1, 2, 3, 4}, Source: Size{4, 3}, Tree: "t", Fresh: true}
	if text, err = json.Marshal(view); err != nil {
		t.Fatal(err)
	}
	var viewBack View
	if err := json.Unmarshal(text, &viewBack); err != nil || cmp.Diff(view, viewBack) != "" {
		t.Errorf("%s %v", text, err)
	}
}

func TestAPictureIsHeldAgainstEachLimit(t *testing.T) {
	f := Fit{MaxEdge: 100, MaxBytes: 1000, MinEdge: 10, MinPixels: 400, MaxPixels: 5000, MaxAspect: 4, Kinds: []string{"image/png"}}
	for _, c := range []struct {
		why     string
		f       Fit
		w, h, n int
		kind    string
		want    bool
	}{
		{"at every limit", f, 50, 100, 1000, "image/png", true},
		{"an edge too long", f, 40, 101, 1, "image/png", false},
		{"a byte too many", f, 50, 50, 1001, "image/png", false},
		{"a side too short", f, 9, 90, 1, "image/png", false},
		{"too few pixels", f, 19, 21, 1, "image/png", false},
		{"too many pixels", f, 72, 70, 1, "image/png", false},
		{"too long for its width", f, 20, 81, 1, "image/png", false},
		{"of another kind", f, 50, 50, 1, "image/jpeg", false},
		{"no limits", Fit{}, 30_000, 1, 1 << 30, "image/webp", true},
		{"no limits, a kind that nobody takes", Fit{}, 1, 1, 1, "image/bmp", false},
		{"no pixels", Fit{}, 0, 5, 1, "image/png", false},
	} {
		if got := c.f.Holds(c.w, c.h, c.n, c.kind); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}
