package gateway

import (
	"container/list"
	"context"
	"sync"
)

// kept remembers what was made by its key, the least recently used out first when
// there is no more room. Callers of one key at once share one making; it goes on as
// long as one of them waits. Failures are not remembered.
type kept[V any] struct {
	mu     sync.Mutex
	room   int64 // what the weights may sum up to
	used   int64
	order  *list.List // of *item[V], the newest first
	items  map[string]*list.Element
	making map[string]*making[V]
}

type item[V any] struct {
	key    string
	value  V
	weight int64
}

// making is a value that is under way.
type making[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int
	value   V
	err     error
}

func newKept[V any](room int64) *kept[V] {
	return &kept[V]{room: room, order: list.New(), items: map[string]*list.Element{}, making: map[string]*making[V]{}}
}

// peek gives what is remembered and asks nobody.
func (k *kept[V]) peek(key string) (value V, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.look(key)
}

func (k *kept[V]) look(key string) (value V, ok bool) {
	e := k.items[key]
	if e == nil {
		return value, false
	}
	k.order.MoveToFront(e)
	it, _ := e.Value.(*item[V])
	return it.value, true
}

// get gives what is remembered, or has it made. first says that this caller's own
// making gave it. The context of produce outlives the caller's when others wait too.
func (k *kept[V]) get(ctx context.Context, key string, produce func(context.Context) (V, int64, error)) (value V, first bool, err error) {
	k.mu.Lock()
	if value, ok := k.look(key); ok {
		k.mu.Unlock()
		return value, false, nil
	}
	m := k.making[key]
	if m == nil {
		first = true
		m = k.begin(ctx, key, produce)
	}
	m.waiting++
	k.mu.Unlock()
	select {
	case <-m.done:
		k.mu.Lock()
		defer k.mu.Unlock()
		m.waiting--
		return m.value, first, m.err
	case <-ctx.Done():
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.waiting--; m.waiting == 0 {
		m.cancel()
		if k.making[key] == m {
			delete(k.making, key)
		}
	}
	return value, first, ctx.Err()
}

// begin starts a making; the lock is held.
func (k *kept[V]) begin(ctx context.Context, key string, produce func(context.Context) (V, int64, error)) *making[V] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m := &making[V]{done: make(chan struct{}), cancel: cancel}
	k.making[key] = m
	go func() {
		defer cancel()
		value, weight, err := produce(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		m.value, m.err = value, err
		if k.making[key] == m {
			delete(k.making, key)
		}
		if err == nil {
			k.keep(key, value, weight)
		}
		close(m.done)
	}()
	return m
}

// keep remembers; the lock is held.
func (k *kept[V]) keep(key string, value V, weight int64) {
	if _, ok := k.items[key]; ok || weight > k.room {
		return
	}
	k.items[key] = k.order.PushFront(&item[V]{key, value, weight})
	k.used += weight
	for k.used > k.room {
		last := k.order.Back()
		it, _ := k.order.Remove(last).(*item[V])
		delete(k.items, it.key)
		k.used -= it.weight
	}
}
