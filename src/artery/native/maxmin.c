/* Max-min fair rates by progressive filling; maxmin.py is its twin, equal to the last bit.
 *
 * Flow f crosses the links link[start[f] .. start[f+1]) and takes weight * rate[f] of each. The
 * link whose share, remaining / load, is least is filled first: its flows get that share and
 * leave all their links, whose shares can only grow (Bertsekas and Gallager, Data Networks,
 * 1992, section 6.5.2). So a key in the heap is a lower bound, put right when it comes up.
 * Order: keys by (share, link), flows of a link by number, links of a flow as they are given.
 * Without weights links in series are taken as their tightest.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE 1 /* madvise */
#endif
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "levels.h"
#include "pages.h"
#include "series.h"

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch((address), 1)
#else
#define PREFETCH(address) ((void)(address))
#endif

typedef struct {
    double remaining; /* capacity not yet given away */
    double load;      /* sum of the weights of the flows that have no rate yet */
} share;

typedef struct {
    int64_t flows, links;
    const int64_t *start;
    const int32_t *link;
    const double *weight; /* one per entry of link, or NULL: all 1 */
    int64_t *first;       /* the entries of link l are at[first[l] .. first[l+1]) */
    int32_t *at;          /* flow, and with weights the entry's number */
    int32_t *flow_of;     /* with weights: flow of each entry of at */
    share *state;
    levels heap;
    int64_t waiting; /* flows that have no rate yet */
    double *rate;
    int32_t *bottleneck;
    int32_t *stands, *kept; /* without weights: for each link which stands for it; the paths */
    int64_t *from;
} problem;

static double share_of(share s) {
    return s.remaining > 0 ? s.remaining / s.load : 0.0;
}

static int shorten(problem *p, const double *capacity) {
    p->stands = pages((size_t)(p->links + 1) * sizeof *p->stands);
    if (!p->stands || without_series(p->flows, p->links, p->start, p->link, capacity, p->stands,
                                     &p->kept, &p->from)) return 1;
    p->start = p->from;
    p->link = p->kept;
    return 0;
}

/* Links to flows, by counting; the flows of a link in their order. */
static int transpose(problem *p) {
    int64_t entries = p->start[p->flows];
    p->first = pages((size_t)(p->links + 2) * sizeof *p->first);
    p->at = pages((size_t)(entries + 1) * sizeof *p->at);
    if (p->weight) p->flow_of = pages((size_t)(entries + 1) * sizeof *p->flow_of);
    if (!p->first || !p->at || (p->weight && !p->flow_of)) return 1;
    memset(p->first, 0, (size_t)(p->links + 2) * sizeof *p->first);
    int64_t *next = p->first + 1;
    for (int64_t k = 0; k < entries; k++) next[p->link[k] + 1]++;
    for (int64_t l = 0; l < p->links; l++) next[l + 1] += next[l];
    for (int64_t f = 0; f < p->flows; f++)
        for (int64_t k = p->start[f]; k < p->start[f + 1]; k++) {
            int64_t to = next[p->link[k]]++;
            p->at[to] = (int32_t)(p->weight ? k : f);
            if (p->weight) p->flow_of[to] = (int32_t)f;
        }
    return 0;
}

static int fill_heap(problem *p, const double *capacity) {
    double least = INFINITY, most = 0;
    p->state = pages((size_t)(p->links + 1) * sizeof *p->state);
    if (!p->state) return 1;
    for (int64_t l = 0; l < p->links; l++) {
        int64_t from = p->first[l], to = p->first[l + 1];
        double load = (double)(to - from);
        if (p->weight) {
            load = 0;
            for (int64_t k = from; k < to; k++) load += p->weight[p->at[k]];
        }
        p->state[l] = (share){capacity[l], load};
        if (to == from) continue;
        const double key = share_of(p->state[l]);
        if (key < least) least = key;
        if (key > most) most = key;
    }
    if (levels_start(&p->heap, p->links, least, most)) return 1;
    for (int64_t l = 0; l < p->links; l++)
        if (p->first[l + 1] > p->first[l])
            if (add_share(&p->heap, share_of(p->state[l]), (int32_t)l)) return 1;
    return 0;
}

/* With weights, the load is summed anew over the flows still without a rate, so that nothing
 * is left over from the subtractions. */
static void sum_load(problem *p, int32_t l) {
    double load = 0;
    for (int64_t k = p->first[l]; k < p->first[l + 1]; k++)
        if (p->rate[p->flow_of[k]] < 0) load += p->weight[p->at[k]];
    p->state[l].load = load;
}

static void give(problem *p, int64_t f, double rate, int32_t l) {
    p->rate[f] = rate;
    p->bottleneck[f] = l;
    p->waiting--;
    for (int64_t k = p->start[f]; k < p->start[f + 1]; k++) {
        share *s = &p->state[p->link[k]];
        double weight = p->weight ? p->weight[k] : 1.0;
        s->remaining -= weight * rate;
        s->load -= weight;
    }
}

static void freeze(problem *p, int32_t l, double rate) {
    const int32_t *flow = p->weight ? p->flow_of : p->at;
    int64_t from = p->first[l], to = p->first[l + 1];
    for (int64_t k = from; k < to; k++) {
        PREFETCH(&p->start[flow[k]]);
        PREFETCH(&p->rate[flow[k]]);
        PREFETCH(&p->bottleneck[flow[k]]);
    }
    for (int64_t k = from; k < to; k++) PREFETCH(&p->link[p->start[flow[k]]]);
    for (int64_t k = from; k < to; k++) {
        int64_t f = flow[k];
        if (p->rate[f] >= 0) continue;
        for (int64_t j = p->start[f]; j < p->start[f + 1]; j++) PREFETCH(&p->state[p->link[j]]);
    }
    for (int64_t k = from; k < to; k++)
        if (p->rate[flow[k]] < 0) give(p, flow[k], rate, l);
}

/* Ask for what the next links will need: their state and crossers. */
static void look_ahead(const problem *p) {
    const levels *h = &p->heap;
    if (h->at + SOON < h->sorted) {
        const int32_t l = h->present[h->at + SOON].link;
        PREFETCH(&p->state[l]);
        PREFETCH(&p->first[l]);
    }
    if (h->at + SOON / 2 < h->sorted)
        PREFETCH((p->weight ? p->flow_of : p->at) + p->first[h->present[h->at + SOON / 2].link]);
}

static int fill(problem *p) {
    levels *h = &p->heap;
    while (p->waiting > 0 && any_share(h)) {
        int listed;
        const entry top = least_share(h, &listed);
        look_ahead(p);
        share *s = &p->state[top.link];
        if (p->weight) sum_load(p, top.link);
        const double now = s->load > 0 ? share_of(*s) : 0.0;
        drop_share(h, listed);
        if (s->load > 0 && now > top.key) {
            if (add_share(h, now, top.link)) return 1;
        } else if (s->load > 0) {
            freeze(p, top.link, now);
        }
    }
    return 0;
}

/* used[l] = what crosses link l. Returned: by how much, as a part of 1, a link is overfull or
 * a flow's rate is below the greatest on its bottleneck, or that bottleneck is not full. */
static double certify(const problem *p, const double *capacity, double *used) {
    const int32_t *flow = p->weight ? p->flow_of : p->at;
    double worst = p->waiting > 0 ? INFINITY : 0;
    for (int64_t l = 0; l < p->links; l++) {
        double sum = 0, greatest = 0;
        int tight = 0;
        for (int64_t k = p->first[l]; k < p->first[l + 1]; k++) {
            double rate = p->rate[flow[k]];
            sum += p->weight ? p->weight[p->at[k]] * rate : rate;
            if (rate > greatest) greatest = rate;
            tight |= p->bottleneck[flow[k]] == l;
        }
        used[l] = sum;
        if (sum - capacity[l] > worst * capacity[l]) worst = (sum - capacity[l]) / capacity[l];
        if (!tight) continue;
        if (capacity[l] - sum > worst * capacity[l]) worst = (capacity[l] - sum) / capacity[l];
        for (int64_t k = p->first[l]; k < p->first[l + 1]; k++) {
            double below = greatest - p->rate[flow[k]];
            if (p->bottleneck[flow[k]] == l && below > worst * greatest) worst = below / greatest;
        }
    }
    return worst;
}

static void release(problem *p) {
    free(p->first);
    free(p->at);
    free(p->flow_of);
    free(p->state);
    levels_free(&p->heap);
    free(p->stands);
    free(p->kept);
    free(p->from);
}

/* Returns 0, or 1 where memory ran out. A flow without links has an infinite rate. */
int artery_maxmin(
    int64_t flows, int64_t links, const int64_t *start, const int32_t *link,
    const double *capacity, const double *weight, double *rate, int32_t *bottleneck,
    double *used, double *violation
) {
    problem p = {.flows = flows, .links = links, .start = start, .link = link,
                 .weight = weight, .rate = rate, .bottleneck = bottleneck};
    for (int64_t f = 0; f < flows; f++) {
        rate[f] = start[f] < start[f + 1] ? -1.0 : INFINITY;
        bottleneck[f] = -1;
        p.waiting += start[f] < start[f + 1];
    }
    int failed = (!weight && shorten(&p, capacity)) || transpose(&p) || fill_heap(&p, capacity);
    failed = failed || fill(&p);
    if (!failed) {
        *violation = certify(&p, capacity, used);
        for (int64_t l = 0; p.stands && l < links; l++) used[l] = used[p.stands[l]];
    }
    release(&p);
    return failed;
}
