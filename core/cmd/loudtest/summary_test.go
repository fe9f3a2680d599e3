package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// talk is a run with a pass, a skip that says why, a failure and a package that
// does not build.
const talk = `{"Action":"build-output","ImportPath":"x/c","Output":"c.go:1: broken\n"}
{"Action":"output","Package":"x/a","Test":"TestSkip","Output":"=== RUN   TestSkip\n"}
{"Action":"output","Package":"x/a","Test":"TestSkip","Output":"    a_test.go:9: not run: needs a browser;\n"}
{"Action":"output","Package":"x/a","Test":"TestSkip","Output":"        install one and run make e2e\n"}
{"Action":"output","Package":"x/a","Test":"TestSkip","Output":"--- SKIP: TestSkip (0.00s)\n"}
{"Action":"skip","Package":"x/a","Test":"TestSkip"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"chatter\n"}
{"Action":"pass","Package":"x/a","Test":"TestGood"}
{"Action":"output","Package":"x/a","Output":"PASS\n"}
{"Action":"output","Package":"x/a","Output":"ok  \tx/a\t0.1s\n"}
{"Action":"pass","Package":"x/a"}
{"Action":"output","Package":"x/b","Test":"TestBad","Output":"    b_test.go:3: got 1, want 2\n"}
{"Action":"fail","Package":"x/b","Test":"TestBad"}
{"Action":"output","Package":"x/b","Output":"FAIL\n"}
{"Action":"output","Package":"x/b","Output":"FAIL\tx/b\t0.1s\n"}
{"Action":"fail","Package":"x/b"}
not json
`

func TestARunIsToldShortlyAndItsSkipsLoudly(t *testing.T) {
	var out strings.Builder
	s, err := read(strings.NewReader(talk), &out)
	if err != nil {
		t.Fatal(err)
	}
	s.tell(&out)
	want := `c.go:1: broken
ok  	x/a	0.1s
    b_test.go:3: got 1, want 2
FAIL	x/b	0.1s
not json

1 passed, 2 failed, 1 not run
FAILED   x/b TestBad
NOT RUN  needs a browser; install one and run make e2e
           TestSkip
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestASkipWithoutWordsIsStillTold(t *testing.T) {
	var out strings.Builder
	s, err := read(strings.NewReader(`{"Action":"skip","Package":"x","Test":"TestQuiet"}`+"\n"), &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]skip{{key{"x", "TestQuiet"}, "no reason given"}}, s.skipped, cmp.AllowUnexported(skip{}, key{})); diff != "" {
		t.Errorf("skips (-want +got):\n%s", diff)
	}
}

func TestTheExitCodeIsThatOfGoTest(t *testing.T) {
	var out, errs strings.Builder
	code, err := run(t.Context(), []string{"./nowhere"}, &out, &errs)
	if code == 0 {
		t.Errorf("exit 0 for a package that is not there; err %v, said %s%s", err, out.String(), errs.String())
	}
}
