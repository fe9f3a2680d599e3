package found

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider/codec/listing"
	"github.com/relo-dev/relo/core/internal/vision"
)

var errOther = errors.New("another server listens there")

// ollamaShow is what /api/show says of a model (Ollama's API documentation):
// capabilities (completion, tools, vision, embedding …), the length of the context
// under the architecture's name, and parameters, where a Modelfile may set num_ctx.
type ollamaShow struct {
	Capabilities []string       `json:"capabilities"`
	ModelInfo    map[string]any `json:"model_info"`
	Parameters   string         `json:"parameters"`
}

func askOllama(ctx context.Context, a asker) ([]Model, []string, error) {
	var tags struct {
		Models []struct {
			Name    string `json:"name"`
			Remote  string `json:"remote_host"`
			Details struct {
				Size string `json:"parameter_size"`
			} `json:"details"`
		} `json:"models"`
	}
	if err := a.get(ctx, "/api/tags", nil, &tags); err != nil {
		return nil, nil, err
	}
	if tags.Models == nil {
		return nil, nil, errOther
	}
	var models []Model
	var notes []string
	for _, t := range tags.Models {
		if t.Remote != "" { // Ollama's cloud: it would not stay on this machine
			notes = append(notes, fmt.Sprintf("Ollama's %s runs at %s, not on this machine: it was left out", httpwire.Plain(t.Name), httpwire.Plain(t.Remote)))
			continue
		}
		if t.Name != "" {
			models = append(models, Model{ID: t.Name, Size: listing.FirstSize(t.Details.Size, t.Name), Chat: true})
		}
	}
	models = models[:min(len(models), maxModels)]
	showOllama(ctx, a, models)
	return models, notes, nil
}

// showOllama asks about each model, a few at a time. One that gives no answer
// stays as the list has it.
func showOllama(ctx context.Context, a asker, models []Model) {
	gate := make(chan struct{}, asked)
	var wait sync.WaitGroup
	for i := range models {
		wait.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			var s ollamaShow
			if err := a.get(ctx, "/api/show", map[string]string{"model": models[i].ID}, &s); err == nil {
				models[i].shown(s)
			}
		})
	}
	wait.Wait()
}

var contextSet = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

func (m *Model) shown(s ollamaShow) {
	if len(s.Capabilities) > 0 { // servers before 0.6.4 say nothing of this
		m.Vision = vision.Of(slices.Contains(s.Capabilities, "vision"))
		m.Tools = new(slices.Contains(s.Capabilities, "tools"))
		m.Chat = slices.Contains(s.Capabilities, "completion")
	}
	for name, v := range s.ModelInfo {
		if n, ok := v.(float64); ok && strings.HasSuffix(name, ".context_length") {
			m.Context = int(n)
		}
	}
	if set := contextSet.FindStringSubmatch(s.Parameters); set != nil {
		if n, err := strconv.Atoi(set[1]); err == nil {
			m.Context = n
		}
	}
}

// askLMStudio reads /api/v0/models, which says llm, vlm or embeddings, and for
// servers that have it no more /api/v1/models (LM Studio's REST documentation).
func askLMStudio(ctx context.Context, a asker) ([]Model, []string, error) {
	var v0 struct {
		Data []struct {
			ID           string   `json:"id"`
			Type         string   `json:"type"`
			Max          int      `json:"max_context_length"`
			Loaded       int      `json:"loaded_context_length"`
			Capabilities []string `json:"capabilities"`
		} `json:"data"`
	}
	err := a.get(ctx, "/api/v0/models", nil, &v0)
	if status, is := errors.AsType[statusError](err); is && status == http.StatusNotFound {
		return askLMStudioV1(ctx, a)
	}
	if err != nil {
		return nil, nil, err
	}
	var models []Model
	for _, d := range v0.Data {
		if d.ID == "" || d.Type == "" {
			return nil, nil, errOther
		}
		m := Model{ID: d.ID, Size: listing.FirstSize("", d.ID), Vision: vision.Of(d.Type == "vlm"), Chat: d.Type == "llm" || d.Type == "vlm", Context: d.Max}
		if d.Loaded > 0 {
			m.Context = d.Loaded
		}
		if slices.Contains(d.Capabilities, "tool_use") {
			m.Tools = new(true) // without the word it may still: LM Studio has a way for every model
		}
		models = append(models, m)
	}
	return models, nil, nil
}

func askLMStudioV1(ctx context.Context, a asker) ([]Model, []string, error) {
	var v1 struct {
		Models []struct {
			Key          string `json:"key"`
			Type         string `json:"type"`
			Size         string `json:"params_string"`
			Max          int    `json:"max_context_length"`
			Capabilities struct {
				Vision *bool `json:"vision"`
				Tools  *bool `json:"trained_for_tool_use"`
			} `json:"capabilities"`
		} `json:"models"`
	}
	if err := a.get(ctx, "/api/v1/models", nil, &v1); err != nil {
		return nil, nil, err
	}
	var models []Model
	for _, d := range v1.Models {
		if d.Key == "" || d.Type == "" {
			return nil, nil, errOther
		}
		m := Model{ID: d.Key, Size: listing.FirstSize(d.Size, d.Key), Chat: d.Type == "llm", Context: d.Max}
		if d.Capabilities.Vision != nil {
			m.Vision = vision.Of(*d.Capabilities.Vision)
		}
		if d.Capabilities.Tools != nil && *d.Capabilities.Tools {
			m.Tools = new(true)
		}
		models = append(models, m)
	}
	return models, nil, nil
}

// openAIList is GET /v1/models with what llama.cpp and vLLM add to it.
type openAIList struct {
	Data []struct {
		ID    string `json:"id"`
		Owner string `json:"owned_by"`
		Max   int    `json:"max_model_len"`
		Meta  struct {
			Params float64 `json:"n_params"`
			Train  int     `json:"n_ctx_train"`
		} `json:"meta"`
	} `json:"data"`
}

// askLlama reads llama.cpp's list and /props, which says what the one model that is
// loaded can (its server's README: modalities, default_generation_settings,
// chat_template_caps). Many programs listen on its port, so the owner must be it.
func askLlama(ctx context.Context, a asker) ([]Model, []string, error) {
	var list openAIList
	if err := a.get(ctx, "/v1/models", nil, &list); err != nil {
		return nil, nil, err
	}
	var models []Model
	for _, d := range list.Data {
		if d.Owner != "llamacpp" || d.ID == "" {
			return nil, nil, errOther
		}
		size := d.Meta.Params / 1e9
		if size == 0 {
			size = listing.FirstSize("", d.ID)
		}
		models = append(models, Model{ID: d.ID, Size: size, Context: d.Meta.Train, Chat: true})
	}
	if len(models) == 0 {
		return nil, nil, errOther
	}
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities *struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
		Caps struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	if err := a.get(ctx, "/props", nil, &props); err != nil || len(models) != 1 { // a router of many models speaks for none
		return models, nil, nil //nolint:nilerr // the list alone is an answer
	}
	if props.Modalities != nil {
		models[0].Vision = vision.Of(props.Modalities.Vision)
	}
	if props.Settings.Context > 0 {
		models[0].Context = props.Settings.Context
	}
	models[0].Tools = props.Caps.Tools
	return models, nil, nil
}

func askVLLM(ctx context.Context, a asker) ([]Model, []string, error) {
	var list openAIList
	if err := a.get(ctx, "/v1/models", nil, &list); err != nil {
		return nil, nil, err
	}
	var models []Model
	for _, d := range list.Data {
		if d.Owner != "vllm" || d.ID == "" {
			return nil, nil, errOther
		}
		models = append(models, Model{ID: d.ID, Size: listing.FirstSize("", d.ID), Context: d.Max, Chat: true})
	}
	if len(models) == 0 {
		return nil, nil, errOther
	}
	return models, nil, nil
}
