/* What the event-driven engines share: transfers over paths, gates between them, an event heap.

   Time is in integer picoseconds, sizes in bytes, rates in bytes per second. The arrays are
   explained in work.py; a pointer that may be missing is said to be NULL. */

#ifndef ARTERY_WORK_H
#define ARTERY_WORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct work {
    int64_t links, transfers, gates, classes;
    const int64_t *rate, *latency, *fails; /* by link; fails NULL: none fails */
    const int64_t *size;                   /* by transfer */
    const int32_t *path, *spread, *other, *class_of; /* by transfer; the last three or NULL */
    const int64_t *start;                  /* paths + 1 */
    const int32_t *link;                   /* by hop */
    const int32_t *first;                  /* gates + 1: the transfers that wait for each gate */
    const int32_t *then_start, *then;      /* gates + 1: the gates that each gate signals */
    const int32_t *sent_gate, *delivered_gate; /* by transfer, -1: none */
    const int64_t *delay;                  /* by gate, or NULL */
    int32_t *count;                        /* by gate: signals still missing; destroyed */
    int64_t *opened;                       /* by gate, zeros at first: when it opened, -1: never */
    int64_t *sent, *delivered;             /* by transfer, or NULL; -1: never */
    int64_t *bytes, *queue;                /* by link: carried; longest queue (ps or bytes) */
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

/* One thing that will happen: `at` is the place in `link`, `hop` the hops behind it and `left`
   those from there on. */
struct event {
    int64_t time, order, tail, bytes;
    int32_t at;
    int16_t hop, left;
};

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

/* Mark the gates that never opened. */
static inline void gates_close(struct work *w)
{
    for (int64_t g = 0; g < w->gates; g++)
        if (w->count[g] > 0)
            w->opened[g] = -1;
}

#endif
