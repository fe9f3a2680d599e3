package orchestrator

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/showing"
)

// show calls relo_image.
func show(t *testing.T, k *work, id string, paths ...string) tool.Result {
	t.Helper()
	r, err := k.gate.Run(t.Context(), id, raw(map[string]any{"paths": paths}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// put writes a file of the workspace, as it was some time ago.
func put(t *testing.T, k *work, name, text string, ago time.Duration) {
	t.Helper()
	file := filepath.Join(k.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-ago)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestRolesSayWhatAPictureIsToTheTask(t *testing.T) {
	task := protocol.Assignment{Eyes: vision.Sees, Images: []job.Image{{Path: "docs/mock.png"}}}
	review := protocol.Assignment{Eyes: vision.Sees, Kind: job.Review, Review: &protocol.ReviewMaterial{Files: []job.FileChange{{Path: "shots/a.png"}}}}
	files := map[string]string{"docs/mock.png": "mock", "logo.png": "logo", "old.png": "old", "shots/a.png": "a", "main.go": "package main"}
	for _, c := range []struct {
		why  string
		a    protocol.Assignment
		path string
		want vision.Role
	}{
		{"the task names it", task, "docs/mock.png", vision.Reference},
		{"written in another way", task, "./docs/../docs/mock.png", vision.Reference},
		{"an attachment", task, ".relo/attachments/mock.png", vision.Reference},
		{"the attempt made it", task, "new.png", vision.Result},
		{"the attempt changed it", task, "old.png", vision.Result},
		{"it was there before", task, "logo.png", vision.Other},
		{"git ignores it, so it is the attempt's", task, "ignored/shot.png", vision.Result},
		{"the author changed it", review, "shots/a.png", vision.Result},
		{"the author did not", review, "logo.png", vision.Other},
		{"the reviewer made it", review, "new.png", vision.Result},
	} {
		t.Run(c.why, func(t *testing.T) {
			k, _ := alone(t, c.a, files)
			put(t, k, ".relo/attachments/mock.png", "mock", 0)
			put(t, k, "new.png", "new", 0)
			put(t, k, "old.png", "changed", 0)
			put(t, k, "ignored/shot.png", "shot", 0)
			for _, name := range []string{c.path, filepath.Join(k.dir, c.path)} {
				r := show(t, k, "call", name)
				if len(r.Pictures) != 1 || r.Pictures[0].View.Role != c.want {
					t.Fatalf("%s: %+v", name, r)
				}
				if strings.Contains(r.Pictures[0].View.Path, k.dir) {
					t.Errorf("the view names this machine: %s", r.Pictures[0].View.Path)
				}
			}
		})
	}
}

func TestAPictureIsFreshWhenItWasWrittenAfterTheLastEdit(t *testing.T) {
	k, _ := alone(t, protocol.Assignment{Eyes: vision.Sees, Kind: job.Work}, map[string]string{"main.go": "package main"})
	write := k.watch.over(writeTool{k.dir})
	fresh := func(name string) bool { return show(t, k, "call", name).Pictures[0].View.Fresh }
	put(t, k, "before.png", "x", time.Hour)
	if !fresh("before.png") {
		t.Error("nothing was edited, so every picture shows the sources as they are")
	}
	treeBefore := k.watch.tree
	if _, err := write.Run(t.Context(), "1", json.RawMessage(`{"path":"main.go","content":"package blue"}`)); err != nil {
		t.Fatal(err)
	}
	put(t, k, "after.png", "x", -time.Second)
	if fresh("before.png") || !fresh("after.png") {
		t.Error("a picture from before the edit is fresh, or one from after it is not")
	}
	if v := show(t, k, "call", "after.png").Pictures[0].View; v.Tree == treeBefore || v.Tree == "" {
		t.Errorf("the view is bound to the tree %q, before the edit it was %q", v.Tree, treeBefore)
	}
	if _, err := write.Run(t.Context(), "2", json.RawMessage(`{"path":"main.go","content":"package blue"}`)); err != nil {
		t.Fatal(err)
	}
	if !fresh("after.png") {
		t.Error("an edit that changed nothing made it old")
	}
	put(t, k, "main.go", "package red", 0) // by something that nobody saw
	if fresh("before.png") {
		t.Error("a change that no tool made was not seen")
	}
}

func TestABlindModelGetsNoPixels(t *testing.T) {
	a := protocol.Assignment{Kind: job.Work, Eyes: vision.Blind, Vision: true, Images: []job.Image{{Path: "mock.png"}}}
	k, _ := alone(t, a, map[string]string{"mock.png": "mock"})
	r := show(t, k, "call", "mock.png")
	if !r.IsError || len(r.Pictures) != 0 || !strings.Contains(r.Text, "cannot see") {
		t.Errorf("%+v", r)
	}
	for _, one := range k.tools() {
		if one.Spec().Name == prompt.Image().Name || one.Spec().Name == prompt.Describe().Name {
			t.Errorf("it is offered %s, and nobody may look", one.Spec().Name)
		}
	}
	// The picture stands in the transcript; the gateway puts words in its place.
	if first := k.task().First; len(first) != 3 || first[2].Kind != provider.PartPicture {
		t.Errorf("the first message is %+v", first)
	}
}

func TestTheFirstMessageShowsTheTasksPictures(t *testing.T) {
	a := protocol.Assignment{Kind: job.Work, Eyes: vision.Sees, Images: []job.Image{{Path: "b.png"}, {Path: "a.png"}, {Path: "a.png"}}}
	k, _ := alone(t, a, map[string]string{"a.png": "a", "b.png": "b"})
	var got []string
	for _, p := range k.task().First {
		if p.Kind == provider.PartPicture {
			got = append(got, string(p.Picture.View.Role)+" "+p.Picture.View.Path)
		}
	}
	if diff := cmp.Diff([]string{"reference a.png", "reference b.png"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestATaskWhosePictureIsMissingFailsLoudly(t *testing.T) {
	x := &shed{s: &stage{t: t, mem: newMemory()}, start: map[string]map[string]string{}, act: diligent}
	for _, a := range []protocol.Assignment{
		{Images: []job.Image{{Path: "mock.png"}}}, {Attachments: []job.Image{{Path: "mock.png", Attachment: true, SHA256: "none"}}},
	} {
		a.Engine, a.Minutes, a.Attempt = "scripted", 1, job.NewID()
		w := x.made(1)
		if got := newWork(w, a, &holding{}, w.Log).do(t.Context()).End; got.Outcome != job.OutFailed || !strings.Contains(got.Reason, "mock.png") {
			t.Errorf("%s: %s", got.Outcome, got.Reason)
		}
	}
}

func TestACallFailsOnlyWhenNoneCouldBeShown(t *testing.T) {
	k, _ := alone(t, protocol.Assignment{Eyes: vision.Sees}, map[string]string{"a.png": "a"})
	var out struct {
		Images []struct {
			Index *int
			Path  string
			Error *struct{ Code string }
		}
	}
	some := show(t, k, "call", "gone.png", "a.png")
	if err := json.Unmarshal([]byte(some.Text), &out); err != nil {
		t.Fatal(err)
	}
	if some.IsError || len(out.Images) != 2 || out.Images[0].Error.Code != "not_found" || out.Images[1].Error != nil || *out.Images[1].Index != 0 {
		t.Errorf("%v %s", some.IsError, some.Text)
	}
	if some.Pictures[0].View.ID != "call:1" {
		t.Errorf("the view's id is %s", some.Pictures[0].View.ID)
	}
	if none := show(t, k, "call", "gone.png", "also.png"); !none.IsError || len(none.Pictures) != 0 {
		t.Errorf("%+v", none)
	}
}

// The limits are showing's and tested there; here, that the gate asks for them.
func TestTheGateHoldsTheLimitsOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, _ := alone(t, protocol.Assignment{Eyes: vision.Sees}, map[string]string{"a.png": "a"})
		if r := show(t, k, "five", "a.png", "a.png", "a.png", "a.png", "a.png"); !r.IsError || len(r.Pictures) != 0 {
			t.Errorf("%+v", r)
		}
		for i := range showing.CallsPerMinute {
			if r := show(t, k, fmt.Sprint(i), "a.png", "a.png", "a.png", "a.png"); r.IsError || len(r.Pictures) != showing.PerCall {
				t.Fatalf("call %d: %s", i, r.Text)
			}
		}
		if r := show(t, k, "over", "a.png"); !r.IsError || !strings.HasPrefix(r.Text, "busy") {
			t.Errorf("%+v", r)
		}
		pass(time.Minute + time.Millisecond)
		if r := show(t, k, "next", "a.png"); r.IsError {
			t.Errorf("%+v", r)
		}
	})
}

// P101: the agents of a job share two places, and an attempt that ends gives its up.
func TestTheAgentsOfAJobShareItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, _ := alone(t, protocol.Assignment{Hold: protocol.Hold{Job: "j"}, Eyes: vision.Sees}, map[string]string{"a.png": "a"})
		other := k.w.Rooms.Join("j")
		for range showing.AtOnce {
			if _, err := other.Place(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if r := show(t, k, "1", "a.png"); !r.IsError || !strings.Contains(r.Text, `"busy"`) {
			t.Errorf("%+v", r)
		}
	})
}
