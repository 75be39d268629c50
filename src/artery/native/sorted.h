/* Events that are all there are put in order: spread by time over as many places as there are
   events, then each place by itself. Far cheaper than a heap, from which one comes at a time. */

#ifndef ARTERY_SORTED_H
#define ARTERY_SORTED_H

#include "work.h"

enum { SHORT = 16 };

struct sorter {
    struct event *item, *spare;
    int32_t *place;
    int64_t room, places;
};

static inline void sorter_free(struct sorter *s)
{
    free(s->item);
    free(s->spare);
    free(s->place);
}

/* Make room for `count` events and their places; return 0 where there is no memory. */
static inline int sorter_room(struct sorter *s, int64_t count)
{
    if (count <= s->room)
        return 1;
    const int64_t room = count < 1024 ? 1024 : count + count / 4;
    struct event *item = malloc((size_t)room * sizeof *item);
    int32_t *place = malloc((size_t)(room + 1) * sizeof *place);
    sorter_free(s);
    s->item = item;
    s->spare = malloc((size_t)room * sizeof *s->spare);
    s->place = place;
    s->room = item && place && s->spare ? room : 0;
    return s->room > 0;
}

static inline void sort_short(struct event *a, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        if (!before(&a[i], &a[i - 1]))
            continue;
        const struct event e = a[i];
        int64_t k = i;
        for (; k > 0 && before(&e, &a[k - 1]); k--)
            a[k] = a[k - 1];
        a[k] = e;
    }
}

/* Merge a[0..middle) and a[middle..count), both in order, by way of `spare`. */
static inline void merge(struct event *a, int64_t middle, int64_t count, struct event *spare)
{
    if (!before(&a[middle], &a[middle - 1]))
        return;
    memcpy(spare, a, (size_t)middle * sizeof *a);
    int64_t i = 0, k = middle, to = 0;
    while (i < middle && k < count)
        a[to++] = before(&a[k], &spare[i]) ? a[k++] : spare[i++];
    memcpy(a + to, spare + i, (size_t)(middle - i) * sizeof *a);
}

static inline void sort_long(struct event *a, int64_t count, struct event *spare)
{
    for (int64_t i = 0; i < count; i += SHORT)
        sort_short(a + i, i + SHORT < count ? SHORT : count - i);
    for (int64_t width = SHORT; width < count; width *= 2)
        for (int64_t i = 0; i + width < count; i += 2 * width)
            merge(a + i, width, i + 2 * width < count ? 2 * width : count - i, spare);
}

#endif
