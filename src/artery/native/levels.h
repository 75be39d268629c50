/* Links by the share that they can give, for very many: those of the present level sorted, what is
 * put back into it in a heap, the others unsorted in levels of equal width. As a key only grows, a
 * level that has been opened stays so. The order is that of one heap for all. */
#ifndef ARTERY_LEVELS_H
#define ARTERY_LEVELS_H

#include <stdlib.h>
#include <string.h>

#include "shares.h"

enum { LEVELS = 4096, PIECE = 31, SOON = 8, RUN = 16 };

typedef struct {
    int32_t next, count; /* in the list of its level, -1: the last */
    entry item[PIECE];
} piece;

typedef struct {
    entry *heap, *present, *spare; /* the last for sorting */
    int64_t size, at, sorted, level; /* in the heap; left of the present; the level that is open */
    double least, scale;
    piece *pieces;
    int64_t count, room;
    int32_t unused; /* pieces of levels that have been opened */
    int32_t first[LEVELS], last[LEVELS];
} levels;

static inline int64_t level_of(const levels *s, double key) {
    const double place = (key - s->least) * s->scale;
    return place < LEVELS - 1 ? (int64_t)place : LEVELS - 1;
}

/* Return the number of an empty piece, -1 where there is no memory. */
static inline int32_t take_piece(levels *s) {
    if (s->unused < 0 && s->count == s->room) {
        const int64_t room = s->room ? 2 * s->room : 2 * LEVELS;
        piece *pieces = realloc(s->pieces, (size_t)room * sizeof *pieces);
        if (!pieces) return -1;
        s->pieces = pieces;
        s->room = room;
    }
    const int32_t taken = s->unused >= 0 ? s->unused : (int32_t)s->count++;
    if (s->unused >= 0) s->unused = s->pieces[taken].next;
    s->pieces[taken].next = -1;
    s->pieces[taken].count = 0;
    return taken;
}

/* Add a link to a level that is not yet open; return 1 where memory ran out. */
static inline int list_share(levels *s, int64_t level, entry e) {
    const int32_t last = s->last[level];
    if (last < 0 || s->pieces[last].count == PIECE) {
        const int32_t taken = take_piece(s);
        if (taken < 0) return 1;
        if (last < 0) s->first[level] = taken;
        else s->pieces[last].next = taken;
        s->last[level] = taken;
    }
    piece *to = &s->pieces[s->last[level]];
    to->item[to->count++] = e;
    return 0;
}

static inline int heap_share(levels *s, entry e) {
    int64_t place = s->size++;
    for (; place > 0 && lesser(e, s->heap[(place - 1) / 4]); place = (place - 1) / 4)
        s->heap[place] = s->heap[(place - 1) / 4];
    s->heap[place] = e;
    return 0;
}

/* Add a link, or put it back with a greater key; return 1 where memory ran out. */
static inline int add_share(levels *s, double key, int32_t link) {
    const int64_t level = level_of(s, key);
    const entry e = {key, link};
    return level > s->level ? list_share(s, level, e) : heap_share(s, e);
}

static inline void sort_shares(entry *a, int64_t count, entry *spare) {
    for (int64_t i = 1; i < count; i++)
        for (int64_t k = i; k % RUN && lesser(a[k], a[k - 1]); k--) {
            const entry e = a[k];
            a[k] = a[k - 1];
            a[k - 1] = e;
        }
    for (int64_t width = RUN; width < count; width *= 2)
        for (int64_t from = 0; from + width < count; from += 2 * width) {
            const int64_t middle = from + width;
            const int64_t end = middle + width < count ? middle + width : count;
            if (!lesser(a[middle], a[middle - 1])) continue;
            memcpy(spare, a + from, (size_t)width * sizeof *a);
            int64_t i = 0, k = middle, to = from;
            while (i < width && k < end) a[to++] = lesser(a[k], spare[i]) ? a[k++] : spare[i++];
            memcpy(a + to, spare + i, (size_t)(width - i) * sizeof *a);
        }
}

/* Prepare for `links` links with keys from `least` to `most`; return 1 where memory ran out. */
static inline int levels_start(levels *s, int64_t links, double least, double most) {
    memset(s, 0, sizeof *s);
    memset(s->first, 0xff, sizeof s->first);
    memset(s->last, 0xff, sizeof s->last);
    s->heap = malloc((size_t)(links + 1) * sizeof *s->heap);
    s->present = malloc((size_t)(links + 1) * sizeof *s->present);
    s->spare = malloc((size_t)(links + 1) * sizeof *s->spare);
    s->level = s->unused = -1;
    s->least = least;
    s->scale = most > least ? LEVELS / (most - least) : 0.0;
    return !s->heap || !s->present || !s->spare;
}

static inline void levels_free(levels *s) {
    free(s->heap);
    free(s->present);
    free(s->spare);
    free(s->pieces);
}

/* Open levels until there is a link; return whether there is one. */
static inline int any_share(levels *s) {
    while (!s->size && s->at == s->sorted && s->level < LEVELS - 1) {
        s->at = s->sorted = 0;
        for (int32_t p = s->first[++s->level], next; p >= 0; p = next) {
            piece *from = &s->pieces[p];
            memcpy(s->present + s->sorted, from->item, (size_t)from->count * sizeof(entry));
            s->sorted += from->count;
            next = from->next;
            from->next = s->unused;
            s->unused = p;
        }
        sort_shares(s->present, s->sorted, s->spare);
    }
    return s->size || s->at < s->sorted;
}

/* The link with the least share; `listed` says whether it is the next of the present. */
static inline entry least_share(const levels *s, int *listed) {
    *listed = s->at < s->sorted && (!s->size || lesser(s->present[s->at], s->heap[0]));
    return *listed ? s->present[s->at] : s->heap[0];
}

static inline void drop_share(levels *s, int listed) {
    if (listed) s->at++;
    else s->size = drop_top(s->heap, s->size);
}

#endif
