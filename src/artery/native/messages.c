/* Messages over paths of FIFO links with unbounded buffers; messages.py says the rules.

   A link is never waited for: whoever comes first is served first, so its next free moment says
   all. What follows from a completion is known, and put on the heap, as soon as the completion
   time is, not when that time comes. */

#include "calendar.h"

enum {
    UNKNOWN = -1, /* the place of a segment whose way has not been looked up */
    APART = 8     /* events between two looks ahead; 3 to 16 are as good */
};

struct kind { /* what links have in common; how long the last size took */
    int64_t rate, latency, packet, size, duration;
};

struct state { /* of one link: half a cache line, as these are what is waited for */
    int64_t free, bytes, queue;
    int32_t kind, unused;
};
_Static_assert(sizeof(struct state) == 4 * sizeof(int64_t), "STATE of messages.py");

struct slot { /* of one transfer of several segments, while it is under way */
    int64_t waits;   /* when the segment that waits for an acknowledgement could go, -1: none */
    int64_t tail;    /* when the last byte so far arrived */
    int64_t missing; /* segments not yet delivered */
    int32_t next, unused;
    int64_t acknowledged[]; /* by segment modulo window, -1: not yet */
};

struct run {
    struct work *w;
    struct state *links;
    struct kind *kinds;
    struct calendar calendar;
    int64_t segment, window, packet, least, done;
    char *slots;
    int32_t *slot_of;
    int32_t unused, slot_count, slot_room, kind_count, kind_room;
    int failed; /* out of memory */
};

static int64_t segments(const struct run *r, int64_t t)
{
    return r->segment ? pieces(r->w, cut(r->w, r->segment, r->least, t), t) : 1;
}

/* A segment leaves at `time`; its way is looked up when its turn is near. */
static void push(struct run *r, int64_t time, int64_t order)
{
    const struct event e = {time, order, 0, 0, UNKNOWN, 0, 0, 0};
    FETCH(&r->w->path[order >> 32]);
    r->failed |= !calendar_push(&r->calendar, &e);
}

/* Look up the way of a segment that is about to leave. */
static void find_way(const struct run *r, struct event *e)
{
    if (e->at != UNKNOWN)
        return;
    *e = departure(r->w, e->time, e->order);
    e->bytes = piece_bytes(r->w, cut(r->w, r->segment, r->least, e->order >> 32), e->order);
}

static struct slot *slot_at(struct run *r, int32_t index)
{
    const size_t bytes = sizeof(struct slot) + (size_t)r->window * sizeof(int64_t);
    return (struct slot *)(r->slots + (size_t)index * bytes);
}

/* Take a slot for transfer `t`, which has `count` segments. */
static void slot_take(struct run *r, int64_t t, int64_t count)
{
    if (r->unused < 0 && r->slot_count == r->slot_room) {
        const int32_t room = r->slot_room ? 2 * r->slot_room : 256;
        const size_t bytes = sizeof(struct slot) + (size_t)r->window * sizeof(int64_t);
        char *slots = realloc(r->slots, (size_t)room * bytes);
        if (!slots) {
            r->failed = 1;
            return;
        }
        r->slots = slots;
        r->slot_room = room;
    }
    const int32_t index = r->unused >= 0 ? r->unused : r->slot_count++;
    struct slot *s = slot_at(r, index);
    if (r->unused >= 0)
        r->unused = s->unused;
    s->waits = s->tail = -1;
    s->missing = count;
    s->next = 1;
    memset(s->acknowledged, 0xff, (size_t)r->window * sizeof(int64_t));
    r->slot_of[t] = index;
}

static void begin(void *run, int64_t t, int64_t time)
{
    struct run *r = run;
    const int64_t count = segments(r, t);
    if (count > 1)
        slot_take(r, t, count);
    push(r, time, t << 32);
}

static void signal_gate(struct run *r, int32_t g, int64_t time)
{
    if (g >= 0 && gate_signal(r->w, g, time))
        gate_open(r->w, g, begin, r);
}

static void finish_sent(struct run *r, int64_t t, int64_t time)
{
    if (r->w->sent)
        r->w->sent[t] = time;
    signal_gate(r, r->w->sent_gate[t], time);
}

static void finish_delivered(struct run *r, int64_t t, int64_t time)
{
    if (r->w->delivered)
        r->w->delivered[t] = time;
    if (r->w->makespan < time)
        r->w->makespan = time;
    r->done++;
    signal_gate(r, r->w->delivered_gate[t], time);
}

/* Segment `j` of `t` has left its source at `time`: send the next one as the window allows. */
static void send_next(struct run *r, int64_t t, int64_t j, int64_t time)
{
    const int64_t next = j + 1;
    struct slot *s = slot_at(r, r->slot_of[t]);
    if (next == segments(r, t)) {
        finish_sent(r, t, time);
        return;
    }
    int64_t *known = &s->acknowledged[next % r->window];
    if (next >= r->window && *known < 0) {
        s->waits = time;
        s->next = (int32_t)next;
        return;
    }
    push(r, next >= r->window && *known > time ? *known : time, t << 32 | next);
    *known = -1;
}

/* Segment `j` of `t` arrives at `time`, and its acknowledgement at the source at `back`. */
static void arrive(struct run *r, int64_t t, int64_t j, int64_t time, int64_t back)
{
    struct slot *s = slot_at(r, r->slot_of[t]);
    if (s->tail < time)
        s->tail = time;
    if (s->waits >= 0 && s->next == j + r->window) {
        push(r, back > s->waits ? back : s->waits, t << 32 | s->next);
        s->waits = -1;
    } else {
        s->acknowledged[j % r->window] = back;
    }
    if (--s->missing == 0) {
        s->unused = r->unused;
        r->unused = r->slot_of[t];
        finish_delivered(r, t, s->tail);
    }
}

/* Serve `e` at its link: return when its last byte has left and make `e` its next arrival. */
static int64_t serve(struct run *r, struct event *e)
{
    struct state *l = &r->links[e->here];
    struct kind *k = &r->kinds[l->kind];
    if (k->size != e->bytes) {
        k->size = e->bytes;
        k->duration = duration(e->bytes, k->rate);
    }
    const int64_t begin = l->free > e->time ? l->free : e->time;
    const int64_t packet = e->bytes < r->packet ? k->duration : k->packet;
    int64_t tail = begin + k->duration;
    l->free = tail;
    l->bytes += e->bytes;
    if (l->queue < begin - e->time)
        l->queue = begin - e->time;
    if (tail < e->tail + packet)
        tail = e->tail + packet;
    e->time = begin + packet + k->latency;
    e->tail = tail + k->latency;
    e->at++;
    e->hop++;
    if (--e->left)
        e->here = r->w->link[e->at];
    r->w->events++;
    return tail;
}

/* The last byte of `e` has arrived, at `e->tail`. */
static void complete(struct run *r, const struct event *e)
{
    const int64_t t = e->order >> 32;
    if (segments(r, t) == 1) {
        finish_delivered(r, t, e->tail);
        return;
    }
    int64_t back = e->tail;
    for (int32_t i = e->at - e->hop; i < e->at; i++)
        back += r->w->latency[r->w->link[i]];
    arrive(r, t, e->order & INT32_MAX, e->tail, back);
}

/* Let `e`, the first event of all, happen. */
static void step(struct run *r, struct event *e)
{
    const int64_t t = e->order >> 32;
    const int leaves = e->hop == 0;
    const int64_t sent = e->left ? serve(r, e) : e->time;
    if (leaves && segments(r, t) > 1)
        send_next(r, t, e->order & INT32_MAX, sent);
    else if (leaves)
        finish_sent(r, t, sent);
    if (!e->left)
        complete(r, e);
}

/* Ask for what a signal to gate `g` touches. */
static void fetch_gate(const struct work *w, int32_t g)
{
    if (g < 0)
        return;
    FETCH(&w->count[g]);
    FETCH(&w->opened[g]);
    FETCH(&w->first[g]);
    if (w->then)
        FETCH(&w->then_start[g]);
}

/* Ask for what the opening of gate `g` will touch, if one signal is all that it waits for. */
static void fetch_next(const struct work *w, int32_t g)
{
    if (g < 0 || w->count[g] != 1 || w->then || g + w->chain >= w->gates)
        return;
    FETCH(&w->count[g + w->chain]);
    FETCH(&w->opened[g + w->chain]);
}

/* Ask for what `e` will touch in its turn, in four steps, each of which reads what the one before
   asked for. */
static void foresee(const struct run *r, struct event *e, int stage)
{
    const struct work *w = r->w;
    const int64_t t = e->order >> 32;
    const int leaves = e->hop == 0, ends = e->at != UNKNOWN && e->left <= 2;
    if (stage == 0) {
        if (leaves) {
            FETCH(&w->path[t]);
            FETCH(&w->size[t]);
            FETCH(&w->sent_gate[t]);
        } else {
            FETCH(&w->link[e->at + 1]);
        }
        if (ends)
            FETCH(&w->delivered_gate[t]);
    } else if (stage == 1) {
        if (leaves) {
            FETCH(&w->start[w->path[t]]);
            fetch_gate(w, w->sent_gate[t]);
        }
        if (ends)
            fetch_gate(w, w->delivered_gate[t]);
    } else if (stage == 2) {
        if (leaves) {
            FETCH(&w->link[w->start[w->path[t]]]);
            fetch_next(w, w->sent_gate[t]);
        }
        if (ends)
            fetch_next(w, w->delivered_gate[t]);
    } else {
        find_way(r, e);
        FETCH(&r->links[e->here]);
        if (e->left > 1)
            FETCH(&r->links[w->link[e->at + 1]]);
    }
}

static void look_ahead(const struct run *r, struct calendar *c)
{
    for (int stage = 0; stage < STAGES; stage++) {
        const int64_t sight = c->at + (STAGES - stage) * APART;
        const int64_t end = sight < c->sorted ? sight : c->sorted;
        for (; c->seen[stage] < end; c->seen[stage]++)
            foresee(r, &c->present.item[c->seen[stage]], stage);
    }
}

static void play(struct run *r)
{
    struct calendar *c = &r->calendar;
    struct event e;
    for (;;) {
        r->failed |= !calendar_ready(c);
        look_ahead(r, c);
        if (r->failed || !calendar_take(c, &e))
            return;
        find_way(r, &e);
        if (e.hop == 0 && r->w->fails && !choose(r->w, &e))
            continue;
        do
            step(r, &e);
        while (e.left && calendar_leads(c, &e)); /* links without latency */
        r->failed |= e.left && !calendar_push(c, &e);
    }
}

/* The number of the kind of such links; after 64 kinds each further link has its own. */
static int32_t kind_of(struct run *r, int64_t rate, int64_t latency)
{
    for (int32_t i = 0; i < r->kind_count && i < 64; i++)
        if (r->kinds[i].rate == rate && r->kinds[i].latency == latency)
            return i;
    if (r->kind_count == r->kind_room) {
        const int32_t room = r->kind_room ? 2 * r->kind_room : 64;
        struct kind *kinds = realloc(r->kinds, (size_t)room * sizeof *kinds);
        if (!kinds) {
            r->failed = 1;
            return 0;
        }
        r->kinds = kinds;
        r->kind_room = room;
    }
    const int64_t packet = r->packet < INT64_MAX ? duration(r->packet, rate) : 0;
    const struct kind k = {rate, latency, packet, -1, 0};
    r->kinds[r->kind_count] = k;
    return r->kind_count++;
}

static int prepare(struct run *r)
{
    struct work *w = r->w;
    if (r->segment)
        r->slot_of = malloc((size_t)(w->transfers ? w->transfers : 1) * sizeof *r->slot_of);
    if (r->segment && !r->slot_of)
        return 0;
    for (int64_t i = 0; i < w->links; i++) {
        const struct state l = {0, 0, 0, kind_of(r, w->rate[i], w->latency[i]), 0};
        r->links[i] = l;
    }
    if (r->failed)
        return 0;
    gates_open(w, begin, r);
    return !r->failed;
}

/* Play `w` with segments of `segment` bytes (0: whole messages), `least` or more to a message, at
   most `window` of them unacknowledged, and switches that pass on after `packet` bytes; `links` is
   room for the state of each. Return 0, or 1 where memory does not suffice. */
int artery_messages(struct work *w, int64_t segment, int64_t window, int64_t packet, int64_t least,
                    struct state *links)
{
    struct run r = {.w = w, .links = links, .segment = segment, .window = window, .packet = packet,
                    .least = least, .unused = -1};
    w->makespan = w->events = 0;
    calendar_start(&r.calendar);
    if (prepare(&r))
        play(&r);
    for (int64_t i = 0; i < w->links; i++) {
        w->bytes[i] = r.links[i].bytes;
        w->queue[i] = r.links[i].queue;
    }
    w->unfinished = w->transfers - r.done;
    gates_close(w);
    free(r.kinds);
    free(r.slots);
    free(r.slot_of);
    calendar_free(&r.calendar);
    return r.failed;
}
