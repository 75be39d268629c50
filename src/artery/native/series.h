/* Links in series: those that the same flows cross one right after the other. Only the tightest of
 * them can hold anybody back, so that the others are left out (of equal ones the first number
 * stays); what remains has the same rates to the last bit. */
#ifndef ARTERY_SERIES_H
#define ARTERY_SERIES_H

#include <stdint.h>
#include <stdlib.h>

#include "pages.h"

enum { UNSEEN = -1, SEVERAL = -2 };

typedef struct {
    int32_t after, count; /* the one link that follows it in all paths, or one of the above */
} following;

/* The next link of the series that `l` is in, or a negative number. As each crossing of `l` comes
 * before one of `n`, equal numbers of them mean that the same flows cross both. */
static inline int32_t in_series(const following *of, int64_t l) {
    const int32_t n = of[l].after;
    return n >= 0 && of[n].count == of[l].count ? n : UNSEEN;
}

/* Which link stands for each: itself, or the tightest of its series. */
static inline void stand(const following *of, int64_t links, const double *capacity,
                         int32_t *stands) {
    for (int64_t l = 0; l < links; l++) stands[l] = 0;
    for (int64_t l = 0; l < links; l++) {
        const int32_t n = in_series(of, l);
        if (n >= 0) stands[n] = 1; /* not the first of its series */
    }
    for (int64_t l = 0; l < links; l++) {
        if (stands[l] == 1) continue;
        int32_t least = (int32_t)l;
        for (int32_t n = in_series(of, l); n >= 0; n = in_series(of, n))
            if (capacity[n] < capacity[least] || (capacity[n] == capacity[least] && n < least))
                least = n;
        for (int32_t n = in_series(of, l); n >= 0; n = in_series(of, n)) stands[n] = -2 - least;
        stands[l] = -2 - least;
    }
    for (int64_t l = 0; l < links; l++) stands[l] = -2 - stands[l];
}

/* Return 1 where there is no memory, else 0 with the paths without the links for which others
 * stand: `kept` and `from` (to be freed). */
static inline int without_series(
    int64_t flows, int64_t links, const int64_t *start, const int32_t *link,
    const double *capacity, int32_t *stands, int32_t **kept, int64_t **from
) {
    following *of = pages((size_t)(links + 1) * sizeof *of);
    *from = pages((size_t)(flows + 1) * sizeof **from);
    if (!of || !*from) {
        free(of);
        return 1;
    }
    for (int64_t l = 0; l < links; l++) of[l] = (following){UNSEEN, 0};
    for (int64_t f = 0; f < flows; f++)
        for (int64_t k = start[f]; k < start[f + 1]; k++) {
            following *l = &of[link[k]];
            const int32_t n = k + 1 < start[f + 1] ? link[k + 1] : SEVERAL;
            l->after = l->count++ == 0 || l->after == n ? n : SEVERAL;
        }
    stand(of, links, capacity, stands);
    free(of);
    int64_t count = 0;
    *kept = pages((size_t)(start[flows] + 1) * sizeof **kept);
    if (!*kept) return 1;
    for (int64_t f = 0; f < flows; f++) {
        (*from)[f] = count;
        for (int64_t k = start[f]; k < start[f + 1]; k++) {
            (*kept)[count] = link[k];
            count += stands[link[k]] == link[k];
        }
    }
    (*from)[flows] = count;
    return 0;
}

#endif
