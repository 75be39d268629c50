/* Pipes, each one variable: how many of their edges cross each link, how long their first segment
   takes, and which links can hold them back. The twin is crossed.py; pipelines.py and coupled.py
   say what the arrays mean. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DONE, NO_MEMORY, NO_TREE };
enum { ALONE, BESIDE, BELOW };

struct pipes {
    int64_t links, pipes, edges;
    const int64_t *rate, *latency; /* by link */
    const int64_t *start;          /* edges + 1 */
    const int32_t *link;           /* by crossing */
    const int64_t *wave, *pipe;    /* waves + 1, pipes + 1 */
    const int64_t *depth, *amount, *segment; /* by pipe */
    const int64_t *toward, *role;            /* by edge, by wave; or NULL */
    int64_t *first;                          /* pipes + 1: where each begins among the entries: */
    int32_t *crossed, *count;                /* a link and how many edges of the pipe cross it */
    int64_t *carried;                        /* by link, zeros at first */
    int64_t *crossings, *fill;               /* by pipe */
};

static const double PICOSECONDS = 1e12, LONGEST = 4611686018427387904.0;
static const int64_t FASTEST = INT64_C(18000000000000);

/* Up, to 2^62 ps. */
static inline int64_t rounded(double value)
{
    if (value >= LONGEST)
        return INT64_C(1) << 62;
    const int64_t whole = (int64_t)value;
    return whole + ((double)whole < value);
}

/* What one edge takes for the first segment, ps: the slowest link sends, every link delays. */
struct hop {
    int64_t sending, latency;
};

static inline struct hop hop_of(const struct pipes *p, int64_t edge, int64_t segment)
{
    struct hop hop = {0, 0};
    int64_t slowest = FASTEST;
    for (int64_t c = p->start[edge]; c < p->start[edge + 1]; c++) {
        const int32_t link = p->link[c];
        hop.latency += p->latency[link];
        if (p->rate[link] < slowest)
            slowest = p->rate[link];
    }
    if (p->start[edge] < p->start[edge + 1])
        hop.sending = rounded((double)segment * (PICOSECONDS / (double)(slowest ? slowest : 1)));
    return hop;
}

/* Mean hop times depth, rounded up. */
static int64_t fill_ring(const struct pipes *p, int64_t pipe, int64_t begin, int64_t end)
{
    int64_t sum = 0;
    for (int64_t edge = begin; edge < end; edge++) {
        const struct hop hop = hop_of(p, edge, p->segment[pipe]);
        sum += hop.sending + hop.latency;
    }
    const int64_t edges = end > begin ? end - begin : 1, depth = p->depth[pipe];
    const int64_t rest = sum % edges * depth;
    return sum / edges * depth + rest / edges + (rest % edges != 0);
}

static inline int64_t role_of(const struct pipes *p, int64_t wave)
{
    return p->role ? p->role[wave] : ALONE;
}

/* The longest chain of hops to the root of one wave, or of the one that it continues; -1 where its
   edges lead in a circle or elsewhere. `total` and `walked` have room for all edges. */
static int64_t longest_chain(const struct pipes *p, int64_t pipe, int64_t wave, int64_t *total,
                             int64_t *walked)
{
    const int64_t begin = p->wave[wave], end = p->wave[wave + 1];
    const int64_t least = p->wave[wave - (role_of(p, wave) == BESIDE)];
    int64_t longest = 0;
    for (int64_t edge = begin; edge < end; edge++)
        total[edge] = -1;
    for (int64_t edge = begin; edge < end; edge++) {
        int64_t steps = 0, at = edge;
        while (at >= 0 && total[at] < 0) {
            if (steps == end - begin)
                return -1;
            walked[steps++] = at;
            at = p->toward[at];
            if (at >= end || (at >= 0 && at < least))
                return -1;
        }
        int64_t sum = at < 0 ? 0 : total[at];
        while (steps) {
            at = walked[--steps];
            const struct hop hop = hop_of(p, at, p->segment[pipe]);
            sum += hop.sending + hop.latency;
            total[at] = sum;
        }
        if (sum > longest)
            longest = sum;
    }
    return longest;
}

/* The chains of all waves one after the other; a folded tree's three are one. */
static int64_t fill_tree(const struct pipes *p, int64_t pipe, int64_t *total, int64_t *walked)
{
    int64_t fill = 0, alone = 0, beside = 0;
    for (int64_t wave = p->pipe[pipe]; wave < p->pipe[pipe + 1]; wave++) {
        const int64_t longest = longest_chain(p, pipe, wave, total, walked);
        const int64_t role = role_of(p, wave);
        if (longest < 0)
            return -1;
        if (role == ALONE) {
            alone = longest;
            fill += longest;
        } else if (role == BESIDE) {
            beside = longest;
        } else {
            const int64_t below = alone + longest;
            fill += (below > beside ? below : beside) - alone;
        }
    }
    return fill;
}

static int fills(const struct pipes *p)
{
    int64_t *room = NULL;
    int done = DONE;
    if (p->toward && !(room = malloc((size_t)(2 * p->edges + 1) * sizeof *room)))
        return NO_MEMORY;
    for (int64_t pipe = 0; pipe < p->pipes && done == DONE; pipe++) {
        const int64_t begin = p->wave[p->pipe[pipe]], end = p->wave[p->pipe[pipe + 1]];
        if (p->depth[pipe] || !p->toward)
            p->fill[pipe] = fill_ring(p, pipe, begin, end);
        else if ((p->fill[pipe] = fill_tree(p, pipe, room, room + p->edges)) < 0)
            done = NO_TREE;
    }
    free(room);
    return done;
}

/* Count the crossings of each pipe and fill it. */
int artery_cross(const struct pipes *p)
{
    int32_t *seen = calloc((size_t)p->links + 1, sizeof *seen);
    if (!seen)
        return NO_MEMORY;
    int64_t entries = 0;
    for (int64_t pipe = 0; pipe < p->pipes; pipe++) {
        const int64_t begin = p->start[p->wave[p->pipe[pipe]]];
        const int64_t end = p->start[p->wave[p->pipe[pipe + 1]]], first = entries;
        int32_t most = 0;
        p->first[pipe] = first;
        for (int64_t c = begin; c < end; c++)
            if (!seen[p->link[c]]++)
                p->crossed[entries++] = p->link[c];
        for (int64_t i = first; i < entries; i++) {
            const int32_t link = p->crossed[i], count = seen[link];
            seen[link] = 0;
            p->count[i] = count;
            p->carried[link] += count * p->amount[pipe];
            if (count > most)
                most = count;
        }
        p->crossings[pipe] = most;
    }
    p->first[p->pipes] = entries;
    free(seen);
    return fills(p);
}

static inline uint64_t mixed(uint64_t value)
{
    value += UINT64_C(0x9E3779B97F4A7C15);
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

/* What `link` could be asked for at most, from `most`, reaches `full` of its rate. */
static inline int narrow(const struct pipes *p, const double *most, int32_t link, double full)
{
    return most[link] >= (double)p->rate[link] * full;
}

/* Keep the links that more than one pipe crosses and that could be full, and of each pipe the
   tightest, the least number of several. */
static int keep_narrow(const struct pipes *p, double full, uint8_t *keep)
{
    int32_t *crossers = calloc((size_t)p->links + 1, sizeof *crossers);
    double *most = calloc((size_t)p->links + 1, sizeof *most);
    if (crossers && most) {
        for (int64_t i = 0; i < p->first[p->pipes]; i++)
            crossers[p->crossed[i]]++;
        for (int64_t pipe = 0; pipe < p->pipes; pipe++) {
            double least = 0;
            int64_t tight = -1;
            for (int64_t i = p->first[pipe]; i < p->first[pipe + 1]; i++) {
                const double room = (double)p->rate[p->crossed[i]] / (double)p->count[i];
                if (tight < 0 || room < least
                    || (room == least && p->crossed[i] < p->crossed[tight])) {
                    least = room;
                    tight = i;
                }
            }
            if (tight >= 0)
                keep[tight] = 1;
            for (int64_t i = p->first[pipe]; i < p->first[pipe + 1]; i++)
                if (crossers[p->crossed[i]] > 1)
                    most[p->crossed[i]] += (double)p->count[i] * least;
        }
        for (int64_t i = 0; i < p->first[p->pipes]; i++)
            if (crossers[p->crossed[i]] > 1 && narrow(p, most, p->crossed[i], full))
                keep[i] = 1;
    }
    const int done = crossers && most ? DONE : NO_MEMORY;
    free(crossers);
    free(most);
    return done;
}

/* Of the links that the same pipes cross as often, at one rate, keep the one of greatest number. */
static int keep_distinct(const struct pipes *p, int64_t kept, uint8_t *keep)
{
    uint64_t size = 2;
    while (size < 2 * (uint64_t)kept)
        size *= 2;
    uint64_t *sign = calloc((size_t)p->links + 1, sizeof *sign);
    int32_t *place = malloc((size_t)size * sizeof *place); /* a hash table of links by their kind */
    if (sign && place) {
        for (int64_t pipe = 0; pipe < p->pipes; pipe++)
            for (int64_t i = p->first[pipe]; i < p->first[pipe + 1]; i++)
                if (keep[i])
                    sign[p->crossed[i]] += mixed((uint64_t)pipe << 32 | (uint32_t)p->count[i]);
        memset(place, -1, (size_t)size * sizeof *place);
        for (int32_t link = 0; link < p->links; link++) {
            if (!sign[link])
                continue;
            sign[link] += mixed((uint64_t)p->rate[link]);
            uint64_t at = sign[link] & (size - 1);
            while (place[at] >= 0 && sign[place[at]] != sign[link])
                at = (at + 1) & (size - 1);
            if (place[at] >= 0)
                sign[place[at]] = 0;
            place[at] = link;
        }
        for (int64_t i = 0; i < p->first[p->pipes]; i++)
            keep[i] = keep[i] && sign[p->crossed[i]];
    }
    const int done = sign && place ? DONE : NO_MEMORY;
    free(sign);
    free(place);
    return done;
}

/* Say of each entry whether its link can hold its pipe back (`keep`, zeros at first). Links that
   are alike are looked for among `few` or more. */
int artery_narrow(const struct pipes *p, double full, int64_t few, uint8_t *keep)
{
    int64_t kept = 0;
    if (keep_narrow(p, full, keep))
        return NO_MEMORY;
    for (int64_t i = 0; i < p->first[p->pipes]; i++)
        kept += keep[i];
    return kept < few ? DONE : keep_distinct(p, kept, keep);
}
