/* Events in the order of time, for very many: those of the present bucket sorted, what comes to it
   later in a heap, the others unsorted in buckets of equal width (the idea of R. Brown's calendar
   queue, CACM 31, 1988). When both have run empty the next bucket is sorted; after the last bucket
   what lies beyond is spread over the buckets anew. */

#ifndef ARTERY_CALENDAR_H
#define ARTERY_CALENDAR_H

#include "sorted.h"

enum { BUCKETS = 4096, CHUNK = 63, FEW = 512, STAGES = 4 };

struct chunk {
    int32_t next, count;
    struct event item[CHUNK];
};

struct calendar {
    struct heap near;      /* came late to the present, before `end` */
    struct sorter present; /* of which those from `at` to `sorted` - 1 are left */
    int64_t at, sorted;
    int64_t base, end;     /* bucket i holds what comes from base + (i << shift) on */
    int shift, next;       /* the first bucket that is not yet present */
    int32_t far[BUCKETS + 1]; /* chains of chunks, -1: empty; the last: beyond the buckets */
    struct chunk *chunks;
    int32_t count, room, unused;
    int64_t seen[STAGES]; /* of the present, from how far ahead: for who plays the events */
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
    sorter_free(&c->present);
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

/* Return the chain the other way round: the chunk that was filled first is first. */
static inline int32_t chain_turn(struct calendar *c, int32_t chain)
{
    int32_t turned = -1;
    while (chain >= 0) {
        const int32_t next = c->chunks[chain].next;
        c->chunks[chain].next = turned;
        turned = chain;
        chain = next;
    }
    return turned;
}

/* Push the events of a chain of chunks again, each where it belongs now. */
static inline int calendar_pour(struct calendar *c, int32_t chain)
{
    for (chain = chain_turn(c, chain); chain >= 0;) {
        const int32_t next = c->chunks[chain].next, count = c->chunks[chain].count;
        for (int32_t i = 0; i < count; i++) {
            const struct event e = c->chunks[chain].item[i];
            if (!calendar_push(c, &e))
                return 0;
        }
        c->chunks[chain].next = c->unused;
        c->unused = chain;
        chain = next;
    }
    return 1;
}

/* Sort the events of a chain, all between `start` and `start` + 2^shift. */
static inline int calendar_sort(struct calendar *c, int32_t chain, int64_t start)
{
    int64_t count = 0;
    for (int32_t k = chain; k >= 0; k = c->chunks[k].next)
        count += c->chunks[k].count;
    if (!sorter_room(&c->present, count))
        return 0;
    int bits = 0;
    while (bits < c->shift && (INT64_C(2) << bits) <= count)
        bits++;
    const int drop = c->shift - bits;
    const int64_t places = INT64_C(1) << bits;
    struct sorter *s = &c->present;
    memset(s->place, 0, (size_t)(places + 1) * sizeof *s->place);
    chain = chain_turn(c, chain);
    for (int32_t k = chain; k >= 0; k = c->chunks[k].next)
        for (int32_t i = 0; i < c->chunks[k].count; i++)
            s->place[((c->chunks[k].item[i].time - start) >> drop) + 1]++;
    for (int64_t i = 0; i < places; i++)
        s->place[i + 1] += s->place[i];
    while (chain >= 0) {
        struct chunk *now = &c->chunks[chain];
        const int32_t next = now->next;
        for (int32_t i = 0; i < now->count; i++)
            s->item[s->place[(now->item[i].time - start) >> drop]++] = now->item[i];
        now->next = c->unused;
        c->unused = chain;
        chain = next;
    }
    for (int64_t i = 0, first = 0; i < places; first = s->place[i++]) {
        const int64_t many = s->place[i] - first;
        if (many > SHORT)
            sort_long(s->item + first, many, s->spare);
        else if (many > 1)
            sort_short(s->item + first, many);
    }
    c->at = 0;
    c->sorted = count;
    memset(c->seen, 0, sizeof c->seen);
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

/* See to it that the first event of all, if there is one, is present; return 0 where there is no
   memory. */
static inline int calendar_ready(struct calendar *c)
{
    while (!c->near.count && c->at == c->sorted) {
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
        if (chain >= 0 && !calendar_sort(c, chain, c->end - (INT64_C(1) << c->shift)))
            return 0;
    }
    return 1;
}

/* Take the first event of all; return whether there was one. */
static inline int calendar_take(struct calendar *c, struct event *e)
{
    if (c->at < c->sorted && !(c->near.count && before(c->near.item, &c->present.item[c->at]))) {
        *e = c->present.item[c->at++];
        return 1;
    }
    if (!c->near.count)
        return 0;
    *e = c->near.item[0];
    heap_pop(&c->near);
    return 1;
}

/* Whether `e` is the first of all, were it there. */
static inline int calendar_leads(const struct calendar *c, const struct event *e)
{
    return e->time < c->end && !(c->near.count && before(c->near.item, e)) &&
           !(c->at < c->sorted && before(&c->present.item[c->at], e));
}

#endif
