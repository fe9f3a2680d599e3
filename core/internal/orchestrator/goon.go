package orchestrator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// takeUp goes on from an attempt that was interrupted: in its own folder when
// that is on this machine, else in a new worktree with its files. False: there
// is nothing to go on from, and the attempt begins anew.
func (k *work) takeUp(ctx context.Context) (bool, error) {
	c := k.a.Continue
	if c == nil {
		return false, nil
	}
	for _, attempt := range append([]string{c.Attempt}, c.Chain...) {
		k.w.Shop.Sweep(attempt)
	}
	if root := k.w.folderOf(*c); root != "" {
		past, err := readTraceFile(root)
		if err == nil && len(past) > 0 {
			k.in(root)
			k.a.Base = c.Base
			return true, k.resume(ctx, past)
		}
		if err != nil {
			k.log.Warn().Err(err).Msg("the trace of the interrupted attempt cannot be read here")
		}
	}
	past, data := k.sentTrace(ctx, *c)
	if len(past) == 0 {
		k.step(engine.Step{Kind: "progress", Summary: "what the interrupted attempt had done is not to be had here, so the task begins anew"})
		k.a.Continue = nil
		return false, nil
	}
	k.a.Base = c.Base
	if err := k.w.Trees.AddAt(ctx, k.a.Repo, k.dir, c.Base, cmp.Or(c.Commit, c.Base)); err != nil {
		return false, err
	}
	if err := os.WriteFile(filepath.Join(k.root, traceFile), data, 0o600); err != nil {
		return false, fmt.Errorf("keep the trace: %w", err)
	}
	if err := k.resume(ctx, past); err != nil {
		return false, err
	}
	// The files were written anew just now: which of them are younger than the
	// last edit is not known any more, so no picture counts as fresh.
	k.elsewhere = true
	return true, nil
}

// sentTrace gives the entries of an interrupted attempt from the record; none
// when they or the files that belong to them are not there.
func (k *work) sentTrace(ctx context.Context, c protocol.Continue) ([]engine.Entry, []byte) {
	if c.Trace == "" || (c.Commit == "" && k.a.Kind != job.Review) {
		return nil, nil
	}
	data, err := k.w.Phone.Blob(ctx, c.Trace)
	if err != nil {
		k.log.Warn().Err(err).Msg("the trace of the interrupted attempt did not come")
		return nil, nil
	}
	past, _, err := readTrace(data)
	if err != nil {
		k.log.Warn().Err(err).Msg("the trace of the interrupted attempt cannot be read")
		return nil, nil
	}
	return past, data
}

// folderOf finds the folder of an interrupted attempt. One that was handed in by
// its worker may lie with any worker of this machine; one that was lost only in
// this worker's own: another process may still be about to wake up in it.
func (w *Worker) folderOf(c protocol.Continue) string {
	w.mu.Lock()
	busy := w.holds[c.Attempt] != nil
	w.mu.Unlock()
	if busy {
		return ""
	}
	var places []string
	for _, attempt := range append([]string{c.Attempt}, c.Chain...) {
		places = append(places, filepath.Join(w.Dir, attempt))
		if c.Trace == "" {
			continue
		}
		if others, err := filepath.Glob(filepath.Join(filepath.Dir(w.Dir), "*", attempt)); err == nil {
			places = append(places, others...)
		}
	}
	for _, root := range places {
		if real, err := os.Readlink(filepath.Join(root, movedLink)); err == nil { // it went on in the folder of an earlier one
			root = real
		}
		if info, err := os.Stat(filepath.Join(root, treeDir)); err == nil && info.IsDir() {
			return root
		}
	}
	return ""
}

// movedLink, in an attempt's folder, points at the one that the attempt works in.
const movedLink = "in"

// resume opens the trace behind what is past, with the pictures of it.
func (k *work) resume(ctx context.Context, past []engine.Entry) error {
	if own := filepath.Join(k.w.Dir, k.a.Attempt); own != k.root {
		err := os.MkdirAll(own, 0o700)
		if err == nil {
			err = os.Symlink(k.root, filepath.Join(own, movedLink))
		}
		if err != nil {
			return fmt.Errorf("note where the attempt goes on: %w", err)
		}
	}
	var err error
	if k.trace, err = newTrace(k.root, past); err != nil {
		return err
	}
	for i := range past {
		for _, p := range picturesOf(&past[i]) {
			p.Bytes, err = os.ReadFile(filepath.Join(k.root, shownDir, p.SHA256))
			if err != nil {
				p.Bytes, err = k.w.Phone.Blob(ctx, p.SHA256)
			}
			if err != nil {
				return fmt.Errorf("a picture of the interrupted attempt: %w", err)
			}
		}
	}
	if c := k.a.Continue; len(c.Answered) > 0 {
		k.told = append(strings.Fields(k.trace.remembered(stateTold)), c.Answered...)
		return k.trace.state(map[string]string{stateTold: strings.Join(k.told, " ")})
	}
	k.told = strings.Fields(k.trace.remembered(stateTold))
	return nil
}

// Keys of the state entries of a trace.
const (
	stateTree     = "tree"     // hash of the sources
	stateEdit     = "edit"     // when they changed last
	statePictures = "pictures" // at the start: JSON, path to blob id
	stateTold     = "told"     // ids of messages that were told as an answer
)

// remembered gives the newest value of a state entry.
func (t *trace) remembered(key string) string {
	for _, e := range slices.Backward(t.past) {
		if v := e.State[key]; v != "" {
			return v
		}
	}
	return ""
}

func goOnWords(c *protocol.Continue) string {
	return "The work was interrupted (" + c.Why + ") and goes on now. The files are as you left them; programs that you had started are gone."
}

// said gives what the person said to the task. Answers were told as such.
func (k *work) said() []engine.Words {
	var out []engine.Words
	for _, w := range append(k.a.Said, k.w.wordsFor(k.h)...) {
		if !slices.Contains(k.told, w.ID) {
			out = append(out, engine.Words{ID: w.ID, Text: w.Text})
		}
	}
	return out
}

// laidAside ends the attempt at a safe point.
func (k *work) laidAside(end engine.End) {
	e := &k.finish.End
	e.Outcome, e.Reason = job.OutPaused, "laid aside at a safe point"
	if end.Asked != nil {
		q, _ := prompt.DecodeQuestion(end.Asked) // was checked when the tool was called
		e.Question, e.Picture = q.Question, q.Picture
		e.Reason = asksYou + q.Question
	}
}

// handIn gives the trace to the record.
func (k *work) handIn(ctx context.Context, f *protocol.Finish) {
	if k.trace == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, effectWait)
	defer cancel()
	data, err := k.trace.bytes()
	if err == nil && len(bytes.TrimSpace(data)) > 0 {
		f.End.Trace, err = k.w.Phone.PutBlob(ctx, data)
	}
	if err == nil {
		err = k.sendPictures(ctx, data)
	}
	if err = errors.Join(err, k.trace.close()); err != nil {
		k.log.Warn().Err(err).Msg("the trace was not handed in")
	}
}

// sendPictures makes sure that the record has every picture of the trace: the
// last one may not have been in a request yet.
func (k *work) sendPictures(ctx context.Context, data []byte) error {
	entries, _, err := readTrace(data)
	if err != nil || k.desk == nil {
		return err
	}
	for i := range entries {
		for _, p := range picturesOf(&entries[i]) {
			if p.Bytes, err = os.ReadFile(filepath.Join(k.root, shownDir, p.SHA256)); err != nil {
				return err
			}
			if err := k.desk.sendOne(ctx, *p); err != nil {
				return err
			}
		}
	}
	return nil
}

// goesOn reports whether the attempt was interrupted, so that its folder is kept
// for the one that goes on from it.
func (k *work) goesOn(f protocol.Finish) bool {
	a := job.Attempt{End: &f.End}
	return a.Interrupted() && k.trace != nil
}

func pictureNames(m map[string]string) string {
	text, err := json.Marshal(m)
	if err != nil {
		return ""
	}
	return string(text)
}
