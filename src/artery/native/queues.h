/* What stands where: units in the queues of ports, port by port and class by class.

   A port is the sending end of a link; the buffer at the far end of that link belongs to it as
   well. packets.py says the rules. */

#ifndef ARTERY_QUEUES_H
#define ARTERY_QUEUES_H

#include "work.h"

enum kind { READY, CHANGE, BACK, ARRIVE }; /* what an event is, and which comes first */
enum control { NONE, PAUSE, CREDIT };

struct rules {
    int64_t unit, least, window, packet;  /* bytes, units, units, bytes */
    int64_t control, fair, mark, hops;    /* queues per transfer; bytes that mark; longest path */
    const int64_t *xoff, *xon, *headroom; /* by link, bytes; with CREDIT xoff is the buffer */
};

struct unit {
    struct event e;
    int64_t tag, sequence;
    int32_t came, next, marked;
};

struct port {
    int64_t free, queued, bytes, peak, since, idle; /* held up since, -1: not; in all */
    int32_t scheduled, waiting; /* units in the queue */
};

struct lane { /* one class of one port */
    int64_t held, room, virtual; /* in the buffer at the far end; credits; time of fair queues */
    int32_t first, last, paused, pausing; /* queue; told to wait; telling the sender to wait */
};

struct flow { /* one transfer */
    int64_t next, count, cut, flying, window, missing, ready, tail, since, grown;
    int32_t waits;
};

struct net {
    struct work *w;
    const struct rules *rules;
    struct heap heap;
    struct port *ports;
    struct lane *lanes;
    struct flow *flows;
    struct unit *units;
    int64_t *tags; /* by transfer and hop: the last tag given in fair queues */
    int64_t sequence, done;
    int32_t unit_count, unit_room, unused, failed;
};

static struct lane *lane_of(const struct net *n, int32_t link, int64_t t)
{
    return &n->lanes[link * n->w->classes + (n->w->class_of ? n->w->class_of[t] : 0)];
}

static int32_t unit_take(struct net *n)
{
    if (n->unused >= 0) {
        const int32_t i = n->unused;
        n->unused = n->units[i].next;
        return i;
    }
    if (n->unit_count == n->unit_room) {
        const int32_t room = n->unit_room ? 2 * n->unit_room : 1024;
        struct unit *units = realloc(n->units, (size_t)room * sizeof *units);
        if (!units) {
            n->failed = 1;
            return -1;
        }
        n->units = units;
        n->unit_room = room;
    }
    return n->unit_count++;
}

static void unit_drop(struct net *n, int32_t i)
{
    n->units[i].next = n->unused;
    n->unused = i;
}

/* Put unit `i` into its lane: at the end, or with fair queues where its tag says (start-time fair
   queueing; Goyal, Vin and Cheng, SIGCOMM 1996). */
static void enqueue(struct net *n, int32_t i, struct lane *lane)
{
    struct unit *u = &n->units[i];
    u->next = -1;
    u->sequence = n->sequence++;
    if (n->rules->fair) {
        int64_t *last = &n->tags[(u->e.order >> 32) * n->rules->hops + u->e.hop];
        u->tag = *last > lane->virtual ? *last : lane->virtual;
        *last = u->tag + u->e.bytes;
    }
    if (lane->first < 0 || n->units[lane->last].tag <= u->tag) {
        if (lane->first < 0)
            lane->first = i;
        else
            n->units[lane->last].next = i;
        lane->last = i;
        return;
    }
    int32_t *place = &lane->first;
    while (n->units[*place].tag <= u->tag)
        place = &n->units[*place].next;
    u->next = *place;
    *place = i;
}

/* The lane of `link` that may send and whose first unit came first, or NULL. */
static struct lane *eligible(const struct net *n, int32_t link)
{
    struct lane *found = NULL;
    for (int64_t c = 0; c < n->w->classes; c++) {
        struct lane *lane = &n->lanes[link * n->w->classes + c];
        if (lane->first < 0 || lane->paused)
            continue;
        const struct unit *u = &n->units[lane->first];
        if (n->rules->control == CREDIT && u->e.left > 1 && lane->room < u->e.bytes)
            continue;
        if (!found || u->sequence < n->units[found->first].sequence)
            found = lane;
    }
    return found;
}

#endif
