/* What the event-driven engines share: transfers over paths, gates between them, an event heap.

   Time is in integer picoseconds, sizes in bytes, rates in bytes per second. The arrays are
   explained in work.py; a pointer that may be missing is said to be NULL. */

#ifndef ARTERY_WORK_H
#define ARTERY_WORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ask for memory that will soon be needed: most of a large run is waiting for it. */
#ifdef __GNUC__
#define FETCH(place) __builtin_prefetch(place, 1)
#else
#define FETCH(place) ((void)0)
#endif

struct work {
    int64_t links, transfers, gates, classes, chain;
    const int64_t *rate, *latency, *fails; /* by link; fails NULL: none fails */
    const int64_t *size;                   /* by transfer */
    const int32_t *path, *spread, *other, *class_of; /* by transfer; the last three or NULL */
    const int64_t *start;                  /* paths + 1 */
    const int32_t *link;                   /* by hop */
    const int32_t *first;                  /* gates + 1: the transfers that wait for each gate */
    const int32_t *then_start, *then;      /* gates + 1: the gates that each gate signals; NULL:
                                              each signals the one `chain` after it, if any */
    const int32_t *sent_gate, *delivered_gate; /* by transfer, -1: none */
    const int64_t *delay;                  /* by gate, or NULL */
    int32_t *count;                        /* by gate: signals still missing; destroyed */
    int64_t *opened;                       /* by gate, zeros at first: when it opened, -1: never */
    int64_t *sent, *delivered;             /* by transfer, or NULL; -1: never */
    int64_t *bytes, *queue;                /* by link: carried; longest queue (ps or bytes) */
    int64_t *idle;                         /* by link: ps held up by flow control; zeros at first */
    int64_t makespan, events, unfinished, overflow;
};

/* ceil(bytes * 10^12 / rate) without overflow, for rates up to 1.8e13 B/s. */
static inline int64_t duration(int64_t bytes, int64_t rate)
{
    const uint64_t b = (uint64_t)bytes, r = (uint64_t)rate, million = 1000000u;
    if (b <= UINT64_C(18000000)) {
        const uint64_t product = b * million * million;
        return (int64_t)(product / r + (product % r != 0));
    }
    const uint64_t part = b % r * million, rest = part % r * million;
    return (int64_t)(((b / r * million) + part / r) * million + rest / r + (rest % r != 0));
}

/* One thing that will happen: `at` is the place in `link`, `here` the link there, `hop` the hops
   behind it and `left` those from there on. */
struct event {
    int64_t time, order, tail, bytes;
    int32_t at, here;
    int16_t hop, left;
};

static inline void set_path(const struct work *w, struct event *e, int32_t path)
{
    e->at = (int32_t)w->start[path];
    e->left = (int16_t)(w->start[path + 1] - w->start[path]);
    e->here = e->left ? w->link[e->at] : 0;
}

/* Segment `order & INT32_MAX` of transfer `order >> 32`, at its source's port at `time`. */
static inline struct event departure(const struct work *w, int64_t time, int64_t order)
{
    const int64_t t = order >> 32;
    const int32_t spread = w->spread ? w->spread[t] : 1;
    const int32_t path = w->path[t] + (spread > 1 ? (int32_t)(order & INT32_MAX) % spread : 0);
    struct event e = {time, order, time, 0, 0, 0, 0, 0};
    set_path(w, &e, path);
    return e;
}

/* Choose the way of a segment that is about to leave; return 0 where every way has failed. */
static inline int choose(const struct work *w, struct event *e)
{
    for (int turn = 0; turn < 2; turn++) {
        int i = 0;
        while (i < e->left && w->fails[w->link[e->at + i]] > e->time)
            i++;
        if (i == e->left)
            return 1;
        const int32_t other = w->other ? w->other[e->order >> 32] : -1;
        if (other < 0)
            return 0;
        set_path(w, e, other);
    }
    return 0;
}

/* The bytes of a segment of transfer `t`: `segment` (0: the whole), less where that would cut it
   into fewer than `least`, but for a packet of 4096. */
static inline int64_t cut(const struct work *w, int64_t segment, int64_t least, int64_t t)
{
    const int64_t size = w->size[t];
    if (!segment || size >= segment * least)
        return segment;
    const int64_t part = (size + least - 1) / least, packet = segment < 4096 ? segment : 4096;
    return part > packet ? part : packet;
}

/* How many segments of `segment` bytes (0: any) transfer `t` has. */
static inline int64_t pieces(const struct work *w, int64_t segment, int64_t t)
{
    const int64_t size = w->size[t];
    return segment && size > segment ? (size + segment - 1) / segment : 1;
}

static inline int64_t piece_bytes(const struct work *w, int64_t segment, int64_t order)
{
    const int64_t left = w->size[order >> 32] - (order & INT32_MAX) * segment;
    return segment && left > segment ? segment : left;
}

struct heap {
    struct event *item;
    int64_t count, room;
};

static inline int before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

/* Put `e` where the hole at `i` is or below it. */
static inline void heap_sink(struct heap *h, int64_t i, const struct event *e)
{
    for (;;) {
        int64_t child = 4 * i + 1;
        if (child >= h->count)
            break;
        const int64_t end = child + 4 < h->count ? child + 4 : h->count;
        int64_t least = child;
        while (++child < end)
            if (before(&h->item[child], &h->item[least]))
                least = child;
        if (!before(&h->item[least], e))
            break;
        h->item[i] = h->item[least];
        i = least;
    }
    h->item[i] = *e;
}

/* Add an event; return 0 where there is no memory for it. */
static inline int heap_push(struct heap *h, const struct event *e)
{
    if (h->count == h->room) {
        const int64_t room = h->room ? 2 * h->room : 1024;
        struct event *item = realloc(h->item, (size_t)room * sizeof *item);
        if (!item)
            return 0;
        h->item = item;
        h->room = room;
    }
    int64_t i = h->count++;
    while (i > 0 && before(e, &h->item[(i - 1) / 4])) {
        h->item[i] = h->item[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->item[i] = *e;
    return 1;
}

/* Remove the first event. */
static inline void heap_pop(struct heap *h)
{
    h->count--;
    if (h->count)
        heap_sink(h, 0, &h->item[h->count]);
}

/* Give gate `g` one signal; return whether that was the last one it waited for. */
static inline int gate_signal(struct work *w, int32_t g, int64_t time)
{
    if (w->opened[g] < time)
        w->opened[g] = time;
    return --w->count[g] == 0;
}

/* What starts transfer `t` at `time` in a run. */
typedef void begin_function(void *run, int64_t t, int64_t time);

/* Open gate `g` and whatever opens with it. */
static inline void gate_open(struct work *w, int32_t g, begin_function *begin, void *run)
{
    int32_t stack = -1; /* runs through the counts of the open gates, which are done with */
    for (;;) {
        const int64_t time = w->opened[g] += w->delay ? w->delay[g] : 0;
        for (int64_t t = w->first[g]; t < w->first[g + 1]; t++)
            begin(run, t, time);
        int64_t i = w->then ? w->then_start[g] : g + w->chain;
        const int64_t end = w->then ? w->then_start[g + 1] : i + (i < w->gates);
        for (; i < end; i++) {
            const int32_t next = w->then ? w->then[i] : (int32_t)i;
            if (gate_signal(w, next, time)) {
                w->count[next] = -2 - stack;
                stack = next;
            }
        }
        if (stack < 0)
            return;
        g = stack;
        stack = -2 - w->count[g];
    }
}

/* Open the gates that wait for nothing. */
static inline void gates_open(struct work *w, begin_function *begin, void *run)
{
    for (int64_t g = 0; g < w->gates; g++)
        if (w->count[g] == 0)
            gate_open(w, (int32_t)g, begin, run);
}

/* Mark the gates that never opened. */
static inline void gates_close(struct work *w)
{
    for (int64_t g = 0; g < w->gates; g++)
        if (w->count[g] > 0)
            w->opened[g] = -1;
}

#endif
