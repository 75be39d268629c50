/* Local repair of max-min fair rates, for fluid.c; repair.py is its twin.
 *
 * Released are the flows that began or whose bottleneck was touched; they are filled anew beside
 * the others, as in maxmin.c; then every flow on a touched link is checked to have a full link on
 * which its rate is the greatest. Those that have not are released too, until none is left: then
 * all rates are max-min fair (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).
 */
#include <math.h>

#include "fluid.h"

#define TOLERANCE 1e-9

static void touch(fluid *s, int32_t l) {
    if (s->wires[l].region == s->batch) return;
    s->wires[l].region = s->batch;
    s->touched[s->touches++] = l;
}

static void release(fluid *s, int32_t t) {
    flow *f = &s->flows[t];
    if (!f->active || f->region == s->batch) return;
    f->region = s->batch;
    f->old = f->rate;
    s->region[s->size++] = t;
    for (int32_t hop = 0; hop < f->hops; hop++) touch(s, link_of(s, f, hop));
}

static void first_region(fluid *s) {
    for (int64_t b = 0; b < s->begins; b++) release(s, s->begun[b]);
    for (int64_t b = 0; b < s->seeded; b++) {
        int32_t l = s->seeds[b];
        wire *w = &s->wires[l];
        touch(s, l);
        for (int32_t c = 0; c < w->count; c++) {
            int32_t t = w->crossers[c].flow;
            if (w->whole == s->batch || s->flows[t].bottleneck == l) release(s, t);
        }
    }
}

static double share_of(const wire *w) {
    return w->remaining > 0 ? w->remaining / w->load : 0.0;
}

/* Capacity and load that are left to the released flows of each touched link. */
static void residuals(fluid *s) {
    for (int64_t r = 0; r < s->size; r++) s->flows[s->region[r]].rate = -1;
    s->heaped = 0;
    for (int64_t i = 0; i < s->touches; i++) {
        wire *w = &s->wires[s->touched[i]];
        double others = 0, load = 0;
        for (int32_t c = 0; c < w->count; c++) {
            const flow *f = &s->flows[w->crossers[c].flow];
            double part = taken(s, f, w->crossers[c].hop);
            if (f->rate < 0) load += part;
            else others += part * f->rate;
        }
        w->remaining = w->capacity - others;
        w->load = load;
        if (load > 0) s->heap[s->heaped++] = (entry){share_of(w), s->touched[i]};
    }
    heapify(s->heap, s->heaped);
}

/* Summed anew, so that nothing is left over from the subtractions of fractions. */
static void sum_load(fluid *s, wire *w) {
    w->load = 0;
    for (int32_t c = 0; c < w->count; c++) {
        const flow *f = &s->flows[w->crossers[c].flow];
        if (f->rate < 0) w->load += taken(s, f, w->crossers[c].hop);
    }
}

/* Returns how many flows got their rate. */
static int64_t freeze(fluid *s, int32_t l, double rate) {
    const wire *w = &s->wires[l];
    int64_t given = 0;
    for (int32_t c = 0; c < w->count; c++) {
        flow *f = &s->flows[w->crossers[c].flow];
        if (f->rate >= 0) continue;
        given++;
        f->rate = rate;
        f->bottleneck = l;
        for (int32_t hop = 0; hop < f->hops; hop++) {
            wire *other = &s->wires[link_of(s, f, hop)];
            double part = taken(s, f, hop);
            other->remaining -= part * rate;
            other->load -= part;
        }
    }
    return given;
}

static void fill(fluid *s) {
    int64_t waiting = s->size; /* flows that have no rate yet */
    while (waiting > 0 && s->heaped > 0) {
        entry top = s->heap[0];
        wire *w = &s->wires[top.link];
        if (s->weighted) sum_load(s, w);
        if (w->load > 0) {
            double now = share_of(w);
            if (now > top.key) {
                sift_down(s->heap, s->heaped, 0, (entry){now, top.link});
                continue;
            }
            waiting -= freeze(s, top.link, now);
        }
        s->heaped = drop_top(s->heap, s->heaped);
    }
}

/* The certificate on one link: releases what breaks it and returns whether anything does. */
static int broken(fluid *s, int32_t l) {
    const wire *w = &s->wires[l];
    double sum = 0, greatest = 0, least = INFINITY;
    for (int32_t c = 0; c < w->count; c++) {
        const flow *f = &s->flows[w->crossers[c].flow];
        sum += taken(s, f, w->crossers[c].hop) * f->rate;
        if (f->rate > greatest) greatest = f->rate;
        if (f->bottleneck == l && f->rate < least) least = f->rate;
    }
    int full = sum >= w->capacity * (1 - TOLERANCE);
    int over = sum > w->capacity * (1 + TOLERANCE);
    if (!over && (least == INFINITY || (full && least >= greatest * (1 - TOLERANCE)))) return 0;
    for (int32_t c = 0; c < w->count; c++) {
        int32_t t = w->crossers[c].flow;
        const flow *f = &s->flows[t];
        int held = f->bottleneck == l && (!full || f->rate < greatest * (1 - TOLERANCE));
        int above = full && f->rate > least * (1 + TOLERANCE);
        if (over || held || above) release(s, t);
    }
    return 1;
}

void artery_repair(fluid *s) {
    int64_t before = -1, unfair = 0;
    first_region(s);
    while (before != s->size) {
        before = s->size;
        residuals(s);
        fill(s);
        unfair = 0;
        for (int64_t i = 0, touches = s->touches; i < touches; i++)
            unfair += broken(s, s->touched[i]);
        s->counts[1]++;
        s->counts[2] += before;
    }
    s->counts[3] += unfair > 0;
}
