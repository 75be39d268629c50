/* Packets (or segments) through real queues: finite buffers, flow control, fair queues, marking;
   packets.py says the rules. */

#include "queues.h"

static void post(struct net *n, int64_t time, enum kind kind, int64_t order, int64_t what)
{
    const struct event e = {time, (int64_t)kind << 61 | order, 0, what, 0, 0, 0, 0};
    n->failed |= !heap_push(&n->heap, &e);
}

/* Tell lane `lane` something that arrives at `time`: credits, or 1 to pause and 0 to go on. */
static void tell(struct net *n, int64_t time, int64_t lane, int64_t what)
{
    post(n, time, CHANGE, n->sequence++, lane << 32 | what);
}

/* The next unit of transfer `t` reaches its source's port at `time`. */
static void inject(struct net *n, int64_t t, int64_t time)
{
    struct flow *f = &n->flows[t];
    const int64_t order = t << 32 | f->next++;
    const int32_t i = unit_take(n);
    f->waits = 0;
    f->flying++;
    if (i < 0)
        return;
    struct unit *u = &n->units[i];
    memset(u, 0, sizeof *u);
    u->e = departure(n->w, time, order);
    u->e.bytes = piece_bytes(n->w, f->cut, order);
    u->came = -1;
    post(n, time, ARRIVE, order, i);
}

static void begin(void *run, int64_t t, int64_t time)
{
    struct net *n = run;
    struct flow *f = &n->flows[t];
    f->cut = cut(n->w, n->rules->unit, n->rules->least, t);
    f->count = f->missing = pieces(n->w, f->cut, t);
    f->window = n->rules->window;
    f->tail = -1;
    inject(n, t, time);
}

static void signal_gate(struct net *n, int32_t g, int64_t time)
{
    if (g >= 0 && gate_signal(n->w, g, time))
        gate_open(n->w, g, begin, n);
}

/* A unit of `t` has left its source at `time`, which may still be to come. */
static void leave(struct net *n, int64_t t, int64_t time)
{
    struct flow *f = &n->flows[t];
    f->ready = time;
    if (f->next == f->count) {
        if (n->w->sent)
            n->w->sent[t] = time;
        signal_gate(n, n->w->sent_gate[t], time);
    } else if (f->flying < f->window) {
        inject(n, t, time);
    } else {
        f->waits = 1;
    }
}

/* An acknowledgement is back: marked ones halve the window, at most once per window, and a window
   of others adds one (additive increase, multiplicative decrease; RFC 3168). */
static void acknowledge(struct net *n, int64_t t, int64_t time, int marked)
{
    struct flow *f = &n->flows[t];
    f->flying--;
    f->since++;
    if (marked && f->since > f->window) {
        f->window = f->window > 1 ? f->window / 2 : 1;
        f->since = f->grown = 0;
    } else if (!marked && f->window < n->rules->window && ++f->grown >= f->window) {
        f->window++;
        f->grown = 0;
    }
    if (f->waits && f->flying < f->window)
        inject(n, t, f->ready > time ? f->ready : time);
}

/* The last byte of unit `i` arrives at its target at its tail. */
static void complete(struct net *n, int32_t i)
{
    const struct unit u = n->units[i];
    const int64_t t = u.e.order >> 32;
    struct flow *f = &n->flows[t];
    int64_t back = u.e.tail;
    for (int32_t at = u.e.at - u.e.hop; at < u.e.at; at++)
        back += n->w->latency[n->w->link[at]];
    if (f->tail < u.e.tail)
        f->tail = u.e.tail;
    unit_drop(n, i);
    if (f->count > 1)
        post(n, back, BACK, u.e.order, u.marked);
    if (--f->missing)
        return;
    if (n->w->delivered)
        n->w->delivered[t] = f->tail;
    if (n->w->makespan < f->tail)
        n->w->makespan = f->tail;
    n->done++;
    signal_gate(n, n->w->delivered_gate[t], f->tail);
}

/* `bytes` leave the buffer at the far end of `link`, whose lane is `lane`. */
static void release(struct net *n, int32_t link, struct lane *lane, int64_t bytes, int64_t time)
{
    const int64_t index = lane - n->lanes, heard = time + n->w->latency[link];
    lane->held -= bytes;
    if (n->rules->control == CREDIT)
        tell(n, heard, index, bytes);
    if (lane->pausing && lane->held <= n->rules->xon[link]) {
        lane->pausing = 0;
        tell(n, heard, index, 0);
    }
}

/* Send the first unit of `lane` over `link` at `time`. */
static void serve(struct net *n, int32_t link, struct lane *lane, int64_t time)
{
    struct port *p = &n->ports[link];
    const int32_t i = lane->first;
    struct unit *u = &n->units[i];
    const int64_t t = u->e.order >> 32, bytes = u->e.bytes, rate = n->w->rate[link];
    const int64_t taken = duration(bytes, rate);
    const int64_t packet = bytes < n->rules->packet ? taken : duration(n->rules->packet, rate);
    int64_t tail = time + taken;
    const int first = u->e.hop == 0;
    lane->first = u->next;
    lane->virtual = u->tag;
    p->free = tail;
    p->bytes += bytes;
    p->queued -= bytes;
    p->waiting--;
    if (p->since >= 0)
        p->idle += time - p->since;
    p->since = -1;
    if (tail < u->e.tail + packet)
        tail = u->e.tail + packet;
    if (u->came >= 0)
        release(n, u->came, lane_of(n, u->came, t), bytes, time);
    u->came = link;
    u->e.tail = tail + n->w->latency[link];
    u->e.at++;
    u->e.hop++;
    n->w->events++;
    if (--u->e.left) {
        u->e.here = n->w->link[u->e.at];
        if (n->rules->control == CREDIT)
            lane->room -= bytes;
        post(n, time + packet + n->w->latency[link], ARRIVE, u->e.order, i);
    } else {
        complete(n, i);
    }
    if (first)
        leave(n, t, tail);
}

/* Let `link` send if it can, else see to it that it tries again when it is free. */
static void attempt(struct net *n, int32_t link, int64_t time)
{
    struct port *p = &n->ports[link];
    while (p->waiting && p->free <= time) { /* more than one where they have no bytes */
        struct lane *lane = eligible(n, link);
        if (!lane) {
            if (p->since < 0)
                p->since = time;
            return;
        }
        serve(n, link, lane, time);
    }
    if (p->waiting && p->free > time && !p->scheduled) {
        p->scheduled = 1;
        post(n, p->free, READY, link, link);
    }
}

/* Unit `i` arrives at its next port; what stands in the buffer then may stop the sender. */
static void arrive(struct net *n, int32_t i, int64_t time)
{
    struct unit *u = &n->units[i];
    const int64_t t = u->e.order >> 32;
    if (u->e.hop == 0 && n->w->fails && !choose(n->w, &u->e)) {
        unit_drop(n, i);
        return;
    }
    if (u->e.left == 0) {
        complete(n, i);
        leave(n, t, time);
        return;
    }
    const int32_t link = u->e.here, came = u->came;
    struct port *p = &n->ports[link];
    struct lane *from = came < 0 ? NULL : lane_of(n, came, t);
    u->marked |= n->rules->mark && p->queued > n->rules->mark;
    p->queued += u->e.bytes;
    p->waiting++;
    if (from)
        from->held += u->e.bytes;
    enqueue(n, i, lane_of(n, link, t));
    attempt(n, link, time);
    if (p->peak < p->queued)
        p->peak = p->queued;
    if (!from || n->rules->control != PAUSE)
        return;
    const int64_t over = from->held - n->rules->xoff[came] - n->rules->headroom[came];
    if (n->w->overflow < over)
        n->w->overflow = over;
    if (from->held > n->rules->xoff[came] && !from->pausing) {
        from->pausing = 1;
        tell(n, time + n->w->latency[came], from - n->lanes, 1);
    }
}

static void change(struct net *n, int64_t what, int64_t time)
{
    const int64_t index = what >> 32, amount = what & UINT32_MAX;
    struct lane *lane = &n->lanes[index];
    if (n->rules->control == CREDIT)
        lane->room += amount;
    else
        lane->paused = amount != 0;
    attempt(n, (int32_t)(index / n->w->classes), time);
}

static void play(struct net *n)
{
    const int64_t mask = (INT64_C(1) << 61) - 1;
    while (n->heap.count && !n->failed) {
        const struct event e = n->heap.item[0];
        heap_pop(&n->heap);
        const enum kind kind = (enum kind)(e.order >> 61);
        if (kind == READY) {
            n->ports[e.bytes].scheduled = 0;
            attempt(n, (int32_t)e.bytes, e.time);
        } else if (kind == CHANGE) {
            change(n, e.bytes, e.time);
        } else if (kind == BACK) {
            acknowledge(n, (e.order & mask) >> 32, e.time, e.bytes != 0);
        } else {
            arrive(n, (int32_t)e.bytes, e.time);
        }
    }
}

static int prepare(struct net *n)
{
    struct work *w = n->w;
    const size_t lanes = (size_t)(w->links * w->classes) + 1;
    n->ports = calloc((size_t)w->links + 1, sizeof *n->ports);
    n->lanes = calloc(lanes, sizeof *n->lanes);
    n->flows = calloc((size_t)w->transfers + 1, sizeof *n->flows);
    if (n->rules->fair)
        n->tags = calloc((size_t)(w->transfers * n->rules->hops) + 1, sizeof *n->tags);
    if (!n->ports || !n->lanes || !n->flows || (n->rules->fair && !n->tags))
        return 0;
    for (size_t i = 0; i < lanes; i++) {
        n->lanes[i].first = n->lanes[i].last = -1;
        n->lanes[i].room = i + 1 < lanes ? n->rules->xoff[i / (size_t)w->classes] : 0;
    }
    for (int64_t i = 0; i < w->links; i++)
        n->ports[i].since = -1;
    gates_open(w, begin, n);
    return !n->failed;
}

/* Play `w` by `rules`. Return 0, or 1 where memory does not suffice. */
int artery_packets(struct work *w, const struct rules *rules)
{
    struct net n = {.w = w, .rules = rules, .unused = -1};
    w->makespan = w->events = w->overflow = 0;
    n.failed = !prepare(&n);
    play(&n);
    for (int64_t i = 0; n.ports && i < w->links; i++) {
        w->bytes[i] = n.ports[i].bytes;
        w->queue[i] = n.ports[i].peak;
        w->idle[i] = n.ports[i].idle;
    }
    w->unfinished = w->transfers - n.done;
    gates_close(w);
    free(n.ports);
    free(n.lanes);
    free(n.flows);
    free(n.tags);
    free(n.units);
    free(n.heap.item);
    return n.failed;
}
