/* Messages over paths of FIFO links with unbounded buffers; messages.py says the rules.

   A link is never waited for: whoever comes first is served first, so its next free moment says
   all. What follows from a completion is known, and put on the heap, as soon as the completion
   time is, not when that time comes. */

#include "calendar.h"

struct kind { /* what links have in common; how long the last size took */
    int64_t rate, latency, packet, size, duration;
};

struct state { /* of one link: half a cache line, as these are what is waited for */
    int64_t free, bytes, queue;
    int32_t kind, unused;
};

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

static void push(struct run *r, int64_t time, int64_t order)
{
    struct event e = departure(r->w, time, order);
    e.bytes = piece_bytes(r->w, cut(r->w, r->segment, r->least, order >> 32), order);
    FETCH(&r->links[e.here]);
    r->failed |= !calendar_push(&r->calendar, &e);
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
    if (--e->left) {
        e->here = r->w->link[e->at];
        FETCH(&r->links[e->here]);
        const int64_t t = e->order >> 32;
        if (e->left == 2)
            FETCH(&r->w->delivered_gate[t]);
        if (e->left == 1 && r->w->delivered_gate[t] >= 0) {
            const int32_t g = r->w->delivered_gate[t]; /* its delivery will touch these */
            FETCH(&r->w->count[g]);
            FETCH(&r->w->opened[g]);
            FETCH(&r->w->first[g]);
            if (r->w->then)
                FETCH(&r->w->then_start[g]);
        }
    }
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

static void play(struct run *r)
{
    struct calendar *c = &r->calendar;
    for (;;) {
        int sorted;
        r->failed |= !calendar_ready(c);
        const struct event *first = calendar_first(c, &sorted);
        if (!first || r->failed)
            return;
        struct event e = *first;
        const int leaves = e.hop == 0;
        if (leaves && r->w->fails && !choose(r->w, &e)) {
            calendar_drop(c, sorted);
            continue;
        }
        int64_t sent = e.time;
        if (e.left) {
            sent = serve(r, &e);
            r->w->events++;
        }
        if (!sorted && e.left && e.time < c->end) {
            heap_sink(&c->near, 0, &e);
        } else {
            calendar_drop(c, sorted);
            r->failed |= e.left && !calendar_push(c, &e);
        }
        const int64_t t = e.order >> 32;
        if (leaves && segments(r, t) > 1)
            send_next(r, t, e.order & INT32_MAX, sent);
        else if (leaves)
            finish_sent(r, t, sent);
        if (!e.left)
            complete(r, &e);
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
    r->links = malloc((size_t)(w->links ? w->links : 1) * sizeof *r->links);
    if (r->segment)
        r->slot_of = malloc((size_t)(w->transfers ? w->transfers : 1) * sizeof *r->slot_of);
    if (!r->links || (r->segment && !r->slot_of))
        return 0;
    r->calendar.needed = (const char *)r->links;
    r->calendar.stride = sizeof *r->links;
    r->calendar.path = w->link;
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
   most `window` of them unacknowledged, and switches that pass on after `packet` bytes. Return 0,
   or 1 where memory does not suffice. */
int artery_messages(struct work *w, int64_t segment, int64_t window, int64_t packet, int64_t least)
{
    struct run r = {.w = w, .segment = segment, .window = window, .packet = packet,
                    .least = least, .unused = -1};
    w->makespan = w->events = 0;
    calendar_start(&r.calendar);
    if (prepare(&r))
        play(&r);
    for (int64_t i = 0; r.links && i < w->links; i++) {
        w->bytes[i] = r.links[i].bytes;
        w->queue[i] = r.links[i].queue;
    }
    w->unfinished = w->transfers - r.done;
    gates_close(w);
    free(r.links);
    free(r.kinds);
    free(r.slots);
    free(r.slot_of);
    calendar_free(&r.calendar);
    return r.failed;
}
