/* The state of transfers that flow as fluid, shared by fluid.c and repair.c. */
#ifndef ARTERY_FLUID_H
#define ARTERY_FLUID_H

#include "agenda.h"
#include "shares.h"
#include "work.h"

typedef struct {
    double rate, old, remaining, entered; /* B/s, B/s before, bytes left now, when on this path */
    double part;                          /* of its rate on each of its paths */
    int64_t since;                        /* time up to which remaining is reckoned */
    int64_t from, at;                     /* its first place in work.link, and in fluid.place */
    int32_t hops, bottleneck, region;
    int8_t active, fresh, diverted;
} flow;

typedef struct {
    int32_t flow, hop;
} crosser;

typedef struct {
    double capacity, remaining, load, carried;
    crosser *crossers;
    int32_t count, room, seed, region, whole; /* of the crossers; marks of this batch */
} wire;

typedef struct {
    struct work *w;
    const double *weight; /* by hop, or NULL */
    int64_t changes, epsilon;
    const int64_t *change_time, *change_rate;
    const int32_t *change_link;
    int weighted;
    agenda next; /* t: transfer t ends; n + c: change c; n + changes + t: transfer t starts */
    int64_t now, outstanding;
    flow *flows;
    wire *wires;
    int32_t *place; /* of each hop of each flow among the crossers of its link */
    int32_t *begun, *seeds, *region, *touched;
    int64_t begins, seeded, size, touches, heaped;
    entry *heap;
    int32_t batch;
    int64_t *counts; /* batches, rounds of repair, rates filled, batches left unfair */
    int failed;
} fluid;

static inline int32_t link_of(const fluid *s, const flow *f, int32_t hop) {
    return s->w->link[f->from + hop];
}

/* What a flow takes of the link of one hop, per unit of its rate. */
static inline double taken(const fluid *s, const flow *f, int32_t hop) {
    return s->weight ? s->weight[f->from + hop] * f->part : f->part;
}

/* Sets the rates of this batch: of the flows in region, whose rates before are in old. */
void artery_repair(fluid *s);

#endif
