package ollama

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
)

var whole = strings.Join([]string{think, word, more, oneCall, idCall, end}, "\n") + "\n"

// decodesSafely holds what is true of any stream: no panic, only our errors, every call
// whole and to be told apart.
func decodesSafely(t *testing.T, in string) (provider.Response, error) {
	t.Helper()
	resp, err := stream(strings.Split(in, "\n")...)
	if err != nil {
		if !provider.Is(err, provider.KindMalformed) && !provider.Is(err, provider.KindCut) && !strings.Contains(strings.ToLower(in), "rror") {
			t.Fatalf("%v\n%q", err, in)
		}
		if len(resp.Message.Parts) > 0 {
			t.Fatalf("an answer came with %v", err)
		}
		return resp, err
	}
	ids := map[string]bool{"call_1": true, "call_2": true}
	for _, p := range resp.Message.Parts {
		if p.Kind != provider.PartCall {
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(p.Call.Args, &object) != nil || object == nil || p.Call.Name == "" || ids[p.Call.ID] || p.Call.ID == "" {
			t.Fatalf("%+v\n%q", p.Call, in)
		}
		ids[p.Call.ID] = true
	}
	return resp, nil
}

// A stream that is cut at any byte is never an answer, until its last line is whole.
func TestAStreamCutAtEveryByte(t *testing.T) {
	last := len(whole) - 1 // the line feed itself says nothing
	for n := range last {
		if resp, err := decodesSafely(t, whole[:n]); err == nil {
			t.Fatalf("cut at byte %d it is an answer: %+v", n, resp)
		}
	}
	if _, err := decodesSafely(t, whole[:last]); err != nil {
		t.Fatal(err)
	}
}

// mutations is how many broken streams are tried: few enough to run with every change.
const mutations = 10_000

func TestMutatedStreams(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bits := []string{"{", "}", "[", "]", `"`, "\n", "null", `"done":true`, `"error":"x"`, `{}`, "\\u0000", "\x00", "\xff", "-1", "1e999"}
	answers := 0
	for range mutations {
		b := []byte(whole)
		for range 1 + random.IntN(4) {
			at := random.IntN(len(b))
			upto := min(len(b), at+random.IntN(20))
			switch random.IntN(4) {
			case 0:
				b[at] = byte(random.IntN(256))
			case 1:
				b = append(b[:at], b[upto:]...)
			case 2:
				b = append(b[:at:at], append([]byte(bits[random.IntN(len(bits))]), b[at:]...)...)
			default:
				b = append(b[:upto:upto], b[at:]...)
			}
		}
		if _, err := decodesSafely(t, string(b)); err == nil {
			answers++
		}
	}
	if answers == 0 || answers == mutations {
		t.Errorf("%d of %d were answers: the mutations try nothing", answers, mutations)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{whole, end, idCall + "\n" + idCall + "\n" + end, `{"error":{"code":429}}`, `{"message":{"tool_calls":[{}]}}` + "\n" + end} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) { _, _ = decodesSafely(t, in) })
}
