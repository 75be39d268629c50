/* Transfers as fluid: max-min fair rates after every event; fluid.py and stream.py are its twin.
 *
 * An event (a transfer ends or starts, a link changes) upsets the rates only near it, where
 * repair.c sets them anew. Times are whole picoseconds, an end is rounded up, ties go by code.
 * Events no further apart than epsilon share one repair, at the time of the last.
 */
#include <math.h>

#include "fluid.h"

#define SECOND 1e12 /* picoseconds */
#define LATEST 4e18 /* picoseconds, 46 days: what takes longer never ends */
#define ENDLESS (INT64_C(1) << 62) /* bytes */

static int endless(const fluid *s, int64_t t) {
    return s->w->size[t] >= ENDLESS;
}

static void seed(fluid *s, int32_t l) {
    if (s->wires[l].seed == s->batch) return;
    s->wires[l].seed = s->batch;
    s->seeds[s->seeded++] = l;
}

static void add_crosser(fluid *s, wire *w, crosser one) {
    if (w->count == w->room) {
        int32_t room = w->room ? 2 * w->room : 4;
        crosser *crossers = realloc(w->crossers, (size_t)room * sizeof *crossers);
        if (!crossers) {
            s->failed = 1;
            return;
        }
        w->crossers = crossers;
        w->room = room;
    }
    w->crossers[w->count++] = one;
}

static void enter(fluid *s, int32_t t) {
    flow *f = &s->flows[t];
    f->rate = 0;
    f->bottleneck = -1;
    f->entered = f->remaining;
    f->active = 1;
    s->begun[s->begins++] = t;
    for (int32_t hop = 0; hop < f->hops; hop++) {
        wire *w = &s->wires[link_of(s, f, hop)];
        s->place[f->at + hop] = w->count;
        add_crosser(s, w, (crosser){t, hop});
        seed(s, link_of(s, f, hop));
    }
}

static void leave(fluid *s, int32_t t) {
    flow *f = &s->flows[t];
    f->active = 0;
    for (int32_t hop = 0; hop < f->hops; hop++) {
        wire *w = &s->wires[link_of(s, f, hop)];
        int32_t place = s->place[f->at + hop];
        crosser last = w->crossers[--w->count];
        w->crossers[place] = last;
        s->place[s->flows[last.flow].at + last.hop] = place;
        w->carried += taken(s, f, hop) * (f->entered - f->remaining);
        seed(s, link_of(s, f, hop));
    }
}

static void progress(fluid *s, int32_t t) {
    flow *f = &s->flows[t];
    f->remaining -= f->rate * (double)(s->now - f->since) / SECOND;
    if (f->remaining < 0 && !endless(s, t)) f->remaining = 0;
    f->since = s->now;
}

static void start_at(void *run, int64_t t, int64_t time) {
    fluid *s = run;
    schedule(&s->next, (int32_t)(s->w->transfers + s->changes + t), time);
}

static void signal_gate(fluid *s, int32_t g, int64_t time) {
    if (g >= 0 && gate_signal(s->w, g, time)) gate_open(s->w, g, start_at, s);
}

/* The longest of a flow's paths; they follow each other in link. */
static int64_t latency(const fluid *s, int32_t t) {
    const struct work *w = s->w;
    const flow *f = &s->flows[t];
    int64_t most = 0;
    int64_t path = f->diverted ? w->other[t] : w->path[t];
    for (int64_t end = f->from + f->hops, k = f->from; k < end; path++) {
        int64_t sum = 0;
        for (; k < w->start[path + 1]; k++) sum += w->latency[w->link[k]];
        if (sum > most) most = sum;
    }
    return most;
}

static void end(fluid *s, int32_t t) {
    struct work *w = s->w;
    flow *f = &s->flows[t];
    if (f->active) {
        f->remaining = 0;
        leave(s, t);
    }
    const int64_t delivered = s->now + latency(s, t);
    if (w->sent) w->sent[t] = s->now;
    if (w->delivered) w->delivered[t] = delivered;
    if (w->makespan < delivered) w->makespan = delivered;
    s->outstanding--;
    w->unfinished--;
    signal_gate(s, w->sent_gate[t], s->now);
    signal_gate(s, w->delivered_gate[t], delivered);
}

static void take_path(fluid *s, int32_t t, int64_t path, int64_t spread) {
    flow *f = &s->flows[t];
    f->from = s->w->start[path];
    f->hops = (int32_t)(s->w->start[path + spread] - f->from);
    f->part = 1.0 / (double)spread;
}

static int blocked(const fluid *s, const flow *f) {
    for (int32_t hop = 0; hop < f->hops; hop++)
        if (s->wires[link_of(s, f, hop)].capacity == 0) return 1;
    return 0;
}

/* Whether a transfer is to take its other path. */
static int diverts(const fluid *s, int32_t t) {
    const flow *f = &s->flows[t];
    return !f->diverted && s->w->other && s->w->other[t] >= 0 && blocked(s, f);
}

static void launch(fluid *s, int32_t t) {
    if (s->w->size[t] == 0 || s->flows[t].hops == 0) schedule(&s->next, t, s->now);
    else enter(s, t);
}

static void begin(fluid *s, int32_t t) {
    flow *f = &s->flows[t];
    take_path(s, t, s->w->path[t], s->w->spread ? s->w->spread[t] : 1);
    if (diverts(s, t)) {
        f->diverted = 1;
        take_path(s, t, s->w->other[t], 1);
    }
    f->since = s->now;
    f->fresh = 1;
    f->remaining = endless(s, t) ? 0.0 : (double)s->w->size[t];
    launch(s, t);
}

static void change(fluid *s, int64_t number) {
    int32_t l = s->change_link[number];
    wire *w = &s->wires[l];
    w->capacity = (double)s->change_rate[number];
    w->whole = s->batch;
    seed(s, l);
    for (int32_t c = w->count; c-- > 0 && w->capacity == 0;) {
        if (c >= w->count || !diverts(s, w->crossers[c].flow)) continue;
        int32_t t = w->crossers[c].flow;
        progress(s, t);
        cancel(&s->next, t);
        leave(s, t);
        s->flows[t].diverted = 1;
        take_path(s, t, s->w->other[t], 1);
        launch(s, t);
    }
}

static void handle(fluid *s, int32_t code) {
    int64_t n = s->w->transfers;
    if (code < n) end(s, code);
    else if (code < n + s->changes) change(s, code - n);
    else begin(s, (int32_t)(code - n - s->changes));
}

/* When a flow of the region ends, now that it has its rate. */
static void reckon(fluid *s, int32_t t) {
    flow *f = &s->flows[t];
    double rate = f->rate;
    if (rate == f->old && !f->fresh) return;
    f->rate = f->old;
    if (!f->fresh) progress(s, t);
    f->rate = rate;
    f->fresh = 0;
    s->w->events++;
    if (endless(s, t)) return;
    double wait = rate > 0 ? ceil(f->remaining / rate * SECOND) : INFINITY;
    if (wait < LATEST) {
        int64_t time = f->since + (int64_t)wait;
        schedule(&s->next, t, time < s->now ? s->now : time);
    } else {
        cancel(&s->next, t);
    }
}

static void play(fluid *s) {
    agenda *a = &s->next;
    while (a->size > 0 && s->outstanding > 0 && !s->failed) {
        int64_t last = a->first[0].time + s->epsilon;
        s->batch++;
        s->begins = s->seeded = s->size = s->touches = 0;
        while (a->size > 0 && a->first[0].time <= last && !s->failed) {
            moment m = a->first[0];
            s->now = m.time;
            cancel(a, m.code);
            handle(s, m.code);
        }
        if (s->failed) return;
        s->counts[0]++;
        artery_repair(s);
        for (int64_t r = 0; r < s->size; r++) reckon(s, s->region[r]);
    }
}

/* The hops of transfer t on the longer of its two ways. */
static int64_t hops(const struct work *w, int64_t t) {
    int64_t path = w->path[t], spread = w->spread ? w->spread[t] : 1;
    int64_t most = w->start[path + spread] - w->start[path];
    int64_t other = w->other ? w->other[t] : -1;
    int64_t then = other < 0 ? 0 : w->start[other + 1] - w->start[other];
    return then > most ? then : most;
}

static void *take(fluid *s, int64_t count, size_t size) {
    void *block = calloc((size_t)count + 1, size);
    s->failed |= !block;
    return block;
}

static void prepare(fluid *s) {
    struct work *w = s->w;
    int64_t n = w->transfers, codes = 2 * n + s->changes, all = 0;
    s->weighted = s->weight != NULL;
    s->next.first = take(s, codes, sizeof *s->next.first);
    s->next.place = take(s, codes, sizeof *s->next.place);
    s->flows = take(s, n, sizeof *s->flows);
    s->wires = take(s, w->links, sizeof *s->wires);
    s->begun = take(s, 2 * n, sizeof *s->begun);
    s->seeds = take(s, w->links, sizeof *s->seeds);
    s->region = take(s, n, sizeof *s->region);
    s->touched = take(s, w->links, sizeof *s->touched);
    s->heap = take(s, w->links, sizeof *s->heap);
    if (s->failed) return;
    for (int64_t t = 0; t < n; t++) {
        s->flows[t].at = all;
        all += hops(w, t);
        s->weighted |= w->spread && w->spread[t] > 1;
        s->outstanding += !endless(s, t);
    }
    s->place = take(s, all, sizeof *s->place);
    for (int64_t l = 0; l < w->links; l++) s->wires[l].capacity = (double)w->rate[l];
    for (int64_t c = 0; c < codes; c++) s->next.place[c] = -1;
    for (int64_t c = 0; c < s->changes; c++)
        schedule(&s->next, (int32_t)(n + c), s->change_time[c]);
    w->makespan = w->events = 0;
    w->unfinished = s->outstanding;
    gates_open(w, start_at, s);
}

/* What still flows has crossed its links too, as far as it came. */
static void close_books(fluid *s) {
    for (int32_t t = 0; t < s->w->transfers; t++)
        if (s->flows[t].active) {
            progress(s, t);
            leave(s, t);
        }
    for (int64_t l = 0; l < s->w->links; l++) s->w->bytes[l] = llrint(s->wires[l].carried);
    gates_close(s->w);
}

static void release_all(fluid *s) {
    for (int64_t l = 0; s->wires && l < s->w->links; l++) free(s->wires[l].crossers);
    free(s->next.first);
    free(s->next.place);
    free(s->flows);
    free(s->wires);
    free(s->place);
    free(s->begun);
    free(s->seeds);
    free(s->region);
    free(s->touched);
    free(s->heap);
}

/* Play w; link change_link[c] has rate change_rate[c] from change_time[c] on. Return 0, or 1
 * where memory does not suffice. */
int artery_fluid(
    struct work *w, const double *weight, int64_t epsilon, int64_t changes,
    const int64_t *change_time, const int32_t *change_link, const int64_t *change_rate,
    int64_t *counts
) {
    fluid s = {.w = w, .weight = weight, .changes = changes, .epsilon = epsilon,
               .change_time = change_time, .change_rate = change_rate,
               .change_link = change_link, .counts = counts};
    prepare(&s);
    if (!s.failed) play(&s);
    if (!s.failed) close_books(&s);
    release_all(&s);
    return s.failed;
}
