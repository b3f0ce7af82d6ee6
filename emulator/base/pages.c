#include "emulator/base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    LEAST = 1 << 17,      /* bytes that are worth a call of the system */
    LEAST_HUGE = 2 << 20, /* bytes that are worth huge pages ... */
    MOST_HUGE = 64 << 20, /* ... and that may be wasted */
};

void *pages_take(size_t bytes)
{
    if (bytes < LEAST) return calloc(1, bytes);
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
}

void pages_expect(void *pages, size_t bytes)
{
    if (bytes >= LEAST_HUGE && bytes <= MOST_HUGE) madvise(pages, bytes, MADV_HUGEPAGE);
}

void pages_give(void *pages, size_t bytes)
{
    if (bytes < LEAST)
        free(pages);
    else if (pages != NULL)
        munmap(pages, bytes);
}
