/* Events in the order of time, for very many: those that are near in a heap, the others unsorted in
   buckets of equal width (the idea of R. Brown's calendar queue, CACM 31, 1988). When the heap has
   run empty the next bucket is poured into it; after the last bucket what lies beyond is spread
   over the buckets anew. */

#ifndef ARTERY_CALENDAR_H
#define ARTERY_CALENDAR_H

#include "work.h"

enum { BUCKETS = 512, CHUNK = 63, FEW = 512 };

struct chunk {
    int32_t next, count;
    struct event item[CHUNK];
};

struct calendar {
    struct heap near;      /* all that come before `end` */
    int64_t base, end;     /* bucket i holds what comes from base + (i << shift) on */
    int shift, next;       /* the first bucket that is not yet poured */
    int32_t far[BUCKETS + 1]; /* chains of chunks, -1: empty; the last: beyond the buckets */
    struct chunk *chunks;
    int32_t count, room, unused;
    const char *needed; /* what an event will need, `stride` bytes for each link */
    size_t stride;
};

static inline void calendar_start(struct calendar *c)
{
    memset(c, 0, sizeof *c);
    memset(c->far, 0xff, sizeof c->far);
    c->next = BUCKETS;
    c->unused = -1;
}

static inline void calendar_free(struct calendar *c)
{
    free(c->near.item);
    free(c->chunks);
}

/* Return the number of an empty chunk before chunk `next`, -1 where there is no memory. */
static inline int32_t chunk_take(struct calendar *c, int32_t next)
{
    if (c->unused < 0 && c->count == c->room) {
        const int32_t room = c->room ? 2 * c->room : 64;
        struct chunk *chunks = realloc(c->chunks, (size_t)room * sizeof *chunks);
        if (!chunks)
            return -1;
        c->chunks = chunks;
        c->room = room;
    }
    const int32_t i = c->unused >= 0 ? c->unused : c->count++;
    if (c->unused >= 0)
        c->unused = c->chunks[i].next;
    c->chunks[i].next = next;
    c->chunks[i].count = 0;
    return i;
}

static inline int calendar_push(struct calendar *c, const struct event *e)
{
    if (e->time < c->end)
        return heap_push(&c->near, e);
    const int64_t bucket = c->next < BUCKETS ? (e->time - c->base) >> c->shift : BUCKETS;
    int32_t *chain = &c->far[bucket < BUCKETS ? bucket : BUCKETS];
    if (*chain < 0 || c->chunks[*chain].count == CHUNK) {
        const int32_t i = chunk_take(c, *chain);
        if (i < 0)
            return 0;
        *chain = i;
    }
    struct chunk *last = &c->chunks[*chain];
    last->item[last->count++] = *e;
    return 1;
}

/* Pour a chain of chunks into the heap or the buckets that its events belong to. */
static inline int calendar_pour(struct calendar *c, int32_t chain)
{
    while (chain >= 0) {
        const int32_t next = c->chunks[chain].next, count = c->chunks[chain].count;
        for (int32_t i = 0; i < count; i++) {
            const struct event e = c->chunks[chain].item[i];
            FETCH(c->needed + (size_t)e.here * c->stride);
            if (!calendar_push(c, &e))
                return 0;
        }
        c->chunks[chain].next = c->unused;
        c->unused = chain;
        chain = next;
    }
    return 1;
}

/* Lay the buckets over what lies beyond the last; a few events go straight into the heap. */
static inline int calendar_turn(struct calendar *c)
{
    const int32_t chain = c->far[BUCKETS];
    int64_t least = INT64_MAX, most = 0, count = 0;
    for (int32_t k = chain; k >= 0; k = c->chunks[k].next)
        for (int32_t i = 0; i < c->chunks[k].count; i++, count++) {
            const int64_t time = c->chunks[k].item[i].time;
            least = time < least ? time : least;
            most = time > most ? time : most;
        }
    c->far[BUCKETS] = -1;
    c->base = c->end = least;
    if (count <= FEW) {
        c->end = most + 1;
    } else {
        c->next = c->shift = 0;
        while ((most - least) >> c->shift >= BUCKETS)
            c->shift++;
    }
    return calendar_pour(c, chain);
}

/* See to it that the first event of all, if there is one, is the first of the heap; return 0 where
   there is no memory. */
static inline int calendar_ready(struct calendar *c)
{
    while (!c->near.count) {
        if (c->next == BUCKETS) {
            if (c->far[BUCKETS] < 0)
                return 1;
            if (!calendar_turn(c))
                return 0;
            continue;
        }
        const int32_t chain = c->far[c->next];
        c->far[c->next++] = -1;
        c->end = c->base + ((int64_t)c->next << c->shift);
        if (!calendar_pour(c, chain))
            return 0;
    }
    return 1;
}

#endif
