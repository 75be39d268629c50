/* What is to happen, by (time, code): a binary heap that knows where each code is. */
#ifndef ARTERY_AGENDA_H
#define ARTERY_AGENDA_H

#include <stdint.h>

typedef struct {
    int64_t time;
    int32_t code;
} moment;

typedef struct {
    moment *first;
    int32_t *place; /* of each code from first on, or -1 */
    int64_t size;
} agenda;

static inline int sooner(moment a, moment b) {
    return a.time < b.time || (a.time == b.time && a.code < b.code);
}

static inline void put_moment(agenda *a, int64_t place, moment e) {
    a->first[place] = e;
    a->place[e.code] = (int32_t)place;
}

static inline void settle_moment(agenda *a, int64_t place, moment e) {
    while (place > 0 && sooner(e, a->first[(place - 1) / 2])) {
        put_moment(a, place, a->first[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (int64_t child; (child = 2 * place + 1) < a->size; place = child) {
        if (child + 1 < a->size && sooner(a->first[child + 1], a->first[child])) child++;
        if (!sooner(a->first[child], e)) break;
        put_moment(a, place, a->first[child]);
    }
    put_moment(a, place, e);
}

static inline void cancel(agenda *a, int32_t code) {
    int64_t place = a->place[code];
    if (place < 0) return;
    a->place[code] = -1;
    const moment last = a->first[--a->size];
    if (place < a->size) settle_moment(a, place, last);
}

/* A code that is already there is moved. */
static inline void schedule(agenda *a, int32_t code, int64_t time) {
    int64_t place = a->place[code] < 0 ? a->size++ : a->place[code];
    settle_moment(a, place, (moment){time, code});
}

#endif
