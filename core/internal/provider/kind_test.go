package provider

import "testing"

func TestKindOf(t *testing.T) {
	for _, row := range []struct {
		status      int
		code, words string
		want        Kind
	}{
		{400, "invalid_request_error", "", KindRefused},
		{400, "invalid_request_error", "Your credit balance is too low to access the API", KindKey},
		{429, "insufficient_quota", "", KindKey},
		{429, "rate_limit_exceeded", "", KindBusy},
		{401, "", "", KindKey},
		{413, "", "", KindLarge},
		{501, "", "", KindRefused},
		{500, "", "image input is not supported", KindBusy}, // the status says so; the words are for the gateway
		{529, "", "", KindBusy},
		{307, "", "", KindRefused},
		{200, "overloaded_error", "", KindBusy},
		{200, "429 rate_limit", "", KindBusy},
		{200, "400 provider", "", KindRefused},
		{200, "authentication_error", "", KindKey},
		{200, "InvalidParameter", "", KindRefused},
		{200, "", "", KindBusy},
	} {
		if got := KindOf(row.status, row.code, row.words); got != row.want {
			t.Errorf("%d %q %q is %s, want %s", row.status, row.code, row.words, got, row.want)
		}
	}
}

func TestReceipt(t *testing.T) {
	p := Picture{}
	p.Bytes, p.MediaType = []byte("abc"), "image/png"
	// SHA-256 of "abc", from FIPS 180-2, appendix B.1.
	p.SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if r, err := p.Receipt("x"); err != nil || r.SHA256 != p.SHA256 || r.Bytes != 3 || r.Place != "x" {
		t.Errorf("%+v, %v", r, err)
	}
	for why, change := range map[string]func(*Picture){
		"other bytes":   func(p *Picture) { p.Bytes = []byte("abd") },
		"no bytes":      func(p *Picture) { p.Bytes = nil },
		"no media type": func(p *Picture) { p.MediaType = "" },
		"capitals":      func(p *Picture) { p.SHA256 = "BA" + p.SHA256[2:] },
	} {
		bad := p
		change(&bad)
		if _, err := bad.Receipt("x"); err == nil {
			t.Errorf("%s: a receipt was made", why)
		}
	}
}
