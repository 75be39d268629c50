/* Memory for large arrays that are read here and there: on Linux in huge pages, if it has any, as
 * numpy's are. To be freed with free. */
#ifndef ARTERY_PAGES_H
#define ARTERY_PAGES_H

#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { HUGE_PAGE = 1 << 21, MANY_BYTES = 1 << 22 };

static inline void *pages(size_t bytes) {
#if defined(MADV_HUGEPAGE)
    if (bytes >= MANY_BYTES) {
        const size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *found = aligned_alloc(HUGE_PAGE, whole);
        if (found) (void)madvise(found, whole, MADV_HUGEPAGE);
        return found;
    }
#endif
    return malloc(bytes);
}

#endif
