/* Links by the share that they can give, least first, ties by number: a heap of four children
 * per node, as a node's children share a line or two of the cache. */
#ifndef ARTERY_SHARES_H
#define ARTERY_SHARES_H

#include <stdint.h>

typedef struct {
    double key;
    int32_t link;
} entry;

static inline int lesser(entry a, entry b) {
    return a.key < b.key || (a.key == b.key && a.link < b.link);
}

static inline void sift_down(entry *heap, int64_t size, int64_t place, entry moved) {
    for (;;) {
        int64_t child = 4 * place + 1, least = child, end = child + 4;
        if (child >= size) break;
        if (end > size) end = size;
        for (int64_t other = child + 1; other < end; other++)
            if (lesser(heap[other], heap[least])) least = other;
        if (!lesser(heap[least], moved)) break;
        heap[place] = heap[least];
        place = least;
    }
    heap[place] = moved;
}

static inline void heapify(entry *heap, int64_t size) {
    for (int64_t place = (size - 2) / 4; place >= 0 && size > 1; place--)
        sift_down(heap, size, place, heap[place]);
}

static inline int64_t drop_top(entry *heap, int64_t size) {
    entry last = heap[--size];
    if (size > 0) sift_down(heap, size, 0, last);
    return size;
}

#endif
